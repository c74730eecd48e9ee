"""Pictures of a page: drawn where matplotlib is, left out where it is not or where one cannot be drawn."""

from __future__ import annotations

import importlib.util
import warnings
from collections.abc import Callable
from typing import Any

from mercer.plots.vectors import drawn_for_a_page
from mercer.reports.blocks import Drawn, Picture, Pictures

MISSING = 'Pictures are drawn with matplotlib, which is not installed: pip install "mercer[plots]".'


def can_draw() -> bool:
    return importlib.util.find_spec("matplotlib") is not None


def picture(draw: Callable[[], Any], caption: str, *, wide: bool = False) -> list[Picture]:
    """One picture, or none: a page without it is better than no page."""
    if not can_draw():
        return []
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return [Picture(Drawn(drawn_for_a_page(draw), caption), caption, wide)]
    except (ValueError, TypeError, ArithmeticError, MemoryError):
        return []


def side_by_side(*found: list[Picture]) -> list[Pictures]:
    """A block of pictures, if there are any."""
    every = [picture for some in found for picture in some]
    return [Pictures(every)] if every else []
