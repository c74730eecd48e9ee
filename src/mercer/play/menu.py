"""What a page is told when it begins: modes, learners, kernels, limits, and the table that was opened."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np

import mercer
from mercer.play import blocks, limits
from mercer.play.modes import MODES
from mercer.play.modes.base import Mode
from mercer.play.samples import HEIGHT, WIDTH
from mercer.play.state import Data
from mercer.play.views import View


def menu(table: Data | None = None, name: str = "") -> View:
    """The view that a page begins with; ``table`` are the samples of the table called ``name``."""
    return View(
        "menu",
        {
            "version": mercer.__version__, "modes": [_mode(mode) for mode in MODES.values()],
            "limits": {
                "points": limits.MOST_POINTS, "items": limits.MOST_ITEMS, "classes": limits.MOST_CLASSES,
                "letters": limits.LONGEST_ITEM, "kernel": limits.LONGEST_KERNEL, "message": limits.LARGEST_MESSAGE,
            },
            "width": WIDTH, "height": HEIGHT,
            "table": None if table is None else {"name": name, "n": len(table), "classes": len(np.unique(table.y))},
        },
    )  # fmt: skip


def _mode(mode: Mode) -> dict[str, Any]:
    learners = [
        {"name": name, "title": learner.title, "dials": [asdict(dial) for dial in learner.dials]}
        for name, learner in mode.learners.items()
    ]
    return {
        "name": mode.name, "title": mode.title, "question": mode.question, "shows": mode.shows, "learners": learners,
        "needs": asdict(mode.needs), "kernel": mode.kernel, "suggested": mode.suggested, "families": mode.families,
        "start": mode.start, "names": blocks.names(mode.domains, mode.suggested),
    }  # fmt: skip
