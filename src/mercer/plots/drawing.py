"""How pictures look: colours, markers, axes, points, legends and frames; the only place that imports matplotlib.

Colours are those of Okabe and Ito, which all kinds of sight tell apart; classes differ by their marker, too.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from mercer.annotations import Axes
from mercer.arrays import Array
from mercer.troubles import coded

if TYPE_CHECKING:
    from matplotlib.axis import Axis
    from matplotlib.colors import Colormap

BLUE, VERMILION, GREY, INK = "#0072B2", "#D55E00", "#9A9A9A", "#222222"
_COLOURS = (BLUE, VERMILION, "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
_MARKERS = ("o", "s", "^", "D", "v", "P", "X")
MOST_CLASSES = 20  # more distinct numbers than these are a scale, not classes; more groups are not named at a matrix


def pyplot() -> Any:
    """matplotlib's, or an error that says how to install it."""
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise ImportError(
            coded('Displays are drawn with matplotlib, which is not installed: pip install "mercer[plots]".', "M402")
        ) from None
    return plt


def subplots(rows: int, columns: int, inches: tuple[float, float], **options: Any) -> list[Any]:
    return list(np.ravel(pyplot().subplots(rows, columns, figsize=inches, layout="constrained", **options)[1]))


def canvas(ax: Axes) -> tuple[Any, Any]:
    """Axes to draw on, new ones where none are given, and their figure."""
    ax = subplots(1, 1, (6.0, 4.4))[0] if ax is None else ax
    return ax, ax.figure


def panels(ax: Axes, rows: int, columns: int, inches: tuple[float, float], **options: Any) -> list[Any]:
    """The axes given, one or several; none given: a new figure of so many."""
    if ax is None:
        return subplots(rows, columns, inches, **options)
    axes = list(np.ravel(np.asarray(ax, dtype=object)))
    if len(axes) > rows * columns:
        raise ValueError(
            coded(f"There are {rows * columns} pictures for {len(axes)} axes; give no more axes than pictures.", "M205")
        )
    return axes


def scatter(ax: Axes, points: Array, y: Array | None, name: object, kwargs: dict[str, Any]) -> list[Any]:
    """Points of one colour; by y, called ``name``, as classes with a legend, or on a scale with a colour bar."""
    style = {"s": dot_size(len(points)), "linewidths": 0, "alpha": 0.85}
    if y is None:
        return [ax.scatter(*points.T, **(style | {"color": BLUE} | kwargs))]
    if _is_scale(y):
        drawn = ax.scatter(*points.T, **(style | {"c": y, "cmap": "viridis"} | kwargs))
        bar = ax.figure.colorbar(drawn, ax=ax, label=str(name or "y"))
        bar.outline.set_visible(False)
        bar.solids.set_alpha(1.0)
        return [drawn]
    drawn = scatter_classes(ax, points, y, kwargs)
    legend(ax, str(name or ""))
    return drawn


def scatter_classes(
    ax: Axes, points: Array, labels: Array, kwargs: dict[str, Any], classes: Array | None = None
) -> list[Any]:
    """One collection for each class, in their order. Seven colours; from the eighth class on, the markers differ from
    those of the first seven. Of ``classes`` that are given each has its place, whether points are of it or not; of
    those found among labels, −1 is noise.
    """
    style = {"s": dot_size(len(points)), "linewidths": 0, "alpha": 0.85}
    drawn = []
    for k, value in enumerate(np.unique(labels) if classes is None else classes):
        noise = classes is None and labels.dtype.kind in "if" and value == -1
        look = {"color": GREY, "marker": "."} if noise else {"color": colour(k), "marker": marker(k)}
        look["label"] = "noise" if noise else plain(word(value))
        drawn.append(ax.scatter(*points[labels == value].T, **(style | look | kwargs)))
    return drawn


def colour(k: int) -> str:
    """Of class k."""
    return _COLOURS[k % len(_COLOURS)]


