"""Kernels that count words: sparse features over an open set of columns, in time linear in the total length."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from mercer.annotations import Items, Samples, Symbol, Weights
from mercer.arrays import Array
from mercer.data import Domain, HashedRows, Ragged, Sequences, check_weights
from mercer.data.sequences import items_of, unpacked
from mercer.gram import Counts
from mercer.kernels.base import Kernel, kernel
from mercer.kernels.families import Explicit
from mercer.kernels.occurrences import Occurrences, stretches, together, windows_of
from mercer.kernels.parameters import natural
from mercer.kernels.sequences.cells import Pattern, codes_of_words, counted, counts_of, in_cells
from mercer.kernels.sequences.windows import OfWindows
from mercer.troubles import coded


def windows(X: Samples, k: int) -> list[Any]:
    """The distinct words of length k: pieces of strings, or tuples of tokens."""
    pieces = (
        item if isinstance(item, str | bytes) else tuple(item) for item in map(unpacked, items_of(X, "sequences"))
    )
    return list(dict.fromkeys(item[i : i + k] for item in pieces for i in range(len(item) - k + 1)))


def names_of(words: list[Any], phi: HashedRows, name: Callable[[Any, int], Any]) -> dict[int, Any]:
    """What the codes of each word's own features stand for: ``name(word, number of the feature)``."""
    return {
        int(c): name(w, n)
        for i, w in enumerate(words)
        for n, c in enumerate(phi.codes[phi.offsets[i] : phi.offsets[i + 1]])
    }


@kernel
class Spectrum(Explicit, OfWindows):
    """Σ_u φ_u(x) φ_u(z), φ_u(x) the number of occurrences of the word u in x, over words of length k.

    The standard kernel for DNA, proteins and other strings: sequences are alike when they share words of k letters,
    wherever these stand. Sequences are strings, bytes, or lists of tokens. A string shorter than the words has no
    features: k(x, ·) = 0. Cost: O(|x|) per string and length for the features, whatever the alphabet. ``normalized()``
    keeps long sequences from having large values; ``both_strands()`` is for DNA whose strand is not known.

    Parameters
    ----------
    k : int
        The length of the words, at least 1: 3 to 6 for proteins, 4 to 10 for DNA are common.
    k_min : int, optional
        Count words of all lengths k_min … k, 1 ≤ k_min ≤ k. None: of length k only.
    weights : array-like, optional
        One number ≥ 0 for each length from k_min to k, by which its terms are multiplied. None: all 1.

    See Also
    --------
    Mismatch : Words that agree up to some letters.
    Gappy : Words with gaps.
    Substring : Words of all lengths.

    References
    ----------
    .. [1] C. Leslie, E. Eskin and W. S. Noble. The spectrum kernel: a string kernel for SVM protein classification. PSB
       2002.

    Examples
    --------
    >>> import mercer as mc
    >>> k = mc.Spectrum(2)
    >>> k(["ACAC", "CACG", "GG"])
    array([[5., 3., 0.],
           [3., 3., 0.],
           [0., 0., 1.]])
    >>> k.feature_names(["ACAC"]), k.features(["ACAC"]).toarray()
    (['AC', 'CA'], array([[2., 1.]]))
    """

    domain: ClassVar[Domain] = Sequences()
    k: int = natural()
    k_min: int | None = None
    weights: Weights = None

    def _validate(self) -> None:
        if self.k_min is not None and not (isinstance(self.k_min, int | np.integer) and 1 <= self.k_min <= self.k):
            raise ValueError(
                coded(f"Spectrum(k={self.k}, k_min={self.k_min!r}): k_min must be a whole number from 1 to k.", "M205")
            )
        if self.weights is not None:
            w = np.asarray(self.weights, np.float64)
            if w.shape != (len(self._lengths),) or not np.isfinite(w).all() or (w < 0).any():
                raise ValueError(
                    coded(
                        f"Spectrum(weights={self.weights!r}): give {len(self._lengths)} numbers of at least 0, one for"
                        " each length from k_min to k.",
                        "M205",
                    )
                )

    @property
    def _lengths(self) -> range:
        return range(int(self.k if self.k_min is None else self.k_min), int(self.k) + 1)

    @property
    def _integer_features(self) -> bool:  # type: ignore[override]
        return self.weights is None

    @property
    def _factors_by_length(self) -> Array:
        return np.ones(len(self._lengths)) if self.weights is None else np.sqrt(np.asarray(self.weights, np.float64))

    def _per_window(self) -> list[tuple[int, Kernel, float]]:
        return [(k, Spectrum(k), float(f)) for k, f in zip(self._lengths, self._factors_by_length, strict=True)]

    def _map(self, X: Ragged) -> HashedRows:
        from mercer.native import words

        factors = self._factors_by_length
        patterns = tuple(Pattern(k, tuple(range(k)), float(f)) for k, f in zip(self._lengths, factors, strict=True))
        small = in_cells(X, patterns, codes_of_words)
        if small is not None:
            return small

        def count(values: Array, offsets: Array, *out: Array) -> int:
            return int(words.spectrum(values, offsets, self._lengths.start, factors, *out))

        return counted(X, len(factors), count)

    def _counts(self, A: Items) -> Counts | None:
        return counts_of(A)

    def _occurrences(self, x: Ragged) -> Occurrences | None:
        found = []
        for k in self._lengths:
            phi = Spectrum(k)._map(windows_of(x, k))
            found.append(Occurrences(phi.codes, stretches(phi.rows, np.full(len(phi.rows), k)), len(x.values)))
        return together(found)

    def _names(self, X: Samples) -> dict[int, Any]:
        found: dict[int, Any] = {}
        for k in self._lengths:
            words = windows(X, k)
            found |= names_of(words, Spectrum(k)._map(self.domain.check(words)), lambda word, _: word)
        return found


