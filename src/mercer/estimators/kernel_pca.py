"""Principal components in the space of a kernel."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin

from mercer import arrays
from mercer.annotations import RandomState, Samples, Targets, Weights
from mercer.arrays import Array
from mercer.compute import Compute
from mercer.data.notices import warn
from mercer.distributed import is_collection
from mercer.estimators.components import component_count, share_of_variance
from mercer.estimators.kernel_components import Components
from mercer.estimators.parameters import KernelLike, Progress, estimator
from mercer.estimators.pre_images import PRE_IMAGES, pre_images
from mercer.estimators.scikit_checks import check_is_fitted
from mercer.estimators.spread import SpreadPasses, SpreadSamples
from mercer.gram import Gram, Landmarks
from mercer.kernels.vectors.radial import Gaussian
from mercer.native.linalg import eigh
from mercer.solvers.spread import Spread
from mercer.solvers.spread_lloyd import largest_values, second_moments
from mercer.troubles import coded


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

    n_components: float | None = None
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
