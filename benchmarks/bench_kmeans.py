"""Promise: kernel k-means of 5000 points ≥ 3× tslearn's with no larger an objective; k-means ≥ scikit-learn's speed; 24
of 28 shapes in two or three dimensions found (adjusted Rand index above 0.95).

Arguments: any of kernel, plain, spectral, picture (docs/clusters.png); the first three without any.
"""

from __future__ import annotations

import gzip
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from measure import QUICK, interleaved, judged, promise, sized, skipped, table
from sklearn.cluster import KMeans as PeerKMeans
from sklearn.cluster import SpectralClustering as PeerSpectral
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score
from tables import FOLDER

import mercer as mc

PICTURE = Path(__file__).resolve().parents[1] / "docs" / "clusters.png"
CURVED = (
    "3-spiral",
    "spiral",
    "rings",
    "chainlink",
    "atom",
    "jain",
    "donut1",
    "donut3",
    "smile1",
    "zelnik1",
    "zelnik3",
    "zelnik5",
    "cassini",
    "spiralsquare",
)
SKIPPED = ("cluto-t7-10k",)  # a label for noise


def gram(X: Any, gamma: float) -> Any:
    s = (X * X).sum(1)
    return np.exp(-gamma * np.maximum(s[:, None] + s - 2 * X @ X.T, 0))


def objective(K: Any, labels: Any) -> float:
    """Σ_i ‖φ(x_i) − mean of its cluster‖²."""
    Z = np.eye(labels.max() + 1)[labels]
    return float(np.trace(K) - (np.einsum("ic,ic->c", Z, K @ Z) / np.maximum(Z.sum(0), 1)).sum())


def plain(X: Any, k: int, gamma: float, n_init: int = 10, max_iter: int = 300) -> Any:
    """Lloyd's steps in feature space, all points at once; starts from points drawn as k-means++ draws them."""
    K, rng, best = gram(X, gamma), np.random.default_rng(0), (np.inf, None)
    diagonal = np.diagonal(K)
    for _ in range(n_init):
        seeds = [int(rng.integers(len(K)))]
        near = 2 - 2 * K[seeds[0]]
        for _ in range(k - 1):
            seeds.append(int(rng.choice(len(K), p=near / near.sum())))
            near = np.minimum(near, np.maximum(2 - 2 * K[seeds[-1]], 0))
        labels = np.argmax(K[:, seeds], axis=1)
        for _ in range(max_iter):
            Z = np.eye(k)[labels]
            Z /= np.maximum(Z.sum(0), 1)
            KZ = K @ Z
            distances = np.einsum("ic,ic->c", Z, KZ) - 2 * KZ
            new = np.argmin(distances, axis=1)
            if (new == labels).all():
                break
            labels = new
        value = float((diagonal + distances[np.arange(len(K)), labels]).sum())
        if value < best[0]:
            best = value, labels
    return best[1]


def kernel(n: int = sized(5000), d: int = 20, k: int = 10) -> None:
    X, y = make_blobs(n, d, centers=k, cluster_std=8.0, random_state=0)
    X = (X - X.mean(0)) / X.std(0)
    gamma, found = 1 / d, {}

    def keep(name: str, labels: Any) -> None:
        found[name] = np.asarray(labels)

    tasks: dict[str, Any] = {
        "mercer": lambda: keep(
            "mercer", mc.KernelKMeans(k, mc.Gaussian(gamma), n_init=10, random_state=0).fit(X).labels_
        ),
        "NumPy": lambda: keep("NumPy", plain(X, k, gamma)),
    }
    try:
        from tslearn.clustering import KernelKMeans as Peer

        peer = Peer(k, kernel="rbf", kernel_params={"gamma": gamma}, n_init=10, max_iter=300, random_state=0)
        # series of length d: flattened again inside
        tasks["tslearn"] = lambda: keep("tslearn", peer.fit(X[:, :, None]).labels_)
    except ImportError:
        pass  # said with the promises
    times = interleaved(tasks, 3)
    table(
        f"Kernel k-means, n = {n}, k = {k}, 10 starts",
        times,
        "mercer",
        "tslearn assigns by 2 − 2·mean k(x, cluster): without ‖centre‖²",
        {"tslearn": 3.0, "NumPy": 1.0},
    )
    K = gram(X, gamma)
    for name, labels in found.items():
        print(
            f"  {name:<10} objective {objective(K, labels):.6f}   adjusted Rand index to the classes"
            f" {adjusted_rand_score(y, labels):.3f}"
        )
    for name in found.keys() - {"mercer"}:
        ratio = objective(K, found["mercer"]) / objective(K, found[name])
        promise(f"kernel k-means, objective over that of {name}", ratio, at_most=1.0001)


