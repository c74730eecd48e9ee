"""Element-wise steps of a formula, in place where NumPy allows."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer.arrays import Array, is_tensor, namespace
from mercer.engine.expression import Node


def allocate(steps: list[Node], reductions: list[Node], result: Node) -> dict[Node, int | None]:
    """Registers for the tiles of a formula, by last use: a step writes over an argument that nobody reads again."""
    last: dict[Node, int] = {}
    for t, n in enumerate(steps):
        last.update(dict.fromkeys(n.args, t))
    last[result] = len(steps)
    registers: dict[Node, int | None] = {n: k for k, n in enumerate(reductions)}
    free: list[int] = []
    count = len(reductions)
    for t, n in enumerate(steps):
        mine = None
        for a in dict.fromkeys(n.args):
            register = registers.get(a)
            if register is not None and last.get(a) == t:
                free.append(register)
        if n.op != "apply":
            # where() writes its second branch first and so must not write over its condition or its first branch
            busy = {registers.get(a) for a in n.args} if n.op == "where" else set()
            mine = next((f for f in reversed(free) if f not in busy), None)
            if mine is None:
                mine, count = count, count + 1
            else:
                free.remove(mine)
        registers[n] = mine
    return registers


def elementwise(op: str, args: list[Any], like: Array, out: Array | None = None) -> Any:
    """One operation on scalars, vectors or tiles; NumPy writes into ``out``."""
    if is_tensor(like):
        return _torch_elementwise(op, args, like)
    with np.errstate(all="ignore"):  # infinities and NaN are reported with their pair, not as a warning
        if op == "where":
            condition, x, z = args
            if out is None:
                return np.where(condition, x, z)
            np.copyto(out, z)
            np.copyto(out, x, where=condition if condition.dtype == bool else condition != 0)
            return out
        if out is None:
            return getattr(np, op)(*args)
        return getattr(np, op)(*args, out=out, casting="unsafe")


_TORCH = {
    "absolute": "abs",
    "arccos": "acos",
    "arcsin": "asin",
    "arctan": "atan",
    "divide": "true_divide",
    "equal": "eq",
    "power": "pow",
}


def _torch_elementwise(op: str, args: list[Any], like: Array) -> Any:
    torch = namespace(like)
    tensors = [x if is_tensor(x) else torch.as_tensor(x, dtype=like.dtype, device=like.device) for x in args]
    if op == "where" and tensors[0].dtype != torch.bool:
        tensors[0] = tensors[0] != 0
    result = getattr(torch, _TORCH.get(op, op))(*tensors)
    return result.to(like.dtype) if op in ("equal", "greater") else result
