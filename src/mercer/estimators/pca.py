"""Principal components of vectors."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import _check_sample_weight, check_is_fitted

from mercer.backend import Array
from mercer.estimators.checks import checked_table
from mercer.estimators.components import component_count, share_of_variance
from mercer.estimators.whole import whole
from mercer.gram import LowRankGram
from mercer.linalg import signed, thin_svd
from mercer.problems import Eigen
from mercer.solvers.eigen import solve_eigen

_WHOLE = 500  # columns or rows whose singular values are all found


class PCA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """X − mean = U Σ V^T: the k first columns of V span the subspace nearest to the data (Eckart–Young: the best approximation of rank ≤ k).

    n_components
        A number, a share of the variance between 0 and 1, or None for all that are not 0.
    whiten
        Scores of variance 1.

    Sparse tables stay sparse. Cost: one singular value decomposition; where few components of a large table are asked for, products with it alone.
    """

    def __init__(self, n_components: Any = None, *, whiten: bool = False, random_state: Any = 0) -> None:
        self.n_components, self.whiten, self.random_state = n_components, whiten, random_state

    @whole
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        X = checked_table(self, X, ensure_min_samples=2)
        n, d = X.shape
        w = np.ones(n) if sample_weight is None else _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
        if (w > 0).sum() < 2:
            raise ValueError("PCA needs at least two samples of positive weight (n_samples=1 has no variance).")
        count = component_count(self.n_components, min(n, d), f"min(n_samples, n_features)={min(n, d)}")
        mean = np.asarray(w @ X / w.sum(), np.float64).reshape(-1)
        scale = np.sqrt(w)
        few = count is not None and min(n, d) > _WHOLE and 4 * count < min(n, d)
        s = solve_eigen(Eigen(count or 1, w), LowRankGram(X.astype(np.float64)), "krylov", tol=1e-12, random_state=self.random_state) if few else None
        if s is not None and s.values[-1] > 1e-10 * s.values[0]:
            values, total = s.values, s.trace
            V = (np.asarray(X.T @ (scale[:, None] * s.vectors)) - np.outer(mean, scale @ s.vectors)) / np.sqrt(values)
        else:  # also where fewer have variance than were asked for
            table = X.toarray() if sparse.issparse(X) else X
            deviations = table - mean  # in float64
            _, singular, Vt = thin_svd(deviations if (w == 1).all() else scale[:, None] * deviations, left=False)
            values, V, total = singular**2, Vt.T, float(np.sum(singular**2))
            seen = max(1, int(np.sum(singular > max(n, d) * np.finfo(X.dtype).eps * singular[0])))
            kept = share_of_variance(values[:seen], total, self.n_components) if count is None else count
            values, V = values[:kept], V[:, :kept]
        V = signed(V)
        freedom = float(w.sum()) - 1 if w.sum() > 1 else float(w.sum())  # shares that sum to 1 are not repetitions
        self.n_components_ = len(values)
        self.mean_, self.components_ = mean.astype(X.dtype), V.T.astype(X.dtype)
        self.explained_variance_, self.singular_values_ = values / freedom, np.sqrt(values)
        self.explained_variance_ratio_ = values / total if total > 0 else np.zeros(len(values))
        self.noise_variance_ = max(total - float(values.sum()), 0.0) / freedom / max(min(n, d) - len(values), 1)
        return self

    def _spread(self) -> Array:
        """What scores are divided by: infinity where there is no variance."""
        if not self.whiten:
            return np.ones(self.n_components_)
        seen = self.explained_variance_ > 1e-24 * self.explained_variance_[0]
        return np.where(seen, np.sqrt(np.where(seen, self.explained_variance_, 1.0)), np.inf)

    def transform(self, X: Any) -> Array:
        """The scores (x − mean) V."""
        check_is_fitted(self)
        X = checked_table(self, X, reset=False)
        scores = (np.asarray(X @ self.components_.T) - self.mean_ @ self.components_.T) / self._spread()
        return np.asarray(scores, X.dtype)

    def inverse_transform(self, X: Any) -> Array:
        """mean + scores V^T."""
        check_is_fitted(self)
        X = np.asarray(X)
        if X.ndim != 2 or X.shape[1] != self.n_components_:
            raise ValueError(f"Scores of {self.n_components_} components are an array of shape (rows, {self.n_components_}), got {X.shape}.")
        if not np.isfinite(X).all():
            raise ValueError("Scores hold NaN or infinity; there is nothing to go back to.")
        spread = self._spread()
        return (X * np.where(np.isfinite(spread), spread, 0.0)) @ self.components_ + self.mean_

    @property
    def _n_features_out(self) -> int:
        return self.n_components_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
