"""Pictures of pages weigh little: they get a palette, in which figures of few colours look the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

COLOURS = 128


def lighten(app: Any, exception: Exception | None) -> None:
    """Write the PNG files of the built site anew where a palette makes them smaller."""
    if exception is not None:
        return
    from PIL import Image

    for path in Path(app.outdir, "_images").glob("*.png"):
        with Image.open(path) as picture:
            if picture.mode == "P":
                continue
            drawn = picture.convert("RGBA")
            few = drawn.quantize(COLOURS, method=Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE)
        before, lighter = path.stat().st_size, path.with_suffix(".lighter")
        few.save(lighter, format="PNG", optimize=True)
        if lighter.stat().st_size < before:
            lighter.replace(path)
        else:
            lighter.unlink()
