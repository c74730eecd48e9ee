"""What a machine looks for in sequences: the windows that contribute most, aligned and counted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer.annotations import Estimator, Samples
from mercer.arrays import Array
from mercer.data import DataError
from mercer.data.sequences import AMBIGUOUS, PARTNERS
from mercer.data.tables import shown
from mercer.explanations.explain import explain
from mercer.explanations.result import Explanation
from mercer.functions import RKHSFunction
from mercer.kernels.sequences.strands import BothStrands
from mercer.troubles import coded

_ROUNDS = 20  # of alignment
_DNA = "ACGT"
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
    turned : ndarray of bool of shape (n,), optional
        Whether the window is read on the other strand, as its reverse complement. None: all are read as they are.

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
    turned: Array | None = None

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

        Where more than half of all letters are A, C, G, T or U, and the others IUPAC's codes for several of them, the
        motif is one of DNA: U is T, and what an ambiguous letter has is dealt to its bases, of R half to A, half to G.

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
            raise ValueError(coded(f"name={name!r}: the name of a motif is one word, without blanks.", "M205"))
        if not all(isinstance(letter, str) and len(letter) == 1 and letter.isalpha() for letter in self.letters):
            raise DataError(
                f"MEME knows motifs of letters, and these are of {shown(self.letters)}; use .matrix.", "M507"
            )
        alphabet = "".join(self.letters)
        known = _DNA if self._is_dna() else next((a for a in _ALPHABETS if set(alphabet) <= set(a)), None)
        if known is None:
            raise DataError(
                f"MEME knows the alphabets of DNA, {_ALPHABETS[0]}, and of proteins, {_ALPHABETS[1]}; the motif has the"
                f" letters {alphabet}. Learn from sequences over one of them: kernel.over({_ALPHABETS[0]!r}).",
                "M507",
            )
        dealt = np.array([[b in bases for b in known] for bases in map(_bases if known == _DNA else str, alphabet)])
        shares = dealt / dealt.sum(axis=1, keepdims=True)
        background = self.background @ shares
        used = int((self.starts >= 0).sum())
        rows = [" ".join(f"{p:.6f}" for p in row) for row in self.matrix @ shares]
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

    def _is_dna(self) -> bool:
        """Most codes for several bases are amino acids as well: what is told apart is how many there are."""
        sure = np.array([letter in "ACGTU" for letter in self.letters])
        known = all(set(_bases(letter)) <= set(_DNA) for letter in self.letters)
        return known and float(np.asarray(self.background)[sure].sum()) > 0.5


def _bases(letter: str) -> str:
    """Those that a letter of DNA or RNA stands for."""
    return AMBIGUOUS.get(letter, "T" if letter == "U" else letter)


def motif(model: Estimator, X: Samples, width: int, *, output: int | None = None, pseudo_count: float = 1.0) -> Motif:
    """What a machine looks for in sequences: a position weight matrix of the windows that contribute most.

    In each sequence the window of the largest sum of contributions by place (``explain(..., by="place")``) is taken;
    the windows are aligned by moving each, by at most half its width, to where the letters of all the others are most
    likely, and all of them together to where they tell the most; then they are counted. Under a kernel of both strands
    each window is read on the strand on which it agrees with the others, most of them as they are written.

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
        raise ValueError(coded(f"width={width!r}: a motif has a whole number of places, at least 1.", "M205"))
    if not pseudo_count >= 0:
        raise ValueError(coded(f"pseudo_count={pseudo_count!r}: give a number of at least 0.", "M205"))
    explanations = explain(model, X, "place")
    items = [e.labels or [] for e in explanations]
    items = [item[:-1] if e.names[-1:] == ["constant"] else item for item, e in zip(items, explanations, strict=True)]
    both = _sees_both_strands(model)
    if both:
        items = [["T" if x == "U" else "t" if x == "u" else x for x in item] for item in items]
        items = [[*item, *(PARTNERS.get(x, x) for x in reversed(item))] for item in items]
    letters = sorted({letter for item in items for letter in item}, key=str)
    number = {letter: i for i, letter in enumerate(letters)}
    codes = [np.array([number[letter] for letter in item], np.int64) for item in items]
    peaks = np.array(
        [
            _peak(_of_output(e, output)[: len(c) // (1 + both)], int(width))
            for e, c in zip(explanations, codes, strict=True)
        ]
    )
    used = np.flatnonzero(peaks >= 0)
    if not len(used):
        raise DataError(
            f"No sequence has a window of {width} places that speaks for the answer; give sequences for which the"
            " machine answers yes, or a smaller width.",
            "M116",
        )
    counts = np.bincount(np.concatenate(codes), minlength=len(letters)).astype(np.float64)
    windows = Windows([codes[i] for i in used], int(width), counts / counts.sum(), float(pseudo_count), both)
    found = windows.aligned(peaks[used])
    starts, turned = np.full(len(items), -1), np.zeros(len(items), bool)
    starts[used], turned[used] = windows.as_written(found)
    return Motif(windows.matrix(found), letters, starts, windows.background, turned if both else None)


def _sees_both_strands(model: Estimator) -> bool:
    f = model if isinstance(model, RKHSFunction) else getattr(model, "function_", None)
    return f is not None and any(isinstance(part, BothStrands) for part in f.kernel._parts())


def _of_output(e: Explanation, output: int | None) -> Array:
    if e.values.ndim == 1:
        return e.values
    if output is None:
        raise ValueError(coded(f"The machine has {e.values.shape[1]} functions; say which: output=0, ….", "M205"))
    return np.asarray(e.values[:, output])


def _peak(values: Array, width: int) -> int:
    """Where the window of the largest sum begins; −1 where there is none above 0."""
    if len(values) < width:
        return -1
    sums = np.convolve(values, np.ones(width), mode="valid")
    return int(np.argmax(sums)) if sums.max() > 0 else -1


@dataclass(frozen=True, eq=False)
class Windows:
    """Sequences, as numbers of letters, in each of which a window is sought. With ``both`` each is followed by its
    other strand, on which a window may be as well.
    """

    codes: list[Array]
    width: int
    background: Array
    pseudo_count: float
    both: bool = False

    @property
    def lengths(self) -> Array:
        return np.array([len(code) for code in self.codes]) // (1 + self.both)

    def mirrored(self, starts: Array) -> Array:
        """The same windows on the other strand."""
        return 2 * self.lengths - self.width - starts

    def as_written(self, starts: Array) -> tuple[Array, Array]:
        """Where windows begin in the sequences themselves, and whether they are on the other strand."""
        turned = starts >= self.lengths
        return np.where(turned, self.mirrored(starts), starts), turned

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
        starts, reach, lengths = peaks.copy(), max(1, self.width // 2), self.lengths
        if self.both:  # a first choice of strands, each by those before it: else they would balance each other
            counts = np.zeros((self.width, len(self.background)))
            for i in range(len(starts)):
                self._chosen(i, np.array([starts[i], 2 * lengths[i] - self.width - starts[i]]), starts, counts)
        for _ in range(_ROUNDS):
            before = starts.copy()
            counts = self.counts(starts)
            for i in range(len(starts)):
                counts[np.arange(self.width), self._window(i, starts[i])] -= 1
                ways = np.arange(max(0, peaks[i] - reach), min(lengths[i] - self.width, peaks[i] + reach) + 1)
                if self.both:
                    ways = np.concatenate([ways, 2 * lengths[i] - self.width - ways])
                self._chosen(i, ways, starts, counts)
            starts = self._shifted(starts, reach)
            if (starts == before).all():
                break
        mirrored = self.both and np.mean(starts >= lengths) > 0.5
        return self.mirrored(starts) if mirrored else starts

    def _window(self, i: int, start: int) -> Array:
        return self.codes[i][start : start + self.width]

    def _chosen(self, i: int, ways: Array, starts: Array, counts: Array) -> None:
        """The most likely of some starts of a sequence, by the counts of others, to which it is added."""
        worth = np.log(self._smoothed(counts, max(self.pseudo_count, 1.0)) / self.background)
        likely = [worth[np.arange(self.width), self._window(i, s)].sum() for s in ways]
        starts[i] = ways[int(np.argmax(likely))]
        counts[np.arange(self.width), self._window(i, starts[i])] += 1

    def _shifted(self, starts: Array, reach: int) -> Array:
        """All windows moved together to where they tell the most."""
        begins = np.where(starts >= self.lengths, self.lengths, 0)
        ends = begins + self.lengths - self.width
        ways = [np.clip(starts + shift, begins, ends) for shift in range(-reach, reach + 1)]
        told = []
        for way in ways:
            p = self._smoothed(self.counts(way), max(self.pseudo_count, 1.0))
            told.append(float(np.sum(p * np.log(p / self.background))))
        best = int(np.argmax(told))
        return ways[best] if told[best] > told[reach] + 1e-9 else starts
