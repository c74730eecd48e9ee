"""Promise: no estimator takes more than 1.1 of its memory budget, however many rows or columns there are.

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


def peak(name: str, width: int) -> float:
    """MB above the data at the peak of a fit."""
    estimator, rows, kind = CASES[name]
    targets = {
        "classes": "X[:, 0] > 0.3",
        "three": "np.digitize(X[:, 0], [-0.5, 0.5])",
        "numbers": "X[:, 0] + noise",
        "nothing": "None",
        "views": "X[::-1]",
    }
    fit = f"{estimator}.fit(X, y)"
    code = f"""
import warnings; warnings.simplefilter("ignore")
import numpy as np, mercer as mc
K, C = mc.Gaussian({1 / width}), mc.Compute(memory="{BUDGET}MB")
def data(n):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, {width}))
    noise = rng.standard_normal(n)
    return X, {targets[kind]}
X, y = data(1200)
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


if __name__ == "__main__":
    judged(main)
