"""Sequences of symbols as one buffer of codes.

A symbol becomes a code: a character its code point, a byte its value, a whole number itself, each plus one; any other
hashable token a 64-bit hash of its value. So "ACGT", b"ACGT" and ["A", "C", "G", "T"] are the same sequence, and no
list of symbols is needed. The code 0 is kept for a symbol that equals nothing, not even itself.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer import arrays
from mercer.annotations import Samples
from mercer.arrays import Array
from mercer.data.notices import lost
from mercer.data.objects import Domain
from mercer.data.representations import Ragged, Rep, listed, offsets_of
from mercer.data.tables import DataError, as_frame, shown
from mercer.troubles import coded

NOTHING = 0  # the code of a symbol that equals nothing
_HASHED = 2**40  # hashed tokens start here, above code points and most numbers
_OWN = 2**62  # whole numbers below are their own codes, but for one
_RULES = ("skip", "letter", "error")
_CASES = (None, "keep", "fold")


def items_of(X: Samples, noun: str) -> list[Any]:
    """A collection of samples as a list: lists, arrays, generators, a column of a data frame."""
    if isinstance(X, str | bytes | bytearray | Mapping):
        raise DataError(f"Expected a collection of {noun}, got one {type(X).__name__}; put it in a list: [x].", "M103")
    frame = as_frame(X) if hasattr(X, "columns") else None
    if frame is not None:
        if len(frame.columns) != 1:
            raise DataError(
                f"Expected a collection of {noun}, got a table of {len(frame.columns)} columns; choose one with"
                f" kernel.on({frame.columns[0]!r}).",
                "M103",
            )
        X = frame.get_column(frame.columns[0]).to_native()
    X = listed(X)
    if arrays.is_tensor(X):
        X = arrays.to_numpy(X)
    if isinstance(X, np.ndarray) and X.ndim == 2 and X.shape[1] == 1 and X.dtype.kind in "OUS":
        X = X[:, 0]  # one column of a table
    if not isinstance(X, Iterable):
        raise DataError(f"Expected a collection of {noun}, got {type(X).__name__}.", "M103")
    return X if isinstance(X, list) else list(X)


def not_missing(i: int, item: object, noun: str) -> None:
    if is_missing(item):
        raise DataError(
            f"Item {i} of the {noun} is missing ({item}); drop it or put an empty one in its place.", "M101"
        )


def is_missing(value: object) -> bool:
    return (
        value is None
        or (isinstance(value, float | np.floating) and math.isnan(value))
        or type(value).__name__ in ("NAType", "NaTType")
    )


# ---------------------------------------------------------------------------------------------------------------------
# Symbols
# ---------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Sequences(Domain):
    """Strings, bytes, lists of hashable tokens, integer arrays, records with a ``seq``; of any alphabet and any length,
    also empty.

    ``case``: "fold" takes letters of either case as the same; "keep" says that they differ, None as well, with a
    warning where DNA has both. The internal form is a ``Ragged`` of codes: of uint8 where all are below 256, else of
    int64.
    """

    case: str | None = None

    def check(self, X: Samples) -> Rep:
        found = X if isinstance(X, Ragged) else self._coded(X)
        if self.case == "fold":
            return folded(found)
        if self.case is None and found is not X:
            _look_at_case(found)
        return found

    def _coded(self, X: Samples) -> Ragged:
        items = items_of(X, "sequences")
        if all(isinstance(item, str) for item in items):
            return _characters(items)
        if all(isinstance(item, bytes | bytearray) for item in items):
            return _narrow(np.frombuffer(b"".join(items), np.uint8), [len(item) for item in items])
        known: dict[Any, int] = {}
        rows = [_codes(i, item, known) for i, item in enumerate(items)]
        return _narrowed(Ragged.of(rows, np.int64))

    def labels(self, X: Samples) -> list[list[Any]] | None:
        items = [unpacked(item) for item in items_of(X, "sequences")]
        return [list(item.decode("latin-1") if isinstance(item, bytes | bytearray) else item) for item in items]

    def pair(self, x: object, z: object) -> tuple[Any, Any] | None:
        return ([x], [z]) if isinstance(x, str | bytes) and isinstance(z, str | bytes) else None


def folded(ragged: Ragged) -> Ragged:
    """The sequences with each letter in upper case; tokens of several characters stay as they are."""
    found, places = np.unique(ragged.values, return_inverse=True)
    upper = np.array(
        [
            ord(chr(c - 1).upper()) + 1 if 0 < c <= 0x110000 and len(chr(c - 1).upper()) == 1 else c
            for c in found.tolist()
        ],
        np.int64,
    )
    return ragged if (upper == found).all() else _narrowed(Ragged(upper[places], ragged.offsets))


_BOTH_CASES = ("acgt", "ACGT")
_DNA = "ACGTUNacgtun-"


def _look_at_case(ragged: Ragged) -> None:
    """Say so where DNA has letters of both cases."""
    values = ragged.values
    if (
        values.dtype != np.uint8
        or values.ndim != 1
        or not all(any((values == ord(c) + 1).any() for c in case) for case in _BOTH_CASES)
    ):
        return
    known = np.zeros(256, bool)
    known[[ord(c) + 1 for c in _DNA] + [NOTHING]] = True
    if known[values].all():
        k = int(np.argmax(np.isin(values, [ord(c) + 1 for c in _BOTH_CASES[0]])))
        i = int(np.searchsorted(ragged.offsets, k, side="right")) - 1
        at = f"item {i} has {_shown(int(values[k]))} at place {k - int(ragged.offsets[i])}"
        lost(
            "case",
            f"The sequences are DNA in upper and lower case ({at}), and 'a' is not 'A' here: with kernel.over('ACGT',"
            " case='fold') they are the same; case='keep' says that they differ.",
        )


def _characters(items: Sequence[str]) -> Ragged:
    text = "".join(items)
    lengths = list(map(len, items))
    try:
        return _narrow(np.frombuffer(text.encode("latin-1"), np.uint8), lengths)
    except UnicodeEncodeError:
        points = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
        return Ragged(points.astype(np.int64) + 1, offsets_of(lengths))


def _narrow(values: Array, lengths: Sequence[int]) -> Ragged:
    if len(values) and values.max() == 255:
        return Ragged(values.astype(np.int64) + 1, offsets_of(lengths))
    return Ragged(values + np.uint8(1), offsets_of(lengths))


def _narrowed(ragged: Ragged) -> Ragged:
    v = ragged.values
    small = not len(v) or (v.min() >= 0 and v.max() < 256)
    return Ragged(v.astype(np.uint8), ragged.offsets) if small else ragged


def _codes(i: int, item: object, known: dict[Any, int]) -> Any:
    """The codes of one sequence; ``known`` remembers tokens that were hashed."""
    item = unpacked(item)
    not_missing(i, item, "sequences")
    if isinstance(item, str):
        return np.array([ord(c) + 1 for c in item], np.int64)
    if isinstance(item, bytes | bytearray):
        item = np.frombuffer(item, np.uint8)
    if isinstance(item, np.ndarray) and item.ndim == 1 and item.dtype.kind in "iu" and not _huge(item):
        numbers = item.astype(np.int64)
        return np.where(numbers >= 0, numbers + 1, numbers)
    if not hasattr(item, "__len__") or not isinstance(item, Iterable) or getattr(item, "ndim", 1) == 0:
        raise DataError(
            f"Item {i} of the sequences is {shown(item)}, a {type(item).__name__}; give strings, bytes or lists of"
            " tokens.",
            "M107",
        )
    return np.array([_code(i, j, token, known) for j, token in enumerate(item)], np.int64)


def unpacked(item: Any) -> Any:
    """A record, as Biopython's, as its sequence; a tensor as an array; anything else as it is."""
    if hasattr(item, "seq"):
        return item.seq if isinstance(item.seq, str | bytes | bytearray) else str(item.seq)
    if type(item).__name__ == "StringScalar":  # of pyarrow
        return item.as_py()
    return arrays.to_numpy(item) if arrays.is_tensor(item) else item


