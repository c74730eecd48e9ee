"""Subsequences with gaps."""

from __future__ import annotations

import numpy as np

from mercer import threads
from mercer.backend import Array
from mercer.data import Ragged, chunks
from mercer.kernels.base import kernel, natural, positive
from mercer.kernels.lanes import Batch, Swept, as_ranks, swept

_DENSE = 2**25  # values of the features of a block, held at a time
_STEPS = 2**24  # of a call
_RATE = 0.25  # steps of the features that take as long as one of the dynamic programme


@kernel
class Subsequence(Swept):
    """Σ over words u of ``length`` letters of Σ over occurrences of u in x and in z, gaps allowed, of decay^(span in x + span in z).

    k_2("cat", "car") = decay⁴. A string of fewer letters has no features: k(x, ·) = 0. The dynamic programme costs O(length·|x||z|) a pair and
    runs for 16 strings at once. Where the alphabet of a block is small, so that all words can be listed, its features are computed instead:
    O(|x|·letters^(length − 1)) a string and one product of matrices. Lodhi et al. 2002.
    """

    length: int = natural()
    decay: float = positive(0.5, symbol="λ", continuous=False)

    def _validate(self) -> None:
        if not self.decay <= 1:
            raise ValueError(f"Subsequence(decay={self.decay}): decay must be at most 1; gaps would add to the value.")

    def _swept(self, A: Ragged, B: Ragged) -> Array:
        A, B = as_ranks(A, B)
        letters = max(1, int(max(A.values.max(initial=0), B.values.max(initial=0))))
        if self._listing_pays(A, B, letters):
            return self._listed(A, B, letters)
        from mercer.loops import lanes, subsequences

        n, decay = int(self.length), float(self.decay)

        def sweep(X: Ragged, rows: Array, batch: Batch, begin: int, end: int) -> Array:
            # the letters as floats, K′ of each level (row 0 before the first letter), and the sums
            letters, K, total = batch.once(
                lambda: (batch.packed.astype(np.float64), np.zeros((n, len(batch.packed) + 1, lanes.FLOATS)), np.zeros(lanes.FLOATS))
            )
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

    def _listed(self, A: Ragged, B: Ragged, letters: int) -> Array:
        from mercer.loops import subsequences

        def features(X: Ragged) -> Array:
            out = np.zeros((len(X), letters ** int(self.length)))
            step = _STEPS // max(1, int(X.lengths.max(initial=0)) * letters ** (int(self.length) - 1))
            for some in chunks(len(X), max(1, step)):
                if not threads.stopping():
                    part = X.take(some)
                    subsequences.features(part.values.astype(np.int64) - 1, part.offsets, letters, int(self.length), float(self.decay), out[some])
            return out

        right = features(B)
        if B is A:
            return right @ right.T
        out = np.empty((len(A), len(B)))
        for some in chunks(len(A), 64):
            out[some] = features(A.take(some)) @ right.T
        return out
