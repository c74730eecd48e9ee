"""Hidden Markov models by expectation–maximisation: expected counts, and probabilities in their proportion.

Sequences are letters 0 … K − 1, and K where the letter is not known, whose probability is 1 in every state.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from mercer.arrays import Array
from mercer.data import Ragged, chunks
from mercer.runtime import threads, watch

_ROOM = 2**24  # probabilities of states that are held for a batch, and counts that are held for several
_TOGETHER = 64  # batches whose counts are held at a time, at most


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

    def add(self, counts: Counts, weights: Array) -> None:
        """Those of some sequences, each times its weight, to their sum."""
        for name in ("first", "moves", "letters"):
            getattr(self, name)[...] += getattr(counts, name) @ weights

    def chain(self, smoothing: float) -> Chain:
        """The chain that these counts, ``smoothing`` added to each, make most probable; even where there are none."""

        def proportions(counts: Array) -> Array:
            counts = counts + smoothing
            total = counts.sum(axis=-1, keepdims=True)
            out: Array = np.where(total > 0, counts / np.where(total > 0, total, 1.0), 1.0 / counts.shape[-1])
            return out

        return Chain(proportions(self.first), proportions(self.moves), proportions(self.letters))


@dataclass(frozen=True, eq=False)
class Lanes:
    """Some sequences side by side: their numbers, their letters (places × lanes) and their lengths."""

    members: Array
    packed: Array
    lengths: Array

    @classmethod
    def of(cls, X: Ragged, members: Array, unknown: int) -> Lanes:
        from mercer.native.hidden_markov import LANES

        lengths = np.zeros(LANES if len(members) > 1 else 1, np.int64)
        lengths[: len(members)] = X.lengths[members]
        packed = np.full((max(1, int(lengths.max())), len(lengths)), unknown, np.int32)
        for lane, i in enumerate(members):
            packed[: lengths[lane], lane] = X[int(i)]
        return cls(members, packed, lengths)

    def forward(self, chain: Chain, emission: Array) -> tuple[Array, Array, Array]:
        """The probabilities of states, the factors and log p of ``native.hidden_markov.forward``."""
        from mercer.native import hidden_markov

        n, lanes = self.packed.shape
        found = np.empty((n, len(chain.initial), lanes)), np.empty((n, lanes)), np.empty(lanes)
        hidden_markov.forward(self.packed, chain.initial, chain.transition, emission, *found)
        return found


def side_by_side(X: Ragged, states: int, unknown: int) -> list[Lanes]:
    """Sequences of about one length together, those alone that are so long that several would take much memory."""
    from mercer.native.hidden_markov import LANES

    order, found = np.argsort(X.lengths, kind="stable"), []
    for some in chunks(len(order), LANES):
        batch = order[some]
        alone = int(X.lengths[batch].max(initial=0)) * states * LANES > _ROOM
        found += [Lanes.of(X, part, unknown) for part in (batch[:, None] if alone else [batch])]
    return found


def likelihoods(X: Ragged, chain: Chain) -> Array:
    """log p(x) of each sequence."""
    emission, out = chain.by_letter, np.zeros(len(X))

    def task(some: Lanes) -> None:
        out[some.members] = some.forward(chain, emission)[2][: len(some.members)]

    threads.run_loops(task, side_by_side(X, len(chain.initial), len(emission) - 1))
    return out


def expected(batches: list[Lanes], chain: Chain) -> Iterator[tuple[Array, Array, Counts]]:
    """(numbers of sequences, their log p(x), the expected counts of each), batch by batch."""
    from mercer.native import hidden_markov

    S, emission = len(chain.initial), chain.by_letter
    K = len(emission) - 1
    found: list[Any] = [None] * len(batches)

    def task(b: int) -> None:
        some, m = batches[b], len(batches[b].members)
        lanes = len(some.lengths)
        states, factors, logs = some.forward(chain, emission)
        first, moves, letters = np.empty((S, lanes)), np.empty((S, S, lanes)), np.empty((K + 1, S, lanes))
        hidden_markov.backward(
            some.packed, some.lengths, chain.transition, emission, states, factors, first, moves, letters
        )
        counts = Counts(first[:, :m], moves[:, :, :m], letters[:K].transpose(1, 0, 2)[:, :, :m])
        found[b] = some.members, logs[:m], counts

    numbers = S * (1 + S + K + 1) * max((len(some.lengths) for some in batches), default=1)
    for together in chunks(len(batches), int(np.clip(_ROOM // numbers, 2, _TOGETHER))):
        threads.run_loops(task, range(together.start, together.stop))
        for b in range(together.start, together.stop):
            answer, found[b] = found[b], None
            yield answer


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
    batches = side_by_side(X, len(start.initial), start.emission.shape[1])
    for _ in range(max_iter):
        total, added = 0.0, Counts(*map(np.zeros_like, (chain.initial, chain.transition, chain.emission)))
        for members, logs, counts in expected(batches, chain):
            w = weights[members]
            total += float(w @ np.where(w > 0, logs, 0.0))
            added.add(counts, w)
        bounds.append((total + _prior(chain, smoothing)) / weights.sum())
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
