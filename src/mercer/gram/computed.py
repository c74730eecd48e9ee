"""Values of a formula between two sets of items, computed when they are asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from mercer import arrays
from mercer.annotations import Index, Items, Symbol
from mercer.arrays import Array
from mercer.compute import Compute
from mercer.data import leaves, size
from mercer.engine.expression import (
    ELEMENTWISE,
    Node,
    VectorParameter,
    log_derivative,
    parameter,
    parameter_names,
    symbolic,
    trace,
    trace_items,
    walk,
)
from mercer.engine.family import Family
from mercer.engine.onnx import lowered
from mercer.engine.sums import block_sums
from mercer.engine.tiles import NonFinite, Tiles
from mercer.gram.contract import Cost, Gram, as_index, precision
from mercer.troubles import coded


def recorded_values(kernel: Any, A: Items, B: Items) -> Any:
    """k between prepared items A that are not there yet, of which what is done with them is written down, and B; None
    where A are there.
    """
    return lowered(kernel, A, B) if any(arrays.is_recorded(x) for x in leaves(A)) else None


class KernelGram(Gram):
    """Values of a formula between two sets of items, computed in tiles when asked for and never stored.

    Memory: a few tiles per thread, and a centred copy of the items where that fits a quarter of the budget.
    """

    def __init__(self, tiles: Tiles, called: Callable[[], str], cure: str, *, as_numpy: bool) -> None:
        self._tiles, self._called, self._cure, self._as_numpy = tiles, called, cure, as_numpy
        self.shape, self.dtype, self.compute = tiles.shape, tiles.dtype, tiles.compute

    @classmethod
    def of(
        cls, kernel: Any, A: Items, B: Items, compute: Compute, *, mirror: bool = True, name: str = ""
    ) -> KernelGram:
        """The Gram of a kernel (anything with ``_block`` and ``_diag``) between prepared items.

        If ``B is A``, one half is computed and mirrored; not so without ``mirror``, to see whether the kernel is
        symmetric. ``name`` is the kernel's in messages.
        """
        left, left_leaves, right, right_leaves = _symbols(A, B)
        formula, diagonal = _formulas(kernel, left, right, exact_diagonal=B is A and mirror)
        return cls._make(
            kernel, partial(str, name or kernel), formula, left_leaves, right_leaves, A, B, compute, diagonal
        )

    @property
    def family_key(self) -> Any:
        """The same for matrices that ``FamilyGram`` can hold together; None where it holds none."""
        return self._tiles.family_key

    @classmethod
    def gradients(cls, kernel: Any, symbols: Any, A: Items, B: Items, compute: Compute) -> dict[str, KernelGram]:
        """∂K/∂log θ for every parameter that occurs in the formula of ``symbols``, the kernel with symbols for
        parameters.
        """
        left, left_leaves, right, right_leaves = _symbols(A, B)
        formula = trace(symbols._block, left, right)
        diagonal = trace_items(symbols._diag, left) if B is A else None

        def gradient(name: str) -> KernelGram:
            d = None if diagonal is None else log_derivative(diagonal, name)
            return cls._make(
                kernel, partial(str, kernel), log_derivative(formula, name), left_leaves, right_leaves, A, B, compute, d
            )

        return {name: gradient(name) for name in parameter_names(formula)}

    @classmethod
    def _make(
        cls,
        kernel: Any,
        called: Callable[[], str],
        formula: Node,
        left: list[Any],
        right: list[Any],
        A: Items,
        B: Items,
        compute: Compute,
        diagonal: Node | None,
    ) -> KernelGram:
        tiles = Tiles(formula, left, right, (size(A), size(B)), common_dtype((A, B), compute), compute, diagonal)
        cure = getattr(kernel, "_cure", "Scale the data or the kernel's parameters")
        return cls(tiles, called, cure, as_numpy=not any(arrays.is_tensor(x) for x in leaves((A, B))))

    def _out(self, x: Array) -> Array:
        return arrays.to_numpy(x) if self._as_numpy else x

    def _view(self, tiles: Tiles) -> KernelGram:
        return type(self)(tiles, self._called, self._cure, as_numpy=self._as_numpy)

    @property
    def name(self) -> str:  # type: ignore[override]
        """The kernel's, in messages: written when there is one."""
        return self._called()

    def rows(self, idx: Index) -> Array:
        idx = as_index(idx, self.shape[0])
        with self._naming(idx):
            out = self._tiles.sub(idx, slice(None)).store()
        if self._tiles.symmetric and self._tiles._diagonal_is_cheap:
            k = np.arange(self.shape[0])[idx]
            out[np.arange(len(k)), k] = self._tiles.diag()[k]
        return self._out(out)

    def sub(self, rows: Index, cols: Index) -> KernelGram:
        return self._view(self._tiles.sub(as_index(rows, self.shape[0]), as_index(cols, self.shape[1])))

    def astype(self, dtype: DTypeLike) -> KernelGram:
        return self._view(self._tiles.astype(precision(dtype)))

    def compiled(self) -> KernelGram:
        """The same by compiled code, however small: for a solver that is compiled itself, and may ask for it often."""
        return self if self._tiles.fits or self._tiles.opaque else self._view(self._tiles.compiled())

    def diag(self) -> Array:
        return self._out(1 * self._tiles.diag())

    @property
    def T(self) -> KernelGram:
        return self if self._tiles.symmetric else self._view(self._tiles.T)

    @property
    def cost(self) -> Cost:  # type: ignore[override]
        if self._tiles.opaque:
            return Cost.ANY
        slow = (not self._tiles.fits or self._tiles.wide) and not arrays.is_tensor(self._tiles._like)
        return Cost.COSTLY if slow else Cost.CHEAP

    @property
    def recomputable(self) -> bool:  # type: ignore[override]
        return not self._tiles.opaque

    @property
    def wide(self) -> bool:
        """Whether a value is mostly its inner product, to compute which is quicker than fresh memory."""
        return self._tiles.wide

    def _dense(self, out: Array | None = None) -> Array:
        with self._naming():
            return self._out(self._tiles.store(out))

    def _product(self, V: Array) -> Array:
        return self._finite_product(self._tiles.product(V), V)

    def sums(self, row_offsets: Array, col_offsets: Array, *, lower: bool = False) -> Array:
        """The sums over blocks of consecutive rows and columns, which begin and end at the offsets; the matrix is not
        stored. With ``lower`` only of blocks on the diagonal and below.
        """
        found = block_sums(self._tiles, row_offsets, col_offsets, lower=lower)
        if not np.isfinite(found).all():
            with self._naming():
                self._tiles.check_finite()
        return found

    def _normal(self, V: Array, between: Callable[[slice, Array], Array] | None = None) -> Array:
        return self._finite_product(self._tiles.normal(V, between), V)

    def _finite_product(self, values: Array, V: Array) -> Array:
        """A product that is not finite is the kernel's doing if what it was multiplied with is; then look for the
        pair.
        """
        if not arrays.all_finite(values) and arrays.all_finite(V):
            with self._naming():
                self._tiles.check_finite()
            raise FloatingPointError(
                coded(
                    f"The product with {self.name} overflows {self.dtype} though the kernel does not: use"
                    " gram.astype('float64').",
                    "M210",
                )
            )
        return self._out(values)

    @contextmanager
    def _naming(self, idx: Index = None) -> Iterator[None]:
        """Name the kernel and the pair in an error about a value that is not finite."""
        try:
            yield
        except NonFinite as found:
            i = found.row if idx is None else int(np.arange(self.shape[0])[idx][found.row])
            raise FloatingPointError(
                coded(
                    f"The kernel {self.name} gives {found.value} for the pair ({i}, {found.column}): row {i} of X with"
                    f" row {found.column} of {'X' if self._tiles.symmetric else 'Y'}. {self._cure}"
                    + (", or compute in float64." if self.dtype == np.float32 else "."),
                    "M210",
                )
            ) from None


