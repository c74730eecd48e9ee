"""Canonical correlation between two tables."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any

import numpy as np
from scipy import sparse

from mercer import arrays
from mercer.annotations import RandomState, Samples, Targets
from mercer.arrays import Array
from mercer.data import size
from mercer.estimators.cca import CanonicalCorrelation, View
from mercer.estimators.checks import checked_table
from mercer.estimators.parameters import estimator
from mercer.estimators.scikit_checks import check_is_fitted
from mercer.kernels.vectors.products import Linear
from mercer.native.linalg import signs
from mercer.troubles import coded


@estimator
class CCA(CanonicalCorrelation):
    """max corr(⟨v, x⟩, ⟨w, y⟩) with v^T(X^T X + γI)v = w^T(Y^T Y + γI)w, tables centred: linear kernels.

    Its attributes are what scikit-learn's CCA means by them, without its iteration. Where scores are to predict y as
    well as can be, regress on them.

    Parameters
    ----------
    n_components : int, default=2
        How many pairs of directions.
    alpha : float, pair, list of these or None, default=0.0
        γ ≥ 0; None, or a list: chosen by correlation on held-out rows. 0 needs more rows than columns.
    cv : int, default=5
        How many folds γ is chosen by.
    random_state : int, RandomState, Generator or None, default=None
        Deals the rows to the folds.

    Attributes
    ----------
    x_rotations_, y_rotations_ : ndarray of shape (n_features, n_components_) and (n_targets, n_components_)
        v and w, one a column: ``transform(X)`` is ((X − mean)/std) ``x_rotations_``. Without γ columns are divided by
        their standard deviations, with it they are only centred.
    x_weights_, y_weights_ : ndarray of the same shapes
        The same directions made orthonormal one after the other, which fixes their lengths and, by the largest entry of
        ``x_weights_``, the signs.
    x_loadings_, y_loadings_ : ndarray of the same shapes
        The least-squares way back: (X − mean)/std ≈ scores ``x_loadings_``^T.
    coef_ : ndarray of shape (n_targets, n_features)
        ``predict(X)`` is (X − mean) ``coef_``^T + ``intercept_``: the scores of x taken for those of y, and these back
        by ``y_loadings_``.
    intercept_ : ndarray of shape (n_targets,)
        The mean of y.
    alpha_ : tuple of two floats
        γ of each view.
    alpha_scores_ : ndarray of shape (n_candidates,)
        The correlation on held-out rows of each candidate, where there were several.
    canonical_values_ : ndarray of shape (n_components_,)
        The values of the regularised problem, falling.
    correlations_ : ndarray of shape (n_components_,)
        The empirical correlations of the projections in training.
    n_components_ : int
        How many components there are.
    function_x_, function_y_ : RKHSFunction
        The directions as functions.
    n_features_in_, feature_names_in_

    See Also
    --------
    KernelCCA : Of any two kinds of items.
    PCA : Directions of one table.

    References
    ----------
    H. Hotelling, Relations between two sets of variates, Biometrika 28 (1936).

    Examples
    --------
    >>> import mercer as mc
    >>> from sklearn.datasets import load_linnerud
    >>> X, Y = load_linnerud(return_X_y=True)
    >>> model = mc.CCA(1).fit(X, Y)
    >>> model.correlations_.round(3)
    array([0.796])
    >>> f, g = model.transform(X, Y)
    >>> f.shape, model.predict(X[:1]).shape
    ((20, 1), (1, 3))
    """

    n_components: int = 2
    _: KW_ONLY
    alpha: Any = 0.0
    cv: int = 5
    random_state: RandomState = None

    compute = None

    @property
    def _free(self) -> bool:
        """Without γ the units do not change the answer, but columns far from 0 or of unlike sizes would lose digits."""
        return np.ndim(self.alpha) == 0 and self.alpha == 0

    def _kernels(self) -> tuple[Any, Any, Any, Any]:
        k = Linear().standardized() if self._free else Linear()
        return k, k, self.alpha, None

    def fit_transform(self, X: Samples, y: Targets = None, **options: Any) -> Any:
        """(f(x), g(y)) in training, as scikit-learn's CCA.

        Parameters
        ----------
        X, y
            Both tables, as for ``fit``.
        **options : dict
            ``sample_weight``, as for ``fit``.

        Returns
        -------
        tuple of two ndarrays of shape (n_samples, n_components_)
        """
        return self.fit(X, y, **options).transform(X, y)

    def _describe(self, x: View, y: View, f: Array, g: Array) -> None:
        self._x_mean, self._x_std = _columns(x, self._free)
        self._y_mean, self._y_std = _columns(y, self._free)
        A, B = (
            _directions(x, self._x_mean, self._x_std, self._free),
            _directions(y, self._y_mean, self._y_std, self._free),
        )
        (self.x_weights_, lengths), (self.y_weights_, others) = _orthonormal(A), _orthonormal(B)
        sign = signs(self.x_weights_)
        self.x_weights_, self.y_weights_ = sign * self.x_weights_, sign * self.y_weights_
        self.x_rotations_, self.y_rotations_ = sign * A / lengths, sign * B / others
        self.x_loadings_ = _adopted(x, f, self.x_rotations_, self._x_mean, self._x_std)
        self.y_loadings_ = _adopted(y, g, self.y_rotations_, self._y_mean, self._y_std)
        self.coef_ = (self.y_loadings_ @ self.x_rotations_.T) * self._y_std[:, None] / self._x_std
        self.intercept_ = self._y_mean.copy()

    def predict(self, X: Samples) -> Array:
        """(X − mean) ``coef_``^T + ``intercept_``: y from the scores of x.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            New rows.

        Returns
        -------
        ndarray of shape (n_samples, n_targets), or (n_samples,) where y was one column
        """
        check_is_fitted(self)
        X = checked_table(self, X, reset=False)
        out = _centred_product(X, self._x_mean, self.coef_.T) + self.intercept_
        return out[:, 0] if self._y.column_ else out

    def inverse_transform(self, X: Samples, y: Targets = None) -> Any:
        """Rows whose scores are the given ones, as near as the components allow: scores ``x_loadings_``^T·std + mean.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_components_)
            Scores of x.
        y : array-like of shape (n_samples, n_components_) or None, default=None
            Scores of y, or None.

        Returns
        -------
        ndarray of shape (n_samples, n_features), or with scores of y also one of shape (n_samples, n_targets)
        """
        check_is_fitted(self)
        back = self._scores(X) @ self.x_loadings_.T * self._x_std + self._x_mean
        return back if y is None else (back, self._scores(y) @ self.y_loadings_.T * self._y_std + self._y_mean)

    def _scores(self, given: object) -> Array:
        Z = np.asarray(given, np.float64)
        if Z.ndim != 2 or Z.shape[1] != self.n_components_:
            raise ValueError(
                coded(
                    f"Scores of {self.n_components_} components are an array of shape (rows, {self.n_components_}), got"
                    f" {Z.shape}.",
                    "M314",
                )
            )
        if not np.isfinite(Z).all():
            raise ValueError(coded("Scores hold NaN or infinity; there is nothing to go back to.", "M101"))
        return Z


def _columns(view: View, free: bool) -> tuple[Array, Array]:
    """(mean, std) of the columns of a view; std is 1 where columns are only centred."""
    w = np.ones(size(view.items_)) if view.weights_ is None else view.weights_
    items = arrays.to_numpy(view.items_) if arrays.is_tensor(view.items_) else view.items_
    if not free:
        mean = np.asarray(w @ items / w.sum(), np.float64).reshape(-1)
        return mean, np.ones(len(mean))
    bound: Any = view.kernel_  # Shifted
    mean, spread, total = np.asarray(bound.mean, np.float64), np.asarray(bound.spread, np.float64), float(w.sum())
    freedom = total - 1 / view.scale_ if total * view.scale_ > 1 else total  # shares that sum to 1 are not repetitions
    low, high = (
        np.asarray(v.toarray() if sparse.issparse(v) else v).reshape(-1) for v in (items.min(axis=0), items.max(axis=0))
    )
    return mean, spread * np.where(high > low, np.sqrt(total / freedom), 1.0)


def _directions(view: View, mean: Array, std: Array, free: bool) -> Array:
    """v with f(x) = ⟨v, (x − mean)/std⟩ + constant, but for a factor common to all columns: Σ_i α_i z_i, z_i as its
    kernel sees x_i.
    """
    alpha = view.dual_coef_.T
    v = _centred_inner(view.support_vectors_, mean, alpha)
    return (v if free else v + np.outer(mean, alpha.sum(axis=0))) / std[:, None]


def _adopted(view: View, values: Array, rotations: Array, mean: Array, std: Array) -> Array:
    """Z^T W T (T^T W T)^−1 for the scores T = Z ``rotations``, Z = (X − mean)/std; the functions of the view, of
    ``values`` in training, become these scores.
    """
    w = np.ones(len(values)) if view.weights_ is None else view.weights_
    T = _centred_product(view.items_, mean, rotations / std[:, None])
    factor = np.einsum("i,ij,ij->j", w, values, T) / np.einsum("i,ij->j", w, values**2)
    view.dual_coef_, view.intercept_ = view.dual_coef_ * factor[:, None], view.intercept_ * factor
    weighted = w[:, None] * T
    return np.linalg.solve(T.T @ weighted, (_centred_inner(view.items_, mean, weighted) / std[:, None]).T).T


def _centred_product(X: Samples, mean: Array, V: Array) -> Array:
    """(X − mean) V; of a sparse table without making it dense."""
    return np.asarray(X @ V) - mean @ V if sparse.issparse(X) else (arrays.to_numpy(X) - mean) @ V


def _centred_inner(X: Samples, mean: Array, V: Array) -> Array:
    """(X − mean)^T V."""
    if sparse.issparse(X):
        return np.asarray(X.T @ V) - np.outer(mean, V.sum(axis=0))
    return (arrays.to_numpy(X) - mean).T @ V


def _orthonormal(A: Array) -> tuple[Array, Array]:
    """(Q, r): the columns of A made orthonormal one after the other, and the length of what was left of each."""
    Q, R = np.linalg.qr(A)
    sign = np.where(np.diag(R) < 0, -1.0, 1.0)
    return Q * sign, np.abs(np.diag(R))
