"""Samples of a Dask collection, with their targets and weights: what a machine learns from without bringing them here.

``SpreadSamples`` are the door: every block is looked at once by the worker that has it, and what is wrong is said with
its block. ``SpreadPasses`` are what solvers see of them (``solvers.spread``), a machine's kernel and landmarks at hand
in each worker.
"""

from __future__ import annotations

import copy
import sys
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NamedTuple, Self

import numpy as np

from mercer import arrays
from mercer.annotations import Estimator, Items, Samples, Targets, Weights
from mercer.arrays import Array
from mercer.compute import Compute
from mercer.data import DataError, size, take
from mercer.data.blocks import joined
from mercer.distributed import Partitions, Workers, as_block, blocks_of, in_blocks_of, is_collection
from mercer.estimators.scikit_checks import check_classification_targets
from mercer.gram import Gram, Landmarks
from mercer.kernels.base import Kernel
from mercer.losses import Loss
from mercer.solvers.spread import Answer, Piece
from mercer.troubles import coded

_SEED = 0  # of the samples that say what a system is like


class Part(NamedTuple):
    """A block with a worker: the samples that have a weight, and which of its rows they are."""

    number: int
    total: int  # rows of the block
    rows: Array
    X: Samples
    y: Targets
    w: Array


class Facts(NamedTuple):
    """What is to be known of a block: rows, rows with weight, memory, Σw, what targets it has, and one sample."""

    rows: int
    used: int
    bytes: int
    weight: float
    columns: int | None  # of the targets; None where they are a vector or not there
    classes: tuple[Array, Array, Array] | None  # labels, how many of each, and their weight
    head: Samples


class SpreadSamples:
    """Samples in blocks that stay with the workers.

    Parameters
    ----------
    workers : Workers
        Who has them.
    parts : Partitions
        One ``Part`` for each block.
    facts : list of Facts
        Of each block.
    """

    def __init__(self, workers: Workers, parts: Partitions, facts: list[Facts]) -> None:
        self.workers, self.parts, self.facts = workers, parts, facts
        self.landmarks: Items = None  # as the kernel has prepared them
        self.labels: Targets = None  # the targets of the landmarks, where these are samples
        self.stops = np.cumsum([fact.used for fact in facts])
        self.weight, self.items = float(sum(fact.weight for fact in facts)), sum(fact.rows for fact in facts)

    @classmethod
    def of(
        cls, X: Samples, y: Targets, sample_weight: Weights, compute: Compute, *, numeric: bool, classes: bool
    ) -> SpreadSamples:
        """The collection X; y and the weights are collections in the same blocks, or arrays."""
        workers = Workers(compute.client)
        blocks, sizes = blocks_of(X)
        here = [given for given in (y, sample_weight) if given is not None and not is_collection(given)]
        if None in sizes and (here or any(_has_known_sizes(given) for given in (y, sample_weight))):
            sizes = list(Partitions(workers, blocks).each("number of samples", _count))
        none = [None] * len(blocks)
        targets = none if y is None else in_blocks_of(y, sizes, "y")
        weights = none if sample_weight is None else in_blocks_of(sample_weight, sizes, "sample_weight")
        names = [str(getattr(block, "key", k)) for k, block in enumerate(blocks)]
        parts = Partitions.made(workers, "samples", _part, range(len(blocks)), names, blocks, targets, weights)
        facts = parts.each("looking at the blocks", _facts, numeric, classes)
        if workers.client is None and 2 * sum(fact.bytes for fact in facts) <= compute.budget:
            parts = parts.kept()  # else they are read again in each pass
        found = cls(workers, parts, facts)
        if not found.items:
            raise DataError("There are no samples in these blocks.", "M103")
        if not len(found):
            raise ValueError(coded("sample_weight is zero for every sample: there is nothing to fit.", "M114"))
        if len({fact.columns for fact in facts if fact.used}) > 1:
            raise DataError("The targets of some blocks have other columns than those of others.", "M119")
        return found

    def __len__(self) -> int:
        """How many samples have a weight."""
        return int(self.stops[-1])

    @property
    def head(self) -> Samples:
        """One sample."""
        return next(fact.head for fact in self.facts if fact.used)

    @property
    def outputs(self) -> int | None:
        """The columns of the targets; None of a vector."""
        return next(fact.columns for fact in self.facts if fact.used)

    @property
    def classes(self) -> tuple[Array, Array, Array]:
        """The labels in order, how many samples each has, and their weight."""
        found = [fact.classes for fact in self.facts if fact.classes is not None]
        labels, counts, weights = (np.concatenate(each) for each in zip(*found, strict=True))
        classes, codes = np.unique(labels, return_inverse=True)
        return classes, np.bincount(codes, counts).astype(np.int64), np.bincount(codes, weights)

    def take(self, index: Array, door: Door) -> tuple[Samples, Array, Array, Array]:
        """(samples, targets, weights, numbers among all) of those of these numbers, which rise, among the ones with a
        weight. Every block goes through the door now.
        """
        ends = np.searchsorted(index, self.stops)
        begins, first = np.concatenate([[0], ends[:-1]]), np.concatenate([[0], self.stops[:-1]])
        own = [(index[a:b] - start,) for a, b, start in zip(begins, ends, first, strict=True)]
        found = self.parts.each("samples for the landmarks", _taken, door, own=own)
        offsets = np.cumsum([0, *(fact.rows for fact in self.facts[:-1])])
        some = [(offset, part) for offset, part in zip(offsets, found, strict=True) if part is not None]
        X, y, w = joined([p.X for _, p in some]), _together([p.y for _, p in some]), _together([p.w for _, p in some])
        return X, y, w, np.concatenate([offset + part.rows for offset, part in some])


