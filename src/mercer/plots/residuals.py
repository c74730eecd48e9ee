"""The picture of what a regression leaves: residuals over predictions, and against a normal distribution."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import betaincinv, ndtri

from mercer.annotations import Axes, Estimator, Samples, Targets
from mercer.arrays import Array
from mercer.data import size
from mercer.plots.bands import Prediction
from mercer.plots.drawing import BLUE, GREY, INK, VERMILION, dot_size, framed, panels, pyplot
from mercer.plots.samples import called, check_regressor, inner, numbers_of, percent, shown_of, some

if TYPE_CHECKING:
    import matplotlib.axes
    from matplotlib.collections import PathCollection
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D
    from matplotlib.patches import Rectangle

_PER_BIN = 30  # residuals of one mean, at least
_BINS = 12
_LEVEL = 0.95


@dataclass(eq=False)
class ResidualDisplay:
    """Residuals y − f(x) over predictions, with their mean along the way and a band of ± 1.96 standard deviations; and
    beside it their quantiles against those of a normal distribution.

    A mean that bends says that f misses something, a cloud that opens that the noise is not the same everywhere, and
    quantiles outside of their band that the noise is not normal. Made by ``from_estimator`` or ``from_predictions``;
    ``plot`` draws it again, elsewhere.

    Parameters
    ----------
    predicted, residuals : ndarray of shape (n,)
        f(x), and y − f(x).
    title : str, default=""
        The beginning of the title.

    Attributes
    ----------
    figure_, ax_ : matplotlib's figure, and the axes of the residuals
        To be changed at will.
    axes_ : list of axes
        Those of residuals and quantiles.
    scatter_, band_ : matplotlib artists
        The points and their band.
    mean_ : matplotlib artist or None
        The mean along the predictions, where there are enough of them.
    quantiles_ : matplotlib artist or None
        The quantiles.

    See Also
    --------
    RegressionDisplay : Predicted against observed.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> import numpy as np
    >>> import mercer as mc
    >>> plt.switch_backend("Agg")
    >>> rng = np.random.default_rng(0)
    >>> predicted = rng.uniform(size=200)
    >>> display = mc.ResidualDisplay.from_predictions(predicted + rng.standard_normal(200), predicted)
    >>> expected, found, lower, upper = display.quantiles
    >>> float(np.mean((lower <= found) & (found <= upper))) > 0.9
    True
    >>> plt.close(display.figure_)
    """

    predicted: Array
    residuals: Array
    title: str = ""
    figure_: Figure = field(init=False, repr=False)
    ax_: matplotlib.axes.Axes = field(init=False, repr=False)
    axes_: list[matplotlib.axes.Axes] = field(init=False, repr=False)
    scatter_: PathCollection = field(init=False, repr=False)
    band_: Rectangle = field(init=False, repr=False)
    mean_: Line2D | None = field(init=False, repr=False)
    quantiles_: Line2D | None = field(init=False, repr=False)

    @property
    def spread(self) -> float:
        """The standard deviation of the residuals."""
        return float(np.std(self.residuals, ddof=1)) if len(self.residuals) > 1 else 0.0

    @property
    def means(self) -> tuple[Array, Array]:
        """The mean prediction and the mean residual in bins of as many samples each; empty of few samples."""
        count = min(_BINS, len(self.predicted) // _PER_BIN)
        if count < 2:
            return np.empty(0), np.empty(0)
        parts = np.array_split(np.argsort(self.predicted, kind="stable"), count)
        at, mean = ([float(values[part].mean()) for part in parts] for values in (self.predicted, self.residuals))
        return np.array(at), np.array(mean)

    @property
    def quantiles(self) -> tuple[Array, Array, Array, Array]:
        """Of a standard normal sample of as many: the medians of its ordered values; the standardised residuals in
        order; and the ends between which each of the former lies with 95 %.
        """
        n = len(self.residuals)
        found = np.sort(self.residuals - self.residuals.mean()) / (self.spread or 1.0)
        i = np.arange(1, n + 1)
        # the i-th of n uniform numbers has a beta distribution
        expected, lower, upper = (ndtri(betaincinv(i, n + 1 - i, q)) for q in (0.5, (1 - _LEVEL) / 2, (1 + _LEVEL) / 2))
        return expected, found, lower, upper

    @classmethod
    def from_estimator(
        cls, estimator: Estimator, X: Samples, y: Targets, *, ax: Axes = None, **kwargs: Any
    ) -> ResidualDisplay:
        """What a fitted regressor leaves of y; best on samples that it was not trained on.

        Parameters
        ----------
        estimator : fitted regressor
            With ``predict``.
        X : collection of samples
            What the estimator takes.
        y : array of shape (n,)
            Their targets.
        ax : one or two matplotlib axes, optional
            Where to draw residuals and, on a second one, quantiles; None: a new figure with both.
        **kwargs
            For ``scatter``.

        Returns
        -------
        ResidualDisplay
        """
        pyplot()
        check_regressor(estimator)
        target = numbers_of(y, size(X), "y")
        predicted = Prediction.of(estimator, X, None, 0.5).centre
        return cls(predicted, target - predicted, called(inner(estimator))).plot(ax, **kwargs)

    @classmethod
    def from_predictions(cls, y: Targets, predicted: Targets, *, ax: Axes = None, **kwargs: Any) -> ResidualDisplay:
        """Any predictions, and what was observed.

        Parameters
        ----------
        y, predicted : array of shape (n,)
            What was observed, and what was predicted.
        ax : one or two matplotlib axes, optional
            As for ``from_estimator``.
        **kwargs
            For ``scatter``.

        Returns
        -------
        ResidualDisplay
        """
        pyplot()
        found = numbers_of(predicted, len(predicted), "predicted")
        return cls(found, numbers_of(y, len(found), "y") - found).plot(ax, **kwargs)

    def plot(self, ax: Axes = None, *, max_points: int = 3000, **kwargs: Any) -> ResidualDisplay:
        """Draw it.

        Parameters
        ----------
        ax : one or two matplotlib axes, optional
            Where to draw residuals and, on a second one, quantiles; None: a new figure with both.
        max_points : int, default=3000
            Of more samples a random part of so many is drawn, always the same; means and bands are of all.
        **kwargs
            For ``scatter``.

        Returns
        -------
        ResidualDisplay
            This one.
        """
        self.axes_ = panels(ax, 1, 2, (9.4, 4.0))
        ax = self.ax_ = self.axes_[0]
        self.figure_ = ax.figure
        n = len(self.residuals)
        rows, half = some(n, max_points), float(ndtri((1 + _LEVEL) / 2)) * self.spread
        middle = float(self.residuals.mean())
        ax.axhline(0.0, color=INK, lw=0.8)
        self.band_ = ax.axhspan(middle - half, middle + half, color=BLUE, alpha=0.12, lw=0, label="± 1.96 deviations")
        style = {"s": dot_size(len(rows)), "linewidths": 0, "alpha": 0.6, "color": BLUE}
        self.scatter_ = ax.scatter(self.predicted[rows], self.residuals[rows], **(style | kwargs))
        at, means = self.means
        self.mean_ = None
        if len(at):
            (self.mean_,) = ax.plot(at, means, color=VERMILION, lw=2, marker="o", ms=4, label="mean along predictions")
        place = "best" if n <= 1000 else "upper left"
        ax.legend(loc=place, fontsize="small", framealpha=0.9, edgecolor="none")
        who = f"{self.title}: " if self.title else ""
        title = f"{who}residuals {middle:.2g} ± {self.spread:.3g}{shown_of(len(rows), n)}"
        framed(ax, ("predicted y", "residual, y − predicted"), title)
        self.quantiles_ = None
        if len(self.axes_) == 2:
            self._draw_quantiles(self.axes_[1], rows)
        return self

    def _draw_quantiles(self, ax: Axes, rows: Array) -> None:
        expected, found, lower, upper = self.quantiles
        ends = [float(expected[0]), float(expected[-1])]
        ax.plot(ends, ends, color=GREY, lw=1.0, ls="--")
        ax.fill_between(expected, lower, upper, color=BLUE, alpha=0.12, lw=0, label="95 % of normal noise")
        # the ends are what one looks for
        kept = np.unique(np.concatenate([rows, np.arange(min(50, len(found))), np.arange(len(found))[-50:]]))
        style = {"ls": "none", "marker": "o", "ms": 3, "color": BLUE}
        (self.quantiles_,) = ax.plot(expected[kept], found[kept], **style)
        inside = float(np.mean((lower <= found) & (found <= upper)))
        ax.legend(frameon=False, fontsize="small", loc="upper left")
        title = f"normal quantiles, {percent(round(inside, 3))} in the band"
        framed(ax, ("normal quantile", "residual / standard deviation"), title)
