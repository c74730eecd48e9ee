"""What a page is made of: facts with their meaning, tables, pictures and words, in sections."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar


@dataclass(frozen=True)
class Fact:
    """A number or a word, what it is called, and one line that says what it means."""

    name: str
    value: str
    meaning: str


@dataclass(frozen=True)
class Facts:
    """Facts side by side."""

    kind: ClassVar[str] = "facts"
    facts: Sequence[Fact]


@dataclass(frozen=True)
class Words:
    """A paragraph."""

    kind: ClassVar[str] = "words"
    text: str


@dataclass(frozen=True)
class Formula:
    """Mathematics as the library writes it, and the same in words."""

    kind: ClassVar[str] = "formula"
    text: str
    words: str = ""


@dataclass(frozen=True)
class Drawn:
    """SVG that was made here and not by a user, and what it shows, for who cannot see it."""

    svg: str
    shows: str


@dataclass(frozen=True)
class Letter:
    """A letter of a sequence and how strongly it is coloured, −1 … 1."""

    letter: str
    shade: float = 0.0


@dataclass(frozen=True)
class Share:
    """A number with a bar as long as its share, 0 … 1."""

    text: str
    share: float


Cell = str | Drawn | Share | Sequence[Letter]


@dataclass(frozen=True)
class Table:
    """Rows of cells under their heads, and what they are."""

    kind: ClassVar[str] = "table"
    caption: str
    head: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    numbers: Sequence[int] = ()  # columns that are aligned as numbers


@dataclass(frozen=True)
class Picture:
    """A drawing and what is to be seen in it."""

    kind: ClassVar[str] = "picture"
    drawn: Drawn
    caption: str
    wide: bool = False


@dataclass(frozen=True)
class Pictures:
    """Pictures side by side."""

    kind: ClassVar[str] = "pictures"
    pictures: Sequence[Picture]


Block = Facts | Words | Formula | Table | Pictures


@dataclass(frozen=True)
class Section:
    """A part of the page, with the question that it answers."""

    title: str
    lead: str
    blocks: Sequence[Block]

    @property
    def anchor(self) -> str:
        return "".join(c if c.isalnum() else "-" for c in self.title.lower())


@dataclass(frozen=True)
class Page:
    """A report: what it is of, what to look at first, its sections, and who made it."""

    title: str
    first: str
    facts: Sequence[Fact]
    sections: Sequence[Section]
    made: str
    notes: Sequence[str] = field(default_factory=tuple)
