"""Kernels as text, and back.

``str(k)`` is mathematics, 2·Gaussian(γ=0.5) + Linear(); ``repr(k)`` is Python, 2 * Gaussian(gamma=0.5) + Linear(). ``parse`` reads both,
and never evaluates code: it walks the syntax tree and knows kernels, numbers, lists, strings, + · ^ and the methods of kernels.
"""

from __future__ import annotations

import ast
import dataclasses
import re
import unicodedata
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from mercer.kernels.base import Kernel

SUM, PRODUCT, ATOM = 1, 2, 3
_RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
_LOWERED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")
_METHODS = ("normalized", "centered", "repaired", "on", "map", "imputed", "standardized", "over", "both_strands", "atoms")
_MOST_ENTRIES = 1000
_QUOTED = re.compile(r"'(?:\\.|[^'\\])*'" + r'|"(?:\\.|[^"\\])*"')


# -- writing ----------------------------------------------------------------------------------------------------------


def call(k: Kernel, *, mathematics: bool) -> str:
    """Name(parameter=value, …), with the parameters that are not the default."""
    parts = []
    for f in dataclasses.fields(k):
        value = getattr(k, f.name)
        if f.default is not dataclasses.MISSING and _is_default(value, f.default):
            continue
        name = (mathematics and f.metadata.get("symbol")) or f.name
        parts.append(f"{name}={literal(value, mathematics=mathematics)}")
    return f"{type(k).__name__}({', '.join(parts)})"


def method(k: Kernel, name: str, *arguments: Any, mathematics: bool) -> str:
    """kernel.name(arguments)."""
    text = atom(str(k) if mathematics else repr(k))
    return f"{text}.{name}({', '.join(literal(a, mathematics=mathematics) for a in arguments)})"


def _is_default(value: Any, default: Any) -> bool:
    return type(value) is type(default) and not hasattr(value, "shape") and bool(value == default)


def literal(value: Any, *, mathematics: bool) -> str:
    """A parameter's value as text that ``parse`` reads; functions by name, long arrays by shape only."""
    from mercer.kernels.base import Kernel

    if isinstance(value, Kernel):
        return str(value) if mathematics else repr(value)
    if isinstance(value, float | np.floating | int | np.integer) and not isinstance(value, bool):
        return number(value)
    if isinstance(value, np.ndarray):
        return f"<array {' × '.join(map(str, value.shape))}>" if value.size > _MOST_ENTRIES else literal(value.tolist(), mathematics=mathematics)
    if isinstance(value, list | tuple):
        return f"[{', '.join(literal(v, mathematics=mathematics) for v in value)}]"
    if callable(value):
        return getattr(value, "__name__", type(value).__name__)
    if hasattr(value, "shape"):
        return f"<{type(value).__name__} {' × '.join(map(str, value.shape))}>"
    return repr(value)


def number(value: Any) -> str:
    """The shortest text that reads back as the same number."""
    return str(int(value)) if isinstance(value, int | np.integer) else repr(float(value))


def join(operator: str, parts: list[str], level: int) -> str:
    return operator.join(p if _level(p) >= level else f"({p})" for p in parts)


def atom(text: str) -> str:
    return text if _level(text) == ATOM else f"({text})"


def _level(text: str) -> int:
    """How tightly the outermost operator of a text binds."""
    depth, level = 0, ATOM
    text = "".join("_" * len(part) if quoted else part for part, quoted in _pieces(text))
    for position, character in enumerate(text):
        depth += (character in "([") - (character in ")]")
        if depth == 0:
            if character == "+" and text[position - 1] == " ":
                return SUM
            if character in "·*⁰¹²³⁴⁵⁶⁷⁸⁹":
                level = PRODUCT
    return level


def superscript(n: int) -> str:
    return str(n).translate(_RAISED)


# -- reading ----------------------------------------------------------------------------------------------------------


def parse(text: str, names: Mapping[str, Any] | None = None) -> Kernel:
    """The kernel that ``text`` describes, as written by str() or repr().

    names
        What names other than kernels stand for: functions given to ``map`` or ``Outer``, arrays.
    """
    python = "".join(part if quoted else _as_python(part) for part, quoted in _pieces(text))
    try:
        tree = ast.parse(python.strip(), mode="eval").body
    except SyntaxError as error:
        raise ValueError(f"{text!r} is not a kernel expression: {error.msg}. Write for example '2·Gaussian(γ=0.5) + Linear()'.") from None
    from mercer.kernels.base import Kernel

    k = _Reader(names or {}).read(tree)
    if not isinstance(k, Kernel):
        raise ValueError(f"{text!r} describes {k!r}, which is not a kernel.")
    return k


