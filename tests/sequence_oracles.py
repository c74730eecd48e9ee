"""Brute-force kernels on strings and sequences for the tests: the literal definitions, enumerated, slow on purpose.

Nothing here comes from the library. Each oracle is called `name(x, z, **parameters)` with one sequence each side: a
string, bytes, a list of tokens, or (global alignment) a sequence of numbers or vectors. Two symbols are the same when
they are `==`.
"""

import functools
import itertools
import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from numbers import Real
from typing import Any

from tests.oracles import Oracle, normalized

Symbols = Sequence[Any]
COMPLEMENT = {"A": "T", "C": "G", "G": "C", "T": "A"}


def words(x: Symbols, length: int) -> list[tuple[Any, ...]]:
    """[(x_i, …, x_{i+length−1}) for i = 0, …, |x| − length]: all words of that length, in order, with repetitions."""
    letters = list(x)
    return [tuple(letters[i : i + length]) for i in range(len(letters) - length + 1)]


def differences(u: Symbols, v: Symbols) -> int:
    """Σ_i 1[u_i ≠ v_i], the Hamming distance of two words of one length."""
    return sum(1 for a, b in zip(u, v, strict=True) if a != b)


# --- words at any position
# ----------------------------------------------------------------------------------------------------


def spectrum(x: Symbols, z: Symbols, k: int, k_min: int | None = None, weights: Sequence[float] | None = None) -> float:
    """Σ_{l=k_min..k} w_l Σ_{i,j} 1[x_i…x_{i+l−1} = z_j…z_{j+l−1}]; k_min = k and w = 1 unless given, weights[0] is that
    of k_min.
    """
    lengths = range(k if k_min is None else k_min, k + 1)
    factors = [1.0] * len(lengths) if weights is None else [float(w) for w in weights]
    return math.fsum(
        w * sum(1 for u in words(x, n) for v in words(z, n) if u == v) for n, w in zip(lengths, factors, strict=True)
    )


def mismatch(x: Symbols, z: Symbols, k: int, m: int, alphabet: Symbols) -> float:
    """Σ_{u ∈ A^k} φ_u(x) φ_u(z), φ_u(x) the number of k-mers of x within m differences of u."""

    def near(u: Symbols, y: Symbols) -> int:
        return sum(1 for v in words(y, k) if differences(u, v) <= m)

    return float(sum(near(u, x) * near(u, z) for u in itertools.product(alphabet, repeat=k)))


def gappy(x: Symbols, z: Symbols, g: int, k: int) -> float:
    """Σ_{P,u} φ_{P,u}(x) φ_{P,u}(z), P ⊂ {0..g−1}, |P| = k, φ_{P,u}(x) the number of windows of length g of x that read
    u at P.
    """

    def counts(y: Symbols) -> Counter[Any]:
        places = list(itertools.combinations(range(g), k))
        return Counter((place, tuple(window[p] for p in place)) for window in words(y, g) for place in places)

    count_x, count_z = counts(x), counts(z)
    return float(sum(n * count_z[feature] for feature, n in count_x.items()))


def gappy_by_distance(x: Symbols, z: Symbols, g: int, k: int) -> float:
    """Σ over pairs of windows (u, v) of length g of C(g − d, k), d their number of differences."""
    return float(sum(math.comb(g - differences(u, v), k) for u in words(x, g) for v in words(z, g)))


def gapped_weights(g: int, k: int, filter: str, letters: int) -> list[float]:
    """c(m) as Ghandi et al. (2014) derive it: w_i, by which a gapped word with i differences counts in the estimate of
    a word; h(m), all gapped words of another word at distance m; c(m), h of one times h of the other over all words.
    """
    if filter == "none":
        return [float(math.comb(g - m, k)) for m in range(g + 1)]
    scale = math.comb(g, k) * letters**g
    w = [
        math.prod((k - i - g) / (k - i) for i in range(n))
        * sum(math.comb(g, t) * (letters - 1) ** t for t in range(k - n + 1))
        / scale
        for n in range(k + 1)
    ]
    h = [sum(w[i] * math.comb(g - m, k - i) * math.comb(m, i) for i in range(min(m, k) + 1)) for m in range(g + 1)]
    if filter == "truncated":
        kept = next((m for m, value in enumerate(h) if value < 1e-50), g + 1)
        h[kept:] = [0.0] * (g + 1 - kept)
    every = list(itertools.product(range(letters), repeat=g))
    first, others = (0,) * g, [(1,) * m + (0,) * (g - m) for m in range(g + 1)]
    return [math.fsum(h[differences(u, first)] * h[differences(u, z)] for u in every) for z in others]


