"""Hidden Markov models by expectation–maximisation: expected counts, and probabilities in their proportion.

Sequences are letters 0 … K − 1, and K where the letter is not known, whose probability is 1 in every state.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np

from mercer.arrays import Array
from mercer.data import Ragged, chunks
from mercer.runtime import threads, watch

_ROOM = 2**24  # probabilities of states that are held for a batch
T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Chain:
    """The probabilities of the first state, of the next state (rows), and of letters in each state (rows)."""

    initial: Array
    transition: Array
    emission: Array

    @property
    def by_letter(self) -> Array:
        """Letters × states, with ones for the letter that is not known."""
        return np.concatenate([self.emission.T, np.ones((1, len(self.initial)))])


@dataclass(frozen=True, eq=False)
class Counts:
    """Expected counts of first states, moves and letters, the last axis that of sequences or without it their sum."""

    first: Array
    moves: Array
    letters: Array

    def sum(self, weights: Array) -> Counts:
        return Counts(*(part @ weights for part in (self.first, self.moves, self.letters)))

    def chain(self, smoothing: float) -> Chain:
        """The chain that these counts, ``smoothing`` added to each, make most probable; even where there are none."""

        def proportions(counts: Array) -> Array:
            counts = counts + smoothing
            total = counts.sum(axis=-1, keepdims=True)
            out: Array = np.where(total > 0, counts / np.where(total > 0, total, 1.0), 1.0 / counts.shape[-1])
            return out

        return Chain(proportions(self.first), proportions(self.moves), proportions(self.letters))


def _over_batches(X: Ragged, states: int, unknown: int, task: Callable[[Array, Array, Array], T]) -> Iterator[T]:
    """``task(members, packed, lengths)`` for sequences of about one length side by side; its answers in order."""
    from mercer.native.hidden_markov import LANES

    order = np.argsort(X.lengths, kind="stable")
    members: list[Array] = []
    for some in chunks(len(order), LANES):
        batch = order[some]
        longest = max(1, int(X.lengths[batch].max(initial=0)))
        one_by_one = longest * states * LANES > _ROOM
        members += [batch[j : j + 1] for j in range(len(batch))] if one_by_one else [batch]
    found: list[Any] = [None] * len(members)

    def run(b: int) -> None:
        batch = members[b]
        packed = np.full((max(1, int(X.lengths[batch].max(initial=0))), LANES), unknown, np.int64)
        lengths = np.zeros(LANES, np.int64)
        for lane, i in enumerate(batch):
            lengths[lane] = X.lengths[i]
            packed[: lengths[lane], lane] = X[int(i)]
        found[b] = task(batch, packed, lengths)

    threads.run_loops(run, range(len(members)))
    yield from found


def likelihoods(X: Ragged, chain: Chain) -> Array:
    """log p(x) of each sequence."""
    from mercer.native import hidden_markov

    S, emission, out = len(chain.initial), chain.by_letter, np.zeros(len(X))

    def task(members: Array, packed: Array, lengths: Array) -> None:
        n, lanes = packed.shape
        states, factors, logs = np.empty((n, S, lanes)), np.empty((n, lanes)), np.empty(lanes)
        hidden_markov.forward(packed, chain.initial, chain.transition, emission, states, factors, logs)
        out[members] = logs[: len(members)]

    list(_over_batches(X, S, len(emission) - 1, task))
    return out


def expected(X: Ragged, chain: Chain) -> Iterator[tuple[Array, Array, Counts]]:
    """(numbers of sequences, their log p(x), the expected counts of each), batch by batch."""
    from mercer.native import hidden_markov

    S, emission = len(chain.initial), chain.by_letter
    K = len(emission) - 1

    def task(members: Array, packed: Array, lengths: Array) -> tuple[Array, Array, Counts]:
        lanes = len(lengths)
        states, factors, logs = np.empty((len(packed), S, lanes)), np.empty((len(packed), lanes)), np.empty(lanes)
        first, moves, letters = np.empty((S, lanes)), np.empty((S, S, lanes)), np.empty((K + 1, S, lanes))
        hidden_markov.forward(packed, chain.initial, chain.transition, emission, states, factors, logs)
        hidden_markov.backward(packed, lengths, chain.transition, emission, states, factors, first, moves, letters)
        m = len(members)
        counts = Counts(first[:, :m], moves[:, :, :m], letters[:K].transpose(1, 0, 2)[:, :, :m])
        return members, logs[:m], counts

    yield from _over_batches(X, S, K, task)


@dataclass(frozen=True, eq=False)
class Climb:
    """Where steps of expectation and maximisation came to: the chain, its bound, those of all steps."""

    chain: Chain
    bounds: list[float]
    converged: bool

    @property
    def bound(self) -> float:
        return self.bounds[-1] if self.bounds else -np.inf


def climbed(X: Ragged, weights: Array, start: Chain, *, smoothing: float, tol: float, max_iter: int) -> Climb:
    """Steps until Σ w log p(x), less the price of ``smoothing``, gains less than ``tol`` for each sequence."""
    chain, bounds = start, []
    for _ in range(max_iter):
        total, sums = 0.0, []
        for members, logs, counts in expected(X, chain):
            w = weights[members]
            total += float(w @ np.where(w > 0, logs, 0.0))
            sums.append(counts.sum(w))
        bounds.append((total + _prior(chain, smoothing)) / weights.sum())
        added = Counts(*(np.sum([getattr(s, name) for s in sums], axis=0) for name in ("first", "moves", "letters")))
        chain = added.chain(smoothing)
        gain = bounds[-1] - bounds[-2] if len(bounds) > 1 else np.inf
        if gain < tol:
            return Climb(chain, bounds, converged=True)
        watch.report(gap=gain)
    return Climb(chain, bounds, converged=False)


def _prior(chain: Chain, smoothing: float) -> float:
    if smoothing == 0:
        return 0.0
    return smoothing * float(sum(np.log(p).sum() for p in (chain.initial, chain.transition, chain.emission)))


def most_probable(X: Ragged, chain: Chain) -> list[Array]:
    """For each sequence, the states that are together most probable."""
    from mercer.native import hidden_markov

    with np.errstate(divide="ignore"):
        logs = [np.log(p) for p in (chain.initial, chain.transition, chain.by_letter)]
    out = np.zeros(len(X.values), np.int64)

    def task(i: int) -> None:
        own = slice(int(X.offsets[i]), int(X.offsets[i + 1]))
        came = np.zeros((own.stop - own.start, len(chain.initial)), np.int32)
        hidden_markov.most_probable(X.values[own], *logs, came, out[own])

    threads.run_loops(task, range(len(X)))
    return [out[b:e] for b, e in pairwise(X.offsets.tolist())]
