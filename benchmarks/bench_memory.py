"""Promise: no estimator takes more than 1.1 of its memory budget, however many rows or columns there are; with centers
also where the data are larger than the budget and read from a file, block by block.

    python benchmarks/bench_memory.py [name …]

Each row is a process of its own: compiled code and libraries are loaded by a small fit first, then the peak above the
data is read from the kernel.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))  # as a script, as a module, and from a test
from measure import QUICK, judged, peak_memory, promise

BUDGET = 500  # MB

# the estimator, its rows, and whether it wants classes or numbers; a few of each width
CASES = {
    "SVC": ("mc.SVC(kernel=K, compute=C)", 12_000, "classes"),
    "SVC, 3 classes": ("mc.SVC(kernel=K, compute=C)", 12_000, "three"),
    "NuSVC": ("mc.NuSVC(0.2, K, compute=C)", 12_000, "classes"),
    "SVR": ("mc.SVR(kernel=K, compute=C)", 12_000, "numbers"),
    "NuSVR": ("mc.NuSVR(0.2, kernel=K, compute=C)", 8_000, "numbers"),
    "OneClassSVM": ("mc.OneClassSVM(0.1, K, compute=C)", 12_000, "nothing"),
    "SVDD": ("mc.SVDD(0.1, K, compute=C)", 12_000, "nothing"),
    "KernelRidge": ("mc.KernelRidge(1.0, K, compute=C)", 12_000, "numbers"),
    "KernelRidgeCV": ("mc.KernelRidgeCV(kernel=K, compute=C)", 3_500, "numbers"),
    "KernelLogistic": ("mc.KernelLogistic(1.0, K, compute=C, max_iter=5)", 8_000, "classes"),
    "KernelHuber": ("mc.KernelHuber(alpha=1.0, kernel=K, compute=C, max_iter=5)", 8_000, "numbers"),
    "KernelQuantile": ("mc.KernelQuantile(alpha=1.0, kernel=K, compute=C)", 8_000, "numbers"),
    "KernelPCA, 10": ("mc.KernelPCA(10, K, compute=C)", 12_000, "nothing"),
    "KernelPCA, all": ("mc.KernelPCA(None, K, compute=C)", 3_500, "nothing"),
    "KernelPCANovelty": ("mc.KernelPCANovelty(10, kernel=K, compute=C)", 12_000, "nothing"),
    "KernelKMeans": ("mc.KernelKMeans(5, K, compute=C, n_init=2, max_iter=5)", 12_000, "nothing"),
    "SpectralClustering": ("mc.SpectralClustering(4, K, compute=C)", 12_000, "nothing"),
    "KernelCCA": ("mc.KernelCCA(2, K, K, compute=C)", 20_000, "views"),
    "KernelHebbian": ("mc.KernelHebbian(4, K, compute=C)", 12_000, "nothing"),
}
WIDTHS = (10, 300)

# of 16 000 rows and 400 columns, 51 MB: machines that stop after a few steps, which take as much as all of them
LEAN, ROWS, COLUMNS = 40, 16_000, 400  # MB
FEW = "centers=160, random_state=0, compute=C"
CENTERS = {
    "KernelRidge": (f"mc.KernelRidge(1.0, K, max_iter=3, {FEW})", "numbers"),
    "KernelLogistic": (f"mc.KernelLogistic(1.0, K, max_iter=2, {FEW})", "classes"),
    "KernelLogistic, 3 classes": (f"mc.KernelLogistic(1.0, K, max_iter=1, {FEW})", "three"),
    "SVC": (f"mc.SVC(kernel=K, progress=enough, {FEW})", "classes"),
    "SVC, 3 classes": (f"mc.SVC(kernel=K, progress=enough, {FEW})", "three"),
    "SVR": (f"mc.SVR(kernel=K, progress=enough, {FEW})", "numbers"),
    "KernelQuantile": (f"mc.KernelQuantile(alpha=1.0, kernel=K, progress=enough, {FEW})", "numbers"),
}
# of 24 000 rows and 10 columns: features of 46 MB, nearly two fifths of the budget
FEATURES = {
    "KernelPCA, Nystrom": ("mc.KernelPCA(4, mc.Nystrom(K, 240, random_state=0), compute=C)", "nothing"),
    "KernelPCA, RandomFeatures": ("mc.KernelPCA(4, mc.RandomFeatures(K, 240, random_state=0), compute=C)", "nothing"),
    "KernelKMeans, Nystrom": (
        "mc.KernelKMeans(4, mc.Nystrom(K, 240, random_state=0), n_init=1, max_iter=5, random_state=0, compute=C)",
        "nothing",
    ),
    "KernelKMeans, RandomFeatures": (
        "mc.KernelKMeans(4, mc.RandomFeatures(K, 240, random_state=0), n_init=1, max_iter=5, compute=C)",
        "nothing",
    ),
    "FeatureMachineRegressor": (
        "mc.FeatureMachineRegressor(kernel=K, max_iter=2, max_samples=800, centers=240, random_state=0, compute=C)",
        "numbers",
    ),
}
TARGETS = {
    "classes": "X[:, 0] > 0.3",
    "three": "np.digitize(X[:, 0], [-0.5, 0.5])",
    "numbers": "X[:, 0] + noise",
    "nothing": "None",
    "views": "X[::-1]",
}


def peak(name: str, width: int) -> float:
    """MB above the data at the peak of a fit."""
    estimator, rows, kind = CASES[name]
    return _peak(estimator, kind, rows, width, BUDGET)


def lean(name: str, form: str = "array") -> float:
    """The same of a machine with centers, or with features; ``form`` "blocks": of data in a memory map, block by
    block.
    """
    if name in FEATURES:
        return _peak(*FEATURES[name], 24_000, 10, 3 * LEAN)
    given = "X" if form == "array" else "mc.Blocks(mapped(X), rows=2048)"
    return _peak(*CENTERS[name], ROWS, COLUMNS, LEAN if form == "blocks" else 3 * LEAN, given)


def _peak(estimator: str, kind: str, rows: int, width: int, budget: int, given: str = "X") -> float:
    fit, warm = f"{estimator}.fit(X, y)", 1200 if budget == BUDGET else min(rows // 2, 3000 if width > 10 else rows)
    code = f"""
