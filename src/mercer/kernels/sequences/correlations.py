"""Series compared at all shifts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy import fft

from mercer.annotations import Index, Items, Samples, Weights
from mercer.arrays import Array
from mercer.data import DataError, Domain, Ragged, Series, chunks
from mercer.data.series import check_same_channels
from mercer.kernels.base import Kernel, kernel
from mercer.kernels.parameters import positive
from mercer.kernels.scaled import plain
from mercer.runtime import threads
from mercer.troubles import coded

_VALUES = 2**20  # correlations at a time


@dataclass(frozen=True, eq=False)
class Spectra:
    """Fourier transforms of series of one length: items × channels × frequencies."""

    values: Array

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, rows: Index) -> Spectra:
        return Spectra(self.values[rows])


@kernel
class CrossCorrelation(Kernel):
    """Σ over shifts s of exp(γ·corr(x, z shifted by s)): the same for a series and for that series shifted.

    corr is the inner product of all channels, each less its mean, divided by the norms of both series. Shifts are those
    of a circle of ``length`` places, to which shorter series are filled up with zeros: what leaves at the end enters at
    the beginning. They form a group, and exp(γ·corr) is a kernel that does not change where both series are shifted;
    hence the sum is 1/length times its sum over all shifts of x and all of z, an inner product of sums of features: it
    is positive semi-definite, unlike the largest correlation [1]_. Where nothing should go round the end, take a
    ``length`` of twice the longest series. Computed by Fourier transforms: O(length·log(length)) a pair. A constant
    series correlates with nothing.

    Parameters
    ----------
    gamma : float, default=10.0
        γ > 0, at most 700. The larger, the more the best shift counts alone.
    length : int or "longest", default="longest"
        The number of places of the circle; "longest" is the length of the longest series that the kernel is bound to.

    See Also
    --------
    GlobalAlignment : Series whose times are stretched.

    References
    ----------
    .. [1] G. Wachman, R. Khardon, P. Protopapas and C. R. Alcock. Kernels for periodic time series arising in
       astronomy. ECML PKDD 2009.

    Examples
    --------
    >>> import mercer as mc
    >>> series = [[0.0, 1.0, 2.0, 1.0], [2.0, 1.0, 0.0, 1.0], [0.0, 2.0, 0.0, 2.0]]
    >>> mc.CrossCorrelation(gamma=2.0).normalized()(series).round(3)
    array([[1.   , 1.   , 0.334],
           [1.   , 1.   , 0.334],
           [0.334, 0.334, 1.   ]])
    """

    domain: ClassVar[Domain] = Series(letters=False)
    gamma: float = positive(10.0, symbol="γ", continuous=False, maximum=700.0)
    length: int | str = "longest"

    def _validate(self) -> None:
        whole = isinstance(self.length, int | np.integer) and not isinstance(self.length, bool) and self.length >= 1
        if not whole and self.length != "longest":
            raise ValueError(
                coded(
                    f"CrossCorrelation(length={self.length!r}): give a whole number of at least 1, or 'longest'.",
                    "M205",
                )
            )

    @property
    def _data_driven(self) -> bool:
        return isinstance(self.length, str)

    def bind(self, X: Samples, weights: Weights = None) -> Kernel:
        if not self._data_driven:
            return self
        return self._replace(length=max(1, int(self.domain.check(X).lengths.max(initial=1))))

    def _prepare(self, X: Ragged) -> Spectra:
        length = int(self.length)
        if (X.lengths > length).any():
            i = int(np.argmax(X.lengths > length))
            raise DataError(
                f"Item {i} of the series has {X.lengths[i]} frames, more than the length={length} of the kernel; cut"
                " it, give a larger length, or bring all to one number of frames: kernel.resampled(count).",
                "M106",
            )
        frames = np.zeros((len(X), X.values.shape[1], length))
        for i, x in enumerate(X):
            if len(x):
                frames[i, :, : len(x)] = _centred((x / (np.abs(x).max() or 1.0)).T)
        return Spectra(fft.rfft(frames, axis=2, workers=1))

    def _block(self, A: Items, B: Items) -> Any:
        left, right = plain(A).values, plain(B).values
        if len(left) and len(right):
            check_same_channels(left.shape[1], right.shape[1])
        out, length = np.empty((len(left), len(right))), int(self.length)
        others = np.ascontiguousarray(right.conj().transpose(2, 1, 0))
        for some in chunks(len(left), max(1, _VALUES // max(1, length * len(right)))):
            if threads.stopping():
                break
            out[some] = self._summed(left[some].transpose(2, 0, 1) @ others)
        return out

    def _diag(self, A: Items) -> Any:
        spectra = plain(A).values
        return self._summed((spectra * spectra.conj()).sum(axis=1).T)

    def _summed(self, spectra: Array) -> Array:
        """Σ_s exp(γ·r_s), r with these Fourier transforms, frequencies first."""
        r = fft.irfft(spectra, n=int(self.length), axis=0, overwrite_x=True, workers=1)
        r *= float(self.gamma)
        total: Array = np.exp(r, out=r).sum(axis=0)
        return total


def _centred(channels: Array) -> Array:
    """Each channel less its mean, all together of norm 1; 0 where a channel does not change beyond rounding."""
    centred = channels - channels.mean(axis=1, keepdims=True)
    sizes = np.linalg.norm(centred, axis=1)
    centred[sizes <= 1e-12 * np.linalg.norm(channels, axis=1)] = 0.0
    norm = np.linalg.norm(centred)
    out: Array = centred / norm if norm > 0 else centred
    return out
