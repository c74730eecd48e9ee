"""Random features: a kernel that is a mean over random frequencies, by a mean over some."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from mercer import arrays
from mercer.annotations import RandomState, Samples, Weights
from mercer.arrays import Array
from mercer.compute import bounds
from mercer.data import DataError, chunks, take
from mercer.kernels.approximations.draws import DRAWS, MOST_QUASI, draw
from mercer.kernels.base import Kernel, kernel
from mercer.kernels.compose.composite import Composite
from mercer.kernels.families import Explicit, Spectral
from mercer.kernels.parameters import natural, sample
from mercer.runtime import threads
from mercer.runtime.randomness import generator
from mercer.troubles import coded

_TOGETHER = 2**19  # features that one task computes: a few MB
_HIGHEST = 1e25  # of frequencies, so that also float32 holds what they are multiplied with


def check_random_state(k: Kernel, random_state: object) -> None:
    whole = isinstance(random_state, int | np.integer) and not isinstance(random_state, bool) and random_state >= 0
    if not (whole or random_state is None or isinstance(random_state, np.random.Generator | np.random.RandomState)):
        raise ValueError(
            coded(
                f"{type(k).__name__}(random_state={random_state!r}): random_state must be a whole number of at least 0,"
                " a Generator, a RandomState or None.",
                "M205",
            )
        )


@kernel
class RandomFeatures(Composite):
    """(1/m) Σ_i cos(ω_i·(x − z)), ω_i random frequencies: an approximation of k(x, z) = E cos(ω·(x − z)).

    Its features are √(2/D)·cos(ω_i·x) and √(2/D)·sin(ω_i·x), D = ``n_components`` = 2m columns, so that learners work
    with them in place of n² values. The mean over the draws is k(x, z) exactly, and k(x, x) is exact for every draw;
    elsewhere the error falls as 1/√D: for the Gaussian and independent draws it has the variance (1 − k²)²/D. The
    frequencies are drawn when the kernel is bound to data, for as many columns as those have, and held by the bound
    kernel.

    Memory: n·D numbers of the data's precision (n·D·8 bytes, or n·D·4 for float32), and D·d/2 for the frequencies.

    Parameters
    ----------
    kernel : Kernel
        What is approximated: ``Gaussian``, ``Laplacian``, ``Matern``, ``RationalQuadratic``, ``PowerExponential``,
        ``PowerLaplacian``, ``Periodic``, or ``ArcCosine``, whose features are D random units √(2/D)·max(0, ω·x)ⁿ
        (their k(x, x) is random, too). Sums, products and multiples are made outside: ``2 * RandomFeatures(k1) +
        RandomFeatures(k2)``; for other kernels there is ``Nystrom``.
    n_components : int, default=1000
        D, the number of features. The last feature of an odd number is √(2/D)·cos(ω·x + b) with a random phase b, and
        k(x, x) then exact up to 1/D.
    draws : {"orthogonal", "plain", "quasi"}, default="orthogonal"
        "plain" frequencies are independent. "orthogonal" ones have orthogonal directions in blocks of d [2]_, which
        lowers the variance for the Gaussian. "quasi" takes them from a scrambled Sobol' sequence [3]_, best for few
        columns. None has a bias.
    random_state : int, Generator, RandomState or None, default=None
        With a number, the same frequencies for every data set of as many columns.

    See Also
    --------
    TaylorGaussian : A Taylor polynomial of the Gaussian, for few columns of moderate size.
    HomogeneousMap : Kernels of histograms.
    TensorSketch : Polynomials and products.

    Notes
    -----
    ``ChiSquared(gamma)`` is the Gaussian of the features of ``AdditiveChiSquared``, whose squared distances are
    Σ(x_j − z_j)²/(x_j + z_j): ``RandomFeatures(Gaussian(gamma)).map(HomogeneousMap(AdditiveChiSquared(), 5).features)``
    approximates it, with the small bias of the inner map.

    References
    ----------
    .. [1] A. Rahimi and B. Recht. Random features for large-scale kernel machines. NIPS 2007.
    .. [2] F. X. Yu, A. T. Suresh, K. Choromanski, D. Holtmann-Rice and S. Kumar. Orthogonal random features. NIPS 2016.
    .. [3] H. Avron, V. Sindhwani, J. Yang and M. W. Mahoney. Quasi-Monte Carlo feature maps for shift-invariant
       kernels. JMLR 17, 2016.

    Examples
    --------
    >>> import numpy as np
    >>> import mercer as mc
    >>> X = np.random.default_rng(0).standard_normal((500, 3))
    >>> k = mc.RandomFeatures(mc.Gaussian(0.2), 1000, random_state=0)
    >>> bound = k.bind(X)
    >>> bound.features(X).shape
    (500, 1000)
    >>> bool(np.abs(bound(X) - mc.Gaussian(0.2)(X)).max() < 0.1)
    True
    >>> machine = mc.KernelRidge(kernel=k, alpha=0.1).fit(X, X[:, 0])
    """

    usage: ClassVar[str] = "RandomFeatures(kernel, n_components=1000, draws='orthogonal', random_state=None)"
    explicit = True
    _data_driven = True
    _rotation_invariant = False

    kernel: Kernel
    n_components: int = natural(1000)
    draws: str = "orthogonal"
    random_state: RandomState = None

    def _validate(self) -> None:
        if not isinstance(self.kernel, Spectral):
            raise TypeError(
                coded(
                    f"RandomFeatures draws frequencies of one kernel, and {self.kernel} says of none: give it a"
                    " Gaussian, Laplacian, Matern, …, add and multiply outside of it, RandomFeatures(k1) +"
                    " RandomFeatures(k2), or use Nystrom(kernel).",
                    "M215",
                )
            )
        if self.draws not in DRAWS:
            raise ValueError(
                coded(f"RandomFeatures(draws={self.draws!r}): choose one of {', '.join(map(repr, DRAWS))}.", "M205")
            )
        check_random_state(self, self.random_state)

    def bind(self, X: Samples, weights: Weights = None) -> Kernel:
        X = self.domain.check(X)
        k, d = self.kernel.bind(X, weights), int(X.shape[1])
        assert isinstance(k, Spectral)
        if self.draws == "quasi" and d > MOST_QUASI:
            raise DataError(
                f"RandomFeatures(draws='quasi') is for at most {MOST_QUASI} columns, the data has {d}; take"
                " draws='orthogonal'.",
                "M205",
            )
        k.gram(take(X, slice(0, 1))).dense()  # which refuses γ or ℓ for another number of columns
        rng = generator(self.random_state)
        count = -(-self.n_components // k._per_frequency)
        frequencies = np.clip(k._frequencies(*draw(self.draws, count, d, rng)), -_HIGHEST, _HIGHEST)
        odd = self.n_components % k._per_frequency != 0
        return DrawnFeatures(k, int(self.n_components), frequencies, 2.0 * math.pi * rng.random() if odd else 0.0)


@kernel
class DrawnFeatures(Composite, Explicit):
    """⟨φ(x), φ(z)⟩, φ = √(2/D)·u(ω·x) of frequencies ω that were drawn, D = n_components; u are the units of the
    kernel, the last shifted by a phase.
    """

    _internal = True
    _bound_to_values = True
    _rotation_invariant = False

    kernel: Kernel
    n_components: int
    frequencies: Array = sample()
    phase: float = 0.0

    @property
    def psd(self) -> bool:  # type: ignore[override]
        return True

    def bind(self, X: Samples, weights: Weights = None) -> Kernel:
        return self

    def _projected(self, X: Samples) -> Any:
        """ω·x + b, (items, frequencies)."""
        W = np.asarray(self.frequencies)
        if X.shape[1] != W.shape[1]:
            raise DataError(
                f"The random features of {self.kernel} were drawn for {W.shape[1]} columns, the data has {X.shape[1]}.",
                "M104",
            )
        projections = X @ arrays.like(W.T.astype(arrays.numpy_dtype(X)), X)
        if not self.phase:
            return projections
        phases = np.zeros(len(W), arrays.numpy_dtype(projections))
        phases[-1] = self.phase
        return projections + arrays.like(phases, projections)

    def _map(self, X: Samples) -> Any:
        k, n, scale = self.kernel, X.shape[0], math.sqrt(2.0 / self.n_components)
        assert isinstance(k, Spectral)
        if arrays.is_tensor(X) or arrays.is_recorded(X):
            parts = k._responses(self._projected(X), self.n_components)
            return scale * arrays.namespace(X).concatenate([part for part in parts if part.shape[1]], axis=1)
        out = arrays.empty((n, self.n_components), arrays.numpy_dtype(X), X)

        def task(rows: slice) -> None:
            np.concatenate(k._responses(self._projected(X[rows]), self.n_components), axis=1, out=out[rows])
            out[rows] *= scale

        threads.run_tasks(task, chunks(n, max(1, _TOGETHER // self.n_components)), bounds().workers)
        return out

    def _pull_back(self, X: Samples, gradients: Array) -> Any:
        k = self.kernel
        assert isinstance(k, Spectral)
        X = arrays.astype(X.toarray() if sparse.issparse(X) else X, np.float64)
        slopes = k._slopes(arrays.like(self._projected(X), gradients), gradients)
        return math.sqrt(2.0 / self.n_components) * (slopes @ arrays.like(np.asarray(self.frequencies), slopes))
