"""Principal components in the space of a kernel."""

from __future__ import annotations

from dataclasses import KW_ONLY, replace
from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning

from mercer import arrays
from mercer.annotations import RandomState, Samples, Targets, Weights
from mercer.arrays import Array
from mercer.compute import Compute
from mercer.data.notices import warn
from mercer.distributed import is_collection
from mercer.estimators.components import component_count, share_of_variance
from mercer.estimators.machine import Unsupervised
from mercer.estimators.parameters import KernelLike, Progress, estimator
from mercer.estimators.pre_images import PRE_IMAGES, pre_images
from mercer.estimators.scikit_checks import check_is_fitted
from mercer.estimators.spread import SpreadPasses, SpreadSamples
from mercer.estimators.weights import NEGLIGIBLE, relative
from mercer.gram import Gram, Landmarks, Outline, Use, Work, held, outlined
from mercer.kernels.vectors.radial import Gaussian
from mercer.native.linalg import eigh, signs
from mercer.problems import Eigen, EigenSolution
from mercer.solvers import eigen
from mercer.solvers.eigen import SOLVERS, Negatives, negatives, solve_eigen
from mercer.solvers.spread import Spread
from mercer.solvers.spread_lloyd import largest_values, second_moments
from mercer.troubles import coded

_FIRST = 32  # components that are tried first, where a share of the variance is wanted


