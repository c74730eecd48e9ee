"""The search: many kernels on some rows, the best of them and what learns its kernel on more, then an average.

    first round    ridge over every kernel and view of the columns: which view, kernel, width and scale of the target
    second round   on more rows, with other folds: the best kernels with λ or C, support vectors over them, a learnt
                   metric, cells of trees
    choice         the weights of an average, and what choosing is worth (``averaging``)

Every candidate leaves its values on rows that it was not trained on; nothing is judged otherwise.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl
from scipy import sparse

from mercer.annotations import Samples
from mercer.arrays import Array
from mercer.compute import Compute
from mercer.runtime.watch import Stopped
from mercer.tabular.averaging import MOST, Claim
from mercer.tabular.choosing import Held
from mercer.tabular.encoding import Encoding, View
from mercer.tabular.families import Family, Split, in_silence
from mercer.tabular.finalists import RIDGES, WIDEST, Finalists
from mercer.tabular.kernels import Named, joined, kernels_of
from mercer.tabular.kinds import Kind
from mercer.tabular.plan import Plan
from mercer.tabular.problem import Problem
from mercer.tabular.targets import Scale, scales
from mercer.tabular.tried import Tried

_MEASURED = 50_000  # rows that columns are measured on
_FOLDS = 5
_JOINED = 3  # kernels of what is written, that are tried with one of the numbers beside
_FIRST_SHARE = 0.5  # of the time, for the first round, where the machine is slower than it was measured to be
_ENTRIES = 3e6  # of rows with whole numbers as categories, at most
_PAIRS = ("polynomial", "linear")
_OTHER_VIEWS = {(name, width) for name in ("Gaussian", "Laplacian") for width in (1, 2, 3)}

Report = Callable[[dict[str, Any]], Any]


@dataclass(eq=False)
class Round:
    """Candidates, and the rows that they were tested on: ``how`` in words."""

    problem: Problem
    how: str
    repeats: int = 1  # how often every row is there, each time tested by other machines
    tried: list[Tried] = field(default_factory=list)


@dataclass(eq=False)
class Search:
    """Fills ``rounds``; ``choose`` then says which to train, with which weights."""

    problem: Problem
    kinds: dict[str, Kind]
    seconds: float
    compute: Compute | None
    seed: int
    report: Report | None = None
    counting: bool = False  # whether the target is a count
    notes: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.began, self.used = time.perf_counter(), time.process_time()
        self.encodings: dict[View | None, Encoding | None] = {}
        X = self.problem.X
        width = X.shape[1] if sparse.issparse(X) else len(self._encoding(View()).names)  # type: ignore[union-attr]
        outputs = len(self.problem.labels) if len(self.problem.labels) > 2 else 1
        self.plan = Plan.of(len(self.problem), width, outputs, self.seconds, self.compute)
        self.finalists = Finalists(
            self.problem, self.plan, self.seed, self.compute, self.counting, self._encoding, self.seen
        )
        self.rounds: list[Round] = []
        self.count, self.interrupted = 0, False
        self.left_out: list[str] = []

    @property
    def last(self) -> Round:
        """The last round in which anything was tried to its end."""
        return next((r for r in reversed(self.rounds) if r.tried), self.rounds[-1])

    # -- views -------------------------------------------------------------------------------------------------------

    def _encoding(self, view: View | None) -> Encoding | None:
        if view not in self.encodings:
            X = self.problem.X
            random = np.random.default_rng(self.seed)
            if isinstance(X, pl.DataFrame) and view is not None:
                few = X if X.height <= _MEASURED else X[np.sort(random.permutation(X.height)[:_MEASURED])]
                self.encodings[view] = Encoding.of(few, self.kinds, view)
            else:
                self.encodings[view] = None
        return self.encodings[view]

    def seen(self, view: View | None, X: Samples) -> Any:
        """Rows as the machines see them."""
        encoding = self._encoding(view)
        return X if encoding is None else encoding(X)

    def _views(self) -> list[View | None]:
        if sparse.issparse(self.problem.X):
            return [None]
        first = self._encoding(View())
        assert first is not None
        if not first.numbers:
            return [View()]
        views: list[View | None] = [View(), View("rank")]
        views += [View("size", "regression")] if first.marked else []
        coded = self._encoding(View(codes=True))
        assert coded is not None
        # a value of the matrix costs the columns: wide rows of many are not for the time of a search
        more = len(first.names) < len(coded.names) <= min(WIDEST, _ENTRIES / len(self.problem))
        return views + ([View(codes=True)] if more else [])

    # -- rounds ------------------------------------------------------------------------------------------------------

    def run(self) -> None:
        random = np.random.default_rng(self.seed)
        problem = self.problem
        rows = problem.part(self.plan.first, random)
        more = problem.part(self.plan.second, random)
        self._first(problem.at(rows))
        self._second(problem.at(more))

    def say(self, stage: str, name: str = "") -> None:
        if self.report is not None:
            best = min(self.last.tried, key=lambda t: t.loss, default=None) if self.rounds else None
            left = self.seconds - (time.perf_counter() - self.began)
            self.report({"stage": stage, "name": name, "left": left, "best": best, "tried": self.count})

    def _late(self, name: str, share: float = 1.0) -> bool:
        """Whether it is too late to begin with it: by the clock, and by the seconds of the processor, which others do
        not use up, so that nothing is lost because the machine is busy.
        """
        # as if half of the work were done by one core and half by all
        share_of_core = (1 + 1 / (self.compute or Compute()).workers) / 2
        spent = min(time.perf_counter() - self.began, share_of_core * (time.process_time() - self.used))
        if self.last.tried and spent > share * self.plan.deadline:
            self.left_out.append(name)
            return True
        return False

    def _test(
        self, family: Family, view: View | None, scale: Scale | None, problem: Problem, X: Samples,
        deals: Sequence[Sequence[Split]], kernel: Named | None = None, stage: str = "search",
    ) -> list[Tried]:  # fmt: skip
        """Every setting of a family, judged on the rows that are tested, once for each deal of the rows to folds."""
        self.say(stage, family.name)
        target = problem.coded(scale)
        try:
            each = [in_silence(family.tested, X, target, problem.weights, splits) for splits in deals]
        except (ValueError, ArithmeticError, MemoryError) as error:
            if isinstance(error, Stopped):
                raise
            self.notes.append(f"{family.name} could not be tried: {error}")
            return []
        part = self.rounds[-1].problem
        found = np.concatenate([values[:, tested_rows(s)] for values, s in zip(each, deals, strict=True)], axis=1)
        out = []
        for setting, values in zip(family.settings, found, strict=True):
            self.count += 1
            if np.isfinite(values).all():
                finish = part.finish(values, scale)
                loss = part.loss(part.answers(values, finish))
                out.append(Tried(family, setting, view, scale, values, finish, loss, kernel))
        return out

    def _first(self, problem: Problem) -> None:
        """Ridge over every kernel: which view, kernel, width, λ and scale are best."""
        deals = self._dealt(problem, _FOLDS, 1, self.seed)
        scale = self._scale(problem, deals)
        for number, view in enumerate(self._views()):
            X = self.seen(view, problem.X)
            named = in_silence(kernels_of, X, self._encoding(view))
            if number and len(named) > 4:  # of other views the middle widths of what may differ there
                named = [k for k in named if (k.name, k.width) in _OTHER_VIEWS or (view.codes and k.name in _PAIRS)]  # type: ignore[union-attr]
            self._try_kernels(named, view, scale, problem, X, deals)
            encoding = self._encoding(view)
            if not number and encoding is not None and encoding.written and encoding.columns:
                best = self._best_kernels(lambda k: k.name not in ("Gaussian", "linear"))
                self._try_kernels(in_silence(joined, best, X, encoding), view, scale, problem, X, deals)

    def _try_kernels(
        self, named: Sequence[Named], view: View | None, scale: Scale | None, problem: Problem, X: Samples,
        deals: Sequence[Sequence[Split]],
    ) -> None:  # fmt: skip
        for kernel in named:
            family = self.finalists.ridge(kernel, view, RIDGES)
            if not self._late(family.name, _FIRST_SHARE):
                self.last.tried += self._test(family, view, scale, problem, X, deals, kernel)

    def _best_kernels(self, wanted: Callable[[Named], bool]) -> list[Named]:
        """The kernels of the best candidates so far."""
        found: dict[str, Named] = {}
        for tried in sorted(self.last.tried, key=lambda t: t.loss):
            if tried.kernel is not None and wanted(tried.kernel):
                found.setdefault(tried.kernel.name, tried.kernel)
        return list(found.values())[:_JOINED]

    def _dealt(self, problem: Problem, folds: int, repeats: int, seed: int) -> list[list[Split]]:
        """Begin a round: its rows, dealt to folds once or several times."""
        often = repeats if folds > 1 and problem.times is None else 1
        deals = [problem.splits(folds, seed + 100 * r) for r in range(often)]
        deals = [splits for splits in deals if len(tested_rows(splits)) == len(tested_rows(deals[0]))]
        rows = np.concatenate([tested_rows(splits) for splits in deals])
        self.rounds.append(Round(problem.at(rows), self._how(problem, deals[0]), len(deals)))
        return deals

    def _how(self, problem: Problem, splits: Sequence[Split]) -> str:
        """How rows were held out."""
        n, whole = len(problem), len(self.problem)
        part = f"{n} of {whole} rows" if n < whole else f"{n} rows"
        if problem.times is not None:
            return f"{len(splits)} parts of {part}, each by earlier ones"
        kept = "groups together, " if problem.groups is not None else ""
        return f"{kept}{len(splits)} folds of {part}" if len(splits) > 1 else f"{kept}a fifth held out of {part}"

    def _scale(self, problem: Problem, deals: Sequence[Sequence[Split]]) -> Scale | None:
        """That of the target: of several, the one with the least loss under one kernel."""
        if problem.classes:
            return None
        found = scales(self.problem.y, self.problem.weights)
        if len(found) == 1:
            return found[0]
        view = self._views()[0]
        X = self.seen(view, problem.X)
        named = in_silence(kernels_of, X, self._encoding(view))
        kernel = named[min(2, len(named) - 1)]
        ridge = self.finalists.ridge(kernel, view, RIDGES)
        best = [
            min((t.loss for t in self._test(ridge, view, s, problem, X, deals, kernel)), default=np.inf) for s in found
        ]
        return found[int(np.argmin(best))]

    def _second(self, problem: Problem) -> None:
        """The best kernels again on more rows, and what learns its kernel."""
        first = sorted(self.last.tried, key=lambda t: t.loss)
        if not first:
            return
        deals = self._dealt(problem, self.plan.folds, self.plan.repeats, self.seed + 1)
        seen: dict[View | None, Any] = {}
        for family, tried in self.finalists.of(first, len(problem)):
            if self._late(family.name):
                continue
            if tried.view not in seen:
                seen[tried.view] = self.seen(tried.view, problem.X)
            self.rounds[-1].tried += self._test(
                family, tried.view, tried.scale, problem, seen[tried.view], deals, tried.kernel, "more rows"
            )

    # -- the choice --------------------------------------------------------------------------------------------------

    def choose(self) -> Choice:
        """The members of the average, from the best setting of each family, and the score that can be told of them."""
        problem, tried = self.last.problem, self.last.tried
        answers = np.stack([problem.answers(t.values, t.finish) for t in tried])
        held = Held(problem, [t.name for t in tried], answers, self.last.repeats, self._most)
        members, beta, leaders = held.choose()
        return Choice(
            [(tried[c], float(b)) for c, b in zip(members, beta, strict=True)],
            [tried[c] for c in leaders],
            held.mean(members, beta),
            held.claim(self.seed),
        )

    @property
    def _most(self) -> int:
        """Members of the average: fewer where each takes long to train."""
        return MOST if len(self.problem) <= self.plan.exact // 2 else MOST // 2


@dataclass(frozen=True, eq=False)
class Choice:
    """Members of the average with their weights, the best of every family, the answers of the average, and what can be
    told of its score.
    """

    members: list[tuple[Tried, float]]
    leaders: list[Tried]
    answers: Array
    claim: Claim


def tested_rows(splits: Sequence[Split]) -> Array:
    return np.unique(np.concatenate([test for _, test in splits]))