def _huge(numbers: Array) -> bool:
    """Whether some are beyond those that are their own codes."""
    return len(numbers) > 0 and (int(numbers.max()) >= _OWN or int(numbers.min()) <= -_OWN)


def _code(i: int, j: int, token: object, known: dict[Any, int]) -> int:
    if is_missing(token):
        raise DataError(
            f"Item {i} of the sequences has a missing token ({token}) at place {j}; drop it, or give it a name.", "M101"
        )
    try:
        token = canonical(token)
        if isinstance(token, str) and len(token) == 1:
            return ord(token) + 1
        if isinstance(token, int) and abs(token) < _OWN:
            return token + 1 if token >= 0 else token
        if token not in known:
            known[token] = token_code(token)
    except TypeError:
        what = f"Item {i} of the sequences has a {type(token).__name__} at place {j}"
        raise DataError(f"{what}; tokens are strings, numbers or tuples of them.", "M107") from None
    return known[token]


def canonical(token: object) -> Any:
    """The same object for equal tokens: 1.0 and True are 1, NumPy's numbers and texts are Python's, sets are sorted."""
    if isinstance(token, np.ndarray):
        raise TypeError("an array is no token")
    if isinstance(token, np.generic):
        token = token.item()
    if isinstance(token, bool) or (isinstance(token, float) and token.is_integer()):
        return int(token)
    if isinstance(token, tuple):
        return tuple(canonical(part) for part in token)
    if isinstance(token, frozenset):
        return ("a set", *sorted((canonical(part) for part in token), key=repr))
    hash(token)
    return token


