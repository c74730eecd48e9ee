"""Nyström's approximation: every sample as some of them, the landmarks, see it."""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

import numpy as np

from mercer import arrays
from mercer.annotations import Items, RandomState, Samples, Weights
from mercer.arrays import Array
from mercer.compute import Compute, bounds
from mercer.data import check_weights, chunks, size, take
from mercer.gram import CHOICES, Gram, recorded_values, root_of, uniform
from mercer.kernels.approximations.random_features import check_random_state
from mercer.kernels.base import Kernel, kernel
from mercer.kernels.compose.composite import Composite
from mercer.kernels.compose.feature_space import Projected
from mercer.kernels.parameters import natural
from mercer.native.products import product, triangular_inverse
from mercer.runtime.randomness import generator
from mercer.troubles import coded

_ROWS = 1024  # whose features are computed together
_RULES = ("uniform", *CHOICES)


class Chosen(NamedTuple):
    """A kernel bound to data, the data as it prepares them, and which of them are landmarks: their numbers (None where
    they are others), they themselves, and as they are prepared.
    """

    kernel: Kernel
    items: Items
    numbers: Array | None
    landmarks: Samples
    prepared: Items

    def gram(self, compute: Compute) -> Gram:
        """The values of all items with the landmarks."""
        return self.kernel._gram(self.items, self.prepared, compute)

    def among(self, compute: Compute) -> Gram:
        """The values of the landmarks with each other."""
        return self.kernel._gram(self.prepared, self.prepared, compute)


@kernel
class Nystrom(Composite):
    """k(x, Z) K(Z, Z)⁻¹ k(Z, z): the kernel k as m landmarks Z see it, with m features.

    The nearest approximation of k that is made of functions of the landmarks alone; k − k̃ is positive semi-definite,
    so that what is missed is told by the trace (``trace_error`` of the bound kernel). It works for any data: strings,
    graphs and molecules too. Learning costs n·m values and n·m numbers of memory in place of n². Machines with a
    parameter ``centers`` (``KernelRidge``, ``KernelLogistic``, ``SVC``, …) do not store those either, and keep the
    landmarks in the place of all samples.

    Parameters
    ----------
    kernel : Kernel
        k.
    n_components : int, default=1000
        m, the number of landmarks; fewer where there are fewer samples, or where ``tol`` is reached before.
    landmarks : {"uniform", "kmeans++", "leverage", "pivoted"} or collection of samples, default="uniform"
        How they are chosen from the data given to ``bind``: with equal chances; each far from those before; by ridge
        leverage scores; by randomly pivoted Cholesky. Or the landmarks themselves.
    tol : float, default=0.0
        With "pivoted": the share of the trace of K that may be missed; as many landmarks as that takes, at most
        ``n_components``.
    random_state : int, Generator, RandomState or None, default=None
        With a number, the same landmarks for the same data.

    See Also
    --------
    LowRankGram : A matrix from features of your own.
    RandomFeatures : Random frequencies in the place of landmarks.
    KernelRidge : With ``centers=m`` the same functions, from 10⁵ to 10⁷ samples.

    References
    ----------
    C. Williams and M. Seeger, Using the Nyström method to speed up kernel machines, NIPS (2000). Y. Chen et al.,
    Randomly pivoted Cholesky, arXiv:2207.06503.

    Examples
    --------
    >>> import numpy as np
    >>> import mercer as mc
    >>> X = np.random.default_rng(0).standard_normal((500, 2))
    >>> k = mc.Nystrom(mc.Gaussian(0.5), 50, "pivoted", random_state=0).bind(X)
    >>> k.features(X).shape, bool(k.trace_error(X) < 0.002)
    ((500, 50), True)
    >>> print(mc.Nystrom(mc.Spectrum(2), 2).bind(["ACGT", "GGCA", "TTAA"]).features(["ACGT"]).shape)
    (1, 2)
    """

    usage: ClassVar[str] = "Nystrom(kernel, n_components=1000, landmarks='uniform')"
    explicit = True
    _data_driven = True

    kernel: Kernel
    n_components: int = natural(1000)
    landmarks: str | Samples = "uniform"
    tol: float = 0.0
    random_state: RandomState = None

    def _validate(self) -> None:
        if isinstance(self.landmarks, str) and self.landmarks not in _RULES:
            raise ValueError(
                coded(
                    f"Nystrom(landmarks={self.landmarks!r}): choose one of {', '.join(map(repr, _RULES))}, or give the"
                    " landmarks themselves.",
                    "M205",
                )
            )
        if not (isinstance(self.tol, int | float | np.number) and 0 <= self.tol < 1):
            raise ValueError(coded(f"Nystrom(tol={self.tol!r}): a share of the trace, from 0 to below 1.", "M205"))
        if self.tol and not (isinstance(self.landmarks, str) and self.landmarks == "pivoted"):
            raise ValueError(
                coded(f"Nystrom(tol={self.tol:g}) is for landmarks='pivoted', which knows what is missed.", "M205")
            )
        check_random_state(self, self.random_state)

    @property
    def psd(self) -> bool | None:  # type: ignore[override]
        return self.kernel.psd

    @property
    def _nystrom(self) -> Nystrom:
        return self

    def _choose(self, X: Samples, weights: Weights, compute: Compute, random: np.random.Generator) -> Chosen:
        """The landmarks among samples that the kernel's domain has checked."""
        k = self.kernel.bind(X, weights)
        A = k._prepared(X, self.kernel.domain)
        if not isinstance(self.landmarks, str):
            Z = k.domain.check(self.landmarks)
            if not size(Z):
                raise ValueError(coded("There are no landmarks: give at least one sample.", "M116"))
            return Chosen(k, A, None, Z, k._prepared(Z, k.domain))
        n = size(A)
        w = check_weights(n, weights)
        if self.landmarks == "uniform":  # which needs no values
            index = uniform(n, self.n_components, random, w)
        else:
            index = CHOICES[self.landmarks](k._gram(A, A, compute), self.n_components, random, w, self.tol)
        return Chosen(k, A, index, take(X, index), take(A, index))

    def bind(self, X: Samples, weights: Weights = None) -> Kernel:
        X = self.domain.check(X)
        compute = bounds()
        found = self._choose(X, weights, compute, generator(self.random_state))
        among = found.among(compute)
        L = root_of(among, among.dtype)
        basis = np.ascontiguousarray(triangular_inverse(L, compute.workers).T)
        return AtLandmarks(found.kernel, found.kernel._to_store(found.landmarks), basis)


