"""One-class machines: where most of the data lives, and what lies outside."""

from __future__ import annotations

from dataclasses import KW_ONLY, replace
from typing import Any

import numpy as np
from sklearn.base import OutlierMixin

from mercer.annotations import Estimator, Samples, Targets, Weights
from mercer.arrays import Array
from mercer.data.notices import warn
from mercer.estimators.base import KernelEstimator
from mercer.estimators.machine import SupportVectorMachine, Unsupervised, check_nu, filled
from mercer.estimators.parameters import KernelLike, SolverParameters, estimator
from mercer.estimators.scikit_checks import check_is_fitted
from mercer.estimators.weights import LARGEST_SUM
from mercer.gram import Gram, Outline, Use, Work, held, outlined
from mercer.kernels.vectors.radial import Gaussian
from mercer.problems import DualQP, Solution
from mercer.solvers.dual import Tried, outlook
from mercer.troubles import coded

_NONE = 1e-8  # of the kernel's size: an edge nearer to the origin is not told from it


class Thresholded:
    """Scores, a threshold, and +1 for inside, −1 for outside."""

    offset_: float

    def score_samples(self, X: Samples) -> Array:
        """How far inside each sample is: the larger, the more.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or n_samples items
            New samples.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        raise NotImplementedError

    def decision_function(self, X: Samples) -> Array:
        """``score_samples(X) − offset_``: negative outside.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or n_samples items
            New samples.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        return self.score_samples(X) - self.offset_

    def predict(self, X: Samples) -> Array:
        """+1 inside, −1 outside; on the edge is inside.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or n_samples items
            New samples.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        return np.where(self.decision_function(X) < 0, -1, 1)


def check_contamination(machine: Estimator) -> None:
    if not (isinstance(machine.contamination, int | float | np.number) and 0 <= machine.contamination <= 0.5):
        raise ValueError(
            coded(
                f"{type(machine).__name__}(contamination={machine.contamination!r}): the share to call outliers is"
                " between 0 and 0.5.",
                "M205",
            )
        )


@estimator
class NoveltyMachine(Thresholded, OutlierMixin, Unsupervised, SupportVectorMachine, SolverParameters):  # type: ignore[misc]
    """A region found by a dual quadratic programme."""

    nu: float = 0.1
    kernel: KernelLike = Gaussian()
    _: KW_ONLY
    contamination: float | None = None

    def _linear(self, gram: Gram, total: float) -> Array:
        raise NotImplementedError

    def _edge(self, problem: DualQP, s: Solution, total: float) -> tuple[float, float]:
        """The score on the edge of the region that ν gives, and the solver's gap in units of scores; also sets
        ``intercept_``.
        """
        raise NotImplementedError

    def _check_edge(self, edge: float) -> None:
        """Say so where the region is not one; ``edge`` is the score there over the kernel's size."""

    def _check(self) -> None:
        super()._check()
        check_nu(self)
        if self.contamination is not None:
            check_contamination(self)

    def _weights(self, n: int, sample_weight: Weights) -> Array | None:
        return KernelEstimator._weights(self, n, sample_weight)

    def _learn(self, gram: Gram, y: Targets, weights: Array, X: Samples = None) -> None:
        solver, gram = self._solver(), held(gram, Use.ACTIVE)
        # solved for a multiple of α: bounded by the weights themselves (libsvm's scale), but of a sum that is neither
        # below 1 nor too large for float64 to resolve the tolerance, both over the kernel's size, so that this means
        # the same for any scale of it
        diagonal = np.asarray(gram.diag(), np.float64)
        size_of_values = float(np.mean(np.abs(diagonal))) or 1.0
        bounded = self.nu * float(weights.sum())
        total = min(max(bounded, 1.0), LARGEST_SUM) / size_of_values
        upper = weights * (total / bounded)
        problem = DualQP(self._linear(gram, total), np.zeros(len(weights)), upper, filled(upper, total))
        s = solver.solve(problem, gram)
        self._keep(s.coef[:, None] / total)
        self.n_support_ = np.array([len(self.support_)], np.int32)
        self._report([replace(s, objective=s.objective * size_of_values**2)], X)
        edge, slack = self._edge(problem, s, total)
        # what is on the edge, within the solver's tolerance and rounding, is inside
        rounding = 1e-9 * max(size_of_values, abs(edge))
        # the score on the edge that ν gives, and how far from it is rounding
        self._at_edge, self.offset_ = (edge, rounding), edge - max(slack, rounding)
        self._check_edge(edge / size_of_values)
        if self.contamination is not None:
            inner = np.asarray(gram.sub(slice(None), self.support_) @ self._dual_coef[0])
            scores = self._tied(self._scores(inner, diagonal))
            rounding = 100 * float(np.finfo(gram.dtype).eps) * max(size_of_values, float(np.max(np.abs(scores))))
            self.offset_ = threshold(scores, weights, self.contamination) - rounding

    def _cost(self, outline: Outline, y: Targets, tried: Tried) -> Work:
        matrix, made = outlined(outline, Use.ACTIVE)
        return outlook(matrix, outline.shape[0], tried, usable=False, prepared=True).beside(made.memory, made.seconds)

    _own = False  # whether scores need k(x, x)

    def _scores(self, inner: Array, own: Array) -> Array:
        """Scores from Σ_i α_i k(x, x_i) and, where they need it, k(x, x)."""
        return inner

    def score_samples(self, X: Samples) -> Array:
        """How far inside each sample is: Σ_i α_i k(x, x_i), for ``SVDD`` −‖φ(x) − centre‖².

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or n_samples items
            New samples; with ``kernel="precomputed"`` their matrix with the training samples, which will not do for
            ``SVDD``: it needs k(x, x).

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        inner, own = self._inner(self._accept_new(X), own=self._own)
        return self._tied(self._scores(inner[:, 0], own))

    def _tied(self, scores: Array) -> Array:
        """The scores of samples on the edge, as free support vectors are, made equal: what tells them apart is
        rounding.
        """
        edge, rounding = self._at_edge
        return np.where(np.abs(scores - edge) <= rounding, edge, scores)

    def _is_coarse(self, gram: Gram) -> bool:
        return False  # support vectors lie on the edge itself, where rounding would decide


def threshold(scores: Array, weights: Array, contamination: float, one: float = 1.0) -> float:
    """A threshold below which round(c Σw) of the weight lies, rounded to multiples of ``one``; scores equal to it are
    inside.
    """
    order = np.argsort(scores, kind="stable")
    reject = contamination * float(weights.sum())
    reject = one * round(reject / one) if reject / one < 2**52 else reject
    place = int(np.searchsorted(np.cumsum(weights[order]), reject * (1 + 1e-12), side="right"))
    return float(scores[order[min(place, len(order) - 1)]])


@estimator
class OneClassSVM(NoveltyMachine):
    """min ½ α^T K α, 0 ≤ α_i ≤ w_i/(ν Σw), Σα = 1: half a space away from the origin of feature space that holds most
    of the data.

    Scores are Σ_i α_i k(x, x_i); in units where Σα = 1, so they are means of kernel values, and ``offset_`` is that of
    the edge. Where the origin lies among the data, all scores are 0, and a warning says so.

    Parameters
    ----------
    nu : float, default=0.1
        An upper bound of the share of outliers in training, a lower bound of that of support vectors; above 0, at most
        1.
    contamination : float or None, default=None
        If given, the threshold is set so that this share of the training data, to the nearest sample, is called
        outlier; between 0 and 0.5.
    tol : float, default=1e-3
        The gap to reach: that of the scores times νΣw (at least 1), over the mean of |k(x, x)|. Samples nearer to the
        edge than that are inside.
    max_iter : int or None, default=None
        The most steps of two variables; None: 10⁶ + 1000 n_samples.

    Attributes
    ----------
    offset_ : float
        The threshold of ``score_samples``: what is below is outside.
    n_support_ : ndarray of shape (1,)
        The number of support vectors.
    support_, support_vectors_
    dual_coef_ : array of shape (1, n_support)
        α of the support vectors; their sum is 1. Sparse where X was.
    intercept_ : ndarray of shape (1,)
        0.
    objective_ : float
        The minimum of the dual problem, times max(νΣw, 1)², which is libsvm's scale.
    coef_, function_, gap_, converged_, stop_reason_, n_iter_, kernel_, n_features_in_, feature_names_in_

    See Also
    --------
    SVDD : The smallest ball; the same machine where k(x, x) is constant.
    KernelPCANovelty : Distance from a subspace of principal components.

    References
    ----------
    B. Schölkopf et al., Estimating the support of a high-dimensional distribution, Neural Computation 13 (2001).

    Examples
    --------
    >>> import numpy as np
    >>> import mercer as mc
    >>> X = np.random.default_rng(0).standard_normal((200, 2))
    >>> machine = mc.OneClassSVM(nu=0.05, kernel=mc.Gaussian(0.5)).fit(X)
    >>> machine.predict([[0.0, 0.0], [4.0, 4.0]])
    array([ 1, -1])
    >>> bool((machine.predict(X) < 0).mean() <= 0.05 <= len(machine.support_) / 200)
    True
    """

    def _linear(self, gram: Gram, total: float) -> Array:
        return np.zeros(gram.shape[0])

    def _edge(self, problem: DualQP, s: Solution, total: float) -> tuple[float, float]:
        self.intercept_ = np.zeros(1)
        return -float(s.multipliers[0]) / total, s.gap / total

    def _check_edge(self, edge: float) -> None:
        if edge <= _NONE and self.converged_:
            warn(
                f"OneClassSVM(nu={self.nu:g}): the origin of feature space lies among the data, so w = 0 is optimal,"
                " all scores are 0 and nothing is told apart: take a kernel of positive values such as Gaussian(), or"
                " SVDD, a ball instead of a half-space.",
                "M305",
            )


@estimator
class SVDD(NoveltyMachine):
    """min α^T K α − Σ α_i k_ii, 0 ≤ α_i ≤ C w_i, Σα = 1, C = 1/(ν Σw): the smallest ball in feature space around most
    of the data.

    ``score_samples`` is −‖φ(x) − centre‖², ``offset_`` minus the squared radius. For k(x, x) constant it is the
    one-class SVM. With ``kernel="precomputed"`` new samples cannot be scored, since k(x, x) is not known.

    Parameters
    ----------
    nu : float, default=0.1
        An upper bound of the share of training samples outside the ball, a lower bound of that of support vectors;
        above 0, at most 1.
    contamination : float or None, default=None
        If given, the threshold is set so that this share of the training data, to the nearest sample, is called
        outlier; between 0 and 0.5.
    tol : float, default=1e-3
        The gap to reach: half that of the scores times νΣw (at least 1), over the mean of |k(x, x)|. Samples nearer to
        the edge than that are inside.
    max_iter : int or None, default=None
        The most steps of two variables; None: 10⁶ + 1000 n_samples.

    Attributes
    ----------
    offset_ : float
        Minus the squared radius: what has a smaller score is outside.
    n_support_ : ndarray of shape (1,)
        The number of support vectors.
    support_, support_vectors_
    dual_coef_ : array of shape (1, n_support)
        α of the support vectors, the weights of the centre Σ α_i φ(x_i); their sum is 1. Sparse where X was.
    intercept_ : ndarray of shape (1,)
        Minus ‖centre‖².
    objective_ : float
        Half the minimum of the dual problem, times max(νΣw, 1)².
    function_, gap_, converged_, stop_reason_, n_iter_, kernel_, n_features_in_, feature_names_in_

    See Also
    --------
    OneClassSVM : A half-space instead of a ball.
    KernelPCANovelty : Distance from a subspace of principal components.

    References
    ----------
    D. Tax and R. Duin, Support vector data description, Machine Learning 54 (2004).

    Examples
    --------
    >>> import numpy as np
    >>> import mercer as mc
    >>> X = np.random.default_rng(0).standard_normal((200, 2))
    >>> ball = mc.SVDD(nu=0.05, kernel=mc.Linear()).fit(X)
    >>> centre = ball.dual_coef_ @ ball.support_vectors_
    >>> distance = np.linalg.norm(X - centre, axis=1)
    >>> bool(np.allclose(ball.score_samples(X), -(distance**2)))
    True
    >>> ball.predict([[0.0, 0.0], [4.0, 4.0]]), round((-ball.offset_) ** 0.5, 2)
    (array([ 1, -1]), 2.42)
    """

    @property
    def coef_(self) -> Any:
        """There are none, and asking for them is an AttributeError: the score is a distance, which is not linear in the
        features.
        """
        raise AttributeError(
            coded("The score of SVDD is a distance, which is not linear in the features: there is no coef_.", "M311")
        )

    def _linear(self, gram: Gram, total: float) -> Array:
        return -0.5 * total * np.asarray(gram.diag(), np.float64)

    def _edge(self, problem: DualQP, s: Solution, total: float) -> tuple[float, float]:
        norm = float(s.coef @ (s.gradient - problem.linear)) / total**2  # ‖centre‖²
        self.intercept_ = np.array([-norm])
        return -2 * float(s.multipliers[0]) / total - norm, 2 * s.gap / total

    _own = True

    def _scores(self, inner: Array, own: Array) -> Array:
        return 2 * inner - own + self.intercept_[0]
