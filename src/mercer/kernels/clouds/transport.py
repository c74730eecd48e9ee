"""Sets of vectors by how far mass must be moved to make one of the other, on lines in many directions."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from mercer.annotations import Index, Items, Samples, Weights
from mercer.arrays import Array
from mercer.data import DataError, Domain, Ragged, check_weights, chunks, size, take, weighted_median
from mercer.data.clouds import Diagrams, check_same_points
from mercer.data.representations import offsets_of
from mercer.formula import exp, recorded, where
from mercer.kernels.approximations.draws import MOST_QUASI, draw
from mercer.kernels.base import Kernel, kernel
from mercer.kernels.clouds.sets import BetweenSets
from mercer.kernels.parameters import natural, positive
from mercer.runtime import threads

_STEPS = 2**24  # of a call, so that an interrupt is not late
_PLACES = 2**20  # that are sorted at a time
_SAMPLED = 200  # sets whose distances are looked at


def lines(count: int, d: int, seed: int) -> Array:
    """Directions that fill half of the sphere evenly, one in each row: in the plane at equal angles from −π/2 on,
    beyond from a Sobol' sequence scrambled by the seed.
    """
    if d == 1:
        return np.ones((1, 1))
    if d == 2:
        angles = math.pi * (np.arange(count) / count - 0.5)
        return np.column_stack([np.cos(angles), np.sin(angles)])
    if d > MOST_QUASI:
        raise DataError(f"Directions are drawn for at most {MOST_QUASI} columns, the points have {d}.", "M205")
    normal, _ = draw("quasi", count, d, np.random.default_rng(seed))
    return np.asarray(normal / np.linalg.norm(normal, axis=1, keepdims=True))


def _of_one_size(lengths: Array, count: int) -> Iterator[Array]:
    """Which diagrams have one length, some at a time: their places on ``count`` lines are sorted together."""
    for m in np.unique(lengths):
        members = np.flatnonzero(lengths == m)
        for some in chunks(len(members), max(1, _PLACES // (count * (2 * int(m) + 1)))):
            yield members[some]


@dataclass(frozen=True)
class Projected(Ragged):
    """The places of points of ``columns`` numbers on each line."""

    columns: int

    def take(self, rows: Index) -> Projected:
        part = super().take(rows)
        return Projected(part.values, part.offsets, self.columns)


class Transported(Kernel):
    """exp(−γ D(x, z)), D a distance that compiled code finds: leaves ``_lengths`` to write."""

    _halves: ClassVar[bool] = True
    gamma: Any

    def _lengths(self, A: Items, B: Items, same: bool, first: int, out: Array) -> None:
        """out[i, j] = D(a_i, b_j), −1 where there is none; if the rows are the ``same`` as those of B from ``first``
        on, for j ≥ first + i.
        """
        raise NotImplementedError

    @property
    def _data_driven(self) -> bool:
        return isinstance(self.gamma, str)

    def bind(self, X: Samples, weights: Weights = None) -> Kernel:
        return self._replace(gamma=_one_over_median(self, X, weights)) if self._data_driven else self

    def distances(self, X: Samples, Y: Samples = None) -> Array:
        """D between the sets of X and those of Y, or of X.

        Parameters
        ----------
        X, Y : collection of samples
            Rows and columns.

        Returns
        -------
        ndarray of shape (len(X), len(Y))
            The distances; infinite from and to an empty set that has none.
        """
        A = self._prepare(self.domain.check(X))
        D = self._distances(A, A if Y is None else self._prepare(self.domain.check(Y)))
        return np.where(D < 0, np.inf, D)

    def _distances(self, A: Items, B: Items) -> Array:
        if hasattr(_first(A), "__formula__"):
            raise TypeError("sets of points are compared as they are, not as symbols")
        first, second = _first(A), _first(B)
        if isinstance(first, Projected) and isinstance(second, Projected):
            check_same_points(first.columns, second.columns)
        out = np.zeros((len(first), len(second)))
        steps = first.values.size / max(1, len(first)) * len(second) + second.values.size
        for rows in chunks(len(first), max(1, int(_STEPS / max(1.0, steps)))):
            if threads.stopping():
                break
            self._lengths(take(A, rows), B, B is A, rows.start, out[rows])
        if B is A:
            np.copyto(out, out.T, where=np.tri(len(out), k=-1, dtype=bool))
        return out

    def _block(self, A: Items, B: Items) -> Any:
        D = recorded(self._distances, A, B)
        return where(D < 0.0, 0.0, exp(-self.gamma * D))

    def _diag(self, A: Items) -> Any:
        return recorded(self._own, A)

    def _own(self, A: Items) -> Array:
        """k(x, x) = 1, and 0 where there is no distance."""
        if hasattr(_first(A), "__formula__"):
            raise TypeError("sets of points are compared as they are, not as symbols")
        return np.ones(len(_first(A)))


def _first(A: Items) -> Any:
    return A[0] if isinstance(A, tuple) else A


def _one_over_median(k: Transported, X: Samples, weights: Weights) -> float:
    """1/(median distance), over the pairs of some sets drawn with a fixed seed."""
    X = k.domain.check(X)
    w = check_weights(size(X), weights)
    some = np.flatnonzero(w)
    if len(some) > _SAMPLED:
        some = np.sort(np.random.default_rng(0).choice(some, _SAMPLED, replace=False))
    A = k._prepare(take(X, some))
    D = k._distances(A, A)
    i, j = np.triu_indices(len(some), 1)
    far = D[i, j] > 0
    if not far.any():
        raise DataError(f"{k}: no two sets differ, and gamma='median' has nothing to follow. Give a number.", "M214")
    return 1.0 / weighted_median(D[i, j][far], (w[some][i] * w[some][j])[far])


@kernel
class SlicedWasserstein(BetweenSets, Transported):
    """exp(−γ SW₂²(x, z)) or exp(−γ SW₁(x, z)), SW_p^p(x, z) the mean over directions θ of W_p^p between the points of
    x and z projected on θ.

    Sets as distributions, by how far mass must be moved to make one of the other; sensitive to where points are and not
    only to how near they are. On a line W_p^p is the distance of the quantile functions, ∫|F⁻¹ − G⁻¹|^p dq, found
    exactly for sets of any two sizes. The directions are fixed: at equal angles for points in the plane, else drawn
    evenly (Sobol') from a seed; one is enough on a line. Positive semi-definite for every choice of directions, since
    SW₁ and SW₂² are means of distances between functions, L₁ of distribution functions and squared L₂ of quantile
    functions, and so conditionally negative definite [1]_.

    Cost: |x| + |z| steps for each direction, all directions together in vector instructions. Memory: a number for each
    point and direction. An empty set has the value 0 with every other, and is told of.

    Parameters
    ----------
    gamma : float or "median", default="median"
        γ > 0. "median" is 1/(median distance) of at most 200 sets of the data that the kernel is bound to.
    directions : int, default=50
        How many directions.
    power : {1, 2}, default=2
        p, of the distance that is moved: 2 for SW₂², smooth; 1 for SW₁, less moved by points that are far away.
    seed : int, default=0
        Of the directions, where points have three columns or more.

    See Also
    --------
    MeanEmbedding : By the mean in the space of a kernel.
    PersistenceSlicedWasserstein : Between persistence diagrams.

    References
    ----------
    .. [1] S. Kolouri, Y. Zou and G. K. Rohde. Sliced Wasserstein kernels for probability distributions. CVPR 2016.
    .. [2] M. Carrière, M. Cuturi and S. Oudot. Sliced Wasserstein kernel for persistence diagrams. ICML 2017.

    Examples
    --------
    >>> import mercer as mc
    >>> clouds = [[[0.0, 0.0], [1.0, 0.0]], [[0.0, 0.0]], [[3.0, 3.0], [3.0, 4.0], [4.0, 3.0]]]
    >>> mc.SlicedWasserstein(gamma=0.1)(clouds).round(3)
    array([[1.   , 0.975, 0.38 ],
           [0.975, 1.   , 0.322],
           [0.38 , 0.322, 1.   ]])
    >>> mc.SlicedWasserstein(power=1).distances([[0.0, 1.0], [0.5], [2.0, 2.0, 5.0]])
    array([[0. , 0.5, 2.5],
           [0.5, 0. , 2.5],
           [2.5, 2.5, 0. ]])
    """

    gamma: Any = positive("median", symbol="γ", words=("median",))
    directions: int = natural(50)
    power: int = natural(2, maximum=2)
    seed: int = natural(0, minimum=0)

    def _prepare(self, X: Ragged) -> Any:
        if not len(X.values):
            return X
        values = np.asarray(X.values, np.float64)
        projected = values @ lines(int(self.directions), values.shape[1], int(self.seed)).T
        for i in range(len(X)):
            projected[X.offsets[i] : X.offsets[i + 1]].sort(axis=0)
        return Projected(projected, X.offsets, values.shape[1])

    def _lengths(self, A: Items, B: Items, same: bool, first: int, out: Array) -> None:
        from mercer.native import clouds

        clouds.transport(A.values, A.offsets, B.values, B.offsets, self.power == 2, same, first, out)

    def _own(self, A: Items) -> Array:
        return super()._own(A) * (A.lengths > 0)


@kernel
class PersistenceSlicedWasserstein(Transported):
    """exp(−γ SW(x, z)) between persistence diagrams, SW the mean over directions θ of the distance on θ between x ∪ πz
    and z ∪ πx, π the projection onto the diagonal.

    What is born and dies soon costs little, being near the diagonal, from where it may be matched. On a line the
    distance is ∫|F − G| dt of counts up to t, and the counts of πx and πz go to the other side: it is the L₁ distance
    of a function of x and one of z, so that SW is conditionally negative definite and the kernel positive
    semi-definite, for every number of directions. Directions are at equal angles of a half circle.

    Cost: O(|x| + |z|) for each direction. What the pairs of a diagram may be: see ``PersistenceScaleSpace``.

    Parameters
    ----------
    gamma : float or "median", default="median"
        γ > 0, the 1/(2σ²) of [1]_. "median" is 1/(median distance) of at most 200 diagrams of the data that the kernel
        is bound to.
    directions : int, default=10
        How many directions.

    See Also
    --------
    PersistenceScaleSpace : An inner product of diagrams, diffused.

    References
    ----------
    .. [1] M. Carrière, M. Cuturi and S. Oudot. Sliced Wasserstein kernel for persistence diagrams. ICML 2017.

    Examples
    --------
    >>> import mercer as mc
    >>> diagrams = [[[0.0, 1.0], [0.2, 0.3]], [[0.0, 1.0]], [[0.5, 3.0]], []]
    >>> mc.PersistenceSlicedWasserstein(gamma=1.0)(diagrams).round(3)
    array([[1.   , 0.956, 0.279, 0.608],
           [0.956, 1.   , 0.292, 0.636],
           [0.279, 0.292, 1.   , 0.323],
           [0.608, 0.636, 0.323, 1.   ]])
    """

    domain: ClassVar[Domain] = Diagrams()
    gamma: Any = positive("median", symbol="γ", words=("median",))
    directions: int = natural(10)

    def _prepare(self, X: Ragged) -> Any:
        """For each diagram its places on each line, from left to right up to ∞, and the count before each of them.

        Pairs count 1, their projections −1. Which of two at one place comes first does not matter.
        """
        onto = lines(int(self.directions), 2, 0)
        offsets = offsets_of(len(onto) * (2 * X.lengths + 1))
        values, below = np.empty(offsets[-1]), np.empty(offsets[-1])
        for members in _of_one_size(X.lengths, len(onto)):
            m = X.lengths[members[0]]
            birth, death = np.moveaxis(X.values[X.offsets[members, None, None] + np.arange(m)], -1, 0)
            there = np.full((len(members), len(onto), 2 * m + 1), np.inf)
            there[..., :m] = birth * onto[:, :1] + death * onto[:, 1:]
            there[..., m:-1] = (birth + death) * (onto.sum(axis=1, keepdims=True) / 2)
            order = np.argsort(there, axis=-1)
            steps = np.concatenate([np.ones(m), -np.ones(m + 1)])[order]
            rows = offsets[members, None] + np.arange(there[0].size)
            values[rows] = np.take_along_axis(there, order, axis=-1).reshape(len(members), -1)
            below[rows] = (np.cumsum(steps, axis=-1) - steps).reshape(len(members), -1)
        return Ragged(values, offsets), Ragged(below, offsets)

    def _lengths(self, A: Items, B: Items, same: bool, first: int, out: Array) -> None:
        from mercer.native import clouds

        (x, below), (z, other_below) = A, B
        sides = (x.values, below.values, x.offsets, z.values, other_below.values, z.offsets)
        clouds.signed_transport(*sides, int(self.directions), same, first, out)
