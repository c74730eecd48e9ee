"""Σ_m w_m of formulas that differ in their numbers alone: Gaussians of many widths on the same columns.

What they share, the inner products or distances, is computed once; a loop in registers goes through the members. Two
sinks: the weighted sum, as any other formula, and the products of all members with the same vectors, one pass for all.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from mercer.annotations import Index
from mercer.arrays import Array
from mercer.data import chunks
from mercer.engine.cpu import FusedTile
from mercer.engine.tiles import Tiles
from mercer.runtime.threads import run_tasks, stopping
from mercer.runtime.watch import look

_STRIP = 64  # rows: the sums of a hundred members then stay in the second-level cache
_WIDTH = 2048  # columns that are summed before their sums are added in float64
_GROUPS = 16


class Family(Tiles):
    """The sum of ``members``, Tiles of one ``family_key``, with weights."""

    def __init__(self, members: Sequence[Tiles], weights: Sequence[float] | Array) -> None:
        first = members[0]
        self.__dict__.update(first.__dict__, _workspace=threading.local(), _packed=None, _diagonal_values=None)
        self._known: list[Tiles] | None = list(members)
        self._whole: Any = None
        self.weights = np.asarray(weights, np.float64)
        self.terms = np.array([t.numbers for t in members], np.float64).reshape(len(members), -1)

    def __getstate__(self) -> dict[str, Any]:
        return {"members": self.members, "weights": self.weights}

    def __setstate__(self, state: dict[str, Any]) -> None:
        Family.__init__(self, state["members"], state["weights"])

    @property
    def members(self) -> list[Tiles]:
        if self._known is None:
            whole, rows, cols = self._whole
            self._known = [t.sub(rows, cols) for t in whole.members]
        return self._known

    def chosen(self, which: Array, weights: Array) -> Family:
        """Some of the members with other weights, sharing what was packed."""
        view = object.__new__(Family)
        view.__dict__.update(self.__dict__, _workspace=threading.local(), _diagonal_values=None)
        view.weights, view.terms = weights, self.terms[which]
        fused = self._fused
        assert fused is not None
        view._packed = fused.family(view.terms, weights)
        view._known, view._whole = None, (_Chosen(self, which), slice(None), slice(None))
        return view

    @property
    def _fused(self) -> FusedTile | None:
        if self._packed is None:
            one = self.members[0]._fused
            assert one is not None
            self._packed = one.family(self.terms, self.weights)
        return self._packed

    @property
    def _diagonal(self) -> Array:
        if self._diagonal_values is None:
            terms = zip(self.weights, self.members, strict=True)
            self._diagonal_values = sum(w * t._diagonal for w, t in terms).astype(self.dtype)
        return self._diagonal_values

    def sub(self, rows: Index, cols: Index) -> Tiles:
        view = super().sub(rows, cols)
        assert isinstance(view, Family)
        view._known, view._whole = None, (self, rows, cols)
        return view

    @property
    def T(self) -> Tiles:
        return self if self.symmetric else Family([t.T for t in self.members], self.weights)

    def astype(self, dtype: DTypeLike) -> Tiles:
        return self if self.dtype == dtype else Family([t.astype(dtype) for t in self.members], self.weights)

    def compiled(self) -> Tiles:
        return self

    # -- products ----------------------------------------------------------------------------------------------------

    def product(self, V: Array) -> Array:
        return (self.weights @ self._sums(V[:, 0]))[:, None] if V.shape[1] == 1 else super().product(V)

    def products(self, V: Array) -> Array:
        """K_m V of every member whatever its weight, (members, rows, columns of V): values in registers, each half of
        symmetric matrices once, sums in the same order for any number of threads.
        """
        out = np.empty((len(self.terms), self.shape[0], V.shape[1]))
        for t in range(V.shape[1]):
            out[:, :, t] = self._sums(np.ascontiguousarray(V[:, t]))
        return out

    def _sums(self, v: Array) -> Array:
        fused, n = self._fused, self.shape[0]
        assert fused is not None
        self._pack()
        strips = chunks(n, _STRIP)
        count = max(1, min(_GROUPS, len(strips), self.compute.budget // 8 // max(1, 8 * n * len(self.terms))))
        sums = [np.zeros((len(self.terms), n)) for _ in range(count)]
        of_cols, of_rows = fused.padded(v, 1), fused.padded(v, 0) if self.symmetric else None

        def task(group: int) -> None:
            total, room = sums[group], fused.room(_STRIP, min(self.shape[1], _WIDTH))
            for i in strips[group::count]:
                if stopping():
                    return
                look()
                at = i.start if self.symmetric else 0
                if self.symmetric:  # the square on the diagonal, and what is right of it for both sides
                    fused.sum(i, slice(at, min(n, at + _STRIP)), of_cols, total, room=room)
                    at += _STRIP
                for j in range(at, self.shape[1], _WIDTH):
                    cols = slice(j, min(self.shape[1], j + _WIDTH))
                    fused.sum(i, cols, of_cols, total, of_rows, total if self.symmetric else None, room)

        run_tasks(task, range(count), self._workers)
        return sum(sums[1:], sums[0])


class _Chosen:
    """Some of the members of a family, looked up when somebody asks."""

    def __init__(self, family: Family, which: Array) -> None:
        self.family, self.which = family, which

    @property
    def members(self) -> list[Tiles]:
        return [self.family.members[m] for m in self.which]
