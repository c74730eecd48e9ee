"""Arrays that are not there yet: NumPy's own calls on them are written down as operators of ONNX.

NumPy asks its operands whether they know better (``__array_ufunc__``, ``__array_function__``), so that code written for
arrays, a kernel's ``_prepare`` or the mean of a loss, is recorded by calling it once. What does not depend on such an
array is computed as ever, and stands in the graph as a constant. Nothing here needs ONNX itself.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin
from numpy.typing import DTypeLike

from mercer.annotations import Symbol
from mercer.arrays import Array

Shape = tuple[int | None, ...]  # None: as many as there are samples

_OPERATORS = {
    "add": "Add", "subtract": "Sub", "multiply": "Mul", "divide": "Div", "true_divide": "Div", "power": "Pow",
    "negative": "Neg", "absolute": "Abs", "sqrt": "Sqrt", "exp": "Exp", "log": "Log", "sin": "Sin", "cos": "Cos",
    "tanh": "Tanh", "sign": "Sign", "minimum": "Min", "maximum": "Max", "expit": "Sigmoid",
}  # fmt: skip
_CONDITIONS = {"equal": "Equal", "greater": "Greater", "less": "Less", "isnan": "IsNaN", "logical_not": "Not"}
_COMPOSED: dict[str, Callable[..., Any]] = {
    "expm1": lambda x: np.exp(x) - 1.0,
    "log1p": lambda x: np.log(1.0 + x),
    "tan": lambda x: np.sin(x) / np.cos(x),
    "sinh": lambda x: 0.5 * (np.exp(x) - np.exp(-x)),
    "cosh": lambda x: 0.5 * (np.exp(x) + np.exp(-x)),
    "square": lambda x: x * x,
    "arcsin": lambda x: _arcsin(x),
    "arccos": lambda x: 0.5 * math.pi - _arcsin(x),
    "arctan": lambda x: _arcsin(x / np.sqrt(1.0 + x * x)),
}


class NotRecorded(TypeError):
    """The code did something with an array that has no operator."""


class Step(NamedTuple):
    """One operator: its name, what goes in, what comes out, and attributes."""

    operator: str
    inputs: tuple[str, ...]
    output: str
    attributes: dict[str, Any]


@dataclass
class Program:
    """Operators in the order in which they run, and the constants that they read."""

    dtype: np.dtype[Any]
    steps: list[Step] = field(default_factory=list)
    constants: dict[str, Any] = field(default_factory=dict)
    _known: dict[Any, Any] = field(default_factory=dict)  # the name of each constant, and of each step's result

    def step(
        self, operator: str, shape: Shape, *operands: object, kind: DTypeLike | None = None, **attributes: Any
    ) -> Any:
        """The result of an operator; the same operator on the same operands is written once."""
        inputs = tuple(self.name_of(x) for x in operands)
        key = (operator, inputs, tuple(sorted(attributes.items())))
        if key not in self._known:
            self._known[key] = f"v{len(self.steps)}"
            self.steps.append(Step(operator, inputs, self._known[key], attributes))
        return Recorded(self, self._known[key], shape, np.dtype(kind or self.dtype))

    def name_of(self, x: object) -> str:
        """An operand's name; numbers become constants, of the precision of the programme unless whole or text."""
        if isinstance(x, Recorded):
            return x.name
        value = np.asarray(x)
        if value.dtype.kind == "f" or (value.ndim == 0 and value.dtype.kind in "iu"):
            value = value.astype(self.dtype)
        key = (value.dtype.str, value.shape, value.tobytes() if value.dtype.kind != "O" else tuple(value.tolist()))
        if key not in self._known:
            self._known[key] = f"c{len(self.constants)}"
            self.constants[self._known[key]] = value
        return str(self._known[key])

    def whole(self, *numbers: int) -> Any:
        """Whole numbers that tell an operator about shapes."""
        return np.array(numbers, np.int64)


