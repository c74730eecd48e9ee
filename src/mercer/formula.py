"""The functions that formulas of kernels are written in.

The elementary functions (``exp``, ``where``, …) and the pairwise reductions that formulas start from (``dot``,
``sqdist``, ``fold``). Each elementary one works on NumPy arrays, on torch tensors, and on any object that implements
``__formula__(name, args)``: the engine's symbols, which record the formula instead of computing it. The reductions are
of prepared items in ``_block`` and ``_diag`` alone; docs/add_a_kernel.md shows how.

Examples
--------
>>> import numpy as np
>>> import mercer as mc
>>> from mercer.formula import exp, sqdist, sqnorm, sqrt
>>> from mercer.kernels.base import Kernel, kernel
>>> from mercer.kernels.parameters import positive
>>> @kernel
... class Damped(Kernel):
...     gamma: float = positive(1.0)
...
...     def _block(self, A, B):
...         return exp(-sqrt(self.gamma * sqdist(A, B)))
...
...     def _diag(self, A):
...         return exp(0.0 * sqnorm(A))
>>> Damped(4.0)(np.array([[0.0], [1.0]])).round(3)
array([[1.   , 0.135],
       [0.135, 1.   ]])
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mercer.annotations import Items, Symbol, Weights
from mercer.arrays import is_tensor, namespace
from mercer.troubles import coded

_NAMES_IN_TORCH = {"absolute": "abs", "arccos": "acos", "arcsin": "asin", "arctan": "atan"}


def _call(name: str, *args: Symbol) -> Any:
    for x in args:
        record = getattr(x, "__formula__", None)
        if record is not None:
            return record(name, args)
    xp = namespace(*args)
    if xp is np:
        return getattr(np, name)(*args)
    tensor = next(x for x in args if is_tensor(x))
    args = tuple(x if is_tensor(x) else xp.as_tensor(x, dtype=tensor.dtype, device=tensor.device) for x in args)
    return getattr(xp, _NAMES_IN_TORCH.get(name, name))(*args)


def exp(x: Symbol) -> Any:
    """exp(x), value by value."""
    return _call("exp", x)


def log(x: Symbol) -> Any:
    """The natural logarithm of x, value by value."""
    return _call("log", x)


def sqrt(x: Symbol) -> Any:
    """√x, value by value; its derivative at 0 is taken as 0."""
    return _call("sqrt", x)


def expm1(x: Symbol) -> Any:
    """exp(x) − 1, value by value, with all digits near 0."""
    return _call("expm1", x)


def log1p(x: Symbol) -> Any:
    """log(1 + x), value by value, with all digits near 0."""
    return _call("log1p", x)


def sin(x: Symbol) -> Any:
    """sin x, value by value; x in radians."""
    return _call("sin", x)


def cos(x: Symbol) -> Any:
    """cos x, value by value; x in radians."""
    return _call("cos", x)


def tan(x: Symbol) -> Any:
    """tan x, value by value; x in radians."""
    return _call("tan", x)


def arcsin(x: Symbol) -> Any:
    """The angle in [−π/2, π/2] with the sine x, value by value."""
    return _call("arcsin", x)


def arccos(x: Symbol) -> Any:
    """The angle in [0, π] with the cosine x, value by value."""
    return _call("arccos", x)


def arctan(x: Symbol) -> Any:
    """The angle in (−π/2, π/2) with the tangent x, value by value."""
    return _call("arctan", x)


def sinh(x: Symbol) -> Any:
    """The hyperbolic sine of x, value by value."""
    return _call("sinh", x)


def cosh(x: Symbol) -> Any:
    """The hyperbolic cosine of x, value by value."""
    return _call("cosh", x)


def tanh(x: Symbol) -> Any:
    """The hyperbolic tangent of x, value by value."""
    return _call("tanh", x)


def square(x: Symbol) -> Any:
    """x², value by value."""
    return x * x


def power(x: Symbol, exponent: Symbol) -> Any:
    """x^exponent, value by value; integer exponents are a few multiplications."""
    return x**exponent


def absolute(x: Symbol) -> Any:
    """|x|, value by value."""
    return _call("absolute", x)


def minimum(x: Symbol, z: Symbol) -> Any:
    """The smaller of x and z, value by value."""
    return _call("minimum", x, z)


def maximum(x: Symbol, z: Symbol) -> Any:
    """The larger of x and z, value by value."""
    return _call("maximum", x, z)


def equal(x: Symbol, z: Symbol) -> Any:
    """1 where x = z, else 0; truth values for arrays."""
    return _call("equal", x, z)


def greater(x: Symbol, z: Symbol) -> Any:
    """1 where x > z, else 0; truth values for arrays."""
    return _call("greater", x, z)


def where(condition: Symbol, x: Symbol, z: Symbol) -> Any:
    """x where the condition holds, else z; both are evaluated everywhere.

    Parameters
    ----------
    condition : array or formula
        What decides, value by value: ``d > 0``, ``equal(a, b)``.
    x, z : array, formula or number
        The two values. The one that is not chosen should be finite too, for the sake of derivatives: guard divisions,
        ``where(d > 0, 1 / where(d > 0, d, 1), 0)``.

    Returns
    -------
    array or formula
        Of the shape of the arguments together.
    """
    record = next((r for a in (condition, x, z) if (r := getattr(a, "__formula__", None)) is not None), None)
    if record is not None:
        return record("where", (condition, x, z))
    return namespace(condition, x, z).where(condition, x, z)


def pointwise(function: Callable[..., Any], *args: Symbol, derivative: Callable[..., Any] | None = None) -> Any:
    """function(*args), where a function that cannot be recorded is applied to each tile as it is.

    Parameters
    ----------
    function : callable
        A function of arrays, value by value: written in this module's functions it is recorded, else it is NumPy's or
        SciPy's, computed on the CPU.
    *args : array or formula
        What it is a function of.
    derivative : callable, optional
        The derivative of a function of one argument that cannot be recorded; without it such a formula has values but
        no gradient.

    Returns
    -------
    array or formula
        The value.
    """
    record = next((r for a in args if (r := getattr(a, "__formula__", None)) is not None), None)
    if record is None:
        return function(*args)
    try:
        return function(*args)
    except TypeError:  # NumPy or SciPy met a symbol
        return record("apply", (_of_numbers(function), args, derivative))


def recorded(function: Callable[..., Any], *items: Items) -> Any:
    """function(A, B) or function(A) as a part of a formula: what cannot be recorded is computed on the items.

    Parameters
    ----------
    function : callable
        ``_block`` or ``_diag`` of a kernel.
    *items : prepared items
        A and B, or A.

    Returns
    -------
    array or formula
        The values of the pairs, or of the items.
    """
    try:
        return function(*items)
    except TypeError:
        symbol = _first(items[0])
        if not hasattr(symbol, "__formula__"):
            raise
        return symbol.__formula__("opaque", (_of_numbers(function), items))


def _of_numbers(function: Callable[..., Any]) -> Callable[..., Any]:
    """The method of the kernel with numbers for its parameters, where it stands in a derivative with symbols for
    them.
    """
    numbers = getattr(getattr(function, "__self__", None), "_with_numbers", None)
    named: Callable[..., Any] = function if numbers is None else getattr(numbers, function.__name__)
    return named


def dot(A: Items, B: Items) -> Any:
    """⟨a, b⟩ for all pairs of prepared items.

    Parameters
    ----------
    A, B : prepared items
        Rows of numbers, dense, sparse or hashed.

    Returns
    -------
    formula
        One matrix product per block.
    """
    return _reduce("dot", A, B)


def sqdist(A: Items, B: Items, length_scale: Symbol = None) -> Any:
    """Σ_j (a_j − b_j)²/ℓ_j² for all pairs of prepared items, accurate for nearly equal points too.

    Parameters
    ----------
    A, B : prepared items
        Rows of numbers.
    length_scale : float or array of shape (d,), optional
        ℓ: one number, or one for each column. None: 1.

    Returns
    -------
    formula
        One matrix product per block.
    """
    return _reduce("sqdist", A, B, length_scale)


def fold(step: Callable[..., tuple[Any, ...]], start: Sequence[float], A: Items, B: Items) -> Any:
    """state ← step(state, a_j, b_j) over the columns j, from ``start``: a programme over the columns, for all pairs.

    Parameters
    ----------
    step : callable
        Takes the state, a tuple, and the numbers of one column of both items, and returns the next state. Parameters of
        the kernel must not enter in it: it is differentiated as a whole.
    start : sequence of float
        The first state.
    A, B : prepared items
        Rows of numbers.

    Returns
    -------
    formula
        The last component of the final state.
    """
    return _reduce("fold", A, B, (step, tuple(start)))


def _reduce(name: str, A: Items, B: Items, extra: Any = None) -> Any:
    return _record(name, A)(name, (A, B, extra))


def sqnorm(A: Items) -> Any:
    """‖a‖² for every prepared item."""
    return _record("sqnorm", A)("sqnorm", (A,))


def fold_self(step: Callable[..., tuple[Any, ...]], start: Sequence[float], A: Items) -> Any:
    """``fold`` of every prepared item with itself."""
    return _record("fold_self", A)("fold_self", (A, (step, tuple(start))))


def mean_over_items(block: Callable[[Any, Any], Any], A: Items, reference: Items, weights: Weights) -> Any:
    """Σ_j w_j block(a, r_j) for every prepared item a, over the items r_j of a reference sample.

    Parameters
    ----------
    block : callable
        The formula of a kernel, ``kernel._pairs``.
    A : prepared items
        The items a.
    reference : prepared items
        The items r_j.
    weights : ndarray
        w.

    Returns
    -------
    formula
        One value for each item.
    """
    return _record("mean", A)("mean", (block, A, reference, weights))


def mean_of_means(block: Callable[[Any, Any], Any], A: Items, reference: Items, weights: Weights, known: float) -> Any:
    """Σ_ij w_i w_j block(r_i, r_j): the number ``known``, kept with what it is made of, for its derivative.

    Parameters
    ----------
    block : callable
        The formula of a kernel, ``kernel._pairs``.
    A : prepared items
        Any items, in whose formula the number stands.
    reference : prepared items
        The items r_i.
    weights : ndarray
        w.
    known : float
        The value.

    Returns
    -------
    formula
        The number.
    """
    return _record("grand_mean", A)("grand_mean", (block, reference, weights, known))


def _first(A: Items) -> Any:
    while isinstance(A, tuple):
        A = A[0]
    return A


def _record(name: str, A: Items) -> Callable[[str, tuple[Any, ...]], Any]:
    record = getattr(_first(A), "__formula__", None)
    if record is None:
        raise TypeError(
            coded(f"{name}(…) is part of a kernel's formula; call the kernel itself, k(X, Y), to get numbers.", "M216")
        )
    return record
