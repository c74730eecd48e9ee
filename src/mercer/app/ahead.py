"""Compiled ahead: what usual work needs is in the cache before the first fit, as in the image of a container.

Code is compiled for the types of its arguments when it is first called, so the way to compile it is to do the work, on
samples made up for it. A sample is as large as it must be for the compiled code to take over from the plain one.
"""

from __future__ import annotations

import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

import mercer as mc
from mercer.annotations import Samples
from mercer.compute import Compute
from mercer.data import size, take
from mercer.kernels.base import Kernel
from mercer.kernels.notation import parse
from mercer.runtime import compiling
from mercer.troubles import coded

Report = Callable[[str, float], None]
Work = tuple[str, Callable[[], Any]]

_MATRIX = 1100  # rows whose matrix is worth compiling for
_SHARED = 3400  # rows of a machine that two threads work at
_MANY = 5000  # rows from which a linear machine goes variable by variable
_FEW = 40  # items of which a pair is costly
_COLUMNS = 60  # so many that a polynomial kernel has more features than there are rows, and is computed as a kernel
_NARROW = 8  # so few that it has less
_WIDE = 200  # columns whose inner products are left to BLAS
_MOST_COLUMNS = 40  # that are tried for a kernel that wants a number of its own
_TWO = Compute(threads=2)  # code for two threads is compiled on a machine of one core too


@dataclass(frozen=True)
class Compiled:
    """What ``compile_ahead`` has done.

    Attributes
    ----------
    functions : int
        How many were compiled now; what was in the cache already is not counted.
    seconds : float
        How long it took.
    folders : tuple of Path
        Where the code is kept: the cache, or the package itself.
    size : int
        Bytes of all compiled code there.
    """

    functions: int
    seconds: float
    folders: tuple[Path, ...]
    size: int


def compile_ahead(*kernels: Kernel | str, report: Report | None = None) -> Compiled:
    """Compile into the cache what usual work needs, so that a first fit in another process compiles nothing.

    For the image of a container, or a machine where the first answer must be quick. Takes a minute or two where nothing
    is in the cache yet; a second call finds everything there.

    Parameters
    ----------
    *kernels : Kernel or str
        Compile for machines and matrices of these kernels, as ``"Gaussian() + Linear()"``. None: for the usual kernels
        on vectors, sequences and graphs, and for the estimators over them.
    report : callable, optional
        Called as ``report(name, share)`` with what is compiled next, and the share that is done.

    Returns
    -------
    Compiled
        How many functions were compiled, how long it took, and where they are kept.

    Raises
    ------
    OSError
        If nothing can be written where compiled code is kept; the message names the folder and the variable to set.

    Notes
    -----
    Code is compiled for the processor of this machine, and kept where Numba keeps it: ``NUMBA_CACHE_DIR`` if that is
    set, else beside the sources; what is written for a formula is kept under ``XDG_CACHE_HOME``. On the command line:
    ``mercer compile``.

    Examples
    --------
    >>> import mercer as mc
    >>> done = mc.compile_ahead("Tanimoto()")
    >>> done.functions >= 0, len(done.folders) > 0
    (True, True)
    """
    check_cache()
    chosen = [parse(k) if isinstance(k, str) else k for k in kernels]
    works = [work for k in chosen for work in _of_kernel(k, _sample_for(k))] if chosen else list(_usual())
    start, before = time.perf_counter(), compiling.compilations()
    for done, (name, work) in enumerate(works):
        if report is not None:
            report(name, done / len(works))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about samples that mean nothing
            work()
    folders = compiling.cache_folders()
    kept = sum(f.stat().st_size for folder in folders for f in folder.iterdir() if f.suffix in (".nbi", ".nbc"))
    roots = tuple(sorted({_root(folder) for folder in folders}))
    return Compiled(compiling.compilations() - before, time.perf_counter() - start, roots, kept)


def _root(folder: Path) -> Path:
    """The folder as a person knows it: that of the cache or of the package, not one of the many inside."""
    known = [place for place, _ in compiling.cache_places()] + [Path(__file__).parent]
    return next((place for place in known if folder.is_relative_to(place)), folder)


def check_cache() -> None:
    """Whether compiled code can be kept, before any work is done for it."""
    for folder, variable in compiling.cache_places():
        try:
            folder.mkdir(parents=True, exist_ok=True)
            tempfile.TemporaryFile(dir=folder).close()
        except OSError as error:
            raise OSError(
                coded(
                    f"{folder}: nothing can be written there ({error.strerror}), so compiled code would not be kept; "
                    f"set {variable} to a folder that can be written.",
                    "M501",
                )
            ) from None


# ---------------------------------------------------------------------------------------------------------------------
# Samples
# ---------------------------------------------------------------------------------------------------------------------


def _rows(n: int, d: int = _COLUMNS) -> Any:
    """Numbers between 0 and 1: every kernel on vectors or histograms is defined there."""
    return np.random.default_rng(n + d).uniform(0.01, 0.99, (n, d))


