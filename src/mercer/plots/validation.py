"""The picture of a search: the score over one parameter or two."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from mercer.annotations import Axes, Estimator
from mercer.arrays import Array
from mercer.plots.drawing import INK, VERMILION, canvas, colour, framed, legend, marker, name_ticks, plain, pyplot, word
from mercer.plots.samples import called
from mercer.troubles import coded

if TYPE_CHECKING:
    import matplotlib.axes
    from matplotlib.axis import XAxis, YAxis
    from matplotlib.collections import PathCollection
    from matplotlib.container import ErrorbarContainer
    from matplotlib.contour import QuadContourSet
    from matplotlib.figure import Figure
    from matplotlib.image import AxesImage
    from matplotlib.lines import Line2D

_LINES = 7  # curves side by side
_ABSENT = object()  # of a candidate without the parameter


@dataclass(eq=False)
class ValidationDisplay:
    """The score of cross-validation over the parameters that were searched: a curve with its standard error over one,
    contours over two numbers, a curve for each of a few kinds; the best is marked.

    Made by ``from_search``; ``plot`` draws it again, elsewhere.

    Parameters
    ----------
    parameters : tuple of one or two str
        Whose values are shown.
    values : list of list
        The values of each, in ascending order; what is not a number, in the order it was given.
    scores : ndarray of shape (values,) or (values of the first, values of the second)
        The mean over the folds; NaN where it is not known.
    errors : ndarray of the same shape
        The standard error of that mean.
    best : tuple of int
        Where the best is.
    score : str, default="score"
        What the score is called.
    joined : bool, default=True
        Whether points of a curve differ in nothing but its parameter, and are joined by a line.
    title : str, default=""
        Above the picture.

    Attributes
    ----------
    figure_, ax_ : matplotlib's figure and axes
        To be changed at will.
    lines_ : list
        The curves, of one parameter or of one over kinds.
    surface_ : matplotlib contours or image, or None
        The scores over two parameters.
    best_ : matplotlib artist
        The mark of the best.

    See Also
    --------
    KernelSearchCV : What searches.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> import mercer as mc
    >>> from sklearn.datasets import make_moons
    >>> plt.switch_backend("Agg")
    >>> X, y = make_moons(100, noise=0.3, random_state=0)
    >>> grid = {"C": [0.1, 1.0, 10.0], "kernel__gamma": [0.1, 1.0, 10.0]}
    >>> search = mc.KernelSearchCV(mc.SVC(kernel=mc.Gaussian(1.0)), grid, cv=3).fit(X, y)
    >>> display = mc.ValidationDisplay.from_search(search)
    >>> display.parameters, display.scores.shape, display.ax_.get_xscale()
    (('C', 'kernel__gamma'), (3, 3), 'log')
    >>> bool(display.scores[display.best] == search.best_score_)
    True
    >>> plt.close(display.figure_)
    """

    parameters: tuple[str, ...]
    values: list[list[Any]]
    scores: Array
    errors: Array
    best: tuple[int, ...]
    score: str = "score"
    joined: bool = True
    title: str = ""
    figure_: Figure = field(init=False, repr=False)
    ax_: matplotlib.axes.Axes = field(init=False, repr=False)
    lines_: list[ErrorbarContainer] = field(init=False, repr=False)
    surface_: QuadContourSet | PathCollection | AxesImage | None = field(init=False, repr=False)
    best_: Line2D = field(init=False, repr=False)

    @classmethod
    def from_search(
        cls, search: Estimator, parameters: str | Sequence[str] | None = None, *, ax: Axes = None, **kwargs: Any
    ) -> ValidationDisplay:
        """The results of a fitted search; of further parameters the best values are taken at each point.

        Parameters
        ----------
        search : KernelSearchCV, or scikit-learn's GridSearchCV or RandomizedSearchCV
            Fitted, with one score.
        parameters : str or sequence of one or two str, optional
            Which to show; None: those of which several values were tried, where they are one or two.
        ax : matplotlib axes, optional
            Where to draw; None: a new figure.
        **kwargs
            For the curves, or for the contours.

        Returns
        -------
        ValidationDisplay
        """
        pyplot()
        results = getattr(search, "cv_results_", None)
        if results is None or "mean_test_score" not in results:
            raise ValueError(
                coded(
                    f"{called(search)} has no cv_results_ with a mean_test_score: fit a KernelSearchCV or a"
                    " GridSearchCV of one score first.",
                    "M311",
                )
            )
        candidates = list(results["params"])
        tried = {name: [one.get(name, _ABSENT) for one in candidates] for name in sorted(set().union(*candidates))}
        names = _chosen(parameters, tried)
        values = [_distinct(tried[name]) for name in names]
        at = np.array(
            [
                [_place(found, tried[name][c]) for name, found in zip(names, values, strict=True)]
                for c in range(len(candidates))
            ]
        )
        mean, error = np.asarray(results["mean_test_score"], np.float64), _standard_errors(results)
        scores, errors = (np.full([len(v) for v in values], np.nan) for _ in range(2))
        known = np.flatnonzero((at >= 0).all(axis=1) & np.isfinite(mean))
        for c in known[np.argsort(mean[known], kind="stable")]:  # the best of each place comes last
            scores[tuple(at[c])], errors[tuple(at[c])] = mean[c], error[c]
        if not np.isfinite(scores).any():
            raise ValueError(coded(f"No candidate has a score and all of {', '.join(names)}.", "M309"))
        best = tuple(int(i) for i in at[search.best_index_])
        if min(best) < 0:  # the best of all is one without these parameters
            best = tuple(int(i) for i in np.unravel_index(int(np.nanargmax(scores)), scores.shape))
        rest = [name for name, found in tried.items() if name not in names and len(_distinct(found)) > 1]
        folds = sum(name.startswith("split") and name.endswith("_test_score") for name in results)
        at_best = [f"{n} = {_short(v[i])}" for n, v, i in zip(names, values, best, strict=True)]
        title = f"{called(search.estimator)}, {folds} folds, best at {', '.join(at_best)}"
        title += f": {scores[best]:.3g}" + (f" ± {errors[best]:.2g}" if np.isfinite(errors[best]) else "")
        joined = not rest or len(candidates) > scores.size
        if rest:
            title += f"\n{'the best over' if joined else 'each with its own'} {', '.join(rest)}"
        scoring = getattr(search, "scoring", None)
        score = scoring if isinstance(scoring, str) else "score"
        return cls(names, values, scores, errors, best, f"{score} (mean over folds)", joined, title).plot(ax, **kwargs)

    def plot(self, ax: Axes = None, **kwargs: Any) -> ValidationDisplay:
        """Draw on ``ax``, or on a new figure; further arguments go to curves or contours. Returns the display
        itself.
        """
        ax, _ = self.ax_, self.figure_ = canvas(ax)
        self.lines_, self.surface_ = [], None
        numbers = [_are_numbers(found) for found in self.values]
        if len(self.values) == 1:
            self._draw_curves(ax, 0, None, kwargs)
        elif all(numbers) and min(self.scores.shape) > 1:
            self._draw_surface(ax, kwargs)
        elif any(numbers) and len(self.values[1 - numbers.index(True)]) <= _LINES:
            along = numbers.index(True)
            self._draw_curves(ax, along, 1 - along, kwargs)
        else:
            self._draw_cells(ax, kwargs)
        return self

    def _draw_curves(self, ax: Axes, along: int, apart: int | None, kwargs: dict[str, Any]) -> None:
        at = self._scaled(ax.xaxis, along)
        for k in range(1 if apart is None else len(self.values[apart])):
            mean, error = (table if apart is None else np.take(table, k, apart) for table in (self.scores, self.errors))
            label = "mean ± standard error" if apart is None else plain(_short(self.values[apart][k]))
            style = {"color": colour(k), "marker": marker(k), "ms": 4, "lw": 1.5, "capsize": 2.5, "elinewidth": 1.0}
            if not self.joined or not _are_numbers(self.values[along]):
                style["ls"] = "none"
            error = np.where(np.isfinite(error), error, 0.0)
            self.lines_.append(ax.errorbar(at, mean, error, **(style | {"label": label} | kwargs)))
        (self.best_,) = ax.plot(at[self.best[along]], self.scores[self.best], **_MARK)
        legend(ax, "" if apart is None else self.parameters[apart])
        framed(ax, (self.parameters[along], self.score), self.title)

    def _draw_surface(self, ax: Axes, kwargs: dict[str, Any]) -> None:
        x, y = self._scaled(ax.xaxis, 0), self._scaled(ax.yaxis, 1)
        gx, gy = np.meshgrid(x, y, indexing="ij")
        known = np.isfinite(self.scores)
        if known.all() and float(np.ptp(self.scores)) > 0:
            self.surface_ = filled = ax.contourf(x, y, self.scores.T, **({"levels": 14, "cmap": "viridis"} | kwargs))
            ax.contour(x, y, self.scores.T, levels=filled.levels[::2], colors="white", linewidths=0.5, alpha=0.7)
            ax.plot(gx.ravel(), gy.ravel(), ls="none", marker=".", ms=2.5, color="white")
        else:  # not a full grid
            self.surface_ = ax.scatter(
                gx[known], gy[known], c=self.scores[known], **({"s": 45, "cmap": "viridis"} | kwargs)
            )
        (self.best_,) = ax.plot(x[self.best[0]], y[self.best[1]], **_MARK)
        self._bar(ax)
        ax.legend(loc="upper right", fontsize="small", framealpha=0.9, edgecolor="none")
        framed(ax, (self.parameters[0], self.parameters[1]), self.title)

    def _draw_cells(self, ax: Axes, kwargs: dict[str, Any]) -> None:
        self.surface_ = ax.imshow(self.scores.T, **({"cmap": "viridis", "aspect": "auto", "origin": "lower"} | kwargs))
        for axis, found in zip((ax.xaxis, ax.yaxis), self.values, strict=True):
            name_ticks(axis, map(_short, found))
        if self.scores.size <= 100:
            middle = (np.nanmin(self.scores) + np.nanmax(self.scores)) / 2
            for i, j in np.argwhere(np.isfinite(self.scores)):
                dark = self.scores[i, j] < middle
                ax.text(i, j, f"{self.scores[i, j]:.3g}", ha="center", va="center", color="white" if dark else INK)
        (self.best_,) = ax.plot(*self.best, **(_MARK | {"ms": 30}))
        self._bar(ax)
        framed(ax, (self.parameters[0], self.parameters[1]), self.title)

    def _scaled(self, axis: XAxis | YAxis, i: int) -> Array:
        """Where the values of a parameter stand, its axis logarithmic where they are geometric; kinds stand side by
        side.
        """
        found = self.values[i]
        if not _are_numbers(found):
            name_ticks(axis, map(_short, found))
            return np.arange(len(found), dtype=np.float64)
        at = np.array(found, np.float64)
        if is_geometric(at):
            axis.axes.set(**{f"{axis.axis_name}scale": "log"})
        return at

    def _bar(self, ax: Axes) -> None:
        assert self.surface_ is not None
        self.figure_.colorbar(self.surface_, ax=ax, label=self.score).outline.set_visible(False)


_MARK: dict[str, Any] = {
    "marker": "o",
    "ms": 12,
    "mfc": "none",
    "mec": VERMILION,
    "mew": 2.0,
    "ls": "none",
    "label": "best",
    "zorder": 5,
    "clip_on": False,
}


def is_geometric(values: Array) -> bool:
    """Whether positive numbers grow rather by a factor than by a step."""
    if len(values) < 2 or values[0] <= 0:
        return False
    if len(values) == 2:
        return bool(values[1] / values[0] >= 5)
    steps, factors = np.diff(values), np.diff(np.log(values))
    return bool(np.std(factors) / np.mean(factors) < np.std(steps) / np.mean(steps) - 1e-9)


def _chosen(parameters: str | Sequence[str] | None, tried: dict[str, list[Any]]) -> tuple[str, ...]:
    if parameters is None:
        names = tuple(name for name, found in tried.items() if len(_distinct(found)) > 1) or tuple(tried)[:1]
        if len(names) > 2:
            raise ValueError(
                coded(
                    f"The search has tried {len(names)} parameters, {', '.join(names)}: choose one or two,"
                    " parameters=[…].",
                    "M205",
                )
            )
        return names
    names = (parameters,) if isinstance(parameters, str) else tuple(parameters)
    missing = [name for name in names if name not in tried]
    if missing or not 1 <= len(names) <= 2 or len(set(names)) < len(names):
        raise ValueError(coded(f"parameters={parameters!r}: choose one or two of {', '.join(tried)}.", "M205"))
    return names


def _distinct(found: list[Any]) -> list[Any]:
    """The values that were tried, numbers in ascending order; a candidate without the parameter has none."""
    kept: dict[str, Any] = {}
    for value in found:
        if value is not _ABSENT:
            kept.setdefault(repr(value), value)
    values = list(kept.values())
    return sorted(values) if _are_numbers(values) else values


def _place(values: list[Any], value: object) -> int:
    written = [repr(v) for v in values]
    return written.index(repr(value)) if repr(value) in written else -1


def _are_numbers(values: list[Any]) -> bool:
    return bool(values) and all(isinstance(v, int | float | np.number) and not isinstance(v, bool) for v in values)


def _standard_errors(results: dict[str, Any]) -> Array:
    """s/√k of the scores on k folds; NaN of a single one."""
    splits = np.array(
        [found for name, found in results.items() if name[:5] == "split" and name.endswith("_test_score")]
    )
    if len(splits) < 2:
        return np.full(len(results["params"]), np.nan)
    return np.asarray(splits.astype(np.float64).std(axis=0, ddof=1) / np.sqrt(len(splits)))


def _short(value: object) -> str:
    text = f"{value:.3g}" if isinstance(value, float | np.floating) else word(value)
    return text if len(text) <= 40 else text[:38] + " …"
