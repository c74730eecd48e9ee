"""What the code at the end of a message means, and the cure: the pages of ``mercer help``, one for each hundred.

They are Markdown and come with the package; the documentation shows the same files. An entry of a page is an anchor, a
heading, and what stands below it up to the next.
"""

from __future__ import annotations

import re
import textwrap
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from importlib.resources import files

from mercer.troubles import coded

_ENTRY = re.compile(r'^<a id="m\d\d\d"></a>\n\n## (M\d\d\d): (.+)\n', re.MULTILINE)
_LINK = re.compile(r"\[([^\]]+)\]\([^)]+\)")
_INDENT = "    "


@dataclass(frozen=True)
class Entry:
    """What is said of one code; ``text`` is Markdown, without the heading."""

    code: str
    title: str
    text: str


@dataclass(frozen=True)
class Page:
    """The codes of one hundred, in their order."""

    name: str
    title: str
    entries: tuple[Entry, ...]


@cache
def pages() -> tuple[Page, ...]:
    """All pages, by hundreds."""
    found = [file for file in files(__name__).iterdir() if file.name.endswith(".md")]
    read = [_page(file.name.removesuffix(".md"), file.read_text(encoding="utf-8")) for file in found]
    return tuple(sorted(read, key=lambda page: page.entries[0].code))


def _page(name: str, text: str) -> Page:
    head, *rest = _ENTRY.split(text)
    title = head.splitlines()[0].removeprefix("# ").partition(":")[0]
    parts = zip(rest[::3], rest[1::3], rest[2::3], strict=True)
    return Page(name, title, tuple(Entry(code, heading, body.strip()) for code, heading, body in parts))


def entries() -> dict[str, Entry]:
    """What is said of each code, in order."""
    return {entry.code: entry for page in pages() for entry in page.entries}


def entry_of(asked: str) -> Entry:
    """The entry of a code, given as M101, m101, 101 or [M101]; where there is none, ValueError names those near it."""
    known = entries()
    code = "M" + asked.strip().strip("[].").upper().removeprefix("M")
    if code in known:
        return known[code]
    near = get_close_matches(code, known, n=4, cutoff=0.5)
    hint = f"; near are {', '.join(sorted(near))}" if near else ""
    raise ValueError(coded(f"There is no code {asked[:20]!r}{hint}. `mercer help` lists all.", "M205"))


def listed() -> str:
    """Every code with its line, by hundreds."""
    parts = ["\n".join([page.title, *(f"  {entry.code}  {entry.title}" for entry in page.entries)]) for page in pages()]
    return "\n\n".join([*parts, "mercer help M101 says more of one: why, and the cure."])


def in_words(entry: Entry, width: int = 80) -> str:
    """An entry for a terminal of so many columns: prose is wrapped, code indented, and can be copied from there."""
    prose, *rest = re.split(r"^```.*\n?", entry.text, flags=re.MULTILINE)
    parts = [_wrapped(prose, width)]
    for k, part in enumerate(rest):
        parts.append(_wrapped(part, width) if k % 2 else textwrap.indent(part.rstrip(), _INDENT))
    return "\n\n".join([f"{entry.code}: {entry.title}", *filter(None, parts)])


def _wrapped(text: str, width: int) -> str:
    plain = _LINK.sub(r"\1", text).replace("**", "").strip()
    paragraphs = [
        part if part.startswith("|") else textwrap.fill(part, width, break_long_words=False, break_on_hyphens=False)
        for part in plain.split("\n\n")
    ]
    return "\n\n".join(paragraphs)
