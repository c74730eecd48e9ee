"""What a kernel on sequences or time series can look at instead: methods of every kernel."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mercer.kernels.base import Kernel


class OfSequences:
    """k(f(x), f(z)) for functions f of sequences and of time series."""

    def both_strands(self) -> Kernel:
        """½⟨φ(x) + φ(x̄), φ(z) + φ(z̄)⟩, x̄ the reverse complement: for DNA whose strand is not known.

        A pairs with T, C with G, in upper and lower case, U is T, and ambiguous letters have their partners (R and Y);
        other letters stay as they are.
        """
        from mercer.kernels.sequences.strands import BothStrands

        return BothStrands(cast("Kernel", self))

    def expanded(self, most: int = 64) -> Kernel:
        """k, of words, of DNA with N, R, Y, …: the expected features over the bases that these letters stand for.

        Parameters
        ----------
        most : int, default=64
            A word that can be read in more ways does not count; at most 4096.

        Examples
        --------
        >>> import mercer as mc
        >>> mc.Spectrum(2).expanded()(["AN"], ["AC", "AG", "TT"])
        array([[0.25, 0.25, 0.  ]])
        """
        from mercer.kernels.sequences.ambiguous import Expanded

        return Expanded(cast("Kernel", self), most)

    def over(self, alphabet: Sequence[Any] | None = None, unknown: str = "skip", case: str | None = None) -> Kernel:
        """k of sequences over an alphabet.

        Parameters
        ----------
        alphabet : str or sequence, optional
            The symbols. None: all symbols are kept.
        unknown : {"skip", "letter", "error"}, default="skip"
            A symbol outside the alphabet equals nothing, not even itself, so that no word contains it; or all such
            symbols are one further letter; or the first is an error.
        case : {"fold", "keep"}, optional
            "fold" takes letters of either case as the same (soft-masked DNA); "keep" says that they differ. None: they
            differ, with a warning where DNA has both.
        """
        from mercer.kernels.sequences.strands import Over

        return Over(cast("Kernel", self), alphabet, unknown, case)

    def interpolated(self, unseen: str = "fill", times: int | None = None) -> Kernel:
        """k of time series where missing values (NaN) are on the line between what was seen before and after.

        Before the first and after the last value of a channel it stays as it is there. Being k(f(x), f(z)), it is as
        valid as k.

        Parameters
        ----------
        unseen : {"fill", "drop"}, default="fill"
            Frames of which nothing was seen are filled like others, or left out: what compares series of different
            lengths, as alignments do, need not know of them.
        times : int, optional
            The channel with the time of each frame, for series that were not sampled evenly.

        Examples
        --------
        >>> import mercer as mc
        >>> mc.GlobalAlignment(1.0).interpolated()([[1.0, float("nan"), 3.0]], [[1.0, 2.0, 3.0]]).round(6)
        array([[1.]])
        """
        from mercer.kernels.sequences.gaps import Interpolated

        return Interpolated(cast("Kernel", self), unseen, times)

    def resampled(self, count: int, times: int | None = None) -> Kernel:
        """k of time series at ``count`` evenly spaced times from their first to their last frame; as valid as k.

        Values are on the line between what was seen, so that some may be missing (NaN). A kernel on vectors gets the
        values one after the other.

        Parameters
        ----------
        count : int
            The number of frames, at least 2.
        times : int, optional
            The channel with the time of each frame, for series that were not sampled evenly; the result is without it.

        Examples
        --------
        >>> import mercer as mc
        >>> mc.Linear().resampled(3)([[1.0, 2.0, 3.0, 4.0, 5.0]], [[1.0, 3.0, 5.0]])
        array([[35.]])
        """
        from mercer.kernels.sequences.gaps import Resampled

        return Resampled(cast("Kernel", self), count, times)