def estimated_gappy(
    x: str, z: str, g: int, k: int, d: int, filter: str = "truncated", peak: int = 1, half_life: float = 50.0
) -> float:
    """Σ over pairs of windows over ACGT, m ≤ d differences, of c(m) times their heights min(M, ⌊M·2^(−D/H) + 1⌋)."""
    c = gapped_weights(g, k, filter, 4)

    def windows_of(y: str) -> list[tuple[tuple[Any, ...], int]]:
        found = words(y, g)
        middle = (len(found) - 1) / 2
        heights = [min(peak, math.floor(peak * 2 ** (-abs(i - middle) / half_life) + 1)) for i in range(len(found))]
        return [(w, n) for w, n in zip(found, heights, strict=True) if set(w) <= set("ACGT")]

    return math.fsum(
        a * b * c[differences(u, v)] for u, a in windows_of(x) for v, b in windows_of(z) if differences(u, v) <= d
    )


def substring(x: Symbols, z: Symbols, decay: float = 1.0, longest: int | None = None) -> float:
    """Σ_u decay^|u| occ_u(x) occ_u(z) over the non-empty words u of at most `longest` letters (of any length when it is
    None).
    """
    top = min(len(x), len(z)) if longest is None else longest
    terms = []
    for length in range(1, top + 1):
        occurrences_x, occurrences_z = Counter(words(x, length)), Counter(words(z, length))
        terms += [decay**length * n * occurrences_z[u] for u, n in occurrences_x.items()]
    return math.fsum(terms)


# --- words at equal positions, subsequences
# -----------------------------------------------------------------------------------


def weighted_degree(x: Symbols, z: Symbols, degree: int, shift: int = 0) -> float:
    """Σ_{d=1..D} β_d Σ_i Σ_{s=0..S} δ_s (1[x_{i+s}…x_{i+s+d−1} = z_i…z_{i+d−1}] + 1[x_i…x_{i+d−1} =
    z_{i+s}…z_{i+s+d−1}]).

    β_d = 2(D − d + 1)/(D(D + 1)), δ_s = 1/(2(s + 1)), both words fully inside; sequences of equal length only.
    """
    if len(x) != len(z):
        raise ValueError("sequences of different lengths")
    terms = []
    for d in range(1, degree + 1):
        beta = 2 * (degree - d + 1) / (degree * (degree + 1))
        of_x, of_z = words(x, d), words(z, d)
        for s in range(shift + 1):
            delta = 1 / (2 * (s + 1))
            for i in range(len(of_x) - s):
                terms += [beta * delta * (of_x[i + s] == of_z[i]), beta * delta * (of_x[i] == of_z[i + s])]
    return math.fsum(terms)


def subsequence(x: Symbols, z: Symbols, length: int, decay: float) -> float:
    """Σ_{i,j} decay^{(i_last − i_first + 1) + (j_last − j_first + 1)} over increasing index tuples i, j of `length`
    elements with x_i = z_j.
    """

    def occurrences(y: Symbols) -> list[tuple[tuple[Any, ...], int]]:
        return [
            (tuple(y[i] for i in index), index[-1] - index[0] + 1)
            for index in itertools.combinations(range(len(y)), length)
        ]

    of_x, of_z = occurrences(x), occurrences(z)
    return math.fsum(decay ** (span_u + span_v) for u, span_u in of_x for v, span_v in of_z if u == v)


# --- texts
# --------------------------------------------------------------------------------------------------------------------


def tokens(text: Symbols) -> list[Any]:
    r"""re.findall(r"\w+", text.lower()) for a string; a list is its own tokens."""
    return re.findall(r"\w+", text.lower()) if isinstance(text, str) else list(text)


def bag_of_words(x: Symbols, z: Symbols) -> float:
    """Σ_w occ_w(x) occ_w(z) over the words w."""
    return float(sum(1 for u in tokens(x) for v in tokens(z) if u == v))


