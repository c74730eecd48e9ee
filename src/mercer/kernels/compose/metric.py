"""‖x − z‖_M: a metric of the columns, and of pairs of them, inside any kernel of vectors."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from mercer import arrays
from mercer.annotations import Samples
from mercer.arrays import Array
from mercer.compute import Compute
from mercer.data import DataError, Domain, Vectors
from mercer.gram import pair_gradients
from mercer.kernels.base import Kernel, kernel
from mercer.kernels.compose.inputs import Redirected
from mercer.kernels.parameters import check_psd_matrix
from mercer.native.linalg import symmetric_root
from mercer.troubles import coded

_NOTHING = 1e-12  # of the largest eigenvalue: one that is 0 but for rounding


@kernel
class Metric(Redirected):
    """k(M^½ x, M^½ z), M ⪰ 0 a matrix or a weight for each column: ‖x − z‖ becomes √((x − z)^T M (x − z))."""

    usage: ClassVar[str] = "k.metric(M)"
    domain: ClassVar[Domain] = Vectors()
    method_name: ClassVar[str] = "metric"
    kernel: Kernel
    M: ArrayLike

    def _validate(self) -> None:
        try:
            M = np.asarray(self.M, np.float64)
        except (TypeError, ValueError):
            raise ValueError(
                coded(f"metric(M={self.M!r}): give numbers, a weight for each column or a square matrix.", "M205")
            ) from None
        if M.ndim == 1:
            if not (len(M) and np.isfinite(M).all() and (M >= 0).all()):
                raise ValueError(coded(f"metric(M={self.M!r}): weights of columns are finite and at least 0.", "M205"))
            return
        check_psd_matrix(M, "metric", "M")

    def _method_arguments(self) -> tuple[Any, ...]:
        return (self.M,)

    def _root(self, columns: int) -> Array:
        """M^½; of weights, their roots."""
        M = np.asarray(self.M, np.float64)
        if len(M) != columns:
            raise DataError(f"metric(M) has M of size {len(M)}, the data has {columns} columns.", "M104")
        return np.sqrt(M) if M.ndim == 1 else symmetric_root(M)

    def _redirect(self, X: Samples) -> Any:
        X = self.domain.check(X)
        root = arrays.like(self._root(X.shape[1]).astype(arrays.numpy_dtype(X)), X)
        if root.ndim == 1:
            return sparse.csr_array(X @ sparse.diags_array(root)) if sparse.issparse(X) else X * root
        return X @ root

    def _sources(self, X: Samples) -> list[int] | None:
        return list(range(X.shape[1])) if np.ndim(self.M) == 1 else None

    def _redirect_back(self, X: Samples, gradients: Array) -> Array:
        root = arrays.like(self._root(X.shape[1]), gradients)
        return gradients * root if root.ndim == 1 else gradients @ root


class _Listening(Metric):
    """Keeps what comes through it: the samples, and gradients by M^½ x."""

    _internal: ClassVar[bool] = True
    heard: list[tuple[Any, Array]]

    def _redirect_back(self, X: Samples, gradients: Array) -> Array:
        self.heard.append((X, gradients))
        return super()._redirect_back(X, gradients)

    def slope(self) -> Array:
        """∂/∂M. Of a matrix with M^½ = V diag(s) V^T, from H by M^½: V (V^T H V)_ij/(s_i + s_j) V^T."""
        M = np.asarray(self.M, np.float64)
        H = np.zeros(M.shape)
        for X, gradients in self.heard:
            X = np.asarray(X.toarray() if sparse.issparse(X) else arrays.to_numpy(X), np.float64)
            by = np.asarray(arrays.to_numpy(gradients), np.float64).sum(1)
            H += np.einsum("ij,ij->j", X, by) if M.ndim == 1 else X.T @ by
        if M.ndim == 1:
            return H / (2.0 * np.sqrt(np.where(M > 0, M, np.inf)))
        values, V = np.linalg.eigh(M)
        s = np.sqrt(np.where(values > _NOTHING * values[-1], values, 0.0))
        sums = s[:, None] + s
        turned = V.T @ ((H + H.T) / 2) @ V
        return np.asarray(V @ np.where(sums > 0, turned / np.where(sums > 0, sums, 1.0), 0.0) @ V.T)


def metrics_in(k: Kernel, prefix: str = "") -> dict[str, Array]:
    """M of every metric in a kernel, by its name in ``get_params``."""
    found = {prefix + "M": np.asarray(k.M, np.float64)} if isinstance(k, Metric) else {}
    for name, child in k._children():
        found |= metrics_in(child, f"{prefix}{name}__")
    return found


def metric_slopes(k: Kernel, X: Samples, weights: Array, compute: Compute | None = None) -> dict[str, Array]:
    """∂(Σ_ij W_ij k(x_i, x_j))/∂M of every metric in a kernel that is bound, by its name; W is symmetric.

    All entries of all metrics in one pass over the pairs: it is the gradient by the samples that each of them makes,
    and from there a product of small matrices.
    """
    found: dict[str, _Listening] = {}
    listening = _with_listeners(k, "", found)
    X = k.domain.check(X)
    A = listening._prepared(X, k.domain)
    listening._pulled_back(X, pair_gradients(listening, A, weights, compute or Compute()))
    return {name: each.slope() for name, each in found.items()}


def _with_listeners(k: Kernel, prefix: str, found: dict[str, _Listening]) -> Kernel:
    changed = k._replace(**{name: _with_listeners(c, f"{prefix}{name}__", found) for name, c in k._children()})
    if isinstance(changed, Metric):
        changed = _Listening(changed.kernel, changed.M)
        changed.heard = []
        found[prefix + "M"] = changed
    return changed


def factor(M: Array) -> Array:
    """L of (d, r) with L L^T = M, a matrix of rank r: its leading eigenvectors, each times the root of its value."""
    values, vectors = np.linalg.eigh(M)
    kept = values > _NOTHING * max(float(values[-1]), 1e-300)
    return np.asarray(vectors[:, kept] * np.sqrt(values[kept]))
