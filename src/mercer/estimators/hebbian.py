"""Kernel PCA of streams, inside a budget."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any, Self

import numpy as np
from scipy import linalg
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin

from mercer.annotations import Items, Samples, Targets, Weights
from mercer.arrays import Array
from mercer.compute import Compute
from mercer.data import chunks, in_order_of, size, stack, take
from mercer.estimators.all_or_nothing import all_or_nothing
from mercer.estimators.checks import check_whole
from mercer.estimators.machine import KernelMachine
from mercer.estimators.parameters import KernelLike, estimator
from mercer.estimators.weights import checked, relative
from mercer.gram import DenseGram
from mercer.kernels.vectors.radial import Gaussian
from mercer.native.linalg import signs
from mercer.runtime import threads
from mercer.solvers.incomplete import incomplete_cholesky
from mercer.troubles import coded

_PIECE = 1024  # samples that are taken in together


@estimator
class KernelHebbian(ClassNamePrefixFeaturesOutMixin, TransformerMixin, KernelMachine):  # type: ignore[misc]  # scikit-learn has no types
    """Principal directions in feature space from samples that pass once: v ← v + η(⟨x, v⟩x − what earlier directions
    explain), at rest.

    Oja's and Sanger's rule in feature space (Kim, Franz and Schölkopf 2005) climbs, sample by sample, to the
    eigenvectors of the covariance. Samples are here coordinates in the span of at most ``budget`` of them, chosen as
    they come: those whose features the others do not span up to ``tol`` of the variance. The covariance is then a
    matrix of budget², so it is kept instead, and the point where the rule comes to rest is computed. It needs no steps,
    and with a budget that spans the data it is the answer of ``KernelPCA``, for any order. Memory: budget²; a sample
    costs as much.

    Parameters
    ----------
    n_components : int, default=2
        How many directions; where there are fewer, scores of the last are 0.
    kernel : Kernel, str or callable, default=Gaussian()
        As elsewhere, but not "precomputed": new samples meet old ones. What it takes from data ("scale") is fixed by
        the first batch.
    budget : int, default=500
        The most samples that are kept.
    tol : float, default=1e-9
        The share of the variance that a sample may leave unexplained without being kept.

    Attributes
    ----------
    n_samples_seen_ : int
        Of all batches.
    explained_variance_ : ndarray of shape (n_components,)
        The variances of the scores.
    n_components_ : int
        As asked for.
    centers_ : array or list of n_support samples
        The samples that span what is seen; the same as ``support_vectors_``.
    support_ : ndarray of shape (n_support,)
        Their numbers in the stream.
    support_vectors_, dual_coef_, intercept_, function_, kernel_, n_features_in_, feature_names_in_

    See Also
    --------
    KernelPCA : Of all samples at once.

    References
    ----------
    K. I. Kim, M. O. Franz and B. Schölkopf, Iterative kernel principal component analysis for image modeling, IEEE
    TPAMI 27 (2005).

    Examples
    --------
    >>> import numpy as np
    >>> import mercer as mc
    >>> X = np.random.default_rng(0).standard_normal((300, 2))
    >>> k = mc.Gaussian(0.5)
    >>> stream = mc.KernelHebbian(3, k, budget=100)
    >>> for batch in np.split(X, 3):
    ...     _ = stream.partial_fit(batch)
    >>> stream.n_samples_seen_, stream.transform(X[:2]).shape
    (300, (2, 3))
    >>> bool(np.allclose(stream.explained_variance_, mc.KernelPCA(3, k).fit(X).explained_variance_, rtol=1e-3))
    True
    """

    n_components: int = 2
    kernel: KernelLike = Gaussian()
    _: KW_ONLY
    budget: int = 500
    tol: float = 1e-9
    compute: Compute | None = None

    @all_or_nothing
    def fit(self, X: Samples, y: Targets = None, sample_weight: Weights = None) -> Self:
        """Start anew with these samples.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or n_samples items
            Samples of the kind that the kernel compares.
        y : None
            Not used.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            A weight counts as that many repetitions of its sample.

        Returns
        -------
        self
        """
        for name in [name for name in vars(self) if name.endswith("_") or name.startswith("_stream")]:
            delattr(self, name)
        return self.partial_fit(X, sample_weight=sample_weight)

    @all_or_nothing
    def partial_fit(self, X: Samples, y: Targets = None, sample_weight: Weights = None) -> Self:
        """Take in more samples. What a kernel takes from data is fixed by the first batch.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or n_samples items
            The next samples of the stream.
        y : None
            Not used.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            A weight counts as that many repetitions of its sample.

        Returns
        -------
        self
        """
        first = not hasattr(self, "n_samples_seen_")
        if self._precomputed:
            raise ValueError(
                coded(
                    "KernelHebbian meets new samples, which a precomputed matrix does not know; give the kernel"
                    " itself.",
                    "M213",
                )
            )
        check_whole(self, "n_components", "budget")
        if not (isinstance(self.tol, int | float | np.number) and self.tol > 0):
            raise ValueError(
                coded(f"tol={self.tol!r}: the share of the variance that may be left out must be positive.", "M205")
            )
        X = self._accept(X, reset=first)
        n = size(X)
        given, scale = relative(checked(sample_weight, n))
        X, _, weights, original = self._without_zeros(X, None, given)
        if first:
            self.kernel_, A = self._given_kernel._entered(self._unpacked(X), None if sample_weight is None else weights)
            self.n_samples_seen_ = 0
            self._stream_mass = 0.0  # the weight of all samples seen
            self.support_ = np.zeros(0, np.int32)
            self._stream_root = np.zeros((0, 0))  # L with L L^T = K of the centres
            # of coordinates: their mean and covariance
            self._stream_mean, self._stream_moments = np.zeros(0), np.zeros((0, 0))
        else:
            assert self.kernel_ is not None
            _, A = self.kernel_._entered(in_order_of(self._unpacked(X), self.support_vectors_))
        with threads.single_threaded_if_small(self.budget):
            for some in chunks(size(X), _PIECE):
                self._take_in(take(X, some), take(A, some), weights[some], scale, original[some])
            self._come_to_rest()
        self.n_samples_seen_ += n
        return self

    def _take_in(self, X: Samples, A: Items, weights: Array, scale: float, numbers: Array) -> None:
        """Samples X, prepared A, of weight ``scale`` times ``weights``; ``numbers`` are theirs in the batch."""
        assert self.kernel_ is not None
        norms = np.asarray(self.kernel_._own(A), np.float64)
        C = np.zeros((size(X), 0)) if not len(self.support_) else self._coordinates(A)
        C, chosen = self._grown(A, C, norms, weights)
        if len(chosen):
            new = self._items(X, chosen)
            self.support_vectors_ = stack(self.support_vectors_, new) if len(self.support_) else new
            self.support_ = np.concatenate([self.support_, self.n_samples_seen_ + numbers[chosen]]).astype(np.int32)
            more = C.shape[1] - len(self._stream_mean)
            self._stream_mean = np.pad(self._stream_mean, (0, more))
            self._stream_moments = np.pad(self._stream_moments, (0, more))
        total = float(weights.sum())
        mass = self._stream_mass + scale * total
        share = scale * total / mass
        mean = weights @ C / total
        shift, D = mean - self._stream_mean, np.sqrt(weights / total)[:, None] * (C - mean)
        self._stream_moments = (1 - share) * self._stream_moments + share * (
            D.T @ D + (1 - share) * np.outer(shift, shift)
        )
        self._stream_mean, self._stream_mass = self._stream_mean + share * shift, mass

    def _between(self, A: Items, B: Items) -> Array:
        """Values of the kernel between prepared items."""
        assert self.kernel_ is not None
        return np.asarray(self.kernel_._gram(A, B, self.compute or Compute()).astype(np.float64).dense())

    def _coordinates(self, A: Items) -> Array:
        assert self.kernel_ is not None
        inner = self._between(A, self.kernel_._entered(self._unpacked(self.support_vectors_))[1]).T
        return np.asarray(linalg.solve_triangular(self._stream_root, inner, lower=True, check_finite=False)).T

    def _grown(self, A: Items, C: Array, norms: Array, weights: Array) -> tuple[Array, Array]:
        """Coordinates with those of new centres, chosen one by one by what is left of their features."""
        rounding = 1e-13 * max(float(norms.max()), 1e-300)
        if C.shape[1] >= self.budget or not (norms - np.sum(C**2, axis=1) > rounding).any():
            return C, np.zeros(0, np.int64)
        gram = DenseGram(self._between(A, A))
        share = weights / weights.sum()
        least = self.tol * float(share @ norms - share @ (gram.K @ share))  # of the variance, wherever the origin is
        found = incomplete_cholesky(gram, self.budget, 0.0, before=C, least=max(least, rounding))
        new = found.factor[found.pivots]
        self._stream_root = np.concatenate([np.pad(self._stream_root, ((0, 0), (0, len(new)))), new])
        return found.factor, found.pivots

    def _come_to_rest(self) -> None:
        values, vectors = np.linalg.eigh(self._stream_moments)
        values, vectors = values[::-1][: self.n_components], vectors[:, ::-1][:, : self.n_components]
        at_centers = (self._stream_root - self._stream_mean) @ vectors
        vectors = vectors * signs(at_centers)  # as KernelPCA's, where it can be known
        more = self.n_components - len(values)
        values, vectors = np.pad(np.maximum(values, 0.0), (0, more)), np.pad(vectors, ((0, 0), (0, more)))
        self.explained_variance_ = values
        self.dual_coef_ = np.asarray(
            linalg.solve_triangular(self._stream_root, vectors, lower=True, trans="T", check_finite=False)
        ).T
        self.intercept_ = -(self._stream_mean @ vectors)
        self.n_components_ = self.n_components

    @property
    def centers_(self) -> Any:
        """The samples that span what has been seen, at most ``budget``."""
        return self.support_vectors_

    def transform(self, X: Samples) -> Array:
        """f_l(x) for each item and component.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or n_samples items
            New samples.

        Returns
        -------
        ndarray of shape (n_samples, n_components_)
        """
        return self._values(X)

    @property
    def _n_features_out(self) -> int:
        return self.n_components_