def tfidf(x: Symbols, z: Symbols, corpus: Sequence[Symbols]) -> float:
    """Σ_w occ_w(x) occ_w(z) t_w², t_w = ln((1 + n)/(1 + df_w)) + 1, df_w the number of the n texts of the corpus that
    have the word w.
    """
    texts = [tokens(text) for text in corpus]

    def weight(word: Any) -> float:
        return math.log((1 + len(texts)) / (1 + sum(1 for text in texts if word in text))) + 1

    return math.fsum(weight(u) * weight(v) for u in tokens(x) for v in tokens(z) if u == v)


# --- alignments
# ---------------------------------------------------------------------------------------------------------------


def paths(n: int, m: int) -> Iterator[list[tuple[int, int]]]:
    """All lists of cells from (0, 0) to (n − 1, m − 1), n, m ≥ 1, with steps (1, 0), (0, 1) and (1, 1)."""

    def onward(i: int, j: int) -> Iterator[list[tuple[int, int]]]:
        if (i, j) == (n - 1, m - 1):
            yield [(i, j)]
        for next_i, next_j in ((i + 1, j), (i, j + 1), (i + 1, j + 1)):
            if next_i < n and next_j < m:
                for rest in onward(next_i, next_j):
                    yield [(i, j), *rest]

    return onward(0, 0)


def squared_distance(a: Any, b: Any) -> float:
    """‖a − b‖² of two numbers or two vectors; of two letters (str) 0 if they are the same, else 2."""
    if isinstance(a, str) or isinstance(b, str):
        return 0.0 if a == b else 2.0
    if isinstance(a, Real):
        return (float(a) - float(b)) ** 2
    return math.fsum((float(p) - float(q)) ** 2 for p, q in zip(a, b, strict=True))


def global_alignment(x: Symbols, z: Symbols, sigma: float) -> float:
    """k/√(k k): k(x, z) = Σ_paths Π κ(x_i, z_j), κ = e/(2 − e), e = exp(−‖x_i − z_j‖²/(2σ²)); 0 when x or z is
    empty.
    """

    def local(a: Any, b: Any) -> float:
        e = math.exp(-squared_distance(a, b) / (2 * sigma**2))
        return e / (2 - e)

    def raw(u: Symbols, v: Symbols) -> float:
        if len(u) == 0 or len(v) == 0:
            return 0.0
        return math.fsum(math.prod(local(u[i], v[j]) for i, j in path) for path in paths(len(u), len(v)))

    def letters(y: Symbols) -> Symbols:
        return [chr(b) for b in y] if isinstance(y, bytes) else y

    return normalized(raw)(letters(x), letters(z))


def alignments(x: Any, z: Any, local: Callable[[int, int], float]) -> float:
    """Σ over alignments of Π local(i, j), by what the last pair may follow: those of ``paths``, for longer series."""
    sums = [[1.0] + [0.0] * len(z)] + [[0.0] * (len(z) + 1) for _ in x]
    for i in range(len(x)):
        for j in range(len(z)):
            sums[i + 1][j + 1] = local(i, j) * (sums[i][j] + sums[i][j + 1] + sums[i + 1][j])
    return sums[len(x)][len(z)] if len(x) and len(z) else 0.0


def triangular_alignment(x: Any, z: Any, sigma: float, triangle: float, times: int | None = None) -> float:
    """k/√(k k), k = Σ over alignments of Π ωe/(2 − ωe), e = exp(−‖x_i − z_j‖²/(2σ²)), ω = max(0, 1 − |t_i − t_j|/T)."""

    def seen(y: Any) -> tuple[list[Any], list[float]]:
        if times is None:
            return list(y), list(range(len(y)))
        return [[v for c, v in enumerate(frame) if c != times] for frame in y], [frame[times] for frame in y]

    def raw(u: Any, v: Any) -> float:
        (u, at), (v, then) = seen(u), seen(v)

        def local(i: int, j: int) -> float:
            e = math.exp(-squared_distance(u[i], v[j]) / (2 * sigma**2))
            omega = max(0.0, 1 - abs(at[i] - then[j]) / triangle)
            return omega * e / (2 - omega * e)

        return alignments(u, v, local)

    return normalized(raw)(x, z)


