"""Gapped words whose counts are estimated before they are compared: the gkm kernels of LS-GKM."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from mercer.annotations import Items
from mercer.arrays import Array
from mercer.data import Ragged
from mercer.kernels.base import kernel
from mercer.kernels.parameters import natural, positive
from mercer.kernels.sequences.lanes import LaneKernel
from mercer.kernels.sequences.letters import in_alphabet, is_alphabet
from mercer.kernels.sequences.windows import weighted_window_sums, window_sums
from mercer.troubles import coded

_FILTERS = ("truncated", "full", "none")
_LETTERS = 254  # that a byte can tell apart, beside padding and the letter that equals nothing


@lru_cache(maxsize=64)
def krawtchouk(g: int, letters: int) -> tuple[tuple[int, ...], ...]:
    """K_j(m), j, m = 0 … g: what a function of the Hamming distance is expanded in. Σ_m c(m) K_m(j), j = 0 … g, are the
    eigenvalues of the matrix c(distance) over all words of g letters.
    """
    return tuple(
        tuple(
            sum((-1) ** i * (letters - 1) ** (j - i) * math.comb(m, i) * math.comb(g - m, j - i) for i in range(j + 1))
            for m in range(g + 1)
        )
        for j in range(g + 1)
    )


@lru_cache(maxsize=64)
def weights_by_distance(g: int, k: int, filter: str, letters: int) -> tuple[Fraction, ...]:
    """c(m) for m = 0 … g different places.

    The least-squares estimate of the counts of all words from those of gapped words is a projection, on the words'
    functions of at most k places: its entries are h(m) = letters^−g Σ_{j ≤ k} K_j(m), and c = h. Truncated, the
    entries from the first that is not positive are left out, and c is the product of that matrix with itself.
    """
    if filter == "none":
        return tuple(Fraction(math.comb(g - m, k)) for m in range(g + 1))
    K, words = krawtchouk(g, letters), letters**g
    h = [Fraction(sum(K[j][m] for j in range(k + 1)), words) for m in range(g + 1)]
    if filter == "full":
        return tuple(h)
    kept = next((m for m, value in enumerate(h) if value <= 0), g + 1)
    eigenvalues = [sum(h[m] * K[m][j] for m in range(kept)) for j in range(g + 1)]
    return tuple(sum(value**2 * K[j][m] for j, value in enumerate(eigenvalues)) / words for m in range(g + 1))


@kernel
class EstimatedGappy(LaneKernel):
    """Σ over pairs of windows of length g that differ in m ≤ d places of c(m), times the heights of the windows.

    LS-GKM's kernels. ``Gappy`` compares counts of gapped words, c(m) = C(g − m, k): ``filter="none"``. Here the counts
    of all words of g letters are first estimated from those of their gapped words, by least squares, so that a word
    that was not seen has the share that words like it lend it: "full". From the first distance on whose share is not
    positive all are left out in LS-GKM's "truncated". With ``peak`` M > 1 a window at distance D from the middle of
    its sequence has the height min(M, ⌊M·2^(−D/H) + 1⌋), H the ``half_life``. Windows with a letter outside the
    alphabet do not count.

    LS-GKM's -t 0, 1, 2 are ``filter="none"``, "full", "truncated", -t 4 is "truncated" with ``peak=50``, each as
    ``k.both_strands().normalized()``; -t 3 and 5 are ``exp(gamma * that).normalized()``. The middle of an even number
    of windows lies between two, so that both strands have the same heights; LS-GKM takes one of the two, and its values
    with heights differ there in the third digit.

    ``psd`` is exact: True where the matrix c over all words of g letters has no negative eigenvalue (they are sums of
    Krawtchouk polynomials), else False. Neither filter alone spoils it, but d can: it is False for LS-GKM's d = 3 with
    g = 11 and k = 7, and True for d ≥ 4. The windows of two sequences are compared, 64 sequences at a time: about 0.1
    ns a pair of windows, with heights 0.2.

    Parameters
    ----------
    g : int, default=11
        The length of a window, 1 to 60; LS-GKM's l.
    k : int, default=7
        How many of its places a gapped word has, 1 to g.
    d : int, default=3
        The number of different places beyond which a pair does not count, 0 to g.
    filter : {"truncated", "full", "none"}, default="truncated"
        What the counts of gapped words go through before they are compared.
    peak : int, default=1
        M, the height of a window in the middle, 1 to 255. 1: all windows are equally high.
    half_life : float, default=50.0
        H > 0, the number of places over which heights halve.
    alphabet : str or sequence, default="ACGT"
        The letters, each once, 2 to 254; c depends on their number. ``k.over(case="fold")`` takes lower case as well.

    See Also
    --------
    Gappy : Gapped words by their counts, with features.
    Mismatch : Words that agree up to some letters.

    References
    ----------
    .. [1] M. Ghandi, D. Lee, M. Mohammad-Noori and M. A. Beer. Enhanced regulatory sequence prediction using gapped
       k-mer features. PLoS Computational Biology 10, 2014.
    .. [2] D. Lee. LS-GKM: a new gkm-SVM for large-scale datasets. Bioinformatics 32, 2016.

    Examples
    --------
    >>> import mercer as mc
    >>> k = mc.EstimatedGappy(g=4, k=3, d=2)
    >>> k.normalized()(["ACGT", "ACGA", "TTTT"]).round(3)
    array([[1.   , 0.277, 0.   ],
           [0.277, 1.   , 0.   ],
           [0.   , 0.   , 1.   ]])
    >>> mc.EstimatedGappy().psd, mc.EstimatedGappy(d=4).psd
    (False, True)
    """

    g: int = natural(11, maximum=60)
    k: int = natural(7)
    d: int = natural(3, minimum=0)
    filter: str = "truncated"
    peak: int = natural(default=1, maximum=255)
    half_life: float = positive(default=50.0, continuous=False)
    alphabet: Sequence[Any] = "ACGT"
    _turns: ClassVar[bool] = True

    def _validate(self) -> None:
        if max(self.k, self.d) > self.g:
            raise ValueError(
                coded(
                    f"EstimatedGappy(g={self.g}, k={self.k}, d={self.d}): k and d are numbers of places of a window of"
                    " g, so they must be at most g.",
                    "M205",
                )
            )
        if self.filter not in _FILTERS:
            raise ValueError(
                coded(
                    f"EstimatedGappy(filter={self.filter!r}): choose one of {', '.join(map(repr, _FILTERS))}.", "M205"
                )
            )
        if not is_alphabet(self.alphabet) or not 2 <= len(self.alphabet) <= _LETTERS:
            raise ValueError(
                coded(
                    f"EstimatedGappy(alphabet={self.alphabet!r}): give the letters, 2 to {_LETTERS}, each once.", "M205"
                )
            )

    @property
    def _weights(self) -> tuple[Fraction, ...]:
        """c(m) for m = 0 … d."""
        every = weights_by_distance(int(self.g), int(self.k), self.filter, len(self.alphabet))
        return every[: int(self.d) + 1]

    @property
    def psd(self) -> bool:  # type: ignore[override]
        K, c = krawtchouk(int(self.g), len(self.alphabet)), self._weights
        return all(sum(value * K[m][j] for m, value in enumerate(c)) >= 0 for j in range(int(self.g) + 1))

    def _heights(self, n: int) -> Array:
        """Those of the n windows of a sequence."""
        apart, M = np.abs(np.arange(n) - (n - 1) / 2), int(self.peak)
        out: Array = np.minimum(M, np.floor(M * 2.0 ** (-apart / float(self.half_life)) + 1)).astype(np.uint8)
        return out

    def _prepare(self, X: Ragged) -> Items:
        return in_alphabet(X, self.alphabet)

    def _lane_matrix(self, A: Ragged, B: Ragged) -> Array:
        g, weights = int(self.g), [float(value) for value in reversed(self._weights)]
        least = g + 1 - len(weights)
        if int(self.peak) == 1:
            return window_sums(A, B, g, least, weights, exclude_unknown=True)
        return weighted_window_sums(A, B, g, least, weights, self._heights)
