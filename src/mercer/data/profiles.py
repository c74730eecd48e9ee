"""Profiles of sequences: at each place, how probable each letter is."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from mercer import arrays
from mercer.annotations import Samples
from mercer.data.amino_acids import STANDARD, substitutions
from mercer.data.objects import Domain
from mercer.data.representations import Ragged
from mercer.data.sequences import is_missing, items_of, unpacked
from mercer.data.tables import DataError, shown

_TOLERANCE = 1e-3  # of the sum of a row: tables of profiles have three digits or more


@dataclass(frozen=True)
class Profiles(Domain):
    """Arrays (length × letters) of probabilities, rows that sum to 1, the columns in the order of ``alphabet``; or
    proteins as texts, each letter as the amino acids that replace it in related proteins (BLOSUM62).

    A row of zeros is a place where no letter is known, and so is a letter of a text that is none of a protein. The
    internal form is a ``Ragged`` of rows.
    """

    alphabet: str = STANDARD

    def check(self, X: Samples) -> Ragged:
        if isinstance(X, Ragged):
            return X
        width = len(self.alphabet)
        rows = [self._profile(i, unpacked(item)) for i, item in enumerate(items_of(X, "profiles"))]
        return Ragged.of(rows) if rows else Ragged(np.empty((0, width)), np.zeros(1, np.int64))

    def labels(self, X: Samples) -> list[list[Any]] | None:
        """The most probable letter of each place."""
        found = self.check(X)
        top = [self.alphabet[a] for a in found.values.argmax(axis=1)] if len(found.values) else []
        return [top[b:e] for b, e in pairwise(found.offsets.tolist())]

    def pair(self, x: object, z: object) -> tuple[Any, Any] | None:
        return ([x], [z]) if isinstance(x, str | bytes) and isinstance(z, str | bytes) else None

    def _profile(self, i: int, item: object) -> Any:
        if is_missing(item):
            raise DataError(
                f"Profile {i} is missing ({item}); drop it, or give an empty one, an array without rows.", "M101"
            )
        if isinstance(item, bytes | bytearray):
            item = item.decode("latin-1")
        if isinstance(item, str):
            return self._smoothed(i, item)
        try:
            P = np.asarray(arrays.to_numpy(item) if arrays.is_tensor(item) else item, np.float64)
        except (TypeError, ValueError):
            raise DataError(
                f"Profile {i} is {shown(item)}; give an array of probabilities, a row for each place, or a protein as a"
                " text.",
                "M107",
            ) from None
        if P.size == 0:
            return np.empty((0, len(self.alphabet)))
        if P.ndim != 2 or P.shape[1] != len(self.alphabet):
            raise DataError(
                f"Profile {i} has shape {P.shape}; there must be {len(self.alphabet)} columns, one for each letter of"
                f" {self.alphabet!r}, and a row for each place.",
                "M107",
            )
        wrong = ~(np.isfinite(P) & (P >= 0)).all(axis=1)
        sums = P.sum(axis=1)
        wrong |= (sums != 0) & ~(np.abs(sums - 1) <= _TOLERANCE)
        if wrong.any():
            place = int(np.argmax(wrong))
            raise DataError(
                f"Profile {i} has {np.round(P[place], 4).tolist()} at place {place}; a row is probabilities that sum to"
                " 1, or zeros where nothing is known: divide counts by their sum, take 2^score·background of scores.",
                "M117",
            )
        return P

    def _smoothed(self, i: int, text: str) -> Any:
        if set(self.alphabet) != set(STANDARD):
            raise DataError(
                f"Profile {i} is a text, and texts are read as proteins; over the alphabet {self.alphabet!r} give an"
                " array of probabilities, a row for each place.",
                "M117",
            )
        rows, chosen = substitutions(), [STANDARD.index(a) for a in self.alphabet]
        nothing = np.zeros(len(STANDARD))
        P = np.array([rows.get(a, nothing) for a in text.upper()]).reshape(-1, len(STANDARD))
        return P[:, chosen]
