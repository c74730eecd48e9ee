"""What kernels and learners cost, as formulas in n, d and m with constants measured here: the tables of
docs/ways/cost.md.

    python -m benchmarks.cost_table [--write] [name …]

Each entry is run once to compile and warm up and three times more, the best of which counts; an entry takes less than
five seconds. ``--write`` puts the tables between the marks of the page. The memory foreseen is that of
``mercer.estimate_cost``, where it knows the learner.
"""

from __future__ import annotations

import datetime
import math
import os
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import mercer as mc
from mercer.compute import human

sys.path.insert(0, str(Path(__file__).parent))  # as a script and as a module
from measure import machine

PAGE = Path(__file__).resolve().parents[1] / "docs" / "ways" / "cost.md"
MARK = "<!-- {} of the tables written by benchmarks/cost_table.py -->"
ROUNDS = 3


def best(task: Callable[[], Any]) -> float:
    """Seconds of the quickest of three runs, after one that does not count."""
    seconds = []
    for _ in range(1 + ROUNDS):
        start = time.perf_counter()
        task()
        seconds.append(time.perf_counter() - start)
    return min(seconds[1:])


def told(seconds: float) -> str:
    """Seconds in a unit that suits them."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.2g} {unit}" if seconds < 100 * size else f"{seconds / size:.0f} {unit}"
    return f"{seconds / 1e-9:.2g} ns" if seconds < 99e-9 else f"{seconds / 1e-9:.0f} ns"


# ---- data ----------------------------------------------------------------------------------------------------------


def vectors(n: int, d: int = 20) -> Any:
    return np.random.default_rng(0).standard_normal((n, d))


def histograms(n: int, d: int = 64) -> Any:
    return np.random.default_rng(0).dirichlet(np.ones(d), n)


def strings(n: int, letters: int = 100) -> list[str]:
    rng = np.random.default_rng(0)
    return ["".join(rng.choice(list("ACGT"), letters)) for _ in range(n)]


def texts(n: int, words: int = 100) -> list[str]:
    rng = np.random.default_rng(0)
    return [" ".join(f"w{word}" for word in rng.zipf(1.5, words) % 5000) for _ in range(n)]


def series(n: int, length: int = 100) -> list[Any]:
    return list(np.cumsum(np.random.default_rng(0).standard_normal((n, length)), axis=1) / 10)


def graphs(n: int, vertices: int = 25) -> list[mc.Graph]:
    rng = np.random.default_rng(0)
    made = []
    for _ in range(n):
        tree = [(int(rng.integers(v)), v) for v in range(1, vertices)]
        more = [tuple(sorted(rng.choice(vertices, 2, replace=False).tolist())) for _ in range(3)]
        made.append(mc.Graph(sorted(set(tree + more)), rng.choice(list("CNO"), vertices).tolist()))
    return made


def clouds(n: int, points: int = 50) -> list[Any]:
    return list(np.random.default_rng(0).standard_normal((n, points, 3)))


# ---- kernels -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class OfKernel:
    """A kernel on n items: what a value costs by a formula, and the unit that is measured."""

    kernel: mc.Kernel
    data: Callable[..., Any]
    n: int
    work: str  # of the matrix, in words of the formula
    unit: str  # what the constant is of
    units: Callable[[int], float]  # how many of these the matrix takes


def pairs(n: int) -> float:
    return n * (n + 1) / 2


def of_pairs(size: float) -> Callable[[int], float]:
    return lambda n: pairs(n) * size


KERNELS: list[OfKernel] = [
    OfKernel(mc.Linear(), vectors, 6000, "n²d", "multiplication, d = 20", of_pairs(20)),
    OfKernel(mc.Gaussian(0.05), vectors, 6000, "n²(d + exp)", "pair, d = 20", pairs),
    OfKernel(mc.Matern(4.0, 2.5), vectors, 6000, "n²(d + exp)", "pair, d = 20", pairs),
    OfKernel(mc.Laplacian(0.05), vectors, 6000, "n²d", "column and pair, d = 20", of_pairs(20)),
    OfKernel(mc.HistogramIntersection(), histograms, 4000, "n²d", "column and pair, d = 64", of_pairs(64)),
    OfKernel(mc.ChiSquared(1.0), histograms, 4000, "n²d", "column and pair, d = 64", of_pairs(64)),
    OfKernel(mc.Spectrum(6), strings, 2000, "letters, and matches", "pair of strings of 100", pairs),
    OfKernel(mc.Gappy(8, 4), strings, 1000, "letters · C(g, k), and matches", "pair of strings of 100", pairs),
    OfKernel(mc.Gappy(13, 6), strings, 500, "|x||z| a pair", "pair of windows", of_pairs(88**2)),
    OfKernel(
        mc.Mismatch(5, 1), strings, 1000, "letters · words within m, and matches", "pair of strings of 100", pairs
    ),
    OfKernel(
        mc.Subsequence(3, decay=0.5),
        strings,
        300,
        "letters · |A|^(length − 1), or length · |x||z| a pair",
        "pair of strings of 100",
        pairs,
    ),
    OfKernel(mc.Substring(0.5), strings, 300, "|x| + |z| a pair", "pair of strings of 100", pairs),
    OfKernel(mc.LocalAlignment(), strings, 300, "|x||z| a pair", "cell", of_pairs(1e4)),
    OfKernel(mc.BagOfWords(), texts, 2000, "words, and matches", "pair of texts of 100 words", pairs),
    OfKernel(mc.GlobalAlignment(1.0), series, 300, "|x||z| a pair", "cell", of_pairs(1e4)),
    OfKernel(mc.Signature(scale=1.0), series, 300, "|x||z| a pair", "cell", of_pairs(1e4)),
    OfKernel(mc.CrossCorrelation(), series, 500, "length · log(length) a pair", "pair of series of 100", pairs),
    OfKernel(
        mc.WeisfeilerLehman(3), graphs, 1000, "depth · edges, and matches", "pair of graphs of 25 vertices", pairs
    ),
    OfKernel(mc.ShortestPath(), graphs, 1000, "vertices · edges, and matches", "pair of graphs of 25 vertices", pairs),
    OfKernel(
        mc.GeometricWalk(0.05), graphs, 200, "steps · classes² · degree a pair", "pair of graphs of 25 vertices", pairs
    ),
    OfKernel(mc.WassersteinWL(3), graphs, 500, "depth · vertices a pair", "pair of graphs of 25 vertices", pairs),
    OfKernel(mc.MeanEmbedding(mc.Gaussian(0.5)), clouds, 300, "|x||z| values a pair", "pair of points", of_pairs(2500)),
    OfKernel(
        mc.SlicedWasserstein(1.0), clouds, 500, "directions · (|x| + |z|) a pair", "pair of clouds of 50 points", pairs
    ),
]


def kernel_rows(names: list[str]) -> list[tuple[str, ...]]:
    rows = []
    for entry in KERNELS:
        name = type(entry.kernel).__name__
        if names and name not in names:
            continue
        X = entry.data(entry.n)
        seconds = best(lambda entry=entry, X=X: entry.kernel(X))
        rows.append(
            (
                f"`{entry.kernel}`",
                entry.work,
                f"{entry.n}",
                told(seconds),
                f"{told(seconds / entry.units(entry.n))} a {entry.unit}",
            )
        )
        print("| " + " | ".join(rows[-1]) + " |", flush=True)
    return rows


# ---- learners ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class OfLearner:
    """A learner on n rows: time and memory as formulas, and the leading term of the time as a number."""

    learner: Any  # an estimator, or a function of X and y
    name: str
    n: int
    time: str
    memory: str
    leading: Callable[[int], float]
    target: str = "numbers"
    d: int = 20


G = mc.Gaussian(0.05)


def square(n: int) -> float:
    return float(n) ** 2


def third(n: int) -> float:
    return n**3 / 3


def cube(n: int) -> float:
    return float(n) ** 3


def mmd(X: Any, y: Any) -> Any:
    return mc.mmd_test(X[::2], X[1::2], G, random_state=0)


def hsic(X: Any, y: Any) -> Any:
    return mc.hsic_test(X, y, G, mc.Gaussian(0.5), random_state=0)


def kci(X: Any, y: Any) -> Any:
    return mc.kci_test(X[:, 0], y, X[:, 1:3])


def tuning(X: Any, y: Any) -> Any:
    return mc.tune(mc.KernelRidge(0.1, mc.Matern([4.0] * X.shape[1], math.inf)), X, y, max_iter=10)


MKL = [mc.Gaussian(0.05 * 2.0**i) for i in range(-2, 3)]

LEARNERS: list[OfLearner] = [
    OfLearner(mc.KernelRidge(1.0, G), "KernelRidge", 4000, "n³/3", "n², float32 from n = 2048", third),
    OfLearner(
        mc.KernelRidge(1.0, G, centers=500, random_state=0),
        "KernelRidge, centers m = 500",
        40_000,
        "10–20 passes of nm, and m³",
        "2m², n",
        lambda n: 500.0 * n,
    ),
    OfLearner(mc.KernelRidgeCV(kernel=G), "KernelRidgeCV, 20 λ", 1500, "4n³/3", "3n²", lambda n: 4 * third(n)),
    OfLearner(mc.SVC(kernel=G), "SVC", 8000, "about n²", "active², float32", square, "classes"),
    OfLearner(
        mc.SVC(kernel=G, centers=300, random_state=0),
        "SVC, centers m = 300",
        5000,
        "60–220 passes of nm",
        "3m², n",
        lambda n: 300.0 * n,
        "classes",
    ),
    OfLearner(mc.SVR(kernel=G), "SVR", 4000, "about n²", "active², float32", square),
    OfLearner(mc.OneClassSVM(0.1, G), "OneClassSVM", 8000, "about n²", "active², float32", square, "nothing"),
    OfLearner(mc.KernelLogistic(1.0, G), "KernelLogistic", 2000, "steps · n³/3", "2n²", third, "classes"),
    OfLearner(mc.KernelHuber(1.0, kernel=G), "KernelHuber", 2000, "steps · n³/3", "2n²", third),
    OfLearner(mc.KernelPoisson(1.0, G), "KernelPoisson", 2000, "steps · n³/3", "2n²", third, "counts"),
    OfLearner(mc.KernelQuantile([0.1, 0.5, 0.9], kernel=G), "KernelQuantile, 3 τ", 2000, "3 · about n²", "n²", square),
    OfLearner(
        mc.KernelPCA(10, G),
        "KernelPCA, 10 components",
        5000,
        "passes · n²",
        "n, no matrix from 11 000",
        square,
        "nothing",
    ),
    OfLearner(
        mc.KernelKMeans(8, G, n_init=3, random_state=0),
        "KernelKMeans, 3 starts",
        4000,
        "steps · n²",
        "n²",
        square,
        "nothing",
    ),
    OfLearner(
        mc.SpectralClustering(8, G, random_state=0), "SpectralClustering", 3000, "passes · n²", "n²", square, "nothing"
    ),
    OfLearner(
        mc.GaussianMixture(8, random_state=0),
        "GaussianMixture, 8 parts, d = 20",
        20_000,
        "steps · k n d²",
        "n k",
        lambda n: n * 8 * 400.0,
        "nothing",
    ),
    OfLearner(mc.KernelCCA(2, kernel_x=G, kernel_y=mc.Gaussian(0.5)), "KernelCCA", 600, "n³", "several n²", cube),
    OfLearner(
        mc.MKLClassifier(kernel=MKL),
        "MKLClassifier, M = 5 kernels",
        800,
        "rounds · M n²",
        "M n² or less",
        lambda n: 5 * square(n),
        "classes",
    ),
    OfLearner(
        mc.KernelSGDClassifier(kernel=G, budget=100, max_iter=1, random_state=0),
        "KernelSGDClassifier, budget B = 100",
        20_000,
        "n B, n B² at most",
        "B²",
        lambda n: 100.0 * n,
        "classes",
    ),
    OfLearner(mc.KernelRLS(1.0, G, budget=100), "KernelRLS, budget B = 100", 10_000, "n B²", "B²", lambda n: 1e4 * n),
    OfLearner(
        mmd,
        "mmd_test, 1000 permutations",
        2000,
        "n² · permutations, as matrix products",
        "n²",
        lambda n: 1e3 * square(n),
        "nothing",
    ),
    OfLearner(hsic, "hsic_test, 1000 permutations", 1000, "n² · permutations", "2n²", lambda n: 1e3 * square(n)),
    OfLearner(kci, "kci_test", 400, "n³", "several n²", cube),
    OfLearner(tuning, "tune, 10 steps, d = 20 length scales", 400, "evaluations · (n³ + d n²)", "several n²", cube),
]


def targets(kind: str, X: Any) -> Any:
    rng = np.random.default_rng(1)
    f = np.sin(X[:, 0]) + 0.3 * X[:, 1]
    if kind == "classes":
        return f + 0.5 * rng.standard_normal(len(X)) > 0
    if kind == "counts":
        return rng.poisson(np.exp(0.5 * f))
    return None if kind == "nothing" else f + 0.3 * rng.standard_normal(len(X))


def learner_rows(names: list[str]) -> list[tuple[str, ...]]:
    rows = []
    for entry in LEARNERS:
        if names and entry.name.split(",")[0] not in names:
            continue
        X = vectors(entry.n, entry.d)
        y = targets(entry.target, X)
        fit = getattr(entry.learner, "fit", entry.learner)
        given = (X, y[:, None]) if "CCA" in entry.name else (X, y)
        seconds = best(lambda fit=fit, given=given: fit(*given))
        try:
            cost = mc.estimate_cost(entry.learner, X, y)
            foreseen = human(cost.memory)
        except TypeError:
            foreseen = ""
        rows.append(
            (
                f"`{entry.name.split(',')[0]}`" + entry.name.partition(",")[1] + entry.name.partition(",")[2],
                entry.time,
                entry.memory,
                f"{entry.n}",
                told(seconds),
                told(seconds / entry.leading(entry.n)),
                foreseen,
            )
        )
        print("| " + " | ".join(rows[-1]) + " |", flush=True)
    return rows


def table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    lines = [head, ("---",) * len(head), *((cell.replace("|", "\\|") for cell in row) for row in rows)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def main() -> None:
    write = "--write" in sys.argv
    names = [name for name in sys.argv[1:] if name != "--write"]
    warnings.simplefilter("ignore")
    load = os.getloadavg()[0]  # by other work
    print(machine(), f"load {load:.1f}", flush=True)
    kernels, learners = kernel_rows(names), learner_rows(names)
    if not write or names:
        return
    today = datetime.date.today().isoformat()
    text = "\n\n".join(
        [
            f"Measured on {machine()} with a load of {load:.1f} before the first entry, {today}; best of three.",
            "### Kernels: the whole matrix of n items",
            table(("kernel", "work", "n", "matrix", "that is"), kernels),
            "### Learners: a fit to n rows, Gaussian kernel, d = 20",
            table(("learner", "time", "memory", "n", "fit", "a unit of the leading term", "memory foreseen"), learners),
        ]
    )
    page = PAGE.read_text(encoding="utf-8")
    start, end = MARK.format("start"), MARK.format("end")
    before, _, rest = page.partition(start)
    PAGE.write_text(f"{before}{start}\n\n{text}\n\n{end}{rest.partition(end)[2]}", encoding="utf-8")


if __name__ == "__main__":
    main()
