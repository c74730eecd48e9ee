"""What a kernel on tables can look at instead: methods of every kernel."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from mercer.arrays import Array
    from mercer.kernels.base import Kernel


class OfColumns:
    """k(f(x), f(z)) for functions f of the columns of a table."""

    def on(self, columns: str | int | Sequence[str | int] | Array) -> Kernel:
        """k on some columns of a table.

        Parameters
        ----------
        columns : str, int, or list of them
            Names in a data frame, numbers in an array.
        """
        from mercer.kernels.compose.inputs import OnColumns

        return OnColumns(cast("Kernel", self), columns)

    def imputed(self, strategy: str = "mean", indicator: bool = False) -> Kernel:
        """k where missing values (NaN) are filled; being k(f(x), f(z)), it is as valid as k.

        Parameters
        ----------
        strategy : {"mean", "median", "zero"}, default="mean"
            Fill with the column's mean or median in the data given to ``bind``, or with 0.
        indicator : bool, default=False
            Add a column 0/1 "was missing" for each column.
        """
        from mercer.kernels.compose.inputs import Imputed

        return Imputed(cast("Kernel", self), strategy, indicator)

    def standardized(self) -> Kernel:
        """k of columns with mean 0 and variance 1, by the means and variances of the data given to ``bind``.

        A constant column is only centred.
        """
        from mercer.kernels.compose.inputs import Standardized

        return Standardized(cast("Kernel", self))

    def metric(self, M: ArrayLike) -> Kernel:
        """k(M^½ x, M^½ z): distances are ‖x − z‖_M = √((x − z)^T M (x − z)), inner products x^T M z; as valid as k.

        Parameters
        ----------
        M : array-like of shape (d,) or (d, d)
            A weight ≥ 0 for each column, or a positive semi-definite matrix; M^½ is its root. ``tune`` keeps its form.
        """
        from mercer.kernels.compose.metric import Metric

        return Metric(cast("Kernel", self), M)
