"""A formula as one Triton kernel: reduction, formula and sink in registers of a GPU, nothing stored in between.

One template serves every formula whose reductions (⟨a, b⟩, ‖a − b‖², folds over columns) are of one pair of dense arrays. Two sinks: the
stored tile, and K V with float64 sums; K^T(KV) is the second applied twice, to the formula and to its transpose. Without Triton, torch
computes the same tiles step by step.

Inner products of float32 run on the tensor cores in three TF32 parts, which keeps float32's accuracy; ``Compute(dtype="tf32")``
takes one part, at three digits.
"""

from __future__ import annotations

import importlib.util
from functools import cache
from typing import Any

import numpy as np

from mercer import backend
from mercer.backend import Array, is_tensor
from mercer.engine.cpu import Spec, specify
from mercer.engine.expression import Fold, Node, walk
from mercer.engine.reductions import TINY, FoldBlock, SqDistBlock

_WORTH_COMPILING = 2**22  # values
_WIDEST = 256  # columns of data held in registers; beyond, torch's GEMM is as fast
_STEPS = {
    "add": "{0} + {1}", "subtract": "{0} - {1}", "multiply": "{0} * {1}", "divide": "{0} / {1}", "negative": "-({0})",
    "minimum": "tl.minimum({0}, {1})", "maximum": "tl.maximum({0}, {1})", "absolute": "tl.abs({0})", "sqrt": "tl.sqrt({0})",
    "exp": "tl.exp({0})", "log": "tl.log({0})", "tanh": "libdevice.tanh({0})", "arcsin": "libdevice.asin({0})", "power": "libdevice.pow({0}, {1})",
    "greater": "{0} > {1}", "equal": "{0} == {1}", "where": "tl.where({0}, {1}, {2})",
}  # fmt: skip

_MODULE = """
import triton
import triton.language as tl
from triton.language.extra import libdevice

CONFIGS = [
    triton.Config({{"BM": bm, "BN": bn}}, num_warps=warps, num_stages=stages)
    for bm, bn, warps, stages in {configs}
]


@triton.autotune(configs=CONFIGS, key=["d", "width", "STORE"])
@triton.jit
def kernel(A, B, LOW_A, LOW_B, RAW_A, RAW_B, NA, NB, ROWS, COLS, SCALARS, V, OUT, n, m, d, width,
           D: tl.constexpr, W: tl.constexpr, STORE: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    i = tl.program_id(0) * BM + tl.arange(0, BM)
    inside_i = i < n
    k = tl.arange(0, D)
    c = tl.arange(0, W)
{load_rows}
    total = tl.zeros((BM, W), tl.float64)
    start = tl.program_id(1) * BN if STORE else 0
    stop = tl.minimum(start + BN, m) if STORE else m
    for first in range(start, stop, BN):
        j = first + tl.arange(0, BN)
        inside_j = j < m
{load_cols}
{reduce}
{steps}
        value = tl.zeros((BM, BN), {type}) + ({result})
        if STORE:
            tl.store(OUT + i[:, None].to(tl.int64) * m + j[None, :], value, mask=inside_i[:, None] & inside_j[None, :])
        else:
            if first + BN > m:
                value = tl.where(inside_j[None, :], value, 0.0)
            if W == 1:
                v = tl.load(V + j, mask=inside_j, other=0.0)
                total += tl.sum(value * v[None, :], axis=1).to(tl.float64)[:, None]
            else:
                v = tl.load(V + j[:, None] * width + c[None, :], mask=inside_j[:, None] & (c < width)[None, :], other=0.0)
                total += tl.dot(value, v, input_precision="{sum_precision}", out_dtype={type}).to(tl.float64)
    if not STORE:
        tl.store(OUT + i[:, None].to(tl.int64) * width + c[None, :], total, mask=inside_i[:, None] & (c < width)[None, :])
"""
_LOAD_ROWS = """
    at_i = i[:, None].to(tl.int64) * d + k[None, :]
    keep_i = inside_i[:, None] & (k < d)[None, :]
    a = tl.load(A + at_i, mask=keep_i, other=0.0)
    low_a = tl.load(LOW_A + at_i, mask=keep_i, other=0.0) if {split} else a
"""
_LOAD_COLS = """
        at = j[None, :].to(tl.int64) * d + k[:, None]
        keep = inside_j[None, :] & (k < d)[:, None]
        b = tl.load(B + at, mask=keep, other=0.0)
        low_b = tl.load(LOW_B + at, mask=keep, other=0.0) if {split} else b
"""
_DOT = """
        dot = {start}
        if {split}:
            dot = tl.dot(low_a, b, dot, input_precision="tf32")
            dot = tl.dot(a, low_b, dot, input_precision="tf32")
        dot = tl.dot(a, b, dot, input_precision="{precision}", out_dtype={type})
"""
_SQDIST = """
        sqdist = {distance}
        if tl.min(sqdist - {tiny} * norms) < 0.0:  # some pair is close against its norms: this tile again, from differences
            sqdist = tl.zeros((BM, BN), {type})
            for q in range(d):
                x = tl.load(RAW_A + i.to(tl.int64) * d + q, mask=inside_i, other=0.0)
                z = tl.load(RAW_B + j.to(tl.int64) * d + q, mask=inside_j, other=0.0)
                difference = x[:, None] - z[None, :]
                sqdist += difference * difference
"""
_FOLD = """
{start}
        for q in range(d):
            x = tl.load(RAW_A + q * n + i, mask=inside_i, other=0.0)[:, None]
            z = tl.load(RAW_B + q * m + j, mask=inside_j, other=0.0)[None, :]
{body}
        fold = {last}
"""


