"""Sums over all alignments of all of two series: warpings of time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from mercer.annotations import Samples, Weights
from mercer.arrays import Array
from mercer.data import DataError, Domain, Ragged, Series, check_weights, weighted_median
from mercer.data.series import check_same_channels, times_of
from mercer.kernels.base import Kernel, kernel
from mercer.kernels.parameters import positive
from mercer.kernels.sequences.alignments import Aligned
from mercer.kernels.sequences.lanes import Batch, Sweep, as_ranks, held, lane_by_lane, zeros_in_lines
from mercer.troubles import coded

_SAMPLED = 1000  # pairs of frames whose distances are looked at


@dataclass(frozen=True)
class Timed(Ragged):
    """Frames, and the time of each."""

    times: Array


class OfFrames(Aligned):
    """Sums over alignments of all of two series, of Π e/(2 − e), e = exp(rate·‖x_i − z_j‖²): leaves ``_rate``."""

    domain: ClassVar[Domain] = Series()
    _soft: ClassVar[bool] = False  # whether it is Π e that is summed
    _triangle: float = 0.0  # of the triangle by which e is multiplied; 0: none

    @property
    def _rate(self) -> float:
        raise NotImplementedError

    def _readable(self, A: Ragged, B: Ragged) -> tuple[Ragged, Ragged]:
        if A.values.ndim != B.values.ndim:
            raise DataError(
                "Series of numbers and strings of letters have no alignment; give both sides of one kind.", "M107"
            )
        if A.values.ndim == 2:
            if len(A.values) and len(B.values):
                check_same_channels(A.values.shape[1], B.values.shape[1])
            first = self._timed(A)
            return first, first if B is A else self._timed(B)
        ranks = [Ragged(side.values.astype(np.float64)[:, None], side.offsets) for side in as_ranks(A, B)]
        first = self._timed(ranks[0])
        return first, first if B is A else self._timed(ranks[1])

    def _timed(self, A: Ragged) -> Timed:
        """The frames with their times: where nothing is said, their numbers."""
        return Timed(A.values, A.offsets, times_of(A, None) if self._triangle > 0 else np.zeros(0))

    def _with_themselves(self, X: Ragged, A: Ragged, lanes: int) -> Array:
        return lane_by_lane(A, lanes, self._sweep(X, own=True))

    def _sweep(self, A: Ragged, *, own: bool = False) -> Sweep:
        """With ``own``, each series of the batch with itself, whatever the rows."""
        from mercer.native import alignments, lanes

        rate, width, soft = self._rate, float(self._triangle), self._soft
        e = float(np.exp(2 * rate))
        apart = e / (2 - e) if A.values.ndim == 1 else -1.0

        def room(batch: Batch) -> tuple[Array, ...]:
            shape = (batch.longest + 1 + lanes.STEPS, lanes.FLOATS)
            assert isinstance(batch.source, Timed)
            return (
                held(batch),
                batch.also(batch.source.times) if width > 0 else np.zeros((batch.longest, lanes.FLOATS)),
                zeros_in_lines(shape),
                zeros_in_lines(shape),
                zeros_in_lines((alignments.state_rows(batch.longest), lanes.FLOATS)),
            )

        def sweep(X: Ragged, rows: Array, batch: Batch, begin: int, end: int) -> Array:
            assert isinstance(X, Timed)
            out = np.full((len(rows), lanes.FLOATS), -np.inf)
            frames, times, *kept = batch.once(lambda: room(batch))
            alignments.global_alignments(
                X.values, X.offsets, rows, begin, end, own, frames, batch.lengths, rate, apart, X.times, times, width,
                soft, *kept, out,
            )  # fmt: skip
            return out

        return sweep


@kernel
class GlobalAlignment(OfFrames):
    """Σ over alignments of x and z of Π κ(x_i, z_j), normalised; κ = e/(2 − e), e = exp(−‖x_i − z_j‖²/(2σ²)).

    For time series of one or several channels and of different lengths; letters of strings are compared as unit
    vectors, ‖a − b‖² = 2 if they differ. An alignment pairs every frame of x with one or more of z and the other way
    round, in order, as in dynamic time warping, of which this is the sum over all alignments in place of the best one,
    and positive semi-definite. O(|x||z|) a pair, 16 pairs at once, with exponents kept apart: no overflow at any
    length. Of an empty series k(x, ·) = 0.

    With ``triangle`` T, e is multiplied by ω = max(0, 1 − |t_i − t_j|/T): frames that are T or more apart in time are
    not paired. t is the number of the frame, or, for series that were not sampled evenly, the channel ``times``. As a
    function of t_i − t_j a triangle is positive semi-definite, so ωe is, and κ = Σ_k (ωe/2)^k with it [1]_.

    Parameters
    ----------
    sigma : float or "median", default="median"
        σ > 0, the distance over which frames are alike. "median" is the median distance of frames in the data that the
        kernel is bound to times the root of the median length.
    triangle : float, optional
        T > 0, in frames or in the unit of ``times``. Series whose lengths differ by T frames or more then have the
        value 0. None: any frame may be paired with any.
    times : int, optional
        The channel with the time of each frame, which is then not compared; with ``triangle``. It goes on from frame to
        frame; dates and time stamps are seconds.

    See Also
    --------
    LocalAlignment : Alignments of parts of two strings.
    SoftDTW : Of the smooth minimum over alignments.
    Kernel.interpolated : For series with missing values.

    References
    ----------
    .. [1] M. Cuturi. Fast global alignment kernels. ICML 2011.

    Examples
    --------
    >>> import mercer as mc
    >>> series = [[0.0, 1.0, 2.0], [0.0, 0.0, 1.0, 2.0], [2.0, 1.0, 0.0]]
    >>> mc.GlobalAlignment(sigma=1.0)(series).round(3)
    array([[1.   , 0.711, 0.006],
           [0.711, 1.   , 0.002],
           [0.006, 0.002, 1.   ]])
    """

    sigma: Any = positive("median", symbol="σ", words=("median",), continuous=False)
    triangle: float | None = None
    times: int | None = None

    def _validate(self) -> None:
        if self.triangle is not None and not 0 < self.triangle < np.inf:
            raise ValueError(coded(f"GlobalAlignment(triangle={self.triangle!r}): give a number > 0, or None.", "M205"))
        if self.times is None:
            return
        if isinstance(self.times, bool) or not isinstance(self.times, int | np.integer) or self.times < 0:
            raise ValueError(
                coded(f"GlobalAlignment(times={self.times!r}): give the number of a channel from 0, or None.", "M205")
            )
        if self.triangle is None:
            raise ValueError(
                coded(
                    f"GlobalAlignment(times={self.times!r}): times are compared by a triangle alone, and triangle is"
                    " None; give triangle=T, how far apart in time frames may be paired.",
                    "M205",
                )
            )

    @property
    def _data_driven(self) -> bool:
        return isinstance(self.sigma, str)

    def bind(self, X: Samples, weights: Weights = None) -> Kernel:
        if not self._data_driven:
            return self
        checked = self.domain.check(X)
        frames = self._timed(checked) if self.times is not None else checked
        return self._replace(sigma=_median_distance(frames, weights))

    @property
    def _rate(self) -> float:
        return -0.5 / float(self.sigma) ** 2

    @property
    def _triangle(self) -> float:  # type: ignore[override]
        return 0.0 if self.triangle is None else float(self.triangle)

    def _timed(self, A: Ragged) -> Timed:
        if self.times is None or not len(A.values):
            return super()._timed(A)
        t = times_of(A, self.times)
        return Timed(np.delete(A.values, self.times, axis=1), A.offsets, t)


@kernel
class SoftDTW(OfFrames):
    """exp(−rate·D_γ(x, z)), D_γ the divergence of soft dynamic time warping; not positive semi-definite for all data.

    D_γ(x, z) = d(x, z) − ½(d(x, x) + d(z, z)), d(x, z) = −γ log Σ over alignments of exp(−Σ‖x_i − z_j‖²/γ): for γ → 0
    the cost of the best alignment, as in dynamic time warping. It is no squared distance between vectors, so there are
    data for which the matrix has negative eigenvalues: ``repaired()`` is the cure, ``GlobalAlignment`` the kernel that
    needs none. O(|x||z|) a pair, 16 pairs at once, with exponents kept apart. Of an empty series k(x, ·) = 0.

    Parameters
    ----------
    gamma : float, default=1.0
        γ > 0: the smaller, the more the best alignment counts alone.
    rate : float, default=1.0
        How fast the value falls with the divergence.

    See Also
    --------
    GlobalAlignment : A sum over alignments that is positive semi-definite.
    Kernel.repaired : A kernel from an indefinite similarity.

    References
    ----------
    .. [1] M. Cuturi and M. Blondel. Soft-DTW: a differentiable loss function for time-series. ICML 2017.
    .. [2] M. Blondel, A. Mensch and J.-P. Vert. Differentiable divergences between time series. AISTATS 2021.

    Examples
    --------
    >>> import mercer as mc
    >>> series = [[0.0, 1.0, 2.0], [0.0, 0.0, 1.0, 2.0], [2.0, 1.0, 0.0]]
    >>> mc.SoftDTW(gamma=1.0, rate=0.5)(series).round(3)
    array([[1.   , 0.833, 0.019],
           [0.833, 1.   , 0.009],
           [0.019, 0.009, 1.   ]])
    """

    psd = False
    _soft: ClassVar[bool] = True
    gamma: float = positive(1.0, symbol="γ", continuous=False)
    rate: float = positive(1.0, continuous=False)

    @property
    def _rate(self) -> float:
        return -1.0 / float(self.gamma)

    def _of_logarithms(self, normalised: Array) -> Array:
        out: Array = np.exp(float(self.rate) * float(self.gamma) * normalised)
        return out


def _median_distance(X: Ragged, weights: Weights) -> float:
    """The median distance of two frames, of some pairs drawn with a fixed seed, times the root of the median length."""
    w = check_weights(len(X), weights)
    if not len(X.values):
        raise DataError("All series are empty: sigma='median' has nothing to follow. Give a number.", "M116")
    chance = np.repeat(w, X.lengths)
    pairs = np.random.default_rng(0).choice(len(X.values), (2, _SAMPLED), p=chance / chance.sum())
    a, b = X.values[pairs[0]], X.values[pairs[1]]
    distance = np.sqrt(2.0 * (a != b)) if a.ndim == 1 else np.linalg.norm(a - b, axis=1)
    typical = float(np.median(distance)) or float(np.mean(distance)) or 1.0
    return typical * float(np.sqrt(max(1.0, weighted_median(X.lengths, w))))
