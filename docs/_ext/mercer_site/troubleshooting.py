"""The pages of the codes lie with the program: here their copies for the site, in ``troubleshooting/``.

On GitHub they are read where they lie, so that links lead from there and back; in a copy the same links are the site's.
An anchor, ``<a id="m101"></a>``, becomes a target that other pages can name: ``[M101](#m101)``.
"""

from __future__ import annotations

import re
from importlib.resources import files
from pathlib import Path
from typing import Any

from mercer.app import troubleshooting

_ANCHOR = re.compile(r'^<a id="(m\d\d\d)"></a>$', re.MULTILINE)
_HERE, _THERE = "../../../../docs/", "../src/mercer/app/troubleshooting/"


def write(app: Any) -> None:
    """All copies; one whose text is the same is left alone, so that Sphinx does not read it again."""
    folder = Path(app.srcdir) / "troubleshooting"
    folder.mkdir(exist_ok=True)
    for page in troubleshooting.pages():
        text = files(troubleshooting).joinpath(f"{page.name}.md").read_text(encoding="utf-8")
        text = _ANCHOR.sub(r"(\1)=", text.replace(_HERE, "../"))
        path = folder / f"{page.name}.md"
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


def link_copies(app: Any, docname: str, source: list[str]) -> None:
    """Links to the pages where they lie become links to their copies."""
    if docname == "troubleshooting":
        source[0] = source[0].replace(_THERE, "troubleshooting/")
