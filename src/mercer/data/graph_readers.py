"""Graphs from files that people have: GraphML, GEXF, lists of edges."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from mercer.data.archives import check_fields, most_bytes, unpacked
from mercer.data.edge_lists import EdgeList, drawn_lists
from mercer.data.graph_forms import Graphs
from mercer.data.graph_xml import Drawn, gexf, graphml, read_xml
from mercer.data.graphs import Graph
from mercer.data.notices import one_call
from mercer.data.tables import DataError, excerpt

_XML: dict[str, Any] = {".graphml": graphml, ".gexf": gexf}
_LISTS = (".edgelist", ".edges", ".el", ".csv", ".tsv", ".txt")
_PACKED = (".gz", ".bz2", ".xz")


def read_graphs(
    path: str | Path | Sequence[str | Path],
    *,
    label: str | None = "label",
    edge_label: str | None = "label",
    attributes: str | Sequence[str] | None = None,
    directed: bool = False,
    header: bool | None = None,
    max_bytes: int | str | None = None,
) -> list[Graph]:
    """The graphs of GraphML and GEXF files and of lists of edges, as they are or packed by gzip, bzip2 or xz.

    A list of edges (.edgelist, .edges, .csv, .tsv, .txt) has an edge in a line: two names of vertices and, if wanted,
    a label, between blanks, tabs or commas; or, as networkx writes them, a dictionary of attributes. A third column of
    numbers is the attribute "weight", not a label. A line with one name is a vertex without edges; lines that begin
    with # or % are comments; a first line of names (source, target, …) names the columns. Document types and entities
    of XML are refused.

    Parameters
    ----------
    path : str, Path, or list of them
        A file; a folder, of which all files of these kinds are read in the order of their names; or a list of files.
    label : str, optional
        The attribute of vertices that is their label. None: they have none.
    edge_label : str, optional
        The attribute of edges that is their label. Where no line names it, that of a third column is "weight" if all
        that stands there is numbers, else "label". None: they have none.
    attributes : str or list of str, optional
        The attributes of vertices that are numbers to compare. None: none are read.
    directed : bool, default=False
        Whether the edges of lists have a direction; GraphML and GEXF say it themselves.
    header : bool, optional
        Whether the first line of a list names its columns. None: it does where that is certain, as nothing there is the
        name of a vertex: its first words are of source, target, from, to, …, or its third is no number where all others
        in that column are. What is assumed is told where it may be wrong.
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
        When vertices or edges have attributes that are not read, or the first line of a list may be another thing than
        is assumed.

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
    read: list[tuple[Path, Drawn | EdgeList]] = []
    limit = most_bytes(max_bytes)
    numbers = attributes if isinstance(attributes, str) or attributes is None else tuple(attributes)
    wanted = Graphs(label, edge_label, numbers)
    with one_call():
        for file in files:
            read += [(file, drawn) for drawn in _read(file, header, limit)]
        lists = iter(drawn_lists([one for _, one in read if isinstance(one, EdgeList)], directed=directed))
        found = [one if isinstance(one, Drawn) else next(lists) for _, one in read]
        for number, ((file, _), drawn) in enumerate(zip(read, found, strict=True)):
            try:
                wanted.graph(number, drawn)
            except DataError as error:
                raise DataError(f"{file}: {error}", "M109") from None
        return wanted.graphs(found)


def _kind(path: Path) -> str:
    return next((s.lower() for s in reversed(path.suffixes) if s.lower() not in _PACKED), "")


def _files(path: Path) -> list[Path]:
    if path.is_dir():
        found = sorted(p for p in path.iterdir() if p.is_file() and _kind(p) in (*_XML, *_LISTS))
        if not found:
            raise DataError(f"{path} holds no files of graphs ({', '.join((*_XML, *_LISTS))}).", "M501")
        return found
    if not path.is_file():
        raise DataError(f"{path}: there is no such file.", "M501")
    if _kind(path) not in (*_XML, *_LISTS):
        raise DataError(
            f"{path}: {_kind(path)!r} is not a kind of file of graphs that is known; known are"
            f" {', '.join((*_XML, *_LISTS))}. read_tu reads sets of the TU benchmarks, read_sdf molecules.",
            "M109",
        )
    return [path]


def _read(path: Path, header: bool | None, limit: int) -> list[Drawn | EdgeList]:
    content, kind = unpacked(path, limit), _kind(path)

    def wrong(line: int, what: str) -> DataError:
        return DataError(f"{path}, line {line}: {what}", "M109")

    if kind in _LISTS:
        try:
            text = content.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise wrong(content[: error.start].count(b"\n") + 1, "it is not a text in UTF-8.") from None
        check_fields(path, 3 * (text.count("\n") + 1), limit)
        return [EdgeList.of(text, path, header, wrong)]
    check_fields(path, 4 * content.count(b"<"), limit)
    root = read_xml(content, wrong)
    if root.name != kind[1:]:
        raise wrong(root.line, f"it begins with {excerpt(root.name)}, where a file of graphs has <{kind[1:]}>.")
    found = _XML[kind](root, wrong)
    if not found:
        raise DataError(f"{path} holds no graph.", "M109")
    return list(found)
