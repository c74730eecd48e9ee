"""Training what was chosen on all rows, and asking what its columns are worth."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from mercer.arrays import Array
from mercer.data.notices import quietly
from mercer.kernels.compose.feature_space import ZeroNormWarning
from mercer.tabular.families import in_silence
from mercer.tabular.importance import importance, rows_to_ask
from mercer.tabular.members import Member
from mercer.tabular.problem import Problem
from mercer.tabular.search import Choice, Search
from mercer.tabular.tried import Tried


def trained(search: Search, choice: Choice) -> tuple[list[Member], list[str]]:
    """The members, trained on all rows: exactly where that can be done, else as sums over some of them; and what is to
    be said of it.
    """
    problem, plan, members, notes = search.problem, search.plan, [], []
    for tried, weight in choice.members:
        search.say("train", tried.name)
        family, few = tried.family.within(len(problem), plan, search.seed)
        if few:
            notes.append(
                f"Trained on all {len(problem)} rows as a sum over {plan.centers} of them: over all it would take"
                " longer than the time allows (--time)."
            )
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", ConvergenceWarning)
            machine = _fit(search, replace(tried, family=family), problem)
        notes += [str(w.message) for w in caught if issubclass(w.category, ConvergenceWarning)]
        members.append(Member(tried.name, weight, search.encodings[tried.view], machine, tried.finish))
    return members, notes


def importances(search: Search, choice: Choice, random: np.random.Generator) -> dict[str, float]:
    """Of each column, by the heaviest member, trained again on a part of the rows and asked about others."""
    search.say("importance")
    rows = search.problem.part(2 * search.plan.first, random)
    problem, (tried, _) = search.problem.at(rows), max(choice.members, key=lambda member: member[1])
    train, test = problem.splits(1, search.seed + 2)[0]
    part, rest = problem.at(some(train, search.plan.first, random)), problem.at(rows_to_ask(test, random))
    machine = in_silence(_fit, search, tried, part)
    member = Member(tried.name, 1.0, search.encodings[tried.view], machine, tried.finish)
    return importance(rest.X, lambda X: rest.loss(member.answers(X)), random)


def some(rows: Array, most: int, random: np.random.Generator) -> Array:
    """So many of the rows at most, in order."""
    return rows if len(rows) <= most else np.sort(random.permutation(rows)[:most])


def _fit(search: Search, tried: Tried, problem: Problem) -> Any:
    X = search.seen(tried.view, problem.X)
    if isinstance(X, np.ndarray) and len(X) > search.plan.support:
        X = X.astype(np.float32)  # half the memory, and passes over them take half the time
    with quietly(), warnings.catch_warnings():
        warnings.simplefilter("ignore", ZeroNormWarning)
        return tried.family.fit(tried.setting, X, problem.coded(tried.scale), problem.weights)
