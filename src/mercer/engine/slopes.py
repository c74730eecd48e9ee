"""Sums over items that one of them moves: Σ_j w_ij c_j ∂term(a_ik, b_jk)/∂a_ik, for folds that add up terms.

Differentiated as a whole a fold is a programme again; where it adds up one term for each column, the derivative by
column k is that of one term, and all columns are found in one pass over the pairs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mercer import arrays
from mercer.arrays import Array
from mercer.data import chunks
from mercer.engine.expression import Node, fold_variable, walk
from mercer.engine.folds import compilable, contracted
from mercer.engine.steps import elementwise
from mercer.runtime.threads import run_tasks

_ROWS = 256  # items whose sums stay in cache
_AT_ONCE = 2**18  # derivatives that are held together
_WORTH_COMPILING = 2**20  # pairs times columns


def contract(slope: Node, A: Array, B: Array, weights: Callable[[slice], Array], coef: Array, workers: int) -> Array:
    """Σ_j W[i, j] coef[j, o] slope(A[i, k], B[j, k]) for all i, o and k, W given by blocks of rows: each slope is found
    once for all outputs o.
    """
    outputs = coef.shape[1]
    out = arrays.zeros((len(A), outputs, A.shape[1]), np.float64, A)
    compiled = not arrays.is_tensor(A) and len(A) * len(B) * A.shape[1] >= _WORTH_COMPILING and compilable((slope,))
    dtype = arrays.numpy_dtype(A)
    columns = np.ascontiguousarray(B.T) if compiled else None

    def task(rows: slice) -> None:
        W, part = weights(rows), A[rows]
        if compiled:
            total = np.zeros((A.shape[1], outputs, len(part)), dtype)
            contracted(slope, dtype)(
                np.ascontiguousarray(part.T), columns, np.ascontiguousarray(W.T), np.ascontiguousarray(coef), total
            )
            out[rows] = total.transpose(2, 1, 0)
            return
        if len(part) * len(B) * A.shape[1] <= _AT_ONCE and not arrays.is_tensor(A):
            values = evaluated(slope, part[:, None, :], B[None, :, :], part)
            out[rows] = np.einsum("ij,ijk,jo->iok", W, np.broadcast_to(values, (*W.shape, A.shape[1])), coef)
            return
        for k in range(A.shape[1]):
            values = evaluated(slope, part[:, k, None], B[None, :, k], part)
            out[rows, :, k] = arrays.astype((W * values) @ coef, np.float64)

    run_tasks(task, list(chunks(len(A), _ROWS)), workers, stage="gradients")
    return out


def evaluated(node: Node, x: Array, z: Array, like: Array) -> Any:
    """A formula of the variables x and z, on arrays that broadcast."""
    values: dict[Node, Any] = {fold_variable("x"): x, fold_variable("z"): z}
    for n in walk(node):
        if n not in values:
            values[n] = n.data if n.op == "number" else elementwise(n.op, [values[a] for a in n.args], like)
    return values[node]