class FamilyGram(KernelGram):
    """Σ_m w_m K_m of kernels that differ in their numbers alone, between the same items: a value costs its distance or
    inner product once, and the rest of the formula for each member, in registers.
    """

    _tiles: Family

    @classmethod
    def together(cls, grams: Sequence[KernelGram], weights: Sequence[float] | Array) -> FamilyGram:
        """Matrices of one ``family_key``."""
        one = grams[0]
        made = Family([gram._tiles for gram in grams], weights)
        return cls(made, partial(str, "of this sum"), one._cure, as_numpy=one._as_numpy)

    def chosen(self, which: Array, weights: Array) -> FamilyGram:
        """Some of the members, by number, with other weights."""
        return self._view(self._tiles.chosen(which, weights))  # type: ignore[return-value]

    def products(self, V: Array) -> Array:
        """K_m V of all members in one pass, (members, rows, columns of V)."""
        found = self._tiles.products(V)
        if not np.isfinite(found).all() and np.isfinite(V).all():
            for tiles in self._tiles.members:
                self._view(tiles)._product(V)
        return found


def _symbols(A: Items, B: Items) -> tuple[Any, list[Any], Any, list[Any]]:
    left, left_leaves = symbolic(A, "row")
    right, right_leaves = symbolic(B, "col")
    return left, left_leaves, right, left_leaves if B is A else right_leaves