@cache
def available() -> bool:
    return importlib.util.find_spec("triton") is not None


def launchable(operands: dict[Node, Any], steps: list[Node], values: dict[Node, Any], like: Array, shape: tuple[int, int]) -> bool:
    """Whether a formula fits the template, on a GPU with Triton, and is large enough to compile for."""
    if not (is_tensor(like) and like.is_cuda and available() and operands) or shape[0] * shape[1] < _WORTH_COMPILING:
        return False
    kinds = sorted(n.op for n in operands)
    blocks = list(operands.values())
    return (
        len({n.args for n in operands}) == 1
        and kinds in (["dot"], ["sqdist"], ["dot", "sqdist"], ["fold"])
        and all(is_tensor(x) and x.shape[1] <= _WIDEST for x in (blocks[0].A, blocks[0].B))
        and all(n.op in _STEPS for n in steps)
        and all(n.op in _STEPS or n.op in ("variable", "number") for o in blocks if isinstance(o, FoldBlock) for s in o.fold.steps for n in walk(s))
        and (kinds != ["dot", "sqdist"] or all(o.inverse is None for o in blocks if isinstance(o, SqDistBlock)))
        and all(o.whole for o in blocks if isinstance(o, SqDistBlock))
        and not any(getattr(values.get(a), "is_floating_point", lambda: True)() is False for n in steps for a in n.args)
    )