def _has_known_sizes(given: object) -> bool:
    return given is not None and is_collection(given) and None not in blocks_of(given)[1]


def _together(parts: list[Any]) -> Any:
    return None if parts[0] is None else np.concatenate(parts)


@dataclass(frozen=True, eq=False)
class Door:
    """How a machine takes a block in: checked as its samples are, with the landmarks of its kernel.

    ``targets``, where there is one, makes of labels and weights what the solver is given: (which samples, None for all,
    targets, weights).
    """

    machine: Estimator
    kernel: Kernel | None = None
    landmarks: Items = None
    root: Array = field(default_factory=lambda: np.zeros((0, 0)))
    targets: Callable[[Any, Array], tuple[Array | None, Array, Array]] | None = None

    @classmethod
    def of(cls, machine: Estimator, compute: Compute) -> Door:
        """That of an estimator which knows its columns; nothing else of what it knows is sent."""
        kind: Any = type(machine)
        there = kind.__new__(kind)
        there.__dict__.update(machine.get_params(deep=False))
        known = ("n_features_in_", "feature_names_in_")
        there.__dict__.update({name: vars(machine)[name] for name in known if name in vars(machine)})
        there.compute = compute
        for name in ("progress", "centers"):
            if name in vars(there):
                setattr(there, name, None)
        return cls(there)

    def check(self, part: Part) -> None:
        """Raise where the samples of a block are not such as the machine takes."""

        def looked_at() -> None:
            X = self.machine._accept(part.X, reset=False)
            if not self.machine._of_vectors:
                self.machine._given_kernel.domain.check(X)

        in_block(part.number, looked_at)

    def __call__(self, part: Part, state: Any = None) -> Piece | None:
        """What a solver sees of a block; None of one without samples."""
        part = self.chosen(part)
        if not len(part.w):
            return None
        assert self.kernel is not None
        values = partial(self.machine._block_matrix, self.kernel, self.landmarks, self.machine.compute, part.X)
        own = partial(self.machine._block_own, self.kernel, part.X)
        return Piece(in_block(part.number, values), self.root, part.y, part.w, state, own)

    def chosen(self, part: Part) -> Part:
        """The samples that the solver is given, with their targets and weights."""
        if self.targets is None or not len(part.w):
            return part
        chosen, y, w = self.targets(part.y, part.w)
        if chosen is None:
            return part._replace(y=y, w=w)
        return part._replace(rows=part.rows[chosen], X=take(part.X, chosen), y=y, w=w)


