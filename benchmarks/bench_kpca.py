"""Promise: kernel PCA of 5000 points ≥ 1× scikit-learn's speed, the same subspace to 1e-6; memory ≤ 1.3 Grams;
pre-images better than PCA's (its best error over ours ≥ 1×).

Arguments: any of speed, low, memory, large (80 000 points under a budget of 1 GB), denoise, picture
(docs/denoising.png); the first three and denoise without any.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from measure import QUICK, interleaved, judged, peak_memory, promise, sized, skipped, table
from sklearn.datasets import make_blobs
from sklearn.decomposition import PCA
from sklearn.decomposition import KernelPCA as Peer
from svm_data import published

import mercer as mc

M = 10
PICTURE = Path(__file__).resolve().parents[1] / "docs" / "denoising.png"
WORK = """
import sys
sys.path.insert(0, {here!r})
import mercer as mc
from bench_kpca import points
X = points({n})
mc.KernelPCA(2, mc.Gaussian({gamma})).fit(X[:500])
def work():
    mc.KernelPCA({m}, mc.Gaussian({gamma}){more}).fit(X)
"""


def points(n: int, d: int = 20) -> Any:
    """Ten overlapping clouds."""
    X, _ = make_blobs(n, d, centers=10, cluster_std=4.0, random_state=0)
    return np.ascontiguousarray((X - X.mean(0)) / X.std(0))


def sine(P: Any, Q: Any) -> float:
    """Sine of the largest principal angle between two column spaces."""
    P, Q = np.linalg.qr(P)[0], np.linalg.qr(Q)[0]
    return float(np.linalg.norm(Q - P @ (P.T @ Q), 2))


def speed(n: int = sized(5000), d: int = 20) -> None:
    X, gamma = points(n, d), 1 / d

    def peer(solver: str) -> Any:
        return Peer(M, kernel="rbf", gamma=gamma, eigen_solver=solver, random_state=0).fit(X)

    tasks: dict[str, Any] = {"mercer": lambda: mc.KernelPCA(M, mc.Gaussian(gamma)).fit(X)}
    tasks |= {f"scikit-learn {s}": lambda s=s: peer(s) for s in ("arpack", "randomized")}
    times = interleaved(tasks, 3)
    promised = {"scikit-learn arpack": 1.0, "scikit-learn randomized": 1.0}
    table(f"Kernel PCA, n = {n}, d = {d}, {M} components", times, "mercer", promised=promised)
    dense = None
    for solver in ("auto", "dense"):  # from 10 components on, auto is dense
        start = time.perf_counter()
        dense = peer(solver)
        elapsed = time.perf_counter() - start
        print(
            f"  {f'scikit-learn {solver}, once':<44} {elapsed:8.3f} s {'':>18}"
            f" {elapsed / np.median(times['mercer']):6.2f}× ours",
            flush=True,
        )
    ours, arpack = mc.KernelPCA(M, mc.Gaussian(gamma)).fit(X), peer("arpack")
    angle, values = (
        sine(arpack.eigenvectors_, ours.eigenvectors_),
        np.abs(ours.eigenvalues_ / arpack.eigenvalues_ - 1).max(),
    )
    print(
        f"  {ours.solver_}: sine of the largest angle to arpack's subspace {angle:.1e}, eigenvalues"
        f" within {values:.1e}; dense to arpack {sine(arpack.eigenvectors_, dense.eigenvectors_):.1e}; randomized to"
        f" arpack {sine(arpack.eigenvectors_, peer('randomized').eigenvectors_):.1e}"
    )
    promise("sine of the largest angle to arpack's subspace", angle, at_most=1e-6, unit="")


def low(n: int = sized(20_000), d: int = 50) -> None:
    X = points(n, d) * np.linspace(3, 1, d)
    tasks = {
        "mercer KernelPCA, Linear": lambda: mc.KernelPCA(M, mc.Linear()).fit(X),
        "mercer PCA": lambda: mc.PCA(M).fit(X),
    }
    tasks["scikit-learn PCA"] = lambda: PCA(M).fit(X)
    table(
        f"A kernel of rank {d}, n = {n}",
        interleaved(tasks, 3),
        "mercer KernelPCA, Linear",
        "scikit-learn's KernelPCA would hold the matrix",
        {"scikit-learn PCA": 1.0},
    )
    ours, peer = mc.KernelPCA(M, mc.Linear()).fit(X), PCA(M).fit(X)
    wanted = peer.explained_variance_ * (n - 1)
    values = np.abs(ours.eigenvalues_ / wanted - 1).max()
    print(
        f"  {ours.solver_}: sine to PCA's scores {sine(peer.transform(X), ours.eigenvectors_):.1e}, eigenvalues within"
        f" {values:.1e}"
    )


def memory(n: int = sized(20_000), budget: str | None = None) -> None:
    X, gram = points(n), 8 * n * n
    start = time.perf_counter()
    solver = mc.KernelPCA(M, mc.Gaussian(0.05), compute=mc.Compute(memory=budget) if budget else None).fit(X).solver_
    elapsed, more = time.perf_counter() - start, f", compute=mc.Compute(memory={budget!r})" if budget else ""
    peak = peak_memory(WORK.format(n=n, m=M, gamma=0.05, more=more, here=str(Path(__file__).parent)))
    print(
        f"\nn = {n}{more}: {elapsed:.1f} s with {solver}, peak memory {peak / 2**30:.2f} GiB = {peak / gram:.2f} Grams"
        f" of {gram / 2**30:.1f} GiB",
        flush=True,
    )
    if budget:
        promise(f"n = {n}, budget {budget}: peak memory", peak / 1e9, at_most=1.0, unit="GB")
    else:
        promise(f"n = {n}: peak memory over a Gram", peak / gram, at_most=1.3)


def large() -> None:
    memory(80_000, "1GB")


def noisy(name: str, n: int = 2000, test: int = 300, noise: float = 0.5) -> tuple[Any, Any, Any] | None:
    """(clean training digits, clean test digits, the same with noise)."""
    data = published(name)
    if data is None:
        return None
    X, _, T, _ = data
    rng = np.random.default_rng(0)
    X, T = (A[rng.permutation(len(A))[:m]].astype(np.float64) for A, m in ((X, n), (T, test)))
    return X, T, T + noise * rng.standard_normal(T.shape)


def width(X: Any, noise: float = 0.5) -> float:
    """γ = 1/(half the mean squared distance of digits, plus that of the noise): neither alone fills the matrix."""
    return float(1 / (X.var(0).sum() + noise**2 * X.shape[1]))


def cleaned(model: Any, noised: Any) -> Any:
    return model.inverse_transform(model.transform(noised))


def denoise() -> None:
    for name in ("usps", "mnist"):
        data = noisy(name)
        if data is None:
            skipped(name, "is not at hand")
            continue
        X, T, N = data
        gamma = width(X)
        before = ((N - T) ** 2).mean()
        print(
            f"\n{name}: mean squared error per pixel of {len(T)} digits with noise ({before:.4f}), {len(X)} to learn, γ"
            f" = {gamma:.2g}"
        )
        print(f"  {'components':>10} {'PCA':>10} {'fixed point':>12} {'ridge':>10} {'seconds':>16}")
        every = []
        for m in (4, 16, 32, 64, 128, 256):
            errors, clocks = [((cleaned(mc.PCA(m).fit(X), N) - T) ** 2).mean()], []
            for form in ("fixed_point", "ridge"):
                start = time.perf_counter()
                errors.append(
                    ((cleaned(mc.KernelPCA(m, mc.Gaussian(gamma), pre_image=form).fit(X), N) - T) ** 2).mean()
                )
                clocks.append(time.perf_counter() - start)
            every.append(errors)
            mark = "".join(
                f"   {form} wins" for form, e in zip(("fixed point", "ridge"), errors[1:], strict=True) if e < errors[0]
            )
            print(
                f"  {m:>10} {errors[0]:>10.4f} {errors[1]:>12.4f} {errors[2]:>10.4f} {clocks[0]:>9.2f}"
                f" {clocks[1]:>6.2f}{mark}",
                flush=True,
            )
        low = np.min(every, axis=0)
        print(f"  {'best':>10} {low[0]:>10.4f} {low[1]:>12.4f} {low[2]:>10.4f}")
        promise(f"{name}, best error of PCA over that of kernel PCA", float(low[0] / min(low[1:])), at_least=1.0)


def picture(m: int = 128) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    data, X_y = noisy("usps"), published("usps")
    if data is None or X_y is None:
        print("\nusps: not here")
        return
    X, _, _ = data
    clean = np.array([X_y[2][np.flatnonzero(X_y[3] == digit)[3]] for digit in range(10)])
    N = clean + 0.5 * np.random.default_rng(1).standard_normal(clean.shape)
    models = [mc.PCA(m).fit(X), mc.KernelPCA(m, mc.Gaussian(width(X)), pre_image="ridge").fit(X)]
    rows = {"clean": clean, "noisy": N, "PCA": cleaned(models[0], N), "kernel PCA": cleaned(models[1], N)}
    figure, axes = plt.subplots(4, 10, figsize=(8, 3.4))
    for line, (title, images) in zip(axes, rows.items(), strict=True):
        for ax, image in zip(line, images, strict=True):
            ax.imshow(image.reshape(16, 16), cmap="gray_r", vmin=-1, vmax=1)
            ax.set(xticks=[], yticks=[])
        line[0].set_ylabel(title, rotation=0, ha="right", va="center")
    figure.tight_layout()
    figure.savefig(PICTURE, dpi=110)
    print(
        f"\n{m} components: "
        + ", ".join(f"{k} {((v - clean) ** 2).mean():.4f}" for k, v in rows.items())
        + f"; {PICTURE}"
    )


TABLES = {"speed": speed, "low": low, "memory": memory, "denoise": denoise, "large": large, "picture": picture}


def main() -> None:
    for chosen in sys.argv[1:] or (("speed", "low", "memory") if QUICK else ("speed", "low", "memory", "denoise")):
        TABLES[chosen]()


if __name__ == "__main__":
    judged(main)