class Launch:
    """One formula between two item sets on a GPU."""

    def __init__(
        self,
        operands: dict[Node, Any],
        steps: list[Node],
        result: Node,
        values: dict[Node, Any],
        shape: tuple[int, int],
        dtype: Any,
        like: Array,
        fast: bool,
    ) -> None:
        self.shape, self.dtype, self.like = shape, np.dtype(dtype), like
        spec, inputs = specify(operands, steps, result)
        metric = next((o for o in operands.values() if isinstance(o, SqDistBlock)), None)
        block = next(iter(operands.values()))
        fold = block.fold if isinstance(block, FoldBlock) else None
        A, B = (backend.to_device(x, str(like.device), dtype).contiguous() for x in (block.A, block.B))
        self.raw: tuple[Array, ...] = (A, B)
        self.norms: tuple[Array, ...] = (A[:, 0], B[:, 0])
        if metric is not None:
            if len(operands) == 1:
                A, B = metric.centred(block.A).contiguous(), metric.centred(block.B).contiguous()
            self.raw = tuple(metric.scaled(x).contiguous() for x in self.raw) if metric.inverse is not None else self.raw
            self.norms = tuple((x * x).sum(1) for x in (A, B))
        if fold is not None:
            self.raw = (A.T.contiguous(), B.T.contiguous())
        A = -2.0 * A if metric is not None and len(operands) == 1 else A  # so that the product, from the norms on, is the distance
        split = self.dtype == np.float32 and fold is None and not fast
        highs, lows = zip(*(_split(x) if split else (x, x) for x in (A, B)), strict=True)
        self.items = (*highs, *lows)
        self.rows, self.cols = (_stack([values[n] for n in inputs[kind]], like, dtype) for kind in ("row", "col"))
        self.scalars = backend.to_device(np.array([float(values[n]) for n in inputs["scalar"]] or [0.0], self.dtype), str(like.device))
        self.kernel = _compiled(spec, fold, self.dtype.name, len(inputs["row"]), len(inputs["col"]), fast)

    def _run(self, V: Array, out: Array, width: int, store: bool) -> None:
        n, m = self.shape
        d = self.items[0].shape[1]
        padded = max(16, 1 << (d - 1).bit_length())
        columns = 1 if width == 1 else max(16, 1 << (width - 1).bit_length())

        def grid(chosen: dict[str, int]) -> tuple[int, int]:
            return -(-n // chosen["BM"]), -(-m // chosen["BN"]) if store else 1

        self.kernel[grid](
            *self.items, *self.raw, *self.norms, self.rows, self.cols, self.scalars, V, out, n, m, d, width,
            D=padded, W=columns, STORE=store,
        )  # fmt: skip

    def store(self, out: Array) -> Array:
        self._run(out, out, 1, True)
        return out

    def product(self, V: Array) -> Array:
        V = backend.astype(backend.like(V, self.like), self.dtype).contiguous()
        out = backend.empty((self.shape[0], V.shape[1]), np.float64, self.like)
        self._run(V, out, V.shape[1], False)
        return out


def _split(x: Array) -> tuple[Array, Array]:
    """x as the sum of a number the tensor cores multiply exactly (11 bits, rounded) and the small rest."""
    torch = backend.namespace(x)
    high = ((x.view(torch.int32) + 0x1000) & -0x2000).view(torch.float32)
    return high, x - high


def _stack(vectors: list[Array], like: Array, dtype: Any) -> Array:
    if not vectors:
        return like
    return backend.namespace(like).stack([backend.to_device(v, str(like.device), dtype) for v in vectors]).contiguous()


# ---------------------------------------------------------------------------------------------------------------------
# The template filled in
# ---------------------------------------------------------------------------------------------------------------------


@cache
def _compiled(spec: Spec, fold: Fold | None, dtype: str, rows: int, cols: int, fast: bool) -> Any:
    return backend.module_from_source("triton", source(spec, fold, dtype, rows, cols, fast)).kernel


def source(spec: Spec, fold: Fold | None, dtype: str, rows: int, cols: int, fast: bool) -> str:
    """The Triton kernel as text."""
    kinds, program, result = spec
    type_ = "tl.float32" if dtype == "float32" else "tl.float64"
    split = dtype == "float32" and not fast and fold is None
    alone = kinds == ("sqdist",)  # then the left items come multiplied by −2, and the product starts from the norms

    def operand(reference: tuple[str, int]) -> str:
        kind, index = reference
        return {"step": f"t{index}", "scalar": f"s{index}", "row": f"row{index}[:, None]", "col": f"col{index}[None, :]"}.get(kind, kind)

    read = [reference for _, references in program for reference in references] + [result]
    load_rows = [f"    s{k} = tl.load(SCALARS + {k})" for k in sorted({index for kind, index in read if kind == "scalar"})]
    load_rows += [f"    row{k} = tl.load(ROWS + {k} * n + i, mask=inside_i, other=0.0)" for k in range(rows)]
    load_cols = [f"        col{k} = tl.load(COLS + {k} * m + j, mask=inside_j, other=0.0)" for k in range(cols)]
    if "sqdist" in kinds:
        load_rows.append("    na = tl.load(NA + i, mask=inside_i, other=0.0)")
        load_cols.append("        norms = na[:, None] + tl.load(NB + j, mask=inside_j, other=0.0)[None, :]")
    if fold is not None:
        reduce = _fold_source(fold, type_)
    else:
        load_rows.append(_LOAD_ROWS.format(split=split))
        load_cols.append(_LOAD_COLS.format(split=split))
        start = "norms" if alone else f"tl.zeros((BM, BN), {type_})"
        reduce = _DOT.format(start=start, split=split, precision="tf32" if dtype == "float32" else "ieee", type=type_)
    if "sqdist" in kinds:
        reduce += _SQDIST.format(distance="dot" if alone else "norms - 2.0 * dot", tiny=TINY[dtype], type=type_)
    steps = [f"        t{k} = {_STEPS[op].format(*(operand(r) for r in references))}" for k, (op, references) in enumerate(program)]
    configs = [(64, 64, 4, 2), (128, 64, 4, 2), (64, 128, 4, 3), (128, 128, 8, 2)] if dtype == "float32" else [(64, 64, 4, 2), (32, 64, 4, 2)]
    return _MODULE.format(
        configs=configs,
        type=type_,
        load_rows="\n".join(load_rows),
        load_cols="\n".join(load_cols),
        reduce=reduce,
        steps="\n".join(steps),
        result=operand(result),
        sum_precision="ieee" if dtype == "float64" else "tf32" if fast else "tf32x3",
    )


def _fold_source(fold: Fold, type_: str) -> str:
    names: dict[Node, str] = {}
    body: list[str] = []
    for step in fold.steps:
        for n in walk(step):
            if n in names:
                continue
            if n.op in ("variable", "number"):
                names[n] = str(n.data).replace("s", "state") if n.op == "variable" else repr(n.data)
            else:
                names[n] = f"f{len(names)}"
                body.append(f"            {names[n]} = {_STEPS[n.op].format(*(names[a] for a in n.args))}")
    # all new states before any is overwritten: each step reads the old ones
    body += [f"            next{k} = {names[step]}" for k, step in enumerate(fold.steps)]
    body += [f"            state{k} = next{k}" for k in range(len(fold.steps))]
    start = [f"        state{k} = tl.zeros((BM, BN), {type_}) + {value!r}" for k, value in enumerate(fold.start)]
    return _FOLD.format(start="\n".join(start), body="\n".join(body), last=f"state{len(fold.start) - 1}")
