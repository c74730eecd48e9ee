"""The picture of correlation over a lag."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from mercer.annotations import Axes, Estimator
from mercer.arrays import Array
from mercer.plots.drawing import BLUE, GREY, INK, VERMILION, bare, canvas, pyplot
from mercer.plots.samples import called
from mercer.troubles import coded

if TYPE_CHECKING:
    import matplotlib.axes
    from matplotlib.collections import PolyCollection
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D


@dataclass(eq=False)
class CorrelogramDisplay:
    """λ(τ) = corr(f_τ(x(t − τ)), g(y(t))) over the lag τ, with its bootstrap band (lower, upper) and the lag of the
    largest |λ|.

    At τ > 0 the past of x meets the present of y: x leads. Made by ``from_estimator``; ``plot`` draws it again,
    elsewhere.

    Parameters
    ----------
    lags : array of shape (n,)
        τ.
    correlogram : array of shape (n,)
        λ(τ).
    band : array of shape (2, n), optional
        The lower and the upper end of the bootstrap band.
    best_lag : float, optional
        The lag to mark; None: that of the largest |λ|.

    Attributes
    ----------
    figure_, ax_ : matplotlib's figure and axes
        To be changed at will.
    line_, band_ : matplotlib artists
        The correlogram and its band; None where there is no band.

    See Also
    --------
    TemporalKernelCCA : Computes the correlogram.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> import numpy as np
    >>> import mercer as mc
    >>> plt.switch_backend("Agg")
    >>> lags = np.arange(-5, 6)
    >>> display = mc.CorrelogramDisplay(lags, np.exp(-((lags - 2) ** 2) / 4)).plot()
    >>> int(display.best_lag)
    2
    >>> plt.close(display.figure_)
    """

    lags: Array
    correlogram: Array
    band: Array | None = None
    best_lag: float | None = None
    figure_: Figure = field(init=False, repr=False)
    ax_: matplotlib.axes.Axes = field(init=False, repr=False)
    line_: Line2D = field(init=False, repr=False)
    band_: PolyCollection | None = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self.lags, self.correlogram = np.asarray(self.lags), np.asarray(self.correlogram)
        if self.lags.ndim != 1 or self.correlogram.shape != self.lags.shape or not len(self.lags):
            raise ValueError(
                coded(
                    f"A correlogram has one value for each lag; got shapes {self.correlogram.shape} and"
                    f" {self.lags.shape}.",
                    "M111",
                )
            )
        if self.band is not None and np.shape(self.band) != (2, len(self.lags)):
            raise ValueError(
                coded(
                    f"A band has a lower and an upper end for each of {len(self.lags)} lags; got shape"
                    f" {np.shape(self.band)}.",
                    "M111",
                )
            )
        if self.best_lag is None:
            self.best_lag = self.lags[np.argmax(np.abs(self.correlogram))]

    @classmethod
    def from_estimator(
        cls, estimator: Estimator, component: int = 0, *, ax: Axes = None, **kwargs: Any
    ) -> CorrelogramDisplay:
        """The correlogram of a fitted ``TemporalKernelCCA``.

        Parameters
        ----------
        estimator : TemporalKernelCCA
            Fitted; its ``band_`` is drawn where it has one.
        component : int, default=0
            Which pair of canonical directions, counted from 0.
        ax : matplotlib axes, optional
            Where to draw; None: a new figure.
        **kwargs
            For the line.

        Returns
        -------
        CorrelogramDisplay
        """
        pyplot()
        if not hasattr(estimator, "correlogram_"):
            raise ValueError(coded(f"{called(estimator)} has no correlogram_: fit a TemporalKernelCCA first.", "M311"))
        values, band = np.atleast_2d(estimator.correlogram_), getattr(estimator, "band_", None)
        if not 0 <= component < len(values):
            raise ValueError(coded(f"component={component}: there are {len(values)}, counted from 0.", "M205"))
        if band is not None:
            band = np.reshape(band, (2, *values.shape))[:, component]
        best = estimator.best_lag_ if component == 0 and np.ndim(estimator.best_lag_) == 0 else None
        return cls(estimator.lags_, values[component], band, best).plot(ax, **kwargs)

    def plot(self, ax: Axes = None, **kwargs: Any) -> CorrelogramDisplay:
        """Draw on ``ax``, or on a new figure; further arguments go to the line. Returns the display itself."""
        ax, _ = self.ax_, self.figure_ = canvas(ax)
        ax.axhline(0, color=GREY, lw=0.8)
        self.band_ = None
        if self.band is not None:
            self.band_ = ax.fill_between(self.lags, *self.band, color=BLUE, alpha=0.18, lw=0, label="bootstrap band")
        style = {"color": BLUE, "marker": "o", "ms": 3.5, "lw": 1.5, "label": "canonical correlation"}
        (self.line_,) = ax.plot(self.lags, self.correlogram, **(style | kwargs))
        best = self.best_lag
        if best is not None:
            words = f"y follows x by {best:g}" if best > 0 else f"x follows y by {-best:g}" if best < 0 else "at lag 0"
            height = self.correlogram[np.argmin(np.abs(self.lags - best))]
            ax.axvline(best, color=VERMILION, lw=0.8, ls=(0, (2, 2)))
            ax.plot(
                [best],
                [height],
                marker="o",
                ms=8,
                mfc="none",
                mec=VERMILION,
                mew=1.5,
                ls="none",
                label=f"largest: {words}",
            )
        ax.text(0, 1.01, "← y leads", transform=ax.transAxes, ha="left", va="bottom", color=INK)
        ax.text(1, 1.01, "x leads →", transform=ax.transAxes, ha="right", va="bottom", color=INK)
        ax.set(xlabel="lag τ, of x(t − τ) against y(t)", ylabel="correlation λ(τ)")
        ax.xaxis.get_major_locator().set_params(integer=True)
        ax.legend(frameon=False, fontsize="small")
        bare(ax)
        return self
