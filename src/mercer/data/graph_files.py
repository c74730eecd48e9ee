"""Sets of graphs in the format of the TU benchmarks: text files of one folder or zip archive."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from mercer.arrays import Array
from mercer.data.archives import Archive, most_bytes, too_large
from mercer.data.graphs import Graph
from mercer.data.tables import DataError


def read_tu(
    path: str | Path, *, edge_labels: bool = True, max_bytes: int | str | None = None
) -> tuple[list[Graph], Any]:
    """The graphs of NAME_A.txt, NAME_graph_indicator.txt, … and their labels or targets.

    The format of the TU benchmarks. Vertex labels, vertex attributes and (unless left out) edge labels are read where
    there are files of them.

    Parameters
    ----------
    path : str or Path
        A folder or a zip archive with the files of one set of graphs.
    edge_labels : bool, default=True
        Whether to read edge labels.
    max_bytes : int or str, optional
        The most that is read after unpacking, in bytes or as "2GB". None: an eighth of the machine's memory.

    Returns
    -------
    graphs : list of Graph
        The graphs.
    y : ndarray or None
        The class of each graph (NAME_graph_labels.txt) or its targets (NAME_graph_attributes.txt); None where there is
        neither file.

    Raises
    ------
    DataError
        For whatever is wrong with a file; the message names the file and the line.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> import mercer as mc
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.savetxt(f"{folder}/TOY_graph_indicator.txt", [1, 1, 2, 2, 2], "%d")  # the graph of each vertex
    ...     np.savetxt(f"{folder}/TOY_A.txt", [[1, 2], [2, 1], [3, 4], [4, 5]], "%d", ", ")  # edges
    ...     np.savetxt(f"{folder}/TOY_graph_labels.txt", [1, -1], "%d")
    ...     graphs, y = mc.read_tu(folder)
    >>> graphs, y
    ([<graph of 2 vertices and 1 edges>, <graph of 3 vertices and 2 edges>], array([ 1, -1]))
    """
    files = _Files(Path(path), most_bytes(max_bytes))
    graph_of = files.numbers("graph_indicator", np.int64)
    graph_of = graph_of.ravel() - 1
    if len(graph_of) and ((np.diff(graph_of) < 0).any() or graph_of.min() < 0):
        raise DataError(
            f"{files.path}: the vertices in _graph_indicator.txt must be in the order of their graphs, numbered from"
            " 1.",
            "M109",
        )
    arcs = files.numbers("A", np.int64)
    if arcs.size % 2:
        raise DataError(f"{files.path}: _A.txt has {arcs.size} numbers; each line is a pair of vertices.", "M109")
    arcs = arcs.reshape(-1, 2) - 1
    if len(arcs) and (arcs.min() < 0 or arcs.max() >= len(graph_of)):
        raise DataError(
            f"{files.path}: line {int(np.argmax(((arcs < 0) | (arcs >= len(graph_of))).any(1))) + 1} of _A.txt names an"
            " unknown vertex.",
            "M109",
        )
    y = files.targets()
    count = len(y) if y is not None else int(graph_of.max(initial=-1)) + 1
    labels, marks = (
        files.numbers("node_labels", np.int64),
        files.numbers("edge_labels", np.int64) if edge_labels else None,
    )
    attributes = files.numbers("node_attributes", np.float64)
    lengths = {
        "node_labels": (labels, len(graph_of)),
        "node_attributes": (attributes, len(graph_of)),
        "edge_labels": (marks, len(arcs)),
    }
    for what, (values, wanted) in lengths.items():
        if values is not None and len(values) != wanted:
            raise DataError(f"{files.path}: _{what}.txt has {len(values)} lines where {wanted} are needed.", "M109")
    if y is None and count > len(graph_of):
        raise DataError(
            f"{files.path}: _graph_indicator.txt names graph {count}, and has {len(graph_of)} vertices; graphs are"
            " numbered 1, 2, 3, …",
            "M109",
        )
    if count <= int(graph_of.max(initial=-1)):
        raise DataError(
            f"{files.path}: there are labels for {count} graphs, and vertices of {int(graph_of.max()) + 1}.", "M109"
        )
    order = np.argsort(graph_of[arcs[:, 0]], kind="stable")
    arcs, marks = arcs[order], None if marks is None else marks[order]
    vertices = np.searchsorted(graph_of, np.arange(count + 1))
    edges = np.searchsorted(graph_of[arcs[:, 0]], np.arange(count + 1))
    graphs = []
    for g in range(count):
        v, e = slice(vertices[g], vertices[g + 1]), slice(edges[g], edges[g + 1])
        try:
            graphs.append(
                Graph(
                    arcs[e] - v.start,
                    _column(labels, v),
                    _column(marks, e),
                    None if attributes is None else attributes[v],
                    v.stop - v.start,
                )
            )
        except DataError as error:
            raise DataError(f"{files.path}, graph {g + 1}: {error}.", "M109") from None
    return graphs, y


def _column(values: Array | None, rows: slice) -> Any:
    if values is None:
        return None
    return values[rows, 0] if values.shape[1] == 1 else [tuple(row) for row in values[rows].tolist()]


class _Files:
    """The files of a set, by what follows the name of the set."""

    def __init__(self, path: Path, limit: int) -> None:
        self.path = path
        if path.is_dir():
            self.texts = self._of_folder(limit)
        elif path.is_file():
            with Archive(path, limit) as archive:
                self.texts = {
                    Path(name).name: self._decoded(archive.read(name), name)
                    for name in archive.parts
                    if name.endswith(".txt")
                }
        else:
            raise DataError(f"{path} is neither a folder nor a zip archive.", "M501")
        found = [name for name in self.texts if name.endswith("_graph_indicator.txt")]
        if len(found) != 1:
            raise DataError(
                f"{path} holds {len(found) or 'no'} files named …_graph_indicator.txt; one set of graphs is read at a"
                " time.",
                "M109",
            )
        self.name = found[0].removesuffix("_graph_indicator.txt")

    def _of_folder(self, limit: int) -> dict[str, str]:
        files = [p for p in self.path.iterdir() if p.suffix == ".txt" and p.is_file()]
        size = sum(p.stat().st_size for p in files)
        if size > limit:
            raise too_large(self.path, size, limit)
        return {p.name: self._decoded(p.read_bytes(), p.name) for p in files}

    def _decoded(self, content: bytes, name: str) -> str:
        try:
            return content.decode()
        except UnicodeDecodeError:
            raise DataError(
                f"{self.path}: {name} is not a text; files of a set are tables of numbers.", "M109"
            ) from None

    def numbers(self, what: str, dtype: DTypeLike) -> Any:
        """A file as an array of rows, None where there is none."""
        name = f"{self.name}_{what}.txt"
        if name not in self.texts:
            if what in ("A", "graph_indicator"):
                raise DataError(f"{self.path}: there is no {name}.", "M109")
            return None
        text = self.texts[name]
        width = text.partition("\n")[0].count(",") + 1
        try:
            values = np.array(text.replace(",", " ").split(), np.float64)
            values = values.reshape(-1, width)
        except ValueError as error:
            raise DataError(f"{self.path}: {name} is not a table of numbers ({str(error)[:100]}).", "M109") from None
        if dtype == np.int64 and (wrong := ~(np.abs(values) < 2**53) | (values != np.rint(values))).any():
            row, column = np.unravel_index(int(np.argmax(wrong)), wrong.shape)
            raise DataError(
                f"{self.path}: line {row + 1} of {name} has {values[row, column]:g} where a whole number is needed.",
                "M109",
            )
        return values.astype(dtype)

    def targets(self) -> Any:
        labels = self.numbers("graph_labels", np.int64)
        values = self.numbers("graph_attributes", np.float64) if labels is None else labels
        return None if values is None else values[:, 0] if values.shape[1] == 1 else values