def vectors(n: int = sized(100_000), d: int = 20, k: int = 20) -> None:
    X, _ = make_blobs(n, d, centers=k, cluster_std=4.0, random_state=0)
    found: dict[str, float] = {}

    def keep(name: str, model: Any) -> None:
        found[name] = model.fit(X).inertia_

    tasks = {
        "mercer": lambda: keep("mercer", mc.KMeans(k, n_init=10, random_state=0)),
        "scikit-learn": lambda: keep("scikit-learn", PeerKMeans(k, init="k-means++", n_init=10, random_state=0)),
    }
    title = f"k-means, n = {n}, d = {d}, k = {k}, 10 starts"
    table(title, interleaved(tasks, 3, warm=False), "mercer", promised={"scikit-learn": 1.0})
    print("  " + "   ".join(f"{name} inertia {value:.1f}" for name, value in found.items()))


def shape(name: str) -> tuple[Any, Any] | None:
    """(X, classes 0..k−1); one scale for all columns, so that widths of scikit-learn's default mean something."""
    path = FOLDER / "shapes2d" / f"{name}.csv.gz"
    if not path.exists():
        return None
    with gzip.open(path, "rt") as f:
        rows = [line.strip().split(",") for line in f][1:]
    X = np.array([[float(v) for v in r[:-1]] for r in rows])
    return (X - X.mean(0)) / X.std(), np.unique([r[-1] for r in rows], return_inverse=True)[1]


def spectral() -> None:
    names = sorted(p.name.removesuffix(".csv.gz") for p in (FOLDER / "shapes2d").glob("*.csv.gz"))
    if not names:
        skipped("shapes2d", "is not at hand")
        return
    print(
        "\nSpectral clustering, adjusted Rand index; * curved sets; sk: scikit-learn, rbf (γ = 1) and 10 nearest"
        " neighbours"
    )
    print(f"  {'':<15} {'n':>6} {'k':>3} {'mercer':>8} {'rounding':>9} {'sk rbf':>8} {'sk near':>8}")
    sums: dict[bool, list[list[float]]] = {True: [], False: []}
    for name in sorted(set(names) - set(SKIPPED), key=lambda s: (s not in CURVED, s)):
        X, y = shape(name)  # type: ignore[misc]
        k = int(y.max()) + 1
        ours = mc.SpectralClustering(k, random_state=0).fit(X)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            peers = [PeerSpectral(k, affinity=a, random_state=0).fit(X).labels_ for a in ("rbf", "nearest_neighbors")]
        scores = [adjusted_rand_score(y, labels) for labels in (ours.labels_, *peers)]
        sums[name in CURVED].append(scores)
        a, b, c = scores
        print(
            f"  {'*' if name in CURVED else ' '} {name:<13} {len(X):>6} {k:>3} {a:>8.3f} {ours.rounding_:>9} {b:>8.3f}"
            f" {c:>8.3f}",
            flush=True,
        )
    for curved, title in ((True, "* curved"), (False, "others")):
        means = np.mean(sums[curved], axis=0)
        print(f"  mean, {title:<9} {'':>6} {'':>3} {means[0]:>8.3f} {'':>9} {means[1]:>8.3f} {means[2]:>8.3f}")
    found = [scores[0] for several in sums.values() for scores in several]
    promise(
        f"shapes of {len(found)} with an adjusted Rand index above 0.95",
        sum(v > 0.95 for v in found),
        at_least=24,
        unit="",
    )


def picture() -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    chosen = [
        (n, s)
        for n in ("3-spiral", "rings", "jain", "smile1", "zelnik3", "cassini", "spiral", "donut3")
        if (s := shape(n)) is not None
    ]
    if not chosen:
        print("\nshapes2d: not here")
        return
    figure, axes = plt.subplots(2, 4, figsize=(9, 4.8))
    for ax, (name, (X, y)) in zip(axes.flat, chosen, strict=False):
        labels = mc.SpectralClustering(int(y.max()) + 1, random_state=0).fit(X).labels_
        ax.scatter(X[:, 0], X[:, 1], c=labels, s=4, cmap="tab10")
        ax.set(xticks=[], yticks=[], title=f"{name}, ARI {adjusted_rand_score(y, labels):.2f}", aspect="equal")
    figure.tight_layout()
    figure.savefig(PICTURE, dpi=110)
    print(f"\n{PICTURE}")


TABLES = {"kernel": kernel, "plain": vectors, "spectral": spectral, "picture": picture}


def main() -> None:
    for chosen in sys.argv[1:] or (("kernel", "plain") if QUICK else ("kernel", "plain", "spectral")):
        TABLES[chosen]()


if __name__ == "__main__":
    judged(main)
