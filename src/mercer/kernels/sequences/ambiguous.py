"""DNA with letters that stand for several bases: words count with their expectation over what they can be read as."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np

from mercer.annotations import Samples, Weights
from mercer.arrays import Array
from mercer.data import Domain, HashedRows, Ragged, chunks
from mercer.data.representations import offsets_of
from mercer.data.sequences import AMBIGUOUS, NOTHING, as_texts, character_code, without_uracil
from mercer.kernels.base import Kernel, kernel
from mercer.kernels.compose.feature_space import Wrapper
from mercer.kernels.families import Explicit
from mercer.kernels.occurrences import Occurrences, together
from mercer.kernels.parameters import natural
from mercer.kernels.sequences.strands import sequences_of
from mercer.kernels.sequences.windows import OfWindows
from mercer.troubles import coded

_LETTERS = 2**22  # of words that are read at a time

_BASES = {character_code(a): (character_code(a),) for a in "ACGTacgt"}
_READINGS = _BASES | {character_code(a): tuple(map(character_code, bases)) for a, bases in AMBIGUOUS.items()}


def _table() -> tuple[Array, Array]:
    """For each code below 256, how many bases it stands for, and which: 0 for what is no letter of DNA."""
    many, bases = np.zeros(256, np.int64), np.zeros((256, 4), np.uint8)
    for code, read in _READINGS.items():
        many[code], bases[code, : len(read)] = len(read), read
    return many, bases


@kernel
class Expanded(Wrapper, Explicit):
    """⟨E φ(x), E φ(z)⟩ over the bases that ambiguous letters of DNA stand for, each as likely as the others.

    R is A or G, N any base, and so on (IUPAC); the word "ANG" counts a quarter each of AAG, ACG, AGG and ATG. A word
    that can be read in more than ``most`` ways does not count, nor does one with another letter; U is T. k is a kernel
    whose features add up over windows.
    """

    usage: ClassVar[str] = "k.expanded(most=64)"
    method_name: ClassVar[str] = "expanded"
    kernel: Kernel
    most: int = natural(64, maximum=4**6)

    def _method_arguments(self) -> tuple[Any, ...]:
        return (int(self.most),)

    @property
    def domain(self) -> Domain:  # type: ignore[override]
        return sequences_of(self.kernel)

    @property
    def psd(self) -> bool | None:  # type: ignore[override]
        return True

    def _validate(self) -> None:
        if not isinstance(self.kernel, OfWindows):
            raise TypeError(
                coded(
                    f"expanded() reads words with ambiguous letters, and {self.kernel} has no features that add up"
                    " over words: put it directly behind Spectrum, Gappy or Mismatch, as"
                    " Spectrum(6).expanded().normalized().",
                    "M215",
                )
            )

    def bind(self, X: Samples, weights: Weights = None) -> Kernel:
        plain = _plain(without_uracil(self.domain.check(X)))
        return self._with_children(lambda child: child.bind(plain, weights))

    def _map(self, X: Ragged) -> HashedRows:
        X = without_uracil(X)
        found = [HashedRows.of(_features(self.kernel._listed(), _plain(X)))]
        for width, part, factor in self._of_words():
            for begins, ways, words in self._readings(X, width):
                rows = np.searchsorted(X.offsets, begins, side="right") - 1
                found.append(factor * _expected(part, rows, ways, words, len(X)))
        total, *others = found
        for other in others:
            total = total + other
        return total

    def _prepare(self, X: Samples) -> Any:
        return self._map(X)

    def _width(self, A: HashedRows) -> int:
        return Explicit._width(self, A)

    def _of_words(self) -> list[tuple[int, Kernel, float]]:
        assert isinstance(self.kernel, OfWindows)
        return self.kernel._per_window()

    def _readings(self, X: Ragged, width: int) -> Iterator[tuple[Array, Array, Ragged]]:
        """Some of the windows with ambiguous letters at a time: where they begin, in how many ways each can be read,
        and all readings of the first, of the second, …, each followed by the window without those letters.
        """
        many, bases = _table()
        known = np.where((X.values >= 0) & (X.values < len(many)), X.values, NOTHING).astype(np.int64)
        row = np.repeat(np.arange(len(X)), X.lengths)
        begins = np.arange(max(0, len(known) - width + 1))
        begins = begins[row[begins] == row[begins + width - 1]]
        ways = np.ones(len(begins))
        for n in (0, 2, 3, 4):  # letters with so many readings, counted before the windows are written out
            before = np.concatenate([[0], np.cumsum(many[known] == n)])
            ways *= float(n) ** (before[begins + width] - before[begins])
        kept = (ways > 1) & (ways <= int(self.most))
        begins, ways = begins[kept], ways[kept].astype(np.int64)
        for some in chunks(len(begins), max(1, _LETTERS // (width * (int(self.most) + 1)))):
            windows = known[begins[some, None] + np.arange(width)]
            yield begins[some], ways[some], _read(windows, ways[some], many, bases)

    def _occurrences(self, x: Ragged) -> Occurrences | None:
        x = without_uracil(x)
        plain = self.kernel._listed()._occurrences(_plain(x))
        if plain is None:
            return None
        found = [plain]
        for width, part, _ in self._of_words():
            for begins, ways, words in self._readings(x, width):
                ends = np.cumsum(ways + 1) - 1
                for begin, first, last in zip(begins, ends - ways, ends, strict=True):
                    counted = part._occurrences(words.take(slice(last, last + 1)))
                    for n in range(first, last):
                        read = part._occurrences(words.take(slice(n, n + 1)))
                        if read is None or counted is None:
                            return None
                        new = np.flatnonzero(~np.isin(read.codes, counted.codes))
                        there = read.places.take(new)
                        places = Ragged(there.values + begin, there.offsets)
                        found.append(Occurrences(read.codes[new], places, plain.size))
        return together(found)

    def _names(self, X: Samples) -> dict[int, Any]:
        checked = without_uracil(self.domain.check(X))
        texts = as_texts(_plain(checked))
        for width, _, _ in self._of_words():
            for _, _, words in self._readings(checked, width):
                texts += as_texts(words)
        return self.kernel._listed()._names(texts)


def _plain(X: Ragged) -> Ragged:
    """With nothing in the place of what is no base."""
    return Ragged(np.where(np.isin(X.values, list(_BASES)), X.values, NOTHING).astype(X.values.dtype), X.offsets)


def _features(k: Kernel, X: Ragged) -> Any:
    return k._features(k._prepared(X, k.domain))


def _read(windows: Array, ways: Array, many: Array, bases: Array) -> Ragged:
    width = windows.shape[1]
    place = np.concatenate([np.arange(n) for n in ways]) if len(ways) else np.empty(0, np.int64)
    words = np.repeat(windows, ways, axis=0)
    for p in range(width):  # the number of a reading, in digits
        options = many[words[:, p]]
        place, digit = np.divmod(place, options)
        words[:, p] = bases[words[:, p], digit]
    ends = np.cumsum(ways)
    plain = np.where(many[windows] == 1, windows, NOTHING)
    words = np.insert(words, ends, plain, axis=0).astype(np.uint8)
    return Ragged(words.reshape(-1), np.arange(len(words) + 1, dtype=np.int64) * width)


def _expected(k: Kernel, rows: Array, ways: Array, words: Ragged, n: int) -> HashedRows:
    """For each of n sequences, Σ over its windows of the mean features of their readings, less those that the window
    has without its ambiguous letters, which are counted already.
    """
    phi = HashedRows.of(_features(k, words))
    window = np.repeat(np.arange(len(ways)), ways + 1)
    last = np.zeros(len(window), bool)
    last[np.cumsum(ways + 1) - 1] = True
    codes, values, entry = phi.codes, phi.values.astype(np.float64), phi.rows
    # whole numbers until here: what does not depend on the reading cancels exactly
    values = np.where(last[entry], -ways[window[entry]] * values, values)
    codes, at, values = _added(codes, window[entry], values)
    kept = values != 0
    codes, at, values = _added(codes[kept], rows[at[kept]], values[kept] / ways[at[kept]])
    return HashedRows(codes, values, offsets_of(np.bincount(at, minlength=n)))


def _added(codes: Array, at: Array, values: Array) -> tuple[Array, Array, Array]:
    """One entry for each code of each row, in order."""
    order = np.lexsort((codes, at))
    codes, at, values = codes[order], at[order], values[order]
    first = np.flatnonzero(np.concatenate([[True], (np.diff(at) != 0) | (np.diff(codes) != 0)])[: len(at)])
    return codes[first], at[first], np.add.reduceat(values, first) if len(first) else values
