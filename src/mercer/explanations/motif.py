"""What a machine looks for in sequences: the windows that contribute most, aligned and counted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer.annotations import Estimator, Samples
from mercer.arrays import Array
from mercer.data import DataError
from mercer.data.tables import shown
from mercer.explanations.explain import explain
from mercer.explanations.result import Explanation

_ROUNDS = 20  # of alignment
_ALPHABETS = ("ACGT", "ACDEFGHIKLMNPQRSTVWY")  # those of MEME, in its order


@dataclass(frozen=True, eq=False)
class Motif:
    """A position weight matrix: how often each letter stands at each place of a motif.

    Made by ``motif``.

    Parameters
    ----------
    matrix : ndarray of shape (width, n_letters)
        The probability of each letter at each place, pseudo-counts included; rows sum to 1.
    letters : list
        The letters, of the columns.
    starts : ndarray of int of shape (n,)
        Where the window begins in each sequence; −1 where it has none that speaks for the answer.
    background : ndarray of shape (n_letters,)
        How often each letter is in all of the sequences.

    Attributes
    ----------
    consensus, information

    See Also
    --------
    motif : Where it comes from.
    MotifDisplay : Its logo.

    Examples
    --------
    >>> import numpy as np
    >>> import mercer as mc
    >>> found = mc.Motif(np.array([[0.9, 0.1], [0.5, 0.5]]), ["A", "C"], np.array([3]), np.array([0.5, 0.5]))
    >>> found.consensus, found.information.round(2)
    ('AA', array([0.53, 0.  ]))
    >>> found.pwm().round(2)
    array([[ 0.85, -2.32],
           [ 0.  ,  0.  ]])
    >>> print(found.meme().splitlines()[7])
    MOTIF motif
    """

    matrix: Array
    letters: list[Any]
    starts: Array
    background: Array

    @property
    def consensus(self) -> Any:
        """The most frequent letter at each place: a string, or a tuple of tokens."""
        found = [self.letters[i] for i in self.matrix.argmax(axis=1)]
        return "".join(found) if all(isinstance(letter, str) and len(letter) == 1 for letter in found) else tuple(found)

    @property
    def information(self) -> Array:
        """Σ p log₂(p/background) at each place, in bits: how far it is from chance."""
        with np.errstate(divide="ignore", invalid="ignore"):
            bits = self.matrix * np.log2(self.matrix / self.background)
        return np.asarray(np.where(self.matrix > 0, bits, 0.0).sum(axis=1))

    def pwm(self) -> Array:
        """log₂(p/background) of each letter at each place, in bits: a window scores the sum of those of its letters.

        Returns
        -------
        ndarray of shape (width, n_letters)
            −∞ where a letter was not seen and there were no pseudo-counts.
        """
        with np.errstate(divide="ignore"):
            out: Array = np.log2(self.matrix) - np.log2(self.background)
        return out

    def meme(self, name: str = "motif") -> str:
        """The motif as a text in the minimal format of MEME Suite (FIMO, TOMTOM), for a file of its own.

        Parameters
        ----------
        name : str, default="motif"
            What the motif is called there, without blanks.

        Returns
        -------
        str
            Letters, their background and the probabilities by place.
        """
        if not name or name.split() != [name]:
            raise ValueError(f"name={name!r}: the name of a motif is one word, without blanks.")
        if not all(isinstance(letter, str) and len(letter) == 1 and letter.isalpha() for letter in self.letters):
            raise DataError(f"MEME knows motifs of letters, and these are of {shown(self.letters)}; use .matrix.")
        alphabet = "".join(self.letters)
        known = next((letters for letters in _ALPHABETS if set(alphabet) <= set(letters)), None)
        if known is None:
            raise DataError(
                f"MEME knows the alphabets of DNA, {_ALPHABETS[0]}, and of proteins, {_ALPHABETS[1]}; the motif has the"
                f" letters {alphabet}. Learn from sequences over one of them: kernel.over({_ALPHABETS[0]!r})."
            )
        place = [alphabet.find(letter) for letter in known]
        background = [self.background[j] if j >= 0 else 0.0 for j in place]
        used = int((self.starts >= 0).sum())
        rows = [" ".join(f"{row[j] if j >= 0 else 0.0:.6f}" for j in place) for row in self.matrix]
        return "\n".join(
            [
                "MEME version 4",
                "",
                f"ALPHABET= {known}",
                "",
                "Background letter frequencies",
                " ".join(f"{letter} {p:.6f}" for letter, p in zip(known, background, strict=True)),
                "",
                f"MOTIF {name}",
                f"letter-probability matrix: alength= {len(known)} w= {len(rows)} nsites= {used} E= 0",
                *rows,
                "",
            ]
        )


def motif(model: Estimator, X: Samples, width: int, *, output: int | None = None, pseudo_count: float = 1.0) -> Motif:
    """What a machine looks for in sequences: a position weight matrix of the windows that contribute most.

    In each sequence the window of the largest sum of contributions by place (``explain(..., by="place")``) is taken;
    the windows are aligned by moving each, by at most half its width, to where the letters of all the others are most
    likely, and all of them together to where they tell the most; then they are counted.

    Parameters
    ----------
    model : fitted estimator or RKHSFunction
        A machine for sequences, over a kernel that says where its words are: ``Spectrum``, ``Gappy``, ``Mismatch``,
        ``WeightedDegree`` and what is made of them. Of ``-model.function_`` it is what speaks against.
    X : collection of sequences
        Those to look at: of the class whose mark is sought. Sequences that have no window with a contribution above 0
        are passed over.
    width : int
        The length of the motif.
    output : int, optional
        Which function, where there are several.
    pseudo_count : float, default=1.0
        How many letters drawn at random are added at each place.

    Returns
    -------
    Motif
        ``matrix``, ``letters``, ``starts``, ``consensus`` and ``information``.

    See Also
    --------
    explain : Contributions of every place.
    MotifDisplay : The logo.

    Examples
    --------
    >>> import numpy as np
    >>> import mercer as mc
    >>> rng = np.random.default_rng(0)
    >>> y = np.arange(120) % 2
    >>> X = ["".join(rng.choice(list("ACGT"), 40)) for _ in y]
    >>> X = [x[:12] + "GATTACA" + x[19:] if has else x for x, has in zip(X, y)]
    >>> machine = mc.SVC(kernel=mc.Spectrum(5).normalized()).fit(X, y)
    >>> found = mc.motif(machine, [x for x, has in zip(X, y) if has], 7)
    >>> found.consensus, int(np.median(found.starts))
    ('GATTACA', 12)
    """
    if not (isinstance(width, int | np.integer) and width >= 1):
        raise ValueError(f"width={width!r}: a motif has a whole number of places, at least 1.")
    if not pseudo_count >= 0:
        raise ValueError(f"pseudo_count={pseudo_count!r}: give a number of at least 0.")
    explanations = explain(model, X, "place")
    items = [e.labels or [] for e in explanations]
    items = [item[:-1] if e.names[-1:] == ["constant"] else item for item, e in zip(items, explanations, strict=True)]
    letters = sorted({letter for item in items for letter in item}, key=str)
    number = {letter: i for i, letter in enumerate(letters)}
    codes = [np.array([number[letter] for letter in item], np.int64) for item in items]
    peaks = np.array(
        [_peak(_of_output(e, output)[: len(c)], int(width)) for e, c in zip(explanations, codes, strict=True)]
    )
    used = np.flatnonzero(peaks >= 0)
    if not len(used):
        raise DataError(
            f"No sequence has a window of {width} places that speaks for the answer; give sequences for which the"
            " machine answers yes, or a smaller width."
        )
    counts = np.bincount(np.concatenate(codes), minlength=len(letters)).astype(np.float64)
    windows = Windows([codes[i] for i in used], int(width), counts / counts.sum(), float(pseudo_count))
    starts = np.full(len(items), -1)
    starts[used] = windows.aligned(peaks[used])
    return Motif(windows.matrix(starts[used]), letters, starts, windows.background)


def _of_output(e: Explanation, output: int | None) -> Array:
    if e.values.ndim == 1:
        return e.values
    if output is None:
        raise ValueError(f"The machine has {e.values.shape[1]} functions; say which: output=0, ….")
    return np.asarray(e.values[:, output])


def _peak(values: Array, width: int) -> int:
    """Where the window of the largest sum begins; −1 where there is none above 0."""
    if len(values) < width:
        return -1
    sums = np.convolve(values, np.ones(width), mode="valid")
    return int(np.argmax(sums)) if sums.max() > 0 else -1


@dataclass(frozen=True, eq=False)
class Windows:
    """Sequences, as numbers of letters, in each of which a window is sought."""

    codes: list[Array]
    width: int
    background: Array
    pseudo_count: float

    def counts(self, starts: Array) -> Array:
        out = np.zeros((self.width, len(self.background)))
        for code, s in zip(self.codes, starts, strict=True):
            out[np.arange(self.width), code[s : s + self.width]] += 1
        return out

    def matrix(self, starts: Array) -> Array:
        return self._smoothed(self.counts(starts), self.pseudo_count)

    def _smoothed(self, counts: Array, pseudo_count: float) -> Array:
        found = counts + pseudo_count * self.background
        return np.asarray(found / found.sum(axis=1, keepdims=True))

    def aligned(self, peaks: Array) -> Array:
        """Starts that agree with each other, none further than half the width from its peak."""
        starts, reach = peaks.copy(), max(1, self.width // 2)
        for _ in range(_ROUNDS):
            before = starts.copy()
            counts = self.counts(starts)
            for i, code in enumerate(self.codes):
                own = code[starts[i] : starts[i] + self.width]
                counts[np.arange(self.width), own] -= 1
                worth = np.log(self._smoothed(counts, max(self.pseudo_count, 1.0)) / self.background)
                ways = np.arange(max(0, peaks[i] - reach), min(len(code) - self.width, peaks[i] + reach) + 1)
                likely = [worth[np.arange(self.width), code[s : s + self.width]].sum() for s in ways]
                starts[i] = ways[int(np.argmax(likely))]
                counts[np.arange(self.width), code[starts[i] : starts[i] + self.width]] += 1
            starts = self._shifted(starts, reach)
            if (starts == before).all():
                break
        return starts

    def _shifted(self, starts: Array, reach: int) -> Array:
        """All windows moved together to where they tell the most."""
        ends = np.array([len(code) - self.width for code in self.codes])
        ways = [np.clip(starts + shift, 0, ends) for shift in range(-reach, reach + 1)]
        told = []
        for way in ways:
            p = self._smoothed(self.counts(way), max(self.pseudo_count, 1.0))
            told.append(float(np.sum(p * np.log(p / self.background))))
        best = int(np.argmax(told))
        return ways[best] if told[best] > told[reach] + 1e-9 else starts