def soft_dtw(x: Any, z: Any, gamma: float, rate: float) -> float:
    """exp(−rate·(d(x, z) − ½d(x, x) − ½d(z, z))), d = −γ log Σ over alignments of exp(−Σ‖x_i − z_j‖²/γ)."""
    if len(x) == 0 or len(z) == 0:
        return 0.0

    def d(u: Any, v: Any) -> float:
        return -gamma * math.log(alignments(u, v, lambda i, j: math.exp(-squared_distance(u[i], v[j]) / gamma)))

    return math.exp(-rate * (d(x, z) - (d(x, x) + d(z, z)) / 2))


def cross_correlation(x: Any, z: Any, gamma: float, length: int) -> float:
    """Σ_s exp(γ·corr(x, z shifted by s on a circle)), of centred series filled up with zeros."""

    def channels(y: Any) -> list[list[float]]:
        columns = [[float(v) for v in column] for column in zip(*y, strict=True)]
        columns = [[v - math.fsum(c) / len(c) for v in c] + [0.0] * (length - len(c)) for c in columns]
        norm = math.sqrt(math.fsum(v * v for c in columns for v in c))
        return [[v / norm for v in c] if norm > 1e-12 else [0.0] * length for c in columns]

    a, b = channels(x), channels(z)
    return math.fsum(
        math.exp(
            gamma * math.fsum(p[t] * q[(t - s) % length] for p, q in zip(a, b, strict=True) for t in range(length))
        )
        for s in range(length)
    )


def local_alignment(
    x: Symbols, z: Symbols, score: Callable[[Any, Any], float], beta: float, gap_open: float, gap_extend: float
) -> float:
    """k/√(k k): k(x, z) = 1 + Σ_π Π_t exp(β score(x_{i_t}, z_{j_t})) Π_t exp(−β(g(i_{t+1} − i_t − 1) + g(j_{t+1} − j_t
    − 1))).

    Over all lists π of pairs (i_1, j_1), …, (i_r, j_r), r ≥ 1, increasing in i and in j; g(0) = 0, g(p) = gap_open +
    gap_extend·(p − 1).
    """

    def g(p: int) -> float:
        return 0.0 if p == 0 else gap_open + gap_extend * (p - 1)

    def raw(u: Symbols, v: Symbols) -> float:
        terms = [1.0]
        for r in range(1, min(len(u), len(v)) + 1):
            for i in itertools.combinations(range(len(u)), r):
                for j in itertools.combinations(range(len(v)), r):
                    matched = math.fsum(score(u[a], v[b]) for a, b in zip(i, j, strict=True))
                    gaps = math.fsum(g(i[t + 1] - i[t] - 1) + g(j[t + 1] - j[t] - 1) for t in range(r - 1))
                    terms.append(math.exp(beta * matched) * math.exp(-beta * gaps))
        return math.fsum(terms)

    return normalized(raw)(x, z)


# --- composites
# ---------------------------------------------------------------------------------------------------------------


def reverse_complement(x: str) -> str:
    """x̄: the letters from the last to the first, A ↔ T and C ↔ G."""
    return "".join(COMPLEMENT[letter] for letter in reversed(x))


def profile(x: Any, z: Any, k: int, threshold: float) -> float:
    """Σ over all words w of k letters of the numbers of places in x and in z with −Σ log p(w) < threshold."""

    def places(y: Any, word: tuple[int, ...]) -> int:
        likely = [[float(y[i + j][a]) for j, a in enumerate(word)] for i in range(len(y) - k + 1)]
        return sum(1 for p in likely if min(p) > 0 and -sum(map(math.log, p)) < threshold)

    letters = range(len(x[0]) if len(x) else 0)
    return float(sum(places(x, w) * places(z, w) for w in itertools.product(letters, repeat=k)))


IUPAC = {
    "R": "AG", "Y": "CT", "S": "CG", "W": "AT", "K": "GT", "M": "AC",
    "B": "CGT", "D": "AGT", "H": "ACT", "V": "ACG", "N": "ACGT",
}  # fmt: skip


