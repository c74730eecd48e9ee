"""Classes by functions: one for two classes, positive for the second; one for each class where there are more."""

from __future__ import annotations

import numpy as np

from mercer.annotations import Samples
from mercer.arrays import Array
from mercer.estimators.machine import LabelLearner


class ScoredClasses(LabelLearner):
    """The class of the largest f_c(x), or by the sign of f(x) where there are two."""

    def _signs(self, codes: Array) -> Array:
        """±1 for each class and sample, of shape (n_samples, n_functions): what least squares fit."""
        signs = np.where(codes[:, None] == np.arange(len(self.classes_)), 1.0, -1.0)
        return signs[:, 1:] if len(self.classes_) == 2 else signs

    def decision_function(self, X: Samples) -> Array:
        """f(x), positive for ``classes_[1]``, where there are two classes; f_c(x) of each where there are more.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or n_samples items
            New samples; with ``kernel="precomputed"`` their matrix with the training samples.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            The largest, or the sign, is the prediction.
        """
        values = self._values(X)
        return values[:, 0] if len(self.classes_) == 2 else values

    def predict(self, X: Samples) -> Array:
        """The class of each sample, the one with the largest ``decision_function``.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or n_samples items
            New samples; with ``kernel="precomputed"`` their matrix with the training samples.

        Returns
        -------
        ndarray of shape (n_samples,)
            Labels out of ``classes_``.
        """
        values = self.decision_function(X)
        return self.classes_[(values > 0).astype(int) if values.ndim == 1 else np.argmax(values, axis=1)]
