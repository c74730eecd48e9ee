"""Kernels as sums of products over columns: k(x, y) = Σ_t c_t Π_j κ_tj(x_j, y_j).

What a column does to a value can then be told apart exactly (``mercer.explanations.shapley``). A kernel says what it
is over columns by ``_over_columns``, and its values on one column are κ: the formula stands once. Kernels made of
others put terms together.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import reduce
from itertools import combinations_with_replacement, groupby
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mercer import arrays
from mercer.annotations import Samples
from mercer.arrays import Array
from mercer.data import as_frame, select

if TYPE_CHECKING:
    from mercer.kernels.base import Kernel

MOST = 2000  # terms; with more, the form is given up


class ColumnTerm(NamedTuple):
    """scale · Π_j factors[j], each factor the matrix of a kernel on column j of two tables."""

    scale: float
    factors: dict[int, Array]

    def times(self, other: ColumnTerm) -> ColumnTerm:
        """The product, factors of one column together."""
        factors = dict(self.factors)
        for j, factor in other.factors.items():
            factors[j] = factors[j] * factor if j in factors else factor
        return ColumnTerm(self.scale * other.scale, factors)


def width(X: Samples) -> int:
    """The number of columns of a table; a column alone is one."""
    frame = as_frame(X)
    if frame is not None:
        return len(frame.columns)
    return int(X.shape[1]) if len(getattr(X, "shape", ())) == 2 else 1


def column_terms(k: Kernel, X: Samples, Y: Samples) -> list[ColumnTerm] | None:
    """The terms of k, bound, between two tables that its domain has checked; None where they are not known. Any kernel
    on one column is a term.
    """
    found = k._column_terms(X, Y)
    if found is None and width(X) == 1:
        return [ColumnTerm(1.0, {0: values(k, X, Y)})]
    return found if found is None or len(found) <= MOST else None


def alike(k: Kernel, X: Samples, Y: Samples) -> list[ColumnTerm] | None:
    """The terms of a kernel that is a sum or a product of its own values on each column."""
    if k._over_columns is None:
        return None
    if width(X) == 1 and len(getattr(X, "shape", ())) != 2:
        return [ColumnTerm(1.0, {0: values(k, X, Y)})]
    factors = {j: values(k._on_column(j), select(X, [j]), select(Y, [j])) for j in range(width(X))}
    if k._over_columns == "product":
        return [ColumnTerm(1.0, factors)]
    return [ColumnTerm(1.0, {j: factor}) for j, factor in factors.items()]


def values(k: Kernel, X: Samples, Y: Samples) -> Array:
    return np.asarray(arrays.to_numpy(k.gram(X, Y).dense()), np.float64)


def product(parts: Iterable[list[ColumnTerm] | None]) -> list[ColumnTerm] | None:
    """(Σ_s a_s)(Σ_t b_t)…, multiplied out; None where a part is, or beyond ``MOST`` terms."""
    out = [ColumnTerm(1.0, {})]
    for part in parts:
        if part is None or len(out) * len(part) > MOST:
            return None
        out = gathered([a.times(b) for a in out for b in part])
    return out


def power(terms: list[ColumnTerm] | None, exponent: int) -> list[ColumnTerm] | None:
    """(Σ_t a_t)^exponent, multiplied out, each product of terms once; None where the sum is, or beyond ``MOST``."""
    if terms is None or math.comb(max(0, len(terms) + exponent - 1), exponent) > MOST:
        return None
    out = []
    for chosen in combinations_with_replacement(terms, exponent):
        repeats = (len(list(same)) for _, same in groupby(chosen, key=id))
        often = math.factorial(exponent) / math.prod(math.factorial(r) for r in repeats)
        out.append(reduce(ColumnTerm.times, chosen, ColumnTerm(often, {})))
    return gathered(out)


def gathered(terms: list[ColumnTerm]) -> list[ColumnTerm]:
    """The same sum with constants, and terms of one column, each gathered into one."""
    constant, single, others = 0.0, dict[int, Array](), []
    for term in terms:
        if len(term.factors) > 1:
            others.append(term)
        elif term.factors:
            [(j, factor)] = term.factors.items()
            single[j] = single.get(j, 0.0) + term.scale * factor
        else:
            constant += term.scale
    kept = [ColumnTerm(constant, {})] if constant else []
    return kept + [ColumnTerm(1.0, {j: factor}) for j, factor in single.items()] + others


def exponential(terms: list[ColumnTerm] | None) -> list[ColumnTerm] | None:
    """exp of a sum over columns, a product over them; None of any other."""
    if terms is None or any(len(term.factors) > 1 for term in terms):
        return None
    summed = gathered(terms)
    scale = math.exp(sum(term.scale for term in summed if not term.factors))
    return [ColumnTerm(scale, {j: np.exp(term.scale * f) for term in summed for j, f in term.factors.items()})]


def moved(terms: list[ColumnTerm], sources: list[int]) -> list[ColumnTerm]:
    """Terms over columns that each come from the column ``sources[j]`` of another table, as terms over those."""
    out = []
    for term in terms:
        parts = (ColumnTerm(1.0, {sources[j]: factor}) for j, factor in term.factors.items())
        moved = ColumnTerm(term.scale, {})
        for part in parts:
            moved = moved.times(part)
        out.append(moved)
    return out


def redirected(k: Kernel, sources: list[int], X: Samples, Y: Samples) -> list[ColumnTerm] | None:
    """The terms of k of tables X and Y whose columns come each from one column of others."""
    found = column_terms(k, X, Y)
    if found is None and len(set(sources)) == 1:
        found = [ColumnTerm(1.0, {0: values(k, X, Y)})]
    return None if found is None else moved(found, sources)
