"""What was found, in plain values: for the screen, for a file, for other programs."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer import __version__
from mercer.tabular.intake import Taken
from mercer.tabular.members import Member
from mercer.tabular.metrics import metric_of
from mercer.tabular.problem import Problem, decided
from mercer.tabular.search import Choice, Search
from mercer.tabular.tried import Tried
from mercer.tabular.wording import kernel_in_words

_FEW_ROWS = 2000
_EARLY = 0.8  # of the time: who ends before says why
_CLASSES = 12  # of which each has its score


def summarised(
    taken: Taken, search: Search, choice: Choice, members: list[Member], columns: dict[str, float],
    said: list[str],
) -> dict[str, Any]:  # fmt: skip
    """Task, score and how it was measured, members, columns, what to try next, and all that is to be said."""
    problem, judged, claim = search.problem, search.last.problem, choice.claim
    encoding = members[0].encoding
    notes = [*taken.notes, *search.notes, *([] if encoding is None else encoding.notes), *said]
    if search.left_out:
        left = ", ".join(dict.fromkeys(search.left_out))
        notes.append(f"Not tried, since the machine was too busy for it in the time (--time): {left}.")
    return {
        "mercer": __version__,
        "task": taken.task.name,
        "reason": taken.task.reason,
        "rows": len(problem),
        "rows_without_target": taken.without_target,
        "metric": problem.metric.name,
        "metric_in_words": problem.metric.words,
        "score": claim.score,
        "standard_error": claim.error,
        "measured": _measured(search, claim.rows),
        "baseline": _baseline(judged),
        "scores": _scores(judged, choice),
        "model": " & ".join(member.name for member in members),
        "members": [
            {
                "name": member.name,
                "weight": member.weight,
                "machine": _machine_in_words(member),
                "kernel": kernel_in_words(member.machine, member.encoding),
            }
            for member in members
        ],
        "classes": [str(label) for label in problem.labels],
        "columns": taken.shown,
        "leaders": {tried.name: _score_of(judged, tried) for tried in choice.leaders[:8]},
        "importance": columns,
        "next": _next(search, claim.error, any(getattr(m.machine, "centers", None) for m in members)),
        "tried": search.count,
        "notes": list(dict.fromkeys(notes)),
    }


def told(s: dict[str, Any]) -> str:
    """A summary in some lines of text."""
    show = metric_of(s["task"], s["metric"]).shown
    lines = [f"{s['target']}: {s['task']} ({s['reason']}); {s['rows']} rows"]
    lines += [f"{100 * m['weight']:.0f} % {m['machine']}, {m['kernel']}" for m in s["members"]]
    lines.append(
        f"{s['metric_in_words']} {show(s['score'])} ± {show(s['standard_error'])} {s['measured']}; always the same"
        f" answer: {show(s['baseline'])}"
    )
    matter = [name for name, grown in s["importance"].items() if grown > 0][:8]
    lines += [f"what matters: {', '.join(matter)}"] if matter else []
    return "\n".join([*lines, *s["notes"], f"next: {s['next']}", s["ended"]])


def _measured(search: Search, rows: int) -> str:
    """What the score is the score of."""
    return f"on {rows} rows that were not trained on ({search.last.how}); the choice among candidates is part of it"


def ended(search: Search, took: float) -> str:
    """Why the search ended when it did."""
    asked = f"{took:.0f} of {search.seconds:.0f} s"
    if search.interrupted:
        return f"Interrupted after {asked}: what had not ended was left out."
    if search.left_out:
        return f"Ended after {asked}: what had not begun was left out."
    rows = min(len(search.problem), search.plan.second)
    if took < _EARLY * search.seconds:
        return f"Ended after {asked}: every machine on the list was tried, on {rows} of {len(search.problem)} rows."
    return f"Ended after {asked}."


def _next(search: Search, error: float, sums: bool) -> str:
    """What is worth trying next, from what was measured."""
    problem = search.problem
    if search.left_out or search.interrupted:
        return "more time (--time): not all that was planned was tried."
    if sums:
        return f"more time (--time): the machines are sums over {search.plan.centers} of {len(problem)} rows."
    if len(problem) <= _FEW_ROWS:
        return f"more rows: {len(problem)} leave the score uncertain by {problem.metric.shown(error)}."
    if search.plan.second < len(problem):
        return "more time (--time): candidates were compared on a part of the rows."
    return "columns that say more: kernels, widths and machines were tried on all rows, and agree."


def _baseline(problem: Problem) -> float:
    """The score of an answer that is always the same."""
    if problem.classes:
        constant = np.tile(problem.priors(), (len(problem), 1))
        return float(problem.score(constant, None))
    level = problem.metric.level
    constant = np.quantile(problem.y, level) if level is not None else np.average(problem.y, weights=problem.weights)
    return float(problem.score(np.full(len(problem), constant)))


def _score_of(problem: Problem, tried: Tried) -> float:
    answers = problem.answers(tried.values, tried.finish)
    return float(problem.score(answers + problem.shift(answers), problem.priors() if problem.classes else None))


def _scores(problem: Problem, choice: Choice) -> dict[str, float]:
    """Of each class, the share of its rows that are found (recall), with all that is commonly asked for."""
    answers = choice.answers
    if not problem.classes:
        whole = answers + problem.shift(answers)
        return {
            name: metric_of("regression", name)(problem.y, whole, problem.weights) for name in ("rmse", "mae", "r2")
        }
    labels = decided(answers, problem.metric, problem.priors())
    out = {
        "accuracy": metric_of("classification", "accuracy")(problem.y, labels, problem.weights),
        "balanced_accuracy": metric_of("classification", "balanced_accuracy")(problem.y, labels, problem.weights),
        "auc": metric_of("classification", "auc")(problem.y, answers, problem.weights),
        "log_loss": metric_of("classification", "log_loss")(problem.y, answers, problem.weights),
    }
    if len(problem.labels) <= _CLASSES:
        out |= {
            f"recall of {problem.labels[k]}": float(np.mean(labels[problem.y == k] == k)) for k in np.unique(problem.y)
        }
    return out


def _machine_in_words(member: Member) -> str:
    machine = member.estimator
    given = {
        k: v for k, v in machine.get_params(deep=False).items() if k in ("C", "alpha", "epsilon") and v is not None
    }
    alpha = getattr(machine, "alpha_", None)
    given = given | ({"alpha": alpha} if alpha is not None else {})
    return f"{type(machine).__name__}({', '.join(f'{k}={v:.4g}' for k, v in given.items())})"