def _as_python(text: str) -> str:
    return re.sub("[⁰¹²³⁴⁵⁶⁷⁸⁹]+", lambda m: f"**{m[0].translate(_LOWERED)}", text).replace("·", "*").replace("^", "**")


def _pieces(text: str) -> Iterator[tuple[str, bool]]:
    """The text in pieces: what is between quotation marks, with them, and what is not."""
    at = 0
    for found in _QUOTED.finditer(text):
        yield text[at : found.start()], False
        yield found[0], True
        at = found.end()
    yield text[at:], False


class _Reader:
    def __init__(self, names: Mapping[str, Any]) -> None:
        from mercer.kernels.algebra import FUNCTIONS

        self.names = {**kernel_classes(), **FUNCTIONS, "inf": float("inf"), **names}

    def read(self, node: ast.AST) -> Any:
        match node:
            case ast.Constant(value=value) if isinstance(value, int | float | str | bool) or value is None:
                return value
            case ast.List(elts=elements) | ast.Tuple(elts=elements):
                return [self.read(e) for e in elements]
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return -self.read(operand)
            case ast.BinOp(left=left, op=operator, right=right):
                return self._operate(operator, self.read(left), self.read(right))
            case ast.Name(id=name):
                if name not in self.names:
                    raise ValueError(f"{name!r} is not the name of a kernel; `mercer kernels` lists them. Give other names in parse(text, names).")
                return self.names[name]
            case ast.Call(func=ast.Name(id=name), args=arguments, keywords=keywords):
                return self._call(name, arguments, keywords)
            case ast.Call(func=ast.Attribute(value=value, attr=attribute), args=arguments, keywords=keywords) if attribute in _METHODS:
                options = {str(k.arg): self.read(k.value) for k in keywords}
                return getattr(self.read(value), attribute)(*(self.read(a) for a in arguments), **options)
        raise ValueError(f"{ast.unparse(node)!r} has no place in a kernel expression.")

    def _call(self, name: str, arguments: list[ast.expr], keywords: list[ast.keyword]) -> Any:
        target = self.read(ast.Name(id=name))
        symbols = {_folded(f.metadata["symbol"]): f.name for f in _fields(target) if f.metadata.get("symbol")}
        options = {symbols.get(str(k.arg), str(k.arg)): self.read(k.value) for k in keywords}
        if not callable(target):
            raise ValueError(f"{name!r} cannot be called.")
        return target(*(self.read(a) for a in arguments), **options)

    @staticmethod
    def _operate(operator: ast.operator, left: Any, right: Any) -> Any:
        from mercer.kernels.base import Kernel

        if not isinstance(left, Kernel) and not isinstance(right, Kernel):
            raise ValueError("Arithmetic in a kernel expression is between kernels, or a kernel and a number.")
        match operator:
            case ast.Add():
                return left + right
            case ast.Mult():
                return left * right
            case ast.Pow():
                return left**right
            case ast.Div():
                return left / right
        raise ValueError("Kernels are combined with +, ·, / and powers.")


def _fields(target: Any) -> tuple[dataclasses.Field[Any], ...]:
    return dataclasses.fields(target) if dataclasses.is_dataclass(target) else ()


def _folded(symbol: str) -> str:
    """A symbol as Python's parser reads it: ℓ becomes l."""
    return unicodedata.normalize("NFKC", symbol)


def kernel_classes() -> dict[str, type[Kernel]]:
    """Every kernel class that can be made, by name: Mercer's and those the user has defined."""
    import mercer.kernels  # so that all of Mercer's exist
    from mercer.kernels.base import Kernel

    mercer.kernels.load()
    found: dict[str, type[Kernel]] = {}
    queue: list[type[Kernel]] = [Kernel]
    while queue:
        for cls in queue.pop().__subclasses__():
            queue.append(cls)
            if "__dataclass_fields__" in cls.__dict__:
                found[cls.__name__] = cls
    return dict(sorted(found.items()))
