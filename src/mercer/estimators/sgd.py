"""Stochastic gradients in the space of a kernel, any loss, inside a budget: one file, classes and numbers alike.

The two machines differ in their targets alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import KW_ONLY
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.metaestimators import available_if

from mercer.annotations import Estimator, RandomState, Samples, Targets, Weights
from mercer.arrays import Array
from mercer.compute import Compute
from mercer.estimators.all_or_nothing import all_or_nothing
from mercer.estimators.callbacks import watched, with_callbacks
from mercer.estimators.checks import check_whole
from mercer.estimators.parameters import KernelLike, Progress, estimator
from mercer.estimators.scikit_checks import check_classification_targets
from mercer.estimators.scored_classes import ScoredClasses
from mercer.estimators.streams import StreamLearner
from mercer.gram import Gram
from mercer.kernels.vectors.radial import Gaussian
from mercer.losses import Hinge, Logistic, Loss, Multinomial, Poisson, Squared
from mercer.runtime.randomness import drawn_from
from mercer.solvers.gradient_steps import REMOVALS, STEPS, Rule
from mercer.solvers.streams import Stream, as_rule
from mercer.troubles import coded


@estimator
class _Steps:
    """What machines of stochastic gradients share."""

    loss: Loss | None = None
    alpha: float = 1e-4
    kernel: KernelLike = Gaussian()
    _: KW_ONLY
    budget: int = 200
    removal: str = "project"
    step: str = "inverse"
    eta0: float | None = None
    average: bool = False
    fit_intercept: bool = True
    max_iter: int = 10
    random_state: RandomState = None
    max_time: float | None = None
    progress: Progress | None = None
    on_interrupt: str = "raise"
    compute: Compute | None = None

    _described: ClassVar[dict[str, str]] = {
        "alpha": """float, default=1e-4
        λ ≥ 0, for each sample: ``alpha`` of ``RepresenterMachine`` is n_samples·λ.""",
        "budget": """int, default=200
        The most samples that are kept.""",
        "removal": """{"project", "oldest", "smallest"}, default="project"
        Which sample goes where there would be more than ``budget``. "project": the one whose projection onto the span
        of the others, which is put in its place, leaves the least; budget² for each step that moves f. "oldest": the
        one that was given weight the longest ago. "smallest": that of the smallest ‖a‖√k(x, x), the new one excepted.
        Both cost budget.""",
        "step": """{"inverse", "sqrt", "constant"}, default="inverse"
        η_t of the t-th sample: min(η0, 1/(2λt)) (Pegasos, which is η0 = inf), η0/√t (NORMA), or η0.""",
        "eta0": """float or None, default=None
        η0; None: 1/(L R²), R² the largest k(x, x) so far (plus 1 with ``fit_intercept``), L = 2 for losses of squares,
        max(1, y, e^f) for Poisson's, 1 for others; a weight then lengthens no step beyond that where L > 1.""",
        "average": """bool, default=False
        Whether to predict with the average of f over all steps.""",
        "fit_intercept": """bool, default=True
        Whether to fit the bias b. It is learnt and penalised as f is: the same as the kernel k + 1.""",
        "max_iter": """int, default=10
        How often ``fit`` passes the samples.""",
        "random_state": """int, RandomState, Generator or None, default=None
        Of the order of the samples in each pass of ``fit``; ``partial_fit`` takes them as they come.""",
    }


