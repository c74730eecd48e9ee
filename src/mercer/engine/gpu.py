"""A formula as one Triton kernel: one file, a text whose parts are only read together.

Reduction, formula and sink in registers of a GPU, nothing stored in between.

One template serves every formula whose reductions (⟨a, b⟩, ‖a − b‖², folds over columns) are of one pair of dense
arrays. Two sinks: the stored tile, and K V with float64 sums; K^T(KV) is the second applied twice, to the formula and
to its transpose. Without Triton, torch computes the same tiles step by step.

Inner products of float32 run on the tensor cores in three TF32 parts, which keeps float32's accuracy;
``Compute(dtype="tf32")`` takes one part, at three digits. Elementary functions of float32 are the GPU's own, good to
2^-22.

‖a − b‖² from norms and inner products loses pairs that are close against their norms. The fast pass keeps one minimum
per thread and looks at it once in ``_CHUNK`` columns: a chunk with such a pair is marked and left out, and a second
pass computes the marked chunks, taking differences in the tiles that need them. Data of few columns is subtracted in
the first place.
"""

from __future__ import annotations

import importlib.metadata
from collections import Counter
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from mercer import arrays
from mercer.arrays import Tensor, is_tensor
from mercer.engine.cpu import Spec, specify
from mercer.engine.expression import Fold, Node, fold_variable, walk
from mercer.engine.reductions import TINY, FoldBlock, SqDistBlock
from mercer.runtime import compiling

_WORTH_COMPILING = 2**22  # values
_WIDEST = 256  # columns of data held in registers; beyond, torch's GEMM is as fast
_NARROW = 8  # columns of data up to which differences cost less than products that half the tiles would have to repeat
_BLOCK = 128  # items are padded to a multiple of the largest tile, so that no load has a mask
_CHUNK = 2048  # columns of K between two looks at the smallest distance
# columns of V whose sums fit in registers; plain multiply-adds, since Triton 3.6 was seen to miscompile a second
# tensor-core product
_PANEL = 8
_PROGRAMS = 2**12  # launched at once, where the matrix is large enough: many times what a GPU holds
_TRIAL = 2**15  # rows and columns on which tile shapes are compared: every multiprocessor busy, in milliseconds
_LOG2E, _LN2 = "1.4426950408889634", "0.6931471805599453"
_STEPS = {
    "add": "{0} + {1}", "subtract": "{0} - {1}", "multiply": "{0} * {1}", "divide": "{0} / {1}", "negative": "-({0})",
    "minimum": "tl.minimum({0}, {1})", "maximum": "tl.maximum({0}, {1})", "absolute": "tl.abs({0})",
    "sqrt": "tl.sqrt({0})", "exp": "tl.exp({0})", "expm1": "libdevice.expm1({0})", "log": "tl.log({0})",
    "log1p": "libdevice.log1p({0})", "power": "libdevice.pow({0}, {1})", "sin": "libdevice.sin({0})",
    "cos": "libdevice.cos({0})", "tan": "libdevice.tan({0})", "arcsin": "libdevice.asin({0})",
    "arccos": "libdevice.acos({0})", "arctan": "libdevice.atan({0})", "sinh": "libdevice.sinh({0})",
    "cosh": "libdevice.cosh({0})", "tanh": "libdevice.tanh({0})", "greater": "{0} > {1}", "equal": "{0} == {1}",
    "where": "tl.where({0}, {1}, {2})",
}  # fmt: skip
# float32: the GPU's own functions, which take numbers below 2^-126 for zeros; the library's spend instructions on those
# alone
_STEPS32 = _STEPS | {
    "sqrt": "root({0})",
    "exp": f"ex2({{0}} * {_LOG2E})",
    "log": f"lg2({{0}}) * {_LN2}",
    "divide": "ratio({0}, {1})",
}

