"""The picture of a regression: over one column, or predicted against observed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from mercer.annotations import Axes, Estimator, Samples, Targets
from mercer.arrays import Array
from mercer.plots.bands import Prediction
from mercer.plots.columns import Columns
from mercer.plots.drawing import BLUE, INK, VERMILION, canvas, dot_size, framed, pyplot
from mercer.plots.samples import called, check_between, check_regressor, inner, numbers_of, percent, shown_of, some
from mercer.troubles import coded

if TYPE_CHECKING:
    import matplotlib.axes
    from matplotlib.collections import LineCollection, PathCollection, PolyCollection
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D


@dataclass(eq=False)
class RegressionDisplay:
    """f over one column with the points and a band of how sure it is; or what was predicted against what was observed,
    on a diagonal.

    Made by ``from_estimator`` or ``from_predictions``; ``plot`` draws it again, elsewhere.

    Parameters
    ----------
    at : ndarray of shape (m,)
        Along the axis: values of the column, rising; or what was observed.
    predicted : ndarray of shape (m,)
        f there.
    lower, upper : ndarray of shape (m,), optional
        The ends of the band.
    points : ndarray of shape (n, 2), optional
        Value of the column and y of samples; None where observed values are the axis.
    names : tuple of two str, default=("x", "y")
        Of the axes.
    band : str, default="band"
        What the band is called.
    title : str, default=""
        Above the picture.

    Attributes
    ----------
    figure_, ax_ : matplotlib's figure and axes
        To be changed at will.
    line_ : matplotlib artist
        f, or the diagonal.
    band_ : matplotlib artist or None
        The band, or a bar for each sample.
    scatter_ : matplotlib artist or None
        The points.

    See Also
    --------
    ResidualDisplay : What is left.
    EffectDisplay : Any column, over all rows.
    KernelRidge, KernelQuantile, ConformalRegressor : Regressors with a band.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> import numpy as np
    >>> import mercer as mc
    >>> plt.switch_backend("Agg")
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-3, 3, (60, 1))
    >>> y = np.sin(X[:, 0]) + 0.1 * rng.standard_normal(60)
    >>> ridge = mc.KernelRidge(0.1, mc.Gaussian(0.5)).fit(X, y)
    >>> display = mc.RegressionDisplay.from_estimator(ridge, X, y, coverage=0.95)
    >>> bool(np.all(display.lower < display.upper)), display.band
    (True, '95 % of the posterior')
    >>> plt.close(display.figure_)
    """

    at: Array
    predicted: Array
    lower: Array | None = None
    upper: Array | None = None
    points: Array | None = None
    names: tuple[str, str] = ("x", "y")
    band: str = "band"
    title: str = ""
    figure_: Figure = field(init=False, repr=False)
    ax_: matplotlib.axes.Axes = field(init=False, repr=False)
    line_: Line2D = field(init=False, repr=False)
    band_: LineCollection | PolyCollection | None = field(init=False, repr=False)
    scatter_: PathCollection = field(init=False, repr=False)

    @classmethod
    def from_estimator(
        cls,
        estimator: Estimator,
        X: Samples,
        y: Targets,
        *,
        column: int | str | None = None,
        band: str | None = "auto",
        coverage: float = 0.9,
        resolution: int = 200,
        max_points: int = 3000,
        ax: Axes = None,
        **kwargs: Any,
    ) -> RegressionDisplay:
        """A fitted regressor over one column, the others at their medians; or, of several columns and none chosen, its
        predictions for X against y.

        Parameters
        ----------
        estimator : fitted regressor
            With ``predict``.
        X : table of shape (n, d)
            The samples to show; over a column, that has numbers.
        y : array of shape (n,)
            Their targets.
        column : int or str, optional
            The number or the name of the column; None: the only one, or predicted against observed.
        band : {"auto", "interval", "quantiles", "std", None}, default="auto"
            "interval": ``predict_interval``, as ``ConformalRegressor`` and ``TableModel`` have it. "quantiles": the
            lowest and the highest that the machine predicts, ``KernelQuantile([0.05, 0.5, 0.95])``. "std": the
            quantiles of a normal distribution with ``predict(return_std=True)``, noise included. "auto": the first of
            them that the estimator has; None: no band.
        coverage : float, default=0.9
            The share of new y that the band is to hold, where that can be chosen.
        resolution : int, default=200
            Values of the column at which f is asked for.
        max_points : int, default=3000
            Of more samples a random part of so many is drawn, always the same.
        ax : matplotlib axes, optional
            Where to draw; None: a new figure.
        **kwargs
            For ``scatter``.

        Returns
        -------
        RegressionDisplay
        """
        pyplot()
        check_regressor(estimator)
        table = Columns.of(X)
        target = numbers_of(y, len(table), "y")
        rows = some(len(table), max_points)
        if column is None and len(table.names) > 1:
            found = Prediction.of(estimator, table.take(rows).native(), band, coverage)
            return cls._against(target[rows], found, len(table), called(inner(estimator)), ax, kwargs)
        check_between(inner(estimator))
        j = table.place(0 if column is None else column)
        if not table.is_number(j):
            raise ValueError(
                coded(f"{table.names[j]!r} has no numbers: EffectDisplay shows columns of any kind.", "M102")
            )
        if resolution < 2:
            raise ValueError(coded(f"resolution={resolution}: a line has at least 2 points.", "M205"))
        values = table.values(j)
        at = np.linspace(float(np.nanmin(values)), float(np.nanmax(values)), resolution)
        along = table.typical().repeated(resolution).put(j, at)
        found = Prediction.of(estimator, along.native(), band, coverage)
        typical = (
            "medians" if all(map(table.is_number, range(len(table.names)))) else "medians and most frequent values"
        )
        others = "" if len(table.names) == 1 else f", the other columns at their {typical}"
        title = f"{called(inner(estimator))} over {table.names[j]}{others}{shown_of(len(rows), len(table))}"
        points = np.column_stack([values[rows], target[rows]])
        names = (table.names[j], str(getattr(y, "name", None) or "y"))
        return cls(at, found.centre, found.lower, found.upper, points, names, found.name, title).plot(ax, **kwargs)

    @classmethod
    def from_predictions(
        cls,
        y: Targets,
        predicted: Targets,
        *,
        interval: ArrayLike | None = None,
        max_points: int = 3000,
        ax: Axes = None,
        **kwargs: Any,
    ) -> RegressionDisplay:
        """Any predictions against what was observed.

        Parameters
        ----------
        y, predicted : array of shape (n,)
            What was observed, and what was predicted.
        interval : array of shape (n, 2), optional
            The lower and the upper end of each prediction.
        max_points : int, default=3000
            Of more samples a random part of so many is drawn, always the same.
        ax : matplotlib axes, optional
            Where to draw; None: a new figure.
        **kwargs
            For ``scatter``.

        Returns
        -------
        RegressionDisplay
        """
        pyplot()
        n = len(predicted)
        observed, centre = numbers_of(y, n, "y"), numbers_of(predicted, n, "predicted")
        if interval is not None and np.shape(interval) != (n, 2):
            raise ValueError(
                coded(
                    f"interval of shape {np.shape(interval)}: two ends are needed for each of {n} predictions.", "M111"
                )
            )
        rows = some(n, max_points)
        lower, upper = (None, None) if interval is None else np.asarray(interval, np.float64)[rows].T
        return cls._against(observed[rows], Prediction(centre[rows], lower, upper, "interval"), n, "", ax, kwargs)

    @classmethod
    def _against(
        cls, observed: Array, found: Prediction, n: int, who: str, ax: Axes, kwargs: dict[str, Any]
    ) -> RegressionDisplay:
        error = float(np.sqrt(np.mean((observed - found.centre) ** 2)))
        spread = float(np.var(observed))
        title = f"{who + ': ' if who else ''}root mean squared error {error:.3g}"
        title += f", R² {1 - error**2 / spread:.3g}" if spread > 0 else ""
        if found.lower is not None and found.upper is not None:
            inside = np.mean((found.lower <= observed) & (observed <= found.upper))
            title += f"\n{percent(float(inside))} of the points in their {found.name}"
        title += shown_of(len(observed), n)
        names = ("observed y", "predicted y")
        return cls(observed, found.centre, found.lower, found.upper, None, names, found.name, title).plot(ax, **kwargs)

    def plot(self, ax: Axes = None, **kwargs: Any) -> RegressionDisplay:
        """Draw on ``ax``, or on a new figure; further arguments go to ``scatter``. Returns the display itself."""
        ax, _ = self.ax_, self.figure_ = canvas(ax)
        points = np.column_stack([self.at, self.predicted]) if self.points is None else self.points
        dots = {
            "s": dot_size(len(points)),
            "linewidths": 0,
            "alpha": 0.7,
            "color": INK,
            "label": "samples",
            "zorder": 3,
        }
        self.band_ = None
        if self.points is None:
            ends = [float(self.at.min()), float(self.at.max())]
            (self.line_,) = ax.plot(ends, ends, color=INK, lw=1.2, ls="--", label="predicted = observed", zorder=4)
            if self.lower is not None:
                faint = float(np.clip(60 / len(points), 0.06, 0.5))
                self.band_ = ax.vlines(
                    self.at, self.lower, self.upper, color=BLUE, alpha=faint, lw=1.2, label=self.band
                )
            dots |= {"color": BLUE}
        else:
            if self.lower is not None:
                self.band_ = ax.fill_between(
                    self.at, self.lower, self.upper, color=BLUE, alpha=0.18, lw=0, label=self.band
                )
            (self.line_,) = ax.plot(self.at, self.predicted, color=VERMILION, lw=2, label="f(x)", zorder=4)
        self.scatter_ = ax.scatter(*points.T, **(dots | kwargs))
        place = "best" if len(points) <= 1000 else "upper left"
        ax.legend(loc=place, fontsize="small", framealpha=0.9, edgecolor="none")
        framed(ax, self.names, self.title)
        return self