def marker(k: int) -> str:
    """Of class k: with the colour, 49 looks."""
    return _MARKERS[(k % len(_COLOURS) + k // len(_COLOURS)) % len(_MARKERS)]


def word(value: object) -> str:
    """A class or a parameter, as it is written beside a picture."""
    return f"{value:g}" if isinstance(value, float | np.floating) else str(value)


def _is_scale(y: Array) -> bool:
    """Whether y is drawn as a scale: numbers with fractions, or many of them."""
    return y.dtype.kind in "iuf" and (len(np.unique(y)) > MOST_CLASSES or not np.array_equal(y, np.round(y)))


def glyph(ax: Axes, text: str, box: tuple[float, float, float, float], colour: str) -> Any:
    """A text drawn as large as the box (x, y, width, height) that it fills."""
    pyplot()
    from matplotlib.patches import PathPatch
    from matplotlib.textpath import TextPath
    from matplotlib.transforms import Affine2D

    path = TextPath((0, 0), plain(text), size=1)
    extent, (x, y, width, height) = path.get_extents(), box
    fit = Affine2D().translate(-extent.x0, -extent.y0)
    fit = fit.scale(width / max(extent.width, 1e-9), height / max(extent.height, 1e-9)).translate(x, y)
    return ax.add_patch(PathPatch(fit.transform_path(path), facecolor=colour, edgecolor="none"))


def colour_of(k: int) -> str:
    """The colour of the k-th of some things that differ."""
    return _COLOURS[k % len(_COLOURS)]


def dot_size(n: int) -> float:
    """Of each of n points: the more, the smaller."""
    return float(np.clip(6000 / n, 6, 32))


def surface(
    ax: Axes, x: Array, y: Array, values: Array, label: str, cmap: str | Colormap = "PuOr", zero: float = 0.0
) -> tuple[Any, Any]:
    """Contours of a function over a plane in pale colours, on which points are seen, with their bar; and where it is
    ``zero``, None if nowhere.
    """
    low, high = float(values.min()), float(values.max())
    filled = ax.contourf(x, y, values, _levels(low, high, zero), cmap=cmap, norm=_pale_about(zero, low, high))
    bar = ax.figure.colorbar(filled, ax=ax, label=plain(label), ticks=_ticks(low, high, zero), format="%.2g")
    bar.outline.set_visible(False)
    crossed = low < zero < high
    return filled, ax.contour(x, y, values, [zero], colors=INK, linewidths=1.5) if crossed else None


def _pale_about(zero: float, low: float, high: float) -> Any:
    """Values of [low, high] on a scale of two colours that meet at ``zero``, far from its ends."""
    pyplot()
    from matplotlib.colors import TwoSlopeNorm

    least = max(1e-300, 1e-12 * abs(zero))
    return TwoSlopeNorm(zero, zero + 1.6 * min(low - zero, -least), zero + 1.6 * max(high - zero, least))


def _levels(low: float, high: float, zero: float) -> Array:
    """Levels of filled contours over [low, high], ``zero`` among them where it lies inside."""
    ends = (low, zero, high) if low < zero < high else (low, high) if low < high else (low - 1.0, high + 1.0)
    return np.unique(np.concatenate([np.linspace(a, b, 8) for a, b in pairwise(ends)]))


def _ticks(low: float, high: float, zero: float) -> list[float]:
    middle = (low + high) / 2
    inside = low < zero < high
    return sorted({low, (low + zero) / 2, zero, (high + zero) / 2, high} if inside else {low, middle, high})


def between(first: str, second: str) -> Any:
    """The scale from one colour over white to another."""
    pyplot()
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("between", [first, "white", second])


def paler(name: str, share: float = 0.3) -> Any:
    """So much of a colour, the rest white."""
    pyplot()
    from matplotlib.colors import to_rgb

    return tuple(1 - share * (1 - part) for part in to_rgb(name))


def rug(ax: Axes, values: Array) -> Any:
    """A tick for each value, at the foot of the picture."""
    style = {"color": INK, "lw": 0.6, "alpha": float(np.clip(100 / max(1, len(values)), 0.08, 0.7))}
    return ax.vlines(values, 0.0, 0.025, transform=ax.get_xaxis_transform(), **style)


def name_ticks(axis: Axis, names: Iterable[str], rotation: float = 0) -> None:
    """Names at 0, 1, 2, …; long ones are cut."""
    texts = [plain(name) if len(name) <= 28 else plain(name[:26]) + " …" for name in names]
    axis.set_ticks(range(len(texts)), texts, rotation=rotation)


def legend(ax: Axes, title: str) -> None:
    """Beside the picture where the figure makes room for it, else inside."""
    entries = len(ax.get_legend_handles_labels()[1])
    place = (
        {"loc": "upper left", "bbox_to_anchor": (1.0, 1.0)} if ax.figure.get_layout_engine() else {"loc": "upper right"}
    )
    ax.legend(title=plain(title) or None, fontsize="small", frameon=False, ncols=1 + (entries - 1) // 16, **place)


def framed(ax: Axes, names: tuple[str, str], title: str) -> None:
    """Names of the two axes, a title, and nothing else around the picture."""
    ax.set(xlabel=plain(names[0]), ylabel=plain(names[1]))
    if title:
        entitled(ax, title)
    bare(ax)


def entitled(ax: Axes, title: str) -> None:
    """A title in as many lines as it needs."""
    lines = (plain(line) for text in title.split("\n") for line in _even(text, _letters(ax)))
    ax.set_title("\n".join(lines), fontsize="medium")


def _letters(ax: Axes) -> int:
    """How many letters of the title have room above the picture."""
    inches = ax.get_position().width * ax.figure.get_size_inches()[0]
    return max(24, int(150 * inches / pyplot().rcParams["font.size"]))


def _even(text: str, letters: int) -> list[str]:
    """Lines of about the same length, none of more letters."""
    lines = -(-len(text) // letters)
    return textwrap.wrap(text, min(letters, len(text) // lines + 8)) if lines > 1 else [text]


def bare(ax: Axes) -> None:
    ax.spines[["top", "right"]].set_visible(False)


def plain(text: str) -> str:
    """Text as it is: a $ is not the beginning of mathematics."""
    return text.replace("$", r"\$")
