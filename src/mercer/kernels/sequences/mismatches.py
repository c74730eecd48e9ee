"""Kernels of words of two sequences compared letter by letter: gapped words, mismatches; one file, since both do so."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import combinations, pairwise, product
from typing import Any, ClassVar

import numpy as np

from mercer.annotations import Items, Samples, Weights
from mercer.arrays import Array
from mercer.compute import bounds, human
from mercer.data import HashedRows, Ragged, chunks
from mercer.data.representations import offsets_of
from mercer.data.sequences import items_of, one_code, unpacked
from mercer.formula import dot, sqnorm
from mercer.gram import Counts
from mercer.kernels.base import Kernel, kernel
from mercer.kernels.occurrences import Occurrences, stretches, windows_of
from mercer.kernels.parameters import natural
from mercer.kernels.sequences.cells import Pattern, codes_of_gapped, counted, counts_of, in_cells
from mercer.kernels.sequences.lanes import Batch, LaneKernel, swept
from mercer.kernels.sequences.letters import in_alphabet, is_alphabet
from mercer.kernels.sequences.windows import OfWindows, window_sums
from mercer.kernels.sequences.words import names_of, windows
from mercer.runtime import threads
from mercer.troubles import coded

_MOST_NAMES = 2**23
_BYTES = 24  # of a feature of one window: its code, its count, and room to sort
_FEW = 100  # sets of places; with more, comparing windows costs less than listing their features


@kernel
class Gappy(LaneKernel, OfWindows):
    """Gapped words: Σ over pairs of windows of length g of C(g − d, k), d the number of places where they differ.

    It is ⟨φ, φ⟩ with one feature for each choice of k of the g places and the letters there (the gkm family; FastSK's m
    is g − k). With up to 100 choices, C(g, k), the features are counted: O(|x| C(g, k)) per string. With more the
    windows of two strings are compared, 64 strings at a time: about 0.1 ns per pair of windows; ``features``,
    ``feature_names`` and the weights of a function by feature are counted then too, where memory allows.

    Parameters
    ----------
    g : int
        The length of a window, 1 to 200; 6 to 12 for DNA are common.
    k : int
        How many of its places count, 1 to g. The fewer, the more two windows may differ.

    See Also
    --------
    Spectrum : Words without gaps, g = k.
    Mismatch : Words that agree up to some letters.

    References
    ----------
    .. [1] M. Ghandi, D. Lee, M. Mohammad-Noori and M. A. Beer. Enhanced regulatory sequence prediction using gapped
       k-mer
       features. PLoS Computational Biology 10, 2014.

    Examples
    --------
    >>> import mercer as mc
    >>> k = mc.Gappy(g=3, k=2)
    >>> k(["ACG", "ATG"])
    array([[3., 1.],
           [1., 3.]])
    >>> k.feature_names(["ACG"])
    ['.CG', 'A.G', 'AC.']
    """

    g: int = natural(maximum=200)
    k: int = natural()
    _turns: ClassVar[bool] = True

    def _validate(self) -> None:
        if self.k > self.g:
            raise ValueError(
                coded(f"Gappy(g={self.g}, k={self.k}): k places are chosen of g, so k must be at most g.", "M205")
            )

    @property
    def explicit(self) -> bool:  # type: ignore[override]
        return math.comb(int(self.g), int(self.k)) <= _FEW

    @property
    def _halves(self) -> bool:  # type: ignore[override]
        return not self.explicit

    @property
    def _places(self) -> Any:
        return np.array(list(combinations(range(int(self.g)), int(self.k))), np.int64)

    def _per_window(self) -> list[tuple[int, Kernel, float]]:
        return [(int(self.g), self._listed(), 1.0)]

    def _prepare(self, X: Ragged) -> Any:
        if not self.explicit:
            return X
        patterns = tuple(Pattern(int(self.g), tuple(int(p) for p in mask)) for mask in self._places)
        small = in_cells(X, patterns, codes_of_gapped)
        return self._hashed(X) if small is None else small

    def _hashed(self, X: Ragged) -> HashedRows:
        """The features by their codes; those of one window in the order of ``_places``."""
        from mercer.native import words

        masks = self._places

        def count(values: Array, offsets: Array, *out: Array) -> int:
            return int(words.gapped(values, offsets, int(self.g), masks, *out))

        return counted(X, len(masks), count)

    def _lane_matrix(self, A: Ragged, B: Ragged) -> Array:
        weights = [math.comb(s, int(self.k)) for s in range(int(self.k), int(self.g) + 1)]
        return window_sums(A, B, int(self.g), int(self.k), weights, exclude_unknown=False)

    def _block(self, A: Items, B: Items) -> Any:
        return dot(A, B) if self.explicit else super()._block(A, B)

    def _diag(self, A: Items) -> Any:
        return sqnorm(A) if self.explicit else super()._diag(A)

    def _width(self, A: Items) -> int:
        return int(A.per_row)

    def _features(self, A: Items) -> Any:
        return A

    def _counts(self, A: Items) -> Counts | None:
        return counts_of(A)

    def _occurrences(self, x: Ragged) -> Occurrences | None:
        if not self.explicit:
            return None
        g, masks = int(self.g), self._places
        every = (np.arange(max(0, len(x.values) - g + 1))[:, None, None] + masks).reshape(-1, masks.shape[1])
        known = every[(x.values[every] != 0).all(axis=1)]
        places = Ragged(known.reshape(-1), np.arange(len(known) + 1, dtype=np.int64) * masks.shape[1])
        return Occurrences(self._hashed(windows_of(x, g)).codes, places, len(x.values))

    def _names(self, X: Samples) -> dict[int, Any]:
        g, items = int(self.g), [unpacked(item) for item in items_of(X, "sequences")]
        phi = self._prepare(self.domain.check(items))
        if phi.legend is not None and all(isinstance(item, str) for item in items):
            return {
                int(phi.legend.codes[cell]): "".join(word) for cell, word in phi.legend.spelled(np.unique(phi.keys), g)
            }
        words, places = windows(items, g), self._places.tolist()
        if len(words) * len(places) > _MOST_NAMES:
            raise MemoryError(
                coded(
                    f"{self} has {len(places)} features for each of {len(words)} windows, too many to name; take fewer"
                    " sequences.",
                    "M401",
                )
            )

        def name(word: Sequence[Any], n: int) -> Any:
            shown = ["."] * g
            for p in places[n]:
                shown[p] = word[p]
            return "".join(shown) if isinstance(word, str) else tuple(shown)

        return names_of(words, self._prepare(self.domain.check(words)), name)

    def _listed(self) -> Kernel:
        return self if self.explicit else ListedGappy(self.g, self.k)


@kernel
class ListedGappy(Gappy):
    """Gapped words with one feature for each choice of places, however many choices there are."""

    _internal = True

    g: int = natural(maximum=200)
    k: int = natural()

    @property
    def explicit(self) -> bool:  # type: ignore[override]
        return True

    def _prepare(self, X: Ragged) -> Any:
        choices, budget = math.comb(int(self.g), int(self.k)), bounds().budget
        if choices * len(X.values) * _BYTES > budget:
            raise MemoryError(
                coded(
                    f"Gappy(g={self.g}, k={self.k}) has {choices} features for each window:"
                    f" {human(choices * len(X.values) * _BYTES)} for these sequences, and there are {human(budget)}."
                    " Name those of fewer sequences (a machine compressed(n) has n of its centres), or take g and k"
                    " with fewer choices; values, k(X) and k.gram(X), need none of them.",
                    "M401",
                )
            )
        return super()._prepare(X)


# ---------------------------------------------------------------------------------------------------------------------
# Mismatches
# ---------------------------------------------------------------------------------------------------------------------

_SMALL = 4096  # words over the alphabet, for which all features are held
_TABLE = 2**16  # the same for a table of one batch
_LARGEST = 2**900  # words near another: times pairs of words, a float


@kernel
class Mismatch(LaneKernel, OfWindows):
    """⟨φ, φ⟩, φ_u(x) the number of words of length k of x that differ from u in at most m places, u ∈ A^k.

    The kernel for sequences with mutations. Equivalently Σ over pairs of words of the number of u near both, which
    depends on their distance alone. Words with a letter outside the alphabet A are not counted, and a string without
    words has no features. With |A|^k ≤ 4096 the features are held; up to 65 536 each batch of strings is spread over a
    table of all words; beyond, the words of two strings are compared, 64 strings at a time; ``features`` and
    ``feature_names`` list the words near those that occur then too, where memory allows.

    Parameters
    ----------
    k : int
        The length of the words, at least 1.
    m : int, default=1
        How many letters may differ, 0 to k; 0 is ``Spectrum(k)``.
    alphabet : str or sequence, optional
        The letters A, each once. The values depend on their number. None: the letters in the data that the kernel is
        bound to.

    See Also
    --------
    Spectrum : Words that agree in all letters.
    Gappy : Words with gaps.

    References
    ----------
    .. [1] C. Leslie, E. Eskin, A. Cohen, J. Weston and W. S. Noble. Mismatch string kernels for discriminative protein
       classification. Bioinformatics 20, 2004.

    Examples
    --------
    >>> import mercer as mc
    >>> mc.Mismatch(k=3, m=1, alphabet="ACGT")(["ACG", "ACT", "TTT"])
    array([[10.,  4.,  0.],
           [ 4., 10.,  2.],
           [ 0.,  2., 10.]])
    """

    k: int = natural()
    m: int = natural(1, minimum=0)
    alphabet: Any = None

    def _validate(self) -> None:
        if self.m > self.k:
            raise ValueError(
                coded(
                    f"Mismatch(k={self.k}, m={self.m}): words of {self.k} letters differ in at most {self.k} places;"
                    " take m ≤ k.",
                    "M205",
                )
            )
        if self.alphabet is not None and not is_alphabet(self.alphabet):
            raise ValueError(coded(f"Mismatch(alphabet={self.alphabet!r}): give the letters, each once.", "M205"))

    @property
    def _data_driven(self) -> bool:
        return self.alphabet is None

    def bind(self, X: Samples, weights: Weights = None) -> Kernel:
        if self.alphabet is not None:
            return self
        codes = np.unique(self.domain.check(X).values)
        numbers = [int(c) - 1 if c > 0 else int(c) for c in codes if c != 0]
        characters = all(0 <= n < 0x110000 for n in numbers)
        return self._replace(alphabet="".join(map(chr, numbers)) if characters and numbers else numbers or "?")

    @property
    def _words(self) -> int:
        """|A|^k."""
        words: int = len(self.alphabet) ** int(self.k)
        return words

    @property
    def explicit(self) -> bool:  # type: ignore[override]
        return self.alphabet is not None and self._words <= _SMALL

    @property
    def _halves(self) -> bool:  # type: ignore[override]
        return not self.explicit

    def _near_both(self) -> list[int]:
        """For each distance d = 0 … 2m of two words, how many words are within m of both."""
        a, k, m = len(self.alphabet), int(self.k), int(self.m)

        def count(d: int) -> int:
            total = 0
            for p in range(d + 1):  # places where u agrees with the first word, q with the second, r with neither
                for q in range(d + 1 - p):
                    r = d - p - q
                    ways = (
                        math.factorial(d) // math.factorial(p) // math.factorial(q) // math.factorial(r) * (a - 2) ** r
                        if r == 0 or a > 2
                        else 0
                    )
                    for t in range(min(m - q - r, m - p - r, k - d) + 1):  # and differs from both in t of the others
                        total += ways * math.comb(k - d, t) * (a - 1) ** t
            return total

        return [count(d) for d in range(min(2 * m, k) + 1)]

    def _per_window(self) -> list[tuple[int, Kernel, float]]:
        return [(int(self.k), self._listed(), 1.0)]

    def _prepare(self, X: Ragged) -> Any:
        ranks = in_alphabet(X, self.alphabet)
        if not self.explicit:
            return ranks
        from mercer.native import mismatches

        out = np.zeros((len(ranks), self._words))

        def task(some: slice) -> None:
            part = ranks.take(some)
            mismatches.neighbourhoods(
                part.values, part.offsets, len(self.alphabet), int(self.k), int(self.m), out[some]
            )

        threads.run_tasks(task, chunks(len(ranks), 128), bounds().workers)
        return out

    def _lane_matrix(self, A: Ragged, B: Ragged) -> Array:
        if self._around > _LARGEST:
            raise FloatingPointError(
                coded(
                    f"{self}: the words near another are 10^{len(str(self._around)) - 1}, more than a float holds. Take"
                    " a smaller k or m.",
                    "M210",
                )
            )
        near = self._near_both()
        if self._words > _TABLE:
            return window_sums(A, B, int(self.k), int(self.k) + 1 - len(near), near[::-1], exclude_unknown=True)
        from mercer.native import lanes, mismatches

        worth, a, k = np.array(near, np.float64), len(self.alphabet), int(self.k)

        def sweep(X: Ragged, rows: Array, batch: Batch, begin: int, end: int) -> Array:
            out = np.zeros((len(rows), lanes.FLOATS))
            if len(worth) <= 3:
                mismatches.near_sums(X.values, X.offsets, rows, batch.packed, a, k, worth, out)
                return out
            (table,) = batch.once(lambda: (mismatches.table(batch.packed, a, k, worth),))
            mismatches.table_sums(X.values, X.offsets, rows, table, a, k, out)
            return out

        return swept(A, B, lanes.FLOATS, 0, sweep, cells=False)

    def _block(self, A: Items, B: Items) -> Any:
        return dot(A, B) if self.explicit else super()._block(A, B)

    def _diag(self, A: Items) -> Any:
        return sqnorm(A) if self.explicit else super()._diag(A)

    def _width(self, A: Items) -> int:
        return self._words

    def _features(self, A: Items) -> Any:
        return A

    def _occurrences(self, x: Ragged) -> Occurrences | None:
        if not self.explicit:
            return None
        row, code = np.nonzero(self._prepare(windows_of(x, int(self.k))))
        return Occurrences(code.astype(np.uint64), stretches(row, np.full(len(row), int(self.k))), len(x.values))

    def _names(self, X: Samples) -> dict[int, Any]:
        bound = self.bind(self.domain.check(X))
        assert isinstance(bound, Mismatch)
        return bound._spelled(range(bound._words)) if bound.explicit else super()._names(X)

    def _spelled(self, numbers: Iterable[int]) -> dict[int, Any]:
        """Words by their numbers in base |A|: strings where letters are characters, else tuples."""
        letters, a = sorted(self.alphabet, key=one_code), len(self.alphabet)
        plain = all(isinstance(letter, str) and len(letter) == 1 for letter in letters)
        powers = [a**p for p in range(int(self.k) - 1, -1, -1)]
        words = ((n, [letters[n // power % a] for power in powers]) for n in numbers)
        return {n: "".join(word) if plain else tuple(word) for n, word in words}

    @property
    def _around(self) -> int:
        """How many words are within m of another."""
        return sum(math.comb(int(self.k), t) * (len(self.alphabet) - 1) ** t for t in range(int(self.m) + 1))

    def _listed(self) -> Kernel:
        known = self.explicit or self.alphabet is None
        return self if known or self._words >= 2**63 else ListedMismatch(self.k, self.m, self.alphabet)


@kernel
class ListedMismatch(Mismatch):
    """Words with mismatches with one feature for each word near one that occurs, however many there could be."""

    _internal = True

    k: int = natural()
    m: int = natural(1, minimum=0)
    alphabet: Any = None

    @property
    def explicit(self) -> bool:  # type: ignore[override]
        return True

    def _prepare(self, X: Ragged) -> Any:
        if self._around * len(X.values) * _BYTES > bounds().budget:
            raise MemoryError(
                coded(
                    f"Mismatch(k={self.k}, m={self.m}) has {self._around} features for each word:"
                    f" {human(self._around * len(X.values) * _BYTES)} for these sequences, and there are"
                    f" {human(bounds().budget)}. Name those of fewer sequences, or take a smaller k or m; values, k(X)"
                    " and k.gram(X), need none of them.",
                    "M401",
                )
            )
        row, codes, _ = self._near(X)
        order = np.lexsort((codes, row))
        row, codes = row[order], codes[order]
        first = np.flatnonzero(np.r_[True, (np.diff(row) != 0) | (np.diff(codes) != 0)][: len(row)])
        lengths = np.bincount(row[first], minlength=len(X))
        return HashedRows(codes[first], np.diff(np.append(first, len(row))).astype(np.float64), offsets_of(lengths))

    def _near(self, X: Ragged) -> tuple[Array, Array, Array]:
        """(sequence, number of the word, place): every word near a word of a sequence, and where that begins."""
        a, k, ranks = len(self.alphabet), int(self.k), in_alphabet(X, self.alphabet)
        begins = np.concatenate(
            [np.empty(0, np.int64), *(np.arange(b, e - k + 1) for b, e in pairwise(ranks.offsets.tolist()))]
        )
        letters = ranks.values[begins[:, None] + np.arange(k)].astype(np.int64) - 1
        whole = (letters >= 0).all(axis=1)
        begins, letters = begins[whole], letters[whole]
        powers = a ** np.arange(k - 1, -1, -1)
        numbers = [letters @ powers]
        for t in range(1, int(self.m) + 1):
            for places in map(list, combinations(range(k), t)):
                for turns in product(range(1, a), repeat=t):
                    other = (letters[:, places] + turns) % a
                    numbers.append(numbers[0] + (other - letters[:, places]) @ powers[places])
        row = np.searchsorted(ranks.offsets, begins, side="right") - 1
        each = len(numbers)
        return np.tile(row, each), np.concatenate(numbers).astype(np.uint64), np.tile(begins, each)

    def _width(self, A: Items) -> int:
        return int(A.per_row)

    def _names(self, X: Samples) -> dict[int, Any]:
        return self._spelled(np.unique(self._near(self.domain.check(X))[1]).tolist())

    def _occurrences(self, x: Ragged) -> Occurrences | None:
        _, codes, begins = self._near(x)
        return Occurrences(codes, stretches(begins, np.full(len(begins), int(self.k))), len(x.values))
