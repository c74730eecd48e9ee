"""Data that have passed the door of one kernel once, for all machines and all folds that learn from its matrix."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from mercer.annotations import Estimator, Samples, Targets
from mercer.arrays import Array
from mercer.data import size, take
from mercer.estimators.machine import Supervised, Unsupervised
from mercer.gram import Gram, Use, held
from mercer.runtime.threads import cached_property


def learns_from_matrix(estimator: Estimator) -> bool:
    """Whether the square matrix of the samples is all that it learns from."""
    return isinstance(estimator, Supervised | Unsupervised) and estimator._landmark_rule() is None


def learns_on_landmarks(estimator: Estimator) -> bool:
    """Whether it learns a sum over landmarks, from their matrix with the samples."""
    return isinstance(estimator, Supervised | Unsupervised) and estimator._landmark_rule() is not None


class Fold(NamedTuple):
    """The matrix of the training items, that of test items with them, and the machine that knows what was found at the
    door.
    """

    door: Estimator
    gram: Gram
    cross: Gram
    items: Samples  # the training items, None where there is but their matrix

    def learn(self, machines: Sequence[Any], y: Targets, weights: Array | None) -> Array:
        """Machines that differ at most in the parameter they have a path along learn; they answer for ``cross``.
        Returns who had weight.
        """
        for machine in machines:
            machine._as_entered_by(self.door)
        used = machines[0]._learn_rows(self.gram, y, weights, machines, self.items)
        for machine in machines:
            machine.support_ = used[machine.support_]
        return np.asarray(used)

    def remember(self, machines: Sequence[Any]) -> None:
        """Machines that have learnt keep their samples too, and answer for samples."""
        every = np.arange(self.gram.shape[0])
        for machine in machines:
            machine._remember(self.items, self.gram, every)


@dataclass(frozen=True, eq=False)
class Entered:
    """``door`` accepted X and y. ``gram`` is their matrix, None where the kernel takes something from data and each
    fold has its own; ``stored`` the same in memory, where it fits there with that of another kernel and the part of a
    fold.
    """

    door: Estimator
    X: Samples
    y: Targets
    gram: Gram | None = None
    stored: Gram | None = None

    @classmethod
    def of(cls, machine: Estimator, X: Samples, y: Targets) -> Entered:
        door = clone(machine)
        X, y = door._accept_training(X, y)
        if not door._precomputed and door._given_kernel._data_driven:
            return cls(door, X, y)
        gram = door._matrix(X, None)
        found = gram if gram.stored else held(gram, Use.FOLDS)
        return cls(door, X, y, gram, found if found.stored else None)

    def fold(self, train: Array, test: Array, weights: Array | None) -> Fold:
        """The matrices of a fold, in memory where that of the training items, whose ``weights`` are given, fits
        there.
        """
        items = None if self.door._precomputed else take(self.X, train)
        if self.stored is not None:
            return Fold(self.door, held(self.stored.sub(train, train), Use.FOLD), self.stored.sub(test, train), items)
        door = self.door
        if self.gram is None:
            door = clone(self.door)._as_entered_by(self.door)
            gram = door._matrix(items, weights)
            cross = door._cross_matrix(take(self.X, test), items)
        else:
            gram, cross = self.gram.sub(train, train), self.gram.sub(test, train)
        found = held(gram, Use.FOLD)
        return Fold(door, found, held(cross, Use.FOLD) if found.stored else cross, items)

    def train(self, machine: Estimator, weights: Array | None) -> Any:
        """The machine, having learnt from all samples by the stored matrix, and remembering them."""
        machine._as_entered_by(self.door)
        used = machine._learn_rows(self.stored, self.y, weights, [machine], None if machine._precomputed else self.X)
        machine._remember(self.X, self.gram, used)
        return machine


@dataclass(frozen=True, eq=False)
class LandmarkFold:
    """Training items, and the machine at whose door they are looked at; its landmarks are those of all that learn."""

    door: Estimator
    items: Samples
    y: Targets
    weights: Array | None

    @cached_property
    def _entered(self) -> tuple[Any, Gram, Any, Array, Array]:
        """(items of weight, their matrix as the landmarks see it, targets, weights, numbers)."""
        part, y, weights, used = self.door._without_zeros(
            self.items, self.y, self.door._weights(size(self.items), self.weights)
        )
        return part, self.door._matrix(part, weights), y, weights, used

    def learn(self, machines: Sequence[Any]) -> None:
        """Machines that differ at most in the parameter they have a path along learn, and answer for samples."""
        part, gram, y, weights, used = self._entered
        for machine in machines:
            machine._as_entered_by(self.door)._n_items = size(self.items)
        machines[0]._learn_path(gram, y, weights, machines, part)
        for machine in machines:
            machine._remember(self.items, gram, used)


@dataclass(frozen=True, eq=False)
class EnteredByLandmarks:
    """``door`` accepted X and y, for machines over landmarks; each fold has its own."""

    door: Estimator
    X: Samples
    y: Targets

    @classmethod
    def of(cls, machine: Estimator, X: Samples, y: Targets) -> EnteredByLandmarks:
        door = clone(machine)
        return cls(door, *door._accept_training(X, y))

    def fold(self, train: Array, weights: Array | None) -> LandmarkFold:
        """The training items of a fold and their ``weights``, to be looked at when the first machine learns."""
        door = clone(self.door)._as_entered_by(self.door)
        return LandmarkFold(door, take(self.X, train), None if self.y is None else self.y[train], weights)