class Recorded(NDArrayOperatorsMixin):
    """An array of a programme: its name, its shape and its kind of numbers."""

    recorded = True

    def __init__(self, program: Program, name: str, shape: Shape, dtype: np.dtype[Any]) -> None:
        self.program, self.name, self.shape, self.dtype = program, name, shape, dtype

    @property
    def ndim(self) -> int:
        return len(self.shape)

    def toarray(self) -> Recorded:
        """Itself: it is not sparse."""
        return self

    def astype(self, dtype: DTypeLike, copy: bool = True) -> Recorded:
        """Truth values as numbers 0 and 1; numbers stay of the programme's precision."""
        if self.dtype.kind != "b":
            return self
        return self.program.step("Cast", self.shape, self, to=str(self.program.dtype))

    def clip(self, low: float) -> Any:
        """The larger of each number and ``low``."""
        return np.maximum(self, low)

    def cast(self, dtype: str) -> Recorded:
        """The same numbers in another precision, or as whole ones."""
        return self.program.step("Cast", self.shape, self, kind=dtype, to=dtype)

    def __array__(self, *args: object, **kwargs: object) -> Any:
        raise NotRecorded("an array that is not there yet was asked for its numbers")

    def __bool__(self) -> bool:
        raise NotRecorded("an array that is not there yet was asked for its truth")

    def __len__(self) -> int:
        raise NotRecorded("an array that is not there yet was asked for its length")

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        name = ufunc.__name__
        if method != "__call__" or options:
            raise NotRecorded(f"numpy.{name}.{method} has no operator")
        if name == "matmul":
            return self._matmul(*inputs)
        if name == "fmod":
            return self._elementwise("Mod", inputs, fmod=1)
        if name in _CONDITIONS:
            return self._elementwise(_CONDITIONS[name], inputs, kind=bool)
        if name in _COMPOSED:
            return _COMPOSED[name](*inputs)
        if name not in _OPERATORS:
            raise NotRecorded(f"numpy.{name} has no operator")
        return self._elementwise(_OPERATORS[name], inputs)

    def _elementwise(self, operator: str, inputs: Sequence[Any], **options: Any) -> Recorded:
        operands = [x if operator == "Not" else _number(x) for x in inputs]
        return self.program.step(operator, _together(*(np.shape(x) if not hasattr(x, "shape") else x.shape
                                                       for x in operands)), *operands, **options)  # fmt: skip

    def _matmul(self, A: Recorded | Array, B: Recorded | Array) -> Recorded:
        return self.program.step("MatMul", (*A.shape[:-1], B.shape[-1]), _number(A), _number(B))

    def __array_function__(
        self, function: Callable[..., Any], types: Collection[type], args: tuple[Any, ...], options: dict[str, Any]
    ) -> Any:
        found = _FUNCTIONS.get(function.__name__)
        if found is None:
            raise NotRecorded(f"numpy.{function.__name__} has no operator")
        return found(*args, **options)

    def __getitem__(self, key: object) -> Recorded:
        keys, out, axis = key if isinstance(key, tuple) else (key,), self, 0
        for one in keys:
            if one is None:
                out = out._expanded(axis)
            elif isinstance(one, slice):
                out = out._sliced(axis, one)
            elif isinstance(one, int | np.integer):
                out = out._sliced(axis, slice(int(one), int(one) + 1 or None))._squeezed(axis)
                continue
            else:
                out = out._gathered(axis, np.asarray(one, np.int64))
            axis += 1
        return out

    def _expanded(self, axis: int) -> Recorded:
        shape = (*self.shape[:axis], 1, *self.shape[axis:])
        return self.program.step("Unsqueeze", shape, self, self.program.whole(axis), kind=self.dtype)

    def _squeezed(self, axis: int) -> Recorded:
        shape = (*self.shape[:axis], *self.shape[axis + 1 :])
        return self.program.step("Squeeze", shape, self, self.program.whole(axis), kind=self.dtype)

    def _sliced(self, axis: int, part: slice) -> Recorded:
        if part == slice(None):
            return self
        size = self.shape[axis]
        if size is None:
            raise NotRecorded("a part of the samples was asked for")
        start, stop, step = part.indices(size)
        whole = self.program.whole
        shape = (*self.shape[:axis], len(range(start, stop, step)), *self.shape[axis + 1 :])
        return self.program.step(
            "Slice", shape, self, whole(start), whole(stop), whole(axis), whole(step), kind=self.dtype
        )

    def _gathered(self, axis: int, index: Array) -> Recorded:
        shape = (*self.shape[:axis], *index.shape, *self.shape[axis + 1 :])
        return self.program.step("Gather", shape, self, index % self.shape[axis], kind=self.dtype, axis=axis)

    def reshape(self, *shape: int) -> Recorded:
        """Rows stay: the first size is −1."""
        if shape[0] != -1 or self.shape[0] is not None:
            raise NotRecorded("another number of rows was asked for")
        return self.program.step("Reshape", (None, *shape[1:]), self, self.program.whole(*shape), kind=self.dtype)


