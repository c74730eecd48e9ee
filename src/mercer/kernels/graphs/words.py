"""What features of graphs are called: each by what stands where it occurs."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from mercer.annotations import Samples
from mercer.arrays import Array
from mercer.data import Graph, PackedGraphs, as_graphs
from mercer.data.graphs import UNLABELLED, pack
from mercer.kernels.families import Explicit
from mercer.kernels.graphs.routes import distances

_BONDS = {1: "-", 2: "=", 3: "#", 1.5: ":", None: "-", (2, "E"): "=E=", (2, "Z"): "=Z="}
_LONGEST = 400  # letters of a word; a tree has many more vertices than the graph


@dataclass(frozen=True, eq=False)
class Written:
    """One graph, and what its vertices are called: their labels, or the trees that refined labels stand for."""

    graph: Graph
    names: list[Any]

    @classmethod
    def of(cls, g: Graph) -> Written:
        """By labels."""
        return cls(g, [UNLABELLED] * int(g.n_vertices or 0) if g.labels is None else list(g.labels))

    def text(self, v: int) -> str:
        """A vertex; * has no label."""
        return "*" if self.names[v] is UNLABELLED else str(self.names[v])

    @cached_property
    def _marks(self) -> dict[tuple[int, int], Any]:
        labels = [UNLABELLED] * len(self.graph.edges) if self.graph.edge_labels is None else self.graph.edge_labels
        found = dict(zip(map(tuple, np.asarray(self.graph.edges).tolist()), labels, strict=True))
        return found if self.graph.directed else found | {(v, u): mark for (u, v), mark in found.items()}

    @cached_property
    def near(self) -> list[dict[int, str]]:
        """For each vertex its neighbours, and what leads to them: bonds of molecules by their sign, other labels in
        brackets; > and < in directed graphs.
        """
        found: list[dict[int, str]] = [{} for _ in self.names]
        for u, v in self._marks:
            found[u][v] = self._leads(u, v, self._marks)
            found[v][u] = self._leads(v, u, self._marks)
        return found

    @cached_property
    def apart(self) -> Array:
        """The number of edges between every two vertices."""
        return distances(pack([self.graph]))

    def trees(self) -> Iterator[Written]:
        """The graph with its vertices called by the tree of their neighbours, theirs, and so on: C, then C(-C,=O)."""
        now = self
        while True:
            yield now
            now = replace(now, names=[self._tree(v, now) for v in range(len(self.names))])

    def _tree(self, v: int, now: Written) -> str:
        if not self.near[v]:
            return f"{now.text(v)}()"  # refined as often as there are brackets
        below = ",".join(sorted(sign + now.text(w) for w, sign in self.near[v].items()))
        return shortened(f"{self.text(v)}({below})")

    def sign(self, u: int, v: int) -> str:
        """The edge from u to v as it is written in a path."""
        mark = self._marks[u, v]
        return _BONDS.get(mark, f"[{mark}]")

    def path(self, vertices: tuple[int, ...]) -> str:
        """C-C=O, from the end with which it comes first in the alphabet; of a directed graph along its arcs."""
        names, signs = [self.text(v) for v in vertices], [self.sign(*step) for step in pairwise(vertices)]
        there, back = _line(names, signs), _line(names[::-1], signs[::-1])
        return there if self.graph.directed else min(there, back)

    def part(self, vertices: tuple[int, ...], edges: Sequence[tuple[int, int]]) -> str:
        """Some of the vertices and of the edges between them, which join them, as SMILES are written: C-C(=O)-O has its
        branches in brackets, a ring is closed where a number comes again. From the vertex with which it is shortest.
        """
        place = {v: i for i, v in enumerate(vertices)}
        signs: list[dict[int, str]] = [{} for _ in vertices]
        for u, v in edges:
            signs[place[u]][place[v]] = self._leads(u, v, edges)
            signs[place[v]][place[u]] = self._leads(v, u, edges)
        names = [self.text(v) for v in vertices]
        return min((_Walk(names, signs, root).text for root in range(len(names))), key=lambda text: (len(text), text))

    def _leads(self, u: int, v: int, edges: Container[tuple[int, int]]) -> str:
        """What leads from u to v, over some edges."""
        if not self.graph.directed:
            return self.sign(u, v)
        there, back = (u, v) in edges, (v, u) in edges and u != v
        return (f"<{self.sign(v, u)}" if back else "") + (f"{self.sign(u, v)}>" if there else "")


def _line(names: list[str], signs: list[str]) -> str:
    return names[0] + "".join(s + x for s, x in zip(signs, names[1:], strict=True))


def shortened(text: str) -> str:
    """A word that is not endless; what is left out is told apart by a number."""
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…{zlib.crc32(text.encode()):08x}"


class _Walk:
    """A graph written from one of its vertices; ``signs`` has for each what leads to its neighbours."""

    def __init__(self, names: list[str], signs: list[dict[int, str]], root: int) -> None:
        self.names, self.signs, self.rings = names, signs, 0
        self.order: dict[int, int] = {}
        self.closing: list[list[tuple[int, str]]] = [[] for _ in names]
        self.text = self._write(root, self._below(root, -1))

    def _below(self, v: int, above: int) -> list[tuple[int, Any]]:
        """The vertices that are written after v, each with those after it."""
        self.order[v] = len(self.order)
        below = []
        for _, w in sorted((sign + self.names[w], w) for w, sign in self.signs[v].items() if w != above):
            if w not in self.order:
                below.append((w, self._below(w, v)))
            elif self.order[w] <= self.order[v]:
                self.rings += 1
                self.closing[w].append((self.rings, ""))
                self.closing[v].append((self.rings, self.signs[v][w]))
        return below

    def _write(self, v: int, below: list[tuple[int, Any]]) -> str:
        own = self.names[v] + "".join(f"{sign}{ring}" for ring, sign in self.closing[v])
        parts = [self.signs[v][w] + self._write(w, more) for w, more in below]
        return own + "".join(f"({part})" for part in parts[:-1]) + "".join(parts[-1:])


class OnVertices(Explicit):
    """Features of graphs that occur at some of their vertices, and are called by what stands there: leaves
    ``_occurrences`` and ``_word`` to write.
    """

    def _word(self, g: Written, places: tuple[int, ...]) -> Any:
        raise NotImplementedError

    def _words(self, x: PackedGraphs, g: Written) -> dict[int, Any]:
        """What the features of one graph are called, by their codes."""
        found = self._occurrences(x)
        assert found is not None
        codes, first = np.unique(found.codes, return_index=True)
        return {
            int(code): self._word(g, tuple(found.places[int(i)].tolist())) for code, i in zip(codes, first, strict=True)
        }

    def _names(self, X: Samples) -> dict[int, Any]:
        return words_of(self._words, X)


def words_of(words: Callable[[PackedGraphs, Written], dict[int, Any]], X: Samples) -> dict[int, Any]:
    """What the features of graphs are called: as in the first that has them."""
    found: dict[int, Any] = {}
    for g in as_graphs(X):
        for code, word in words(pack([g]), Written.of(g)).items():
            found.setdefault(code, word)
    return found