import tempfile, warnings; warnings.simplefilter("ignore")
import numpy as np, mercer as mc
K, C = mc.Gaussian({1 / width}), mc.Compute(memory="{budget}MB")
folder = tempfile.TemporaryDirectory()
def mapped(X):
    np.save(folder.name + "/X.npy", X)
    X = np.load(folder.name + "/X.npy", mmap_mode="r")
    X.sum()  # its pages are in memory, and not counted
    return X
def enough(state):
    return state["n_iter"] >= 2
def data(n):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, {width}))
    noise = rng.standard_normal(n)
    return {given}, {TARGETS[kind]}
large = np.ones((4000, 400))
large.T @ large, large @ large[:8].T, large.T @ large[:, :8]  # room that BLAS keeps
del large
X, y = data({warm})
{fit}
X, y = data({rows})
def work():
    {fit}
"""
    return peak_memory(code) / 1e6


def main() -> None:
    print(f"budget {BUDGET} MB, the peak above the data\n")
    for name in sys.argv[1:] or (["KernelRidgeCV"] if QUICK else CASES):
        for width in WIDTHS:
            what = f"{name}, {CASES[name][1]} rows, {width} columns"
            promise(what, peak(name, width), at_most=1.1 * BUDGET, unit="MB")
    for name in [] if QUICK or sys.argv[1:] else CENTERS:
        promise(f"{name}, centers, an array", lean(name), at_most=1.1 * 3 * LEAN, unit="MB")
        promise(f"{name}, centers, a memory map", lean(name, "blocks"), at_most=1.1 * LEAN, unit="MB")
    for name in [] if QUICK or sys.argv[1:] else FEATURES:
        promise(f"{name}, 24 000 rows", lean(name), at_most=1.1 * 3 * LEAN, unit="MB")


if __name__ == "__main__":
    judged(main)
