"""Sums over all alignments of two sequences: what a dynamic programme usually maximises, summed instead, is a
kernel.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer.annotations import Items
from mercer.arrays import Array
from mercer.data import Ragged
from mercer.data.amino_acids import AMINO_ACIDS, blosum62
from mercer.data.sequences import one_code
from mercer.kernels.base import kernel
from mercer.kernels.parameters import nonnegative, positive, real
from mercer.kernels.sequences.lanes import Batch, LaneKernel, Sweep, as_ranks, items, swept, with_itself, zeros_in_lines
from mercer.troubles import coded

_STEEPEST = 170  # exp(β s) is to be far from what a float can hold


class Aligned(LaneKernel):
    """k(x, z)/√(k(x, x) k(z, z)) from logarithms, for sums that no float could hold: leaves ``_readable`` and
    ``_sweep`` to write.

    A sequence without an alignment with itself (an empty one, globally) has the value 0 with every other.
    """

    def _readable(self, A: Ragged, B: Ragged) -> tuple[Ragged, Ragged]:
        """Both sides as the loop reads them."""
        raise NotImplementedError

    def _sweep(self, A: Ragged) -> Sweep:
        """The loop: log k between rows and a batch."""
        raise NotImplementedError

    def _prepare(self, X: Ragged) -> Any:
        from mercer.native.lanes import FLOATS

        A, _ = self._readable(X, X)
        return X, self._with_themselves(X, A, FLOATS)

    def _with_themselves(self, X: Ragged, A: Ragged, lanes: int) -> Array:
        return with_itself(A, lanes, 0, self._sweep(X))

    def _block(self, A: Items, B: Items) -> Any:
        from mercer.native.lanes import FLOATS

        (X, own), (Z, other) = A, B
        first, second = self._readable(items(X), X if B is A else items(Z))
        logs = swept(first, second, FLOATS, 0, self._sweep(X))
        norms = (own[:, None] + other[None, :]) / 2
        if np.isnan(logs).any() or np.isposinf(logs).any():
            raise FloatingPointError(
                coded(f"{self}: the sums over alignments of two sequences are beyond what floats can hold.", "M210")
            )
        return self._of_logarithms(logs - np.where(np.isfinite(norms), norms, 0.0))

    def _of_logarithms(self, normalised: Array) -> Array:
        out: Array = np.exp(np.minimum(normalised, 0.0))
        return out

    def _diag(self, A: Items) -> Any:
        return np.where(np.isfinite(items(A[1])), 1.0, 0.0)


@kernel
class LocalAlignment(Aligned):
    """1 + Σ over local alignments π of exp(β·score(π)), normalised: what Smith and Waterman maximise, summed.

    For proteins that share domains. The score is Σ s(x_i, z_j) over paired letters, less gap_open + gap_extend·(n − 1)
    for each gap of n letters between them. O(|x||z|) a pair, 16 pairs at once, with exponents kept apart. Positive
    semi-definite where exp(β s) is, as a matrix over the letters: always with match ≥ mismatch. For a table ``psd`` is
    True where that matrix has no negative eigenvalue, else None.

    Parameters
    ----------
    match : float, default=2.0
        s of two equal letters, without ``scores``.
    mismatch : float, default=-1.0
        s of two different letters, without ``scores``.
    gap_open : float, default=3.0
        The price of the first letter of a gap, at least 0.
    gap_extend : float, default=1.0
        The price of each further letter, at least 0.
    beta : float, default=0.5
        β > 0: large values leave the best alignment alone, small ones add up many. β times the largest score must stay
        below 170.
    scores : "BLOSUM62" or (letters, matrix), optional
        s as a table: "BLOSUM62" for proteins, or the letters and a symmetric matrix. Letters outside the table are all
        one letter, with the smallest score of the table to every other and to itself. None: ``match`` and ``mismatch``.

    See Also
    --------
    GlobalAlignment : Alignments of all of two series.

    References
    ----------
    .. [1] H. Saigo, J.-P. Vert, N. Ueda and T. Akutsu. Protein homology detection using string alignment kernels.
       Bioinformatics 20, 2004.

    Examples
    --------
    >>> import mercer as mc
    >>> proteins = ["MKVLAA", "MKILA", "GGGG"]
    >>> mc.LocalAlignment(scores="BLOSUM62")(proteins).round(3)
    array([[1.   , 0.268, 0.   ],
           [0.268, 1.   , 0.   ],
           [0.   , 0.   , 1.   ]])
    """

    match: float = real(2.0, continuous=False)
    mismatch: float = real(-1.0, continuous=False)
    gap_open: float = nonnegative(3.0, continuous=False)
    gap_extend: float = nonnegative(1.0, continuous=False)
    beta: float = positive(0.5, symbol="β", continuous=False)
    scores: Any = None

    def _validate(self) -> None:
        if isinstance(self.scores, str) and self.scores.upper() != "BLOSUM62":
            raise ValueError(
                coded(
                    f"LocalAlignment(scores={self.scores!r}): the table that is known by name is 'BLOSUM62'; give"
                    " another as (letters, matrix).",
                    "M205",
                )
            )
        if self.scores is not None:
            letters, S = self._table
            if len({one_code(a) for a in letters}) != len(letters):
                raise ValueError(
                    coded(f"LocalAlignment(scores): the letters {letters!r} must each be there once.", "M205")
                )
            if S.shape != (len(letters), len(letters)) or not np.isfinite(S).all() or not np.allclose(S, S.T):
                raise ValueError(
                    coded(
                        f"LocalAlignment(scores): the matrix must be symmetric, {len(letters)} × {len(letters)}, as"
                        " there are letters.",
                        "M205",
                    )
                )
        steepest = np.abs(self._table[1]).max() if self.scores is not None else max(abs(self.match), abs(self.mismatch))
        if self.beta * steepest > _STEEPEST:
            raise ValueError(
                coded(
                    f"LocalAlignment(beta={self.beta}): β·score reaches {self.beta * steepest:.3g}; beyond {_STEEPEST}"
                    " scale the scores down.",
                    "M205",
                )
            )

    @property
    def _table(self) -> tuple[Any, Any]:
        return (
            (AMINO_ACIDS, blosum62())
            if isinstance(self.scores, str)
            else (self.scores[0], np.asarray(self.scores[1], np.float64))
        )

    @property
    def psd(self) -> bool | None:  # type: ignore[override]
        if self.scores is None:
            return True if self.match >= self.mismatch else None
        values = np.linalg.eigvalsh(self._weights())
        return True if values[0] >= -1e-12 * values[-1] else None

    def _weights(self) -> Any:
        """exp(β s) over the letters of the table and, last, all others."""
        _, S = self._table
        return np.exp(float(self.beta) * np.pad(S, (0, 1), constant_values=S.min()))

    def _readable(self, A: Ragged, B: Ragged) -> tuple[Ragged, Ragged]:
        if self.scores is None:
            first, second = (Ragged(side.values.astype(np.int64) - 1, side.offsets) for side in as_ranks(A, B))
        else:
            letters, _ = self._table
            codes = np.array([one_code(a) for a in letters], np.int64)
            order = np.argsort(codes)

            def numbered(side: Ragged) -> Ragged:
                place = np.minimum(np.searchsorted(codes[order], side.values), len(codes) - 1)
                return Ragged(np.where(codes[order][place] == side.values, order[place], len(codes)), side.offsets)

            first, second = numbered(A), numbered(B)
        return first, first if B is A else second

    def _sweep(self, A: Ragged) -> Sweep:
        from mercer.native import alignments, lanes

        opening, extending = (float(np.exp(-self.beta * gap)) for gap in (self.gap_open, self.gap_extend))

        def room(X: Ragged, batch: Batch) -> tuple[Array, ...]:
            scores = self._weights() if self.scores is not None else self._plain(X, batch)
            profile = alignments.profile_of(batch.packed, batch.lengths, scores)
            return profile, zeros_in_lines((4, batch.longest + 1, lanes.FLOATS)), np.zeros((2, lanes.FLOATS))

        def sweep(X: Ragged, rows: Array, batch: Batch, begin: int, end: int) -> Array:
            out = np.empty((len(rows), lanes.FLOATS))
            profile, states, total = batch.once(lambda: room(X, batch))
            alignments.local_alignments(
                X.values, X.offsets, rows, begin, end, profile, opening, extending, states, total, out
            )
            return out

        return sweep

    def _plain(self, X: Ragged, batch: Batch) -> Any:
        """exp(β s) of equal and of different letters."""
        count = 1 + int(max(X.values.max(initial=0), batch.packed.max(initial=0)))
        scores = np.full((count, count), np.exp(float(self.beta) * float(self.mismatch)))
        np.fill_diagonal(scores, np.exp(float(self.beta) * float(self.match)))
        return scores
