"""Signature kernels: series compared by all iterated integrals of their paths, without computing one of them."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np

from mercer.annotations import Items, Samples, Weights
from mercer.arrays import Array
from mercer.data import Domain, Ragged, Series, check_weights, weighted_median
from mercer.data.representations import offsets_of
from mercer.data.series import check_same_channels
from mercer.kernels.base import Kernel, kernel
from mercer.kernels.parameters import natural, nonnegative, positive
from mercer.kernels.sequences.lanes import Batch, LaneKernel, Sweep, SweptScaled, held, swept, zeros_in_lines
from mercer.kernels.vectors.products import Linear
from mercer.kernels.vectors.radial import Gaussian
from mercer.troubles import coded

_ROUNDING = 1e-6  # of k(x, x) ≥ 1
_SCALED = np.dtype([("value", np.float64), ("power", np.int32)])


class OfPaths(Kernel):
    """A kernel on the paths through the frames of series; those who derive declare the parameters that are named here.

    ``_prepare`` makes the paths: channels times ``scale``, a frame of zeros before them with ``basepoint``, and time,
    from 0 to ``time``, as a further channel.
    """

    domain: ClassVar[Domain] = Series(letters=False)
    _same_items = False  # the kernel of the frames sees frames
    frames: Kernel
    scale: Any
    time: float
    basepoint: bool

    def _validate(self) -> None:
        if not isinstance(self.frames, Linear | Gaussian) or np.ndim(getattr(self.frames, "gamma", 0.0)):
            raise ValueError(
                coded(
                    f"{type(self).__name__}(frames={self.frames}): frames are compared by Linear() or by Gaussian(γ),"
                    " with one γ for all channels.",
                    "M215",
                )
            )

    @property
    def _data_driven(self) -> bool:
        return isinstance(self.scale, str) or super()._data_driven

    def bind(self, X: Samples, weights: Weights = None) -> Kernel:
        if not self._data_driven:
            return self
        X = self.domain.check(X)
        w = check_weights(len(X), weights)
        bound = self._replace(scale=_one_over_median_length(X, w)) if isinstance(self.scale, str) else self
        if not self.frames._data_driven:
            return bound
        paths = bound._prepare(X)
        return bound._replace(frames=self.frames.bind(paths.values, np.repeat(w, paths.lengths)))

    # the frames' kernel is no formula here: its parameter has no derivative
    def _continuous(self, prefix: str) -> list[str]:
        return []

    def _symbolic(self, prefix: str) -> Self:
        return self._replace(_with_numbers=self)

    def _prepare(self, X: Ragged) -> Ragged:
        values, lengths = float(self.scale) * X.values, X.lengths
        if self.basepoint:
            begins = X.offsets[:-1]
            values, lengths = np.insert(values, begins, 0.0, axis=0), lengths + 1
        offsets = offsets_of(lengths)
        if self.time > 0:
            passed = np.arange(len(values)) - np.repeat(offsets[:-1], lengths)
            share = passed / np.repeat(np.maximum(lengths - 1, 1), lengths)
            values = np.column_stack([values, float(self.time) * share])
        return Ragged(np.ascontiguousarray(values), offsets)

    def _sides(self, A: Ragged, B: Ragged) -> tuple[Ragged, Ragged]:
        """Both sides, of the same channels."""
        if len(A.values) and len(B.values):
            check_same_channels(*(side.values.shape[1] - (self.time > 0) for side in (A, B)))
        return A, B

    @property
    def _rate(self) -> float:
        """γ of the frames with a minus; 0 for Linear."""
        return -float(self.frames.gamma) if isinstance(self.frames, Gaussian) else 0.0


def _one_over_median_length(X: Ragged, weights: Array) -> float:
    """1/(the median length of the paths); that of the mean, or 1, where the median is 0."""
    steps = np.linalg.norm(np.diff(X.values, axis=0), axis=1)
    within = np.ones(len(steps), bool)
    ends = X.offsets[1:-1]
    within[ends[(ends > 0) & (ends <= len(steps))] - 1] = False
    owner = np.repeat(np.arange(len(X)), X.lengths)[1:]
    lengths = np.bincount(owner[within], steps[within], minlength=len(X))
    return 1.0 / (weighted_median(lengths, weights) or float(np.average(lengths, weights=weights)) or 1.0)


def _room(batch: Batch, fine: int, levels: int) -> tuple[Array, ...]:
    """What the loops read and keep: frames, steps; scratch, edges; increments, and sums for each level."""
    from mercer.native import lanes, signatures

    frames = held(batch)
    count = max(0, len(frames) - 1)
    coarse, places = signatures.padded(count), signatures.padded(fine * count)
    steps = zeros_in_lines((coarse - 1, *frames.shape[1:]))
    steps[:count] = np.diff(frames, axis=0)
    return (
        frames,
        steps,
        zeros_in_lines((3, len(frames) + lanes.STEPS, lanes.FLOATS)),
        zeros_in_lines((len(frames) + lanes.STEPS, lanes.FLOATS)),
        zeros_in_lines((coarse, lanes.FLOATS)),
        zeros_in_lines((levels, places, lanes.FLOATS)),
    )


@kernel
class Signature(OfPaths, SweptScaled):
    """⟨S(x), S(z)⟩ of signatures: Σ over k of the inner products of all k-fold iterated integrals of two paths.

    The path goes in straight lines through the frames of a series, of one or several channels and of any length; its
    signature, the integrals ∫∫ dx^a dx^b …, tells it from every other path, but for how fast it is run through and for
    ways there and back. Hence two things to choose: ``time`` as a further channel, without which a series of one
    channel is known by its increment alone, and ``basepoint``, without which it may be moved by a constant. The kernel
    of the limit solves ∂²u/∂s∂t = ⟨ẋ_s, ż_t⟩ u [1]_. Here S(x) is the product of 1 + δ + δ²/2 over the increments δ in
    the algebra of tensors, each taken in 2^refine steps: right up to the square of a step, as the finite differences of
    [1]_ are, and an inner product for each step, hence positive semi-definite, which finite differences are not.
    O(4^refine·|x||z|) a pair, 16 pairs at once. Values grow as exp(lengths of the paths) and are computed with powers
    of 2 apart: ``normalized()`` is usual, and right at any size; but what remains of a path that goes far and comes
    back is lost in rounding when its sums on the way were 10¹⁰ times as large, so ``scale`` should keep paths to a
    length of about 1 to 16. A series that stands still, of one frame without ``basepoint``, or of none, has
    k(x, ·) = 1.

    Parameters
    ----------
    frames : Kernel, default=Linear()
        The inner product of frames: ``Linear()``, or ``Gaussian(γ)``, for the path of the features of a Gaussian
        kernel, computed from second differences of its values.
    scale : float or "median", default="median"
        What the channels are multiplied by. "median" is 1/(the median length of the paths in the data that the kernel
        is bound to).
    time : float, default=1.0
        A further channel that runs evenly from 0 to ``time`` in each series; 0: none.
    basepoint : bool, default=False
        Whether each path begins at 0.
    refine : int, default=0
        Each increment is taken in 2^refine steps.

    See Also
    --------
    TruncatedSignature : Iterated sums of up to some levels.
    GlobalAlignment : Sums over alignments.

    References
    ----------
    .. [1] C. Salvi, T. Cass, J. Foster, T. Lyons and W. Yang. The signature kernel is the solution of a Goursat PDE.
       SIAM J. Math. Data Sci. 3, 2021.

    Examples
    --------
    >>> import mercer as mc
    >>> series = [[0.0, 1.0, 2.0], [0.0, 0.0, 1.0, 2.0], [2.0, 1.0, 0.0]]
    >>> mc.Signature(scale=1.0).normalized()(series).round(3)
    array([[ 1.   ,  0.975, -0.011],
           [ 0.975,  1.   , -0.007],
           [-0.011, -0.007,  1.   ]])
    >>> float(mc.Signature(scale=1.0, time=0.0, refine=8)([[0.0, 1.0]])[0, 0].round(4))  # Σ 1/(k!)²
    2.2796
    """

    frames: Kernel = Linear()
    scale: Any = positive(default="median", words=("median",), continuous=False)
    time: float = nonnegative(default=1.0, continuous=False)
    basepoint: bool = False
    refine: int = natural(default=0, minimum=0, maximum=10)

    def _scaled(self, A: Ragged, B: Ragged) -> tuple[Array, Array | None]:
        from mercer.native import lanes

        fine = 2 ** int(self.refine)
        found = swept(*self._sides(A, B), lanes.FLOATS, 0, self._sweep(), work=fine * fine, dtype=_SCALED)
        values, powers = np.ascontiguousarray(found["value"]), found["power"]
        if B is A:
            self._check_selfs(np.diagonal(values), np.diagonal(powers))
        return values, powers if powers.any() else None

    def _with_themselves(self, A: Ragged) -> tuple[Array, Array]:
        values, powers = super()._with_themselves(A)
        self._check_selfs(values, powers)
        return values, powers

    def _check_selfs(self, values: Array, powers: Array | None) -> None:
        """k(x, x) ≥ 1, of which level 0 alone is 1."""
        lost = values < (1.0 - _ROUNDING if powers is None else np.where(powers == 0, 1.0 - _ROUNDING, 0.0))
        if lost.any():
            i = int(np.argmax(lost))
            raise FloatingPointError(
                coded(
                    f"{self}: k(x, x) of item {i} is at least 1, and less came out: its path goes far and comes back,"
                    " and rounding is all that is left. Take a smaller scale.",
                    "M210",
                )
            )

    def _sweep(self) -> Sweep:
        from mercer.native import lanes, signatures

        rate, order = self._rate, int(self.refine)

        def room(batch: Batch) -> tuple[Array, ...]:
            *first, sums = _room(batch, 2**order, 2)
            return (*first, sums[0], sums[1], np.zeros(lanes.FLOATS, np.int64))

        def sweep(X: Ragged, rows: Array, batch: Batch, begin: int, end: int) -> Array:
            out = np.zeros((len(rows), lanes.FLOATS), _SCALED)
            values, powers = np.ones(out.shape), np.zeros(out.shape, np.int32)
            frames, steps, *kept = batch.once(lambda: room(batch))
            signatures.signatures(
                X.values, X.offsets, rows, begin, end, frames, steps, batch.lengths, rate, order, *kept, values, powers
            )
            out["value"], out["power"] = values, powers
            return out

        return sweep


@kernel
class TruncatedSignature(OfPaths, LaneKernel):
    """Σ over levels l ≤ n of Σ over i_1 < … < i_l and j_1 < … < j_l of Π ⟨δx_i, δz_j⟩: iterated sums of increments.

    The inner product of the signatures of two series as sequences [1]_, up to level n: what ``Signature`` is for the
    paths, without its higher levels; level 0 is 1. Positive semi-definite, at any scale. O(levels·|x||z|) a pair, 16
    pairs at once. A series without increments, of one frame without ``basepoint``, or of none, has k(x, ·) = 1.

    Parameters
    ----------
    levels : int, default=4
        n ≥ 1, the longest tuples of places that are summed.
    frames : Kernel, default=Linear()
        The inner product of frames: ``Linear()`` or ``Gaussian(γ)``.
    scale : float or "median", default="median"
        What the channels are multiplied by; level l grows as its power 2l. "median" is 1/(the median length of the
        paths in the data that the kernel is bound to).
    time : float, default=1.0
        A further channel that runs evenly from 0 to ``time`` in each series; 0: none.
    basepoint : bool, default=False
        Whether each path begins at 0.

    See Also
    --------
    Signature : All levels.

    References
    ----------
    .. [1] F. J. Király and H. Oberhauser. Kernels for sequentially ordered data. JMLR 20, 2019.

    Examples
    --------
    >>> import mercer as mc
    >>> series = [[0.0, 1.0, 2.0], [0.0, 0.0, 1.0, 2.0], [2.0, 1.0, 0.0]]
    >>> mc.TruncatedSignature(levels=2, scale=1.0, time=0.0)(series)
    array([[ 6.,  6., -2.],
           [ 6.,  6., -2.],
           [-2., -2.,  6.]])
    """

    levels: int = natural(4)
    frames: Kernel = Linear()
    scale: Any = positive(default="median", words=("median",), continuous=False)
    time: float = nonnegative(default=1.0, continuous=False)
    basepoint: bool = False

    def _lane_matrix(self, A: Items, B: Items) -> Array:
        from mercer.native import lanes

        levels = int(self.levels)
        return swept(*self._sides(A, B), lanes.FLOATS, 0, self._sweep(levels), work=levels)

    def _sweep(self, levels: int) -> Sweep:
        from mercer.native import lanes, signatures

        rate = self._rate

        def sweep(X: Ragged, rows: Array, batch: Batch, begin: int, end: int) -> Array:
            out = np.ones((len(rows), lanes.FLOATS))
            frames, steps, *kept = batch.once(lambda: _room(batch, 1, levels + 1))
            signatures.truncated_signatures(
                X.values, X.offsets, rows, begin, end, frames, steps, batch.lengths, rate, *kept, out
            )
            return out

        return sweep
