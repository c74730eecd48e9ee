"""Letters of sequences, which are codes of any size, as small numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from mercer.arrays import Array
from mercer.data import Ragged
from mercer.data.sequences import one_code

_TABLE = 2**21  # codes up to here are looked up in a table


def _top(values: Array) -> int | None:
    """The largest code; None if there are codes that a table has no place for."""
    if values.dtype == np.uint8:
        return 255
    if not len(values):
        return 0
    top = int(values.max())
    return top if top < _TABLE and (values.dtype.kind == "u" or values.min() >= 0) else None


def is_small(values: Array) -> bool:
    """Whether all codes are small, as those of characters are, and found in a moment."""
    return _top(values) is not None


def letters_of(*sides: Array) -> Array:
    """The letters that occur, in the order of their codes; without 0, which equals nothing."""
    tops = [_top(values) for values in sides]
    if any(top is None for top in tops):
        found = np.unique(np.concatenate(sides))
        return found[found != 0]
    from mercer.native import cells

    seen = np.zeros(max(top for top in tops if top is not None) + 1, np.uint8)
    for values in sides:
        cells.mark(values, seen)
    return np.flatnonzero(seen[1:]) + 1


def numbered_letters(values: Array, letters: Array, first: int, others: int, dtype: DTypeLike) -> Array:
    """The place of each value among ``letters``, which are in order, plus ``first``; ``others`` for what is none of
    them.
    """
    top = _top(values)
    if top is None:
        place = np.minimum(np.searchsorted(letters, values), max(0, len(letters) - 1))
        known = letters[place] == values if len(letters) else np.zeros(len(values), bool)
        return np.where(known, place + first, others).astype(dtype)
    from mercer.native import cells

    table, out = np.full(top + 1, others, dtype), np.empty(len(values), dtype)
    here = (letters >= 0) & (letters <= top)
    table[letters[here]] = first + np.flatnonzero(here)
    cells.look_up(values, table, out)
    return out


def is_alphabet(letters: Sequence[Any]) -> bool:
    """Whether these are letters, each once."""
    return len(letters) > 0 and len({one_code(a) for a in letters}) == len(letters)


def in_alphabet(X: Ragged, alphabet: Sequence[Any]) -> Ragged:
    """The letters as numbers from 1, in the order of their codes; 0 for those outside the alphabet."""
    letters = np.sort(np.array([one_code(a) for a in alphabet], np.int64))
    return Ragged(numbered_letters(X.values, letters, 1, 0, np.uint8 if len(letters) < 255 else np.int64), X.offsets)
