"""Kernels on sequences seen otherwise: over a given alphabet, or on both strands of DNA."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from mercer.annotations import Items, Samples, Weights
from mercer.compute import Compute
from mercer.data import Domain, HashedRows, Ragged, Sequences, chunks, leaves, size, stack, strands, take
from mercer.data.sequences import as_texts, check_alphabet, restricted
from mercer.formula import dot, sqnorm
from mercer.gram import KernelGram
from mercer.kernels.base import Kernel, kernel
from mercer.kernels.compose.feature_space import Wrapper
from mercer.kernels.compose.inputs import Redirected
from mercer.kernels.occurrences import Occurrences, together
from mercer.kernels.sequences.lanes import LaneKernel, items


def sequences_of(k: Kernel) -> Sequences:
    """The domain of a kernel on sequences; for another, which looks for itself, that of any."""
    return k.domain if isinstance(k.domain, Sequences) else Sequences()


@kernel
class Over(Redirected):
    """k of sequences over an alphabet.

    A symbol outside it keeps its place but equals nothing, not even itself, so that no word contains it ("skip"); or
    all such symbols are one further letter ("letter"); or the first is reported ("error"). Without an alphabet all
    symbols are kept. With ``case="fold"`` all letters, of the sequences and of the alphabet, are taken in upper case.
    """

    usage: ClassVar[str] = "k.over(alphabet=None, unknown='skip', case=None)"
    method_name: ClassVar[str] = "over"
    kernel: Kernel
    alphabet: Sequence[Any] | None = None
    unknown: str = "skip"
    case: str | None = None

    def _validate(self) -> None:
        check_alphabet(self.alphabet, self.unknown, self.case)

    def _method_arguments(self) -> tuple[Any, ...]:
        return (self.alphabet, self.unknown) if self.case is None else (self.alphabet, self.unknown, self.case)

    @property
    def domain(self) -> Domain:  # type: ignore[override]
        """That of the kernel: letters, or words."""
        found = sequences_of(self.kernel)
        return replace(found, case=self.case) if self.case is not None else found

    def _redirect(self, X: Samples) -> Any:
        return restricted(self.domain.check(X), self.alphabet, self.unknown, self.case)

    def _occurrences(self, x: Items) -> Occurrences | None:
        return self.kernel._occurrences(self._redirect(x))

    def _names(self, X: Samples) -> dict[int, Any]:
        seen = self._redirect(X)
        return self.kernel._names(as_texts(seen) if seen.values.max(initial=0) <= 0x110000 else X)


@kernel
class BothStrands(Wrapper):
    """½⟨φ(x) + φ(x̄), φ(z) + φ(z̄)⟩, x̄ the reverse complement of x: the same for either strand.

    A pairs with T, C with G, and ambiguous letters with those of their partners, R with Y (IUPAC), in upper and lower
    case; U is T; other letters stay as they are.
    """

    usage: ClassVar[str] = "k.both_strands()"
    method_name: ClassVar[str] = "both_strands"
    kernel: Kernel

    @property
    def domain(self) -> Domain:  # type: ignore[override]
        return sequences_of(self.kernel)

    @property
    def explicit(self) -> bool:  # type: ignore[override]
        return self.kernel.explicit

    def bind(self, X: Samples, weights: Weights = None) -> Kernel:
        both = stack(*strands(self.domain.check(X)))
        twice = None if weights is None else np.concatenate([weights, weights])
        return self._with_children(lambda child: child.bind(both, twice))

    def _prepare(self, X: Samples) -> Any:
        both = tuple(self._enter_part(self.kernel, side) for side in strands(X))
        if not self.explicit:
            return both
        first, second = map(self.kernel._features, both)
        return math.sqrt(0.5) * (first + second)

    def _block(self, A: Items, B: Items) -> Any:
        if self.explicit:
            return dot(A, B)
        if isinstance(self.kernel, LaneKernel) and self.kernel._turns:
            return sum(self.kernel._pairs(A[0], b) for b in B)
        return 0.5 * sum(self.kernel._pairs(a, b) for a in A for b in B)

    def _diag(self, A: Items) -> Any:
        if self.explicit:
            return sqnorm(A)
        items(next(leaves(A)))
        each = (take(A, i) for i in chunks(size(A), 1))
        return np.array(
            [float(KernelGram.of(self, x, x, Compute(threads=1), mirror=False).dense()[0, 0]) for x in each]
        )

    def _width(self, A: Items) -> int:
        return A.per_row if isinstance(A, HashedRows) else int(A.shape[1])

    def _features(self, A: Items) -> Any:
        return A

    def _occurrences(self, x: Items) -> Occurrences | None:
        one, other = (self.kernel._occurrences(side) for side in strands(x))
        if one is None or other is None:
            return None
        # place p of one strand is place size − 1 − p of the other
        mirrored = Ragged(one.size - 1 - other.places.values, other.places.offsets)
        return together([one, Occurrences(other.codes, mirrored, other.size)])

    def _names(self, X: Samples) -> dict[int, Any]:
        return self.kernel._names(as_texts(stack(*strands(self.domain.check(X)))))
