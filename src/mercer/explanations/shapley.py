"""Shapley values of columns, exactly, where the kernel is a sum of products over columns.

Of the game v(S) = mean over background rows z of f(x_S, z_{S^c}), the Shapley value of column j is what x_j adds to v,
averaged over all orders in which the columns can come. One product Π_j κ_j has, with a_j = κ_j(x_j, y) and
b_j = κ_j(z_j, y),

    φ_j = (a_j − b_j) ∫₀¹ Π_{l≠j} (t a_l + (1 − t) b_l) dt,

since a column is there before j with probability t if each comes at a time of its own, uniform in [0, 1], and j at t.
The integrand is a polynomial of degree d − 1: Gauss and Legendre's rule with ⌈d/2⌉ nodes integrates it exactly, and
products without j come from products of the columns before and after it.
"""

from __future__ import annotations

import numpy as np

from mercer.annotations import Samples
from mercer.arrays import Array
from mercer.compute import Compute
from mercer.data import chunks, size, stack, take
from mercer.functions import RKHSFunction
from mercer.kernels.columns import column_terms, width
from mercer.runtime import compiling, watch

_ROWS = 256  # samples at once
_MEMORY = 2**28  # bytes of factors at once


def exact_values(f: RKHSFunction, X: Samples, Z: Samples) -> Array | None:
    """Shapley values of all columns of the checked table X against the rows Z, (n, columns, outputs); None where the
    kernel is not known to be a sum of products over columns.
    """
    n, d, coef = size(X), width(X), np.asarray(f.coef, np.float64).reshape(len(f.coef), -1)
    out = np.zeros((n, d, coef.shape[1]))
    centers = f.kernel.domain.check(f.centers)
    known = column_terms(f.kernel, take(Z, slice(0, 1)), take(centers, slice(0, 1)))
    if known is None:
        return None
    matrices = d + len({id(factor) for term in known for factor in term.factors.values()})  # that are held together
    room = min(_MEMORY, Compute().budget // 4)
    for some in chunks(n, _ROWS):
        both = stack(take(X, some), Z)
        for block in chunks(len(coef), max(1, room // (8 * matrices * size(both)))):
            watch.look()
            for term in column_terms(f.kernel, both, take(centers, block)) or []:
                _add(out[some], term.factors, term.scale * coef[block])
    return out


def _add(out: Array, factors: dict[int, Array], coef: Array) -> None:
    """The Shapley values of one product, onto ``out``; the first rows of each factor are those of the samples."""
    n, columns = len(out), list(factors)
    if len(columns) == 1:
        [factor] = factors.values()
        answers = factor @ coef
        out[:, columns[0]] += answers[:n] - answers[n:].mean(axis=0)
    elif columns:
        nodes, weights = np.polynomial.legendre.leggauss((len(columns) + 1) // 2)
        stacked = np.ascontiguousarray(np.stack([factors[j] for j in columns], axis=-1))
        found = np.zeros((n, len(columns), coef.shape[1]))
        loop = compiling.compiled(_product_games)
        for i in range(n):
            watch.look()
            loop(stacked[i], stacked[n:], coef, (nodes + 1) / 2, weights / 2, found[i])
        out[:, columns] += found / (len(stacked) - n)


def _product_games(a: Array, b: Array, coef: Array, nodes: Array, weights: Array, out: Array) -> None:
    """Σ over rows z and centres of coef · φ: a (centres, columns), b (rows, centres, columns), out (columns,
    outputs).
    """
    d = a.shape[1]
    mixed, before, share = np.empty(d), np.empty(d), np.empty(d)
    for i in range(a.shape[0]):
        share[:] = 0.0
        for z in range(b.shape[0]):
            for q in range(nodes.shape[0]):
                product = 1.0
                for j in range(d):
                    mixed[j] = nodes[q] * a[i, j] + (1.0 - nodes[q]) * b[z, i, j]
                    before[j] = product
                    product *= mixed[j]
                after = weights[q]
                for j in range(d - 1, -1, -1):
                    share[j] += (a[i, j] - b[z, i, j]) * before[j] * after
                    after *= mixed[j]
        for j in range(d):
            for o in range(out.shape[1]):
                out[j, o] += coef[i, o] * share[j]
