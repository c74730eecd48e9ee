"""How pictures look: colours, markers, axes, points, legends and frames; the only place that imports matplotlib.

Colours are those of Okabe and Ito, which all kinds of sight tell apart; classes differ by their marker, too.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer.annotations import Axes
from mercer.arrays import Array

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
            'Displays are drawn with matplotlib, which is not installed: pip install "mercer[plots]".'
        ) from None
    return plt


def subplots(rows: int, columns: int, inches: tuple[float, float], **options: Any) -> list[Any]:
    return list(np.ravel(pyplot().subplots(rows, columns, figsize=inches, layout="constrained", **options)[1]))


def canvas(ax: Axes) -> tuple[Any, Any]:
    """Axes to draw on, new ones where none are given, and their figure."""
    ax = subplots(1, 1, (6.0, 4.4))[0] if ax is None else ax
    return ax, ax.figure


def scatter(ax: Axes, points: Array, y: Array | None, name: Any, kwargs: dict[str, Any]) -> list[Any]:
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


def scatter_classes(ax: Axes, points: Array, labels: Array, kwargs: dict[str, Any]) -> list[Any]:
    """One collection for each class, in their order. Seven colours; from the eighth class on, the markers differ from
    those of the first seven.
    """
    style = {"s": dot_size(len(points)), "linewidths": 0, "alpha": 0.85}
    drawn = []
    for k, value in enumerate(np.unique(labels)):
        noise = labels.dtype.kind in "if" and value == -1
        k, turn = k % len(_COLOURS), k // len(_COLOURS)
        look = (
            {"color": GREY, "marker": "."}
            if noise
            else {"color": _COLOURS[k], "marker": _MARKERS[(k + turn) % len(_MARKERS)]}
        )
        look["label"] = "noise" if noise else f"{value:g}" if labels.dtype.kind == "f" else str(value)
        drawn.append(ax.scatter(*points[labels == value].T, **(style | look | kwargs)))
    return drawn


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


def pale_about_zero(low: float, high: float) -> Any:
    """Values of [low, high] on a scale of two colours that meet at 0, far from its ends: pale colours, on which points
    are seen.
    """
    pyplot()
    from matplotlib.colors import TwoSlopeNorm

    return TwoSlopeNorm(0.0, 1.6 * min(low, -1e-300), 1.6 * max(high, 1e-300))


def legend(ax: Axes, title: str) -> None:
    """Beside the picture where the figure makes room for it, else inside."""
    entries = len(ax.get_legend_handles_labels()[1])
    place = (
        {"loc": "upper left", "bbox_to_anchor": (1.0, 1.0)} if ax.figure.get_layout_engine() else {"loc": "upper right"}
    )
    ax.legend(title=title or None, fontsize="small", frameon=False, ncols=1 + (entries - 1) // 16, **place)


def framed(ax: Axes, names: tuple[str, str], title: str) -> None:
    """Names of the two axes, a title, and nothing else around the picture."""
    ax.set(xlabel=plain(names[0]), ylabel=plain(names[1]))
    if title:
        ax.set_title(title, fontsize="medium")
    bare(ax)


def bare(ax: Axes) -> None:
    ax.spines[["top", "right"]].set_visible(False)


def plain(text: str) -> str:
    """Text as it is: a $ is not the beginning of mathematics."""
    return text.replace("$", r"\$")
