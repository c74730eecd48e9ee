"""The picture of what columns do to the prediction: partial dependence, and a curve for each row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from mercer.annotations import Axes, Estimator, Samples
from mercer.arrays import Array
from mercer.plots.columns import Columns
from mercer.plots.drawing import BLUE, GREY, VERMILION, entitled, framed, name_ticks, panels, plain, pyplot, rug, word
from mercer.plots.responses import Response
from mercer.plots.samples import called, check_between, inner, shown_of, some
from mercer.troubles import coded

if TYPE_CHECKING:
    import matplotlib.axes
    from matplotlib.container import BarContainer
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

_ACROSS = 3  # pictures in a row
_CATEGORIES = 12  # bars of one picture


@dataclass(frozen=True, eq=False)
class Effect:
    """What the prediction of each row becomes when one column is changed.

    name : str
        Of the column.
    grid : ndarray of shape (g,), or list of categories
        The values that are put in its place: numbers, rising; or categories, the most frequent first.
    curves : ndarray of shape (m, g)
        The prediction of row i with the value j.
    data : ndarray
        The numbers that the column holds; empty for categories.
    """

    name: str
    grid: Array | list[Any]
    curves: Array
    data: Array

    @property
    def average(self) -> Array:
        """The partial dependence: the mean over the rows."""
        return self.curves.mean(axis=0)

    @property
    def is_number(self) -> bool:
        return isinstance(self.grid, np.ndarray)


@dataclass(eq=False)
class EffectDisplay:
    """How the prediction changes with a column, the other columns as they are: a faint curve for each row, and their
    mean, the partial dependence; bars for categories.

    Curves that are parallel say that the column acts by itself; curves that cross, that it acts together with others.
    Made by ``from_estimator``; ``plot`` draws it again, elsewhere.

    Parameters
    ----------
    effects : list of Effect
        One for each column: ``name``, ``grid``, ``curves`` of shape (rows, grid), ``average`` and ``data``.
    response : str, default="prediction"
        What is predicted.
    centered : bool, default=True
        Whether curves are drawn as changes from their first value, bars as changes from the most frequent category.
    title : str, default=""
        Above the picture.

    Attributes
    ----------
    figure_, ax_ : matplotlib's figure, and the axes of the first column
        To be changed at will.
    axes_ : list of axes
        One for each column.
    averages_ : list
        The line, or the bars, of each column.
    curves_ : list
        The curves of rows of each column; None for categories.

    See Also
    --------
    MetricDisplay : What a feature machine has learnt of its columns.
    TableModel : Explains single rows, ``explain``.

    Notes
    -----
    Rows are made that may not exist: where columns depend on each other, a value is put beside others that it never
    occurs with. The rug at the foot of each picture shows where there is data.

    References
    ----------
    J. Friedman, Greedy function approximation, Annals of Statistics 29 (2001). A. Goldstein et al., Peeking inside the
    black box, Journal of Computational and Graphical Statistics 24 (2015), for the curves of single rows.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> import numpy as np
    >>> import mercer as mc
    >>> plt.switch_backend("Agg")
    >>> X = np.random.default_rng(0).uniform(-1, 1, (200, 2))
    >>> ridge = mc.KernelRidge(0.01, mc.Gaussian(0.5)).fit(X, 3 * X[:, 0] + X[:, 1] ** 2)
    >>> display = mc.EffectDisplay.from_estimator(ridge, X, [0, 1], resolution=10)
    >>> first = display.effects[0]
    >>> float(np.polyfit(first.grid, first.average, 1)[0].round(1)), first.curves.shape
    (3.0, (200, 10))
    >>> plt.close(display.figure_)
    """

    effects: list[Effect]
    response: str = "prediction"
    centered: bool = True
    title: str = ""
    figure_: Figure = field(init=False, repr=False)
    ax_: matplotlib.axes.Axes = field(init=False, repr=False)
    axes_: list[matplotlib.axes.Axes] = field(init=False, repr=False)
    averages_: list[Line2D | BarContainer] = field(init=False, repr=False)
    curves_: list[list[Line2D] | None] = field(init=False, repr=False)

    @classmethod
    def from_estimator(
        cls,
        estimator: Estimator,
        X: Samples,
        columns: int | str | Sequence[int | str],
        *,
        target: object = None,
        response: str = "auto",
        centered: bool = True,
        resolution: int = 40,
        tails: float = 0.01,
        max_rows: int = 500,
        ax: Axes = None,
        **kwargs: Any,
    ) -> EffectDisplay:
        """The effect of columns on what any fitted estimator says.

        Parameters
        ----------
        estimator : fitted estimator
            With ``predict``, ``predict_proba`` or ``decision_function``: Mercer's, ``TableModel``, a pipeline, others.
        X : array of shape (n, d), or data frame
            Rows to change.
        columns : int, str or sequence of them
            Numbers or names. Columns that hold no numbers are drawn as bars, 12 categories at most.
        target : class, or int, optional
            Whose probability or score; None: that of the second of two classes. The number of the output, of several.
        response : {"auto", "predict_proba", "decision_function", "predict"}, default="auto"
            What to ask; "auto": probabilities of a classifier that has them, else its decision function; predictions.
        centered : bool, default=True
            Whether to draw changes from the first value, which makes curves comparable; else predictions.
        resolution : int, default=40
            Values at which a column of numbers is put: quantiles of the data, or the data where it has fewer.
        tails : float, default=0.01
            The share of the data that is left out at either end.
        max_rows : int, default=500
            Of more rows a random part of so many is used, always the same.
        ax : matplotlib axes, or as many as columns, optional
            Where to draw; None: a new figure.
        **kwargs
            For the line of the mean, or for bars.

        Returns
        -------
        EffectDisplay
        """
        pyplot()
        machine = inner(estimator)
        answer = Response.of(estimator, response, target)
        check_between(machine)
        if resolution < 2:
            raise ValueError(coded(f"resolution={resolution}: a curve has at least 2 points.", "M205"))
        if not 0 <= tails < 0.5:
            raise ValueError(coded(f"tails={tails}: a share of at least 0 and less than ½.", "M205"))
        table = Columns.of(X)
        places = [table.place(c) for c in ([columns] if isinstance(columns, int | str | np.integer) else columns)]
        if not places:
            raise ValueError(coded("columns: choose at least one.", "M205"))
        rows = some(len(table), max_rows)
        part = table.take(rows)
        effects = [_effect(answer, table, part, j, resolution, tails) for j in places]
        what = table.names[places[0]] if len(places) == 1 else "columns"
        title = f"{called(machine)}: effect of {what}, the others as they are"
        title += shown_of(len(rows), len(table), "rows").replace("shown", "used")
        return cls(effects, answer.name, centered, title).plot(ax, **kwargs)

    def plot(self, ax: Axes = None, *, max_curves: int = 100, **kwargs: Any) -> EffectDisplay:
        """Draw it.

        Parameters
        ----------
        ax : matplotlib axes, or as many as columns, optional
            Where to draw; None: a new figure.
        max_curves : int, default=100
            How many rows have their own curve at most; 0: the mean alone.
        **kwargs
            For the line of the mean, or for bars.

        Returns
        -------
        EffectDisplay
            This one.
        """
        count = len(self.effects)
        across = 2 if count == 4 else min(_ACROSS, count)
        down = -(-count // across)
        axes = panels(ax, down, across, (max(5.4, 3.6 * across), 0.6 + 3.4 * down), sharey=True)
        if len(axes) < count:
            raise ValueError(coded(f"{count} columns are drawn on as many axes, got {len(axes)}.", "M205"))
        for unused in axes[count:]:
            unused.remove() if ax is None else None
        self.axes_ = axes[:count]
        self.ax_, self.figure_ = axes[0], axes[0].figure
        self.averages_, self.curves_ = [], []
        for i, (one, effect) in enumerate(zip(self.axes_, self.effects, strict=True)):
            draw = self._draw_curves if effect.is_number else self._draw_bars
            draw(one, effect, max_curves, kwargs)
            change = "change of " if self.centered else ""
            first = ax is not None or i % across == 0
            against = "" if effect.is_number or not self.centered else f" (against {word(effect.grid[0])})"
            framed(one, (effect.name + against, f"{change}{self.response}" if first else ""), "")
        named: Axes = next(
            (one for one, effect in zip(self.axes_, self.effects, strict=True) if effect.is_number), None
        )
        if named is not None:
            for handle in named.legend(frameon=False, fontsize="small", loc="best").legend_handles:
                handle.set_alpha(1.0)
        if self.title:
            if count > 1 and ax is None:
                self.figure_.suptitle(plain(self.title), fontsize="medium")
            else:
                entitled(self.ax_, self.title)
        return self

    def _draw_curves(self, ax: Axes, effect: Effect, max_curves: int, kwargs: dict[str, Any]) -> None:
        start = effect.curves[:, :1] if self.centered else 0.0
        shown = effect.curves - start
        average = shown.mean(axis=0)
        some_of = some(len(shown), max_curves) if max_curves else np.arange(0)
        faint = float(np.clip(12 / max(1, len(some_of)), 0.12, 0.6))
        rows = ax.plot(effect.grid, shown[some_of].T, color=BLUE, lw=0.7, alpha=faint)
        self.curves_.append(rows)
        if len(some_of):
            rows[0].set_label("one row")
        style = {"color": VERMILION, "lw": 2.4, "label": "mean of the rows"}
        self.averages_ += ax.plot(effect.grid, average, **(style | kwargs))
        inside = (effect.data >= effect.grid[0]) & (effect.data <= effect.grid[-1])
        rug(ax, effect.data[inside])

    def _draw_bars(self, ax: Axes, effect: Effect, max_curves: int, kwargs: dict[str, Any]) -> None:
        """Means, and between the quartiles of the rows a line."""
        start = effect.curves[:, :1] if self.centered else 0.0
        shown = effect.curves - start
        low, high = np.quantile(shown, [0.25, 0.75], axis=0)
        at = np.arange(len(effect.grid))
        self.averages_.append(ax.bar(at, shown.mean(axis=0), **({"color": BLUE, "width": 0.7} | kwargs)))
        ax.vlines(at, low, high, color=VERMILION, lw=1.6)
        ax.axhline(0.0, color=GREY, lw=0.8)
        names = [word(value) for value in effect.grid]
        name_ticks(ax.xaxis, names, 0 if sum(map(len, names)) <= 20 else 45)
        for label in ax.get_xticklabels() if sum(map(len, names)) > 20 else []:
            label.set(ha="right", rotation_mode="anchor")
        self.curves_.append(None)


def _effect(answer: Response, table: Columns, part: Columns, j: int, resolution: int, tails: float) -> Effect:
    number = table.is_number(j)
    values = table.values(j) if number else np.empty(0)
    values = values[np.isfinite(values)]
    grid = _quantiles(values, resolution, tails) if number else table.categories(j)[:_CATEGORIES]
    if not len(grid):
        raise ValueError(coded(f"{table.names[j]!r} holds no value at all.", "M116"))
    m, g = len(part), len(grid)
    put = [value for value in list(grid) for _ in range(m)]
    curves = answer(part.repeated(g).put(j, put).native()).reshape(g, m).T
    return Effect(table.names[j], grid, curves, values[some(len(values), 2000)] if number else values)


def _quantiles(values: Array, resolution: int, tails: float) -> Array:
    """Where a column is put: all its values where these are few, else quantiles of them."""
    found = np.unique(values)
    if len(found) <= resolution:
        return found
    return np.unique(np.quantile(values, np.linspace(tails, 1 - tails, resolution)))
