"""Canonical correlation of two views, each seen through a kernel: one file, since the views are of no other use."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin

from mercer.annotations import RandomState, Samples, Targets, Weights
from mercer.arrays import Array
from mercer.compute import Compute, human
from mercer.data import size
from mercer.data.notices import warn
from mercer.estimators.all_or_nothing import all_or_nothing
from mercer.estimators.checks import check_whole
from mercer.estimators.kernel_components import Components
from mercer.estimators.machine import KernelMachine
from mercer.estimators.parameters import KernelLike, WithKernels, estimator
from mercer.estimators.scikit_checks import check_is_fitted, check_n_features
from mercer.estimators.weights import NEGLIGIBLE, checked, relative
from mercer.gram import Gram
from mercer.hypotheses.permutations import aggregated, check_permutations
from mercer.hypotheses.result import Outcome
from mercer.kernels.base import Kernel
from mercer.kernels.vectors.radial import Gaussian
from mercer.runtime.randomness import drawn_from
from mercer.solvers.correlation import Spectra, canonical, choose_reg, correlations, largest_values
from mercer.solvers.incomplete import Incomplete, incomplete_cholesky
from mercer.troubles import coded

_WHOLE = 2000  # items whose matrix is decomposed; beyond, an incomplete factor
_RANK = 500  # its columns
_COPIES = 10  # of such a factor that are there at the same time: of both views, centred, orthonormal, and in the folds
_FEW = 300  # components with which regularisations are compared
_TESTED = 100  # and permutations
_INDEFINITE = 1e-5  # of the largest k(x, x): beyond what rounding makes of a kernel's matrix
_HUGE = 1e200  # a γ beside which any matrix is nothing
_GRID = tuple(10.0 ** np.arange(-5, 0.5, 0.5))  # of the trace


class Column(KernelMachine):
    """A view. One of vectors may, where ``single``, be given as one number for each item."""

    _needs_psd = False  # its negative eigenvalues are counted, or its factor looked at
    single = True
    column_ = False  # whether it was

    def _accept(self, X: Samples, y: Targets = "no_validation", *, reset: bool, **options: Any) -> Any:
        if (
            self.single
            and self._of_vectors
            and not sparse.issparse(X)
            and (hasattr(X, "__array__") or isinstance(X, list | tuple))
        ):
            values = np.asarray(X)
            one = values.ndim == 1 and len(values) > 0
            X = values.reshape(-1, 1) if one else X
            self.column_ = one if reset else self.column_
        return super()._accept(X, y, reset=reset, **options)

    def _keep_pivots(self, found: Incomplete, V: Array, bias: Array) -> None:
        """The functions g(x) V + bias of an incomplete factor g, which need its pivots alone."""
        if found.indefinite > _INDEFINITE:
            warn(
                f"The matrix of {'a view' if self.kernel_ is None else self.kernel_} is not positive semi-definite on"
                f" these data, so it is of no kernel: k(x, z)² exceeds k(x, x)k(z, z) by {found.indefinite:.2g} of the"
                " largest k(x, x), in what the factor leaves over. What is found has no meaning in a feature space;"
                " use a kernel that is (psd is True), or kernel.repaired('clip').",
                "M209",
            )
        self.support_, self.dual_coef_, self.intercept_ = found.pivots, found.coefficients(V).T, bias


class View(Column, Components):
    """One view: all principal components of its matrix, or of an incomplete factor of ``rank`` columns, and functions
    made of them.
    """

    _called = "A view to correlate"

    def __init__(
        self,
        kernel: Kernel | str | None = None,
        *,
        single: bool = False,
        rank: int | None = None,
        compute: Compute | None = None,
    ) -> None:
        self.kernel, self.single, self.rank, self.compute = kernel, single, rank, compute
        self.n_components, self.solver, self.random_state, self.tol, self.progress = None, "auto", 0, None, None

    def seen(self, X: Samples, sample_weight: Weights = None, expected: int | None = None) -> Self:
        """Fitted to X; ``expected``: the number of samples of the other view."""
        X = self._accept(X, reset=True)
        n = size(X)
        if expected is not None and n != expected:
            raise ValueError(
                coded(
                    f"Found input variables with inconsistent numbers of samples: {expected} of X and {n} of Y.", "M111"
                )
            )
        if n < 2:
            raise ValueError(coded(f"Canonical correlation needs at least two samples, got n_samples={n}.", "M310"))
        if self.rank is not None:
            check_whole(self, "rank")
        given, self.scale_ = relative(checked(sample_weight, n), NEGLIGIBLE)
        part, _, weights, original = self._without_zeros(X, None, given)
        if len(original) < 2:
            raise ValueError(coded("Canonical correlation needs at least two samples of positive weight.", "M114"))
        self.n_given_, self.items_, self.weights_ = n, part, None if sample_weight is None else weights
        gram = self._matrix(part, weights)
        if self.rank is None and (len(original) <= _WHOLE or gram.features() is not None):
            self._learn(gram, None, weights)
            self.spectra_ = Spectra(self.eigenvalues_, self.eigenvectors_, self.weights_)
        else:
            found = incomplete_cholesky(gram, self._affordable_rank(gram))
            if not len(found.pivots):
                raise ValueError(
                    coded("The kernel is 0 for all samples of a view, so there is nothing to correlate.", "M214")
                )
            self.spectra_, V, mean = Spectra.of(found.factor, self.weights_)
            self._keep_pivots(found, V, -(mean @ V))
        if not self.spectra_.rank:
            raise ValueError(
                coded("All samples of a view are the same to its kernel: there is nothing to correlate.", "M214")
            )
        self._remember(X, gram, original)
        self.basis_, self.bias_ = self.dual_coef_, self.intercept_
        return self

    def _affordable_rank(self, gram: Gram) -> int:
        """The columns of the incomplete factor: as given, or as many as the budget holds in copies for both views."""
        room, column = gram.compute.budget, _COPIES * 8 * gram.shape[0]
        if self.rank is None:
            return max(1, min(_RANK, room // column))
        if self.rank * column > room:
            raise MemoryError(
                coded(
                    f"rank={self.rank}: factors of so many columns for {gram.shape[0]} samples take"
                    f" {human(self.rank * column)} in all; the budget is {human(room)}. Give a rank of at most"
                    f" {max(1, room // column)}, or raise the budget: Compute(memory=…).",
                    "M401",
                )
            )
        return int(self.rank)

    def combine(self, weights: Array) -> Array:
        """Become the functions with these weights of the components; returns their values in training."""
        self.dual_coef_, self.intercept_ = weights.T @ self.basis_, self.bias_ @ weights
        del self.basis_, self.bias_
        return self.spectra_.scores() @ weights

    def forget(self) -> None:
        """What only fitting needs."""
        for name in (
            "spectra_",
            "eigenvectors_",
            "_means",
            "_weights_kept",
            "items_",
            "weights_",
            "n_given_",
            "scale_",
        ):
            if hasattr(self, name):
                delattr(self, name)


def rescaled(pair: tuple[float, float], scale: float) -> tuple[float, float]:
    """γ times ``scale``: K² + γK of all weights s times as large is that of γ/s. What is beyond any eigenvalue stays a
    number.
    """
    return (min(pair[0] * scale, _HUGE), min(pair[1] * scale, _HUGE))


def as_pair(alpha: Any) -> tuple[float, float]:
    pair = (float(alpha), float(alpha)) if np.ndim(alpha) == 0 else tuple(float(g) for g in alpha)
    if len(pair) != 2:
        raise ValueError(coded(f"alpha={alpha!r}: give a number for both views, or one for each.", "M205"))
    return pair


def candidates_of(
    alpha: float | Sequence[float | tuple[float, float]] | Array | None, x: Spectra, y: Spectra, scale: float = 1.0
) -> list[tuple[float, float]] | None:
    """What to choose from, where weights are ``scale`` times those of the spectra; None where it is given."""
    if alpha is None:
        return [(t * float(x.values.sum()) * scale, t * float(y.values.sum()) * scale) for t in _GRID]
    if isinstance(alpha, list | np.ndarray) and np.ndim(alpha):
        if not len(alpha):
            raise ValueError(coded("alpha=[]: give at least one candidate, a number, or None.", "M205"))
        return [as_pair(g) for g in alpha]
    return None


class CanonicalCorrelation(ClassNamePrefixFeaturesOutMixin, TransformerMixin, WithKernels):  # type: ignore[misc]  # scikit-learn has no types
    """What estimators of two views share: the views, the choice of γ, and the projections."""

    n_components: int
    cv: int
    random_state: RandomState
    compute: Compute | None

    def _kernels(self) -> tuple[Any, Any, Any, Any]:
        """(kernel of x, of y, γ, rank)."""
        raise NotImplementedError

    @all_or_nothing
    def fit(self, X: Samples, y: Targets, sample_weight: Weights = None) -> Self:
        """Find directions of X and of y, the other view, that correlate.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or n_samples items
            One view: samples of the kind that its kernel compares, or their matrix where that is "precomputed".
        y : array-like of shape (n_samples, n_targets) or (n_samples,), or n_samples items
            The other view of the same samples, likewise.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            A weight counts as that many repetitions of its pair.

        Returns
        -------
        self
        """
        if y is None:
            raise ValueError(
                coded(
                    f"requires y to be passed, but the target y is None: {type(self).__name__} correlates two views,"
                    " fit(X, Y).",
                    "M112",
                )
            )
        check_whole(self, "n_components")
        for name in ("alpha_scores_", "n_features_in_", "feature_names_in_"):  # of a fit before
            self.__dict__.pop(name, None)
        alpha = self._kernels()[2]
        x, other = self._views(X, y, sample_weight)
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(x, name):
                setattr(self, name, getattr(x, name))
        candidates, scale, weights = candidates_of(alpha, x.spectra_, other.spectra_, x.scale_), x.scale_, x.weights_
        if candidates is None:
            self.alpha_ = as_pair(alpha)
        elif len(candidates) == 1:
            self.alpha_ = candidates[0]
        else:
            scores = [view.spectra_.scores(_FEW) for view in (x, other)]
            regs = [rescaled(pair, 1 / scale) for pair in candidates]
            found_reg, self.alpha_scores_ = choose_reg(
                scores[0], scores[1], self.n_components, regs, self._folds(len(scores[0])), weights
            )
            self.alpha_ = candidates[regs.index(found_reg)]
        found = canonical(x.spectra_, other.spectra_, self.n_components, rescaled(self.alpha_, 1 / scale))
        self.canonical_values_, self.n_components_ = found.values, len(found.values)
        if self.n_components_ < self.n_components:
            warn(
                f"The views have ranks {x.spectra_.rank} and {other.spectra_.rank}: there are {self.n_components_}"
                f" components, not {self.n_components}.",
                "M315",
            )
        f, g = x.combine(found.x / np.sqrt(scale)), other.combine(found.y / np.sqrt(scale))
        self.correlations_ = correlations(f, g, weights)
        self._describe(x, other, f, g)
        x.forget()
        other.forget()
        self._x, self._y = x, other
        return self

    def _describe(self, x: View, y: View, f: Array, g: Array) -> None:
        """What else is to say of two views while they remember their items; f, g are the projections of these."""

    def _views(self, X: Samples, Y: Samples, sample_weight: Weights = None) -> tuple[View, View]:
        kernel_x, kernel_y, _, rank = self._kernels()
        x = View(kernel_x, rank=rank, compute=self.compute).seen(X, sample_weight)
        return x, View(kernel_y, single=True, rank=rank, compute=self.compute).seen(Y, sample_weight, x.n_given_)

    def _folds(self, n: int) -> list[tuple[Array, Array]]:
        check_whole(self, "cv", least=2)
        if n < 2 * self.cv:
            raise ValueError(
                coded(
                    f"n_samples={n} is too few to choose alpha by {self.cv} folds of at least two items: give alpha, or"
                    " a smaller cv.",
                    "M310",
                )
            )
        return split(drawn_from(self.random_state).permutation(n), self.cv)

    def transform(self, X: Samples, Y: Samples = None) -> Any:
        """f(x) for each component; with the other view, (f(x), g(y)).

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or n_samples items
            New items of the first view.
        Y : array-like, n_samples items or None, default=None
            The other view of these, or None.

        Returns
        -------
        ndarray of shape (n_samples, n_components_), or two of them
        """
        check_is_fitted(self)
        if len(getattr(X, "shape", ())) == 2:
            check_n_features(self, X, reset=False)
        scores = self._x._values(X)
        if Y is None:
            return scores
        other = self.transform_y(Y)
        if len(other) != len(scores):
            raise ValueError(
                coded(
                    f"Found input variables with inconsistent numbers of samples: {len(scores)} of X and {len(other)}"
                    " of Y.",
                    "M111",
                )
            )
        return scores, other

    def transform_y(self, Y: Samples) -> Array:
        """g(y) for each component, of items of the other view alone.

        Parameters
        ----------
        Y : array-like of shape (n_samples, n_targets), or n_samples items
            New items of the second view.

        Returns
        -------
        ndarray of shape (n_samples, n_components_)
        """
        check_is_fitted(self)
        return np.asarray(self._y._values(Y))

    def score(self, X: Samples, y: Targets, sample_weight: Weights = None) -> float:
        """The mean correlation of the components on these items.

        Parameters
        ----------
        X, y
            Both views of new items.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            A weight counts as that many repetitions of its pair.

        Returns
        -------
        float
            At most 1.
        """
        f, g = self.transform(X, y)
        weights = None if sample_weight is None else relative(checked(sample_weight, len(f)))[0]
        return float(np.mean(correlations(f, g, weights)))

    @property
    def function_x_(self) -> Any:
        """f, one for each component, as functions in the space of the kernel of x (``RKHSFunction``)."""
        return self._x.function_

    @property
    def function_y_(self) -> Any:
        """g, one for each component, as functions in the space of the kernel of y (``RKHSFunction``)."""
        return self._y.function_

    def test(self, X: Samples, Y: Samples, *, n_permutations: int = 500, random_state: RandomState = None) -> Outcome:
        """Are the views dependent? The first canonical value against those with the items of Y in random order.

        Where γ is to be chosen, the test is aggregated over all that could be: one that was chosen for these very pairs
        would be partial to them. The decompositions, at most their first 100 components, serve all permutations. It
        needs no ``fit``.

        Parameters
        ----------
        X, Y
            Both views of the items to test with.
        n_permutations : int, default=500
            How many random orders; the p-value is a multiple of 1/(n_permutations + 1).
        random_state : int, RandomState, Generator or None, default=None
            The source of these orders.

        Returns
        -------
        Outcome
            With ``statistic`` and ``pvalue``.
        """
        count = check_permutations(n_permutations)
        x, y = (Spectra(v.spectra_.values[:_TESTED], v.spectra_.vectors[:, :_TESTED]) for v in self._views(X, Y))
        alpha = self._kernels()[2]
        candidates = candidates_of(alpha, x, y) or [as_pair(alpha)]
        rng, n = drawn_from(random_state), len(x.vectors)
        orders = [np.arange(n), *(rng.permutation(n) for _ in range(count))]
        return aggregated(
            "canonical correlation", np.stack([largest_values(x, y, candidates, order) for order in orders], axis=1)
        )

    @property
    def _n_features_out(self) -> int:
        return self.n_components_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.target_tags.multi_output = True
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = isinstance(self._kernels()[0], str)
        return tags


def split(order: Array, folds: int) -> list[tuple[Array, Array]]:
    """(training, test) of each part of ``order``."""
    parts = np.array_split(order, folds)
    return [(np.concatenate([p for j, p in enumerate(parts) if j != i]), part) for i, part in enumerate(parts)]


@estimator
class KernelCCA(CanonicalCorrelation):
    """max corr(f(x), g(y)) over functions of two kernels: ⟨K_x α, K_y β⟩ with α^T(K_x² + γK_x)α = β^T(K_y² + γK_y)β =
    1, matrices centred.

    Views may be of any kind: histograms and words, molecules and spectra. Without γ, two views whose ranks sum to more
    than n − 1 correlate perfectly whatever they are, so γ > 0 is needed where kernels are rich.

    Parameters
    ----------
    n_components : int, default=2
        How many pairs of functions.
    kernel_x, kernel_y : Kernel, str or callable, default=Gaussian()
        A kernel for each view, its text, a function f(X, Y) that returns the matrix, or "precomputed".
    alpha : float, pair, list of these or None, default=None
        γ, or a pair (tuple) for both views; a list of these, or None for a grid relative to the traces: chosen by
        correlation on held-out items (``alpha_``).
    rank : int or None, default=None
        Columns of an incomplete Cholesky factor of each matrix; None: exact up to 2000 items or for kernels of few
        features, then 500.
    cv : int, default=5
        How many folds γ is chosen by.
    random_state : int, RandomState, Generator or None, default=None
        Deals the items to the folds.

    Attributes
    ----------
    alpha_ : tuple of two floats
        γ of each view.
    alpha_scores_ : ndarray of shape (n_candidates,)
        The correlation on held-out items of each candidate, where there were several.
    canonical_values_ : ndarray of shape (n_components_,)
        The values of the regularised problem, falling.
    correlations_ : ndarray of shape (n_components_,)
        The empirical correlations of the projections in training.
    n_components_ : int
        How many components there are: fewer than asked for where a view has no more.
    function_x_, function_y_ : RKHSFunction
        f and g, in the spaces of the two kernels.
    n_features_in_, feature_names_in_

    See Also
    --------
    CCA : Of two tables, linear.
    TemporalKernelCCA : Of two series, at several lags.
    hsic_test : Whether two views are independent, without components.

    References
    ----------
    F. R. Bach and M. I. Jordan, Kernel independent component analysis, JMLR 3 (2002). D. R. Hardoon, S. Szedmak and J.
    Shawe-Taylor, Canonical correlation analysis: an overview with application to learning methods, Neural Computation
    16 (2004).

    Examples
    --------
    >>> import numpy as np
    >>> import mercer as mc
    >>> rng = np.random.default_rng(0)
    >>> t = rng.standard_normal(150)
    >>> X = np.column_stack([t, rng.standard_normal(150)])
    >>> y = t**2 + 0.1 * rng.standard_normal(150)
    >>> model = mc.KernelCCA(1, mc.Gaussian(0.3), mc.Gaussian(0.3), alpha=1.0).fit(X[:100], y[:100])
    >>> bool(model.score(X[100:], y[100:]) > 0.9)
    True
    >>> f, g = model.transform(X[100:], y[100:])
    >>> f.shape, model.test(X, y, n_permutations=99, random_state=0).pvalue
    ((50, 1), 0.01)
    """

    n_components: int = 2
    kernel_x: KernelLike = Gaussian()
    kernel_y: KernelLike = Gaussian()
    _: KW_ONLY
    alpha: float | Sequence[float | tuple[float, float]] | Array | None = None
    rank: int | None = None
    cv: int = 5
    random_state: RandomState = None
    compute: Compute | None = None

    def _kernels(self) -> tuple[Any, Any, Any, Any]:
        """(kernel of x, of y, γ, rank)."""
        return self.kernel_x, self.kernel_y, self.alpha, self.rank
