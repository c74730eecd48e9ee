"""A kernel's formula as a value: one file, the graph and its three rewritings.

A kernel's ``_block(A, B)`` is called once with symbols in place of data; the arithmetic it does is recorded as a small
graph of ``Node``. The graph is what gets computed (``tiles``), and what gets differentiated (``log_derivative``): no
formula, and no derivative of one, is written a second time.

A node belongs to one of four kinds, by what it depends on: nothing ("scalar"), the left items ("row"), the right items
("col"), or pairs ("tile").
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

from mercer.annotations import Items, Symbol, Weights
from mercer.formula import recorded
from mercer.runtime.threads import cached_property
from mercer.troubles import coded

Kind = str
_UNARY = {
    "negative", "absolute", "sqrt", "exp", "expm1", "log", "log1p", "sin", "cos", "tan", "arcsin", "arccos", "arctan",
    "sinh", "cosh", "tanh",
}  # fmt: skip
_BINARY = {"add", "subtract", "multiply", "divide", "power", "minimum", "maximum", "equal", "greater"}
ELEMENTWISE = _UNARY | _BINARY | {"where", "apply"}
REDUCTIONS = {"dot", "sqdist", "fold", "opaque"}
_LARGEST_EXPANDED_POWER = 64


class Untraceable(TypeError):
    """The code did something with a symbol that only numbers can do."""


@dataclass(frozen=True, eq=False)
class Node:
    """One step of a formula: ``op`` applied to ``args``, with ``data`` that is not itself a formula."""

    op: str
    args: tuple[Node, ...] = ()
    data: Any = None
    kind: Kind = "tile"

    __array_ufunc__ = None  # NumPy scalars on the left hand over to __rmul__ and its kin

    # Equal formulas are equal nodes, so that a part that occurs twice is computed once.
    @cached_property
    def _hash(self) -> int:
        return hash((self.op, self.args, self.data, self.kind))

    def __hash__(self) -> int:
        return self._hash

    def __reduce__(self) -> Any:
        return Node, (self.op, self.args, self.data, self.kind)  # not the hash, which is another in another process

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, Node) or self._hash != other._hash:
            return False
        return (self.op, self.data, self.kind, self.args) == (other.op, other.data, other.kind, other.args)

    # What the functions of ``mercer.formula`` call.
    def __formula__(self, name: str, args: tuple[Any, ...]) -> Node:
        if name in ("dot", "sqdist", "fold"):
            return _reduction(name, *args)
        if name == "opaque":
            function, items = args
            return Node(
                "opaque" if len(items) == 2 else "items",
                data=Opaque(function, *items),
                kind="tile" if len(items) == 2 else self.kind,
            )
        if name == "sqnorm":
            return Node("sqnorm", (self,), kind=self.kind)
        if name == "fold_self":
            return Node("fold_self", (self,), _fold(*args[1]), self.kind)
        if name == "mean":
            block, A, reference, weights = args
            return Node("mean", (), Embedding.of(block, A, reference, weights), self.kind)
        if name == "grand_mean":
            block, reference, weights, known = args
            symbols = symbolic(reference, "row")[0]
            return Node("grand_mean", (), Embedding.of(block, symbols, reference, weights, known), "scalar")
        if name == "apply":
            function, operands, derivative = args
            nodes = tuple(as_node(x) for x in operands)
            return Node("apply", nodes, (function, derivative), _join(nodes))
        return _apply(name, *(as_node(x) for x in args))

    # Arithmetic.
    def __add__(self, other: Symbol) -> Node:
        return _apply("add", self, as_node(other))

    def __radd__(self, other: Symbol) -> Node:
        return _apply("add", as_node(other), self)

    def __sub__(self, other: Symbol) -> Node:
        return _apply("subtract", self, as_node(other))

    def __rsub__(self, other: Symbol) -> Node:
        return _apply("subtract", as_node(other), self)

    def __mul__(self, other: Symbol) -> Node:
        return _apply("multiply", self, as_node(other))

    def __rmul__(self, other: Symbol) -> Node:
        return _apply("multiply", as_node(other), self)

    def __truediv__(self, other: Symbol) -> Node:
        return _apply("divide", self, as_node(other))

    def __rtruediv__(self, other: Symbol) -> Node:
        return _apply("divide", as_node(other), self)

    def __neg__(self) -> Node:
        return _apply("negative", self)

    def __abs__(self) -> Node:
        return _apply("absolute", self)

    def __pow__(self, exponent: Symbol) -> Node:
        if isinstance(exponent, int) and 0 <= exponent <= _LARGEST_EXPANDED_POWER:
            return _whole_power(self, exponent)
        if not isinstance(exponent, Node) and exponent == 0.5:
            return _apply("sqrt", self)
        return _apply("power", self, as_node(exponent))

    def __rpow__(self, base: Symbol) -> Node:
        return _apply("power", as_node(base), self)

    def __gt__(self, other: Symbol) -> Node:
        return _apply("greater", self, as_node(other))

    def __lt__(self, other: Symbol) -> Node:
        return _apply("greater", as_node(other), self)

    # What only numbers can do.
    def __bool__(self) -> bool:
        raise Untraceable("the truth of a symbol is not known; use where(condition, a, b)")

    def __len__(self) -> int:
        raise Untraceable("a symbol has no length")

    def __getitem__(self, key: object) -> Any:
        raise Untraceable("a symbol has no entries")

    def __array__(self, *args: object, **kwargs: object) -> Any:
        raise Untraceable("a symbol is not an array")

    def __float__(self) -> float:
        raise Untraceable("a symbol is not a number")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        raise Untraceable(f"a symbol has no attribute {name!r}")


def number(value: float) -> Node:
    return Node("number", data=float(value), kind="scalar")


def parameter(name: str, value: float) -> Node:
    """A kernel's continuous parameter: a number with a name to differentiate by."""
    return Node("parameter", data=(name, float(value)), kind="scalar")