class Numbers:
    """Targets as float64; one column as a vector."""

    def __call__(self, y: Targets, w: Array) -> tuple[None, Array, Array]:
        found = np.zeros(len(w)) if y is None else np.asarray(y, np.float64)
        return None, found[:, 0] if found.ndim == 2 and found.shape[1] == 1 else found, w


@dataclass(frozen=True)
class Column:
    """One column of the targets."""

    number: int

    def __call__(self, y: Targets, w: Array) -> tuple[None, Array, Array]:
        return None, np.asarray(y, np.float64).reshape(len(w), -1)[:, self.number], w


@dataclass(frozen=True, eq=False)
class Coded:
    """Labels as the numbers of their classes, or as signs: + for the second of two; of more, a column for each class.
    Weights with those of the classes. Of a ``pair`` of classes only the samples of these, + for the first.
    """

    classes: Array
    factors: Array
    signs: bool
    pair: tuple[int, int] | None = None

    def __call__(self, y: Targets, w: Array) -> tuple[Array | None, Array, Array]:
        codes = np.searchsorted(self.classes, np.asarray(y).reshape(len(w)))
        w = w * self.factors[codes]
        if self.pair is not None:
            chosen = np.flatnonzero((codes == self.pair[0]) | (codes == self.pair[1]))
            return chosen, np.where(codes[chosen] == self.pair[0], 1.0, -1.0), w[chosen]
        if not self.signs:
            return None, codes, w
        if len(self.classes) == 2:
            return None, np.where(codes == 1, 1.0, -1.0), w
        return None, np.where(codes[:, None] == np.arange(len(self.classes)), 1.0, -1.0), w


class SpreadPasses:
    """``solvers.spread.Passes`` of samples behind a door."""

    def __init__(
        self,
        samples: SpreadSamples,
        door: Door,
        gram_of: Callable[[Samples], Gram],
        *,
        count: int,
        weight: float,
        coarse: bool,
    ) -> None:
        self.samples, self._door, self._gram_of = samples, door, gram_of
        self.count, self.weight, self.coarse = count, weight, coarse
        self._doors = samples.parts.beside(door, "landmarks")
        self._states: list[Any] = [None] * len(samples.parts)

    @classmethod
    def of(cls, machine: Estimator, samples: SpreadSamples, marks: Landmarks) -> SpreadPasses:
        """Of a machine that has chosen its landmarks; targets are numbers."""
        compute = machine.compute or Compute()
        share = samples.workers.share(compute, len(samples.parts))
        door = replace(
            Door.of(machine, share),
            kernel=machine.kernel_,
            landmarks=samples.landmarks,
            root=marks.factor,
            targets=Numbers(),
        )
        gram_of = partial(machine._block_matrix, machine.kernel_, samples.landmarks, compute)
        coarse = marks.values.dtype == np.float32 and marks.values.recomputable
        return cls(samples, door, gram_of, count=len(samples), weight=samples.weight, coarse=coarse)

    def behind(
        self, targets: Callable[[Any, Array], tuple[Array | None, Array, Array]] | None, count: int, weight: float
    ) -> SpreadPasses:
        """The same samples with other targets, or some of them."""
        door = replace(self._door, targets=targets)
        return SpreadPasses(self.samples, door, self._gram_of, count=count, weight=weight, coarse=self.coarse)

    @property
    def _own(self) -> list[tuple[Any, Any]]:
        return list(zip(self._doors, self._states, strict=True))

    def total(self, stage: str, of: Callable[..., Answer], *args: Any) -> Answer:
        return self.samples.parts.total(stage, _answer, of, args, own=self._own)

    def each(self, stage: str, of: Callable[..., Any], *args: Any) -> list[Any]:
        found = self.samples.parts.each(stage, _answer, of, args, own=self._own)
        return [answer for answer in found if answer is not None]

    def leaving(self, stage: str, of: Callable[..., Any], *args: Any) -> Self:
        other = copy.copy(self)
        other._states = self.samples.parts.keep(stage, _answer, of, args, own=self._own).blocks
        return other

    def drawn(self, count: int) -> tuple[Gram, Array, Array]:
        own = [(door,) for door in self._doors]
        parts = self.samples.parts.each("samples of the system", _drawn, count / self.weight, own=own)
        there = [part for part in parts if part is not None and len(part.w)]
        X = joined([part.X for part in there])
        return self._gram_of(X), np.concatenate([p.y for p in there]), np.concatenate([p.w for p in there])