def _arcsin(x: Symbol) -> Any:
    """The arc sine, which runtimes have in single precision alone, and a step of Newton's method in double; of large x
    by that of √((1 − x)/2), since the step is lost where the cosine is 0.
    """
    size, program = np.abs(x), x.program
    large = size > 0.5
    small = np.where(large, np.sqrt(np.maximum(0.5 - 0.5 * size, 0.0)), size)
    about = program.step("Asin", x.shape, small.cast("float32"), kind=np.float32).cast(str(program.dtype))
    angle = about - (np.sin(about) - small) / np.cos(about)
    return np.sign(x) * np.where(large, 0.5 * math.pi - 2.0 * angle, angle)


def _number(x: object) -> Any:
    return x.astype(x.program.dtype) if isinstance(x, Recorded) else x


def _together(*shapes: Shape) -> Shape:
    """The shape that these broadcast to."""
    rank = max(map(len, shapes))
    padded = [(1,) * (rank - len(s)) + tuple(s) for s in shapes]
    return tuple(next((size for size in sizes if size != 1), 1) for sizes in zip(*padded, strict=True))


def _of(*args: object) -> Program:
    return next(x for x in args if isinstance(x, Recorded)).program


def _where(condition: Symbol, x: Symbol, z: Symbol) -> Any:
    shapes = (np.shape(v) if not hasattr(v, "shape") else v.shape for v in (condition, x, z))
    if not isinstance(condition, Recorded):
        condition = np.asarray(condition, bool)
    elif condition.dtype.kind != "b":
        condition = np.logical_not(np.equal(condition, 0.0))
    return _of(condition, x, z).step("Where", _together(*shapes), condition, _number(x), _number(z))


def _concatenate(parts: Sequence[Any], axis: int = 0) -> Any:
    program, first = _of(*parts), parts[0].shape
    axis %= len(first)
    sizes = [part.shape[axis] for part in parts]
    shape = (*first[:axis], None if None in sizes else sum(sizes), *first[axis + 1 :])
    return program.step("Concat", shape, *(_number(p) for p in parts), axis=axis)


def _sum(x: Recorded, axis: int, keepdims: bool = False) -> Any:
    axis %= x.ndim
    shape = (*x.shape[:axis], 1, *x.shape[axis + 1 :])
    out = x.program.step("ReduceSum", shape, _number(x), x.program.whole(axis), keepdims=1)
    return out if keepdims else out._squeezed(axis)


def _einsum(pattern: str, a: Symbol, b: Symbol) -> Any:
    if pattern != "ij,ij->i":
        raise NotRecorded(f"numpy.einsum({pattern!r}) has no operator")
    return _sum(a * b, 1)


def _ones_like(x: Recorded) -> Any:
    return np.ones(tuple(1 if size is None else size for size in x.shape))


def _clip(x: Symbol, low: Symbol, high: Symbol) -> Any:
    return np.minimum(np.maximum(x, low), high)


def _argmax(x: Recorded, axis: int) -> Any:
    shape = (*x.shape[:axis], *x.shape[axis + 1 :])
    return x.program.step("ArgMax", shape, x, kind=np.int64, axis=axis, keepdims=0)


_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "where": _where, "concatenate": _concatenate, "sum": _sum, "einsum": _einsum, "ones_like": _ones_like,
    "clip": _clip, "argmax": _argmax, "shape": lambda x: x.shape, "ndim": lambda x: x.ndim,
}  # fmt: skip