_MODULE = """
import triton
import triton.language as tl
from triton.language.extra import libdevice

CONFIGS = [
    triton.Config({{"BM": bm, "BN": bn, "STAGES": 2}}, num_warps=warps, num_stages=2, maxnreg=registers)
    for bm, bn, warps, registers in {configs}
]


@triton.jit
def ex2(x):
    return tl.inline_asm_elementwise("ex2.approx.ftz.f32 $0, $1;", "=f,f", [x], dtype=tl.float32, is_pure=True, pack=1)


@triton.jit
def lg2(x):
    return tl.inline_asm_elementwise("lg2.approx.ftz.f32 $0, $1;", "=f,f", [x], dtype=tl.float32, is_pure=True, pack=1)


@triton.jit
def root(x):
    return tl.inline_asm_elementwise("sqrt.approx.ftz.f32 $0, $1;", "=f,f", [x], dtype=tl.float32, is_pure=True, pack=1)


@triton.jit
def ratio(x, y):
    code = "div.full.ftz.f32 $0, $1, $2;"
    return tl.inline_asm_elementwise(code, "=f,f,f", [x, y], dtype=tl.float32, is_pure=True, pack=1)


@triton.autotune(configs=CONFIGS, key=["D"])
@triton.jit
def kernel(A, B, LOW_A, LOW_B, RAW_A, RAW_B, NA, NB, ROWS, COLS, SCALARS, V, OUT, NEAR, n, m, N, M, d, span, stop,
           D: tl.constexpr, EXACT: tl.constexpr, CHUNK: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr,
           STAGES: tl.constexpr):
    top = tl.program_id(0).to(tl.int64) * BM
    i = tl.arange(0, BM)
    j = tl.arange(0, BN)
    k = tl.arange(0, D)
    row = top + i
    start = tl.program_id(1) * {span}
    stop = {stop}
{load_rows}
    for chunk in range(start, stop, CHUNK):
        last = tl.minimum(chunk + CHUNK, stop)
{open_chunk}
        for first in tl.range(chunk, last, BN, num_stages=STAGES):
{load_cols}
{reduce}
{steps}
            value = {result}
{sink}
{close_chunk}
{close}
"""
_STORE = """
            column = (first + j)[None, :]
            tl.store(OUT + row[:, None] * m + column, value, mask=(row[:, None] < n) & (column < m))
"""
_CLOSE = """
    at{c} = OUT + (tl.program_id(1).to(tl.int64) * {W} + {c}) * n + row
    if EXACT:
        total{c} += tl.load(at{c}, mask=row < n, other=0.0)
    tl.store(at{c}, total{c}, mask=row < n)
"""
_LOAD_ROWS = """
    at_i = top * D + (i[:, None] * D + k[None, :])
    a = tl.load(A + at_i)
    low_a = tl.load(LOW_A + at_i) if {split} else a
"""
_LOAD_COLS = """
            at = first.to(tl.int64) * D + (j[None, :] * D + k[:, None])
            b = tl.load(B + at)
            low_b = tl.load(LOW_B + at) if {split} else b
"""
_DOT = """
            dot = {start}
            if {split}:
                dot = tl.dot(low_a, b, dot, input_precision="tf32")
                dot = tl.dot(a, low_b, dot, input_precision="tf32")
            dot = tl.dot(a, b, dot, input_precision="{precision}", out_dtype={type})
"""
_OPEN_CHUNK = """
        mark = NEAR + tl.program_id(0) * tl.cdiv(M, CHUNK) + chunk // CHUNK
        smallest = tl.full((BM, 8), float("inf"), {type})
        if EXACT and {sums}:
            last = tl.where(tl.load(mark) != 0, last, chunk)  # an empty loop where nothing was left out
"""
_SQDIST = """
            sqdist = {distance}
            least = {least}
            if not EXACT:
                smallest = tl.minimum(smallest, least)
            # some pair is close against its norms: this tile again, from differences
            elif tl.min(least - {tiny} * na[:, None]) < 0.0:
                sqdist = tl.zeros((BM, BN), {type})
                for q in range(d):
                    x = tl.load(RAW_A + (q.to(tl.int64) * N + top) + i)
                    z = tl.load(RAW_B + (q.to(tl.int64) * M + first) + j)
                    difference = x[:, None] - z[None, :]
                    sqdist += difference * difference
"""
_CLOSE_CHUNK = """
        if not EXACT:
            near = tl.min(smallest - {tiny} * na[:, None]) < 0.0
            tl.store(mark, near.to(tl.int8))
{leave_out}
"""
_FOLD = """
            # a product of nothing: its zeros lie as the tensor cores leave them, in which few loads serve many values
            # and sums stay in a thread
            left, right = tl.zeros((BM, 16), {type}), tl.zeros((16, BN), {type})
            nothing = tl.dot(left, right, input_precision="{precision}", out_dtype={type})
{start}
            for q in tl.range(0, d, loop_unroll_factor=8):
                x = tl.load(RAW_A + (q.to(tl.int64) * N + top) + i)[:, None]
                z = tl.load(RAW_B + (q.to(tl.int64) * M + first) + j)[None, :]
{body}
            {name} = {last}
"""


