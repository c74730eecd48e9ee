"""What all kernel estimators share: the door for data, the kernel bound to it, and the Gram matrix.

check ─▶ bind ─▶ gram ─▶ problem ─▶ solve ─▶ function
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import assert_all_finite
from sklearn.utils.validation import _check_feature_names, _check_n_features, _check_sample_weight, validate_data

from mercer import backend
from mercer.backend import Array, Compute
from mercer.data import Vectors, listed, size, take
from mercer.data.notices import quietly
from mercer.gram import DenseGram, Gram
from mercer.kernels.base import Kernel
from mercer.kernels.vectors import Gaussian
from mercer.validity import asymmetry

PRECOMPUTED = "precomputed"
_NARROW = 128  # columns


class KernelEstimator(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """An estimator over a kernel: ``kernel`` is a Kernel, None for ``Gaussian()``, or "precomputed" where X is the matrix itself."""

    kernel: Kernel | str | None
    compute: Compute | None
    _one_kernel = True  # whether ``_given_kernel`` is all there is to know of its matrix
    _along: str | None = None  # the parameter along which many fits cost little more than one

    # -- the door ----------------------------------------------------------------------------------------------------

    @property
    def _given_kernel(self) -> Kernel:
        if self.kernel is None:
            return Gaussian()
        if not isinstance(self.kernel, Kernel):
            raise TypeError(
                f"kernel={self.kernel!r}: give a kernel such as mercer.Gaussian() or mercer.parse('Gaussian() + Linear()'), None for Gaussian(), "
                "or 'precomputed'."
            )
        return self.kernel

    @property
    def _precomputed(self) -> bool:
        return isinstance(self.kernel, str) and self.kernel == PRECOMPUTED

    @property
    def _of_vectors(self) -> bool:
        return self._precomputed or isinstance(self._given_kernel.domain, Vectors)

    def _accept(self, X: Any, y: Any = "no_validation", *, reset: bool, **options: Any) -> Any:
        """X (and y) checked: by scikit-learn's rules where it is a table of numbers, else by the kernel's domain."""
        if self._of_vectors and not backend.is_tensor(X):
            missing = not self._precomputed and getattr(self._given_kernel.domain, "missing", False)
            return validate_data(
                self, X, y, reset=reset, accept_sparse=False if self._precomputed else "csr", dtype=[np.float64, np.float32],
                ensure_all_finite="allow-nan" if missing else True, **options,
            )  # fmt: skip
        X = listed(X)
        if not hasattr(X, "__len__") and not hasattr(X, "shape"):
            self._given_kernel.domain.check(X)  # says what is wrong with it
        if hasattr(X, "columns") or hasattr(X, "shape"):
            _check_feature_names(self, X, reset=reset)
            if len(getattr(X, "shape", ())) == 2:
                _check_n_features(self, X, reset=reset)
        if isinstance(y, str) and y == "no_validation":
            return X
        from sklearn.utils.validation import check_consistent_length, column_or_1d

        y = backend.to_numpy(y)
        y = y if options.get("multi_output") else column_or_1d(y, warn=True)
        if size(X) != len(y):
            check_consistent_length(np.empty(size(X)), y)
        y = y.astype(np.float64) if options.get("y_numeric") else y
        if y.dtype.kind == "f":
            assert_all_finite(y, input_name="y")
        return X, y

    def _weights(self, X: Any, sample_weight: Any) -> Array | None:
        if sample_weight is None:
            return None
        n = size(X)
        w = np.asarray(_check_sample_weight(sample_weight, np.empty((n, 1)), dtype=np.float64, ensure_non_negative=True))
        if not w.any():
            raise ValueError("sample_weight is 0 for every sample: there is nothing to fit.")
        return w

    # -- the matrix --------------------------------------------------------------------------------------------------

    def _bind(self, X: Any, weights: Array | None) -> None:
        """Fix what the kernel takes from data: ``kernel_``."""
        with quietly():  # what the kernel does not use is told when the matrix is computed
            self.kernel_ = None if self._precomputed else self._given_kernel.bind(self._given_kernel.domain.check(X), weights)

    def _gram(self, X: Any) -> Gram:
        """The square matrix of the training items."""
        if self.kernel_ is not None:
            return self.kernel_.gram(self._unpacked(X), compute=self.compute)
        if X.shape[0] != X.shape[1]:
            raise ValueError(f"Precomputed matrix must be a square matrix. Input is a {X.shape[0]}x{X.shape[1]} matrix.")
        found = asymmetry(X, 1e-10 if X.dtype == np.float64 else 1e-5)
        if found is not None:
            i, j = found
            warnings.warn(
                f"The precomputed matrix is not symmetric: entry ({i}, {j}) is {X[i, j]:.6g} and ({j}, {i}) is {X[j, i]:.6g}, so no training problem "
                "belongs to it. The model is that of its symmetric part; the kernel that made the matrix has an error.",
                ConvergenceWarning, stacklevel=5,
            )  # fmt: skip
            X = (X + X.T) / 2
        return DenseGram(X, self.compute)

    def _unpacked(self, X: Any) -> Any:
        """A sparse table of few columns as a dense one, where that is small: the engine's inner products are then in registers."""
        small = sparse.issparse(X) and X.shape[1] <= _NARROW and 16 * X.shape[0] * X.shape[1] * X.dtype.itemsize <= (self.compute or Compute()).budget
        return X.toarray() if small else X

    def _some(self, X: Any, chosen: Array) -> Any:
        """The problem of some of the samples: of a matrix, their rows and columns."""
        return X[np.ix_(chosen, chosen)] if self._precomputed else take(X, chosen)

    def _items(self, X: Any, chosen: Any) -> Any:
        """Some of the training items: what is kept to predict with. Of a precomputed matrix there is nothing to keep."""
        return self.kernel_._kept(take(X, chosen)) if self.kernel_ is not None else np.empty((len(chosen), 0))

    def _cross(self, X: Any) -> Gram:
        """The matrix between new items and those that were kept."""
        if self.kernel_ is not None:
            return self.kernel_.gram(self._unpacked(X), self._unpacked(self.support_vectors_), compute=self.compute)
        alone = X.shape[1] == len(self.support_) != self.n_features_in_  # columns for the kept items alone, in their order
        return DenseGram(X if alone else X[:, self.support_], self.compute)

    def _accept_new(self, X: Any) -> Any:
        if self._precomputed and getattr(X, "ndim", 0) == 2 and X.shape[1] == len(self.support_) != self.n_features_in_:
            return np.asarray(X)  # columns for the support vectors alone
        return self._accept(X, reset=False)

    def _onto(self, X: Any) -> Any:
        """This estimator, fitted to the matrix of ``kernel`` on X, as if it had been fitted to X itself."""
        del self.n_features_in_  # that of the matrix
        X = self._accept(X, reset=True)
        self._bind(X, None)
        self.support_vectors_ = self._items(X, self.support_)
        return self

    def _path(self, X: Any, y: Any, machines: Sequence[Any], **given: Any) -> list[Any]:
        """``machines``, which differ from this one only in the parameter ``_along``, fitted."""
        return [machine.fit(X, y, **given) for machine in machines]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = not self._precomputed
        tags.input_tags.pairwise = self._precomputed
        return tags
