"""Features of sequences, counted by compiled loops; over a small alphabet every word that can occur has a cell, and
counting is addressing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from mercer.annotations import Items
from mercer.arrays import Array
from mercer.data import HashedRows, LazyCounts, Ragged
from mercer.data.representations import batches, offsets_of
from mercer.gram import Counts
from mercer.kernels.sequences.letters import is_small, letters_of, numbered_letters
from mercer.runtime import threads
from mercer.runtime.threads import cached_property

_ENTRIES, _TASKS = 2**22, 16  # most entries of a task; tasks of a large set, for the threads
_LEAST = 2**15  # letters of a task
_PER_PATTERN, _ALL = 2**19, 2**25  # cells of a pattern, whose counts should stay in a cache, and of all patterns
_LETTERS = 200  # fewer than a byte holds
_WORTH = 8  # cells for each word that can occur


Count = Callable[..., int]


def counted(
    X: Ragged, per_letter: float, count: Count, legend: Vocabulary | None = None, values_as: DTypeLike = np.float64
) -> HashedRows:
    """Features of sequences counted by a compiled loop, some rows to a task; ``per_letter`` bounds the entries that a
    letter can make.

    With a ``legend`` the loop gives places in it, else codes.
    """
    some_rows = batches(X.offsets, min(int(_ENTRIES / per_letter), max(_LEAST, len(X.values) // _TASKS)))
    parts: list[Any] = [None] * len(some_rows)

    def task(b: int) -> None:
        some = X.take(some_rows[b])
        room = math.ceil(len(some.values) * per_letter) + 1
        keys, values, lengths = np.empty(room, kind), np.empty(room, values_as), np.zeros(len(some), np.int64)
        end = count(some.values, some.offsets, keys, values, lengths)
        keys, values = keys[:end], values[:end]
        # what is not used must not stay
        parts[b] = (keys, values, lengths) if 2 * end > room else (keys.copy(), values.copy(), lengths)

    kind = np.uint64 if legend is None else np.int32
    threads.run_loops(task, range(len(some_rows)))
    return gathered(parts, kind, values_as, legend)


def gathered(
    parts: list[Any], kind: DTypeLike = np.uint64, values_as: DTypeLike = np.float64, legend: Vocabulary | None = None
) -> HashedRows:
    """(codes, values, lengths) of consecutive rows as one; each part is let go when it has been copied, for they may be
    most of the memory.
    """
    lengths = np.concatenate([p[2] for p in parts]) if parts else np.empty(0, np.int64)
    offsets, end = offsets_of(lengths), 0
    keys, values = np.empty(int(offsets[-1]), kind), np.empty(int(offsets[-1]), values_as)
    for b, part in enumerate(parts):
        some = slice(end, end + len(part[0]))
        keys[some], values[some] = part[:2]
        parts[b], end = None, some.stop
    return HashedRows(keys, values, offsets, legend)


def counts_of(A: Items) -> Counts | None:
    """Features that are whole numbers, as they are."""
    return (
        Counts(((1.0, A),))
        if isinstance(A, LazyCounts) or (isinstance(A, HashedRows) and A.values.dtype.kind in "iu")
        else None
    )


@dataclass(frozen=True)
class Pattern:
    """``places`` of a window whose letters make a word; its count is multiplied by ``factor``."""

    window: int
    places: tuple[int, ...]
    factor: float = 1.0


Code = Callable[[Any, int, Pattern], Any]


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """What the cells stand for: the words of each pattern over ``letters``, one pattern after the other."""

    letters: tuple[int, ...]
    patterns: tuple[Pattern, ...]
    code: Code

    @property
    def _of(self) -> tuple[Any, ...]:
        return self.letters, tuple((p.window, p.places) for p in self.patterns), self.code

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Vocabulary) and self._of == other._of)

    def __hash__(self) -> int:
        return hash(self._of)

    @cached_property
    def sizes(self) -> Any:
        return np.array([len(self.letters) ** len(p.places) for p in self.patterns], np.int64)

    def __len__(self) -> int:
        return int(self.sizes.sum())

    def spelled(self, cells: Array, window: int) -> Iterator[tuple[int, list[str]]]:
        """Some cells with what they stand for: the characters at the places of their pattern, and points elsewhere."""
        characters, base = [chr(c - 1) for c in self.letters], 0
        for pattern, size in zip(self.patterns, self.sizes.tolist(), strict=True):
            for cell in cells[np.searchsorted(cells, base) : np.searchsorted(cells, base + size)].tolist():
                word, number = ["."] * window, cell - base
                for p in reversed(pattern.places):  # the last letter is the first to change
                    number, letter = divmod(number, len(characters))
                    word[p] = characters[letter]
                yield cell, word
            base += size

    @cached_property
    def codes(self) -> Any:
        """The 64-bit code of each cell: that of the same word in any other alphabet."""
        return np.concatenate([self.code(np.array(self.letters, np.int64), m, p) for m, p in enumerate(self.patterns)])


def codes_of_words(letters: Array, m: int, pattern: Pattern) -> Any:
    """Those of ``Spectrum``."""
    from mercer.native import words

    return words.codes_of_words(letters, pattern.window)


def codes_of_gapped(letters: Array, m: int, pattern: Pattern) -> Any:
    """Those of ``Gappy``."""
    from mercer.native import words

    return words.codes_of_gapped(letters, m, pattern.places)


def in_cells(X: Ragged, patterns: tuple[Pattern, ...], code: Code) -> HashedRows | None:
    """The counts of all patterns; None where there are too many cells for what there is to count.

    ``code(letters, m, pattern)``: the codes of the words of pattern m over the letters, in the order of their numbers
    in base a.
    """
    letters = letters_of(X.values) if is_small(X.values) else np.empty(0, np.int64)
    a = len(letters)
    if not 1 <= a <= _LETTERS:
        return None
    if any(a ** len(p.places) > _PER_PATTERN for p in patterns):
        return None
    legend = Vocabulary(tuple(int(c) for c in letters), patterns, code)
    if len(legend) > min(_ALL, _WORTH * (len(X.values) * len(patterns) + 4096)):
        return None
    from mercer.native import cells

    ranks = numbered_letters(X.values, letters, 0, a, np.uint8)
    places = np.zeros((len(patterns), max(len(p.places) for p in patterns)), np.int64)
    for m, p in enumerate(patterns):
        places[m, : len(p.places)] = p.places
    windows, sizes = np.array([p.window for p in patterns]), np.array([len(p.places) for p in patterns])
    bases = (np.cumsum(legend.sizes) - legend.sizes).astype(np.int32)
    factors = np.array([p.factor for p in patterns])

    def count(values: Array, offsets: Array, *out: Array) -> int:
        table = np.zeros(int(legend.sizes.max()), np.int32)
        return int(cells.count(values, offsets, a, windows, sizes, places, bases, factors, table, *out))

    def tally_part(m: int, rows: slice, out: Array) -> None:
        cells.tally(ranks, X.offsets[rows.start : rows.stop + 1], a, windows[m], places[m, : sizes[m]], out)

    def count_part(m: int, rows: slice, *out: Array) -> int:
        one, some, table = (
            slice(m, m + 1),
            X.offsets[rows.start : rows.stop + 1],
            np.zeros(int(legend.sizes[m]), np.int32),
        )
        return int(
            cells.count(ranks, some, a, windows[one], sizes[one], places[one], bases[:1], factors[one], table, *out)
        )

    whole = all(p.factor == 1 for p in patterns)
    values_as = np.float64 if not whole else np.uint16 if int(X.lengths.max(initial=0)) < 2**16 else np.int32
    spelled = Ragged(ranks, X.offsets)

    def make() -> HashedRows:
        return counted(spelled, len(patterns), count, legend, values_as)

    return LazyCounts(legend, X.offsets, legend.sizes, count_part, tally_part, make) if whole else make()
