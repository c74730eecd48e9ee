"""Novelty as what principal components in feature space cannot reconstruct."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any

import numpy as np
from sklearn.base import OutlierMixin

from mercer import arrays
from mercer.annotations import RandomState, Samples, Targets
from mercer.arrays import Array
from mercer.compute import Compute
from mercer.data import size
from mercer.estimators.kernel_components import Components
from mercer.estimators.novelty import Thresholded, check_contamination, threshold
from mercer.estimators.parameters import KernelLike, Progress, estimator
from mercer.estimators.scikit_checks import check_is_fitted
from mercer.estimators.weights import relative, unit
from mercer.gram import Gram, Use, held
from mercer.kernels.vectors.radial import Gaussian


@estimator
class KernelPCANovelty(Thresholded, OutlierMixin, Components):  # type: ignore[misc]  # scikit-learn has no types
    """score(x) = −‖φ(x) − μ − Σ_l f_l(x) f_l‖² = −(‖φ(x) − μ‖² − Σ_l f_l(x)²): far from the principal subspace is
    novel.

    f_l are the directions that ``KernelPCA`` finds. With ``kernel="precomputed"`` the training samples are told apart
    by ``fit_predict``; new ones cannot be, since k(x, x) is not known.

    Parameters
    ----------
    n_components : int, float or None, default=0.5
        A number, or the share of the variance that the subspace keeps: half, where most of the data is and little of
        what is rare. None: all of positive eigenvalue.
    contamination : float, default=0.1
        The share of the training data, to the nearest sample, that is called outlier; between 0 and 0.5.
    solver : str, default="auto"
        As in ``KernelPCA``; ``solver_`` says what was used.
    tol : float or None, default=None
        The residual of eigenvectors to reach, as a share of the largest eigenvalue; None: the solver's own.

    Attributes
    ----------
    offset_ : float
        The threshold of ``score_samples``: what is below is outside.
    n_components_ : int
        The dimension of the subspace.
    eigenvalues_, explained_variance_, explained_variance_ratio_ : ndarray of shape (n_components_,)
        As in ``KernelPCA``.
    eigenvectors_ : ndarray of shape (n_samples, n_components_)
        As in ``KernelPCA``.
    n_negative_, negative_share_ : int and float
        As in ``KernelPCA``.
    dual_coef_ : ndarray of shape (n_components_ + 1, n_support)
        Coefficients of the directions, and as the last row those of the mean μ.
    intercept_ : ndarray of shape (n_components_ + 1,)
        Their constants.
    support_, support_vectors_, function_, n_iter_, solver_, kernel_, n_features_in_, feature_names_in_

    See Also
    --------
    KernelPCA : The directions themselves.
    OneClassSVM, SVDD : Regions found by quadratic programmes; few samples are kept.

    References
    ----------
    H. Hoffmann, Kernel PCA for novelty detection, Pattern Recognition 40 (2007).

    Examples
    --------
    >>> import numpy as np
    >>> import mercer as mc
    >>> rng = np.random.default_rng(0)
    >>> angle = rng.uniform(0, 2 * np.pi, 200)
    >>> X = np.column_stack([np.cos(angle), np.sin(angle)]) + 0.05 * rng.standard_normal((200, 2))
    >>> machine = mc.KernelPCANovelty(10, mc.Gaussian(1.0), contamination=0.05, random_state=0).fit(X)
    >>> machine.predict([[1.0, 0.0], [0.0, 0.0]])
    array([ 1, -1])
    >>> int((machine.predict(X) < 0).sum())
    10
    """

    n_components: float | None = 0.5
    kernel: KernelLike = Gaussian()
    _: KW_ONLY
    contamination: float = 0.1
    solver: str = "auto"
    tol: float | None = None
    random_state: RandomState = None
    progress: Progress | None = None
    compute: Compute | None = None

    def _check(self) -> None:
        super()._check()
        check_contamination(self)

    def _learn(self, gram: Gram, y: Targets, weights: Array, X: Samples = None) -> None:
        gram = held(gram, Use.AGAIN)
        super()._learn(gram, y, weights, X)
        weights, scale = relative(weights)
        # one more column: ⟨φ(x), μ⟩, so that a score costs one product
        self.dual_coef_ = np.concatenate([self.dual_coef_, weights[None, :] / weights.sum()])
        self.intercept_ = np.append(self.intercept_, 0.0)
        values = np.asarray(arrays.to_numpy(gram @ self.dual_coef_.T), np.float64) + self.intercept_
        scores = self._scores(np.asarray(arrays.to_numpy(gram.diag()), np.float64), values)
        rounding = 1e-6 if gram.dtype == np.float32 else 1e-10
        # what is on the edge but for rounding is inside
        self.offset_ = threshold(scores, weights, self.contamination, unit(weights, scale)) - rounding * float(
            np.max(np.abs(scores))
        )
        self._training_labels: Array | None = np.where(scores < self.offset_, -1, 1)

    def _remember(self, X: Samples, gram: Gram, used: Array) -> None:
        super()._remember(X, gram, used)
        self._training_labels = self._training_labels if len(used) == size(X) else None

    def score_samples(self, X: Samples) -> Array:
        """Minus the squared distance to the subspace: the larger, the more inside.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or n_samples items
            New samples.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        inner, own = self._inner(self._accept_new(X), own=True)
        return self._scores(own, inner + self.intercept_)

    def _scores(self, diagonal: Array, values: Array) -> Array:
        return -np.maximum(self._centred_norms(diagonal, values[:, -1]) - np.sum(values[:, :-1] ** 2, axis=1), 0.0)

    def fit_predict(self, X: Samples, y: Targets = None, **options: Any) -> Array:
        """+1 inside, −1 outside, for the training data: also of a precomputed matrix.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or n_samples items
            The training samples, or their matrix.
        y : None
            Not used.
        **options : dict
            ``sample_weight``, as for ``fit``.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        self.fit(X, y, **options)
        return self.predict(X) if self._training_labels is None else self._training_labels