def token_code(token: object) -> int:
    """A stable code of a hashable token, the same in every process."""
    text = repr(token)
    if " at 0x" in text:
        raise DataError(
            f"A token is a {type(token).__name__} without a value to compare; give strings, numbers or tuples of them.",
            "M107",
        )
    number = int.from_bytes(hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")
    return _HASHED + number % (2**62 - _HASHED)


def one_code(symbol: object) -> int:
    """The code of a single symbol."""
    return _code(0, 0, symbol, {})


def restricted(ragged: Ragged, alphabet: Sequence[Any] | None, unknown: str, case: str | None = None) -> Ragged:
    """The sequences over an alphabet; what is not in it equals nothing ("skip"), is one letter of its own ("letter"),
    or an error.
    """
    if alphabet is None:
        return ragged
    known = np.unique(_letters(alphabet, case))
    values = ragged.values
    place = np.minimum(np.searchsorted(known, values), len(known) - 1)
    strange = known[place] != values
    if not strange.any():
        return ragged
    if unknown == "error":
        k = int(np.argmax(strange))
        i = int(np.searchsorted(ragged.offsets, k, side="right")) - 1
        raise DataError(
            f"Item {i} of the sequences has {_shown(int(values[k]))} at place {k - int(ragged.offsets[i])}, which is"
            " not in the alphabet; correct it, or say what it means: unknown='skip' or unknown='letter'.",
            "M108",
        )
    other = NOTHING if unknown == "skip" else 1 if 1 not in known else one_code("other letter")
    changed = np.where(strange, other, values.astype(np.int64))
    return _narrowed(Ragged(changed, ragged.offsets))


def _letters(alphabet: Sequence[Any], case: str | None) -> Any:
    """The codes of the letters of an alphabet, in the case that the sequences are in."""
    codes = np.array([one_code(a) for a in alphabet], np.int64)
    return folded(Ragged(codes, np.array([0, len(codes)]))).values.astype(np.int64) if case == "fold" else codes


def check_alphabet(alphabet: Sequence[Any] | None, unknown: str, case: str | None) -> None:
    if unknown not in _RULES:
        raise ValueError(coded(f"unknown={unknown!r}: choose one of {', '.join(map(repr, _RULES))}.", "M205"))
    if case not in _CASES:
        raise ValueError(coded(f"case={case!r}: choose one of {', '.join(map(repr, _CASES))}.", "M205"))
    if alphabet is None:
        if case is None:
            raise ValueError(
                coded(
                    "over(): give an alphabet, as over('ACGT'), or say what to do with the case of letters, as"
                    " over(case='fold').",
                    "M205",
                )
            )
        return
    if not len(alphabet) or len({one_code(a) for a in alphabet}) != len(alphabet):
        raise ValueError(coded(f"The alphabet {alphabet!r} must have letters, each once.", "M205"))


def _shown(code: int) -> str:
    return repr(chr(code - 1)) if 0 < code <= 0x110000 else f"the symbol of code {code}"


def as_texts(ragged: Ragged) -> list[str]:
    """The sequences as strings again; what equals nothing is shown as the replacement character."""
    return ["".join(chr(c - 1) if c > 0 else "\ufffd" for c in ragged[i].tolist()) for i in range(len(ragged))]


_BASES, _PARTNERS = "ACGTRYKMBDHVacgtrykmbdhv", "TGCAYRMKVHDBtgcayrmkvhdb"  # S, W and N are their own
PARTNERS = dict(zip(_BASES, _PARTNERS, strict=True))  # of each letter on the other strand
_UPPER = {
    "R": "AG", "Y": "CT", "S": "CG", "W": "AT", "K": "GT", "M": "AC",
    "B": "CGT", "D": "AGT", "H": "ACT", "V": "ACG", "N": "ACGT",
}  # fmt: skip
AMBIGUOUS = _UPPER | {a.lower(): bases.lower() for a, bases in _UPPER.items()}  # letters of DNA for several bases


def character_code(letter: str) -> int:
    """The code of a character."""
    return ord(letter) + 1


def _looked_up(pairs: Iterable[tuple[str, str]], codes: Array) -> Any:
    """The codes with some characters, of Latin-1, in the place of others."""
    table = np.arange(256)
    for a, b in pairs:
        table[character_code(a)] = character_code(b)
    if codes.dtype == np.uint8:
        return table.astype(np.uint8)[codes]
    return np.where((codes >= 0) & (codes < 256), table[codes & 255], codes)


def without_uracil(ragged: Ragged) -> Ragged:
    """The sequence as DNA, U being T."""
    return Ragged(_looked_up(zip("Uu", "Tt", strict=True), ragged.values), ragged.offsets)


def strands(ragged: Ragged) -> tuple[Ragged, Ragged]:
    """The sequence as DNA, U being T, and the other strand, read in its own direction: A–T, C–G, R–Y and so on; N and
    whatever else is no letter of DNA stays.
    """
    one = without_uracil(ragged)
    ends = np.repeat(ragged.offsets[1:] + ragged.offsets[:-1] - 1, ragged.lengths)
    turned = _looked_up(zip(_BASES, _PARTNERS, strict=True), one.values)[ends - np.arange(len(ends))]
    return one, Ragged(turned, ragged.offsets)
