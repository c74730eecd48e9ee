"""The steps of stochastic gradients, compiled: a sample of a block, the slope of its loss, and what is then kept."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mercer.arrays import Array
from mercer.losses import (
    EpsilonInsensitive,
    Expectile,
    Hinge,
    Huber,
    Logistic,
    Loss,
    Multinomial,
    Perceptron,
    Pinball,
    Poisson,
    Squared,
    SquaredHinge,
)
from mercer.runtime import compiling

STEPS = {"sqrt": 0, "inverse": 1, "constant": 2}
REMOVALS = {"project": 0, "oldest": 1, "smallest": 2}
_SPANNED = 1e-7  # of k(x, x): what is less is taken for rounding, so that entries of K⁻¹ stay below its inverse
_NEAR = 1e-2  # of k(x, x): where less than this is left, rounding of K⁻¹ tells, and its product is refined
OWN = -1  # a loss of the user's, whose slope Python computes
KINDS: list[tuple[type[Loss], str]] = [
    (Squared, ""), (Huber, "delta"), (Expectile, "tau"), (Pinball, "tau"), (EpsilonInsensitive, "epsilon"),
    (Poisson, ""), (Logistic, ""), (Hinge, ""), (SquaredHinge, ""), (Perceptron, ""), (Multinomial, ""),
]  # fmt: skip


class Rule(NamedTuple):
    """What does not change in a stream, in numbers that compiled code reads."""

    loss: int
    shape: float  # the parameter of the loss
    ridge: float
    step: int
    first: float  # η0; 0: what curvature and k(x, x) allow
    budget: int
    removal: int
    average: bool
    bias: bool
    classes: int  # 0: targets are numbers; 2: they are ±1; more: numbers of classes, one function for each


class Kept(NamedTuple):
    """What is kept of a stream: arrays with room for the budget and one more, changed in place."""

    counts: Array  # how many are kept; steps so far; mistakes; changes since the inverse was computed
    sums: Array  # the largest k(x, x) so far; the norm of what removals took
    coef: Array  # (room, m)
    mean: Array  # (room, m), of the average of all functions so far; empty without
    bias: Array  # (2, m): that of f, and of the average
    row: Array  # of the Gram
    place: Array  # the column of its values in a block
    age: Array  # the step at which it was last given weight
    own: Array  # k(x, x)
    K: Array  # (room, room), and its inverse: of removal by projection alone
    inverse: Array


def _slope(kind, shape, y, f):  # type: ignore[no-untyped-def]
    """(∂ℓ/∂f, a bound of the curvature on the way of a step, at least 1) of the losses of ``KINDS``.

    Numbers one by one, where ``Loss.gradient`` is of arrays: tests compare the two.
    """
    if kind == 0:
        return 2 * (f - y), 2.0
    if kind == 1:
        return min(max(f - y, -shape), shape), 1.0
    if kind == 2:
        return 2 * (1 - shape if y < f else shape) * (f - y), 2.0
    if kind == 3:
        return (-shape if y > f else (1 - shape if y < f else 0.0)), 1.0
    if kind == 4:
        return (0.0 if abs(y - f) <= shape else (1.0 if f > y else -1.0)), 1.0
    if kind == 5:
        rate = np.exp(min(f, 700.0))
        return rate - y, max(1.0, y, rate)
    if kind == 6:
        return -y / (1 + np.exp(min(y * f, 700.0))), 1.0
    if kind == 7:
        return (-y if y * f < 1 else 0.0), 1.0
    if kind == 8:
        return -2 * y * max(0.0, 1 - y * f), 2.0
    return (-y if y * f <= 0 else 0.0), 1.0


slope = compiling.jit(_slope)


def _slopes(rule, y, f, out):  # type: ignore[no-untyped-def]
    """The slope of each function; returns the bound of the curvature."""
    m = len(f)
    if rule.loss == 10:
        top, total = f[0], 0.0
        for c in range(m):
            top = max(top, f[c])
        for c in range(m):
            out[c] = np.exp(f[c] - top)
            total += out[c]
        for c in range(m):
            out[c] = out[c] / total - (1.0 if c == y else 0.0)
        return 1.0
    bend = 1.0
    for c in range(m):
        target = y if rule.classes <= 2 else (1.0 if c == y else -1.0)
        out[c], bent = slope(rule.loss, rule.shape, target, f[c])
        bend = max(bend, bent)
    return bend


_sloping = compiling.jit(_slopes, inner=True)


def _evaluate(row, kept, k, f):  # type: ignore[no-untyped-def]
    """The values k(x, kept) and f(x)."""
    n = kept.counts[0]
    for s in range(n):
        k[s] = row[kept.place[s]]
    for c in range(len(f)):
        value = kept.bias[0, c]
        for s in range(n):
            value += kept.coef[s, c] * k[s]
        f[c] = value


evaluating = compiling.jit(_evaluate)


def _length(rule, t, largest, bend):  # type: ignore[no-untyped-def]
    """η: η0/√t, min(η0, 1/(2λt)) or η0; η0 = 1/(L R²) where it is not given."""
    first = rule.first
    if first == 0:
        first = 1 / (bend * largest) if largest > 0 else 1.0
    if rule.step == 0:
        return first / np.sqrt(t)
    return min(first, 1 / (2 * rule.ridge * t)) if rule.step == 1 else first


_stepping = compiling.jit(_length, inner=True)


def _replace(r, k, own, row, place, coef, kept, average):  # type: ignore[no-untyped-def]
    """A new sample in slot r."""
    m = len(coef)
    for c in range(m):
        kept.coef[r, c] = coef[c]
        if average:
            kept.mean[r, c] = 0.0
    kept.row[r], kept.place[r], kept.age[r], kept.own[r] = row, place, kept.counts[1], own


_replacing = compiling.jit(_replace, inner=True)


def _multiply(A, v, n, factor, out, before):  # type: ignore[no-untyped-def]
    """out = before·out + factor·A v of a symmetric A: row after row, which vector instructions take side by side."""
    for s in range(n):
        out[s] = before * out[s] if before != 0 else 0.0
    for q in range(n):
        line, value = A[q], factor * v[q]
        for s in range(n):
            out[s] += value * line[s]


_multiplied = compiling.jit(_multiply, inner=True)


def _dot(v, w, n):  # type: ignore[no-untyped-def]
    total = 0.0
    for s in range(n):
        total += v[s] * w[s]
    return total


_dotted = compiling.jit(_dot, inner=True)


def _project(k, own, row, place, coef, kept, rule, d, u):  # type: ignore[no-untyped-def]
    """A new sample with its coefficients: kept, or its projection; then another may go. Returns the norm of what f
    loses.
    """
    n, m, inverse = kept.counts[0], len(coef), kept.inverse
    square = 0.0
    _multiplied(inverse, k, n, 1.0, d, 0.0)
    rest = own - _dotted(k, d, n)
    if rest <= _NEAR * abs(own):
        for s in range(n):
            u[s] = k[s]
        _multiplied(kept.K, d, n, -1.0, u, 1.0)
        _multiplied(inverse, u, n, 1.0, d, 1.0)
        rest = own - _dotted(k, d, n)
    for c in range(m):
        square += coef[c] ** 2
    spanned = rest <= _SPANNED * abs(own)
    r, least = -1, square * max(rest, 0.0)  # −1: the new one itself
    if not spanned and n < rule.budget:
        for s in range(n):
            scaled, line = d[s] / rest, inverse[s]
            for q in range(n):
                line[q] += scaled * d[q]
            line[n] = inverse[n, s] = -scaled
            kept.K[s, n] = kept.K[n, s] = k[s]
        inverse[n, n], kept.K[n, n] = 1 / rest, own
        _replacing(n, k, own, row, place, coef, kept, rule.average)
        kept.counts[0] += 1
        kept.counts[3] += 1
        return 0.0
    if not spanned:
        for s in range(n):
            square = 0.0
            for c in range(m):
                square += kept.coef[s, c] ** 2
                if rule.average:
                    square += kept.mean[s, c] ** 2
            cost = square / (inverse[s, s] + d[s] ** 2 / rest)
            if cost < least:
                r, least = s, cost
    if r < 0:
        for s in range(n):
            for c in range(m):
                kept.coef[s, c] += d[s] * coef[c]
        return np.sqrt(least)
    # column r of the inverse with the new sample, which then takes the place of r in that without r
    for s in range(n):
        u[s] = inverse[r, s] + d[s] * d[r] / rest
    own_r, new = u[r], -d[r] / rest
    lost = 0.0
    for c in range(m):
        a = kept.coef[r, c]
        lost += a * a
        for s in range(n):
            kept.coef[s, c] -= u[s] / own_r * a
        kept.coef[r, c] = coef[c] - new / own_r * a
        if rule.average:
            a = kept.mean[r, c]
            for s in range(n):
                kept.mean[s, c] -= u[s] / own_r * a
            kept.mean[r, c] = -new / own_r * a
    for s in range(n):
        left, right, line = d[s] / rest, u[s] / own_r, inverse[s]
        for q in range(n):
            line[q] += left * d[q] - right * u[q]
    for s in range(n):
        inverse[s, r] = inverse[r, s] = -d[s] / rest - new * u[s] / own_r
        kept.K[s, r] = kept.K[r, s] = k[s]
    inverse[r, r], kept.K[r, r] = 1 / rest - new * new / own_r, own
    kept.row[r], kept.place[r], kept.age[r], kept.own[r] = row, place, kept.counts[1], own
    kept.counts[3] += 1
    return np.sqrt(lost / own_r)


_projecting = compiling.jit(_project, inner=True)


def _drop(k, own, row, place, coef, kept, rule):  # type: ignore[no-untyped-def]
    """A new sample with its coefficients; where there is no room, in the place of the oldest or smallest. Returns the
    norm of what f loses.
    """
    n, m = kept.counts[0], len(coef)
    if n < rule.budget:
        _replacing(n, k, own, row, place, coef, kept, rule.average)
        kept.counts[0] += 1
        return 0.0
    r, least = 0, np.inf
    for s in range(n):
        size = float(kept.age[s])
        if rule.removal == 2:
            size = 0.0
            for c in range(m):
                size += kept.coef[s, c] ** 2
            size *= abs(kept.own[s])
        if size < least:
            r, least = s, size
    lost = 0.0
    for c in range(m):
        lost += kept.coef[r, c] ** 2
    lost = np.sqrt(lost * abs(kept.own[r]))
    _replacing(r, k, own, row, place, coef, kept, rule.average)
    return lost


_dropping = compiling.jit(_drop, inner=True)


def _update(at, values, start, rows, y, weights, kept, rule, k, f, slope, bend):  # type: ignore[no-untyped-def]
    """One step down the ``slope``, which is overwritten, and what it changes in what is kept."""
    n, m, counts, sums = kept.counts[0], len(f), kept.counts, kept.sums
    own = values[at, start + at]
    counts[1] += 1
    t = counts[1]
    sums[0] = max(sums[0], own + (1.0 if rule.bias else 0.0))
    if rule.classes == 2:
        counts[2] += y[at] * f[0] <= 0
    elif rule.classes > 2:
        label = int(y[at])
        for c in range(m):
            if c != label and f[c] >= f[label]:
                counts[2] += 1
                break
    length = _stepping(rule, t, sums[0], bend)
    shrunk = max(0.0, 1 - 2 * length * rule.ridge)
    factor, moved = length * weights[at], False
    if rule.first == 0 and bend > 1 and sums[0] > 0:  # a weight, too, must not carry a step past
        factor = min(factor, 1 / (bend * sums[0]))
    for c in range(m):
        slope[c] *= -factor
        moved = moved or slope[c] != 0
        kept.bias[0, c] *= shrunk
        if rule.bias:
            kept.bias[0, c] += slope[c]
        if shrunk != 1:
            for s in range(n):
                kept.coef[s, c] *= shrunk
    sums[1] *= shrunk
    if moved:
        again = -1
        for s in range(n):
            if kept.row[s] == rows[at]:
                again = s
        if again >= 0:
            for c in range(m):
                kept.coef[again, c] += slope[c]
            kept.age[again] = t
        elif rule.removal == 0:
            room = len(kept.row)
            sums[1] += _projecting(k, own, rows[at], start + at, slope, kept, rule, np.empty(room), np.empty(room))
        else:
            sums[1] += _dropping(k, own, rows[at], start + at, slope, kept, rule)
    if rule.average:
        for c in range(m):
            kept.bias[1, c] += (kept.bias[0, c] - kept.bias[1, c]) / t
            for s in range(counts[0]):
                kept.mean[s, c] += (kept.coef[s, c] - kept.mean[s, c]) / t


updating = compiling.jit(_update)


def _run(at, values, start, rows, y, weights, kept, rule):  # type: ignore[no-untyped-def]
    """The samples of a block from ``at`` on; returns the first that is left, where the inverse is to be computed
    anew.
    """
    m, most = kept.coef.shape[1], max(rule.budget, 64)
    k, f, slope = np.empty(len(kept.row)), np.empty(m), np.empty(m)
    while at < len(values):
        evaluating(values[at], kept, k, f)
        bend = _sloping(rule, y[at], f, slope)
        updating(at, values, start, rows, y, weights, kept, rule, k, f, slope, bend)
        at += 1
        if kept.counts[3] >= most:
            break
    return at


running = compiling.jit(_run)