# ---------------------------------------------------------------------------------------------------------------------
# Texts
# ---------------------------------------------------------------------------------------------------------------------

_WORD = re.compile(r"\w+")
_WEIGHTS = ("tfidf", "counts", "binary")


def _tokens(text: object) -> Any:
    text = unpacked(text)
    if isinstance(text, bytes | bytearray):
        text = text.decode("utf-8", "replace")
    return _WORD.findall(text.lower()) if isinstance(text, str) else text


class Texts(Sequences):
    """Texts, each cut into words in lower case, or lists of tokens: the internal form is a ``Ragged`` of codes."""

    def check(self, X: Samples) -> Any:
        return X if isinstance(X, Ragged) else self._coded([_tokens(item) for item in items_of(X, "texts")])

    def pair(self, x: Symbol, z: Symbol) -> tuple[Any, Any] | None:
        return None

    def labels(self, X: Samples) -> list[list[Any]] | None:
        return [list(_tokens(item)) for item in items_of(X, "texts")]


@kernel
class BagOfWords(Explicit):
    """Σ over words w of weight_w² · count_w(x) · count_w(z): texts as bags of words.

    A text is cut into words (letters, digits and _, in lower case); a list of tokens is taken as it is. An empty text
    has no features: k(x, ·) = 0. ``normalized()`` gives the cosine of two texts.

    Parameters
    ----------
    weights : {"tfidf", "counts", "binary"}, default="tfidf"
        "tfidf": weight_w = ln((1 + n)/(1 + df_w)) + 1, n texts and df_w of them with the word in the data that the
        kernel is bound to; a word not seen there has df = 0. "counts": all weights are 1. "binary": all weights are 1,
        and counts are 0 or 1.

    See Also
    --------
    Spectrum : Words of k letters, or of k tokens.

    Examples
    --------
    >>> import mercer as mc
    >>> texts = ["A rose is a rose", "a red rose"]
    >>> k = mc.BagOfWords("counts")
    >>> k(texts)
    array([[9., 4.],
           [4., 3.]])
    >>> k.feature_names(texts[:1]), k.features(texts[:1]).toarray()
    (['is', 'a', 'rose'], array([[1., 2., 2.]]))
    """

    domain: ClassVar[Domain] = Texts()
    weights: str = "tfidf"

    def _validate(self) -> None:
        if self.weights not in _WEIGHTS:
            raise ValueError(
                coded(f"BagOfWords(weights={self.weights!r}): choose one of {', '.join(map(repr, _WEIGHTS))}.", "M205")
            )

    @property
    def _data_driven(self) -> bool:
        return self.weights == "tfidf"

    def bind(self, X: Samples, weights: Weights = None) -> Kernel:
        if self.weights != "tfidf":
            return self
        phi = _words(self.domain.check(X))
        w = check_weights(phi.shape[0], weights)
        codes, place = np.unique(phi.codes, return_inverse=True)
        seen = np.bincount(place, weights=w[phi.rows], minlength=len(codes))
        return WeightedWords(codes, np.log((1 + w.sum()) / (1 + seen)) + 1, float(np.log(1 + w.sum()) + 1))

    def _map(self, X: Samples) -> HashedRows:
        phi = _words(X)
        return phi if self.weights == "counts" else phi.valued(np.ones_like(phi.values))

    def _occurrences(self, x: Ragged) -> Occurrences | None:
        return Spectrum(1)._occurrences(x)

    def _names(self, X: Samples) -> dict[int, Any]:
        return _word_names(X)


@kernel
class WeightedWords(Explicit):
    """Bags of words with a weight for each that was seen, by its code, and one for all others."""

    _internal = True

    domain: ClassVar[Domain] = Texts()
    codes: Array
    word_weights: Array
    unseen: float

    def _map(self, X: Samples) -> HashedRows:
        phi = _words(X)
        place = np.minimum(np.searchsorted(self.codes, phi.codes), max(0, len(self.codes) - 1))
        known = self.codes[place] == phi.codes if len(self.codes) else np.zeros(len(place), bool)
        weight = np.where(known, np.asarray(self.word_weights)[place] if len(self.codes) else 0.0, self.unseen)
        return phi.valued(phi.values * weight)

    def _occurrences(self, x: Ragged) -> Occurrences | None:
        return Spectrum(1)._occurrences(x)

    def _names(self, X: Samples) -> dict[int, Any]:
        return _word_names(X)


def _words(X: Ragged) -> HashedRows:
    return Spectrum(1)._map(X)


def _word_names(X: Samples) -> dict[int, Any]:
    words = list(dict.fromkeys(word for item in items_of(X, "texts") for word in _tokens(item)))
    return names_of(words, _words(Sequences().check([[word] for word in words])), lambda word, _: word)
