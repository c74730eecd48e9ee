"""What machines that learn from streams share: samples come in piece by piece, and a budget of them is kept."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from mercer.annotations import Samples, Targets, Weights
from mercer.arrays import Array
from mercer.compute import Compute
from mercer.data import chunks, in_order_of, size, stack, take
from mercer.data.notices import one_call, quietly, warn
from mercer.estimators.checks import check_whole
from mercer.estimators.machine import Supervised, Weighted
from mercer.estimators.weights import checked
from mercer.gram import Gram
from mercer.runtime.watch import Stopped
from mercer.solvers.streams import passes, values_at_hand
from mercer.troubles import coded

if TYPE_CHECKING:
    from mercer.solvers.recursive import Recursive
    from mercer.solvers.streams import Stream

_PIECE = 4096  # samples of a batch that are prepared together

_FITTED = {
    "n_samples_seen_": """int
        How many samples have come in; those of ``fit`` count once, however often they were passed.""",
    "support_": """ndarray of shape (n_support,)
        The numbers of the samples that are kept, in the order in which all came.""",
    "converged_": """bool
        Whether all samples were taken in, ``max_iter`` times in ``fit``.""",
    "stop_reason_": """str
        Why the last call ended: "passed", or "max_time", "callback" or "interrupted" before that.""",
    "n_iter_": """int
        How often the samples of ``fit`` were passed; 1 after ``partial_fit``.""",
    "removal_error_": """float
        The sum of the norms of what each removal took from f, each shrunk since as f is; of a projection, the norm of
        what it left out. At most so far is f from the same sum with nothing removed.""",
}


class StreamLearner(Supervised, Weighted):
    """A machine that goes on learning: what it is made of is a state that blocks of samples change."""

    budget: int
    tol = None
    _stream: Any  # ``Stream`` or ``Recursive``
    _first_report: ClassVar[dict[str, Any]] = {"n_iter": 0, "n_samples": 0}
    _described_fitted: ClassVar[dict[str, str]] = _FITTED

    def _taking_in(self, gram: Gram, y: Array, weights: Array, order: Array) -> Iterable[int]:
        """The rows ``order`` of a matrix taken into the stream, block by block."""
        raise NotImplementedError

    def _publish(self) -> None:
        """``dual_coef_``, ``intercept_`` and what else follows from the stream."""
        raise NotImplementedError

    def _check(self) -> None:
        super()._check()
        check_whole(self, "budget")

    def _weights(self, n: int, sample_weight: Weights) -> Array | None:
        """As they are: their size is the length of steps."""
        return None if sample_weight is None else checked(sample_weight, n)

    # -- all at once -------------------------------------------------------------------------------------------------

    def _passed(self, gram: Gram, y: Array, weights: Array, orders: Iterable[Array]) -> None:
        """A fresh stream, over all rows of the matrix in each of the orders."""
        gram = values_at_hand(gram)
        found = passes(
            lambda order: self._taking_in(gram, y[order], weights[order], order), orders, self.on_interrupt == "keep"
        )
        self.n_samples_seen_, self.support_ = gram.shape[0], self._stream.rows.copy()
        self._compressed = False
        self._told(*found)

    def _told(self, n_iter: int, taken: int, last: int, reason: str) -> None:
        """What the last call has to say."""
        self._publish()
        self.n_iter_, self.stop_reason_, self.converged_ = n_iter, reason, reason == "passed"
        if not (np.isfinite(self.dual_coef_).all() and np.isfinite(self.intercept_).all()):
            raise ValueError(
                coded(
                    f"The steps of {type(self).__name__} grew without bound: after {taken} samples coefficients are no"
                    " numbers. Give a smaller eta0, or None, and look at the scale of the targets.",
                    "M308",
                )
            )
        if reason == "max_time":
            warn(
                f"{type(self).__name__} stopped after max_time={self.max_time:g} s, in pass {n_iter}, with {taken}"
                " samples taken in.",
                "M301",
                ConvergenceWarning,
            )

    # -- piece by piece ----------------------------------------------------------------------------------------------

    @property
    def _begun(self) -> bool:
        return "_stream" in self.__dict__

    def _entering(self, X: Samples, y: Targets) -> tuple[Any, Any]:
        """The next samples and targets of the stream, checked."""
        if self._precomputed:
            raise ValueError(
                coded(
                    f"{type(self).__name__} meets new samples, which a precomputed matrix does not know; give the"
                    " kernel itself.",
                    "M213",
                )
            )
        if self._compressed:
            raise ValueError(
                coded("A compressed machine learns no more: its coefficients are not those of the stream.", "M311")
            )
        if self._begun and not hasattr(self, "support_vectors_"):
            raise NotFittedError(
                coded(f"This {type(self).__name__} has learnt from a matrix alone and keeps no samples.", "M213")
            )
        found: tuple[Any, Any] = self._accept(X, y, reset=not self._begun, **self._targets)
        return found

    def _continued(self, X: Samples, targets: Array, sample_weight: Weights, fresh: Stream | Recursive) -> Self:
        """More samples of the stream, or the first of a ``fresh`` one; in pieces, so that memory stays the same."""
        first, n = not self._begun, size(X)
        X, targets, weights, original = self._without_zeros(X, targets, self._weights(n, sample_weight))
        if first:
            self.kernel_, _ = self._given_kernel._entered(self._unpacked(X), None if sample_weight is None else weights)
            self.support_, self.n_samples_seen_ = np.zeros(0, np.int64), 0
        self._stream = fresh if first else self._stream.copied()
        found, seen = (1, 0, 0, "passed"), 0
        with one_call():
            for some in chunks(size(X), _PIECE):
                try:
                    found = self._piece(take(X, some), targets[some], weights[some], original[some])
                except Stopped as stop:
                    if not seen:
                        raise
                    found = (1, 0, 0, stop.accepted())
                except KeyboardInterrupt:
                    if not (seen and self.on_interrupt == "keep"):
                        raise
                    found = (1, 0, 0, "interrupted")
                seen += found[1]
                if found[3] != "passed":
                    break
        # those of weight 0 have passed too
        self.n_samples_seen_ += n if found[3] == "passed" else int(original[seen - 1]) + 1
        self._told(1, seen, seen, found[3])
        return self

    def _piece(self, X: Samples, targets: Array, weights: Array, numbers: Array) -> Any:
        """Samples X, which are ``numbers`` of this call: beside those that are kept they are one matrix."""
        assert self.kernel_ is not None
        new, kept = self._items(X, np.arange(size(X))), self._stream.count
        if kept:
            new = in_order_of(_of_one_kind(new, self.support_vectors_), self.support_vectors_)
        items = stack(self.support_vectors_, new) if kept else new
        with quietly():
            _, A = self.kernel_._entered(self._unpacked(items))
        gram = self.kernel_._gram(A, A, self.compute or Compute())
        self._stream.renumbered()
        rows = kept + np.arange(len(targets))
        found = passes(
            lambda order: self._taking_in(gram, targets, weights, order), [rows], self.on_interrupt == "keep"
        )
        rows = self._stream.rows
        self.support_ = np.concatenate([self.support_, self.n_samples_seen_ + numbers])[rows]
        self.support_vectors_ = take(items, rows)
        return found


def _of_one_kind(new: Samples, old: Samples) -> Any:
    """A sparse table like a dense one, or the reverse."""
    if sparse.issparse(new) == sparse.issparse(old) or not hasattr(new, "shape"):
        return new
    return new.toarray() if sparse.issparse(new) else type(old)(new)