@cache
def available() -> bool:
    """Triton for NVIDIA's GPUs; older ones lack what the template is written in."""
    try:
        return tuple(int(x) for x in importlib.metadata.version("triton").split(".")[:2]) >= (3, 6)
    except importlib.metadata.PackageNotFoundError:
        return False


def launchable(
    operands: dict[Node, Any], steps: list[Node], values: dict[Node, Any], like: Tensor, shape: tuple[int, int]
) -> bool:
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
        and all(
            n.op in _STEPS or n.op in ("variable", "number")
            for o in blocks
            if isinstance(o, FoldBlock)
            for s in o.fold.steps
            for n in walk(s)
        )
        and (kinds != ["dot", "sqdist"] or all(o.inverse is None for o in blocks if isinstance(o, SqDistBlock)))
        and all(o.all_columns for o in blocks if isinstance(o, SqDistBlock))
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
        dtype: DTypeLike,
        like: Tensor,
        fast: bool,
    ) -> None:
        self.shape, self.dtype, self.like = shape, np.dtype(dtype), like
        spec, inputs = specify(operands, steps, result)
        metric = next((o for o in operands.values() if isinstance(o, SqDistBlock)), None)
        block = next(iter(operands.values()))
        fold = block.fold if isinstance(block, FoldBlock) else None
        A, B = (arrays.to_device(x, str(like.device), dtype) for x in (block.A, block.B))
        self.d = A.shape[1]
        self.D = max(16, 1 << (self.d - 1).bit_length())
        alone = metric is not None and len(operands) == 1
        if alone and self.d <= _NARROW:
            fold = _SQUARES
        self.guarded = metric is not None and fold is None
        raw = tuple(_padded(x if metric is None else metric.scaled(x)) for x in (A, B))
        if alone:
            A, B = metric.centred(block.A), metric.centred(block.B)  # type: ignore[union-attr]
        A, B = _padded(A), _padded(B)
        self.extent = (A.shape[0], B.shape[0])
        self.norms = tuple((x * x).sum(1) for x in (A, B))
        # items beside each other where a thread takes one column of many
        self.raw = tuple(x.T.contiguous() for x in raw) if self.guarded or fold is not None else (like, like)
        A = -2.0 * A if alone else A  # so that the product, from the norms on, is the distance
        split = self.dtype == np.float32 and fold is None and not fast
        if fold is None:
            A, B = (arrays.namespace(x).nn.functional.pad(x, (0, self.D - self.d)) for x in (A, B))
        highs, lows = zip(*(_split(x) if split else (x, x) for x in (A, B)), strict=True)
        self.items = (*highs, *lows)
        self.rows, self.cols = (_stack([values[n] for n in inputs[kind]], like, dtype) for kind in ("row", "col"))
        self.scalars = arrays.to_device(
            np.array([float(values[n]) for n in inputs["scalar"]] or [0.0], self.dtype), str(like.device)
        )
        self.template = (spec, fold, self.dtype.name, len(inputs["row"]), len(inputs["col"]), fast)

    def _run(self, V: Tensor, out: Tensor, W: int, span: int = 1) -> None:
        """One launch for W columns of V (for the matrix itself, W = 0), and a second for the chunks that the first left
        out.

        A program takes a block of rows and ``span`` columns of K.
        """
        (n, m), (N, M) = self.shape, self.extent
        kernel = _compiled(*self.template, self.D, W, N * M * 8 >= _TRIAL**2)
        near = arrays.empty((N // 32 * -(-M // _CHUNK),), np.int8, self.like)

        def launch(kernel: Any, rows: int, columns: int, exact: bool, **config: int) -> None:
            def grid(chosen: dict[str, int]) -> tuple[int, int]:
                return -(-rows // chosen["BM"]), -(-columns // (span if W else chosen["BN"]))

            kernel[grid](
                *self.items, *self.raw, *self.norms, self.rows, self.cols, self.scalars, V, out, near, n, m, N, M,
                self.d, span, columns, D=self.D, EXACT=exact, CHUNK=_CHUNK, **config,
            )  # fmt: skip

        exact = self.guarded and not W
        if kernel not in _tried:
            _tried.add(kernel)
            launch(kernel, min(N, _TRIAL), min(M, _TRIAL), exact)  # compares the tile shapes, on part of the matrix
        launch(kernel, N, M, exact)
        if self.guarded and W:
            BM = kernel.best_config.kwargs["BM"]
            launch(
                kernel.fn,
                N,
                M,
                True,
                BM=BM,
                BN=min(64, 4096 // self.D),
                STAGES=2,
                num_warps=max(4, BM // 16),
                num_stages=2,
            )

    def store(self, out: Tensor) -> Tensor:
        self._run(out, out, 0)
        return out

    def product(self, V: Tensor) -> Tensor:
        V = arrays.astype(arrays.like(V, self.like), self.dtype)
        out = arrays.empty((V.shape[1], self.shape[0]), np.float64, self.like)
        N, M = self.extent
        # short enough for the last wave of programs to be a small part
        span = _CHUNK * max(1, N * M // (_BLOCK * _CHUNK * _PROGRAMS))
        for k in range(0, V.shape[1], _PANEL):
            v = V[:, k : k + _PANEL].T
            W = 1 << (len(v) - 1).bit_length()
            v = arrays.namespace(V).nn.functional.pad(v, (0, M - v.shape[1], 0, W - len(v))).contiguous()
            sums = arrays.empty((-(-M // span), W, self.shape[0]), np.float64, self.like)
            self._run(v, sums, W, span)
            out[k : k + _PANEL] = sums.sum(0)[: len(out) - k]
        product: Tensor = out.T
        return product.contiguous()


_tried: set[Any] = set()  # kernels whose tile shapes were compared


def _split(x: Tensor) -> tuple[Tensor, Tensor]:
    """x as the sum of a number the tensor cores multiply exactly (11 bits, rounded) and the small rest."""
    torch = arrays.namespace(x)
    high = ((x.view(torch.int32) + 0x1000) & -0x2000).view(torch.float32)
    return high, x - high


def _padded(x: Tensor) -> Tensor:
    """The items, and the last of them again up to a whole block: whatever the formula gives there, it gives for a real
    pair too.
    """
    rest = -len(x) % _BLOCK
    return arrays.namespace(x).cat([x, x[-1:].expand(rest, *x.shape[1:])]) if rest else x.contiguous()


def _stack(vectors: list[Tensor], like: Tensor, dtype: DTypeLike) -> Tensor:
    if not vectors:
        return like
    return (
        arrays.namespace(like)
        .stack([_padded(arrays.to_device(v, str(like.device), dtype)) for v in vectors])
        .contiguous()
    )


# ---------------------------------------------------------------------------------------------------------------------
# The template filled in
# ---------------------------------------------------------------------------------------------------------------------

_DIFFERENCE = fold_variable("x") - fold_variable("z")
_SQUARES = Fold((0.0,), (fold_variable("s0") + _DIFFERENCE * _DIFFERENCE,))


@cache
def _compiled(
    spec: Spec, fold: Fold | None, dtype: str, rows: int, cols: int, fast: bool, D: int, W: int, large: bool
) -> Any:
    """The kernel, with tile shapes chosen among the ``large`` matrices or among the small ones."""
    return compiling.module_from_source("triton", source(spec, fold, dtype, rows, cols, fast, D, W)).kernel


def source(spec: Spec, fold: Fold | None, dtype: str, rows: int, cols: int, fast: bool, D: int, W: int) -> str:
    """The Triton kernel as text. A ``fold`` is how the reduction is computed, whatever its name in the formula; W = 0
    stores the values.
    """
    kinds, program, result = spec
    type_ = "tl.float32" if dtype == "float32" else "tl.float64"
    precision = "tf32" if dtype == "float32" else "ieee"
    split = dtype == "float32" and not fast and fold is None
    guarded = "sqdist" in kinds and fold is None
    alone = kinds == ("sqdist",)  # then the left items come multiplied by −2, and the product starts from the norms
    read = [reference for _, references in program for reference in references] + [result]
    load_rows = [f"    total{c} = tl.zeros((BM,), tl.float64)" for c in range(W)]
    load_rows += [
        f"    s{k} = tl.load(SCALARS + {k})" for k in sorted({index for kind, index in read if kind == "scalar"})
    ]
    load_rows += [f"    row{k} = tl.load(ROWS + {k} * N + row)" for k in range(rows)]
    load_cols = [f"            col{k} = tl.load(COLS + {k} * M + first + j)" for k in range(cols)]
    open_chunk = [f"        part{c} = tl.zeros((BM, 8), {type_})" for c in range(W)]
    sink = [
        f"            part{c} += {_apart('sum', f'value * tl.load(V + {c} * M + first + j)[None, :]')}"
        for c in range(W)
    ]
    close_chunk = [f"        total{c} += tl.sum(part{c}, axis=1).to(tl.float64)" for c in range(W)]
    tiny = TINY[np.dtype(dtype)]
    fill: dict[str, Any] = {"tiny": tiny, "type": type_, "split": split, "precision": precision, "sums": bool(W)}
    if guarded:
        load_rows.append("    na = tl.load(NA + row)")
        load_cols.append("            nb = tl.load(NB + first + j)")
        open_chunk.append(_OPEN_CHUNK.format(**fill))
        leave_out = "\n".join(f"            part{c} = tl.where(near, 0.0, part{c})" for c in range(W))
        close_chunk.insert(0, _CLOSE_CHUNK.format(leave_out=leave_out, **fill))
    if fold is not None:
        reduce = _fold_source(fold, kinds[0], type_, precision)
    else:
        load_rows.append(_LOAD_ROWS.format(**fill))
        load_cols.append(_LOAD_COLS.format(**fill))
        reduce = _DOT.format(start="na[:, None] + nb[None, :]" if alone else f"tl.zeros((BM, BN), {type_})", **fill)
    if guarded:
        least = _apart("min", f"sqdist - {tiny} * nb[None, :]")
        reduce += _SQDIST.format(
            distance="dot" if alone else "na[:, None] + nb[None, :] - 2.0 * dot", least=least, **fill
        )
    return _MODULE.format(
        configs=_configs(dtype, fast, fold is not None, D),
        span="span" if W else "BN",
        stop="tl.minimum(start + span, stop)" if W else "start + BN",
        load_rows="\n".join(load_rows),
        open_chunk="\n".join(open_chunk),
        load_cols="\n".join(load_cols),
        reduce=reduce,
        steps="\n".join(f"            {line}" for line in _formula(program, result, dtype)),
        result=_operand(result),
        sink="\n".join(sink) if W else _STORE,
        close_chunk="\n".join(close_chunk),
        close="\n".join(_CLOSE.format(c=c, W=W) for c in range(W)),
    )


def _apart(reduction: str, values: str) -> str:
    """The values reduced over columns that are equal modulo 8, which the tensor cores leave in one thread: no thread
    asks another.
    """
    return f"tl.{reduction}(tl.reshape({values}, (BM, BN // 8, 8)), axis=1)"


def _configs(dtype: str, fast: bool, fold: bool, D: int) -> list[tuple[int, int, int, int | None]]:
    """Tile shapes to compare: rows, columns, warps, and registers of a thread where the compiler takes too many; what D
    columns leave room for.
    """
    if fold:
        return (
            [(64, 128, 4, 112), (64, 128, 4, None), (64, 64, 4, None)]
            if dtype == "float32"
            else [(64, 64, 4, None), (32, 64, 4, None)]
        )
    if dtype == "float64":  # tall tiles, for there the tensor cores' layout splits none of the sums between warps
        return (
            [(128, 32, 4, None), (64, 16, 4, None), (64, 64, 4, None)]
            if D <= 64
            else [(64, 16, 4, None), (32, 32, 4, None)]
        )
    if D > 64:
        return [(64, 64, 4, None), (64, 32, 4, None)] if D == 128 else [(64, 16, 4, None)]
    return [(64, 128, 4, 128) if fast else (128, 128, 8, 128), (128, 64, 8, None), (64, 64, 4, None)]


def _operand(reference: tuple[str, int]) -> str:
    kind, index = reference
    return {
        "step": f"t{index}",
        "scalar": f"s{index}",
        "row": f"row{index}[:, None]",
        "col": f"col{index}[None, :]",
    }.get(kind, kind)


def _formula(program: Any, result: tuple[str, int], dtype: str) -> list[str]:
    """The steps as text. In float32 a product of exponentials is one exponential, 2^(…), and the scalars of an exponent
    are one factor.
    """
    if dtype == "float64":
        return [f"t{k} = {_STEPS[op].format(*map(_operand, references))}" for k, (op, references) in enumerate(program)]
    uses = Counter([r for _, references in program for r in references] + [result])
    powers: dict[tuple[str, int], tuple[str, str]] = {}  # step → factor and exponent, where it is factor · 2^exponent
    lines: list[str] = []

    def scaled(reference: Any, by: str) -> str:
        """reference · by, past negations, scalars and a logarithm on the way."""
        step: Any = program[reference[1]] if reference[0] == "step" else (None, ())
        op, references = step
        if op == "negative":
            return scaled(references[0], f"-{by}")
        if op == "multiply" and "scalar" in (references[0][0], references[1][0]):
            scalar, other = references if references[0][0] == "scalar" else references[::-1]
            return scaled(other, f"{by} * {_operand(scalar)}")
        return f"lg2({_operand(references[0])}) * ({by} * {_LN2})" if op == "log" else f"{_operand(reference)} * ({by})"

    for k, (op, references) in enumerate(program):
        if op == "exp":
            powers["step", k] = "1.0", scaled(references[0], _LOG2E)
        elif op == "multiply" and all(r in powers and uses[r] == 1 for r in references):
            (f, e), (g, h) = (powers[r] for r in references)
            powers["step", k] = " * ".join(x for x in (f, g) if x != "1.0") or "1.0", f"{e} + {h}"
        elif op == "multiply" and any(r in powers and uses[r] == 1 for r in references):
            power, other = references if references[0] in powers and uses[references[0]] == 1 else references[::-1]
            f, e = powers[power]
            powers["step", k] = _operand(other) if f == "1.0" else f"{f} * {_operand(other)}", e
        f, e = powers.get(("step", k), ("", ""))
        text = (
            _STEPS32[op].format(*map(_operand, references))
            if not e
            else f"ex2({e})"
            if f == "1.0"
            else f"{f} * ex2({e})"
        )
        lines.append(f"t{k} = {text}")
    return lines


def _fold_source(fold: Fold, name: str, type_: str, precision: str) -> str:
    names: dict[Node, str] = {}
    body: list[str] = []
    steps = _STEPS32 if type_ == "tl.float32" else _STEPS
    for step in fold.steps:
        for n in walk(step):
            if n in names:
                continue
            if n.op in ("variable", "number"):
                names[n] = str(n.data).replace("s", "state") if n.op == "variable" else repr(n.data)
            else:
                names[n] = f"f{len(names)}"
                body.append(f"                {names[n]} = {steps[n.op].format(*(names[a] for a in n.args))}")
    # all new states before any is overwritten: each step reads the old ones
    body += [f"                next{k} = {names[step]}" for k, step in enumerate(fold.steps)]
    body += [f"                state{k} = next{k}" for k in range(len(fold.steps))]
    start = [f"            state{k} = nothing + {value!r}" for k, value in enumerate(fold.start)]
    last = f"state{len(fold.start) - 1}"
    return _FOLD.format(
        start="\n".join(start), body="\n".join(body), last=last, name=name, type=type_, precision=precision
    )
