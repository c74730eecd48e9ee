"""∇_a Σ_j c_j k(a, b_j): the gradient of a combination of kernel values by its items, from the recorded formula; and
that of Σ_ij u_i v_j k(a_i, b_j) by the parameters.

A formula sees an item through few numbers, ⟨a, b⟩, ‖a − b‖², ‖a‖², sums over columns: k = F(s, d², …). So its gradient
is Σ_j c_j (∂F/∂s · b_j + ∂F/∂d² · 2(a − b_j) + …), where each ∂F/∂· is a formula again, whose matrix is multiplied with
c and with the rows c_j b_j: computed in tiles and never stored, like any other. Length scales of columns are all seen
through one number of a pair: ∂d²/∂log ℓ_k = −2(a_k − b_k)²/ℓ_k², so that one pass over ∂F/∂d² serves all of them.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from scipy import sparse

from mercer import arrays
from mercer.annotations import Items
from mercer.arrays import Array
from mercer.compute import Compute
from mercer.data import chunks, size
from mercer.engine.expression import (
    Node,
    column_slope,
    log_derivative,
    number,
    parameter_names,
    partial_derivative,
    symbolic,
    trace,
    walk,
)
from mercer.engine.slopes import contract, evaluated
from mercer.engine.tiles import Tiles
from mercer.gram.computed import KernelGram, common_dtype
from mercer.troubles import coded

_ZERO = number(0)
_AT_ONCE = 2**22  # numbers of a product that are held together
_SEES = {"dot", "sqdist", "fold", "opaque", "sqnorm", "fold_self", "items", "mean"}


class NoGradient(TypeError):
    """The kernel is not differentiable by its samples, or not known to be."""


def item_gradients(kernel: Any, A: Items, B: Items, coef: Array, compute: Compute) -> Any:
    """∇_a Σ_j c_j k(a, b_j) for each prepared item a, by each number it is prepared to.

    Parameters
    ----------
    kernel : anything with ``_block``
        k.
    A, B : prepared items
        The items a, and the items b_j.
    coef : ndarray of shape (n, outputs)
        c, one column for each combination.
    compute : Compute
        Device, precision, memory and threads.

    Returns
    -------
    prepared items
        An array (items, outputs, columns) in the place of each leaf of A; None for one that does not matter.
    """
    symbols, left = symbolic(A, "row")
    right_symbols, right = symbolic(B, "col")
    formula = trace(kernel._block, symbols, right_symbols)
    found = _Gradients(str(kernel), left, right, coef, common_dtype((A, B), compute), compute).of(formula)
    if not any(arrays.is_tensor(x) for x in (*left, *right)):
        found = {index: arrays.to_numpy(values) for index, values in found.items()}
    return _placed(symbols, found)


def pair_gradients(kernel: Any, A: Items, weights: Array, compute: Compute) -> Any:
    """∇_a Σ_ij W_ij k(a_i, a_j), W symmetric, for each prepared item a: what a change of the items does to a function
    of their matrix, W its derivative by that.

    Parameters
    ----------
    kernel : anything with ``_block``
        k.
    A : prepared items
        The items a.
    weights : ndarray of shape (n, n)
        W.
    compute : Compute
        Device, precision, memory and threads.

    Returns
    -------
    prepared items
        An array (items, 1, columns) in the place of each leaf of A; None for one that does not matter.
    """
    symbols, left = symbolic(A, "row")
    formula = trace(kernel._block, symbols, symbolic(A, "col")[0])
    # by one of the two items, which are alike
    found = _PairGradients(str(kernel), left, 2.0 * weights, common_dtype(A, compute), compute).of(formula)
    return _placed(symbols, {index: arrays.to_numpy(values) for index, values in found.items()})


def _placed(symbols: Items, found: dict[int, Array]) -> Any:
    """Each once: a leaf that occurs twice, the data itself in two terms, has one gradient."""
    return tuple(_placed(s, found) for s in symbols) if isinstance(symbols, tuple) else found.pop(symbols.data, None)


class _Gradients:
    def __init__(
        self, name: str, left: list[Any], right: list[Any], coef: Array, dtype: np.dtype[Any], compute: Compute
    ) -> None:
        self.name, self.left, self.right, self.dtype, self.compute = name, left, right, dtype, compute
        tensor = next((x for x in (*left, *right) if arrays.is_tensor(x)), None)
        self.device = compute.device if tensor is None else str(tensor.device)
        self.coef = arrays.to_device(coef, self.device, np.float64)
        self.shape = (size(left[0]), len(coef))
        self.out: dict[int, Array] = {}

    def of(self, formula: Node) -> dict[int, Array]:
        """By the number of the leaf: (items, outputs, columns)."""
        for n in walk(formula):
            value = n.op == "leaf" and len(getattr(self._leaf(n), "shape", ())) == 1
            if n.kind in ("row", "tile") and (n.op in _SEES or (value and n.kind == "row")):
                try:
                    slope = partial_derivative(formula, n)
                except NotImplementedError as error:
                    raise NoGradient(coded(f"{self.name} has no gradient by its samples: {error}", "M211")) from None
                if slope != _ZERO:
                    self._add(n, slope)
        return self.out

    def _leaf(self, n: Node) -> Any:
        return (self.left if n.kind == "row" else self.right)[n.data]

    def _rows(self, n: Node) -> Array:
        """The items of a leaf, as rows of numbers."""
        x = self._leaf(n)
        if sparse.issparse(x):
            x = x.toarray()
        if not (isinstance(x, np.ndarray) or arrays.is_tensor(x)) or x.ndim != 2 or arrays.numpy_dtype(x).kind == "O":
            raise NoGradient(
                coded(f"{self.name} compares what is no row of numbers: it has no gradient by its samples.", "M211")
            )
        return arrays.to_device(x, self.device, np.float64)

    def _put(self, n: Node, values: Array) -> None:
        known = self.out.get(n.data)
        self.out[n.data] = values if known is None else known + values

    def _gram(self, slope: Node) -> KernelGram:
        tiles = Tiles(slope, self.left, self.right, self.shape, self.dtype, self.compute)
        return KernelGram(tiles, partial(str, f"∇ of {self.name}"), "Scale the data", as_numpy=False)

    def _add(self, n: Node, slope: Node) -> None:
        """The part of the gradient that goes through one node: its own by the item, times ``slope``."""
        m, outputs = self.shape[0], self.coef.shape[1]
        if n.op in ("opaque", "items"):
            raise NoGradient(
                coded(
                    f"{self.name} has no gradient by its samples: its values are computed by NumPy or by the kernel"
                    " itself, not by a recorded formula (mercer.formula).",
                    "M211",
                )
            )
        gram = self._gram(slope)
        if n.op in ("dot", "sqdist"):
            a, B = n.args[0], self._rows(n.args[1])
            origin = B.mean(0) if n.op == "sqdist" else 0.0 * B[0]
            moved = B - origin  # differences do not notice, and lose fewer digits
            V = (self.coef[:, :, None] * moved[:, None, :]).reshape(len(B), -1)
            sums = (gram @ V).reshape(m, outputs, -1)
            if n.op == "sqdist":
                total = gram @ self.coef
                sums = 2.0 * (total[:, :, None] * (self._rows(a) - origin)[:, None, :] - sums)
                if n.data[0] is not None:
                    sums = sums / arrays.like(np.asarray(n.data[0].powers, np.float64) ** 2, sums)
            self._put(a, sums)
        elif n.op == "fold":
            self._put(n.args[0], self._fold(n, gram))
        else:
            self._own(n, gram @ self.coef)

    def _own(self, n: Node, total: Array) -> None:
        """Through a number of the item alone; ``total`` is Σ_j c_j slope, (items, outputs)."""
        match n.op:
            case "leaf":
                self._put(n, total[:, :, None])
            case "sqnorm":
                self._put(n.args[0], 2.0 * total[:, :, None] * self._rows(n.args[0])[:, None, :])
            case "fold_self":
                A = self._rows(n.args[0])
                both = [self._slope(n, variable) for variable in "xz"]
                slopes = [evaluated(each, A, A, A) + 0.0 * A for each in both]
                self._put(n.args[0], total[:, :, None] * (slopes[0] + slopes[1])[:, None, :])
            case "mean":
                e = n.data
                weights = arrays.like(np.asarray(e.weights, np.float64)[:, None], total)
                inner = _Gradients(self.name, self.left, e.reference, weights, self.dtype, self.compute)
                for index, values in inner.of(e.formula).items():
                    self._put(Node("leaf", data=index, kind="row"), total[:, :, None] * values)

    def _slope(self, n: Node, variable: str) -> Node:
        slope = column_slope(n.data, variable)
        if slope is None:
            raise NoGradient(
                coded(
                    f"{self.name} has no gradient by its samples: it is a programme over the columns, not a sum of"
                    " terms.",
                    "M211",
                )
            )
        return slope

    def _fold(self, n: Node, gram: KernelGram) -> Array:
        slope = self._slope(n, "x")
        A, B = (arrays.astype(self._rows(side), self.dtype) for side in n.args)
        return contract(slope, A, B, gram.rows, arrays.astype(self.coef, self.dtype), self.compute.workers)


class _PairGradients(_Gradients):
    """Each pair has a weight of its own, which the slopes, stored for once, are multiplied with."""

    def __init__(self, name: str, items: list[Any], weights: Array, dtype: np.dtype[Any], compute: Compute) -> None:
        super().__init__(name, items, items, weights, dtype, compute)

    def _add(self, n: Node, slope: Node) -> None:
        if n.op in ("opaque", "items", "mean"):
            raise NoGradient(
                coded(
                    f"{self.name} has no gradient by its samples: its values are computed by NumPy or by the kernel"
                    " itself, or are means over other samples.",
                    "M211",
                )
            )
        P = self.coef * arrays.astype(self._gram(slope).dense(), np.float64)
        if n.op == "dot":
            self._put(n.args[0], (P @ self._rows(n.args[1]))[:, None, :])
        elif n.op == "sqdist":
            B = self._rows(n.args[1])
            moved = B - B.mean(0)  # differences do not notice, and lose fewer digits
            sums = 2.0 * (P.sum(1)[:, None] * moved - P @ moved)
            if n.data[0] is not None:
                sums = sums / arrays.like(np.asarray(n.data[0].powers, np.float64) ** 2, sums)
            self._put(n.args[0], sums[:, None, :])
        elif n.op == "fold":
            A, B = (self._rows(side) for side in n.args)
            once = arrays.zeros((len(B), 1), np.float64, B) + 1.0
            self._put(n.args[0], contract(self._slope(n, "x"), A, B, lambda rows: P[rows], once, self.compute.workers))
        else:
            self._own(n, P.sum(1)[:, None])


def parameter_slopes(kernel: Any, A: Items, B: Items, U: Array, V: Array, compute: Compute) -> dict[str, float]:
    """Σ_ij Σ_o U_io V_jo ∂k(a_i, b_j)/∂log θ for every parameter θ of the formula.

    One pass over the pairs for each number, and one for all length scales of columns together.

    Parameters
    ----------
    kernel : anything with ``_symbolic``, which is it with symbols for parameters
        k.
    A, B : prepared items
        The items a, and the items b.
    U, V : ndarray of shape (n, outputs) and (m, outputs)
        Their coefficients.
    compute : Compute
        Device, precision, memory and threads.

    Returns
    -------
    dict of str to float
        By the names of ``Kernel.gradient``.
    """
    left_symbols, left = symbolic(A, "row")
    right_symbols, right = symbolic(B, "col")
    formula, dtype = trace(kernel._symbolic("")._block, left_symbols, right_symbols), common_dtype((A, B), compute)

    def gram(slope: Node) -> KernelGram:
        tiles = Tiles(slope, left, right, (size(A), size(B)), dtype, compute)
        return KernelGram(tiles, partial(str, f"∂ of {kernel}"), "Scale the data", as_numpy=True)

    out = dict.fromkeys(parameter_names(formula), 0.0)
    together: set[str] = set()
    for n in _metrics(formula, left, right):
        scale = n.data[0]
        a, b = (
            np.asarray(arrays.to_numpy(side[m.data]), np.float64) for side, m in zip((left, right), n.args, strict=True)
        )
        names = [f"{scale.name}[{k}]" for k in range(a.shape[1])]
        found = _through_columns(gram(partial_derivative(formula, n)), a, b, U, V)
        for name, value in zip(names, found * (-2.0 * scale.exponent) / np.asarray(scale.powers) ** 2, strict=True):
            out[name] += float(value)
        together.update(names)
    for name in out.keys() - together:
        out[name] = float(np.sum(_sums(gram(log_derivative(formula, name)), U, V)))
    return out


def _metrics(formula: Node, left: list[Any], right: list[Any]) -> list[Node]:
    """The distances that have length scales to differentiate by and are of tables in memory, where nothing else
    depends on those.
    """
    nodes = list(walk(formula))
    if any(n.op in ("mean", "grand_mean") for n in nodes):
        return []
    elsewhere = {str(n.data[0]).split("[")[0] for n in nodes if n.op == "parameter"}
    found = [n for n in nodes if n.op == "sqdist" and n.data[0] is not None and n.data[0].name is not None]
    sides = [side[m.data] for n in found for side, m in zip((left, right), n.args, strict=True)]
    tables = all(isinstance(x, np.ndarray) or arrays.is_tensor(x) for x in sides)
    return [n for n in found if tables and n.data[0].name not in elsewhere]


def _sums(gram: KernelGram, U: Array, V: Array) -> Array:
    """Σ_i U_ic (K V)_ic of each column c, by parts of the rows."""
    total = np.zeros(V.shape[1])
    for rows in chunks(gram.shape[0], max(1, _AT_ONCE // V.shape[1])):
        part = gram if rows == slice(0, gram.shape[0]) else gram.sub(rows, slice(None))
        total += np.einsum("ic,ic->c", U[rows], np.asarray(arrays.to_numpy(part @ V)))
    return total


def _through_columns(gram: KernelGram, a: Array, b: Array, U: Array, V: Array) -> Array:
    """Σ_ij Σ_o U_io V_jo K_ij (a_ik − b_jk)² for each column k, from K times V, V b and V b²."""
    outputs, d = V.shape[1], a.shape[1]
    origin = b.mean(axis=0)  # differences do not notice, and lose fewer digits
    moved = b - origin
    panel = np.hstack([V, *((V[:, :, None] * moved[:, None, :] ** p).reshape(len(b), -1) for p in (1, 2))])
    total = np.zeros(d)
    for rows in chunks(len(a), max(1, _AT_ONCE // panel.shape[1])):
        part = gram if rows == slice(0, len(a)) else gram.sub(rows, slice(None))
        found, u, x = np.asarray(arrays.to_numpy(part @ panel)), U[rows], a[rows] - origin
        plain, by, square = np.split(found, [outputs, outputs * (1 + d)], axis=1)
        total += np.sum(u * plain, axis=1) @ x**2
        total -= 2 * np.einsum("io,iod,id->d", u, by.reshape(len(x), outputs, d), x, optimize=True)
        total += np.einsum("io,iod->d", u, square.reshape(len(x), outputs, d), optimize=True)
    return total
