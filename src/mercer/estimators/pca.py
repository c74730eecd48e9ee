"""Principal components of vectors."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin

from mercer.annotations import RandomState, Samples, Targets, Weights
from mercer.arrays import Array
from mercer.data import chunks
from mercer.estimators.all_or_nothing import all_or_nothing
from mercer.estimators.checks import checked_table
from mercer.estimators.components import component_count, likeliest_count, share_of_variance
from mercer.estimators.lazy import LazyAnswers
from mercer.estimators.parameters import estimator
from mercer.estimators.scikit_checks import check_is_fitted
from mercer.estimators.weights import checked, relative
from mercer.gram import LowRankGram
from mercer.native.linalg import signed, thin_svd
from mercer.problems import Eigen
from mercer.solvers.eigen import solve_eigen
from mercer.troubles import coded

_WHOLE = 500  # columns or rows whose singular values are all found
_AT_ONCE = 8192  # rows whose deviations are held


@estimator
class PCA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, LazyAnswers, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """X − mean = U Σ V^T: the k first columns of V span the subspace nearest to the data (Eckart–Young: the best
    approximation of rank ≤ k).

    It is also the likeliest model x = mean + V z + noise (Tipping and Bishop 1999): N(mean, V(Λ − σ²)V^T + σ²I), Λ the
    variances of the scores and σ² the mean of those left out, which ``get_covariance``, ``get_precision`` and ``score``
    are of, whether scores are whitened or not.

    Sparse tables stay sparse. Cost: one singular value decomposition; where few components of a large table are asked
    for, products with it alone.

    Parameters
    ----------
    n_components : int, float, "mle" or None, default=None
        A number, a share of the variance between 0 and 1, None for all that are not 0, or "mle" for the number that
        makes the data likeliest (Minka 2000; as many rows as columns, or more).
    whiten : bool, default=False
        Whether scores are divided by their standard deviations, so that each has variance 1.
    random_state : int, RandomState, Generator or None, default=None
        The start of the iteration where few components of a large table are asked for; they do not depend on it to the
        accuracy that is reached.

    Attributes
    ----------
    components_ : ndarray of shape (n_components_, n_features)
        V^T, one component a row; its largest entry is positive.
    mean_ : ndarray of shape (n_features,)
        The mean of the columns.
    explained_variance_ : ndarray of shape (n_components_,)
        Λ, by Σw − 1.
    explained_variance_ratio_ : ndarray of shape (n_components_,)
        Their shares of the whole variance.
    singular_values_ : ndarray of shape (n_components_,)
        The diagonal of Σ.
    noise_variance_ : float
        σ²: the mean variance of the directions left out, 0 where there are none.
    n_components_ : int
        How many components there are.
    n_samples_ : int
        How many rows they were found in.
    n_features_in_, feature_names_in_

    See Also
    --------
    KernelPCA : The same in the space of a kernel.
    CCA : Directions of two tables that correlate.

    References
    ----------
    M. E. Tipping and C. M. Bishop, Mixtures of probabilistic principal component analyzers, Neural Computation 11
    (1999). T. P. Minka, Automatic choice of dimensionality for PCA, NIPS 13 (2000).

    Examples
    --------
    >>> import mercer as mc
    >>> from sklearn.datasets import load_iris
    >>> X, _ = load_iris(return_X_y=True)
    >>> pca = mc.PCA(2).fit(X)
    >>> pca.explained_variance_ratio_.round(3)
    array([0.925, 0.053])
    >>> Z = pca.transform(X)
    >>> back = pca.inverse_transform(Z)
    >>> Z.shape, round(float(((X - back) ** 2).sum(axis=1).mean()), 3)
    ((150, 2), 0.101)
    >>> mc.PCA(0.99).fit(X).n_components_
    3
    """

    n_components: Any = None
    _: KW_ONLY
    whiten: bool = False
    random_state: RandomState = None

    @all_or_nothing
    def fit(self, X: Samples, y: Targets = None, sample_weight: Weights = None) -> Self:
        """Find the principal components of a table.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            At least two rows.
        y : None
            Not used.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            A weight counts as that many repetitions of its row; weights that sum to 1 or less are shares.

        Returns
        -------
        self
        """
        X = checked_table(self, X, ensure_min_samples=2)
        n, d = X.shape
        w, size = relative(checked(sample_weight, n))
        used = int(np.sum(w > 0))
        if used < 2:
            raise ValueError(
                coded("PCA needs at least two samples of positive weight (n_samples=1 has no variance).", "M310")
            )
        likeliest = isinstance(self.n_components, str) and self.n_components == "mle"
        count = (
            None
            if likeliest
            else component_count(self.n_components, min(n, d), f"min(n_samples, n_features)={min(n, d)}")
        )
        if likeliest and used < d:
            raise ValueError(
                coded(
                    f"n_components='mle' is only supported if n_samples >= n_features, got {used} < {d}: give a"
                    " number.",
                    "M310",
                )
            )
        mean = np.asarray(w @ X / w.sum(), np.float64).reshape(-1)
        scale = np.sqrt(w)
        few = count is not None and min(n, d) > _WHOLE and 4 * count < min(n, d)
        s = (
            solve_eigen(
                Eigen(count or 1, w),
                LowRankGram(X.astype(np.float64)),
                "krylov",
                tol=1e-12,
                random_state=self.random_state,
            )
            if few
            else None
        )
        total_weight = float(w.sum()) * size  # may be infinite
        freedom = float(w.sum()) - (1 / size if total_weight > 1 else 0.0)  # shares that sum to 1 are not repetitions
        if s is not None and s.values[-1] > 1e-10 * s.values[0]:
            values, total = s.values, s.trace
            V = (np.asarray(X.T @ (scale[:, None] * s.vectors)) - np.outer(mean, scale @ s.vectors)) / np.sqrt(values)
        else:  # also where fewer have variance than were asked for
            table = X.toarray() if sparse.issparse(X) else X
            deviations = table - mean  # in float64
            _, singular, Vt = thin_svd(deviations if (w == 1).all() else scale[:, None] * deviations, left=False)
            values, V, total = singular**2, Vt.T, float(np.sum(singular**2))
            seen = max(1, int(np.sum(singular > max(n, d) * np.finfo(X.dtype).eps * singular[0])))
            if likeliest:
                kept = likeliest_count(values / freedom, total_weight)
            else:
                kept = share_of_variance(values[:seen], total, self.n_components) if count is None else count
            values, V = values[:kept], V[:, :kept]
        V = signed(V)
        rows = max(used, int(min(total_weight, d)))  # as many directions as repetitions could have
        left_out = 0 if self.n_components is None else min(rows, d) - len(values)
        self.n_components_, self.n_samples_ = len(values), n
        self.mean_, self.components_ = mean.astype(X.dtype), V.T.astype(X.dtype)
        self.explained_variance_, self.singular_values_ = values / freedom, np.sqrt(values) * np.sqrt(size)
        self.explained_variance_ratio_ = values / total if total > 0 else np.zeros(len(values))
        self.noise_variance_ = max(total - float(values.sum()), 0.0) / freedom / left_out if left_out > 0 else 0.0
        return self

    def _spread(self) -> Array:
        """What scores are divided by: infinity where there is no variance."""
        if not self.whiten:
            return np.ones(self.n_components_)
        seen = self.explained_variance_ > 1e-24 * self.explained_variance_[0]
        return np.where(seen, np.sqrt(np.where(seen, self.explained_variance_, 1.0)), np.inf)

    def transform(self, X: Samples) -> Array:
        """The scores (x − mean) V, of variance 1 where ``whiten``.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            New rows.

        Returns
        -------
        ndarray of shape (n_samples, n_components_)
        """
        check_is_fitted(self)
        X = checked_table(self, X, reset=False)
        scores = (np.asarray(X @ self.components_.T) - self.mean_ @ self.components_.T) / self._spread()
        return np.asarray(scores, X.dtype)

    def inverse_transform(self, X: Samples) -> Array:
        """mean + scores V^T: the rows of the subspace that have these scores.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_components_)
            Scores, as ``transform`` gives them.

        Returns
        -------
        ndarray of shape (n_samples, n_features)
        """
        check_is_fitted(self)
        X = np.asarray(X)
        if X.ndim != 2 or X.shape[1] != self.n_components_:
            raise ValueError(
                coded(
                    f"Scores of {self.n_components_} components are an array of shape (rows, {self.n_components_}), got"
                    f" {X.shape}.",
                    "M314",
                )
            )
        if not np.isfinite(X).all():
            raise ValueError(coded("Scores hold NaN or infinity; there is nothing to go back to.", "M101"))
        spread = self._spread()
        return (X * np.where(np.isfinite(spread), spread, 0.0)) @ self.components_ + self.mean_

    def get_covariance(self) -> Array:
        """V(Λ − σ²)V^T + σ²I, the covariance of the model, an array of shape (n_features, n_features)."""
        check_is_fitted(self)
        V, noise = self.components_.astype(np.float64), self.noise_variance_
        return (V.T * np.maximum(self.explained_variance_ - noise, 0.0)) @ V + noise * np.eye(V.shape[1])

    def get_precision(self) -> Array:
        """The inverse of ``get_covariance()``, from its eigenvectors; ValueError where that has none."""
        inverse, rest = self._inverse_variances()
        V = self.components_.astype(np.float64)
        return (V.T * (inverse - rest)) @ V + rest * np.eye(V.shape[1])

    def _inverse_variances(self) -> tuple[Array, float]:
        """1/λ of the components and 1/σ² of all other directions; the latter 0 where there are none."""
        check_is_fitted(self)
        variances = np.maximum(self.explained_variance_, self.noise_variance_)
        whole = self.n_components_ == self.components_.shape[1]
        least = 1e-15 * float(variances.max(initial=0.0))
        if not (variances > least).all() or not (whole or self.noise_variance_ > least):
            rank = int(np.sum(variances > least))
            raise ValueError(
                coded(
                    f"The covariance has rank {rank} and {self.components_.shape[1]} columns, so it has no inverse and"
                    " the model no density. Ask for fewer components (what they leave out becomes noise in all"
                    " directions), or give more samples.",
                    "M307",
                )
            )
        return 1 / variances, 0.0 if whole else 1 / self.noise_variance_

    def score_samples(self, X: Samples) -> Array:
        """log N(x; mean, covariance) of each row.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            New rows.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        inverse, rest = self._inverse_variances()
        X = checked_table(self, X, reset=False)
        V, out = self.components_.astype(np.float64), np.empty(X.shape[0])
        for some in chunks(X.shape[0], _AT_ONCE):
            deviations = (X[some].toarray() if sparse.issparse(X) else X[some]) - self.mean_.astype(np.float64)
            scores = deviations @ V.T
            left = deviations - scores @ V if rest else np.zeros(1)
            out[some] = scores**2 @ inverse + rest * np.sum(left**2, axis=-1)
        k, d = V.shape
        log_root = 0.5 * (float(np.sum(np.log(inverse))) + ((d - k) * float(np.log(rest)) if rest else 0.0))
        return log_root - 0.5 * (d * float(np.log(2 * np.pi)) + out)

    def score(self, X: Samples, y: Targets = None) -> float:
        """The mean of ``score_samples(X)``: larger is better; y is not used."""
        return float(np.mean(self.score_samples(X)))

    @property
    def _n_features_out(self) -> int:
        return self.n_components_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
