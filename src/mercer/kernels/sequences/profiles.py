"""Words of profiles: what a sequence and its relatives may read at a place."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer.annotations import Samples
from mercer.arrays import Array
from mercer.compute import bounds, human
from mercer.data import Domain, HashedRows, Profiles, Ragged, chunks
from mercer.data.amino_acids import STANDARD
from mercer.data.representations import batches, offsets_of
from mercer.kernels.base import kernel
from mercer.kernels.families import Explicit
from mercer.kernels.occurrences import Occurrences, stretches, windows_of
from mercer.kernels.parameters import natural, positive
from mercer.kernels.sequences.cells import gathered
from mercer.runtime import threads
from mercer.troubles import coded

_WORDS = 2**64
_BYTES = 24  # of a word: its code, its count, and room to sort
_PLACES = 2**12  # of a task
_WINDOWS = 2**6  # whose words are counted between two looks for an interrupt
_MOST = 2**24  # words of a window


@kernel
class Profile(Explicit):
    """⟨φ, φ⟩, φ_w(x) the number of places i of the profile x with −Σ_p log x_{i+p}(w_p) < threshold, over words w.

    For proteins with few relatives that are labelled and many that are not: the profile of a sequence, made by
    PSI-BLAST or HHblits from its relatives, says at each place how probable each amino acid is, and two sequences are
    alike when the same words are probable somewhere in both. A sample is an array, a row of probabilities for each
    place, or a protein as a text, whose profile is how often other amino acids replace each letter (BLOSUM62). Words
    are found by a search that leaves improbable beginnings; its cost is the words that are found. Positive
    semi-definite: it is an inner product. A profile shorter than k has no features.

    Parameters
    ----------
    k : int, default=5
        The length of the words; alphabet^k must be below 2^64.
    threshold : float, default=7.5
        The largest improbability, in natural logarithms: at least that of a place's own word, or it has none.
    alphabet : str, default="ARNDCQEGHILKMFPSTWYV"
        The letters, in the order of the columns; texts need the letters of the default.

    See Also
    --------
    Mismatch : The same words for every sequence alike.

    References
    ----------
    .. [1] R. Kuang, E. Ie, K. Wang, K. Wang, M. Siddiqi, Y. Freund and C. Leslie. Profile-based string kernels for
       remote homology detection and motif extraction. Journal of Bioinformatics and Computational Biology 3, 2005.

    Examples
    --------
    >>> import mercer as mc
    >>> k = mc.Profile(k=2, threshold=2.0, alphabet="AB")
    >>> sure, open = [[1.0, 0.0], [0.9, 0.1], [0.1, 0.9]], [[0.5, 0.5], [0.5, 0.5]]
    >>> k([sure, open])
    array([[2., 2.],
           [2., 4.]])
    >>> k.feature_names([sure])
    ['AA', 'AB']
    >>> mc.Profile().normalized()(["MKVLAAGIT", "MRILASGVT", "GGSGGGSGG"]).round(2)
    array([[1.  , 0.25, 0.  ],
           [0.25, 1.  , 0.  ],
           [0.  , 0.  , 1.  ]])
    """

    k: int = natural(5)
    threshold: float = positive(7.5, continuous=False)
    alphabet: str = STANDARD

    def _validate(self) -> None:
        if not isinstance(self.alphabet, str) or not self.alphabet or len(set(self.alphabet)) != len(self.alphabet):
            raise ValueError(
                coded(f"Profile(alphabet={self.alphabet!r}): give the letters as a text, each once.", "M205")
            )
        if len(self.alphabet) ** int(self.k) >= _WORDS:
            raise ValueError(
                coded(
                    f"Profile(k={self.k}): there are {len(self.alphabet)}^{self.k} words, more than 64 bits can number;"
                    " take a smaller k.",
                    "M205",
                )
            )

    @property
    def domain(self) -> Domain:  # type: ignore[override]
        return Profiles(self.alphabet)

    def _map(self, X: Ragged) -> HashedRows:
        from mercer.native import profiles

        k, threshold = int(self.k), float(self.threshold)
        with np.errstate(divide="ignore"):
            costs = -np.log(X.values)
        order = np.argsort(costs, axis=1, kind="stable")
        some_rows = batches(X.offsets, _PLACES)
        counts = self._counted(X, costs, order)
        parts: list[Any] = [None] * len(some_rows)

        def fill(b: int) -> None:
            rows = some_rows[b]
            own = counts[rows]
            offsets, starts = X.offsets[rows.start : rows.stop + 1], offsets_of(own)
            words, again = np.empty(int(starts[-1]) + 1, np.uint64), np.empty_like(own)
            profiles.words_of(costs, order, offsets, k, threshold, starts[:-1], _MOST, words, again)
            codes, values, lengths = np.empty(len(words), np.uint64), np.empty(len(words)), np.empty_like(own)
            end = profiles.tallied(words, starts[:-1], own, codes, values, lengths)
            parts[b] = codes[:end].copy(), values[:end].copy(), lengths

        threads.run_loops(fill, range(len(some_rows)))
        return gathered(parts)

    def _counted(self, X: Ragged, costs: Array, order: Array) -> Array:
        """How many words each profile has; those that would not fit are not all looked for."""
        from mercer.native import profiles

        k, most = int(self.k), bounds().budget // _BYTES
        ends = np.repeat(X.offsets[1:], X.lengths)
        whole = np.arange(len(ends)) + k <= ends  # places where a window begins
        found = np.zeros(len(ends), np.int64)

        def count(places: slice) -> None:
            if not threads.stopping() and found.sum() <= most:
                profiles.words_from(costs, order, whole, places.start, k, float(self.threshold), _MOST, found[places])

        threads.run_loops(count, list(chunks(len(ends), _WINDOWS)))
        if (found == _MOST).any() or found.sum() > most:
            i = int(np.searchsorted(X.offsets, np.argmax(found), side="right")) - 1
            raise MemoryError(
                coded(
                    f"{self} has more words for these {len(X)} profiles than {human(bounds().budget)} hold: item {i}"
                    f" has {found.max()} or more at one place. Take a smaller threshold or k, or fewer profiles.",
                    "M401",
                )
            )
        return np.diff(np.concatenate([[0], np.cumsum(found)])[X.offsets])

    @property
    def _integer_features(self) -> bool:  # type: ignore[override]
        return True

    def _occurrences(self, x: Ragged) -> Occurrences | None:
        phi = self._map(windows_of(x, int(self.k)))
        return Occurrences(phi.codes, stretches(phi.rows, np.full(len(phi.rows), int(self.k))), len(x.values))

    def _names(self, X: Samples) -> dict[int, Any]:
        a, names = len(self.alphabet), {}
        for code in np.unique(self._map(self.domain.check(X)).codes).tolist():
            number, word = code, ""
            for _ in range(int(self.k)):
                number, letter = divmod(number, a)
                word = self.alphabet[letter] + word
            names[code] = word
        return names
