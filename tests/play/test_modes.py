"""The pictures of each mode: their numbers are those of Mercer's own estimators, called directly, and those that "show
the Python" prints.
"""

from __future__ import annotations

import contextlib
import io
import re
import subprocess
import sys
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import mercer as mc
from mercer.play import blocks
from mercer.play.limits import Lacking, Refused
from mercer.play.modes import MODES
from mercer.play.modes.base import COLUMNS, ROWS, Trace, line, plane
from mercer.play.queue import refusal
from mercer.play.samples import HEIGHT, WIDTH, draw, of_table
from mercer.play.state import Data
from mercer.play.views import some_rows
from mercer.play.words import for_the_page
from tests.play.asked import SOME, numbers, state, views, why

EXACT = {"rtol": 1e-9, "atol": 1e-9}
LEARNERS = [(mode.name, learner) for mode in MODES.values() for learner in mode.learners]


def few(mode: str, n: int = 40, family: int = 0) -> dict[str, Any]:
    """Samples of a mode, not many."""
    if not MODES[mode].families:
        return MODES[mode].start
    return {"family": MODES[mode].families[family], "n": n, "seed": 3}


def printed(text: str) -> dict[str, float]:
    """What a program prints: words and numbers."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(text, "shown", "exec"), {})
    lines = [one.rpartition(" ") for one in out.getvalue().splitlines()]
    return {words: float(value) for words, _, value in lines}


def shown(found: dict[str, Any]) -> dict[str, float]:
    """The numbers under the picture, by their words."""
    picture = next(found[name] for name in ("plane", "line", "items") if name in found)
    return {one["words"]: one["value"] for one in picture.data["numbers"]}


def cases() -> Iterator[Any]:
    """Each learner with the kernel of its mode, another dial, and the samples of another family; each kernel that is
    suggested, with the first learner.
    """
    for mode, learner in LEARNERS:
        yield pytest.param({"mode": mode, "learner": learner, "data": few(mode)}, id=f"{mode}-{learner}")
        dials = MODES[mode].learners[learner].dials
        if dials:
            turned = {dial.name: dial.low + 0.3 * (dial.high - dial.low) for dial in dials if dial.name != "max_iter"}
            other = few(mode, 30, -1)
            yield pytest.param(
                {"mode": mode, "learner": learner, "data": other, "values": turned}, id=f"{mode}-{learner}-turned"
            )
    for mode in MODES.values():
        for kernel in mode.suggested:
            yield pytest.param(
                {"mode": mode.name, "kernel": kernel, "data": few(mode.name)}, id=f"{mode.name}-{kernel}"
            )


@pytest.mark.parametrize("given", list(cases()))
def test_the_python_prints_the_numbers_of_the_page(given: dict[str, Any]) -> None:
    mode = given["mode"]
    if mode == "molecules":
        pytest.importorskip("rdkit")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of kernels that are none, and of solvers that end early: the page shows them
        found = shown(views(**given))
        told = printed(MODES[mode].python(state(**given)))
    assert list(told) == list(found)
    np.testing.assert_allclose(list(told.values()), list(found.values()), **EXACT)


@pytest.mark.thorough
def test_the_python_runs_in_a_fresh_process() -> None:
    given = {"mode": "classify", "kernel": "Gaussian(γ=30) + 0.1·Linear()", "data": {"points": [[0, 0, 0], [1, 0, 1]]}}
    text = MODES["classify"].python(state(**given))
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True, timeout=60)
    lines = [one.rpartition(" ") for one in done.stdout.splitlines()]
    np.testing.assert_allclose([float(value) for *_, value in lines], list(shown(views(**given)).values()), **EXACT)
    assert done.stderr == ""


def test_the_python_of_a_table_reads_the_table(tmp_path: Any) -> None:
    path = tmp_path / "a table.csv"
    path.write_text("a,b,c\n" + "\n".join(f"{i},{i * i % 7},{'xy'[i % 2]}" for i in range(20)))
    X, y = of_table(path, ("a", "b"), "c")
    written = (
        f"from mercer.play.samples import of_table\n\nX, y = of_table({str(path)!r}, columns=('a', 'b'), target='c')"
    )
    table, data = Data(X, y, lambda: written), {"table": True}
    told = printed(MODES["classify"].python(MODES["classify"].state({"data": data}, table)))
    assert told == pytest.approx(shown(views("classify", table=table, data=data)), rel=1e-9)


# -- each mode, computed anew ------------------------------------------------------------------------------------------

KERNEL = mc.parse("Gaussian(γ=2)")


def of_classes(**given: Any) -> tuple[Any, Any, dict[str, Any]]:
    X, y = draw("moons", 40, 0)
    return X, y, views("classify", kernel="Gaussian(γ=2)", data=SOME, **given)


def test_the_plane_is_looked_at_from_its_top_left() -> None:
    P = plane()
    assert P.shape == (ROWS * COLUMNS, 2)
    half = np.array([WIDTH / COLUMNS, HEIGHT / ROWS])
    np.testing.assert_allclose(P[0], np.array([-WIDTH, HEIGHT]) + half * [1, -1])
    np.testing.assert_allclose(P[COLUMNS - 1], np.array([WIDTH, HEIGHT]) - half)
    np.testing.assert_allclose(P[-1], np.array([WIDTH, -HEIGHT]) + half * [-1, 1])


def test_classes() -> None:
    X, y, found = of_classes(values={"C": 3.0})
    machine = mc.SVC(C=3.0, kernel=KERNEL, progress=lambda said: None).fit(X, y)
    picture = found["plane"]
    np.testing.assert_allclose(picture.arrays["field"].ravel(), machine.decision_function(plane()), **EXACT)
    np.testing.assert_array_equal(picture.arrays["support"], machine.support_)
    np.testing.assert_array_equal(picture.arrays["points"], np.column_stack([X, y]))
    expected = [np.mean(machine.predict(X) == y), np.sum(machine.objective_), len(machine.support_)]
    np.testing.assert_allclose(numbers(picture), expected, **EXACT)
    known = mc.generalisation(machine, X, y)
    expected = [known.span_error, known.support_share, known.training_error]
    np.testing.assert_allclose([row["value"] for row in found["error"].data["rows"]], expected, **EXACT)


def test_more_than_two_classes_are_painted_by_the_first() -> None:
    X, y = draw("groups", 45, 0)
    picture = views("classify", kernel="Gaussian(γ=2)", data={"family": "groups", "n": 45})["plane"]
    machine = mc.SVC(C=10.0, kernel=KERNEL, progress=lambda said: None).fit(X, y)
    values = np.sort(machine.decision_function(plane()), axis=1)
    np.testing.assert_array_equal(picture.arrays["kinds"].ravel(), machine.predict(plane()))
    np.testing.assert_allclose(picture.arrays["field"].ravel(), values[:, -1] - values[:, -2], **EXACT)


def test_logistic_regression() -> None:
    X, y, found = of_classes(learner="logistic", values={"alpha": 0.5})
    machine = mc.KernelLogistic(alpha=0.5, kernel=KERNEL).fit(X, y)
    np.testing.assert_allclose(found["plane"].arrays["field"].ravel(), machine.decision_function(plane()), **EXACT)
    np.testing.assert_allclose(numbers(found["plane"])[0], np.mean(machine.predict(X) == y), **EXACT)
    assert "support vector machine" in found["error"].data["why"]


def on_line(**given: Any) -> tuple[Any, Any, dict[str, Any]]:
    P, _ = draw("wave", 40, 0)
    return P[:, :1], P[:, 1], views("regress", kernel="Gaussian(γ=1)", data={"family": "wave", "n": 40}, **given)


def test_ridge_with_its_band_and_its_errors_on_points_left_out() -> None:
    X, y, found = on_line(values={"alpha": 0.3})
    machine = mc.KernelRidge(alpha=0.3, kernel=mc.Gaussian(1.0), uncertainty=True).fit(X, y)
    mean, spread = machine.predict(line(), return_std=True)
    np.testing.assert_allclose(
        found["line"].arrays["curves"], np.column_stack([mean - 2 * spread, mean, mean + 2 * spread]), **EXACT
    )
    np.testing.assert_allclose(numbers(found["line"]), np.sqrt(np.mean((machine.predict(X) - y) ** 2)), **EXACT)
    left = []
    for i in range(len(y)):
        rest = np.arange(len(y)) != i
        other = mc.KernelRidge(alpha=0.3, kernel=mc.Gaussian(1.0)).fit(X[rest], y[rest])
        left.append(other.predict(X[[i]])[0] - y[i])
    np.testing.assert_allclose(found["error"].data["rows"][0]["value"], np.sqrt(np.mean(np.square(left))), rtol=1e-6)


def test_quantiles() -> None:
    X, y, found = on_line(learner="quantiles", values={"alpha": 0.3})
    machine = mc.KernelQuantile(
        quantiles=[0.1, 0.5, 0.9], alpha=0.3, kernel=mc.Gaussian(1.0), progress=lambda said: None
    ).fit(X, y)
    np.testing.assert_allclose(found["line"].arrays["curves"], machine.predict(line()), **EXACT)
    low, _, high = machine.predict(X).T
    assert numbers(found["line"]) == [np.mean((low <= y) & (y <= high))]


def test_the_tube_of_support_vectors() -> None:
    X, y, found = on_line(learner="SVR", values={"C": 5.0, "epsilon": 0.1})
    machine = mc.SVR(C=5.0, epsilon=0.1, kernel=mc.Gaussian(1.0), progress=lambda said: None).fit(X, y)
    low, middle, high = found["line"].arrays["curves"].T
    np.testing.assert_allclose(middle, machine.predict(line()), **EXACT)
    np.testing.assert_allclose(high - low, 0.2, **EXACT)
    np.testing.assert_array_equal(found["line"].arrays["support"], machine.support_)


def test_groups() -> None:
    X, _ = draw("groups", 40, 0)
    found = views("cluster", kernel="Gaussian(γ=2)", values={"n_clusters": 3}, data={"family": "groups", "n": 40})
    machine = mc.KernelKMeans(n_clusters=3, kernel=KERNEL, random_state=0).fit(X)
    np.testing.assert_array_equal(found["plane"].arrays["assigned"], machine.labels_)
    np.testing.assert_array_equal(found["plane"].arrays["kinds"].ravel(), machine.predict(plane()))
    np.testing.assert_allclose(numbers(found["plane"]), [machine.inertia_, np.bincount(machine.labels_).min()], **EXACT)
    found = views(
        "cluster",
        kernel="Gaussian(γ=2)",
        learner="spectral",
        values={"n_clusters": 3},
        data={"family": "groups", "n": 40},
    )
    machine = mc.SpectralClustering(n_clusters=3, kernel=KERNEL, random_state=0).fit(X)
    np.testing.assert_array_equal(found["plane"].arrays["assigned"], machine.labels_)


def test_components() -> None:
    X, _ = draw("cloud", 40, 0)
    given = {"kernel": "Gaussian(γ=1)", "data": {"family": "cloud", "n": 40}}
    found = views("components", values={"n_components": 3, "component": 2}, **given)["plane"]
    machine = mc.KernelPCA(3, kernel=mc.Gaussian(1.0), random_state=0).fit(X)
    np.testing.assert_allclose(found.arrays["field"].ravel(), machine.transform(plane())[:, 1], **EXACT)
    np.testing.assert_allclose(numbers(found), [np.sum(machine.explained_variance_ratio_)], **EXACT)
    np.testing.assert_allclose(found.arrays["moved"], machine.inverse_transform(machine.transform(X)), **EXACT)
    # a component that is not there is the last
    assert views("components", values={"n_components": 2, "component": 8}, **given)["plane"].data["component"] == 2


@pytest.mark.parametrize(
    ("learner", "machine"),
    [
        ("one-class", mc.OneClassSVM(nu=0.2, kernel=KERNEL, progress=lambda said: None)),
        ("SVDD", mc.SVDD(nu=0.2, kernel=KERNEL, progress=lambda said: None)),
        ("PCA", mc.KernelPCANovelty(3, kernel=KERNEL, contamination=0.2, random_state=0)),
    ],
)
def test_novelties(learner: str, machine: Any) -> None:
    X, _ = draw("cloud", 40, 0)
    values = {"n_components": 3, "contamination": 0.2} if learner == "PCA" else {"nu": 0.2}
    found = views("novelty", learner=learner, values=values, kernel="Gaussian(γ=2)", data={"family": "cloud", "n": 40})[
        "plane"
    ]
    machine = machine.fit(X)
    np.testing.assert_allclose(found.arrays["field"].ravel(), machine.decision_function(plane()), **EXACT)
    outside = np.flatnonzero(machine.predict(X) < 0)
    np.testing.assert_array_equal(found.arrays["outside"], outside)
    scores, n = machine.decision_function(X), len(X)
    if learner == "PCA":
        assert len(found.arrays["support"]) == 0
        np.testing.assert_allclose(numbers(found), [len(outside), n - len(outside), scores.min()], **EXACT)
        return
    border = np.setdiff1d(machine.support_, outside)
    assert len(border) > 0
    assert np.abs(scores[border]).max() < 1e-6 < np.abs(np.delete(scores, border)).min()
    np.testing.assert_array_equal(found.arrays["support"], border)
    counts = [len(outside), len(border), n - len(outside) - len(border)]
    np.testing.assert_allclose(numbers(found), [*counts, scores.min()], **EXACT)
    assert counts[0] / n <= 0.2 <= (counts[0] + counts[1]) / n
    assert "an upper bound of the share outside, a lower bound of the share of support vectors" in found.data["note"]


def test_two_samples() -> None:
    X, y = draw("overlap", 40, 0)
    A, B = X[y == 0], X[y == 1]
    found = views(
        "two_samples", kernel="Gaussian(γ=1)", values={"n_permutations": 200}, data={"family": "overlap", "n": 40}
    )["plane"]
    outcome = mc.mmd_test(A, B, mc.Gaussian(1.0), n_permutations=200, random_state=0)
    np.testing.assert_allclose(numbers(found), [outcome.statistic, outcome.pvalue], **EXACT)
    k = mc.Gaussian(1.0)
    witness = np.mean(k(plane(), A), axis=1) - np.mean(k(plane(), B), axis=1)
    np.testing.assert_allclose(found.arrays["field"].ravel(), witness, **EXACT)


ONE, TWO = [[0.0, 0.0, 1]], [[0.0, 0.0, 1], [1.0, 0.5, 1]]


@pytest.mark.parametrize(
    ("mode", "points", "words"),
    [
        ("classify", ONE, "one point, and it is of class 2"),
        ("classify", TWO, "The 2 points are all of class 2, and two classes are needed"),
        ("weights", TWO, "all of class 2"),
        ("two_samples", TWO, "Two samples are needed"),
        ("regress", ONE, "Two points or more are needed, and there is one"),
        ("cluster", ONE, "Two points or more"),
        ("components", ONE, "Two points or more"),
        ("novelty", ONE, "Two points or more"),
        ("classify", [], "There are no points"),
    ],
)
def test_what_is_missing_is_said_by_the_classes_of_the_page(mode: str, points: Any, words: str) -> None:
    if points:  # the kernel is one all the same
        assert next(MODES[mode].answers(state(mode, data={"points": points}))).name == "facts"
    with pytest.raises(Lacking, match=words) as caught:
        views(mode, data={"points": points})
    assert refusal(caught.value).data["lacking"]
    if not points:
        assert refusal(caught.value).data["facts"]["kernel"] == MODES[mode].kernel


def test_groups_need_as_many_points() -> None:
    with pytest.raises(Lacking, match="Three points or more are needed, and there are 2"):
        views("cluster", data={"points": TWO}, values={"n_clusters": 3})


@pytest.mark.parametrize("points", [[[0, 0, 0]] * 4, [[0, 0, 0], [1, 1, 0], [0, 1, 1]]])
def test_one_sample_is_not_two(points: Any) -> None:
    with pytest.raises(Refused, match="Two samples are needed"):
        views("two_samples", data={"points": points})


def test_words() -> None:
    texts = ["relation", "creation", "creating", "learning"]
    items = [[text, i // 2] for i, text in enumerate(texts)]
    k = mc.Spectrum(2).normalized()
    found = views("words", kernel=str(k), data={"items": items}, pair=[1, 2])
    K = k(texts)
    distance = np.sqrt(K[1, 1] + K[2, 2] - 2 * K[1, 2])
    same = np.array([[1, 1, 0, 0], [1, 1, 0, 0], [0, 0, 1, 1], [0, 0, 1, 1]], float)
    expected = [K[1, 2], distance, np.linalg.eigvalsh(K)[0], mc.alignment(K, same)]
    np.testing.assert_allclose(numbers(found["items"]), expected, **EXACT)
    assert found["items"].data["items"] == texts
    # the pieces that both words have, by hand: cr, re, ea, at, ti
    rows = found["shared"].data["rows"]
    assert {row["name"] for row in rows} == {"cr", "re", "ea", "at", "ti"}
    assert sum(row["product"] for row in rows) == pytest.approx(K[1, 2], rel=1e-12)


def test_the_components_of_a_map_have_a_sign() -> None:
    for items in (MODES["words"].start["items"], MODES["words"].start["items"][3:]):
        places = views("words", data={"items": items})["items"].arrays["places"]
        assert np.all(places[np.abs(places).argmax(axis=0), [0, 1]] > 0)


def test_features_are_those_of_the_kernel_of_these_items() -> None:
    found = views("words", kernel="Mismatch(k=3, m=1).normalized()")
    assert found["shared"].data["rows"]
    assert found["facts"].data["features"]


def test_items_of_a_constant_kernel_have_no_alignment() -> None:
    found = views("words", kernel="Constant(c=2)", data={"items": [["a", 0], ["b", 1], ["c", 0]]})
    assert np.isnan(numbers(found["items"])[-1])
    np.testing.assert_array_equal(found["items"].arrays["places"][:, 1], 0)


def test_features_that_are_too_many_are_not_made() -> None:
    rng = np.random.default_rng(0)
    items = [["".join(rng.choice(list("abcdefghijklmnop"), 490)), i] for i in range(2)]
    found = views("words", kernel="Spectrum(k=2)^6", data={"items": items})
    assert "too many" in found["shared"].data["why"]


def test_molecules() -> None:
    pytest.importorskip("rdkit")
    smiles = ["CO", "CCO", "CC(=O)O", "c1ccccc1"]
    k = mc.Tanimoto(mc.Morgan(2))
    found = views("molecules", kernel=str(k), data={"items": [[one, 0] for one in smiles]}, pair=[0, 1])
    K = k(smiles)
    expected = [K[0, 1], np.sqrt(2 - 2 * K[0, 1]), np.linalg.eigvalsh(K)[0]]
    np.testing.assert_allclose(numbers(found["items"]), expected, **EXACT)
    assert [one.count("<svg") for one in found["items"].data["drawings"]] == [1] * 4


def test_weights_of_a_sum() -> None:
    X, y = draw("moons", 40, 0)
    text = "Gaussian(γ=8) + Gaussian(γ=1) + Linear()"
    found = views("weights", kernel=text, values={"C": 2.0, "p": 1.5}, data=SOME)
    machine = mc.MKLClassifier(C=2.0, p=1.5, kernel=mc.parse(text), progress=lambda said: None).fit(X, y)
    np.testing.assert_allclose(found["weights"].arrays["weights"], machine.weights_, **EXACT)
    np.testing.assert_allclose(found["plane"].arrays["field"].ravel(), machine.decision_function(plane()), **EXACT)
    with pytest.raises(Refused, match="terms of a sum"):
        views("weights", kernel="Gaussian(γ=8)", data=SOME)


@pytest.mark.parametrize("learner", ["MKL", "metric"])
def test_the_matrix_is_that_of_the_kernel_that_was_learnt(learner: str) -> None:
    X, _ = draw("moons", 40, 0)
    made, trace = state("weights", learner=learner, data=SOME), Trace()
    list(MODES["weights"].pictures(made, trace))
    assert trace.kernel is not None
    K = np.asarray(trace.kernel.gram(X).dense())
    found = views("weights", learner=learner, data=SOME)
    assert found["matrix"].data["learnt"]
    assert [found["matrix"].data[name] for name in ("low", "high")] == pytest.approx([K.min(), K.max()])
    np.testing.assert_allclose(found["spectrum"].arrays["values"], np.linalg.eigvalsh(K)[::-1], **EXACT)
    assert not views("classify", data=SOME)["matrix"].data["learnt"]


@pytest.mark.thorough
def test_the_metric_that_is_learnt() -> None:
    X, y = draw("squares", 40, 0)
    found = views("weights", learner="metric", values={"max_iter": 2}, data={"family": "squares", "n": 40})
    machine = mc.FeatureMachineClassifier(max_iter=2, random_state=0, kernel="auto", progress=lambda said: None).fit(
        X, y
    )
    np.testing.assert_allclose(found["weights"].arrays["metric"], machine.metric_, **EXACT)
    np.testing.assert_allclose(numbers(found["plane"]), [machine.score(X, y), machine.importances_[0]], **EXACT)


def test_draws_have_the_kernel_as_covariance() -> None:
    found = views("draws", kernel="Gaussian(γ=1)", values={"count": 3, "seed": 4})["line"]
    x = found.arrays["x"]
    values, vectors = np.linalg.eigh(mc.Gaussian(1.0)(x[:, None]))
    # drawn again from what was drawn: standard normal numbers in the basis of the eigenvectors
    large = values > 1e-6
    back = (vectors.T @ found.arrays["draws"])[large] / np.sqrt(values[large])[:, None]
    drawn = np.random.default_rng(4).standard_normal((len(x), 3))[large]
    np.testing.assert_allclose(np.abs(back), np.abs(drawn), rtol=1e-6, atol=1e-6)
    other = views("draws", kernel="Gaussian(γ=1)", values={"count": 3, "seed": 5})["line"]
    assert not np.allclose(other.arrays["draws"], found.arrays["draws"])


# -- what all have -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("mode", "learner"), LEARNERS)
def test_facts_come_first_and_then_the_picture(mode: str, learner: str) -> None:
    if mode == "molecules":
        pytest.importorskip("rdkit")
    names = [view.name for view in MODES[mode].answers(state(mode, learner=learner, data=few(mode)), brief=True)]
    assert names[0] == "facts"
    assert names[1] == MODES[mode].shows
    assert {"solver", "matrix", "spectrum"} <= set(names)


@pytest.mark.parametrize("mode", ["classify", "regress", "words", "draws", "cluster"])
def test_the_matrix_and_its_eigenvalues(mode: str) -> None:
    made, found = state(mode, data=few(mode)), views(mode, data=few(mode))
    samples = MODES[mode].samples(made)
    rows = some_rows(len(samples))
    K = made.kernel.bind(samples)([samples[i] for i in rows] if isinstance(samples, list) else samples[rows])
    values = np.linalg.eigvalsh(K)[::-1][:60]
    np.testing.assert_allclose(found["spectrum"].arrays["values"], values, **EXACT)
    assert found["spectrum"].data["trace"] == pytest.approx(np.trace(K))
    assert sorted(found["matrix"].arrays["rows"]) == list(rows)
    order = np.searchsorted(rows, found["matrix"].arrays["rows"])
    K = K[np.ix_(order, order)]
    shades = 255 * (K - K.min()) / (K.max() - K.min())
    assert np.abs(found["matrix"].arrays["shades"] - shades).max() <= 0.5 + 1e-9
    ridge = found["spectrum"].data["ridge"]
    if ridge is not None and len(K) <= 60:
        assert found["spectrum"].data["effective"] == pytest.approx(np.sum(values / (values + ridge)), rel=1e-6)


@pytest.mark.parametrize("n", [50, 200])
def test_the_smallest_eigenvalues_are_drawn_where_they_are_negative(n: int) -> None:
    X, _ = draw("moons", n, 0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of what is no kernel
        found = views("classify", kernel="Sigmoid()", data={"family": "moons", "n": n, "seed": 0})["spectrum"]
    values = np.linalg.eigvalsh(mc.Sigmoid()(X))[::-1]
    drawn = np.concatenate([found.arrays["values"], found.arrays["lowest"]])
    assert found.data["negative"] == np.sum(values < -1e-9 * values[0]) > 0
    np.testing.assert_allclose(drawn, values if n == 50 else [*values[:40], *values[-20:]], **EXACT)


def test_the_way_of_the_solver_ends_at_its_gap() -> None:
    found = views("classify", data={"family": "overlap", "n": 200}, values={"C": 100.0})["solver"]
    steps = found.arrays["steps"]
    assert len(steps) >= 1
    assert steps[-1, 1] == found.data["gap"]
    assert np.all(np.diff(steps[:, 0]) >= 0)
    assert "stop_reason" in found.data or "n_iter" in found.data


@pytest.mark.thorough
@pytest.mark.parametrize(("mode", "learner"), [("classify", "logistic"), ("regress", "ridge"), ("two_samples", "MMD")])
def test_while_a_slider_moves_many_points_are_learnt_from_approximately(mode: str, learner: str) -> None:
    given: dict[str, Any] = {"learner": learner, "data": {"family": MODES[mode].families[0], "n": 1200, "seed": 0}}
    name = MODES[mode].shows
    brief, whole = views(mode, brief=True, **given)[name], views(mode, **given)[name]
    assert "While a slider moves" in brief.data["note"]
    assert "While a slider" not in whole.data.get("note", "")
    np.testing.assert_array_equal(brief.arrays["points"], whole.arrays["points"])
    field = "curves" if name == "line" else "field"
    spread = np.ptp(whole.arrays[field])
    inside = np.abs(plane()).max(axis=1).reshape(ROWS, COLUMNS) < 1.5 if name == "plane" else slice(100, 220)
    assert np.abs(brief.arrays[field] - whole.arrays[field])[inside].max() < 0.15 * spread
    few = {**given, "data": {**given["data"], "n": 60}}
    exact = views(mode, brief=True, **few)[name]
    assert numbers(exact) == numbers(views(mode, **few)[name])
    assert "note" not in exact.data


# -- words -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("mode", "given", "words"),
    [
        ("classify", {"kernel": "Gauss"}, "'Gauss' is not the name of a kernel: “Examples” has some"),
        ("classify", {"kernel": "Gaussian(width=1)"}, "it has no parameter 'width'"),
        ("classify", {"kernel": "Precomputed()"}, "'K' must be said in its brackets"),
        ("classify", {"kernel": "Tanimoto()"}, r"One of the numbers is -\d"),
        ("classify", {"kernel": "2"}, "'2' is a number, and not a kernel"),
        ("words", {"kernel": "Gaussian()"}, "compares points, and here are texts"),
        ("classify", {"kernel": "Gaussian(γ=-1)"}, "γ must be a positive number"),
        (
            "regress",
            {"kernel": "Sigmoid()", "data": {"family": "wave", "n": 60}},
            "turn α up, choose another kernel, or “repair” in the menu of its block",
        ),
    ],
)
def test_messages_speak_of_the_page(mode: str, given: dict[str, Any], words: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(ValueError) as caught:  # noqa: PT011
            views(mode, **given)
    said = why(caught.value)
    assert re.search(words, said)
    assert not re.search(r"parse\(|repaired\(|__init__|np\.|\balpha\b|\by\b", said)


@pytest.mark.parametrize("mode", ["classify", "components", "novelty", "cluster"])
def test_notices_speak_of_the_page(mode: str) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        views(mode, kernel="Sigmoid()", data={"family": "moons", "n": 60, "seed": 0})
        repaired = blocks.changed(mc.Sigmoid(), {"at": "", "what": "repair"})
        views(mode, kernel=str(repaired), data={"family": "moons", "n": 60, "seed": 0})
    said = [for_the_page(str(one.message)) for one in caught]
    assert any("“repair” in the menu" in one for one in said)
    assert not re.search(r"repaired\(|psd is|SVC|OneClassSVM|KernelPCA|KernelKMeans|ratio_", " ".join(said))
