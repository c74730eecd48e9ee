"""Splits by scaffold, time and group."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from sklearn.model_selection import cross_val_score

import mercer as mc
from mercer.selection.splits import scaffold_parts

RINGS = ["c1ccccc1", "C1CCCCC1", "c1ccncc1", "C1CC1", "c1ccoc1"]
TAILS = ["C", "CC", "O", "N", "CO", "Cl"]


def ringed(n: int = 40) -> list[str]:
    rng = np.random.default_rng(n)
    return [RINGS[min(4, int(rng.exponential(1.5)))] + str(rng.choice(TAILS)) for _ in range(n)]


def ring(smiles: str) -> str:
    return next(r for r in sorted(RINGS, key=len, reverse=True) if smiles.startswith(r))


def test_scaffolds_are_on_one_side_and_the_largest_are_learnt() -> None:
    pytest.importorskip("rdkit")
    X = ringed()
    [(train, test)] = mc.ScaffoldSplit(0.3).split(X)
    assert sorted([*train, *test]) == list(range(len(X)))
    assert len(test) > 0
    assert len(train) <= 0.7 * len(X)
    learnt, tested = ({ring(X[i]) for i in rows} for rows in (train, test))
    assert not learnt & tested
    counts = {r: sum(ring(x) == r for x in X) for r in RINGS}
    assert max(counts, key=lambda r: counts[r]) in learnt


def test_parts_are_deepchems() -> None:
    """The algorithm as DeepChem states it, for three parts."""
    chem = pytest.importorskip("rdkit.Chem")
    from rdkit.Chem.Scaffolds.MurckoScaffold import MurckoScaffoldSmiles

    X = [*ringed(60), "CCO", "CCN"]
    groups: dict[str, list[int]] = {}
    for i, x in enumerate(X):
        groups.setdefault(MurckoScaffoldSmiles(mol=chem.MolFromSmiles(x), includeChirality=False), []).append(i)
    train: list[int] = []
    valid: list[int] = []
    test: list[int] = []
    for group in sorted(groups.values(), key=lambda g: (len(g), g[0]), reverse=True):
        if len(train) + len(group) > 0.8 * len(X):
            (test if len(train) + len(valid) + len(group) > 0.9 * len(X) else valid).extend(group)
        else:
            train += group
    for found, expected in zip(scaffold_parts(X, (0.8, 0.1, 0.1)), (train, valid, test), strict=True):
        assert found.tolist() == expected


def test_folds_of_scaffolds() -> None:
    pytest.importorskip("rdkit")
    X = ringed()
    splits = list(mc.ScaffoldSplit(n_splits=3).split(X))
    assert sorted(i for _, test in splits for i in test) == list(range(len(X)))
    for train, test in splits:
        assert not {ring(X[i]) for i in train} & {ring(X[i]) for i in test}
    frame = pl.DataFrame({"drug": X, "x": range(len(X))})
    again = list(mc.ScaffoldSplit(n_splits=3, column="drug").split(frame))
    assert [test.tolist() for _, test in again] == [test.tolist() for _, test in splits]
    with pytest.raises(mc.DataError, match="scaffolds cannot make 9 folds"):
        list(mc.ScaffoldSplit(n_splits=9).split(X))
    with pytest.raises(mc.DataError, match="nothing to hold out"):
        list(mc.ScaffoldSplit(0.2).split(["CC"] * 5))
    with pytest.raises(mc.DataError, match="Item 1 of the molecules"):
        list(mc.ScaffoldSplit(0.2).split(["CC", "no"]))


def test_later_times_are_tested() -> None:
    rng = np.random.default_rng(0)
    times = rng.integers(0, 12, 60)
    splits = list(mc.TimeSplit(times, 4).split(np.zeros((60, 1))))
    assert len(splits) == 4 == mc.TimeSplit(times, 4).get_n_splits()
    for train, test in splits:
        assert times[train].max() < times[test].min()
    frame = pl.DataFrame({"when": times})
    for (a, b), (c, d) in zip(mc.TimeSplit("when", 4).split(frame), splits, strict=True):
        np.testing.assert_array_equal(np.concatenate([a, b]), np.concatenate([c, d]))
    days = np.array(["2024-01-01", "2024-03-01", "2024-02-01"], "datetime64[D]")
    assert [test.tolist() for _, test in mc.TimeSplit(days, 2).split([0, 0, 0])] == [[2], [1]]
    with pytest.raises(mc.DataError, match="1 different times"):
        list(mc.TimeSplit(np.zeros(9), 2).split(np.zeros((9, 1))))
    with pytest.raises(mc.DataError, match="There are 9 times and 8 rows"):
        list(mc.TimeSplit(np.zeros(9), 2).split(np.zeros((8, 1))))


def test_groups_are_on_one_side() -> None:
    groups = np.random.default_rng(0).choice(list("abcdefg"), 50)
    splits = list(mc.GroupSplit(groups, 3).split(np.zeros((50, 1))))
    assert sorted(i for _, test in splits for i in test) == list(range(50))
    for train, test in splits:
        assert not set(groups[train]) & set(groups[test])
    given = list(mc.GroupSplit(n_splits=3).split(np.zeros((50, 1)), groups=groups))
    assert all((a[1] == b[1]).all() for a, b in zip(given, splits, strict=True))
    with pytest.raises(mc.DataError, match="needs groups"):
        list(mc.GroupSplit().split(np.zeros((50, 1))))


@pytest.mark.parametrize(
    "make", [lambda: mc.ScaffoldSplit(0.0), lambda: mc.ScaffoldSplit(n_splits=0), lambda: mc.GroupSplit(None, 1)]
)
def test_parameters_are_checked(make: Any) -> None:
    with pytest.raises(ValueError, match="must"):
        make()


def test_a_search_uses_them() -> None:
    pytest.importorskip("rdkit")
    X, y = ringed(), np.random.default_rng(0).standard_normal(40)
    machine = mc.KernelRidge(kernel=mc.Tanimoto(mc.Morgan(1)))
    cv = mc.ScaffoldSplit(n_splits=3)
    search = mc.KernelSearchCV(machine, {"alpha": [0.1, 1.0]}, cv=cv).fit(X, y)
    expected = [cross_val_score(machine.set_params(alpha=a), X, y, cv=list(cv.split(X))).mean() for a in (0.1, 1.0)]
    np.testing.assert_allclose(search.cv_results_["mean_test_score"], expected)
    search = mc.KernelSearchCV(machine, {"alpha": [0.1, 1.0]}, cv=mc.ScaffoldSplit(n_splits=2))
    assert mc.nested_scores(search, X, y, cv=mc.ScaffoldSplit(0.3)).shape == (1,)
    by_time = mc.KernelSearchCV(machine, {"alpha": [0.1, 1.0]}, cv=mc.TimeSplit(np.arange(40), 3)).fit(X, y)
    assert by_time.n_splits_ == 3


@pytest.mark.parametrize(
    ("times", "several", "sizes"),
    [
        ([2019] * 30 + [2020] * 10 + [2021] * 10 + [2022] * 10, 3, [(30, 10), (40, 10), (50, 10)]),
        ([0] * 50 + [1, 2, 3, 4], 1, [(50, 4)]),
        ([0, 1, 2] + [3] * 50, 3, [(1, 1), (2, 1), (3, 50)]),
    ],
)
def test_every_change_of_time_can_be_a_cut(times: list[int], several: int, sizes: list[tuple[int, int]]) -> None:
    splits = list(mc.TimeSplit(times, several).split(np.zeros((len(times), 1))))
    assert [(len(train), len(test)) for train, test in splits] == sizes
    with pytest.raises(mc.DataError, match="of which only"):
        list(mc.TimeSplit(times, 5).split(np.zeros((len(times), 1))))


def test_times_are_in_order() -> None:
    X = np.zeros((3, 1))
    days = ["2021-01-03", "2020-12-31", "2021-01-10"]
    assert [test.tolist() for _, test in mc.TimeSplit(days, 2).split(X)] == [[0], [2]]
    for times in ([1.0, np.nan, 2.0], [1, None, 2], np.array(["2021-01-03", "NaT", "2021"], "datetime64[D]")):
        with pytest.raises(mc.DataError, match="time of row 1 is missing"):
            list(mc.TimeSplit(times, 1).split(X))
    with pytest.raises(mc.DataError, match="neither numbers nor dates"):
        list(mc.TimeSplit(["1/2/2020", "2/2/2020", "3/2/2020"], 1).split(X))