@kernel
class AtLandmarks(Projected):
    """⟨φ(x), φ(z)⟩, φ(x) = k(x, Z) L^−T with L L^T = K(Z, Z): what ``Nystrom`` is on its data."""

    _internal: ClassVar[bool] = True

    def _prepare(self, X: Samples) -> Any:
        A = self._enter_part(self.kernel, X)
        Z = self.kernel._prepare(self.kernel.domain.check(self.reference))
        recorded = recorded_values(self.kernel, A, Z)
        if recorded is not None:
            return recorded @ np.asarray(self.basis)
        values = self.kernel._gram(A, Z, bounds())
        out = np.empty((values.shape[0], np.shape(self.basis)[1]), values.dtype)
        found: Array = out
        basis = np.asarray(self.basis)
        for rows in chunks(len(out), _ROWS):  # in float64: directions that few samples have are small differences
            found = values.rows(rows)
            product(np.asarray(arrays.to_numpy(found), np.float64), basis, values.compute.workers, out[rows])
        return arrays.like(out, found) if arrays.is_tensor(found) else out

    @property
    def psd(self) -> bool | None:  # type: ignore[override]
        return self.kernel.psd

    def _symbolic(self, prefix: str) -> Any:
        raise NotImplementedError(
            coded(
                "What landmarks see depends on the kernel's parameters through the inverse of their matrix; it has no"
                " gradient here.",
                "M211",
            )
        )

    def trace_error(self, X: Samples) -> float:
        """tr(K − K̃)/tr K on data: the share of the squared norms that the landmarks miss.

        K − K̃ is positive semi-definite, so that no eigenvalue of it, and no entry, is larger than its trace.

        Parameters
        ----------
        X : collection of samples

        Returns
        -------
        float
            Between 0 and 1.
        """
        own = np.asarray(arrays.to_numpy(self.kernel.diag(X)), np.float64)
        seen = np.asarray(arrays.to_numpy(self.diag(X)), np.float64)
        return float(np.maximum(own - seen, 0.0).sum() / own.sum()) if own.sum() else 0.0
