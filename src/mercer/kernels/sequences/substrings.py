"""Substrings of all lengths."""

from __future__ import annotations

import numpy as np

from mercer.arrays import Array
from mercer.data import Ragged, chunks
from mercer.kernels.base import kernel
from mercer.kernels.parameters import positive
from mercer.kernels.sequences.lanes import SweptScaled, as_ranks
from mercer.runtime import threads
from mercer.troubles import coded

_LETTERS = 2**24  # read in a call: a tenth of a second


@kernel
class Substring(SweptScaled):
    """Σ over all non-empty words u of decay^|u| · occurrences of u in x · occurrences of u in z.

    Substrings of all lengths at once, without a choice of k. By the suffix automaton of one string, through which the
    other is read: O(|x| + |z|) a pair. Of an empty string k(x, ·) = 0. Values grow with the square of the lengths, and
    beyond any bound with decay > 1: ``normalized()`` is usual, and right at any length; a value that no float holds is
    reported with its pair.

    Parameters
    ----------
    decay : float, default=1.0
        λ > 0, the weight of a word for each of its letters: below 1 short words count more, above 1 long ones.
    longest : int, optional
        Count words of at most so many letters. None: of any number.

    See Also
    --------
    Spectrum : Words of one length, or of some.

    References
    ----------
    .. [1] S. V. N. Vishwanathan and A. J. Smola. Fast kernels for string and tree matching. NIPS 2003.

    Examples
    --------
    >>> import mercer as mc
    >>> mc.Substring()(["abc"], ["abc", "bc", "xyz"])
    array([[6., 3., 0.]])
    >>> mc.Substring(decay=0.5).normalized()(["abc", "abd"]).round(3)
    array([[1.   , 0.588],
           [0.588, 1.   ]])
    """

    decay: float = positive(1.0, symbol="λ", continuous=False)
    longest: int | None = None

    def _validate(self) -> None:
        if not np.isfinite(self.decay):
            raise ValueError(coded("Substring(decay=inf): decay must be finite.", "M205"))
        if self.longest is not None and not (isinstance(self.longest, int | np.integer) and self.longest >= 1):
            raise ValueError(
                coded(f"Substring(longest={self.longest!r}): give a whole number of at least 1, or None.", "M205")
            )

    def _scaled(self, A: Ragged, B: Ragged) -> tuple[Array, Array | None]:
        from mercer.native import automaton

        same = B is A
        A, B = as_ranks(A, B)
        letters = int(max(A.values.max(initial=0), B.values.max(initial=0)))
        reach = int(A.lengths.max(initial=0))
        weights = automaton.cumulated(float(self.decay), reach, reach if self.longest is None else int(self.longest))
        out: Array = np.zeros((len(A), len(B)))
        powers: Array = np.zeros(out.shape, np.int32)
        step = max(1, _LETTERS // max(1, len(B.values)))
        for some in chunks(len(A), step):
            if threads.stopping():
                break
            rows = np.arange(some.start, some.stop)
            columns = np.arange(some.start if same else 0, len(B))
            found = np.empty((len(rows), len(columns))), np.empty((len(rows), len(columns)), np.int32)
            automaton.substrings(A.values, A.offsets, rows, B.values, B.offsets, columns, letters, *weights, *found)
            pairs: list[tuple[Array, Array]] = list(zip((out, powers), found, strict=True))
            for whole, part in pairs:
                whole[some, columns[0] if len(columns) else 0 :] = part
                if same:
                    whole[columns[0] :, some] = part.T
        return out, powers if powers.any() else None
