"""The algebra: sums, products, scalings and functions of kernels, as one writes them.

Each keeps what its parts had: a finite feature map where all parts have one, counts, and a proof of positive
semi-definiteness.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from mercer.arrays import Array
from mercer.kernels.base import Kernel
from mercer.kernels.compose.pointwise import Exponential, Geometric, PolynomialOf, Scaled
from mercer.kernels.compose.terms import Product, Sum, Terms
from mercer.troubles import coded


def add(*parts: object) -> Kernel:
    """The sum, flat; a number counts as the constant kernel."""
    return Sum(tuple(term for part in parts for term in _terms(part, Sum)))


def multiply(left: Kernel, *others: object) -> Kernel:
    """left · others, flat; a number scales, and scales are gathered in front."""
    scale, factors, flat = _unscaled(left)
    for other in others:
        if isinstance(other, Kernel):
            more, terms, _ = _unscaled(other)
            product = 1.0 * (1.0 if scale is None else scale) * (1.0 if more is None else more)
            scale, flat = product if product != 1.0 else None, True
            factors += terms
        else:
            value = Scaled(_as_number(other), left).scale  # checked
            scale = value if scale is None else value * scale
    k = Product(tuple(factors)) if flat else factors[0]
    return k if scale is None else Scaled(scale, k)


def _unscaled(k: Kernel) -> tuple[float | None, list[Kernel], bool]:
    """The scale in front of a kernel, its factors, and whether it is a product."""
    scale, k = (k.scale, k.kernel) if isinstance(k, Scaled) else (None, k)
    return scale, list(k.terms) if isinstance(k, Product) else [k], isinstance(k, Product)


def reciprocal(value: object) -> float:
    """1/value, by which a kernel may be scaled."""
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating) or value <= 0:
        raise ValueError(coded(f"A kernel can be divided by a positive number, not by {value!r}.", "M203"))
    return 1.0 / float(value)


def _terms(k: object, kind: type[Terms]) -> tuple[Kernel, ...]:
    if isinstance(k, kind):
        return k.terms
    if isinstance(k, Kernel):
        return (k,)
    from mercer.kernels.anything import Constant

    return (Constant(_as_number(k)),)


def _as_number(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        raise TypeError(
            coded(f"Kernels combine with kernels and numbers, not with {type(value).__name__} {value!r}.", "M203")
        )
    return value if isinstance(value, int) else float(value)


def exp(k: Kernel) -> Exponential:
    """exp(k(x, z)), a kernel wherever k is one.

    A limit of polynomials in k with non-negative coefficients. ``exp(k).normalized()`` is exp(−½ ‖φ(x) − φ(z)‖²), the
    Gaussian of distances in the feature space of k, and is computed without overflow.

    Parameters
    ----------
    k : Kernel
        The kernel inside. Its values must stay below about 700.

    Returns
    -------
    Kernel
        The kernel exp(k).

    See Also
    --------
    geometric : 1/(1 − k).
    polynomial : A polynomial in k.

    Examples
    --------
    >>> import mercer as mc
    >>> k = mc.exp(0.5 * mc.Linear())
    >>> print(k.normalized())
    exp(0.5·Linear()).normalized()
    >>> k.normalized()([[0.0], [1.0]]).round(3)
    array([[1.   , 0.779],
           [0.779, 1.   ]])
    """
    return Exponential(k)


def geometric(k: Kernel) -> Geometric:
    """1/(1 − k(x, z)) = Σ_i k(x, z)^i, for |k| < 1.

    Parameters
    ----------
    k : Kernel
        The kernel inside. A pair with |k| ≥ 1 is reported, as infinite, with its numbers: scale k down.

    Returns
    -------
    Kernel
        The kernel 1/(1 − k).

    See Also
    --------
    exp : Σ_i k^i/i!.
    polynomial : Finitely many powers.

    Examples
    --------
    >>> import mercer as mc
    >>> mc.geometric(0.5 * mc.Gaussian(1.0))([[0.0], [1.0]]).round(3)
    array([[2.   , 1.225],
           [1.225, 2.   ]])
    """
    return Geometric(k)


def polynomial(k: Kernel, coefficients: Sequence[float] | Array) -> PolynomialOf:
    """Σ_i coefficients[i]·k(x, z)^i, coefficients ≥ 0: a polynomial in a kernel.

    Parameters
    ----------
    k : Kernel
        The kernel inside; where it has a finite feature map, so has the polynomial.
    coefficients : sequence of float
        From the constant term upwards, each at least 0: with a negative one the result need not be a kernel.

    Returns
    -------
    Kernel
        The polynomial of k.

    See Also
    --------
    Polynomial : (scale·⟨x, z⟩ + offset)^degree.

    Examples
    --------
    >>> import mercer as mc
    >>> k = mc.polynomial(mc.Linear(), [1.0, 0.0, 2.0])  # 1 + 2⟨x, z⟩²
    >>> k([[1.0], [3.0]])
    array([[  3.,  19.],
           [ 19., 163.]])
    """
    return PolynomialOf(k, tuple(coefficients))


FUNCTIONS: dict[str, Callable[..., Kernel]] = {"exp": exp, "geometric": geometric, "polynomial": polynomial}
