"""Kernel logistic regression: classes with probabilities, by maximum likelihood."""

from __future__ import annotations

from dataclasses import KW_ONLY

import numpy as np
from scipy.special import log_softmax

from mercer.annotations import Samples
from mercer.arrays import Array
from mercer.estimators.parameters import ClassWeight, KernelLike, LossParameters, estimator
from mercer.estimators.representer import LossMachine
from mercer.estimators.scored_classes import ScoredClasses
from mercer.estimators.spread import SpreadPasses, SpreadSamples
from mercer.gram import Gram, Landmarks, Outline, Work
from mercer.kernels.vectors.radial import Gaussian
from mercer.losses import Logistic, Loss, Multinomial
from mercer.solvers.dual import Tried
from mercer.solvers.erm import minimise, outlook


@estimator
class KernelLogistic(ScoredClasses, LossMachine, LossParameters):
    """min −Σ_i w_i log P(y_i | x_i) + λ‖f‖²: P = σ(f) for two classes, softmax of one function for each where there are
    more.

    The probabilities are those of the model itself; nothing is fitted afterwards. Every sample has a coefficient,
    unlike in an SVM.

    Parameters
    ----------
    alpha : float, default=1.0
        λ > 0; scikit-learn's C of a logistic regression is 1/(2λ).

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    dual_coef_ : ndarray of shape (n_functions, n_support)
        Coefficients: one row for two classes, else one for each class.
    intercept_ : ndarray of shape (n_functions,)
        b, likewise.
    support_, support_vectors_, coef_, function_, gap_, objective_, converged_, stop_reason_, n_iter_, solver_, kernel_
    n_features_in_, feature_names_in_

    See Also
    --------
    SVC : Few samples are kept; probabilities by sigmoids.
    RepresenterMachine : Any other loss.

    Examples
    --------
    >>> import mercer as mc
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = mc.KernelLogistic(alpha=0.1, kernel=mc.Gaussian(0.1)).fit(X[::2], y[::2])
    >>> round(model.score(X[1::2], y[1::2]), 3)
    0.973
    >>> model.predict_proba(X[[1, 77]]).round(2)
    array([[0.97, 0.03, 0.01],
           [0.01, 0.51, 0.48]])
    """

    alpha: float = 1.0
    kernel: KernelLike = Gaussian()
    _: KW_ONLY
    class_weight: ClassWeight = None

    @property
    def _trained(self) -> list[Loss]:
        """The loss of as many classes as there are."""
        return [Logistic() if len(self.classes_) == 2 else Multinomial(len(self.classes_))]

    def _learn(self, gram: Gram, y: Array, weights: Array, X: Samples = None) -> None:
        codes, weighted = self._labels(y, weights)
        ridge, limits = self._positive("alpha"), self._limits()
        [loss], binary = self._trained, len(self.classes_) == 2
        targets = np.where(codes == 1, 1.0, -1.0) if binary else codes
        fit = minimise(loss, targets, weighted, ridge, self.fit_intercept, gram, limits)
        self._keep_fits([fit])
        self.intercept_ = np.atleast_1d(np.asarray(fit.bias, np.float64))
        self._report([fit], X)

    def _learn_spread(self, passes: SpreadPasses, samples: SpreadSamples, marks: Landmarks) -> None:
        passes = self._labels_of_spread(passes, samples, signs=len(samples.classes[0]) == 2)
        [loss] = self._trained
        self._finish_spread([self._spread_fit(loss, passes, marks, self._positive("alpha"), self._limits())])

    def _cost(self, outline: Outline, y: Array, tried: Tried) -> Work:
        k = len(np.unique(y))
        loss, some = (Logistic(), np.array([-1.0, 1.0])) if k == 2 else (Multinomial(k), np.arange(k))
        return outlook(loss, some, self.fit_intercept, outline, self.solver, self.tol, tried)

    def predict_proba(self, X: Samples) -> Array:
        """P(class | x) of the model.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or n_samples items
            New samples.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Columns in the order of ``classes_``; rows sum to 1.
        """
        values = self._values(X)
        if len(self.classes_) > 2:
            return Multinomial(len(self.classes_)).mean(values)
        p = Logistic().mean(values[:, 0])
        return np.column_stack([1 - p, p])

    def predict_log_proba(self, X: Samples) -> Array:
        """log P(class | x), without the rounding of P near 0 and 1.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or n_samples items
            New samples.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Columns in the order of ``classes_``.
        """
        values = self._values(X)
        if len(self.classes_) > 2:
            return np.asarray(log_softmax(values, axis=1))
        return -np.logaddexp(0.0, np.column_stack([values[:, 0], -values[:, 0]]))
