"""Pictures as SVG for a page: their ink is that of the page, light or dark, and their letters are texts."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from typing import Any

from mercer.plots.drawing import INK, pyplot

_PLACEHOLDER = "#123457"  # no other colour: what takes the colour of the page's text
_STYLE = {
    "svg.fonttype": "none",
    "svg.hashsalt": "mercer",  # equal pictures are equal texts
    "font.size": 10.0,
    "legend.framealpha": 0.0,
    "legend.edgecolor": "none",
    "text.color": _PLACEHOLDER,
    "axes.labelcolor": _PLACEHOLDER,
    "axes.edgecolor": _PLACEHOLDER,
    "xtick.color": _PLACEHOLDER,
    "ytick.color": _PLACEHOLDER,
}


def drawn_for_a_page(draw: Callable[[], Any]) -> str:
    """The picture of the display that ``draw`` returns, as SVG; its figure is closed."""
    plt, text = pyplot(), io.StringIO()
    with plt.rc_context(_STYLE):
        figure = draw().figure_
        for legend in [ax.get_legend() for ax in figure.axes if ax.get_legend() is not None]:
            legend.get_frame().set_alpha(0.0)  # paper of another colour than the page's
        try:
            figure.savefig(text, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
        finally:
            plt.close(figure)
    svg = text.getvalue()
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg[svg.index("<svg") :], flags=re.DOTALL)
    for colour in (_PLACEHOLDER, INK, "#000000"):
        svg = svg.replace(colour, "currentColor")
    return svg
