"""What a page says: taken whole, or refused in words before any work is done."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest

from mercer.play.blocks import facts
from mercer.play.limits import LONGEST_ITEM, LONGEST_KERNEL, MOST_ITEMS, MOST_POINTS, Refused
from mercer.play.modes import MODES
from mercer.play.state import data_of, number, pair_of, values_of
from tests.play.asked import SOME, state, why

POINT = [0.5, -1.0, 1]


def refused(mode: str = "classify", **given: Any) -> str:
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        state(mode, **given)
    return why(caught.value)


@pytest.mark.parametrize("mode", MODES)
def test_a_mode_begins_with_a_state_of_its_own(mode: str) -> None:
    found = state(mode)
    assert found.mode == mode
    assert found.learner == next(iter(MODES[mode].learners))
    assert str(found.kernel)
    assert all(MODES[mode].state({"learner": learner}).learner == learner for learner in MODES[mode].learners)


@pytest.mark.parametrize("data", [None, [], "moons", 3, {}, {"points": None}, {"points": {}}, {"points": []}])
def test_samples_that_are_none(data: Any) -> None:
    assert "points" in refused(data=data)


@pytest.mark.parametrize(
    ("points", "words"),
    [
        ([[1, 2]], "three numbers"),
        ([[1, 2, 0, 0]], "three numbers"),
        ([POINT, [1, 2]], "three numbers"),
        ([POINT, "xyz"], "three numbers"),
        ([["a", "b", "c"]], "three numbers"),
        ([[None, 1, 0]], "three numbers|not finite"),
        ([[{}, 1, 0]], "three numbers"),
        ([1, 2, 3], "three numbers"),
        ([[[1, 2, 0]]], "three numbers"),
        ([[10**400, 0, 0]], "three numbers"),
        ([[float("nan"), 0, 0]], "not finite"),
        ([[0, float("inf"), 0]], "not finite"),
        ([[2e6, 0, 0]], "farther out"),
        ([[0, 0, 4]], "Labels"),
        ([[0, 0, -1]], "Labels"),
        ([[0, 0, 0.5]], "Labels"),
    ],
)
def test_points_that_are_none(points: Any, words: str) -> None:
    said = refused(data={"points": points})
    assert any(each in said for each in words.split("|"))


def test_points_are_taken_as_they_are() -> None:
    data = state("classify", data={"points": [[0.5, -1.0, 1], [1e-300, 1e6, 0], [True, 2, 3]]}).data
    np.testing.assert_array_equal(data.X, [[0.5, -1.0], [1e-300, 1e6], [1.0, 2.0]])
    np.testing.assert_array_equal(data.y, [1, 0, 3])
    scope: dict[str, Any] = {"np": np}
    exec(data.written(), scope)
    np.testing.assert_array_equal(scope["X"], data.X)
    np.testing.assert_array_equal(scope["y"], data.y)


def test_a_million_points_are_refused_at_once() -> None:
    points = [POINT] * 1_000_000
    began = time.perf_counter()
    assert f"1000000 points: a page shows {MOST_POINTS}" in refused(data={"points": points})
    assert time.perf_counter() - began < 1.0


@pytest.mark.parametrize(
    "family",
    [
        {"family": "moon"},
        {"family": None},
        {"family": ["moons"]},
        {"family": "moons", "n": 0},
        {"family": "moons", "n": MOST_POINTS + 1},
        {"family": "moons", "n": 10**30},
        {"family": "moons", "n": 3.5},
        {"family": "moons", "n": True},
        {"family": "moons", "n": "30"},
        {"family": "moons", "seed": -1},
        {"family": "moons", "seed": 2**32},
        {"family": "moons", "seed": None},
    ],
)
def test_families_that_are_none(family: Any) -> None:
    refused(data=family)


def test_no_table_was_opened() -> None:
    assert "mercer play TABLE" in refused(data={"table": True})


@pytest.mark.parametrize(
    ("items", "words"),
    [
        (None, "nothing to compare"),
        ([], "nothing to compare"),
        (["nation"], "a text and a label"),
        ([["nation"]], "a text and a label"),
        ([[1, 0]], "a text and a label"),
        ([["nation", 0, 0]], "a text and a label"),
        ([["nation", 4]], "Labels"),
        ([["nation", 0.5]], "Labels"),
        ([["nation", "0"]], "Labels"),
        ([["nation", None]], "Labels"),
        ([["nation", True]], "Labels"),
        ([["", 0]], "letters"),
        ([["a" * (LONGEST_ITEM + 1), 0]], "letters"),
        ([["a\0b", 0]], "cannot be shown"),
        ([["a\ud800", 0]], "cannot be shown"),
        ([["a", 0]] * (MOST_ITEMS + 1), f"{MOST_ITEMS} at most"),
    ],
)
def test_items_that_are_none(items: Any, words: str) -> None:
    assert words in refused("words", data={"items": items})


@pytest.mark.parametrize("smiles", ["C1CC", "not a molecule", "C(", "Xx", "c1cc"])
def test_a_molecule_that_is_none_is_named(smiles: str) -> None:
    pytest.importorskip("rdkit")
    with pytest.raises(ValueError, match="SMILES") as caught:
        list(MODES["molecules"].answers(state("molecules", data={"items": [["CCO", 0], [smiles, 1]]})))
    assert smiles in why(caught.value)


@pytest.mark.parametrize("kernel", [None, 3, "", "   ", [], {}, "x" * (LONGEST_KERNEL + 1), "+".join(["Min()"] * 1000)])
def test_expressions_that_are_none(kernel: Any) -> None:
    said = refused(kernel=kernel)
    assert "kernel bar is empty" in said or "letters; the page takes" in said


@pytest.mark.parametrize(
    "kernel",
    [
        "Gauss()", "Gaussian(", "Gaussian(γ=-1)", "Gaussian(γ=nan)", "Gaussian(γ=1e999)", "Gaussian() +", "-Linear()",
        "Gaussian(width=1)", "2", "'Gaussian()'", "Gaussian()^0", "Gaussian() Linear()", "\ud800", "\0", "lambda: 0",
        "__import__('os').system('true')", "Gaussian().__class__", "Gaussian().gram", "[" * 900, "(" * 1900,
        "(" * 900 + "Gaussian()" + ")" * 900, "Gaussian()" + ".normalized()" * 150, "Gaussian()" + "^2" * 900,
        "+".join(["Min()"] * 200), "Gaussian()·" * 100 + "Min()", "1" * 1900, "Spectrum(k=1000000000)",
        "RandomFeatures(Gaussian(γ=1), 1000000000)", "Anova(degree=1000000)", "Walk(length=1000000000)",
    ],
)  # fmt: skip
def test_expressions_that_are_no_kernels(kernel: str) -> None:
    began = time.perf_counter()
    refused(kernel=kernel)
    assert time.perf_counter() - began < 2.0


def test_where_an_expression_ends_too_early_is_said() -> None:
    from mercer.play.queue import refusal

    with pytest.raises(ValueError, match="character 13") as caught:
        state("classify", kernel="Gaussian() +")
    assert refusal(caught.value).data["at"] == 12


@pytest.mark.parametrize("learner", ["svc", "", 3, [], {}, True])
def test_learners_that_are_none(learner: Any) -> None:
    assert "there are SVC, logistic" in refused(learner=learner)


@pytest.mark.parametrize(
    "values",
    [
        [], "C", 3, {"C": "3"}, {"C": None}, {"C": True}, {"C": []}, {"C": 0}, {"C": -1}, {"C": 1e5}, {"C": 1e400},
        {"C": float("nan")}, {"C": 10**400},
    ],
)  # fmt: skip
def test_values_that_are_none(values: Any) -> None:
    assert refused(values=values, data=SOME)


def test_values_keep_to_their_dials() -> None:
    dials = MODES["cluster"].learners["k-means"].dials
    assert values_of({"n_clusters": 2.6, "other": "x"}, dials) == {"n_clusters": 3}
    assert values_of(None, dials) == values_of({}, dials) == {"n_clusters": 2}
    with pytest.raises(Refused, match=r"groups is 5: it goes from 2 to 4"):
        values_of({"n_clusters": 5}, dials)
    for mode in MODES.values():
        for learner in mode.learners.values():
            for dial in learner.dials:
                assert dial.low <= dial.value <= dial.high
                assert dial.low > 0 or not dial.log


def test_what_is_a_number() -> None:
    assert [number(v) for v in (0, 1.5, -(10**20))] == [0, 1.5, -(10**20)]
    wrong = (True, None, "1", [], float("nan"), float("inf"), -float("inf"), 1e300, 10**400)
    assert [number(v) for v in wrong] == [None] * len(wrong)


@pytest.mark.parametrize("pair", [None, [], [0], [0, 5], [-1, 0], [0, 1, 2], "01", [True, 0], [0.0, 1.0], {}])
def test_a_pair_that_is_none_is_the_first_two(pair: Any) -> None:
    assert pair_of(pair, 5) == (0, 1)
    assert pair_of(pair, 1) == (0, 0)


def test_a_pair_is_taken() -> None:
    assert pair_of([4, 2], 5) == (4, 2)


@pytest.mark.parametrize("edit", [3, "x", [], True])
def test_changes_that_are_none(edit: Any) -> None:
    assert "place" in refused(edit=edit)


def test_samples_of_a_family_are_drawn_again_by_their_python() -> None:
    data = data_of({"family": "rings", "n": 30, "seed": 7}, items=False)
    scope: dict[str, Any] = {}
    exec(data.written(), scope)
    np.testing.assert_array_equal(scope["X"], data.X)
    np.testing.assert_array_equal(scope["y"], data.y)


@pytest.mark.parametrize(
    ("kernel", "low", "high", "least", "most"),
    [
        ("Gaussian(γ=2)", 1e-3, 1e3, 1e-6, 1e6),
        ("Gaussian(γ=20000)", 1e-3, 2e5, 1e-6, 1e6),
        ("Gaussian(γ=2350000)", 1e-3, 2.35e6, 1e-6, 2.35e6),
        ("Gaussian(γ=0.0000001)", 1e-7, 1e3, 1e-7, 1e6),
        ("Polynomial(degree=2, offset=1)", 0, 2, 0, 1e6),
        ("Sigmoid(offset=0)", 0, 2, 0, 1e6),
        ("Sigmoid(offset=-3)", -6, 6, -1e6, 1e6),
    ],
)
def test_a_slider_has_sensible_limits(kernel: str, low: float, high: float, least: float, most: float) -> None:
    sliders = facts(state("classify", kernel=kernel).kernel)["tree"]["sliders"]
    found = next(s for s in sliders if s["step"] == 0)
    assert [found[name] for name in ("low", "high", "least", "most")] == pytest.approx([low, high, least, most])
