"""A recorded formula in the operators of ONNX: what tiles compute, evaluated on arrays that are not there yet.

The left items are ``Recorded``, the right ones numbers; what depends on the right items alone is computed now.
Distances are from a common origin, so that the difference of large norms does not take the digits of a small distance.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from mercer.annotations import Items, Symbol
from mercer.engine.expression import (
    ELEMENTWISE,
    Fold,
    Node,
    VectorParameter,
    adds_up,
    fold_variable,
    symbolic,
    trace,
    walk,
)
from mercer.engine.recorded import NotRecorded, Recorded

if TYPE_CHECKING:
    from mercer.kernels.base import Kernel

_MOST_STEPS = 20_000  # of a fold that is written out column by column


def lowered(kernel: Kernel, A: Items, B: Items) -> Any:
    """k between prepared items A, which are recorded, and B: a recorded matrix."""
    left, left_leaves = symbolic(A, "row")
    right, right_leaves = symbolic(B, "col")
    return _Lowering(left_leaves, right_leaves).value(trace(kernel._block, left, right))


class _Lowering:
    """The values of the nodes of a formula: (n, m) of pairs, (n, 1) of left items, (1, m) of right ones."""

    def __init__(self, left: list[Any], right: list[Any]) -> None:
        self.left, self.right = [_plain(x) for x in left], [_plain(x) for x in right]

    def value(self, formula: Node) -> Any:
        values: dict[Node, Any] = {}
        with np.errstate(all="ignore"):
            for n in walk(formula):
                values[n] = self._value(n, [values[a] for a in n.args])
        return values[formula]

    def _leaf(self, n: Node) -> Any:
        return (self.left if n.kind == "row" else self.right)[n.data]

    def _value(self, n: Node, args: list[Any]) -> Any:
        match n.op:
            case "number":
                return n.data
            case "parameter":
                return n.data[1]
            case "leaf":
                x = self._leaf(n)
                return x if len(x.shape) > 1 else x[:, None] if n.kind == "row" else x[None, :]
            case "dot":
                return args[0] @ args[1].T
            case "sqdist":
                return _squared_distances(*args, *n.data)
            case "fold":
                return _folded(n.data, *args)
            case "sqnorm":
                return _of_items(np.sum(args[0] * args[0], axis=1, keepdims=True), n)
            case "fold_self":
                return _of_items(_folded_with_itself(n.data, args[0]), n)
            case "mean":
                side = self.left if n.kind == "row" else self.right
                inner = _Lowering(side, n.data.reference).value(n.data.formula)
                return _of_items(inner @ np.asarray(n.data.weights, np.float64)[:, None], n)
            case "grand_mean" if n.data.known is not None:
                return float(n.data.known)
            case _ if n.op in ELEMENTWISE and n.op != "apply":
                return np.where(*args) if n.op == "where" else getattr(np, n.op)(*args)
        raise NotRecorded("a part of its formula is computed by its own code, which has no operators")


def _plain(x: Items) -> Any:
    """A leaf as a dense array of numbers."""
    if isinstance(x, Recorded):
        return x
    x = np.asarray(x.toarray() if sparse.issparse(x) else x)
    if x.dtype.kind not in "fiub":
        raise NotRecorded("it compares items that are not rows of numbers")
    return x.astype(np.float64)


def _of_items(column: Items, n: Node) -> Any:
    return column if n.kind == "row" else column.T


def _squared_distances(A: Items, B: Items, scale: VectorParameter | None, column: int | None) -> Any:
    if column is not None:
        raise NotRecorded("a derivative has no operators")
    inverse = 1.0 if scale is None else 1.0 / np.asarray(scale.powers)
    origin = B.mean(0)
    a, b = (A - origin) * inverse, (B - origin) * inverse
    norms = np.sum(a * a, axis=1, keepdims=True) + np.sum(b * b, axis=1)[None, :]
    return np.maximum(norms - 2.0 * (a @ b.T), 0.0)


def _folded(fold: Fold, A: Items, B: Items) -> Any:
    """The fold of all pairs: all columns at once where it adds up terms, else column by column."""
    d = B.shape[1]
    if adds_up(fold):
        term = _stepped(fold, [0.0], A[:, None, :], B[None, :, :])[0]
        return fold.start[0] + np.sum(term, axis=2)
    _check_length(fold, d)
    states: list[Any] = list(fold.start)
    for j in range(d):
        states = _stepped(fold, states, A[:, j : j + 1], B[None, :, j])
    return states[-1]


def _folded_with_itself(fold: Fold, A: Items) -> Any:
    if adds_up(fold):
        return fold.start[0] + np.sum(_stepped(fold, [0.0], A, A)[0], axis=1, keepdims=True)
    _check_length(fold, A.shape[1])
    states: list[Any] = list(fold.start)
    for j in range(A.shape[1]):
        states = _stepped(fold, states, A[:, j : j + 1], A[:, j : j + 1])
    return states[-1]


def _check_length(fold: Fold, columns: int) -> None:
    steps = columns * sum(len(walk(step)) for step in fold.steps)
    if steps > _MOST_STEPS:
        raise NotRecorded(f"its programme over the columns would be {steps} operators, more than {_MOST_STEPS}")


def _stepped(fold: Fold, states: list[Any], x: Symbol, z: Symbol) -> list[Any]:
    known: dict[Node, Any] = {fold_variable(f"s{k}"): state for k, state in enumerate(states)}
    known |= {fold_variable("x"): x, fold_variable("z"): z}
    for step in fold.steps:
        for n in walk(step):
            if n not in known:
                args = [known[a] for a in n.args]
                known[n] = n.data if n.op == "number" else (np.where if n.op == "where" else getattr(np, n.op))(*args)
    return [known[step] for step in fold.steps]
