"""Docstrings as they are written, plain text with ``literals``, made into reStructuredText.

|x| is a length and no substitution, support_ is an attribute and no reference, a*b has no emphasis. What means
something there all the same stays: literals, links, [1]_, **bold**, doctests.
"""

from __future__ import annotations

import re
from itertools import groupby

_MARKED = re.compile(r"(``.+?``|:\w+:`[^`]+`|`[^`]+`_?|\*\*\S.*?\*\*|\[\w+\]_)", re.DOTALL)
_NAMING = ("Parameters", "Attributes")
_DESCRIBING = ("Parameters", "Attributes", "Returns", "Yields")


def escaped(text: str) -> str:
    """Prose, of any number of lines."""
    pieces = _MARKED.split(text)
    for i in range(0, len(pieces), 2):
        piece = re.sub(r"([\\|*])", r"\\\1", pieces[i])
        piece = re.sub(r"(?<=\w)_(?!\w)", r"\_", piece)
        # a literal ends where a space or a sign follows, and begins where one precedes: else one is put there
        before = "\\ " if i and re.match(r"[^\s'\")\]}>\-/:.,;!?\\]", piece) else ""
        after = "\\ " if i + 1 < len(pieces) and re.search(r"[^\s'\"(\[{<\-/:]$", piece) else ""
        pieces[i] = before + piece + after
    return "".join(pieces)


def made_rest(lines: list[str]) -> list[str]:
    """A docstring in numpydoc's form, line by line."""
    found: list[str] = []
    for prose, group in groupby(_told_apart(lines), key=lambda told: told[0]):
        text = [line for _, line in group]
        found += escaped("\n".join(text)).split("\n") if prose else [_typed(line) for line in text]
    return found


def _told_apart(lines: list[str]) -> list[tuple[bool, str]]:
    """Each line, and whether it is prose: not code, not a table, not the name of a parameter, not the mark of a
    reference.
    """
    section, code, ruled, told = "", False, False, []
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        if re.fullmatch(r"-{3,}", following.strip()):
            section = line.strip()
        rule = re.fullmatch(r"\s*={3,}( +={3,})+", line) is not None
        ruled = bool(line.strip()) and (ruled or rule)  # a table has no blank lines
        code = line.lstrip().startswith(">>> ") or (code and bool(line.strip()))
        name = bool(line) and not line.startswith(" ") and section in _DESCRIBING
        name = name and (section in _NAMING or " : " in line)
        told.append((not (code or ruled or name or section == "See Also" or line.lstrip().startswith(".. ")), line))
    return told


def _typed(line: str) -> str:
    """The name of a parameter is left to numpydoc; its type is prose."""
    name, colon, kind = line.partition(" : ")
    return f"{name}{colon}{escaped(kind)}" if colon else line
