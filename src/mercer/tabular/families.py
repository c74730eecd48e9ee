"""Machines worth trying: what each learns from rows, and what it says of rows that it was not trained on.

A family has settings; ``tested`` gives the values of every setting on rows held out, ``fit`` trains one of them. Values
are scores of classes, (n, classes) or one column for two, or numbers on the scale of the target.

========== ==========================================================================================
OfKernel   ridge, support vectors or counts over a kernel that is given; settings share its matrix
OfWeights  a ridge over a sum of kernels of the kinds of columns, whose weights are learnt (MKL)
OfMetric   a ridge whose metric is learnt (feature machine)
OfCells    a ridge over the cells of trees that follow the target (partition kernel), alone or with a
           kernel of distances beside; trees grown apart, or each for what is left over (boosting)
========== ==========================================================================================
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from mercer.annotations import Estimator, Samples
from mercer.arrays import Array
from mercer.compute import Compute
from mercer.data.notices import quietly
from mercer.estimators.feature_machine import FeatureMachineRegressor
from mercer.estimators.mkl import MKLRidge
from mercer.estimators.ridge import KernelRidge
from mercer.kernels.base import Kernel
from mercer.kernels.compose.feature_space import ZeroNormWarning
from mercer.kernels.vectors.codes import Overlap
from mercer.kernels.vectors.radial import Laplacian
from mercer.selection.folds import Entered
from mercer.tabular.cell_ridge import CellRidge
from mercer.tabular.partitions import Partitions
from mercer.tabular.plan import Plan

Split = tuple[Array, Array]
_WEIGHED = 1500  # rows that weights of kernels are learnt from
_MANY = 4096  # rows of which a ridge over cells is solved by the cells, not by their matrix
_NORM, _TOLERANCE = 4 / 3, 1e-3  # of the weights: uneven ones, but none is 0


@dataclass(frozen=True, eq=False)
class Coded:
    """Targets as machines learn them: ``numbers``, (n,) on their scale or ±1 for each class, or ``codes`` of classes,
    and ``y`` as it was given.
    """

    numbers: Array
    codes: Array | None = None
    y: Array | None = None

    @classmethod
    def of_classes(cls, codes: Array, classes: int) -> Coded:
        signs = np.where(codes[:, None] == np.arange(classes), 1.0, -1.0)
        return cls(signs[:, 1] if classes == 2 else signs, codes)

    def at(self, rows: Array) -> Coded:
        return Coded(
            self.numbers[rows],
            None if self.codes is None else self.codes[rows],
            None if self.y is None else self.y[rows],
        )


class Family(Protocol):
    """What the search asks of a family."""

    @property
    def name(self) -> str:
        """In words."""
        ...

    @property
    def settings(self) -> Sequence[Any]:
        """What is tried."""
        ...

    def tested(self, X: Samples, target: Coded, weights: Array | None, splits: Sequence[Split]) -> Array:
        """(settings, rows, outputs): values on the test rows of each split; NaN elsewhere."""
        ...

    def fit(self, setting: Any, X: Samples, target: Coded, weights: Array | None) -> Any:
        """A machine trained on all the rows; ``values`` asks it."""
        ...

    def within(self, rows: int, plan: Plan, seed: int) -> tuple[Family, bool]:
        """The family, or one like it whose machines are sums over some of the rows, where so many are too many for it;
        and whether that is so.
        """
        ...


@dataclass(frozen=True, eq=False)
class OfKernel:
    """An estimator over a kernel, along the path of its own parameter: λ or C.

    ``learns``: the form of the targets that it takes, a field of ``Coded``; ``factors``: whether its cost is that of a
    factor of the matrix, so that fewer rows are many for it.
    """

    name: str
    estimator: Estimator
    along: str
    settings: tuple[float, ...]
    learns: Literal["numbers", "codes", "y"] = "numbers"
    factors: bool = True

    def _targets(self, target: Coded) -> Array:
        found = getattr(target, self.learns)
        assert found is not None
        return np.asarray(found)

    def _machine(self, setting: float) -> Any:
        return clone(self.estimator).set_params(**{self.along: setting})

    def tested(self, X: Samples, target: Coded, weights: Array | None, splits: Sequence[Split]) -> Array:
        y = self._targets(target)
        entered = Entered.of(self._machine(self.settings[0]), X, y)
        out = _nothing(len(self.settings), target)
        for train, test in splits:
            given = None if weights is None else weights[train]
            fold = entered.fold(train, test, given)
            machines = [self._machine(setting) for setting in self.settings]
            fold.learn(machines, y[train], given)
            for s, machine in enumerate(machines):
                out[s, test] = _columns(values(machine, fold.cross), out.shape[2])
        return out

    def fit(self, setting: float, X: Samples, target: Coded, weights: Array | None) -> Any:
        machine = self._machine(setting)
        return machine.fit(X, self._targets(target), **({} if weights is None else {"sample_weight": weights}))

    def within(self, rows: int, plan: Plan, seed: int) -> tuple[OfKernel, bool]:
        if rows <= (plan.exact if self.factors else plan.support):
            return self, False
        return replace(self, estimator=clone(self.estimator).set_params(centers=plan.centers, random_state=seed)), True


@dataclass(frozen=True, eq=False)
class OfWeights:
    """KernelRidge over Σ_m β_m k_m, the weights of the kernels learnt from some of the rows (MKLRidge)."""

    name: str
    kernels: tuple[Kernel, ...]
    settings: tuple[float, ...]
    seed: int
    centers: int | None = None
    compute: Compute | None = None

    def _weighted(self, X: Samples, target: Coded, weights: Array | None) -> OfKernel:
        """The ridge over the sum, its weights learnt from rows."""
        n = target.numbers.shape[0]
        some = np.sort(np.random.default_rng(self.seed).permutation(n)[:_WEIGHED])
        machine = MKLRidge(
            float(np.median(self.settings)), kernel=list(self.kernels), p=_NORM, tol=_TOLERANCE, compute=self.compute
        ).fit(X[some], target.numbers[some], sample_weight=None if weights is None else weights[some])
        seed = None if self.centers is None else self.seed
        ridge = KernelRidge(kernel=machine.kernel_, centers=self.centers, random_state=seed, compute=self.compute)
        return OfKernel(self.name, ridge, "alpha", self.settings)

    def tested(self, X: Samples, target: Coded, weights: Array | None, splits: Sequence[Split]) -> Array:
        out = _nothing(len(self.settings), target)
        for train, test in splits:
            ridge = self._weighted(X[train], target.at(train), None if weights is None else weights[train])
            out[:, test] = ridge.tested(X, target, weights, [(train, test)])[:, test]
        return out

    def fit(self, setting: float, X: Samples, target: Coded, weights: Array | None) -> Any:
        return self._weighted(X, target, weights).fit(setting, X, target, weights)

    def within(self, rows: int, plan: Plan, seed: int) -> tuple[OfWeights, bool]:
        return (self, False) if rows <= plan.exact else (replace(self, centers=plan.centers), True)


@dataclass(frozen=True, eq=False)
class OfMetric:
    """``FeatureMachineRegressor`` of the targets as numbers, all columns sharing the metric."""

    name: str
    estimator: FeatureMachineRegressor
    settings: tuple[None, ...] = (None,)

    def tested(self, X: Samples, target: Coded, weights: Array | None, splits: Sequence[Split]) -> Array:
        out = _nothing(1, target)
        for train, test in splits:
            machine = self.fit(None, X[train], target.at(train), None if weights is None else weights[train])
            out[0, test] = _columns(values(machine, X[test]), out.shape[2])
        return out

    def fit(self, setting: None, X: Samples, target: Coded, weights: Array | None) -> Any:
        return clone(self.estimator).fit(X, target.numbers, sample_weight=weights)

    def within(self, rows: int, plan: Plan, seed: int) -> tuple[OfMetric, bool]:
        if rows <= plan.exact:
            return self, False
        return OfMetric(self.name, clone(self.estimator).set_params(centers=plan.centers)), True


@dataclass(frozen=True)
class Cells:
    """λ, and how much a kernel of distances counts beside the cells."""

    alpha: float
    smooth: float


@dataclass(eq=False)
class CellMachine:
    """A ridge over the cells of trees, and the rows themselves beside them where a kernel of distances counts too."""

    partitions: Partitions
    ridge: KernelRidge | CellRidge
    smooth: bool

    def seen(self, X: Array) -> Array:
        return _beside(self.partitions.codes(X), X, self.smooth)

    def predict(self, X: Array) -> Array:
        return np.asarray(self.ridge.predict(self.seen(X)))


Growth = Callable[[Array, Array, Array | None, int, int, int], Partitions]  # X, Y, weights, seed, trees, jobs


@dataclass(frozen=True, eq=False)
class OfCells:
    """KernelRidge over Overlap of leaves, and over its sum with a Laplacian of the rows; ``CellRidge``, which is the
    first of them, for many rows.
    """

    name: str
    grow: Growth
    trees: int
    settings: tuple[Cells, ...]
    gamma: float
    seed: int
    grown_from: int | None = None  # rows; None: all
    compute: Compute | None = None

    def _kernel(self, smooth: float, columns: int) -> Kernel:
        cells: Kernel = Overlap() * ((1.0 - smooth) / self.trees)
        if not smooth:
            return cells
        places, rows = list(range(self.trees)), list(range(self.trees, self.trees + columns))
        return cells.on(places) + smooth * Laplacian(self.gamma).on(rows)

    def _ridge(self, setting: Cells, columns: int) -> KernelRidge:
        kernel = self._kernel(setting.smooth, columns)
        return KernelRidge(setting.alpha, kernel, compute=self.compute)

    def _grown(self, X: Array, target: Coded, weights: Array | None) -> Partitions:
        jobs = (self.compute or Compute()).workers
        if self.grown_from is not None and len(X) > self.grown_from:
            some = np.sort(np.random.default_rng(self.seed).permutation(len(X))[: self.grown_from])
            X, target, weights = X[some], target.at(some), None if weights is None else weights[some]
        return self.grow(X, target.numbers, weights, self.seed, self.trees, jobs)

    def tested(self, X: Samples, target: Coded, weights: Array | None, splits: Sequence[Split]) -> Array:
        out = _nothing(len(self.settings), target)
        for train, test in splits:
            given = None if weights is None else weights[train]
            partitions = self._grown(X[train], target.at(train), given)
            both = np.concatenate([train, test])
            codes = partitions.codes(X[both])
            places = np.arange(len(train)), np.arange(len(train), len(both))
            for smooth in dict.fromkeys(setting.smooth for setting in self.settings):
                mine = [s for s, setting in enumerate(self.settings) if setting.smooth == smooth]
                machines = [self._ridge(self.settings[s], X.shape[1]) for s in mine]
                y = target.numbers[both]
                fold = Entered.of(machines[0], _beside(codes, X[both], bool(smooth)), y).fold(*places, given)
                fold.learn(machines, y[places[0]], given)
                for s, machine in zip(mine, machines, strict=True):
                    out[s, test] = _columns(values(machine, fold.cross), out.shape[2])
        return out

    def fit(self, setting: Cells, X: Samples, target: Coded, weights: Array | None) -> CellMachine:
        partitions = self._grown(X, target, weights)
        if not setting.smooth and len(X) > _MANY:
            found = CellRidge.fitted(
                setting.alpha, partitions.codes(X), partitions.offsets, target.numbers, weights, self.compute
            )
            return CellMachine(partitions, found, smooth=False)
        ridge = self._ridge(setting, X.shape[1])
        machine = CellMachine(partitions, ridge, bool(setting.smooth))
        ridge.fit(machine.seen(X), target.numbers, sample_weight=weights)
        return machine

    def many_rows(self) -> OfCells:
        """The family for tables of many rows: cells alone, whose ridge can be solved for all of them."""
        return replace(self, settings=tuple(s for s in self.settings if not s.smooth))

    def within(self, rows: int, plan: Plan, seed: int) -> tuple[OfCells, bool]:
        if rows <= plan.exact:
            return self, False
        trees = self.trees if rows <= plan.grown else self.trees // 4  # a code of each row in each is held
        return replace(self, trees=trees, grown_from=plan.grown), False


def _beside(codes: Array, X: Array, rows: bool) -> Array:
    return np.column_stack([codes, X.astype(np.float32)]) if rows else codes


def values(machine: Estimator, X: Samples) -> Array:
    """What a machine says of rows, or of their matrix with those it was trained on."""
    return np.asarray((machine.decision_function if hasattr(machine, "decision_function") else machine.predict)(X))


def _nothing(settings: int, target: Coded) -> Array:
    numbers = target.numbers
    return np.full((settings, len(numbers), 1 if numbers.ndim == 1 else numbers.shape[1]), np.nan)


def _columns(found: Array, outputs: int) -> Array:
    return found.reshape(len(found), outputs)


def in_silence(function: Callable[..., Any], *args: Any) -> Any:
    """A candidate that is hard to train is judged by its score, and what its kernel does not use is no news here."""
    with warnings.catch_warnings(), quietly():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", ZeroNormWarning)
        return function(*args)
