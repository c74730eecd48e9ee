"""Kernels whose values may be too large or too small for a float: values come as floats with powers of 2 apart."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from mercer.annotations import Items, Samples
from mercer.arrays import Array
from mercer.data import chunks, size
from mercer.kernels.base import Kernel, kernel
from mercer.runtime import threads

_SMALLEST = -1022  # exponent of the smallest float with all its digits
_TOGETHER = 16  # objects whose values with themselves are found in one block


class Scalable(Kernel):
    """A kernel on objects as they are: leaves ``_scaled``, the matrix between two prepared sets, to write. Prepared
    items have ``take``.
    """

    _halves: ClassVar[bool] = True
    _cure: ClassVar[str] = (
        "Scale the data or the kernel's parameters, or take its normalized(), which is computed with powers of 2 apart"
    )

    def _scaled(self, A: Items, B: Items) -> tuple[Array, Array | None]:
        """Values m·2^e as m and e; None: e is 0 everywhere."""
        raise NotImplementedError

    def _block(self, A: Items, B: Items) -> Any:
        values, powers = self._scaled(plain(A), A if B is A else plain(B))
        return values if powers is None else self._fitted(A, B, values, powers)

    def _diag(self, A: Items) -> Any:
        values, powers = self._with_themselves(plain(A))
        out = ldexp(values, powers)
        return np.where((out == 0) & (values != 0), np.nan, out)  # lost, and with it all values of the object

    def _fitted(self, A: Items, B: Items, values: Array, powers: Array) -> Array:
        """m·2^e as floats: infinite where they are too large; NaN where they are too small and so are all values of
        these objects.
        """
        out = ldexp(values, powers)
        rows, cols = np.nonzero((out == 0) & (values != 0))
        if len(rows):  # beside k(x, x) and k(z, z) that are not lost, what rounds to 0 is 0 for all that matters
            (i, rows_of), (j, cols_of) = (np.unique(lost, return_inverse=True) for lost in (rows, cols))
            reach = (
                half_exponents(*self._with_themselves(A.take(i)))[rows_of]
                + half_exponents(*self._with_themselves(B.take(j)))[cols_of]
            )
            out[rows, cols] = np.where(reach < _SMALLEST, np.nan, 0.0)
        return out

    def _with_themselves(self, A: Items) -> tuple[Array, Array]:
        """k(x, x) of each object as m and e."""
        values, powers = np.zeros(size(A)), np.zeros(size(A), np.int32)
        order = self._alike(A)

        def task(some: slice) -> None:
            part = A.take(order[some])
            m, e = self._scaled(part, part)
            values[order[some]] = np.diagonal(m)
            powers[order[some]] = 0 if e is None else np.diagonal(e)

        threads.run_loops(task, chunks(size(A), _TOGETHER))
        return values, powers

    def _alike(self, A: Items) -> Array:
        """The objects in an order in which those of one size come together."""
        return np.arange(size(A))

    def _balanced(self) -> Kernel:
        return Balanced(self)


@kernel
class Balanced(Kernel):
    """k(x, z)·2^(−p(x) − p(z)), 2^p(x) about √k(x, x): of the size of 1, whatever k; it has the normalised values
    of k.
    """

    _internal = True

    _halves: ClassVar[bool] = True
    kernel: Kernel

    def _prepare(self, X: Samples) -> Any:
        assert isinstance(self.kernel, Scalable)
        items = self.kernel._prepare(X)
        values, powers = self.kernel._with_themselves(items)
        half = half_exponents(values, powers)
        return items, half, ldexp(values, powers - 2 * half)

    def _block(self, A: Items, B: Items) -> Any:
        assert isinstance(self.kernel, Scalable)
        values, powers = self.kernel._scaled(plain(A[0]), A[0] if B is A else plain(B[0]))
        return ldexp(values, (0 if powers is None else powers) - A[1][:, None] - B[1][None, :])

    def _diag(self, A: Items) -> Any:
        return A[2]

    @property
    def domain(self) -> Any:  # type: ignore[override]
        return self.kernel.domain


def plain(A: Items) -> Any:
    """Prepared items; not symbols of them."""
    if hasattr(A, "__formula__"):
        raise TypeError("objects are compared as they are, not as symbols")
    return A


def ldexp(values: Array, powers: int | Array) -> Array:
    """m·2^e, infinite or 0 where that is no float."""
    with np.errstate(over="ignore", under="ignore"):
        out: Array = np.ldexp(values, np.asarray(powers, np.int32))
    return out


def half_exponents(values: Array, powers: Array) -> Array:
    """About log₂ √(m·2^e) as whole numbers; 0 for m = 0."""
    _, own = np.frexp(values)
    return np.where(values > 0, (own + powers) // 2, 0).astype(np.int32)
