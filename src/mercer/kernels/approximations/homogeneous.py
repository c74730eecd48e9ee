"""Features of additive kernels on histograms, from samples of their spectrum."""

from __future__ import annotations

import math
from functools import cache
from typing import Any, ClassVar

import numpy as np
from scipy import optimize, sparse

from mercer import arrays
from mercer.annotations import Samples
from mercer.arrays import Array
from mercer.kernels.base import Kernel, kernel
from mercer.kernels.compose.composite import Composite
from mercer.kernels.families import Explicit, Homogeneous
from mercer.kernels.parameters import _is_real, natural
from mercer.troubles import coded


@kernel
class HomogeneousMap(Composite, Explicit):
    """Σ_j √(x_j z_j) (2π/p) Σ_{|i| ≤ order} κ(2πi/p) cos(2πi/p · log(x_j/z_j)): a kernel of histograms by 2·order + 1
    features for each bin.

    κ is the spectrum of the kernel: κ(λ) = 1/cosh(πλ) for ``AdditiveChiSquared``, 2/(π(1 + 4λ²)) for
    ``HistogramIntersection``. As the sum takes the place of an integral, values are approximated for ratios x_j/z_j
    between exp(−p/2) and exp(p/2), p the period, and the error falls as ``order`` grows; nothing is random, and nothing
    follows the data. An empty bin has features 0: sparse tables stay sparse.

    Memory: n·d·(2·order + 1) numbers of the data's precision; of a sparse table, those of its entries.

    Parameters
    ----------
    kernel : Kernel
        ``AdditiveChiSquared()`` or ``HistogramIntersection()``.
    order : int, default=2
        The number of frequencies beside 0.
    period : float or None, default=None
        p > 0, the range of log(x_j/z_j) after which values repeat. None: that of the least mean squared error, of
        values relative to (x_j + z_j)/2, over all ratios. scikit-learn's ``AdditiveChi2Sampler(sample_steps,
        sample_interval)`` is order = sample_steps − 1, period = 2π/sample_interval.

    See Also
    --------
    Hellinger : Order 0, exactly: Σ_j √(x_j z_j).
    RandomFeatures : Kernels of distances; its notes have ``ChiSquared``.

    References
    ----------
    .. [1] A. Vedaldi and A. Zisserman. Efficient additive kernels via explicit feature maps. IEEE Transactions on
       Pattern Analysis and Machine Intelligence 34, 2012.

    Examples
    --------
    >>> import mercer as mc
    >>> X = [[0.7, 0.3, 0.0], [0.2, 0.5, 0.3]]
    >>> mc.AdditiveChiSquared()(X).round(3)
    array([[1.   , 0.686],
           [0.686, 1.   ]])
    >>> k = mc.HomogeneousMap(mc.AdditiveChiSquared(), order=3)
    >>> bool(abs(k(X) - mc.AdditiveChiSquared()(X)).max() < 0.01), k.features(X).shape
    (True, (2, 21))
    """

    usage: ClassVar[str] = "HomogeneousMap(kernel, order=2, period=None)"
    _rotation_invariant = False

    kernel: Kernel
    order: int = natural(2, minimum=0)
    period: float | None = None

    @property
    def psd(self) -> bool:  # type: ignore[override]
        return True

    def _validate(self) -> None:
        if not isinstance(self.kernel, Homogeneous):
            raise TypeError(
                coded(
                    "HomogeneousMap is for AdditiveChiSquared() and HistogramIntersection(), whose spectrum is known,"
                    f" not for {self.kernel}; for others there is Nystrom(kernel).",
                    "M215",
                )
            )
        fine = _is_real(self.period) and 0 < self.period < math.inf if self.period is not None else True
        if not fine:
            raise ValueError(
                coded(f"HomogeneousMap(period={self.period!r}): period must be a positive number or None.", "M205")
            )

    def _sampled(self) -> tuple[float, Any]:
        """The step between frequencies, and the root of the weight of each."""
        assert isinstance(self.kernel, Homogeneous)
        step = 2.0 * math.pi / (_best_period(self.kernel, int(self.order)) if self.period is None else self.period)
        weights = step * self.kernel._spectrum(step * np.arange(self.order + 1))
        weights[1:] *= 2.0
        return step, np.sqrt(weights)

    def _map(self, X: Samples) -> Any:
        step, sizes = self._sampled()
        if sparse.issparse(X) and not X.has_canonical_format:
            X = X.copy()
            X.sum_duplicates()
        x = X.data if sparse.issparse(X) else X
        xp = arrays.namespace(x)
        root, turn = xp.sqrt(x), step * xp.log(xp.where(x > 0, x, xp.ones_like(x)))
        columns = [float(sizes[0]) * root]
        for i in range(1, self.order + 1):
            size = float(sizes[i]) * root
            columns += [size * xp.cos(i * turn), size * xp.sin(i * turn)]
        if sparse.issparse(X):
            return sparse.hstack([sparse.csr_array((c, X.indices, X.indptr), X.shape) for c in columns], format="csr")
        return xp.concatenate(columns, axis=1)

    def _pull_back(self, X: Samples, gradients: Array) -> Any:
        """Of √x cos(a log x): (½ cos(a log x) − a sin(a log x))/√x, and so for the sine; 0 in an empty bin."""
        step, sizes = self._sampled()
        X = arrays.astype(X.toarray() if sparse.issparse(X) else X, np.float64)
        xp = arrays.namespace(X)
        inside = xp.where(X > 0, X, xp.ones_like(X))
        parts = gradients.reshape(*gradients.shape[:2], 2 * self.order + 1, X.shape[1])
        out = 0.5 * float(sizes[0]) * parts[:, :, 0]
        for i in range(1, self.order + 1):
            turn = i * step
            cosine, sine = xp.cos(turn * xp.log(inside))[:, None], xp.sin(turn * xp.log(inside))[:, None]
            out = out + float(sizes[i]) * (0.5 * cosine - turn * sine) * parts[:, :, 2 * i - 1]
            out = out + float(sizes[i]) * (0.5 * sine + turn * cosine) * parts[:, :, 2 * i]
        return out * xp.where(X > 0, inside**-0.5, 0.0 * X)[:, None]


@cache
def _best_period(k: Homogeneous, order: int) -> float:
    """That with the least mean squared error of k(x, z)/((x + z)/2) over log(x/z)."""
    ratios = np.linspace(0.0, 20.0, 801)
    exact = arrays.to_numpy(k.gram(np.exp(ratios / 2)[:, None], np.exp(-ratios / 2)[:, None]).dense()).diagonal()
    i = np.arange(1, order + 1)

    def error(period: float) -> float:
        step = 2.0 * math.pi / period
        found = step * (k._spectrum(np.zeros(1)) + 2.0 * np.cos(np.outer(ratios, step * i)) @ k._spectrum(step * i))
        return float(np.mean(((found - exact) / np.cosh(ratios / 2)) ** 2))

    grid = np.geomspace(2.0, 60.0, 60)
    best = int(np.argmin([error(period) for period in grid]))
    ends = grid[max(best - 1, 0)], grid[min(best + 1, len(grid) - 1)]
    return float(optimize.minimize_scalar(error, bounds=ends, method="bounded", options={"xatol": 1e-6}).x)