class GradientStream(StreamLearner):
    """Stochastic gradients: the rule, from the parameters."""

    loss: Loss | None
    alpha: float
    removal: str
    step: str
    eta0: float | None
    average: bool
    fit_intercept: bool
    random_state: RandomState
    _stream: Stream
    _trained: Loss  # the loss that is used, in the form for that many classes

    def _check(self) -> None:
        super()._check()
        check_whole(self, "max_iter")
        name = type(self).__name__
        for parameter, known in (("removal", REMOVALS), ("step", STEPS)):
            if getattr(self, parameter) not in known:
                raise ValueError(
                    coded(f"{name}({parameter}={getattr(self, parameter)!r}): one of {', '.join(known)}.", "M205")
                )
        for parameter in ("alpha", "eta0"):
            value = getattr(self, parameter)
            number = isinstance(value, int | float | np.number) and value >= 0 and not np.isnan(value)
            if not (number or (parameter == "eta0" and value is None)) or (parameter == "eta0" and value == 0):
                raise ValueError(
                    coded(f"{name}({parameter}={value!r}): a number of at least 0, eta0 more than that.", "M205")
                )
        if self.step == "inverse" and not self.alpha > 0:
            raise ValueError(
                coded(f"{name}(step='inverse', alpha={self.alpha!r}): steps 1/(2λt) are of a positive alpha.", "M205")
            )
        if self.step != "inverse" and self.eta0 is not None and not np.isfinite(self.eta0):
            raise ValueError(
                coded(f"{name}(eta0={self.eta0!r}): only step='inverse' has steps that are finite without it.", "M205")
            )
        if self.loss is not None and not isinstance(self.loss, Loss):
            raise TypeError(
                coded(
                    f"loss={self.loss!r}: give a loss such as mercer.losses.Huber(1.0), or a subclass of"
                    " mercer.losses.Loss.",
                    "M205",
                )
            )

    def _rule(self) -> Rule:
        return as_rule(
            self._trained, self.alpha, self.step, self.eta0, self.budget, self.removal, self.average,
            self.fit_intercept, self._n_classes,
        )  # fmt: skip

    @property
    def _n_classes(self) -> int:
        return 0

    def _taking_in(self, gram: Gram, y: Array, weights: Array, order: Array) -> Iterable[int]:
        return self._stream.pass_over(gram, order, y, weights, self._rule(), self._trained)

    def _passed_shuffled(self, gram: Gram, targets: Array, weights: Array) -> None:
        rng, n = drawn_from(self.random_state), len(targets)
        self._passed(gram, targets, weights, (rng.permutation(n) for _ in range(self.max_iter)))

    def _publish(self) -> None:
        coef, bias = self._stream.function(self.average)
        self.dual_coef_, self.intercept_ = np.ascontiguousarray(coef.T), bias
        self.removal_error_ = self._stream.removed


@estimator
class KernelSGDRegressor(RegressorMixin, GradientStream, _Steps):  # type: ignore[misc]
    """min mean_i w_i ℓ(y_i, f(x_i)) + λ(‖f‖² + b²) by a step for each sample, of a stream or of data passed again and
    again.

    f ← (1 − 2ηλ) f − η w ℓ′(y, f(x)) k(x, ·), and b likewise (NORMA, Pegasos). At most ``budget`` samples are kept, so
    that memory does not grow; see ``removal``. A block given to ``partial_fit`` is what its samples are one by one,
    but for rounding; the values of the kernel are computed for all of it at once.

    Parameters
    ----------
    loss : Loss or None, default=None
        A ``mercer.losses.Loss``; None: ``Squared()``. One of your own is a subclass with ``value`` and ``gradient``; it
        is asked sample by sample, which costs more.

    Attributes
    ----------
    n_samples_seen_, removal_error_, support_, support_vectors_, dual_coef_, intercept_, coef_, function_, converged_
    stop_reason_, n_iter_, kernel_, n_features_in_, feature_names_in_

    See Also
    --------
    KernelRLS : The squared loss, solved anew with each sample.
    RepresenterMachine : The optimum, of samples that are at hand.

    References
    ----------
    J. Kivinen, A. J. Smola and R. C. Williamson, Online learning with kernels, IEEE TSP 52 (2004).

    F. Orabona, J. Keshet and B. Caputo, Bounded kernel-based online learning, JMLR 10 (2009).

    Examples
    --------
    >>> import numpy as np
    >>> import mercer as mc
    >>> from mercer.losses import Huber
    >>> rng = np.random.default_rng(0)
    >>> stream = mc.KernelSGDRegressor(Huber(0.5), kernel=mc.Gaussian(1.0), budget=50, average=True)
    >>> for _ in range(100):
    ...     X = rng.uniform(-3, 3, (50, 1))
    ...     _ = stream.partial_fit(X, np.sin(X[:, 0]) + 0.1 * rng.standard_normal(50))
    >>> stream.n_samples_seen_, len(stream.support_) <= 50
    (5000, True)
    >>> stream.predict([[0.0], [1.5]]).round(1) + 0.0
    array([0., 1.])
    """

    _targets: ClassVar[dict[str, bool]] = {"y_numeric": True}

    @property
    def _one(self) -> bool:
        return True

    @with_callbacks
    def fit(self, X: Samples, y: Targets, sample_weight: Weights = None) -> Self:
        """Start anew with these samples, passed ``max_iter`` times in random orders.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or n_samples items
            Samples of the kind that the kernel compares. With ``kernel="precomputed"`` their matrix.
        y : array-like of shape (n_samples,)
            The target of each.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            Factors of the steps; 0 leaves a sample out. A step of twice the length is not two steps, nor are two
            shuffled samples: in the limit of small steps a weight is a repetition.

        Returns
        -------
        self
        """
        self.__dict__.pop("_stream", None)
        return self._fitted(X, y, sample_weight)

    @all_or_nothing
    @watched
    def partial_fit(self, X: Samples, y: Targets, sample_weight: Weights = None) -> Self:
        """Go on with more samples, in their order. What a kernel takes from data is fixed by the first call.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or n_samples items
            The next samples of the stream.
        y : array-like of shape (n_samples,)
            The target of each.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            Factors of the steps; 0 leaves a sample out.

        Returns
        -------
        self
        """
        X, y = self._entering(X, y)
        self._check()
        y = np.asarray(y, np.float64)
        # counts may be 0 for a while
        self._choose_loss(np.append(y, 1.0) if isinstance(self.loss, Poisson) else y)
        return self._continued(X, y, sample_weight, Stream.empty(1))

    def _choose_loss(self, y: Array) -> None:
        self._trained = self.loss or Squared()
        self._trained.check(y)
        if self._trained.outputs(y):
            raise ValueError(coded(f"{self._trained} is of classes: KernelSGDClassifier learns them.", "M316"))

    def _learn(self, gram: Gram, y: Array, weights: Array, X: Samples = None) -> None:
        self._choose_loss(y)
        self._stream = Stream.empty(1)
        self._passed_shuffled(gram, y, weights)

    def predict(self, X: Samples) -> Array:
        """What the loss predicts for each sample.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or n_samples items
            New samples.

        Returns
        -------
        ndarray of shape (n_samples,)
            ``loss.mean(f(x))``: f(x) itself for most losses, e^f(x) for Poisson's.
        """
        values = self._values(X)
        return self._trained.mean(values[:, 0])