@dataclass(frozen=True)
class VectorParameter:
    """A parameter with one value per column; its components are named ``name[j]``. In a formula it stands for its
    values to the power ``exponent``.
    """

    name: str | None
    values: tuple[float, ...]
    exponent: float = 1.0

    @property
    def powers(self) -> tuple[float, ...]:
        """What it stands for."""
        return tuple(v**self.exponent for v in self.values)

    def __pow__(self, exponent: float) -> VectorParameter:
        return VectorParameter(self.name, self.values, self.exponent * exponent)


def leaf(side: Kind, index: int) -> Node:
    """Leaf ``index`` of the left ("row") or right ("col") representation."""
    return Node("leaf", data=index, kind=side)


def as_node(x: Symbol) -> Node:
    if isinstance(x, Node):
        return x
    try:
        return number(x)
    except (TypeError, ValueError):
        raise Untraceable(f"{type(x).__name__} in a formula is neither a number nor a symbol") from None


@dataclass(frozen=True)
class Fold:
    """state ← steps(state, x, z) for each column; the variables of ``steps`` are ``fold_variable``s."""

    start: tuple[float, ...]
    steps: tuple[Node, ...]


def fold_variable(name: str) -> Node:
    return Node("variable", data=name, kind="tile")


@cache
def adds_up(fold: Fold) -> bool:
    """Whether a fold is written as state + term(x, z) for each column."""
    state, step = fold_variable("s0"), fold.steps[0]
    return len(fold.steps) == 1 and step.op == "add" and step.args[0] == state and state not in walk(step.args[1])


def column_slope(fold: Fold, variable: str) -> Node | None:
    """∂term/∂x or ∂term/∂z of a fold that adds up terms of its columns, state + term(x, z); None of any other."""
    state = fold_variable("s0")
    if len(fold.steps) != 1 or partial_derivative(fold.steps[0], state) != number(1):
        return None
    slope = partial_derivative(fold.steps[0], fold_variable(variable))
    return slope if state not in walk(slope) else None


@dataclass(frozen=True)
class Opaque:
    """A block that could not be recorded: ``function(A, B)`` on the data itself, A and B given by their leaves.

    Without ``right``: ``function(A)``, one value per item.
    """

    function: Callable[..., Any]
    left: Items
    right: Items = None
    transposed: bool = False


