"""Molecules as drawings, where RDKit is installed."""

from __future__ import annotations

from functools import lru_cache
from importlib.util import find_spec

from mercer.data.molecules import molecule_svg

_SIZE = (180, 120)


def drawings(texts: tuple[str, ...]) -> list[str]:
    """An SVG a molecule; nothing without RDKit."""
    return [_drawing(text) for text in texts] if find_spec("rdkit") is not None else []


@lru_cache(maxsize=2000)
def _drawing(text: str) -> str:
    return molecule_svg(text, (), _SIZE)
