"""Kernels on columns of codes: numbers that name things, of which two are the same or not."""

from __future__ import annotations

from typing import Any

from mercer.annotations import Symbol
from mercer.formula import equal, where
from mercer.kernels.base import kernel
from mercer.kernels.families import Additive


@kernel
class Overlap(Additive):
    """Σ_j [x_j = z_j]: the number of columns in which two rows agree.

    Columns are codes (of categories, of the cells of partitions, such as the leaves of trees), compared for equality
    and nothing else. Each value costs d comparisons; for a share divide by d, ``Overlap() * (1 / d)``.

    See Also
    --------
    Categorical : Of one value of any kind.
    Laplacian : Of numbers, whose distance counts.

    Examples
    --------
    >>> import mercer as mc
    >>> mc.Overlap()([[1, 2, 3], [1, 2, 4], [0, 0, 0]])
    array([[3., 2., 0.],
           [2., 3., 0.],
           [0., 0., 3.]])
    """

    def _term(self, x: Symbol, z: Symbol) -> Any:
        return where(equal(x, z), 1.0, 0.0)