def _classes(n: int, count: int = 2) -> Any:
    return np.arange(n) % count


def _strings(n: int, length: int = 60) -> list[str]:
    rng = np.random.default_rng(n)
    return ["".join(rng.choice(list("ACGT"), length)) for _ in range(n)]


def _texts(n: int) -> list[str]:
    rng = np.random.default_rng(n)
    return [" ".join(rng.choice(["a", "rose", "is", "by", "any", "other", "name"], 9)) for _ in range(n)]


def _series(n: int) -> list[Any]:
    rng = np.random.default_rng(n)
    return [rng.standard_normal((k, 2)) for k in rng.integers(5, 20, n)]


def _graphs(n: int) -> list[mc.Graph]:
    rng = np.random.default_rng(n)
    rings = [[(k, (k + 1) % v) for k in range(v)] + [(0, v // 2)] for v in rng.integers(5, 9, n)]
    return [mc.Graph(edges, rng.choice(["C", "N", "O"], len(edges) - 1).tolist()) for edges in rings]


def _sets(n: int) -> list[list[int]]:
    return [np.random.default_rng(k).choice(50, 9, replace=False).tolist() for k in range(n)]


def _trees(n: int) -> list[str]:
    return [f"(S (NP {a}) (VP (V {b}) (NP {a})))" for a, b in zip("abcdefgh" * n, "uvwxyz" * n, strict=False)][:n]


def _sample_for(kernel: Kernel) -> Any:
    """Items that a kernel takes: the first of all kinds that it computes a matrix of."""
    kinds: list[Callable[[int], Any]] = [_rows, _strings, _graphs, _series, _trees, _sets, _texts]
    columns: list[Callable[[int], Any]] = [lambda n, d=d: _rows(n, d) for d in range(1, _MOST_COLUMNS + 1)]  # type: ignore[misc]
    for make in kinds + columns:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                kernel.bind(make(6))(make(6))
        except (ValueError, TypeError, ArithmeticError, LookupError):
            continue
        return make(_MATRIX if make is _rows or make in columns else _FEW)
    raise ValueError(
        coded(
            f"{kernel} takes none of the samples of vectors, strings, series, graphs, trees and sets that code is"
            " compiled with; its code is compiled, and kept, when it is first fitted.",
            "M215",
        )
    )


# ---------------------------------------------------------------------------------------------------------------------
# Work
# ---------------------------------------------------------------------------------------------------------------------


def _of_kernel(kernel: Kernel, X: Samples) -> Iterator[Work]:
    """Matrices and products in both precisions, and a machine and ridge regression over the kernel."""
    name = str(kernel)
    if isinstance(X, np.ndarray):
        for dtype in (np.float64, np.float32):
            yield name, lambda dtype=dtype: _matrices(kernel, X.astype(dtype))  # type: ignore[misc]
    else:
        yield name, lambda: _matrices(kernel, X)
    n = size(X)
    # float64, also the last steps of larger ones
    yield name, lambda: mc.SVC(kernel=kernel).fit(take(X, slice(0, _FEW)), _classes(_FEW))
    yield name, lambda: mc.SVC(kernel=kernel).fit(X, _classes(n)).predict(X)
    yield name, lambda: mc.SVC(kernel=kernel).fit(X, _classes(n, 3))
    yield name, lambda: mc.KernelRidge(kernel=kernel).fit(X, _classes(n) - 0.5).predict(X)


def _matrices(kernel: Kernel, X: Samples) -> None:
    n = size(X)
    bound = kernel.bind(X)
    bound(X)
    bound(X, X)
    for gram in (bound.gram(X), bound.gram(X, take(X, slice(0, n - 1)))):
        gram @ np.ones(gram.shape[1])
        gram @ np.ones((gram.shape[1], 2))


def _usual() -> Iterator[Work]:
    for part in (_vectors, _machines, _regressions, _without_labels, _sequences, _structures):
        yield from part()


def _vectors() -> Iterator[Work]:
    for kernel in (
        mc.Gaussian(0.1),
        mc.Polynomial(2),
        mc.Polynomial(3),
        mc.Laplacian(0.1),
        mc.Matern(1.0, 1.5),
        mc.Matern(1.0, 2.5),
    ):
        yield from _of_kernel(kernel, _rows(_MATRIX))
    for kernel in (mc.Linear(), mc.Polynomial(2)):
        yield from _of_kernel(kernel, _rows(_MATRIX, _NARROW))
    yield "Gaussian, many columns", lambda: _matrices(mc.Gaussian(0.1), _rows(_MATRIX, _WIDE))
    yield "Gaussian, many columns", lambda: mc.SVC().fit(_rows(_MATRIX, _WIDE), _classes(_MATRIX))
    for kernel in (mc.Linear(), mc.Gaussian(0.1)):
        yield "sparse vectors", partial(_matrices, kernel, sparse.random(_MATRIX, 300, 0.05, "csr", random_state=0))


def _machines() -> Iterator[Work]:
    name = "support vector machines"
    for n, classes in ((100, 2), (400, 3), (_MATRIX, 2), (_MATRIX, 3), (_SHARED, 2)):
        X, y = _rows(n), _classes(n, classes)
        yield name, lambda X=X, y=y: mc.SVC(compute=_TWO).fit(X, y).predict(X)  # type: ignore[misc]
        yield name, lambda X=X, y=y: mc.SVC(compute=_TWO).fit(X.astype(np.float32), y)  # type: ignore[misc]
    X, y = _rows(_MATRIX), _classes(_MATRIX)
    separated = X + y[:, None]
    yield name, lambda: mc.SVC(compute=_TWO).fit(separated, y)
    yield name, lambda: mc.SVC(probability=True).fit(separated[:400], y[:400]).predict_proba(X)
    yield name, lambda: mc.SVC(kernel="precomputed").fit(mc.Gaussian(0.1)(X[:700]), y[:700])
    yield name, lambda: mc.SVC(kernel=mc.Linear()).fit(_rows(_MANY) + _classes(_MANY)[:, None], _classes(_MANY))
    yield name, lambda: mc.NuSVC().fit(separated, y)
    for machine in (mc.SVR(), mc.NuSVR()):
        for n in (100, _MATRIX):
            yield "support vector regression", lambda machine=machine, n=n: machine.fit(X[:n], X[:n, 0])  # type: ignore[misc]
    for novelty in (mc.OneClassSVM(), mc.SVDD()):
        for n in (100, _MATRIX):
            yield "novelty", lambda novelty=novelty, n=n: novelty.fit(X[:n])  # type: ignore[misc]


def _regressions() -> Iterator[Work]:
    X = _rows(_MATRIX)
    labels, target = _classes(_MATRIX), X[:, 0]
    estimators: Sequence[tuple[str, Any, Any]] = [
        ("ridge", mc.KernelRidge(), target),
        ("ridge", mc.KernelRidgeCV(), target),
        ("logistic regression", mc.KernelLogistic(), labels),
        ("Huber's loss", mc.KernelHuber(), target),
        ("quantiles", mc.KernelQuantile(), target),
    ]
    for name, estimator, y in estimators:
        # which takes long, and compiles no more for it
        for n in (200,) if isinstance(estimator, mc.KernelRidgeCV) else (200, _MATRIX):
            yield name, lambda estimator=estimator, y=y, n=n: estimator.fit(X[:n], y[:n]).predict(X[:n])  # type: ignore[misc]


def _without_labels() -> Iterator[Work]:
    X = _rows(_MATRIX)
    yield "kernel PCA", lambda: mc.KernelPCA(2).fit(X).transform(X)
    yield "k-means", lambda: mc.KMeans(3, random_state=0).fit(X).predict(X)
    yield "k-means", lambda: mc.KernelKMeans(3, random_state=0).fit(X)
    yield "spectral clustering", lambda: mc.SpectralClustering(3, random_state=0).fit(X[:300])
    yield "mixtures", lambda: mc.GaussianMixture(2, random_state=0).fit(X).predict(X)
    yield "tests", lambda: mc.hsic_test(X[:200], X[:200, 0], random_state=0)
    yield "tests", lambda: mc.mmd_test(X[:200], X[200:400], random_state=0)


def _sequences() -> Iterator[Work]:
    for kernel in (mc.Spectrum(3), mc.Spectrum(5, 3), mc.Gappy(4, 2), mc.Mismatch(3, 1, "ACGT"), mc.WeightedDegree(4)):
        yield from _of_kernel(kernel, _strings(_FEW))
        yield from _of_kernel(kernel.normalized(), _strings(600))
    for kernel in (mc.Subsequence(3), mc.Substring(0.5), mc.LocalAlignment()):
        yield from _of_kernel(kernel.normalized(), _strings(_FEW))
    yield from _of_kernel(mc.BagOfWords(), _texts(_FEW))
    for kernel in (mc.GlobalAlignment(), mc.Signature().normalized(), mc.TruncatedSignature()):
        yield from _of_kernel(kernel, _series(_FEW))


def _structures() -> Iterator[Work]:
    for kernel in (
        mc.VertexHistogram(),
        mc.EdgeHistogram(),
        mc.ShortestPath(),
        mc.WeisfeilerLehman(3),
        mc.PathBag(5),
        mc.Tanimoto(mc.PathBag(5)),
        mc.WLOptimalAssignment(2),
        mc.Walk(3),
        mc.GeometricWalk(0.02),
        mc.Graphlet(3),
        mc.Subgraph(3),
    ):
        yield from _of_kernel(kernel.normalized(), _graphs(_FEW))
    yield from _of_kernel(mc.WeisfeilerLehman(3), _graphs(600))
    yield from _of_kernel(mc.TreeKernel(), _trees(_FEW))
    yield from _of_kernel(mc.Tanimoto(), _sets(_FEW))
