"""Values that no float holds, one family after the other: the right normalised value, or an error that says which pair.
Never a silent 0.

The truth is computed in whole numbers, fractions, or 60 digits.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from itertools import combinations
from typing import Any

import mpmath
import numpy as np
import pytest

import mercer as mc
from mercer.data import DataError

Exact = Callable[[Any, Any], Any]


def letters(n: int, seed: int, alphabet: str = "ACGT") -> str:
    return "".join(np.random.default_rng(seed).choice(list(alphabet), n))


# ---------------------------------------------------------------------------------------------------------------------
# Exact definitions
# ---------------------------------------------------------------------------------------------------------------------


def substring(decay: Any) -> Exact:
    """Σ over pairs of places of Σ_{l ≤ L} decay^l, L the length of what ends the same there."""

    def value(x: str, z: str) -> Any:
        codes, row, ends = np.array(list(z)), np.zeros(len(z) + 1, int), np.zeros(len(x) + 2, int)
        for letter in x:
            row[1:] = np.where(codes == letter, row[:-1] + 1, 0)
            ends += np.bincount(row[1:], minlength=len(ends))
        sums, total = mpmath.mpf(0), mpmath.mpf(0)
        for length, count in enumerate(ends.tolist()):
            sums += mpmath.mpf(decay) ** length if length else 0
            total += count * sums
        return total

    return value


def subsequence(length: int, decay: Any) -> Exact:
    """Over all choices of places in both strings."""

    def features(x: str) -> dict[str, Fraction]:
        found: dict[str, Fraction] = {}
        for places in combinations(range(len(x)), length):
            word = "".join(x[p] for p in places)
            found[word] = found.get(word, Fraction(0)) + Fraction(decay) ** (places[-1] - places[0] + 1)
        return found

    kept = cache(features)
    return lambda x, z: sum((v * kept(z).get(u, 0) for u, v in kept(x).items()), Fraction(0))


def blocks_of_letters(length: int) -> Exact:
    """Subsequences, decay 1, of strings A…AC…C: the words are A^i C^(length − i)."""

    def features(x: str) -> list[int]:
        a, c = x.count("A"), x.count("C")
        return [math.comb(a, i) * math.comb(c, length - i) for i in range(length + 1)]

    return lambda x, z: sum(u * v for u, v in zip(features(x), features(z), strict=True))


def walk(length: int) -> Exact:
    """1ᵀ A_×^length 1 in whole numbers."""

    def value(x: mc.Graph, z: mc.Graph) -> int:
        pairs = [
            (u, v)
            for u in range(int(x.n_vertices or 0))
            for v in range(int(z.n_vertices or 0))
            if x.labels[u] == z.labels[v]
        ]
        arcs = [
            {(int(u), int(v)) for u, v in g.edges}
            | ({(int(v), int(u)) for u, v in g.edges} if not g.directed else set())
            for g in (x, z)
        ]
        A = np.array([[int((u, s) in arcs[0] and (v, t) in arcs[1]) for s, t in pairs] for u, v in pairs], object)
        ones = np.array([1] * len(pairs), object)
        for _ in range(length):
            ones = A @ ones
        return int(ones.sum())

    return value


def fragments(decay: Any, complete: bool) -> Exact:
    """Over pairs of nodes; equal subtrees, of which there are few, are looked at once."""

    def nodes(t: Any, count: dict[int, Any]) -> dict[int, Any]:
        if isinstance(t, tuple):
            count[id(t)] = (t, count[id(t)][1] + 1) if id(t) in count else (t, 1)
            for child in t[1:]:
                nodes(child, count)
        return count

    def value(x: Any, z: Any) -> Any:
        known: dict[tuple[int, int], Fraction] = {}

        def common(u: Any, v: Any) -> Fraction:
            if (id(u), id(v)) not in known:
                known[id(u), id(v)] = compared(u, v)
            return known[id(u), id(v)]

        def compared(u: Any, v: Any) -> Fraction:
            first, second = ((t[0], *(c[0] if isinstance(c, tuple) else (c,) for c in t[1:])) for t in (u, v))
            if first != second:
                return Fraction(0)
            inner = [common(a, b) for a, b in zip(u[1:], v[1:], strict=True) if isinstance(a, tuple)]
            return Fraction(decay) * math.prod(c if complete else 1 + c for c in inner)

        left, right = nodes(x, {}).values(), nodes(z, {}).values()
        return sum(a * b * common(u, v) for u, a in left for v, b in right)

    return value


def inner(x: Any, z: Any) -> Any:
    return sum(Fraction(float(a)) * Fraction(float(b)) for a, b in zip(x, z, strict=True))


def exponential(k: Exact) -> Exact:
    return lambda x, z: mpmath.exp(_mpf(k(x, z)))


def power(k: Exact, n: int) -> Exact:
    return lambda x, z: k(x, z) ** n


def spectrum(x: str, z: str) -> int:
    return sum(x.count(a) * z.count(a) for a in set(x))


def _mpf(value: Any) -> Any:
    return mpmath.mpf(value.numerator) / value.denominator if isinstance(value, Fraction | int) else value


# ---------------------------------------------------------------------------------------------------------------------
# The table: kernel, data, exact value
# ---------------------------------------------------------------------------------------------------------------------

CORE = letters(1100, 0)
RELATED = [CORE, CORE[:700] + letters(400, 1), letters(390, 2) + CORE[390:], CORE[100:1090]]
SHORT = [letters(9, s, "AC") for s in range(4)]
BLOCKS = ["A" * 290 + "C" * 310, "A" * 300 + "C" * 290, "A" * 320 + "C" * 250]
CLIQUES = [
    mc.Graph([(i, j) for i in range(6) for j in range(i)], ["A", "A", "B", "A", "B", "B"]),
    mc.Graph([(i, j) for i in range(5) for j in range(i)], list("AABBA")),
    mc.Graph([(0, 1), (1, 2), (2, 3), (3, 4), (4, 5)], list("AABBAB")),  # slower, with a part that is alone
]
CYCLES = [
    mc.Graph([(0, 1), (1, 2), (2, 0), (0, 2), (1, 0)], ["A"] * 3, directed=True),
    mc.Graph([(0, 1), (1, 0), (1, 1)], ["A"] * 2, directed=True),
]
NUMBERS = np.array([[30.0, 1.0], [1.0, 1.0], [28.0, 4.0], [29.5, -3.0]])


def tree(depth: int, label: str = "a") -> Any:
    t: Any = (label, "x")
    for _ in range(depth):
        t = ("a", t, t)
    return t


TREES = [tree(8), tree(9), ("a", tree(7), tree(7, "b")), ("a", tree(8), tree(3))]
RIGHT = {
    "substring": (mc.Substring(2.0), RELATED, substring(2)),
    "substring, slowly": (mc.Substring(1.97), RELATED, substring(1.97)),
    "substring, steep": (mc.Substring(1e30), [CORE[:60], CORE[:60] + "A", CORE[1:60]], substring(1e30)),
    "substring, tiny": (mc.Substring(1e-200), SHORT, substring(1e-200)),
    "substring, up to 20": (mc.Substring(1e30, 20), [CORE[:60], CORE[10:70]], lambda x, z: _up_to(x, z, 20, int(1e30))),
    "substring of an alphabet": (mc.Substring(2.0).over("ACGT"), RELATED, substring(2)),
    "subsequence, many": (mc.Subsequence(290, 1.0), BLOCKS, blocks_of_letters(290)),
    "subsequence, rare": (mc.Subsequence(4, 1e-60), SHORT, subsequence(4, 1e-60)),
    "subsequence, rarer": (mc.Subsequence(3, 1e-100), [letters(12, s) for s in range(4)], subsequence(3, 1e-100)),
    "walk": (mc.Walk(300), CLIQUES, walk(300)),
    "walk of one label": (mc.Walk(500), [mc.Graph(g.edges, ["A"] * int(g.n_vertices or 0)) for g in CLIQUES], None),
    "walk along arcs": (mc.Walk(1500), CYCLES, walk(1500)),
    "subset trees": (mc.TreeKernel(4.0), TREES, fragments(4, False)),
    "subset trees, heavy": (mc.TreeKernel(1e200), [tree(3), ("c", tree(3))], fragments(1e200, False)),
    "subtrees": (mc.TreeKernel(5.0, "subtree"), TREES, fragments(5, True)),
    "exp": (mc.exp(mc.Linear()), NUMBERS, exponential(inner)),
    "exp of counts": (mc.exp(mc.Spectrum(1)), ["A" * 40 + "C" * 20, "A" * 41 + "C" * 19, "AC"], exponential(spectrum)),
    "power": (mc.Linear() ** 150, NUMBERS, power(inner, 150)),
    "power of counts": (mc.Spectrum(1) ** 200, [letters(1100, s) for s in range(3)], power(spectrum, 200)),
    "power of a power": ((mc.Substring(2.0) ** 2) ** 2, [CORE[:400], CORE[1:400], CORE[:399]], power(substring(2), 4)),
    "product": (
        mc.Substring(2.0) * mc.exp(mc.Spectrum(1)),
        [CORE[:600], CORE[1:600]],
        lambda x, z: substring(2)(x, z) * exponential(spectrum)(x, z),
    ),
    "scaled": (3e9 * mc.Substring(2.0), RELATED, substring(2)),
}


def _up_to(x: str, z: str, longest: int, decay: int) -> int:
    return sum(
        decay**n * sum(x[i : i + n] == z[j : j + n] for i in range(len(x) - n + 1) for j in range(len(z) - n + 1))
        for n in range(1, longest + 1)
    )


def _cases(*but: str) -> list[Any]:
    return [
        pytest.param(name, marks=[pytest.mark.slow] if name == "subsequence, many" else [])
        for name in RIGHT
        if name not in but
    ]


@pytest.mark.thorough
@pytest.mark.parametrize("name", _cases())
def test_normalised_values_are_right(name: str) -> None:
    k, X, exact = RIGHT[name]
    exact = exact or walk(k.length)
    with mpmath.workdps(60):
        values = [[_mpf(exact(x, z)) for z in X] for x in X]
        truth = np.array(
            [
                [float(values[i][j] / mpmath.sqrt(values[i][i] * values[j][j])) for j in range(len(X))]
                for i in range(len(X))
            ]
        )
    assert (truth[~np.eye(len(X), dtype=bool)] != 0).any(), "nothing to see"
    np.testing.assert_allclose(k.normalized()(X), truth, rtol=1e-10)
    np.testing.assert_allclose(k.normalized()(X, X[:1]), truth[:, :1], rtol=1e-10)
    np.testing.assert_allclose(k.normalized().gram(X) @ np.ones(len(X)), truth.sum(1), rtol=1e-10)


@pytest.mark.parametrize("name", _cases("substring, tiny", "scaled"))
def test_values_that_are_no_floats_are_errors(name: str) -> None:
    """All, or the diagonal, or one pair: whoever asks hears of it."""
    k, X, _ = RIGHT[name]
    for ask in (lambda: k(X), lambda: k.gram(X) @ np.ones(len(X)), lambda: k.diag(X)):
        with pytest.raises(FloatingPointError, match=r"gives (inf|nan) for the pair \(\d+, \d+\)"):
            ask()


def test_a_small_value_beside_large_ones_is_small() -> None:
    """What is shared is 10⁻⁴⁰⁰ of what there is: 0, and no error."""
    x, z = "A" + "C" * 700 + "G", "A" + "T" * 700 + "G"
    k = mc.Subsequence(2, 0.5)
    K = k([x, z])
    assert K[0, 1] == 0 < min(K[0, 0], K[1, 1])
    assert k.normalized()([x, z])[0, 1] == 0


def test_walks_that_end_beside_walks_that_do_not() -> None:
    """2^1200 walks of length 1200 end; one goes on. Beside them it would be lost: an error, as 0 is wrong."""
    stages = 1200
    many = [(2 * s + a, 2 * s + 2 + b) for s in range(stages) for a in (0, 1) for b in (0, 1)]
    cycle = 2 * stages + 2
    g = mc.Graph([*many, (cycle, cycle)], ["A"] * (cycle + 1), directed=True)
    single = mc.Graph([(0, 0)], ["A"], directed=True)
    assert mc.Walk(stages + 1)([g], [single])[0, 0] == 1.0  # counted without exponents: never beyond 2^1200·2
    with pytest.raises(FloatingPointError, match="for the pair"):
        mc.Walk(stages + 1)([g], [mc.Graph([(0, 0), (0, 1), (1, 0), (1, 1)], ["A"] * 2, directed=True)])


LARGE = {
    "words with weights": (mc.Spectrum(2, 1, [1e308, 1.0]), [CORE, RELATED[1]]),
    "linear": (mc.Linear(), np.array([[1e200, 1.0], [1.0, 1e-200]])),
    "polynomial": (mc.Polynomial(100), 1e3 * NUMBERS),
    "all subsets": (mc.AllSubsets(), np.full((2, 400), 3.0)),
    "histograms": (mc.HistogramIntersection(), np.array([[1e308, 1e308], [1.0, 0.0]])),
    "hellinger": (mc.Hellinger(), np.array([[1e308, 1e308], [1.0, 0.0]])),
    "sum": (mc.Substring(2.0) + mc.Spectrum(1), RELATED),
    "refined walks": (mc.WeisfeilerLehman(1, mc.Walk(300)), CLIQUES),
    "both strands": (mc.Substring(2.0).both_strands(), RELATED),
    "parts": (mc.Convolution(None, mc.Substring(2.0)), [[x] for x in RELATED]),
    "parts, added up": (mc.Convolution(None, mc.Polynomial(1, 0.0, 1e307)), [[1.0] * 9, [2.0] * 5]),
    "shares": (mc.Tanimoto(mc.Substring(2.0)), RELATED),
    "shares of features": (mc.MinMax(mc.Linear()), np.array([[1e308, 1e308], [1.0, 2.0]])),
    "centred": (mc.Substring(2.0).centered(), RELATED),
    "words near": (mc.Mismatch(200, 200, list(range(60))), [list(range(60)) * 5] * 2),
    "vertices, power": (mc.MatrixPower(1e60 * np.ones((3, 3)), 6), [0, 1]),
    "vertices, exp": (mc.ExponentialDiffusion(1e3 * np.ones((3, 3)), 6.0), [0, 1]),
    "vertices, steps": (mc.PStepWalk(np.ones((3, 3)), 100.0, 400), [0, 1]),
    "vertices, Laplacian": (mc.RegularizedLaplacian(np.ones((3, 3)), 1e200), [0, 1]),
    "bins": (mc.Propagation(1, 1e-300), CLIQUES),
}  # fmt: skip


@pytest.mark.parametrize("name", LARGE)
def test_what_has_no_other_arithmetic_says_so(name: str) -> None:
    k, X = LARGE[name]
    for asked in (k, k.normalized()):
        with pytest.raises(
            (FloatingPointError, DataError), match=r"for the pair|for the eigenvalue|more than a float holds|more bins"
        ):
            asked(X)


def test_a_walk_on_a_large_network_that_overflows_says_so() -> None:
    n = 3100
    ring = [(i, (i + 1) % n, 1e3) for i in range(n)]
    with pytest.raises(FloatingPointError, match="for the eigenvalue"):
        mc.ExponentialDiffusion(mc.Network(ring, signed=True), 5.0)([0, 1])