_PLAIN = ELEMENTWISE - {"apply"} | {"leaf", "number", "dot", "sqdist", "sqnorm"}
_known: dict[Any, tuple[Node, Node | None]] = {}


def _formulas(kernel: Any, left: Items, right: Items, *, exact_diagonal: bool) -> tuple[Node, Node | None]:
    """What the kernel computes of a pair and, where it is wanted, of an item with itself.

    Small fits would spend a tenth of their time on recording, so the last formulas are known by the kernel's class and
    numbers; not those that hold a function, which could be one of a kernel that is changed later, nor those of classes
    that are not Mercer's, which somebody may be writing just now.
    """
    parameters = vars(kernel)
    plain = (
        isinstance(left, Node)
        and type(kernel).__module__.startswith("mercer.")
        and all(type(v) in (int, float, bool, str) for v in parameters.values())
    )
    key = (
        (type(kernel), *((n, v, type(v)) for n, v in parameters.items()), left, right, exact_diagonal)
        if plain
        else None
    )
    known = _known.get(key) if plain else None
    if known is not None:
        return known
    diagonal = trace_items(kernel._diag, left) if exact_diagonal else None
    found = trace(kernel._block, left, right), diagonal
    if key is not None and all(n.op in _PLAIN for root in found if root is not None for n in walk(root)):
        if len(_known) >= 64:
            _known.clear()
        _known[key] = found
    return found


def parameter_symbol(name: str, value: Any) -> Any:
    """What stands for a continuous parameter, a number or one per column, in a formula to be differentiated."""
    return (
        VectorParameter(name, tuple(float(v) for v in value))
        if hasattr(value, "__len__")
        else parameter(name, float(value))
    )


def departures(symbol: Symbol) -> dict[str, Node]:
    """θ/θ₀ − 1 for a parameter θ that is now θ₀, or for each of its components, by name: 0, with the derivative 1 by
    log θ. Of θ₀ = 0, where that derivative is 0, θ itself. Of plain numbers, none.

    For a parameter that has already gone into the prepared items: adding departure·slope to a formula says how it
    changes with the parameter.
    """
    if isinstance(symbol, VectorParameter):
        return {
            name: node
            for j, value in enumerate(symbol.values)
            for name, node in departures(parameter(f"{symbol.name}[{j}]", value)).items()
        }
    if not isinstance(symbol, Node):
        return {}
    name, value = symbol.data
    return {name: symbol / value - 1.0 if value else symbol}


def common_dtype(rep: Items, compute: Compute) -> np.dtype[Any]:
    """The precision to compute in: what was asked for, else float32 if all numbers are, else float64."""
    if compute.dtype is not None:
        return np.dtype("float32" if compute.dtype == "tf32" else compute.dtype)
    found = [arrays.numpy_dtype(x) for x in leaves(rep) if hasattr(x, "dtype") and arrays.numpy_dtype(x).kind == "f"]
    return np.result_type(*found) if found else np.dtype(np.float64)


def item_values(function: Callable[[Any], Any], A: Items, dtype: DTypeLike) -> Array:
    """A formula of one value per prepared item, evaluated."""
    symbols, found = symbolic(A, "row")
    formula = trace_items(function, symbols)
    return Tiles(formula, found, found, (size(A), size(A)), dtype, Compute(threads=1), diagonal=formula).diag()
