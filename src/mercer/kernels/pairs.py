"""Kernels on structured objects computed for each pair by a compiled loop."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from mercer import threads
from mercer.backend import Array, Compute
from mercer.data import chunks, size
from mercer.kernels.base import Kernel

_CELLS = 2**24  # elementary steps of a call, so that an interrupt is not late
_TOGETHER = 16  # objects whose values with themselves are found in one block


class OnPairs(Kernel):
    """Leaves ``_sums``, the values of some rows, and ``_cost``, the steps that a row takes, to write. Prepared items have ``take``."""

    _halves: ClassVar[bool] = True

    def _cost(self, A: Any, B: Any) -> float:
        """About how many steps a row takes."""
        raise NotImplementedError

    def _sums(self, A: Any, B: Any, same: bool, first: int, out: Array) -> None:
        """out[i, j] = k(a_i, b_j); if the rows are ``same`` as those of B from ``first`` on, for j ≥ first + i."""
        raise NotImplementedError

    def _block(self, A: Any, B: Any) -> Any:
        if hasattr(A, "__formula__"):
            raise TypeError("objects are compared as they are, not as symbols")
        out = np.zeros((size(A), size(B)))
        if not out.size:
            return out
        for some in chunks(len(out), max(1, int(_CELLS / max(1.0, self._cost(A, B))))):
            if threads.stopping():
                break
            self._sums(A.take(some), B, B is A, some.start, out[some])
        if B is A:
            np.copyto(out, out.T, where=np.tri(len(out), k=-1, dtype=bool))
        return out

    def _diag(self, A: Any) -> Any:
        if hasattr(A, "__formula__"):
            raise TypeError("objects are compared as they are, not as symbols")
        out = np.empty(size(A))

        def task(some: slice) -> None:
            part = A.take(some)
            out[some] = np.diagonal(self._block(part, part))

        threads.run_tasks(task, chunks(len(out), _TOGETHER), Compute().workers)
        return out