class Components(Unsupervised):
    """f_l = Σ_i α_il (φ(x_i) − μ), orthonormal directions of the largest variance: the centred matrix is UΛU^T and α_l
    = u_l/√λ_l.

    Since Σ_i α_il = 0, f_l(x) is Σ_i α_il k(x, x_i) + b_l: the means of new items cancel and those of training are the
    constant b_l.
    """

    n_components: Any
    solver: str
    random_state: RandomState
    _needs_psd = False  # it counts the negative eigenvalues itself
    _negligible = NEGLIGIBLE

    def _check(self) -> None:
        super()._check()
        if self.solver not in SOLVERS:
            raise ValueError(coded(f"solver={self.solver!r}: choose one of {', '.join(map(repr, SOLVERS))}.", "M205"))

    def _learn(self, gram: Gram, y: Targets, weights: Array, X: Samples = None) -> None:
        """Sets what ``_values`` needs."""
        n = gram.shape[0]
        if n < 2:
            raise ValueError(
                coded(
                    f"{type(self).__name__} needs at least two samples of positive weight (n_samples={n}): one has no"
                    " variance.",
                    "M310",
                )
            )
        gram = held(gram, Use.AGAIN)
        weights, scale = relative(weights)
        s, below = self._solve(gram, weights)
        positive = s.values > self._rounding(gram, weights, s)
        if self.n_components is None:
            s, positive = _some(s, int(positive.sum())), positive[positive]
        if not positive.any():
            if s.trace < -1e-10 * abs(float(np.max(np.abs(s.means)))):
                raise ValueError(
                    coded(
                        "The centred matrix has no positive eigenvalue: it is negative, not that of a kernel.", "M209"
                    )
                )
            explicit = self._bound is None or self._bound.explicit
            cure = "." if explicit else "; change its parameters (a Gaussian with a tiny γ makes all samples equal)."
            raise ValueError(
                coded(f"The kernel is the same for all {n} samples, constant: they have no directions{cure}", "M214")
            )
        # those of scores, which repetitions do not change
        vectors = s.vectors * signs(s.vectors / np.sqrt(weights)[:, None])
        roots = np.sqrt(np.where(positive, s.values, 1.0))
        coef = np.sqrt(weights)[:, None] * vectors * np.where(positive, 1 / roots, 0.0)
        self._keep(coef, every=True)
        self.intercept_ = -(s.means @ coef)
        values = np.where(positive, s.values, 0.0)
        self.eigenvalues_, self.eigenvectors_ = scale * values, vectors
        self.solver_, self.n_iter_, self.n_components_ = s.solver, s.n_iter, len(s.values)
        self.explained_variance_ = values / weights.sum()
        self.explained_variance_ratio_ = values / max(s.trace + below.mass, float(values.sum()))
        self.n_negative_, self.negative_share_ = (
            below.count,
            below.mass / (below.mass + max(s.trace + below.mass, float(values.sum()))),
        )
        self._weights_kept, self._weight_scale, self._means = weights, scale, s.means
        if below.count:
            self._warn_of_negatives(n, below)

    @property
    def _called(self) -> str:
        return type(self).__name__

    def _warn_of_negatives(self, n: int, below: Negatives) -> None:
        """Say what was found, what is done about it, and the cure."""
        least = "" if below.every else "at least "
        cure = (
            "Clip them to 0 first"
            if self._bound is None
            else "Use a kernel that is (psd is True), or kernel.repaired('clip')"
        )
        warn(
            f"{self._called}: the centred matrix is not positive semi-definite, so it is of no kernel:"
            f" {least}{below.count} of its {n} eigenvalues are negative, and make up {least}{self.negative_share_:.2g}"
            " of the sum of all their absolute values. Components are of positive eigenvalues alone, and"
            f" explained_variance_ratio_ is their share of the sum of these. {cure}.",
            "M209",
        )

    def _rounding(self, gram: Gram, weights: Array, s: EigenSolution) -> float:
        """Eigenvalues up to this are 0. Those from features are squares of singular values, and already without
        such.
        """
        if gram.features() is not None and s.solver == "exact":
            return 0.0
        # what rounding is a part of
        whole = float(weights @ np.abs(np.asarray(arrays.to_numpy(gram.diag()), np.float64)))
        return float(np.finfo(gram.dtype).eps) * max(whole, len(weights) * float(s.values.max(initial=0.0)))

    def _below(self, gram: Gram, weights: Array, s: EigenSolution) -> Negatives:
        """The negative eigenvalues, which the matrix of a kernel has not: looked for unless that is known."""
        if gram.features(at_most=np.inf) is not None or (self._bound is not None and self._bound.psd):
            return Negatives()
        part = 1e-10 if gram.dtype == np.float64 else 1e-5  # as precise as matrices are written down
        floor = max(self._rounding(gram, weights, s), part * float(s.values.max(initial=0.0)))
        return negatives(Eigen(1, weights), gram, floor) if s.spectrum is None else Negatives.among(s.spectrum, floor)

    def _solve(self, gram: Gram, weights: Array) -> tuple[EigenSolution, Negatives]:
        n = gram.shape[0]
        options: dict[str, Any] = {"random_state": self.random_state}
        if self.tol is not None:
            options["tol"] = self.tol
        count = component_count(self.n_components, np.iinfo(np.int64).max, "")
        if count is not None or self.n_components is None:
            s = solve_eigen(Eigen(n if count is None else min(count, n), weights), gram, self.solver, **options)
            kept, below = len(s.values), self._below(gram, weights, s)
            if count is not None and kept < count:
                s, kept = _padded(s, count), count
        else:
            kept, tried, known = n, _FIRST, None
            while True:  # a share of the variance: more until it is reached
                s = solve_eigen(Eigen(min(tried, n), weights), gram, self.solver, **options)
                below = known = known or self._below(gram, weights, s)
                total = s.trace + below.mass
                positive = s.values[s.values > 0]
                if positive.sum() >= self.n_components * total * (1 - 1e-12) or tried >= n or len(positive) < tried:
                    kept = share_of_variance(positive, total, self.n_components)
                    break
                tried *= 4
        if s.residual > 10 * max(self.tol or 0.0, 1e-5 if gram.dtype == np.float32 else 1e-8):
            warn(
                f"{type(self).__name__}: the {s.solver} solver stopped after {s.n_iter} steps with a residual of"
                f" {s.residual:.2g} of the largest eigenvalue: the last eigenvalues asked for are too near to each"
                " other. Ask for fewer components, or use solver='exact'.",
                "M301",
                ConvergenceWarning,
            )
        return _some(s, kept), below

    def _cost(self, outline: Outline, y: Targets = None, tried: Any = None) -> Work:
        n = outline.shape[0]
        matrix, made = outlined(outline, Use.AGAIN)
        count = component_count(self.n_components, np.iinfo(np.int64).max, "")
        # of a share of the variance, as many as are tried first
        wanted = min(n, _FIRST if self.n_components is not None else n) if count is None else min(count, n)
        found = eigen.outlook(matrix, wanted, self.solver)
        kept = 8.0 * 4 * n * wanted  # eigenvectors, these with their signs, coefficients
        whole = max(found.memory, 8.0 * n * wanted + kept) if found.solver == "exact" else found.memory + kept
        return replace(found.beside(seconds=made.seconds), memory=whole + made.memory)

    def _training_scores(self) -> Array:
        """f_l(x_i) = √λ_l u_il/√w_i."""
        w = self._weights_kept  # not eigenvalues_, which are as small or large as the weights
        scores: Array = self.eigenvectors_ * np.sqrt(self.explained_variance_ * w.sum()) / np.sqrt(w)[:, None]
        return scores

    def _centred_norms(self, diagonal: Array, inner: Array) -> Array:
        """‖φ(x) − μ‖² from k(x, x) and ⟨φ(x), μ⟩."""
        mean = float(self._weights_kept @ self._means) / float(self._weights_kept.sum())
        return np.asarray(diagonal, np.float64) - 2 * inner + mean


def _some(s: EigenSolution, kept: int) -> EigenSolution:
    return EigenSolution(
        s.values[:kept], s.vectors[:, :kept], s.means, s.trace, s.residual, s.n_iter, s.solver, s.spectrum
    )