@dataclass(frozen=True, eq=False)
class Embedding:
    """Σ_j w_j formula(·, r_j) over reference items r_j, whose leaves are ``reference``; ``known`` is its own mean, if
    known.
    """

    formula: Node
    reference: list[Any]
    weights: Weights
    known: float | None = None

    @classmethod
    def of(
        cls, block: Callable[[Any, Any], Any], A: Items, reference: Items, weights: Weights, known: float | None = None
    ) -> Embedding:
        right, found = symbolic(reference, "col")
        return cls(trace(block, _on_side(A, "row"), right), found, weights, known)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Embedding) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    @property
    def _key(self) -> tuple[Any, ...]:
        return self.formula, tuple(id(x) for x in self.reference), id(self.weights), self.known

    def replace(self, formula: Node) -> Embedding:
        return Embedding(formula, self.reference, self.weights)


# ---------------------------------------------------------------------------------------------------------------------
# Building
# ---------------------------------------------------------------------------------------------------------------------


def trace(function: Callable[[Any, Any], Any], left: Items, right: Items) -> Node:
    """The formula of ``function(left, right)`` on symbolic representations; opaque where it cannot be recorded."""
    return as_node(recorded(function, left, right))


def trace_items(function: Callable[[Any], Any], items: Items) -> Node:
    """The formula of ``function(items)``, one value per item; opaque where it cannot be recorded."""
    return as_node(recorded(function, items))


def symbolic(rep: Items, side: Kind) -> tuple[Any, list[Any]]:
    """A representation with a symbol for each leaf, and the leaves; one that occurs twice is listed once."""
    found: list[Any] = []
    return _symbol(rep, side, found), found


# no function inside another that calls itself: such a cycle would keep the data alive
def _symbol(part: Items, side: Kind, found: list[Any]) -> Any:
    if isinstance(part, tuple):
        return tuple(_symbol(p, side, found) for p in part)
    index = next((i for i, x in enumerate(found) if x is part), len(found))
    if index == len(found):
        found.append(part)
    return leaf(side, index)


def _on_side(symbols: Items, side: Kind) -> Any:
    return tuple(_on_side(s, side) for s in symbols) if isinstance(symbols, tuple) else leaf(side, symbols.data)


def _join(nodes: tuple[Node, ...]) -> Kind:
    kinds = {n.kind for n in nodes} - {"scalar"}
    if not kinds:
        return "scalar"
    return kinds.pop() if len(kinds) == 1 else "tile"


def _apply(op: str, *args: Node) -> Node:
    if op not in ELEMENTWISE:
        raise Untraceable(f"{op} is not an operation of formulas")
    # The few identities that make composed formulas as short as hand-written ones: 0 + x, 1·x, x/1.
    if len(args) == 2:
        a, b = (n.data if n.op == "number" else None for n in args)
        if op == "multiply":
            if a == 0 or b == 0:
                return number(0)
            if a == 1 or b == 1:
                return args[1] if a == 1 else args[0]
        if op == "add" and (a == 0 or b == 0):
            return args[1] if a == 0 else args[0]
        if (op == "subtract" and b == 0) or (op == "divide" and b == 1):
            return args[0]
        if op == "divide" and args[1].kind == "scalar" and args[0].kind == "tile":
            return _apply("multiply", args[0], _apply("divide", number(1), args[1]))  # one division, not one per value
    return Node(op, args, kind=_join(args))


