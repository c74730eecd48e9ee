"""The choice among candidates by their answers on rows held out, and the score that can be told of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from mercer.arrays import Array
from mercer.tabular.averaging import Claim, claimed, weights_of
from mercer.tabular.problem import Problem

_BETTER = 0.998  # times the loss of the best alone: less is not worth an average


@dataclass(frozen=True, eq=False)
class Held:
    """Answers of candidates, (candidates, rows, …), on rows that they were not trained on, each ``repeats`` times.

    Candidates of one name differ in their setting, and the best of them stands for all. At most ``most`` are averaged.
    """

    problem: Problem
    names: Sequence[str]
    answers: Array
    repeats: int
    most: int

    def choose(self, rows: Array | None = None) -> tuple[list[int], Array, list[int]]:
        """The numbers and weights of the members, by these rows, and the best of every name, the best name first."""
        problem = self._bare if rows is None else self._bare.at(rows)
        mine = self.answers if rows is None else self.answers[:, rows]
        best: dict[str, int] = {}
        for c in np.argsort([problem.loss(a) for a in mine], kind="stable"):
            best.setdefault(self.names[c], int(c))
        leaders = list(best.values())
        truth = (problem.y[:, None] == np.arange(mine.shape[2])) * 1.0 if problem.classes else problem.y
        beta = weights_of(list(mine[leaders]), truth, problem.weights, self.most)
        if problem.loss(np.tensordot(beta, mine[leaders], 1)) >= _BETTER * problem.loss(mine[leaders[0]]):
            beta = np.eye(len(leaders))[0]
        kept = np.flatnonzero(beta > 0)
        return [leaders[k] for k in kept], beta[kept], leaders

    def mean(self, members: list[int], beta: Array) -> Array:
        """The answers of the average."""
        return np.asarray(np.tensordot(beta, self.answers[members], 1))

    def claim(self, seed: int) -> Claim:
        """The score to be told: that of choosing as here, on rows outside of those that chose."""
        every = np.arange(len(self.problem))
        return claimed(len(self.problem), self.repeats, self._chosen_by, self._chosen_by(every), seed)

    @property
    def _bare(self) -> Problem:
        """Without the columns of the table, which nobody asks for here."""
        return replace(self.problem, X=np.zeros((len(self.problem), 0)))

    def _chosen_by(self, rows: Array) -> Callable[[Array], float]:
        """The score, on any rows, of what these would choose."""
        members, beta, _ = self.choose(rows)
        mean, part = self.mean(members, beta), self._bare.at(rows)
        answers = mean + part.shift(mean[rows])
        return partial(self._score, answers, part.priors() if part.classes else None)

    def _score(self, answers: Array, priors: Array | None, rows: Array) -> float:
        return self._bare.at(rows).score(answers[rows], priors)
