"""Multiple kernel learning: machines that learn the weights of a sum of kernels together with themselves."""

from __future__ import annotations

from dataclasses import KW_ONLY

import numpy as np

from mercer.annotations import Targets
from mercer.arrays import Array
from mercer.estimators.kernel_weights import LearnsWeights
from mercer.estimators.machine import filled
from mercer.estimators.novelty import OneClassSVM
from mercer.estimators.parameters import estimator
from mercer.estimators.ridge import KernelRidge
from mercer.estimators.svm import SVC
from mercer.estimators.svr import SVR
from mercer.estimators.weights import LARGEST_SUM
from mercer.gram import Gram
from mercer.problems import DualQP, LinearSystem
from mercer.solvers.kernel_weights import InnerProblem, SquaredErrors, SupportVectors
from mercer.troubles import coded


@estimator
class MKLClassifier(LearnsWeights, SVC):  # type: ignore[misc]
    """min over β ≥ 0, ‖β‖_p ≤ 1 and f_m of ½ Σ_m ‖f_m‖²/β_m + Σ_i C w_i max(0, 1 − y_i f(x_i)), f = Σ_m f_m + b: a
    support vector machine that chooses among kernels.

    Weights, and the machine for them, are found together and certified: each round measures how far the objective is
    from the optimum. Of several classes all pairs share the weights. With ``weighting="average"`` it is ``SVC`` over
    the sum of normalised kernels.

    Parameters
    ----------
    C : float, default=1.0
        The weight of errors, finite.
    probability : bool, default=False
        Whether to fit what ``predict_proba`` needs.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    n_support_ : ndarray of shape (n_classes,)
        The number of support vectors of each class.
    weights_, kernel_names_, kernels_, kernel_, objective_, gap_, history_, n_iter_
    support_, support_vectors_, dual_coef_, intercept_, function_, converged_, stop_reason_, n_features_in_
    feature_names_in_

    See Also
    --------
    SVC : One kernel.
    MKLRegressor, MKLRidge, MKLOneClass : The same for numbers, and without targets.
    tune : Parameters inside a kernel, by the gradient of a criterion.

    References
    ----------
    A. Rakotomamonjy et al., SimpleMKL, JMLR 9 (2008). M. Kloft et al., lp-norm multiple kernel learning, JMLR 12
    (2011). O. Chapelle and A. Rakotomamonjy, Second order optimization of kernel parameters (2008).

    Examples
    --------
    >>> import numpy as np
    >>> import mercer as mc
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((200, 3))
    >>> y = X[:, 0] ** 2 + X[:, 1] > 1
    >>> kernels = {f"column {j}": mc.Gaussian(1.0).on(j) for j in range(3)}
    >>> machine = mc.MKLClassifier(C=1.0, kernel=kernels).fit(X, y)
    >>> dict(zip(machine.kernel_names_, machine.weights_.round(2).tolist()))
    {'column 0': 0.47, 'column 1': 0.53, 'column 2': 0.0}
    >>> bool(machine.gap_ <= 1e-4)
    True
    """

    def _inner_problem(self, gram: Gram, y: Targets, weights: Array) -> InnerProblem:
        self._positive("C")
        codes, bounds = self._labels(y, weights)
        parts = self._parts(codes, self._bounds(bounds), gram)
        return SupportVectors([self._problem(p) for p in parts], [p.samples for p in parts], self._solver(), self.tol)

    def _repetitions(self, y: Targets, weights: Array) -> Array:
        return self._labels(y, weights)[1]

    def _target_features(self, y: Targets) -> Array:
        codes, _ = self._labels(y, np.ones(len(y)))
        return np.eye(len(self.classes_))[codes]


@estimator
class MKLRegressor(LearnsWeights, SVR):
    """min over β ≥ 0, ‖β‖_p ≤ 1 and f_m of ½ Σ_m ‖f_m‖²/β_m + Σ_i C w_i max(0, |y_i − f(x_i)| − ε): support vector
    regression that chooses among kernels.

    y may have several columns; they share the weights.

    Parameters
    ----------
    C : float, default=1.0
        The weight of errors.
    epsilon : float, default=0.1
        Errors up to ε are free.

    Attributes
    ----------
    weights_, kernel_names_, kernels_, kernel_, objective_, gap_, history_, n_iter_
    support_, support_vectors_, dual_coef_, intercept_, function_, converged_, stop_reason_, n_features_in_
    feature_names_in_

    See Also
    --------
    SVR : One kernel.
    MKLRidge : Squared errors.
    MKLClassifier : Labels, and more about the weights.

    Examples
    --------
    >>> import numpy as np
    >>> import mercer as mc
    >>> X = np.random.default_rng(0).uniform(-3, 3, (150, 2))
    >>> y = np.sin(X[:, 0])
    >>> machine = mc.MKLRegressor(C=10.0, kernel=[mc.Gaussian(1.0).on(0), mc.Gaussian(1.0).on(1)]).fit(X, y)
    >>> machine.weights_.round(2)
    array([1., 0.])
    """

    def _inner_problem(self, gram: Gram, y: Targets, weights: Array) -> InnerProblem:
        self._feasible()
        targets = self._target_features(y)
        problems = [self._dual(target, self._positive("C") * weights) for target in targets.T]
        return SupportVectors(problems, [None] * len(problems), self._solver(), self.tol)


