"""Recursive feature machines: ridge machines that learn the metric of their kernel."""

from __future__ import annotations

from dataclasses import KW_ONLY

import numpy as np

from mercer.annotations import Samples, Targets
from mercer.arrays import Array
from mercer.estimators.learned_metric import LearnsMetric
from mercer.estimators.machine import Weighted
from mercer.estimators.parameters import ClassWeight, estimator
from mercer.estimators.ridge import Ridge
from mercer.estimators.scored_classes import ScoredClasses
from mercer.estimators.spread import SpreadPasses, SpreadSamples
from mercer.gram import Gram
from mercer.kernels.compose.inputs import mean_and_deviation

_LEAST_PROBABILITY = 1e-3


@estimator
class FeatureMachineRegressor(LearnsMetric, Ridge):  # type: ignore[misc]
    """min Σ_i w_i (y_i − f(x_i))² + λ‖f‖² over f = Σ_i α_i k_M(·, x_i) + b, and M the average of ∇f ∇f^T: kernel ridge
    regression that learns which columns, and which directions, matter (recursive feature machine).

    For tables whose columns matter unequally and together. Starting from M = I, f is fitted, M is replaced by the
    average outer product of its gradients, and so on; kernel, width, λ and round are those of the least error on
    samples held out, so that it is not worse there than the best of the kernels without M. Columns of y share M.

    Parameters
    ----------
    alpha : float or None, default=None
        λ > 0 of the ridge; None: that of the least error held out.

    Attributes
    ----------
    metric_, importances_, kernel_, alpha_, best_round_, validation_error_, history_, n_iter_
    dual_coef_ : ndarray of shape (n_outputs, n_samples)
        α, one row for each output.
    intercept_ : ndarray of shape (n_outputs,)
        b of each output.
    gap_ : float
        The residual of the system of f, as a share of y.
    support_, support_vectors_, function_, converged_, stop_reason_, solver_, n_features_in_
    feature_names_in_

    See Also
    --------
    FeatureMachineClassifier : The same of classes.
    KernelRidge : With a kernel that is given.
    tune : Lengths of columns by the gradient of a criterion.
    MKLRidge : Weights of several kernels.

    Notes
    -----
    With n samples, of which m ≤ ``max_samples`` are used to learn M, and d columns, a round costs m³/3 for each λ and
    width that is tried and 2000·m·d for the gradients; the last f costs n³/3. Memory: two matrices of m × m and one of
    those held out, then what ``KernelRidge`` needs.

    References
    ----------
    A. Radhakrishnan, D. Beaglehole, P. Pandit and M. Belkin (2024). Mechanism for feature learning in neural networks
    and backpropagation-free machine learning models. Science 383.

    Examples
    --------
    One direction of five columns matters:

    >>> import numpy as np
    >>> import mercer as mc
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((300, 5))
    >>> y = np.sin(2 * (X[:, 0] + X[:, 1])) + 0.1 * rng.standard_normal(300)
    >>> machine = mc.FeatureMachineRegressor(kernel=mc.PowerExponential("median", 2.0), random_state=0).fit(X, y)
    >>> np.argsort(machine.importances_)[-2:].tolist() in ([0, 1], [1, 0])
    True
    >>> fresh = rng.standard_normal((200, 5))
    >>> bool(machine.score(fresh, np.sin(2 * (fresh[:, 0] + fresh[:, 1]))) > 0.9)
    True
    """

    def _coded(self, y: Targets, weights: Array) -> tuple[Array, Array]:
        return np.asarray(y, np.float64).reshape(len(y), -1), weights

    def _units(self, Y: Array, weights: Array) -> Array:
        return mean_and_deviation(Y, weights)[1]

    def _learn(self, gram: Gram, y: Targets, weights: Array, X: Samples = None) -> None:
        Y, _ = self._coded(y, weights)
        used = self._fit_ridge(gram, Y, weights, X)
        known = Y if used is None else np.where(np.isin(np.arange(len(Y)), used)[:, None], Y, np.nan)
        self._finish(known if y.ndim > 1 else known[:, 0], self._dual_coef.T, self.intercept_, weights)
        self._parts = [(self.alpha_, used)] * Y.shape[1]


@estimator
class FeatureMachineClassifier(LearnsMetric, ScoredClasses, Weighted):
    """argmax_c f_c(x) of least squares f_c(x) ≈ ±1 with a kernel k_M whose metric is learnt: M is the average of
    Σ_c ∇f_c ∇f_c^T (recursive feature machine).

    ``FeatureMachineRegressor`` of the classes, each coded as 1 where it is and −1 where it is not; of two classes one
    function is fitted. All classes share M.

    Parameters
    ----------
    class_weight : dict, "balanced" or None, default=None
        Weights of classes, by which those of their samples are multiplied; "balanced" gives all classes the same total.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels.
    metric_, importances_, kernel_, alpha_, best_round_, validation_error_, history_, n_iter_
    dual_coef_ : ndarray of shape (n_functions, n_samples)
        α, one row for each class, or one for two.
    intercept_ : ndarray of shape (n_functions,)
        b of each function.
    gap_ : float
        The residual of the system of f, as a share of the right side.
    support_, support_vectors_, function_, converged_, stop_reason_, solver_, n_features_in_
    feature_names_in_

    See Also
    --------
    FeatureMachineRegressor : The same of numbers; what a fit costs.
    SVC : With a kernel that is given.

    Examples
    --------
    >>> import numpy as np
    >>> import mercer as mc
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((300, 6))
    >>> y = X[:, 0] * X[:, 1] > 0
    >>> machine = mc.FeatureMachineClassifier(kernel=mc.PowerExponential("median", 1.4), random_state=0).fit(X, y)
    >>> bool(machine.importances_[:2].sum() > 0.8)
    True
    >>> machine.predict([[1.0, 1.0, 0, 0, 0, 0], [1.0, -1.0, 0, 0, 0, 0]])
    array([ True, False])
    """

    _: KW_ONLY
    class_weight: ClassWeight = None

    def _coded(self, y: Targets, weights: Array) -> tuple[Array, Array]:
        codes, weights = self._labels(y, weights)
        return self._signs(codes), weights

    def _learn(self, gram: Gram, y: Targets, weights: Array, X: Samples = None) -> None:
        Y, weights = self._coded(y, weights)
        self._fit_ridge(gram, Y, weights, X)

    def _spread_targets(self, passes: SpreadPasses, samples: SpreadSamples) -> tuple[SpreadPasses, int | None]:
        found = self._labels_of_spread(passes, samples, signs=True)
        return found, None if len(self.classes_) == 2 else len(self.classes_)

    def predict_proba(self, X: Samples) -> Array:
        """(1 + f(x))/2, which least squares estimate the probability by, kept within 0…1.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            New samples.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Probabilities, none of them 0; each row has the sum 1.
        """
        values = self._values(X)
        share = np.clip((1 + values) / 2, _LEAST_PROBABILITY, 1 - _LEAST_PROBABILITY)
        share = np.column_stack([1 - share, share]) if len(self.classes_) == 2 else share
        return share / share.sum(axis=1, keepdims=True)