# -- where the samples are ------------------------------------------------------------------------------------------


def _answer(part: Part, door: Door, state: Any, of: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    piece = door(part, state)
    return None if piece is None else of(piece, *args)


def checked_targets(piece: Piece, loss: Loss) -> None:
    """Raise where a loss is not for the targets of a piece."""
    loss.check(piece.targets)
    if loss.outputs(piece.targets):
        raise ValueError(
            coded(
                f"{loss} is of several functions at once, which this machine does not fit; for classes there is"
                " KernelLogistic.",
                "M316",
            )
        )


def _count(block: Samples) -> int:
    return size(as_block(block))


def _part(number: int, name: str, X: Samples, y: Targets, w: Weights) -> Part:
    X = as_block(X)
    n = size(X)
    y, w = (None if given is None else arrays.to_numpy(as_block(given)) for given in (y, w))
    for what, given in (("targets", y), ("weights", w)):
        if given is not None and len(given) != n:
            raise DataError(f"Block {number} ({name}) has {n} samples and {len(given)} {what}.", "M111")
    if w is None:
        return Part(number, n, np.arange(n), X, y, np.ones(n))
    w = np.asarray(w, np.float64).reshape(n)
    if not (np.isfinite(w).all() and (w >= 0).all()):
        row = int(np.argmax(~(np.isfinite(w) & (w >= 0))))
        raise DataError(
            f"Block {number} ({name}), row {row}: sample_weight is {w[row]}, not a number of at least 0.", "M114"
        )
    used = np.flatnonzero(w > 0)
    if len(used) == n:
        return Part(number, n, used, X, y, w)
    return Part(number, n, used, take(X, used), None if y is None else y[used], w[used])


def _facts(part: Part, numeric: bool, classes: bool) -> Facts:
    """Of a block whose targets are numbers, or labels, which are looked at here."""
    y, w = part.y, part.w
    labels = None
    if y is not None and len(w):
        if numeric:
            numbers = in_block(part.number, partial(np.asarray, y, np.float64))
            bad = ~np.isfinite(numbers.reshape(len(w), -1)).all(axis=1)
            if bad.any():
                row = int(part.rows[np.argmax(bad)])
                raise DataError(f"Block {part.number}, row {row}: the target y is not a finite number.", "M101")
        if classes:
            in_block(part.number, partial(check_classification_targets, y))
            found, codes, counts = np.unique(y, return_inverse=True, return_counts=True)
            labels = found, counts, np.bincount(codes, w)
    columns = y.shape[1] if y is not None and np.ndim(y) == 2 else None
    head = take(part.X, np.arange(min(1, len(w))))
    return Facts(part.total, len(w), _bytes(part.X), float(w.sum()), columns, labels, head)


def _bytes(X: Samples) -> int:
    if hasattr(X, "memory_usage"):
        return int(np.sum(X.memory_usage(deep=True)))
    return int(X.nbytes) if hasattr(X, "nbytes") else sum(map(sys.getsizeof, X)) if isinstance(X, list) else 0


def _taken(part: Part, index: Array, door: Door) -> Part | None:
    """Some of the samples of a block, all of which are checked."""
    if not len(part.w):
        return None
    door.check(part)
    if not len(index):
        return None
    y = None if part.y is None else part.y[index]
    return part._replace(rows=part.rows[index], X=take(part.X, index), y=y, w=part.w[index])


def _drawn(part: Part, door: Door, density: float) -> Part:
    """Samples drawn with chances in proportion to their weights; a weight is then what the sample stands for."""
    part = door.chosen(part)
    chances = np.minimum(1.0, part.w * density)
    index = np.flatnonzero(np.random.default_rng((_SEED, part.number)).random(len(chances)) < chances)
    return part._replace(
        rows=part.rows[index], X=take(part.X, index), y=part.y[index], w=part.w[index] / chances[index]
    )


def in_block(number: int, call: Callable[[], Any]) -> Any:
    """``call()``; what is wrong with a block is said with its number."""
    try:
        return call()
    except ValueError as error:
        raise DataError(f"Block {number}: {error}") from None
