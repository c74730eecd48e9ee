"""What a fit will take before it begins: memory, time, and the way it will go.

The way is chosen by the functions that choose it in a fit, asked about an outline of the matrix (``gram.outline``);
each solver says beside its code what it allocates and computes. Speeds are measured: those of the machine once for each
process, those of the kernel on a few of the samples.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import clone

from mercer.annotations import Estimator, Samples, Targets
from mercer.arrays import Array
from mercer.compute import Compute, human
from mercer.data import Blocks, leaves, listed, size, take
from mercer.data.notices import quietly
from mercer.gram import DenseGram, Outline, Sample, Work, is_gram, largest_sample
from mercer.kernels.base import Kernel
from mercer.native.speed import share
from mercer.solvers.dual import Tried
from mercer.solvers.landmarks import STRIPS
from mercer.troubles import coded

_FIRST = 64  # samples that the kernel is looked at with
_PREPARING = 0.05  # seconds that preparing samples may take
_TRIED = 1000  # samples of a trial fit
_TRYING = 0.15  # seconds it may take
_SUPPORTED = (
    "KernelRidge, KernelRidgeCV, the machines of a loss (KernelLogistic, KernelHuber, KernelExpectile, KernelPoisson,"
    " KernelQuantile, RepresenterMachine) and of support vectors (SVC, NuSVC, SVR, NuSVR, OneClassSVM, SVDD),"
    " KernelPCA, KernelPCANovelty, KernelKMeans, SpectralClustering, and KernelSearchCV over these"
)


@dataclass(frozen=True)
class CostEstimate:
    """What a fit will take.

    Attributes
    ----------
    memory : int
        Bytes at the peak, above those of the data.
    seconds : float
        On this machine, as busy as it is now; without the time to compile.
    plan : str
        How, in words.
    solver : str
        What ``solver_`` will say, where the estimator has one.
    smallest_budget : int
        Bytes of the smallest ``Compute(memory=…)`` with which the estimator can be fitted; with less than ``memory``
        it may take another way, and longer.
    feasible : bool
        Whether the budget of the estimator is enough.
    """

    memory: int
    seconds: float
    plan: str
    solver: str
    smallest_budget: int
    feasible: bool = True

    def __str__(self) -> str:
        took = f"{self.seconds:.2g} s" if self.seconds < 120 else f"{self.seconds / 60:.0f} min"
        short = "" if self.feasible else " The budget of the estimator is too small for it."
        return (
            f"{human(self.memory)} and {took}: {self.plan}. It can be done with"
            f" Compute(memory='{human(self.smallest_budget).replace(' ', '')}').{short}"
        )


def estimate_cost(estimator: Estimator, X: Samples, y: Targets = None) -> CostEstimate:
    """What ``estimator.fit(X, y)`` will take, before any of it is done.

    Nothing of the size of the matrix is computed. The kernel is timed on a few samples, the machine once for each
    process: some tenths of a second in all, and the time to compile the kernel where that was not yet done. Bytes
    follow from what is allocated. Seconds are counts of operations over those speeds; how many steps an iterative
    solver takes is a rule of thumb, for support vector machines the shares of support vectors and the steps of a fit
    on up to 1000 samples, so that theirs are rough.

    Parameters
    ----------
    estimator : estimator
        With a kernel; it is not changed. Its ``compute`` has the budget of memory.
    X : collection of samples, or Blocks
        What ``fit`` is to be given.
    y : array-like of shape (n_samples,) or (n_samples, n_outputs), optional
        Targets or labels, where the estimator learns from those.

    Returns
    -------
    CostEstimate
        ``memory`` in bytes, ``seconds``, ``plan`` in words, and ``smallest_budget``; printed, a sentence.

    Raises
    ------
    TypeError
        For an estimator of which it is not known.

    Examples
    --------
    >>> import numpy as np
    >>> import mercer as mc
    >>> X = np.random.default_rng(0).standard_normal((10_000, 5))
    >>> cost = mc.estimate_cost(mc.KernelRidge(1.0, mc.Gaussian(0.2)), X, X[:, 0])
    >>> cost.plan
    'ridge by a float32 Cholesky factor of 10000 rows, refined in float64'
    >>> 400e6 < cost.memory < 500e6
    True
    >>> few = mc.estimate_cost(mc.KernelRidge(1.0, mc.Gaussian(0.2), centers=500), X, X[:, 0])
    >>> few.solver, few.memory < cost.memory
    ('landmarks', True)
    """
    search = getattr(estimator, "_cost_of_grid", None)
    inner = estimator.estimator if search is not None else estimator
    if getattr(inner, "_cost", None) is None:
        raise TypeError(coded(f"What {type(inner).__name__} costs is not known; that is of {_SUPPORTED}.", "M311"))
    X = X if isinstance(X, Blocks) or is_gram(X) else listed(X)
    view = _View(X, None if y is None else np.asarray(y))
    if search is None:
        work: Callable[[int | None], Work] = partial(view.work, estimator)
    else:

        def work(budget: int | None) -> Work:
            def outline_of(machine: Estimator) -> Outline:
                return view.outline(machine, budget)

            found: Work = search(view.n, view.y, outline_of, view.along)
            base = outline_of(inner)
            return found.beside(base.items, base.preparing)

    found = work(None)
    compute = getattr(inner, "compute", None) or Compute()
    feasible = not found.refused
    return CostEstimate(
        int(min(found.memory, max(compute.budget, STRIPS)) if feasible else found.memory),
        float(found.seconds / share(compute.workers)),
        found.plan if feasible else f"{found.plan}: refused, since {found.refused}",
        found.solver,
        _smallest(work, int(found.memory)),
        feasible,
    )


def _smallest(work: Callable[[int], Work], enough: int) -> int:
    """The least budget within which the way that is then taken stays."""

    def fits(budget: int) -> bool:
        found = work(budget)
        return not found.refused and found.memory <= 1.05 * budget

    high = max(enough, 2**20)
    while not fits(high) and high < 2**60:
        high *= 2
    low = high // 2
    while low > 2**16 and fits(low):
        high, low = low, low // 2
    for _ in range(5):
        middle = (low + high) // 2
        low, high = (low, middle) if fits(middle) else (middle, high)
    return high


class _View:
    """Samples as a machine will see them."""

    def __init__(self, X: Samples, y: Array | None) -> None:
        self.X, self.y, self.n = X, y, len(X) if isinstance(X, Blocks) else size(X)
        self._outlines: dict[Any, Outline] = {}
        self._tried: Tried | None = None

    def work(self, machine: Estimator, budget: int | None = None) -> Work:
        outline = self.outline(machine, budget)
        return self.of(machine, outline).beside(outline.items, outline.preparing)

    def of(self, machine: Estimator, outline: Outline) -> Work:
        found: Work = machine._cost(outline, self.y, self.tried(machine, outline))
        return found

    def along(self, machine: Estimator, outline: Outline, count: int) -> Work:
        """Of so many machines along the path of one."""
        path = getattr(machine, "_cost_along", None)
        if path is None or count == 1:
            return self.of(machine, outline).times(count)
        found: Work = path(outline, self.y, count, self.tried(machine, outline))
        return found

    def outline(self, machine: Estimator, budget: int | None = None) -> Outline:
        centers = getattr(machine, "centers", None)
        key = repr(machine.kernel), centers if isinstance(centers, int) else id(centers)
        if key not in self._outlines:
            self._outlines[key] = self._outlined(machine)
        found = self._outlines[key]
        return found if budget is None else found.within(budget)

    def _outlined(self, machine: Estimator) -> Outline:
        compute, n = machine.compute or Compute(), self.n
        if is_gram(self.X) or machine._precomputed:
            gram = self.X if is_gram(self.X) else DenseGram(np.asarray(self.X[: min(n, 2), : min(n, 2)]), compute)
            few = gram.sub(slice(0, min(n, 512)), slice(0, min(n, 512)))
            return Outline(Sample.of(few), (n, n), few.dtype, compute)
        rule = machine._landmark_rule()
        door = clone(machine)
        kernel = rule.kernel if rule is not None else door._given_kernel
        gram, seconds, item = _entered(door, kernel, self.X, n, compute)
        marks, among = None, rule is not None and isinstance(rule.landmarks, str)
        if rule is not None:
            marks = min(n, rule.n_components if isinstance(rule.landmarks, str) else size(rule.landmarks))
        reading = seconds if isinstance(self.X, Blocks) else 0.0
        return Outline(Sample.of(gram, seconds, item), (n, n), gram.dtype, compute, marks, reading, among)

    def tried(self, machine: Estimator, outline: Outline) -> Tried:
        """What a fit on a few samples came to, where that is soon there."""
        if self._tried is None:
            self._tried = self._trial(machine, outline)
        return self._tried

    def _trial(self, machine: Estimator, outline: Outline) -> Tried:
        small = outline.of(min(self.n, _TRIED))
        of_matrix = machine._precomputed or is_gram(self.X) or isinstance(self.X, Blocks)
        if of_matrix or machine._cost(small, self.y, Tried()).solver != "dual" or small.storing() > _TRYING:
            return Tried()
        few = np.sort(np.random.default_rng(0).permutation(self.n)[: small.shape[0]])
        given = {"max_time": _TRYING} | ({"centers": None} if hasattr(machine, "centers") else {})
        try:
            trial = clone(machine).set_params(**given)
            with warnings.catch_warnings(), quietly():
                warnings.simplefilter("ignore")
                trial.fit(take(self.X, few), None if self.y is None else self.y[few])
            found: Tried = trial._came_to()
        except (ValueError, ArithmeticError, MemoryError, TimeoutError):
            return Tried()
        return found


def _entered(door: Estimator, kernel: Kernel, X: Samples, n: int, compute: Compute) -> tuple[Any, float, float]:
    """The matrix of a few samples, seconds to prepare one, and the bytes of what is prepared of it."""
    pool = X.head if isinstance(X, Blocks) else X
    most = min(size(pool), n, largest_sample())
    count = min(_FIRST, most)
    random = np.random.default_rng(0)
    with warnings.catch_warnings(), quietly():
        warnings.simplefilter("ignore")
        while True:
            few = take(pool, np.sort(random.permutation(size(pool))[:count]))
            start = time.perf_counter()
            accepted = door._unpacked(door._accept(few, reset=True))
            bound, A = kernel._entered(accepted)
            seconds = (time.perf_counter() - start) / count
            if count == most or seconds * count > _PREPARING / 2:
                break
            count = min(most, max(2 * count, int(_PREPARING / max(seconds, 1e-9))))
        gram = bound._gram(A, A, replace(compute, threads=1))
    found = list(leaves(A))
    return (gram.compiled() if n >= _TRIED else gram), seconds, sum(_bytes(x) for x in found) / count


def _bytes(x: object) -> float:
    """Of an array, a sparse one, or an object of arrays."""
    if hasattr(x, "nbytes"):
        return float(x.nbytes)
    held = [getattr(x, name) for name in getattr(x, "__slots__", ())] + list(getattr(x, "__dict__", {}).values())
    return float(sum(v.nbytes for v in held if hasattr(v, "nbytes")))