def _padded(s: EigenSolution, count: int) -> EigenSolution:
    """With eigenvalues 0 for components that the matrix does not have."""
    more = count - len(s.values)
    vectors = np.concatenate([s.vectors, np.zeros((len(s.vectors), more))], axis=1)
    return EigenSolution(
        np.concatenate([s.values, np.zeros(more)]),
        vectors,
        s.means,
        s.trace,
        s.residual,
        s.n_iter,
        s.solver,
        s.spectrum,
    )


@estimator
class KernelPCA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Components):  # type: ignore[misc]  # scikit-learn has no types
    """K_c = HKH = UΛU^T; the scores of training are U√Λ, those of a new x are f_l(x) = Σ_i u_il (k(x, x_i) −
    means)/√λ_l, ‖f_l‖ = 1.

    A matrix that is not positive semi-definite (``Sigmoid``, a precomputed one) is of no feature space. Components are
    then of its positive eigenvalues alone, as if it were the nearest matrix that is (negative eigenvalues 0), and
    ``explained_variance_ratio_`` is relative to the sum of these; a warning says how many are negative
    (``n_negative_``) and what part of Σ|λ| they are (``negative_share_``).

    Parameters
    ----------
    n_components : int, float or None, default=None
        A number, a share of the variance between 0 and 1, or None for all of positive eigenvalue. Beyond the rank,
        scores are 0.
    solver : {"auto", "exact", "lanczos", "krylov"}, default="auto"
        "exact" (all eigenvalues: n³), "lanczos" (ARPACK) and "krylov" (blocks) need products alone, so that the matrix
        is never stored unless its values are costly; "auto" chooses by n, the number of components and the kernel's
        features.
    pre_image : {"auto", "fixed_point", "ridge", "nearest"}, default="auto"
        How ``inverse_transform`` goes back: "fixed_point" (kernels of ‖x − z‖²; Mika et al. 1999), "ridge" (a
        regression from scores to vectors; Bakır et al. 2004), "nearest" (the training object whose features are
        nearest: strings, graphs); "auto": the first that applies.
    alpha : float or None, default=None
        The ridge of that regression; None: chosen by leave-one-out.
    tol : float or None, default=None
        The residual of eigenvectors to reach, as a share of the largest eigenvalue; None: the solver's own.

    Attributes
    ----------
    n_components_ : int
        How many components there are.
    eigenvalues_ : ndarray of shape (n_components_,)
        λ of the centred matrix, falling.
    eigenvectors_ : ndarray of shape (n_support, n_components_)
        u, one a column; not of a Dask collection.
    explained_variance_ : ndarray of shape (n_components_,)
        The variances of the scores, λ/Σw.
    explained_variance_ratio_ : ndarray of shape (n_components_,)
        Their shares of the whole variance in feature space.
    n_negative_ : int
        How many eigenvalues are negative beyond rounding; a lower bound beyond 4000 samples.
    negative_share_ : float
        Their part of Σ|λ|.
    dual_coef_ : ndarray of shape (n_components_, n_support)
        The coefficients of f_l, which sum to 0.
    intercept_ : ndarray of shape (n_components_,)
        Their constants: minus the means of f_l in training.
    support_, support_vectors_, function_, n_iter_, solver_, kernel_, n_features_in_, feature_names_in_

    See Also
    --------
    PCA : Of vectors themselves.
    KernelHebbian : Of streams, inside a budget.
    KernelPCANovelty : What the components cannot reconstruct.

    References
    ----------
    B. Schölkopf, A. Smola and K.-R. Müller, Nonlinear component analysis as a kernel eigenvalue problem, Neural
    Computation 10 (1998). S. Mika et al., Kernel PCA and de-noising in feature spaces, NIPS 11 (1999). G. Bakır, J.
    Weston and B. Schölkopf, Learning to find pre-images, NIPS 16 (2004).

    Examples
    --------
    >>> import numpy as np
    >>> import mercer as mc
    >>> rng = np.random.default_rng(0)
    >>> angle = rng.uniform(0, 2 * np.pi, 200)
    >>> ring = np.column_stack([np.cos(angle), np.sin(angle)])
    >>> X = ring + 0.1 * rng.standard_normal((200, 2))
    >>> pca = mc.KernelPCA(4, mc.Gaussian(1.0), random_state=0)
    >>> Z = pca.fit_transform(X)
    >>> clean = pca.inverse_transform(Z)  # back on the ring
    >>> Z.shape, bool(np.linalg.norm(clean, axis=1).std() < 0.5 * np.linalg.norm(X, axis=1).std())
    ((200, 4), True)
    """

    n_components: Any = None
    kernel: KernelLike = Gaussian()
    _: KW_ONLY
    solver: str = "auto"
    pre_image: str = "auto"
    alpha: float | None = None
    tol: float | None = None
    random_state: RandomState = None
    progress: Progress | None = None
    compute: Compute | None = None

    _first_report: ClassVar[dict[str, Any]] = {"step": 0, "residual": np.inf}

    def _check(self) -> None:
        super()._check()
        if self.pre_image not in ("auto", *PRE_IMAGES):
            raise ValueError(
                coded(
                    f"pre_image={self.pre_image!r}: choose one of {', '.join(map(repr, ('auto', *PRE_IMAGES)))}.",
                    "M205",
                )
            )

    def _learn(self, gram: Gram, y: Targets, weights: Array, X: Samples = None) -> None:
        super()._learn(gram, y, weights, X)
        lost = int(np.sum(self.explained_variance_ == 0))
        if lost:
            found = self.n_components_ - lost
            what = f"rank {found}" if not self.n_negative_ else f"{found} positive eigenvalues"
            warn(
                f"The centred matrix has {what}, {self.n_components_} components were asked for: the scores of the last"
                f" {lost} are 0.",
                "M315",
            )

    def _learn_spread(self, passes: SpreadPasses, samples: SpreadSamples, marks: Landmarks) -> None:
        """From the second moments of the features of the landmarks, Φ^T W Φ, which are all that is brought here."""
        spread = Spread(passes, marks.factor)
        inner, first, total = second_moments(spread)
        values, vectors = eigh(inner - np.outer(first, first) / total)
        values, vectors = values[::-1], vectors[:, ::-1]
        trace = float(values.sum())
        positive = values > len(values) * float(np.finfo(np.float64).eps) * float(np.trace(inner))
        most = min(len(samples), int(positive.sum()))
        if not most:
            raise ValueError(
                coded("The kernel is the same for all samples, constant: they have no directions.", "M214")
            )
        count = component_count(self.n_components, len(values), f"the {len(values)} landmarks")
        count = share_of_variance(values[:most], trace, self.n_components) if count is None else min(count, most)
        values, vectors = values[:count], vectors[:, :count]
        c, b = marks.coefficients(vectors), -(first @ vectors) / total
        turned = np.where(largest_values(spread, c, b) < 0, -1.0, 1.0)  # the largest score is positive, as in memory
        self._of_landmarks, self.intercept_ = c * turned, b * turned
        self.eigenvalues_, self.explained_variance_ = values, values / total
        self.explained_variance_ratio_ = values / max(trace, float(values.sum()))
        self.n_components_, self.n_negative_, self.negative_share_ = count, 0, 0.0
        self.solver_, self.n_iter_ = "landmarks", 1

    def fit_transform(self, X: Samples, y: Targets = None, sample_weight: Weights = None) -> Array:
        """The scores of X without evaluating the kernel again.

        Parameters
        ----------
        X, y, sample_weight
            As for ``fit``.

        Returns
        -------
        ndarray of shape (n_samples, n_components_)
        """
        self.fit(X, y, sample_weight)
        return (
            self.transform(X)
            if sample_weight is not None or is_collection(X)
            else self._typed(self._training_scores(), X)
        )

    def transform(self, X: Samples) -> Array:
        """f_l(x) for each item and component.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or n_samples items
            New samples; with ``kernel="precomputed"`` their matrix with the training samples.

        Returns
        -------
        ndarray of shape (n_samples, n_components_)
        """
        return self._typed(self._values(X), X)

    def _typed(self, scores: Array, X: Samples) -> Array:
        return scores.astype(np.float32) if getattr(X, "dtype", None) == np.float32 else scores

    def inverse_transform(self, X: Samples) -> Any:
        """Items whose features are near μ + Σ_l z_l f_l, one for each row z of scores.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_components_)
            Scores, as ``transform`` gives them.

        Returns
        -------
        ndarray of shape (n_samples, n_features), or n_samples training items where ``pre_image`` is "nearest"
        """
        check_is_fitted(self)
        Z = np.asarray(arrays.to_numpy(X), np.float64)
        if Z.ndim != 2 or Z.shape[1] != self.n_components_:
            raise ValueError(
                coded(
                    f"Scores of {self.n_components_} components are an array of shape (items, {self.n_components_}),"
                    f" got {Z.shape}.",
                    "M314",
                )
            )
        if not np.isfinite(Z).all():
            raise ValueError(coded("Scores hold NaN or infinity; there is nothing to go back to.", "M101"))
        if self.kernel_ is None:
            raise ValueError(coded("A precomputed matrix has no items to go back to; give the kernel itself.", "M213"))
        if self._compressed:
            raise ValueError(
                coded(
                    "A compressed model has lost the training scores that the way back needs; use the model it was made"
                    " from.",
                    "M311",
                )
            )
        return pre_images(self, Z)

    @property
    def _n_features_out(self) -> int:
        return self.n_components_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
