"""Brute-force kernels between graphs whose vertices have numbers, and transport as a linear programme: the literal
definitions, enumerated, slow on purpose. Nothing here comes from the library but the number it gives to a label.
"""

import math
from collections import Counter
from statistics import NormalDist
from typing import Any

import numpy as np
from scipy.optimize import linprog

import mercer as mc
from mercer.data import Graphs
from tests.graph_oracles import Matrix, Plain, distances, dot, refined, sequence, steps, walks
from tests.oracles import Oracle


def shortest_paths(g: Plain) -> list[tuple[int, ...]]:
    """All shortest paths, as their vertices: from each end to each other, and each vertex alone."""
    apart = distances(g)
    most = max(apart.values(), default=-1)
    return [w for length in range(most + 1) for w in walks(g, length) if apart[w[0], w[-1]] == length]


def graph_hopper(x: Plain, z: Plain, vertices: Oracle | None = None) -> float:
    """Σ over shortest paths p of x and q of z with as many vertices, and over i, of 1[p_i and q_i have one label] ·
    vertices(p_i, q_i).
    """
    return math.fsum(
        1.0 if vertices is None else vertices(_numbers(x, u), _numbers(z, v))
        for p in shortest_paths(x)
        for q in shortest_paths(z)
        if len(p) == len(q)
        for u, v in zip(p, q, strict=True)
        if x.labels[u] == z.labels[v]
    )


def kernel_walk(x: Plain, z: Plain, length: int, vertices: Oracle) -> float:
    """Σ over walks w of x and w' of z with `length` edges that read the same of Π_i vertices(w_i, w'_i)."""
    return math.fsum(
        math.prod(vertices(_numbers(x, u), _numbers(z, v)) for u, v in zip(w, other, strict=True))
        for w in walks(x, length)
        for other in walks(z, length)
        if sequence(x, w) == sequence(z, other)
    )


def hashed_attributes(x: Plain, z: Plain, base: Oracle, draws: int, width: float, seed: int = 0) -> float:
    """The mean over the draws of base on graphs with (label, floor(Σ_j ω_j a_j/width + b)) for labels."""

    def labelled(g: Plain, t: int) -> Plain:
        rng = np.random.default_rng([seed, t])
        b = rng.random()
        omega = rng.standard_normal(2)
        bins = [
            math.floor(sum(o * a / width for o, a in zip(omega, _numbers(g, v), strict=True)) + b)
            for v in range(len(g.labels))
        ]
        return Plain(tuple(zip(g.labels, bins, strict=True)), g.edges, g.directed)

    return sum(base(labelled(x, t), labelled(z, t)) for t in range(draws)) / draws


