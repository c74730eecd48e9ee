"""Lists of edges: two names of vertices in a line, what is known of the edge, and perhaps a line that names the
columns.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from mercer.data.graph_xml import Drawn
from mercer.data.notices import lost
from mercer.data.tables import DataError, excerpt

_ENDS = {"source", "target", "from", "to", "src", "dst", "u", "v", "node1", "node2", "head", "tail"}
_LETTERS = {"u", "v"}  # of these, names of vertices as well as of columns
_LONGEST = 10_000  # letters of the attributes of an edge, written as a dictionary of Python
_UNNAMED = "label"  # or weight: what a third column is called that no line names


class _Line(NamedTuple):
    number: int
    fields: list[str]
    data: dict[str, Any]


@dataclass(frozen=True)
class EdgeList:
    """The lines of a file, as texts, and the names of its columns; None: no line names them."""

    lines: list[_Line]
    names: list[str] | None

    @classmethod
    def of(cls, text: str, path: Path, header: bool | None, wrong: Callable[[int, str], DataError]) -> EdgeList:
        """What is in a text. With ``header`` None a first line is looked at whether it names the columns."""
        lines = []
        for number, written in enumerate(text.splitlines(), start=1):
            if written.strip() and written.lstrip()[0] not in "#%":
                lines.append(_Line(number, *_fields(written, number, wrong)))
        named = bool(lines) and (_is_header(lines, path) if header is None else header)
        names = lines[0].fields if named else None
        width = 3 if names is None else len(names)
        for line in lines[named:]:
            if len(line.fields) > width:
                what = "the first line names" if named else "an edge here has two ends and a label, at most"
                cure = "name the columns in a first line, and say header=True."
                raise wrong(line.number, f"it has {len(line.fields)} fields, {what} {width}; {cure}")
        return cls(lines[named:], names)


def drawn_lists(lists: Sequence[EdgeList], *, directed: bool) -> list[Drawn]:
    """The graphs of lists: a column is of one type in all of them, and so is what a third one without a name is."""
    unnamed = [line.fields[2] for each in lists if each.names is None for line in each.lines if len(line.fields) > 2]
    third = "weight" if all(_is_number(value) for value in unnamed if value) else _UNNAMED
    columns: dict[str, list[str]] = {}
    named = [(each, (each.names or ["source", "target", third])[2:]) for each in lists]
    for each, names in named:
        for line in each.lines:
            for name, value in zip(names, line.fields[2:], strict=False):
                columns.setdefault(name, []).append(value)
    numbers = {name for name, values in columns.items() if all(_is_number(value) for value in values if value)}
    return [_drawn(each, names, numbers, directed) for each, names in named]


def _drawn(found: EdgeList, names: list[str], numbers: set[str], directed: bool) -> Drawn:
    g = Drawn(directed=directed)
    for _, fields, data in found.lines:
        own = {
            name: _number(value) if name in numbers else value
            for name, value in zip(names, fields[2:], strict=False)
            if value
        }
        ends = [_vertex(end) for end in fields[:2] if end]
        for end in ends:
            g.vertices.setdefault(end, {})
        if len(ends) == 2:
            g.links.append((ends[0], ends[1], data | own))
    if all(isinstance(name, int) for name in g.vertices):
        g.vertices = {name: g.vertices[name] for name in sorted(g.vertices)}
    return g


def _is_header(lines: list[_Line], path: Path) -> bool:
    """Whether the first line names the columns; what is assumed is told where it may be wrong."""
    first, *rest = lines
    if len(first.fields) < 2 or first.data:
        return False
    others = {name for line in rest for name in line.fields[:2]}
    own, shown = set(first.fields[:2]), excerpt(" ".join(first.fields))
    known = {name.casefold() for name in own} <= _ENDS
    third = [line.fields[2] for line in rest if len(line.fields) > 2]
    above = len(first.fields) > 2 and not _is_number(first.fields[2]) and bool(third) and all(map(_is_number, third))
    numbered = bool(others) and all(_is_number(name) for name in others)
    if not own & others and (known or above):
        if not above and not numbered and {name.casefold() for name in own} & _LETTERS:
            _tell(path, shown, "the names of the columns")
        return True
    if known or above or (numbered and not any(map(_is_number, own))):
        _tell(path, shown, "an edge")
    return False


def _tell(path: Path, line: str, what: str) -> None:
    cure = "mercer.read_graphs(path, header=True) says that it names the columns, header=False that it is an edge"
    lost("header", f"{path}: the first line, {line}, is taken for {what}: {cure}.")


def _fields(line: str, number: int, wrong: Callable[[int, str], DataError]) -> tuple[list[str], dict[str, Any]]:
    """The fields of a line, and the attributes that a dictionary after them has."""
    front, brace, rest = line.partition("{")
    data: object = {}
    if brace:
        try:
            if len(rest) > _LONGEST:
                raise ValueError
            data = ast.literal_eval(brace + rest.strip())
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            raise wrong(number, f"{excerpt(brace + rest.strip())} is not a dictionary of attributes.") from None
    separator = next((mark for mark in ("\t", ",", ";") if mark in front), None)
    fields = [field.strip().strip('"') for field in (front.strip().rstrip(",;").split(separator))]
    if any(field.startswith("(") and not field.endswith(")") for field in fields):
        raise wrong(number, f"{excerpt(line.strip())} has a name in brackets, which is cut in two; write names as 0_1.")
    if not any(fields) or not isinstance(data, dict):
        raise wrong(number, f"{excerpt(line.strip())} names no vertices.")
    return fields, data


def _vertex(text: str) -> Any:
    """A whole number where it is written as one: 01, +1 and 1_0 are names, and others than 1 and 10."""
    try:
        return int(text) if str(int(text)) == text else text
    except ValueError:
        return text


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text)) and "_" not in text
    except ValueError:
        return False


def _number(text: str) -> int | float:
    try:
        return int(text)
    except ValueError:
        return float(text)