def _whole_power(x: Node, n: int) -> Node:
    """x^n by repeated squaring: a few multiplications where a general power costs tens of nanoseconds per value."""
    if n == 0:
        return number(1)
    half = _whole_power(x, n // 2)
    square = half * half
    return square * x if n % 2 else square


def _reduction(name: str, A: Items, B: Items, extra: Any) -> Node:
    A, B = as_node(A), as_node(B)
    if (A.op, B.op) != ("leaf", "leaf") or (A.kind, B.kind) != ("row", "col"):
        raise Untraceable(f"{name}(A, B) compares prepared items, left with right")
    if name == "dot":
        return Node("dot", (A, B))
    if name == "sqdist":
        return _sqdist(A, B, extra)
    return Node("fold", (A, B), _fold(*extra))


def _fold(function: Callable[..., tuple[Any, ...]], start: tuple[float, ...]) -> Fold:
    state = tuple(fold_variable(f"s{i}") for i in range(len(start)))
    steps = tuple(as_node(s) for s in function(state, fold_variable("x"), fold_variable("z")))
    if any(n.op == "parameter" for s in steps for n in walk(s)):
        raise ValueError(
            coded(
                "A kernel's parameters enter its formula in _profile (or the data in _prepare), not in _term or _step.",
                "M216",
            )
        )
    return Fold(start, steps)


def _sqdist(A: Node, B: Node, length_scale: Symbol) -> Node:
    """A scalar length scale divides the result; a vector belongs to the metric."""
    if length_scale is None:
        return Node("sqdist", (A, B), (None, None))
    if isinstance(length_scale, VectorParameter):
        return Node("sqdist", (A, B), (length_scale, None))
    if isinstance(length_scale, Node) or not hasattr(length_scale, "__len__"):
        scale = as_node(length_scale)
        return Node("sqdist", (A, B), (None, None)) / (scale * scale)
    return Node("sqdist", (A, B), (VectorParameter(None, tuple(float(v) for v in length_scale)), None))


def walk(node: Node) -> list[Node]:
    """Every distinct node of a formula, arguments before what uses them."""
    order: dict[Node, None] = {}
    _visit(node, order)
    return list(order)


def _visit(n: Node, order: dict[Node, None]) -> None:
    if n not in order:
        for a in n.args:
            _visit(a, order)
        order[n] = None


def transposed(node: Node) -> Node:
    """The formula of the transposed matrix: left and right change places."""
    swap = {"row": "col", "col": "row"}
    if node.op == "opaque":
        o = node.data
        return Node("opaque", data=Opaque(o.function, o.left, o.right, not o.transposed))
    if node.op == "items":
        o = node.data
        return Node("items", data=Opaque(o.function, _on_side(o.left, swap[node.kind])), kind=swap[node.kind])
    args = tuple(transposed(a) for a in node.args)
    if node.op == "fold":
        exchange = {fold_variable("x"): fold_variable("z"), fold_variable("z"): fold_variable("x")}
        return Node("fold", args[::-1], Fold(node.data.start, tuple(_substitute(s, exchange) for s in node.data.steps)))
    if node.op in ("dot", "sqdist"):
        args = args[::-1]
    return Node(node.op, args, node.data, swap.get(node.kind, node.kind))


def _substitute(node: Node, table: dict[Node, Node]) -> Node:
    return (
        table[node]
        if node in table
        else Node(node.op, tuple(_substitute(a, table) for a in node.args), node.data, node.kind)
    )


# ---------------------------------------------------------------------------------------------------------------------
# Differentiating
# ---------------------------------------------------------------------------------------------------------------------

_ZERO = number(0)


def log_derivative(node: Node, name: str) -> Node:
    """∂(formula)/∂ log θ for the parameter θ called ``name``, as a formula again."""
    return _differentiated(node, lambda n: _by_parameter(n, name))


def partial_derivative(node: Node, by: Node) -> Node:
    """∂(formula)/∂(one of its nodes), all that does not contain that node held; as a formula again."""
    return _differentiated(node, lambda n: number(1) if n == by else None)


def _differentiated(node: Node, known: Callable[[Node], Node | None]) -> Node:
    """The derivative by the chain rule from those of some nodes; a node without arguments has 0 unless it is
    ``known``.
    """
    memo: dict[Node, Node] = {}
    for n in walk(node):  # arguments come first, so their derivatives are in the memo
        found = known(n)
        memo[n] = _chained(n, tuple(memo[a] for a in n.args)) if found is None else found
    return memo[node]


def _by_parameter(n: Node, name: str) -> Node | None:
    if n.op == "parameter":
        return number(n.data[1]) if n.data[0] == name else _ZERO
    if n.op == "sqdist":
        return _sqdist_rule(n, name)
    if n.op in ("mean", "grand_mean"):
        inner = log_derivative(n.data.formula, name)
        return _ZERO if inner == _ZERO else Node(n.op, n.args, n.data.replace(inner), n.kind)
    return None


def _chained(n: Node, d: tuple[Node, ...]) -> Node:
    # a constant, data, a reduction without parameters, a condition
    if all(x == _ZERO for x in d) or n.op in ("greater", "equal"):
        return _ZERO
    args = n.args
    match n.op:
        case "add" | "subtract":
            return _apply(n.op, *d)
        case "multiply":
            return d[0] * args[1] + args[0] * d[1]
        case "divide":
            return d[0] / args[1] - n * d[1] / args[1]
        case "power":
            if d[1] == _ZERO:
                return d[0] * args[1] * args[0] ** (args[1] - 1.0)
            return n * (d[1] * _apply("log", args[0]) + args[1] * d[0] / args[0])
        case "negative":
            return -d[0]
        case "exp":
            return n * d[0]
        case "log":
            return d[0] / args[0]
        case "sqrt":
            # The derivative of √x is infinite at 0, where a pair coincides; there the chain's other factor vanishes.
            return _apply("where", args[0] > 0, d[0] / (2.0 * _apply("where", args[0] > 0, n, number(1))), _ZERO)
        case "expm1":
            return (1.0 + n) * d[0]
        case "log1p":
            return d[0] / (1.0 + args[0])
        case "sin":
            return _apply("cos", args[0]) * d[0]
        case "cos":
            return -(_apply("sin", args[0]) * d[0])
        case "tan":
            return (1.0 + n * n) * d[0]
        case "arcsin" | "arccos":
            slope = _arc_slope(args[0]) * d[0]
            return slope if n.op == "arcsin" else -slope
        case "arctan":
            return d[0] / (1.0 + args[0] * args[0])
        case "sinh":
            return _apply("cosh", args[0]) * d[0]
        case "cosh":
            return _apply("sinh", args[0]) * d[0]
        case "tanh":
            return (1.0 - n * n) * d[0]
        case "absolute":  # 0 at 0
            return _apply("where", args[0] > 0, d[0], _apply("where", args[0] < 0, -d[0], _ZERO))
        case "minimum":
            return _apply("where", args[1] > args[0], d[0], d[1])
        case "maximum":
            return _apply("where", args[0] > args[1], d[0], d[1])
        case "where":
            return _apply("where", args[0], d[1], d[2])
        case "apply" if n.data[1] is not None:
            return Node("apply", args, (n.data[1], None), n.kind) * d[0]
    raise NotImplementedError(coded(f"The formula cannot be differentiated through {n.op!r}.", "M211"))


def _arc_slope(x: Node) -> Node:
    """1/√(1 − x²); 0 at ±1, where it is infinite and, as at 0 of √, the chain's other factor vanishes."""
    inside = (1.0 - x) * (1.0 + x)
    return _apply("where", inside > 0, 1.0 / _apply("sqrt", _apply("where", inside > 0, inside, number(1))), _ZERO)


def _sqdist_rule(n: Node, name: str) -> Node:
    """∂/∂log ℓ_j Σ_i (a_i − b_i)²/ℓ_i² = −2 (a_j − b_j)²/ℓ_j², and p times that by log θ_j where ℓ = θ^p."""
    scale, column = n.data
    if scale is None or scale.name is None or not name.startswith(scale.name + "["):
        return _ZERO
    j = int(name[len(scale.name) + 1 : -1])
    if column is not None and column != j:
        return _ZERO
    return number(-2.0 * scale.exponent) * Node("sqdist", n.args, (scale, j))


def parameter_names(node: Node) -> list[str]:
    """The parameters that occur in a formula, vectors by component, in the order they occur."""
    names: dict[str, None] = {}
    for n in walk(node):
        if n.op == "parameter":
            names[n.data[0]] = None
        elif n.op == "sqdist" and n.data[0] is not None and n.data[0].name is not None:
            names.update({f"{n.data[0].name}[{j}]": None for j in range(len(n.data[0].values))})
        elif n.op in ("mean", "grand_mean"):
            names.update(dict.fromkeys(parameter_names(n.data.formula)))
    return list(names)
