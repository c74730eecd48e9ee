"""How time grows with the size of a task: curves on logarithmic axes, a picture for a page of the documentation."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path

DOCS = Path(__file__).resolve().parents[1] / "docs"
MARKERS = "os^Dvp<>hX"  # curves are told apart without colour, too

Curves = dict[str, Sequence[tuple[float, float]]]  # name to (size, seconds)


def drawn(name: str, panels: dict[str, Curves], *, columns: int = 2) -> None:
    """Write ``docs/NAME.png``, a panel for each kind of size."""
    from matplotlib.figure import Figure
    from PIL import Image

    figure = Figure(figsize=(4.5 * len(panels) if len(panels) > 1 else 6, 3.8), layout="constrained")
    axes = figure.subplots(1, len(panels), squeeze=False)[0]
    for ax, (size, curves) in zip(axes, panels.items(), strict=True):
        for (label, points), marker in zip(curves.items(), itertools.cycle(MARKERS), strict=False):
            ax.loglog(*zip(*points, strict=True), marker=marker, markersize=4, label=label)
        ax.set(xlabel=size, ylabel="seconds")
        ax.grid(alpha=0.3, which="both")
    if len({tuple(curves) for curves in panels.values()}) == 1:
        handles, labels = axes[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=columns, fontsize=8, frameon=False)
    else:  # the panels have curves of their own
        for ax in axes:
            ax.legend(fontsize=8, frameon=False)
    path = DOCS / f"{name}.png"
    figure.savefig(path, dpi=110)
    Image.open(path).convert("RGB").quantize(64).save(path, optimize=True)  # a few kB in the place of many
