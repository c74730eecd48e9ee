"""Subsequences with gaps."""

from __future__ import annotations

import math

import numpy as np
from scipy.special import gammaln

from mercer.arrays import Array
from mercer.compute import bounds
from mercer.data import Ragged, chunks
from mercer.kernels.base import kernel
from mercer.kernels.parameters import natural, positive
from mercer.kernels.sequences.lanes import Batch, SweptScaled, as_ranks, swept, zeros_in_lines
from mercer.runtime import threads
from mercer.troubles import coded

_TOGETHER = 16  # sequences whose values with themselves are found in one block
_DENSE = 2**25  # values of the features of a block, held at a time
_STEPS = 2**24  # of a call
# exponents: of numbers far from the smallest floats; of what is smaller than the last digit of a sum of those
_RANGE, _DIGITS = -900, 1022 - 60
_RATE = 0.25  # steps of the features that take as long as one of the dynamic programme


@kernel
class Subsequence(SweptScaled):
    """Σ over words u of ``length`` letters that occur in x and z, with gaps, of decay^(span in x + span in z).

    Words may be spread over the sequence, at a price for each place that they span: k_2("cat", "car") = decay⁴, by the
    common subsequence "ca". A string of fewer letters has no features: k(x, ·) = 0. The dynamic programme costs
    O(length·|x||z|) a pair and runs for 16 strings at once. Where the alphabet of a block is small, so that all words
    can be listed, its features are computed instead: O(|x|·letters^(length − 1)) a string and one product of matrices.
    Values that leave the range of floats on the way are computed with exponents apart: normalised ones are right for
    any length and decay, others are reported with their pair.

    Parameters
    ----------
    length : int
        The number of letters of a word, at least 1.
    decay : float, default=0.5
        λ, 0 < λ ≤ 1: the factor for each place that an occurrence spans. Small values punish gaps.

    See Also
    --------
    Substring : Words without gaps, of all lengths.
    Gappy : Words with gaps inside a window.

    References
    ----------
    .. [1] H. Lodhi, C. Saunders, J. Shawe-Taylor, N. Cristianini and C. Watkins. Text classification using string
       kernels.
       JMLR 2, 2002.

    Examples
    --------
    >>> import mercer as mc
    >>> mc.Subsequence(length=2, decay=0.5)(["cat", "car"])
    array([[0.140625, 0.0625  ],
           [0.0625  , 0.140625]])
    >>> mc.Subsequence(length=2).normalized()(["cat"], ["cart", "tac"]).round(3)
    array([[0.574, 0.   ]])
    """

    length: int = natural()
    decay: float = positive(0.5, symbol="λ", continuous=False)

    def _validate(self) -> None:
        if not self.decay <= 1:
            raise ValueError(
                coded(f"Subsequence(decay={self.decay}): decay must be at most 1; gaps would add to the value.", "M205")
            )

    def _scaled(self, A: Ragged, B: Ragged) -> tuple[Array, Array | None]:
        values, again, sides = self._in_floats(A, B)
        if not again.any():
            return values, None
        powers = np.zeros(values.shape, np.int32)
        for i, j in np.argwhere(np.triu(again) if B is A else again):
            values[i, j], powers[i, j] = self._with_exponents(sides[0][int(i)], sides[1][int(j)])
            if B is A:
                values[j, i], powers[j, i] = values[i, j], powers[i, j]
        return values, powers if powers.any() else None

    def _with_themselves(self, A: Ragged) -> tuple[Array, Array]:
        values, powers, order = np.zeros(len(A)), np.zeros(len(A), np.int32), self._alike(A)

        def task(some: slice) -> None:
            part = A.take(order[some])
            found, again, (left, _) = self._in_floats(part, part)
            values[order[some]] = np.diagonal(found)
            for i in np.flatnonzero(np.diagonal(again)):
                values[order[some][i]], powers[order[some][i]] = self._with_exponents(left[int(i)], left[int(i)])

        threads.run_tasks(task, chunks(len(A), _TOGETHER), bounds().workers)
        return values, powers

    def _in_floats(self, A: Ragged, B: Ragged) -> tuple[Array, Array, tuple[Ragged, Ragged]]:
        """The values, where they cannot be relied on, and the letters by number."""
        A, B = as_ranks(A, B)
        letters = max(1, int(max(A.values.max(initial=0), B.values.max(initial=0))))
        with np.errstate(over="ignore", invalid="ignore"):  # what is infinite is computed again
            values = self._by_words(A, B, letters) if self._listing_pays(A, B, letters) else self._in_lanes(A, B)
        return values, ~self._reliable(values, A.lengths, B.lengths), (A, B)

    def _with_exponents(self, x: Array, z: Array) -> tuple[float, int]:
        from mercer.native import scaled, subsequences

        if threads.stopping():
            return 0.0, 0
        value, unit = subsequences.with_exponents(x, z, int(self.length), float(self.decay))
        return value, scaled.UNIT * unit

    def _reliable(self, values: Array, left: Array, right: Array) -> Array:
        """Where numbers that left the range of floats on the way cannot matter.

        All numbers are sums of powers of ``decay`` ≤ 1, and at most as many as there are subsequences. One that became
        0 was below 2^−1022, and what follows from it is at most as many times that as there are ways to go on: with all
        steps together, far below the value.
        """
        n = int(self.length)
        smallest = math.log2(self.decay) * (left.max(initial=0) + right.max(initial=0))
        if smallest > _RANGE:  # nothing can become 0
            return np.isfinite(values)
        ways = [
            np.where(side >= n, np.log2(np.maximum(side, 1)) + _log_choices(np.maximum(side, n), n - 1), -np.inf)
            for side in (left, right)
        ]
        least = ways[0][:, None] + ways[1][None, :] + math.log2(n) - _DIGITS
        with np.errstate(divide="ignore"):
            return np.isfinite(values) & ((np.log2(values) >= least) | (least == -np.inf))

    def _in_lanes(self, A: Ragged, B: Ragged) -> Array:
        from mercer.native import lanes, subsequences

        n, decay = int(self.length), float(self.decay)

        def sweep(X: Ragged, rows: Array, batch: Batch, begin: int, end: int) -> Array:
            letters, K, total = batch.once(lambda: _room(batch, n))
            out = np.zeros((len(rows), lanes.FLOATS))
            subsequences.subsequences(X.values, X.offsets, rows, begin, end, letters, n, decay, K, total, out)
            return out

        return swept(A, B, lanes.FLOATS, lanes.STEPS, sweep)

    def _listing_pays(self, A: Ragged, B: Ragged, letters: int) -> bool:
        words = float(letters) ** int(self.length)
        if (min(len(A), 64) + len(B)) * words > _DENSE:
            return False
        listing = _RATE * (len(A.values) + len(B.values)) * (words / letters + 4) + len(A) * len(B) * words / 64
        return listing < float(self.length) * len(A.values) * len(B.values) / 64

    def _by_words(self, A: Ragged, B: Ragged, letters: int) -> Array:
        from mercer.native import subsequences

        def features(X: Ragged) -> Array:
            out = np.zeros((len(X), letters ** int(self.length)))
            step = _STEPS // max(1, int(X.lengths.max(initial=0)) * letters ** (int(self.length) - 1))
            for some in chunks(len(X), max(1, step)):
                if not threads.stopping():
                    part = X.take(some)
                    subsequences.features(
                        part.values.astype(np.int64) - 1,
                        part.offsets,
                        letters,
                        int(self.length),
                        float(self.decay),
                        out[some],
                    )
            return out

        right = features(B)
        if B is A:
            return right @ right.T
        out = np.empty((len(A), len(B)))
        for some in chunks(len(A), 64):
            out[some] = features(A.take(some)) @ right.T
        return out


def _room(batch: Batch, length: int) -> tuple[Array, Array, Array]:
    """The letters as floats, K′ of each level (row 0 before the first letter), and the sums."""
    places, width = batch.packed.shape
    letters = zeros_in_lines((places, width))
    letters[:] = batch.packed
    return letters, zeros_in_lines((length, places + 1, width)), zeros_in_lines((width,))


def _log_choices(n: Array, k: int) -> Array:
    """log₂ of the number of ways to choose k of n."""
    out: Array = (gammaln(n + 1.0) - gammaln(k + 1.0) - gammaln(n - k + 1.0)) / math.log(2.0)
    return out
