"""Ordered labelled trees, as parsers give them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer.annotations import Index, Samples
from mercer.arrays import Array
from mercer.data.graphs import label_code
from mercer.data.objects import Domain
from mercer.data.representations import Rep, offsets_of, spans
from mercer.data.sequences import is_missing, items_of
from mercer.data.tables import DataError
from mercer.native.mixing import mix

_TOKEN = re.compile(r"[()]|[^\s()]+")


@dataclass(frozen=True, eq=False)
class PackedTrees:
    """The nodes of tree i, children before parents, are ``offsets[i]`` … ``offsets[i + 1]``; node v has a code of its
    label and its children's (``productions[v]``, 0 for a leaf) and the children ``children[starts[v]:starts[v + 1]]``,
    numbered within the tree.
    """

    offsets: Array
    productions: Array
    starts: Array
    children: Array

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def take(self, rows: Index) -> PackedTrees:
        nodes, offsets = spans(self.offsets, rows)
        part, starts = spans(self.starts, nodes)
        return PackedTrees(offsets, self.productions[nodes], starts, self.children[part])


@dataclass(frozen=True)
class Trees(Domain):
    """Trees as nested tuples or lists (label, child, …), a bare label for a leaf; as text in brackets, (S (NP John) (VP
    (V sees))); or as objects with ``label()`` that are lists of their children (nltk). The internal form is
    ``PackedTrees``.
    """

    def check(self, X: Samples) -> Rep:
        if isinstance(X, PackedTrees):
            return X
        if isinstance(X, str) or hasattr(X, "label"):
            raise DataError("Expected a collection of trees, got one; put it in a list: [tree].", "M103")
        counts, productions, widths, children = [], [], [], []
        known: dict[Any, int] = {}
        for i, item in enumerate(items_of(X, "trees")):
            nodes = _nodes(i, item)
            codes = [_code(i, label, known) for label, _ in nodes]
            counts.append(len(nodes))
            for code, (_, kids) in zip(codes, nodes, strict=True):
                production = np.uint64(0)
                if kids:
                    with np.errstate(over="ignore"):
                        production = np.uint64(code) + np.uint64(len(kids))
                        for kid in kids:
                            production = mix(production * np.uint64(0x9E3779B97F4A7C15) + np.uint64(codes[kid]))
                        production |= np.uint64(1)
                productions.append(production)
                widths.append(len(kids))
                children += kids
        return PackedTrees(
            offsets_of(counts), np.array(productions, np.uint64), offsets_of(widths), np.array(children, np.int64)
        )

    def to_store(self, X: Samples) -> Any:
        """Trees of other libraries as nested lists."""
        return (
            [_nested(item) if callable(getattr(item, "label", None)) else item for item in X]
            if isinstance(X, list)
            else X
        )


def _nested(tree: Any) -> Any:
    return [tree.label(), *map(_nested, tree)] if callable(getattr(tree, "label", None)) else tree


def _code(i: int, label: object, known: dict[Any, int]) -> int:
    try:
        if label not in known:
            known[label] = label_code(label)
        return known[label]
    except TypeError:
        raise DataError(
            f"Tree {i}: a label must be a string, a number or a tuple of them, got {type(label).__name__}.", "M117"
        ) from None


def _nodes(i: int, item: object) -> list[tuple[Any, list[int]]]:
    """(label, numbers of the children) of each node, children before parents; without recursion, for trees can be
    deep.
    """
    if is_missing(item):
        raise DataError(f"Tree {i} is missing ({item}); drop it.", "M101")
    root = _read(i, item) if isinstance(item, str) else item
    out: list[tuple[Any, list[int]]] = []
    stack: list[tuple[Any, list[Any], list[int]]] = [(*_parts(i, root), [])]
    while stack:
        label, waiting, done = stack[-1]
        if waiting:
            stack.append((*_parts(i, waiting.pop(0)), []))
            continue
        stack.pop()
        out.append((label, done))
        if stack:
            stack[-1][2].append(len(out) - 1)
    return out


def _parts(i: int, node: Any) -> tuple[Any, list[Any]]:
    if callable(getattr(node, "label", None)):
        return node.label(), list(node)
    if isinstance(node, Sequence) and not isinstance(node, str | bytes):
        if not node:
            raise DataError(f"Tree {i} has a node without a label; write (label, child, …).", "M117")
        return node[0], list(node[1:])
    return node, []


def _read(i: int, text: str) -> Any:
    """Text in brackets as nested lists."""
    stack: list[list[Any]] = [[]]
    for token in _TOKEN.findall(text):
        if token == "(":
            stack.append([])
        elif token == ")":
            if len(stack) == 1:
                raise DataError(f"Tree {i} has a bracket ) that was not opened: {text[:60]!r}.", "M117")
            done = stack.pop()
            stack[-1].append(done)
        else:
            stack[-1].append(token)
    if len(stack) != 1:
        raise DataError(f"Tree {i} has a bracket ( that is not closed: {text[:60]!r}.", "M117")
    if len(stack[0]) != 1:
        raise DataError(f"Tree {i} is not one tree in brackets: {text[:60]!r}.", "M117")
    root = stack[0][0]
    while isinstance(root, list) and len(root) == 1 and isinstance(root[0], list):
        root = root[0]  # ((S …)): brackets around the whole
    return root
