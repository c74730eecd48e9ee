"""Graphs from files that people have: GraphML, GEXF, lists of edges."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from mercer.data.archives import check_fields, most_bytes, unpacked
from mercer.data.graph_forms import Graphs
from mercer.data.graph_xml import Drawn, gexf, graphml, read_xml
from mercer.data.graphs import Graph
from mercer.data.notices import one_call
from mercer.data.tables import DataError, excerpt

_XML = {".graphml": graphml, ".gexf": gexf}
_LISTS = (".edgelist", ".edges", ".el", ".csv", ".tsv", ".txt")
_PACKED = (".gz", ".bz2", ".xz")
_ENDS = {"source", "target", "from", "to", "src", "dst", "u", "v", "node1", "node2", "head", "tail"}
_LONGEST = 10_000  # letters of the attributes of an edge, written as a dictionary of Python


def read_graphs(
    path: str | Path | Sequence[str | Path],
    *,
    label: str | None = "label",
    edge_label: str | None = "label",
    attributes: str | Sequence[str] | None = None,
    directed: bool = False,
    max_bytes: int | str | None = None,
) -> list[Graph]:
    """The graphs of GraphML and GEXF files and of lists of edges, as they are or packed by gzip, bzip2 or xz.

    A list of edges (.edgelist, .edges, .csv, .tsv, .txt) has an edge in a line: two names of vertices and, if wanted,
    a label, between blanks, tabs or commas; or, as networkx writes them, a dictionary of attributes. A line with one
    name is a vertex without edges; lines that begin with # or % are comments; a first line of names (source, target, …)
    names the columns. Document types and entities of XML are refused.

    Parameters
    ----------
    path : str, Path, or list of them
        A file; a folder, of which all files of these kinds are read in the order of their names; or a list of files.
    label : str, optional
        The attribute of vertices that is their label. None: they have none.
    edge_label : str, optional
        The attribute of edges that is their label; that of a third column is "label" where no line names it. None: they
        have none.
    attributes : str or list of str, optional
        The attributes of vertices that are numbers to compare. None: none are read.
    directed : bool, default=False
        Whether the edges of lists have a direction; GraphML and GEXF say it themselves.
    max_bytes : int or str, optional
        The most that is read of a file after unpacking, in bytes or as "2GB". None: an eighth of the machine's memory.

    Returns
    -------
    list of Graph
        In the order of the files.

    Raises
    ------
    DataError
        For whatever is wrong with a file; the message names the file and the line.

    Warns
    -----
    IgnoredWarning
        When vertices or edges have attributes that are not read.

    See Also
    --------
    as_graphs : Graphs of networkx, igraph, PyTorch Geometric, DGL and others.
    read_tu : Sets of graphs of the TU benchmarks.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import mercer as mc
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "bonds.edgelist")
    ...     _ = file.write_text("# water\\nO H1 single\\nO H2 single\\n")
    ...     [graph] = mc.read_graphs(file)
    >>> graph, graph.edge_labels
    (<graph of 3 vertices and 2 edges>, ['single', 'single'])
    """
    files = [file for each in ([path] if isinstance(path, str | Path) else path) for file in _files(Path(each))]
    found: list[Drawn] = []
    limit = most_bytes(max_bytes)
    numbers = attributes if isinstance(attributes, str) or attributes is None else tuple(attributes)
    wanted = Graphs(label, edge_label, numbers)
    with one_call():
        for file in files:
            for number, drawn in enumerate(_read(file, directed, limit)):
                try:
                    wanted.graph(number, drawn)
                except DataError as error:
                    raise DataError(f"{file}: {error}") from None
                found.append(drawn)
        return wanted.graphs(found)


def _kind(path: Path) -> str:
    return next((s.lower() for s in reversed(path.suffixes) if s.lower() not in _PACKED), "")


def _files(path: Path) -> list[Path]:
    if path.is_dir():
        found = sorted(p for p in path.iterdir() if p.is_file() and _kind(p) in (*_XML, *_LISTS))
        if not found:
            raise DataError(f"{path} holds no files of graphs ({', '.join((*_XML, *_LISTS))}).")
        return found
    if not path.is_file():
        raise DataError(f"{path}: there is no such file.")
    if _kind(path) not in (*_XML, *_LISTS):
        raise DataError(
            f"{path}: {_kind(path)!r} is not a kind of file of graphs that is known; known are"
            f" {', '.join((*_XML, *_LISTS))}. read_tu reads sets of the TU benchmarks, read_sdf molecules."
        )
    return [path]


def _read(path: Path, directed: bool, limit: int) -> list[Drawn]:
    content, kind = unpacked(path, limit), _kind(path)

    def wrong(line: int, what: str) -> DataError:
        return DataError(f"{path}, line {line}: {what}")

    if kind in _LISTS:
        try:
            text = content.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise wrong(content[: error.start].count(b"\n") + 1, "it is not a text in UTF-8.") from None
        check_fields(path, 3 * (text.count("\n") + 1), limit)
        return [_edges(text, directed, wrong)]
    check_fields(path, 4 * content.count(b"<"), limit)
    root = read_xml(content, wrong)
    if root.name != kind[1:]:
        raise wrong(root.line, f"it begins with {excerpt(root.name)}, where a file of graphs has <{kind[1:]}>.")
    found = _XML[kind](root, wrong)
    if not found:
        raise DataError(f"{path} holds no graph.")
    return found


def _edges(text: str, directed: bool, wrong: Any) -> Drawn:
    g = Drawn(directed=directed)
    names: list[str] = ["source", "target", "label"]
    first, named = True, False
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip() or line.lstrip()[0] in "#%":
            continue
        fields, data = _fields(line, number, wrong)
        if first and len(fields) > 1 and {fields[0].casefold(), fields[1].casefold()} <= _ENDS:
            names, named, first = fields, True, False
            continue
        first = False
        if len(fields) > len(names):
            what = "the first line names" if named else "an edge here has two ends and a label, at most"
            raise wrong(number, f"it has {len(fields)} fields, {what} {len(names)}; name the columns in a first line.")
        data |= {name: _typed(value) for name, value in zip(names[2:], fields[2:], strict=False) if value}
        ends = [_typed(end) for end in fields[:2] if end]
        for end in ends:
            g.vertices.setdefault(end, {})
        if len(ends) == 2:
            g.links.append((ends[0], ends[1], data))
    if all(isinstance(name, int) for name in g.vertices):
        g.vertices = {name: g.vertices[name] for name in sorted(g.vertices)}
    return g


def _fields(line: str, number: int, wrong: Any) -> tuple[list[str], dict[str, Any]]:
    """The fields of a line, and the attributes that a dictionary after them has."""
    front, brace, rest = line.partition("{")
    data: Any = {}
    if brace:
        try:
            if len(rest) > _LONGEST:
                raise ValueError
            data = ast.literal_eval(brace + rest.strip())
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            raise wrong(number, f"{excerpt(brace + rest.strip())} is not a dictionary of attributes.") from None
    separator = next((mark for mark in ("\t", ",", ";") if mark in front), None)
    fields = [field.strip().strip('"') for field in (front.strip().rstrip(",;").split(separator))]
    if not any(fields) or not isinstance(data, dict):
        raise wrong(number, f"{excerpt(line.strip())} names no vertices.")
    return fields, data


def _typed(text: str) -> Any:
    try:
        return int(text)
    except ValueError:
        return text
