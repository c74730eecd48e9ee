"""Kernels on structured objects computed for each pair by a compiled loop."""

from __future__ import annotations

import numpy as np

from mercer.annotations import Items
from mercer.arrays import Array
from mercer.data import chunks, size
from mercer.kernels.scaled import Scalable
from mercer.runtime import threads

_CELLS = 2**24  # elementary steps of a call, so that an interrupt is not late


class PairwiseKernel(Scalable):
    """Leaves ``_sums``, the values of some rows, and ``_cost``, the steps that a row takes, to write. Prepared items
    have ``take``.
    """

    def _cost(self, A: Items, B: Items) -> float:
        """About how many steps a row takes."""
        raise NotImplementedError

    def _sums(self, A: Items, B: Items, same: bool, first: int, out: Array, powers: Array) -> None:
        """out[i, j]·2^powers[i, j] = k(a_i, b_j); if the rows are ``same`` as those of B from ``first`` on, for j ≥
        first + i.
        """
        raise NotImplementedError

    def _scaled(self, A: Items, B: Items) -> tuple[Array, Array | None]:
        out, powers = np.zeros((size(A), size(B))), np.zeros((size(A), size(B)), np.int32)
        if not out.size:
            return out, None
        for some in chunks(len(out), max(1, int(_CELLS / max(1.0, self._cost(A, B))))):
            if threads.stopping():
                break
            self._sums(A.take(some), B, B is A, some.start, out[some], powers[some])
        if B is A:
            below = np.tri(len(out), k=-1, dtype=bool)
            for values in (out, powers):
                np.copyto(values, values.T, where=below)
        return out, powers if powers.any() else None
