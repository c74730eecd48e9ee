"""Novelty as what principal components in feature space cannot reconstruct."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import OutlierMixin
from sklearn.utils.validation import check_is_fitted

from mercer import backend
from mercer.backend import Array, Compute
from mercer.data import size
from mercer.estimators.callbacks import with_callbacks
from mercer.estimators.kernel_pca import Components
from mercer.estimators.novelty import Thresholded, check_contamination, threshold
from mercer.estimators.weights import NEGLIGIBLE, checked, relative, unit
from mercer.kernels.base import Kernel


class KernelPCANovelty(Thresholded, OutlierMixin, Components):  # type: ignore[misc]  # scikit-learn has no types
    """score(x) = −‖φ(x) − μ − Σ_l f_l(x) f_l‖² = −(‖φ(x) − μ‖² − Σ_l f_l(x)²): far from the principal subspace is novel (Hoffmann 2007).

    n_components
        A number, or the share of the variance that the subspace keeps: half, where most of the data is and little of what is rare.
    contamination
        The share of the training data, to the nearest sample, that is called outlier.
    """

    def __init__(
        self, n_components: Any = 0.5, kernel: Kernel | str | None = None, *, contamination: float = 0.1, solver: str = "auto",
        tol: float | None = None, random_state: Any = 0, progress: Any = None, compute: Compute | None = None,
    ) -> None:  # fmt: skip
        self.n_components, self.kernel, self.contamination, self.solver = n_components, kernel, contamination, solver
        self.tol, self.random_state, self.progress, self.compute = tol, random_state, progress, compute

    @with_callbacks
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find the subspace of X; y is not used."""
        X = self._accept(X, reset=True)
        self._open_task(X)
        check_contamination(self)
        n = size(X)
        given, scale = relative(checked(sample_weight, n), NEGLIGIBLE)
        X, _, weights, original = self._without_zeros(X, np.zeros(n), given)
        self._decompose(X, weights, original, scale)
        # one more column: ⟨φ(x), μ⟩, so that a score costs one product
        self.dual_coef_ = np.concatenate([self.dual_coef_, weights[None, :] / weights.sum()])
        self.intercept_ = np.append(self.intercept_, 0.0)
        diagonal = np.diag(X) if self.kernel_ is None else np.asarray(backend.to_numpy(self.kernel_.diag(X)), np.float64)
        scores = self._scores(diagonal, self._values_of(X))
        rounding = 1e-6 if hasattr(X, "dtype") and backend.numpy_dtype(X) == np.float32 else 1e-10
        # what is on the edge but for rounding is inside
        self.offset_ = threshold(scores, weights, self.contamination, unit(weights, scale)) - rounding * float(np.max(np.abs(scores)))
        self._training_labels = np.where(scores < self.offset_, -1, 1) if len(original) == n else None
        self._close_task()
        return self

    def score_samples(self, X: Any) -> Array:
        """Minus the squared distance to the subspace: the larger, the more inside."""
        check_is_fitted(self)
        if self.kernel_ is None:
            raise ValueError("KernelPCANovelty of a precomputed matrix scores new items only with their own k(x, x); give the kernel instead.")
        accepted = self._accept_new(X)
        return self._scores(np.asarray(backend.to_numpy(self.kernel_.diag(accepted)), np.float64), self._values_of(accepted))

    def _scores(self, diagonal: Array, values: Array) -> Array:
        return -np.maximum(self._centred_norms(diagonal, values[:, -1]) - np.sum(values[:, :-1] ** 2, axis=1), 0.0)

    def fit_predict(self, X: Any, y: Any = None, **options: Any) -> Array:
        """+1 inside, −1 outside, for the training data: also of a precomputed matrix."""
        self.fit(X, y, **options)
        return self.predict(X) if self._training_labels is None else self._training_labels