def propagation(x: Plain, z: Plain, spreads: int, width: float, seed: int = 0) -> float:
    """Σ_t #{(u, v): one bin after t steps}, the bins ⌊Σ_l P_t[u, l] ω_l / width + b⌋ of the distribution P_t of labels
    and ⌊⟨ω, a_t(u)⟩/width + b⌋ of the attributes; a step is the mean of the neighbours, if there are any.
    """

    def uniform(label: Any, salt: int) -> float:
        """Of a label: the top 53 bits of splitmix64 of its code, the middle of their interval."""
        code = (int(Graphs().check([mc.Graph([], [label])]).labels[0]) + salt) % 2**64
        code = (code ^ (code >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
        code = (code ^ (code >> 27)) * 0x94D049BB133111EB % 2**64
        return ((code ^ (code >> 31)) >> 11) * 2.0**-53 + 2.0**-54

    def bins(g: Plain, t: int) -> list[tuple[int, int]]:
        rng = np.random.default_rng([seed, t])
        salt, shift = int(rng.integers(2**63)), rng.random(2)
        omega = rng.standard_normal(2)
        n, letters = len(g.labels), sorted(set(g.labels), key=str)
        step = np.eye(n)
        for v in range(n):
            around = [w for u, w, _ in steps(g) if u == v]
            if around:
                step[v] = np.bincount(around, minlength=n) / len(around)
        spread = np.linalg.matrix_power(step, t)
        P = spread @ np.array([[label == letter for letter in letters] for label in g.labels], float).reshape(
            n, len(letters)
        )
        drawn = np.array([NormalDist().inv_cdf(uniform(letter, salt)) for letter in letters])
        A = spread @ np.array([_numbers(g, v) for v in range(n)]).reshape(n, 2)
        return list(
            zip(
                np.floor(P @ drawn / width + shift[0]).astype(int).tolist(),
                np.floor(A @ omega / width + shift[1]).astype(int).tolist(),
                strict=True,
            )
        )

    return float(sum(a == b for t in range(spreads + 1) for a in bins(x, t) for b in bins(z, t)))


def transport(C: Matrix) -> float:
    """The least Σ T C over T ≥ 0 with row sums 1/n and column sums 1/m: a linear programme."""
    n, m = C.shape
    rows, columns = np.kron(np.eye(n), np.ones(m)), np.kron(np.ones(n), np.eye(m))
    sums = np.concatenate([np.full(n, 1 / n), np.full(m, 1 / m)])
    return float(linprog(C.ravel(), A_eq=np.vstack([rows, columns]), b_eq=sums, method="highs").fun)


def wasserstein_wl(x: Plain, z: Plain, depth: int, gamma: float) -> float:
    """exp(−γ W₁), the distance of two vertices the share of refinements after which their labels differ; 0 for a graph
    without vertices.
    """
    if not x.labels or not z.labels:
        return 0.0
    C = np.zeros((len(x.labels), len(z.labels)))
    for d in range(depth + 1):
        C += [[a != b for b in z.labels] for a in x.labels]
        x, z = (refined(g) for g in (x, z)) if d < depth else (x, z)
    return math.exp(-gamma * transport(C / (depth + 1)))


def wasserstein_attributes(x: Plain, z: Plain, depth: int, gamma: float, width: float) -> float:
    """exp(−γ W₁), vertices as their numbers after 0, …, depth steps of ½(own + mean of the neighbours')."""
    if not x.labels or not z.labels:
        return 0.0

    def points(g: Plain) -> Matrix:
        found = [np.array([_numbers(g, v) for v in range(len(g.labels))]) / width]
        for _ in range(depth):
            now = found[-1]
            near = [[now[b] for a, b, _ in steps(g) if a == v] or [now[v]] for v in range(len(now))]
            found.append(np.array([(now[v] + np.mean(near[v], axis=0)) / 2 for v in range(len(now))]))
        return np.hstack(found)

    a, b = points(x), points(z)
    return math.exp(-gamma * transport(np.array([[math.dist(p, q) for q in b] for p in a])))


def pyramid_match(x: Plain, z: Plain, dimension: int, levels: int) -> float:
    """I_levels + Σ_{l < levels} 2^(l − levels) (I_l − I_{l+1}), I_l the common vertices by label, axis and cell."""

    def cells(g: Plain, level: int) -> Counter[Any]:
        n = len(g.labels)
        if n == 0:
            return Counter()
        A = np.zeros((n, n))
        for u, v, _ in steps(g):
            A[u, v] = A[v, u] = 1.0
        values, U = np.linalg.eigh(A)
        alike = np.abs(np.abs(values)[:, None] - np.abs(values)) < 1e-6
        entries = np.sqrt(U**2 @ alike / alike.sum(axis=0))[:, np.argsort(-np.abs(values))]
        return Counter(
            (g.labels[v], axis, min(math.floor(entries[v, axis] * 2**level + 1e-7), 2**level - 1))
            for v in range(n)
            for axis in range(min(n, dimension))
        )

    common = [sum((cells(x, level) & cells(z, level)).values()) for level in range(levels + 1)]
    new = [2.0 ** (level - levels) * (common[level] - common[level + 1]) for level in range(levels)]
    return float(common[-1] + sum(new))


def _numbers(g: Plain, v: int) -> list[float]:
    assert g.attributes is not None
    return list(g.attributes[v])


def path_length(x: Plain, z: Plain, width: float) -> float:
    """Σ n(x) n(z), n the number of pairs u ≠ v that are joined, by ({label u, label v}, floor(length/width)); an edge
    is as long as the numbers of its ends are apart, a path as its edges together, and the shortest counts.
    """

    def counts(g: Plain) -> Counter[Any]:
        n = len(g.labels)
        far = np.full((n, n), math.inf)
        np.fill_diagonal(far, 0.0)
        for u, v, _ in steps(g):
            far[u, v] = min(far[u, v], math.dist(_numbers(g, u), _numbers(g, v)))
        for w in range(n):
            far = np.minimum(far, far[:, w, None] + far[w])
        pairs = [
            (u, v) for u in range(n) for v in range(n) if far[u, v] < math.inf and (u < v or (g.directed and u != v))
        ]
        ends = {(u, v): (g.labels[u], g.labels[v]) for u, v in pairs}
        return Counter((e if g.directed else tuple(sorted(e)), math.floor(far[p] / width)) for p, e in ends.items())

    return dot(counts(x), counts(z))
