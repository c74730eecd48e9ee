"""‖x − z‖_M: a metric of the columns, and of pairs of them, inside any kernel of vectors."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from mercer import arrays
from mercer.annotations import Samples
from mercer.arrays import Array
from mercer.data import DataError, Domain, Vectors
from mercer.kernels.base import Kernel, kernel
from mercer.kernels.compose.inputs import Redirected
from mercer.kernels.parameters import check_psd_matrix
from mercer.native.linalg import symmetric_root


@kernel
class Metric(Redirected):
    """k(M^½ x, M^½ z), M ⪰ 0 a matrix or a weight for each column: ‖x − z‖ becomes √((x − z)^T M (x − z))."""

    usage: ClassVar[str] = "k.metric(M)"
    domain: ClassVar[Domain] = Vectors()
    method_name: ClassVar[str] = "metric"
    kernel: Kernel
    M: Any

    def _validate(self) -> None:
        M = np.asarray(self.M, np.float64)
        if M.ndim == 1:
            if not (len(M) and np.isfinite(M).all() and (M >= 0).all()):
                raise ValueError(f"metric(M={self.M!r}): weights of columns are finite and at least 0.")
            return
        check_psd_matrix(M, "metric", "M")

    def _method_arguments(self) -> tuple[Any, ...]:
        return (self.M,)

    def _root(self, columns: int) -> Array:
        """M^½; of weights, their roots."""
        M = np.asarray(self.M, np.float64)
        if len(M) != columns:
            raise DataError(f"metric(M) has M of size {len(M)}, the data has {columns} columns.")
        return np.sqrt(M) if M.ndim == 1 else symmetric_root(M)

    def _redirect(self, X: Samples) -> Any:
        X = self.domain.check(X)
        root = arrays.like(self._root(X.shape[1]).astype(arrays.numpy_dtype(X)), X)
        if root.ndim == 1:
            return sparse.csr_array(X @ sparse.diags_array(root)) if sparse.issparse(X) else X * root
        return X @ root

    def _redirect_back(self, X: Samples, gradients: Array) -> Array:
        root = arrays.like(self._root(X.shape[1]), gradients)
        return gradients * root if root.ndim == 1 else gradients @ root