def expanded(kernel: Callable[[str, str], float], width: int, most: int) -> Oracle:
    """The mean of the kernel, a sum over pairs of windows of this width, over all that its windows can be read as; one
    that can be read in more than ``most`` ways, or has a letter that is none of DNA, does not count.
    """

    def readings(x: str) -> list[list[str]]:
        found = []
        for i in range(len(x) - width + 1):
            options = [IUPAC.get(a, a if a in "ACGT" else "") for a in x[i : i + width]]
            if 0 < math.prod(map(len, options)) <= most:
                found.append(["".join(w) for w in itertools.product(*options)])
        return found

    known = functools.cache(kernel)

    def value(x: str, z: str) -> float:
        return math.fsum(
            known(u, v) / (len(U) * len(V)) for U in readings(x) for V in readings(z) for u in U for v in V
        )

    return value


def both_strands(kernel: Oracle) -> Oracle:
    """½(k(x, z) + k(x, z̄) + k(x̄, z) + k(x̄, z̄)), x̄ the reverse complement of a string over ACGT."""

    def value(x: str, z: str) -> float:
        return 0.5 * math.fsum(kernel(u, v) for u in (x, reverse_complement(x)) for v in (z, reverse_complement(z)))

    return value


# --- signatures
# ---------------------------------------------------------------------------------------------------------------


def path(x: Any, scale: float = 1.0, time: float = 0.0, basepoint: bool = False) -> list[list[float]]:
    """The frames times ``scale``, after a frame of zeros with ``basepoint``, each with its share of ``time``."""
    frames = [[scale * float(v) for v in (frame if hasattr(frame, "__len__") else [frame])] for frame in x]
    if basepoint:
        frames = [[0.0] * len(frames[0]), *frames]
    last = max(1, len(frames) - 1)
    return [[*frame, time * i / last] if time else frame for i, frame in enumerate(frames)]


def _increments(x: Any, z: Any, gamma: float | None) -> list[list[float]]:
    """⟨φ(x_{i+1}) − φ(x_i), φ(z_{j+1}) − φ(z_j)⟩, φ(x) = x, or the features of exp(−γ‖x − z‖²)."""

    def k(a: Any, b: Any) -> float:
        return (
            math.exp(-gamma * squared_distance(a, b))
            if gamma is not None
            else math.fsum(p * q for p, q in zip(a, b, strict=True))
        )

    return [
        [k(x[i + 1], z[j + 1]) - k(x[i + 1], z[j]) - k(x[i], z[j + 1]) + k(x[i], z[j]) for j in range(len(z) - 1)]
        for i in range(len(x) - 1)
    ]


def signature(x: Any, z: Any, gamma: float | None = None, refine: int = 0, **of_path: Any) -> float:
    """⟨S(x), S(z)⟩, S = Π_i (1 + δ_i + δ_i ⊗ δ_i/2), each increment in 2^refine steps, letter by letter."""
    d, fine = _increments(path(x, **of_path), path(z, **of_path), gamma), 2**refine
    known: dict[tuple[int, int, int, int], float] = {}

    def product(i: int, p: int, j: int, q: int) -> float:
        """⟨S_i ⊗ δ_i^p, S_j ⊗ δ_j^q⟩, S_i the product of the factors before i."""
        if (i, p, j, q) not in known:
            if p and q:
                found = d[i // fine][j // fine] / fine**2 * product(i, p - 1, j, q - 1)
            elif p == 0 and i > 0:
                found = sum(product(i - 1, more, j, q) / math.factorial(more) for more in range(3))
            elif q == 0 and j > 0:
                found = sum(product(i, p, j - 1, more) / math.factorial(more) for more in range(3))
            else:
                found = float(p == q == 0)
            known[i, p, j, q] = found
        return known[i, p, j, q]

    places = [max(0, len(path(y, **of_path)) - 1) * fine for y in (x, z)]
    for i in range(places[0] + 1):  # in this order no call goes deep
        for j in range(places[1] + 1):
            product(i, 0, j, 0)
    return product(places[0], 0, places[1], 0)


def truncated_signature(x: Any, z: Any, levels: int, gamma: float | None = None, **of_path: Any) -> float:
    """Σ_l Σ_{i_1 < … < i_l} Σ_{j_1 < … < j_l} Π d_{i_k j_k}, all tuples listed."""
    d = _increments(path(x, **of_path), path(z, **of_path), gamma)
    rows, columns = range(len(d)), range(len(d[0]) if d else 0)
    return math.fsum(
        math.prod(d[i][j] for i, j in zip(at, against, strict=True))
        for level in range(levels + 1)
        for at in itertools.combinations(rows, level)
        for against in itertools.combinations(columns, level)
    )
