"""A display is not only made but drawn."""

from __future__ import annotations

from typing import Any


def drawn(display: Any) -> Any:
    """The display, after all its letters and lines were set; warnings are errors."""
    display.figure_.draw_without_rendering()
    return display


def title(display: Any) -> str:
    """What stands above the picture, in one line."""
    return str(display.ax_.get_title()).replace("\n", " ")


def words(display: Any) -> list[str]:
    """What stands in the legend."""
    return [text.get_text() for text in display.ax_.get_legend().get_texts()]