@estimator
class MKLRidge(LearnsWeights, KernelRidge):
    """min over β ≥ 0, ‖β‖_p ≤ 1 and f_m of Σ_i w_i (y_i − f(x_i))² + λ Σ_m ‖f_m‖²/β_m: ridge regression that chooses
    among kernels.

    y may have several columns; they share the weights.

    Parameters
    ----------
    alpha : float, default=1.0
        λ, above 0.
    solver : {"auto", "cholesky", "woodbury", "cg", "eigen"}, default="auto"
        How the machine for the learnt weights is solved.

    Attributes
    ----------
    weights_, kernel_names_, kernels_, kernel_, objective_, gap_, history_, n_iter_
    signal_variance_ : ndarray of shape (n_outputs,)
        As of ``KernelRidge``.
    support_, support_vectors_, dual_coef_, intercept_, function_, converged_, stop_reason_, solver_, n_features_in_
    feature_names_in_

    See Also
    --------
    KernelRidge : One kernel.
    MKLRegressor : Errors up to ε are free.
    MKLClassifier : Labels, and more about the weights.

    Examples
    --------
    >>> import numpy as np
    >>> import mercer as mc
    >>> X = np.random.default_rng(0).uniform(-3, 3, (150, 2))
    >>> y = np.sin(X[:, 0])
    >>> machine = mc.MKLRidge(alpha=0.1, kernel=[mc.Gaussian(1.0).on(0), mc.Gaussian(1.0).on(1)]).fit(X, y)
    >>> machine.weights_.round(2), round(machine.score(X, y), 3)
    (array([1., 0.]), 1.0)
    """

    on_interrupt = "raise"
    _: KW_ONLY
    max_time: float | None = None  # type: ignore[assignment]

    @property
    def _residual(self) -> float:
        return 1e-8

    def _in_its_units(self, objective: float) -> float:
        return 2 * float(self.alpha) * objective

    def _inner_problem(self, gram: Gram, y: Targets, weights: Array) -> InnerProblem:
        if np.ndim(self.alpha):
            raise ValueError(
                coded(f"MKLRidge(alpha={self.alpha!r}): all outputs share the weights, so alpha is one number.", "M205")
            )
        if np.isnan(y).any():
            raise ValueError(
                coded("MKLRidge: all outputs share the weights, so every label must be there; y has NaN.", "M112")
            )
        targets = self._target_features(y)
        return SquaredErrors(LinearSystem(targets, weights, self._positive("alpha"), self.fit_intercept), self.tol)


@estimator
class MKLOneClass(LearnsWeights, OneClassSVM):
    """max over β ≥ 0, ‖β‖_p ≤ 1 of min over α of ½ Σ_m β_m α^T K_m α, 0 ≤ α_i ≤ w_i, Σα = max(νΣw, 1): novelty
    detection that chooses among kernels, for the largest margin.

    Parameters
    ----------
    nu : float, default=0.1
        The share of outliers, as of ``OneClassSVM``.
    contamination : float or None, default=None
        If given, the share of training samples to be called outliers.

    Attributes
    ----------
    offset_ : float
        The threshold of ``score_samples``.
    weights_, kernel_names_, kernels_, kernel_, objective_, gap_, history_, n_iter_
    support_, support_vectors_, dual_coef_, intercept_, function_, converged_, stop_reason_, n_features_in_
    feature_names_in_

    See Also
    --------
    OneClassSVM : One kernel.
    MKLClassifier : Labels, and more about the weights.

    Examples
    --------
    >>> import numpy as np
    >>> import mercer as mc
    >>> X = np.random.default_rng(0).standard_normal((200, 2))
    >>> machine = mc.MKLOneClass(nu=0.05, kernel=[mc.Gaussian(0.1), mc.Gaussian(1.0)], normalize="trace").fit(X)
    >>> machine.predict([[0.0, 0.0], [5.0, 5.0]]), bool(machine.gap_ <= 1e-4)
    (array([ 1, -1]), True)
    """

    def _inner_problem(self, gram: Gram, y: Targets, weights: Array) -> InnerProblem:
        bounded = self.nu * float(weights.sum())
        total = min(max(bounded, 1.0), LARGEST_SUM)
        upper = weights * (total / bounded)
        problem = DualQP(np.zeros(len(upper)), np.zeros(len(upper)), upper, filled(upper, total))
        return SupportVectors([problem], [None], self._solver(), self.tol)

    def _target_features(self, y: Targets) -> Array:
        raise ValueError(
            coded("weighting='alignment' compares kernels with the targets, and MKLOneClass has none.", "M217")
        )

    def _in_its_units(self, objective: float) -> float:
        return -objective  # ½ α^T K α, which is made large