def _has_probabilities(machine: Estimator) -> bool:
    if not isinstance(machine.loss, Logistic | Multinomial):
        raise AttributeError(
            coded(f"Probabilities are of loss=Logistic(); the loss is {machine.loss or Hinge()}.", "M311")
        )
    return True


@estimator
class KernelSGDClassifier(ScoredClasses, GradientStream, _Steps):
    """min mean_i w_i ℓ(y_i f(x_i)) + λ(‖f‖² + b²) by a step for each sample, of a stream or of data passed again and
    again.

    f ← (1 − 2ηλ) f − η w ℓ′(y, f(x)) k(x, ·), and b likewise (NORMA, Pegasos). At most ``budget`` samples are kept, so
    that memory does not grow; see ``removal``. A block given to ``partial_fit`` is what its samples are one by one,
    but for rounding; the values of the kernel are computed for all of it at once. Of more than two classes each has a
    function, over samples in common: one against the rest, but with ``Logistic()`` the multinomial loss of them all.

    ``loss=Perceptron(), alpha=0, step="constant", eta0=1`` is the kernel perceptron. If ‖φ(x)‖ ≤ R and some f of norm 1
    has y f(x) ≥ ρ on all samples, then ``n_mistakes_`` ≤ (R/ρ)², however long the stream is (without a bias, and with
    room for the mistakes).

    Parameters
    ----------
    loss : Loss or None, default=None
        A ``mercer.losses.Loss`` of ±1 labels; None: ``Hinge()``. One of your own is a subclass with ``value`` and
        ``gradient``; it is asked sample by sample, which costs more.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    n_mistakes_ : int
        How many samples f had on the wrong side, or on none, when they came.
    n_samples_seen_, removal_error_, support_, support_vectors_, dual_coef_, intercept_, coef_, function_, converged_
    stop_reason_, n_iter_, kernel_, n_features_in_, feature_names_in_

    See Also
    --------
    SVC, KernelLogistic : The optimum, of samples that are at hand.

    References
    ----------
    J. Kivinen, A. J. Smola and R. C. Williamson, Online learning with kernels, IEEE TSP 52 (2004).

    S. Shalev-Shwartz, Y. Singer, N. Srebro and A. Cotter, Pegasos, Mathematical Programming 127 (2011).

    Z. Wang, K. Crammer and S. Vucetic, Breaking the curse of kernelization, JMLR 13 (2012).

    Examples
    --------
    >>> import mercer as mc
    >>> from sklearn.datasets import make_moons
    >>> X, y = make_moons(4000, noise=0.2, random_state=0)
    >>> stream = mc.KernelSGDClassifier(kernel=mc.Gaussian(2.0), budget=50)
    >>> for start in range(0, 3000, 500):
    ...     _ = stream.partial_fit(X[start : start + 500], y[start : start + 500], classes=[0, 1])
    >>> stream.score(X[3000:], y[3000:]) > 0.95, len(stream.support_) <= 50
    (True, True)

    The kernel perceptron, on strings:

    >>> from mercer.losses import Perceptron
    >>> words, tongues = ["banana", "bandana", "kernel", "colonel"] * 5, ["a", "a", "b", "b"] * 5
    >>> perceptron = mc.KernelSGDClassifier(Perceptron(), 0.0, mc.Spectrum(2), step="constant", eta0=1.0)
    >>> perceptron.partial_fit(words, tongues, classes=["a", "b"]).n_mistakes_
    2
    """

    @with_callbacks
    def fit(self, X: Samples, y: Targets, sample_weight: Weights = None) -> Self:
        """Start anew with these samples, passed ``max_iter`` times in random orders.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or n_samples items
            Samples of the kind that the kernel compares. With ``kernel="precomputed"`` their matrix.
        y : array-like of shape (n_samples,)
            The label of each.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            Factors of the steps; 0 leaves a sample out. A step of twice the length is not two steps, nor are two
            shuffled samples: in the limit of small steps a weight is a repetition.

        Returns
        -------
        self
        """
        self.__dict__.pop("_stream", None)
        return self._fitted(X, y, sample_weight)

    @all_or_nothing
    @watched
    def partial_fit(
        self, X: Samples, y: Targets, classes: Sequence[Any] | Array | None = None, sample_weight: Weights = None
    ) -> Self:
        """Go on with more samples, in their order. What a kernel takes from data is fixed by the first call.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or n_samples items
            The next samples of the stream.
        y : array-like of shape (n_samples,)
            The label of each.
        classes : array-like of shape (n_classes,) or None, default=None
            All labels that will come; to be given in the first call.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            Factors of the steps; 0 leaves a sample out.

        Returns
        -------
        self
        """
        X, y = self._entering(X, y)
        check_classification_targets(y)
        self._check()
        if not self._begun:
            if classes is None:
                raise ValueError(
                    coded("classes must be passed on the first call to partial_fit: all labels that will come.", "M112")
                )
            self.classes_ = np.unique(np.asarray(classes))
            if len(self.classes_) < 2:
                raise ValueError(coded(f"classes={classes!r}: a classifier is of at least 2 classes.", "M113"))
        elif classes is not None and not np.array_equal(self.classes_, np.unique(np.asarray(classes))):
            raise ValueError(coded(f"classes={classes!r}: the stream began with {self.classes_.tolist()}.", "M205"))
        codes: Array = np.searchsorted(self.classes_, np.asarray(y))
        known = self.classes_[np.minimum(codes, len(self.classes_) - 1)] == y
        if not np.all(known):
            raise ValueError(
                coded(
                    f"y has the label {y[int(np.argmin(known))]}, which is not among the classes"
                    f" {self.classes_.tolist()} that the first call was given.",
                    "M314",
                )
            )
        targets = self._as_targets(codes)
        return self._continued(X, targets, sample_weight, Stream.empty(self._n_functions))

    @property
    def _n_classes(self) -> int:
        return len(self.classes_)

    @property
    def _n_functions(self) -> int:
        return 1 if self._n_classes == 2 else self._n_classes

    def _as_targets(self, codes: Array) -> Array:
        """±1, or the numbers of classes as they are; and the loss of them."""
        several = self._n_classes > 2
        targets = codes.astype(np.float64) if several else np.where(codes == 1, 1.0, -1.0)
        loss = self.loss or Hinge()
        loss = Multinomial(self._n_classes) if several and isinstance(loss, Logistic) else loss
        outputs = loss.outputs(codes)
        if outputs and not (isinstance(loss, Multinomial) and several and outputs == self._n_classes):
            raise ValueError(
                coded(
                    f"{loss} is not of {self._n_classes} classes; Logistic() is of any number of them, several being"
                    " its multinomial form.",
                    "M316",
                )
            )
        if not outputs:
            loss.check(np.array([-1.0, 1.0]))
        self._trained = loss
        return targets

    def _learn(self, gram: Gram, y: Array, weights: Array, X: Samples = None) -> None:
        codes, weights = self._labels(y, weights)
        targets = self._as_targets(codes)
        self._stream = Stream.empty(self._n_functions)
        self._passed_shuffled(gram, targets, weights)

    def _publish(self) -> None:
        super()._publish()
        self.n_mistakes_ = self._stream.mistakes

    def _values(self, X: Samples) -> Array:
        values = super()._values(X)  # before the first step there is one function, 0
        return values if values.shape[1] == self._n_functions else np.tile(values, self._n_functions)

    @available_if(_has_probabilities)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Samples) -> Array:
        """P(class | x) of the logistic loss, σ(f) or the softmax; other losses have none.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or n_samples items
            New samples.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Columns in the order of ``classes_``; rows sum to 1.
        """
        values = self.decision_function(X)
        if values.ndim == 2:
            return Multinomial(self._n_classes).mean(values)
        p = Logistic().mean(values)
        return np.column_stack([1 - p, p])
