"""Probabilities that agree with the prediction, cost little, and are near those of refitting."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_iris, make_classification
from sklearn.metrics import brier_score_loss

import mercer as mc
from mercer.estimators.multiclass import classes_and_codes, couple, pairs_of, scores_of_pairs
from mercer.estimators.probability import ScoreSigmoid, leave_one_out
from mercer.losses import Hinge
from mercer.solvers.dual import ActiveSet


@pytest.mark.thorough
def test_the_span_estimate_is_near_leaving_one_out() -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 3))
    y = np.where(X[:, 0] + 0.5 * rng.standard_normal(60) > 0, 1.0, -1.0)
    k = mc.Gaussian(0.3)
    # bounds of their own: what is free is not to be guessed from the largest
    C = np.where(np.arange(60) % 2 == 0, 1.0, 0.5)
    s = ActiveSet(tol=1e-8).solve(Hinge().dual(y, C, True), k.gram(X))
    estimate = leave_one_out(k.gram(X), s.gradient + y + s.multipliers[0], s.coef, s.free)
    exact = np.empty(60)
    for i in range(60):
        rest = np.delete(np.arange(60), i)
        exact[i] = mc.SVC(1.0, k, tol=1e-8).fit(X[rest], y[rest], C[rest]).decision_function(X[[i]])[0]
    assert np.corrcoef(estimate, exact)[0, 1] > 0.99
    assert np.mean(np.abs(estimate - exact)) < 0.1 * np.mean(np.abs(exact))


@pytest.mark.parametrize("classes", [2, 3, 5])
def test_the_likeliest_is_the_predicted(classes: int) -> None:
    X, y = make_classification(
        400, 6, n_informative=5, n_redundant=0, n_classes=classes, n_clusters_per_class=1, flip_y=0.1, random_state=0
    )
    machine = mc.SVC(probability=True).fit(X, y)
    grid = np.random.default_rng(1).standard_normal((5000, 6)) * 2
    p = machine.predict_proba(grid)
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    assert (machine.classes_[np.argmax(p, axis=1)] == machine.predict(grid)).all() or classes == 2
    assert (machine.classes_[(p[:, -1] > 0.5).astype(int)] == machine.predict(grid)).all() or classes > 2
    np.testing.assert_array_equal(p, mc.SVC(probability=True).fit(X, y).predict_proba(grid))
    np.testing.assert_array_equal(machine.predict(grid), mc.SVC().fit(X, y).predict(grid))


@pytest.mark.thorough
@pytest.mark.parametrize("balance", [0.5, 0.8])
def test_brier_is_near_that_of_refitting(balance: float) -> None:
    X, y = make_classification(1500, 8, n_informative=5, weights=[balance], flip_y=0.15, random_state=0)
    ours = mc.SVC(probability=True).fit(X[:700], y[:700])
    peer = CalibratedClassifierCV(mc.SVC(), ensemble=False).fit(X[:700], y[:700])
    a, b = (brier_score_loss(y[700:], m.predict_proba(X[700:])[:, 1]) for m in (ours, peer))
    assert a <= b + 0.01


def test_separable_data_and_single_samples() -> None:
    X = np.array([[0.0], [1.0], [10.0]])
    for y in ([0, 0, 1], [0, 1, 2]):
        p = mc.SVC(probability=True).fit(X, y).predict_proba(X)
        assert np.isfinite(p).all()
        assert (p > 0).all()
    assert not hasattr(mc.SVC(), "predict_proba")
    assert np.isfinite(
        mc.NuSVC(0.1, probability=True).fit(*load_iris(return_X_y=True)).predict_proba(load_iris().data)
    ).all()


def test_sigmoids_recover_their_slopes() -> None:
    rng = np.random.default_rng(0)
    f = 3 * rng.standard_normal(20_000)
    true = ScoreSigmoid(0.5, 1.5)
    y = np.where(rng.random(20_000) < true(f), 1.0, -1.0)
    found = ScoreSigmoid.fit(f, y, np.ones(20_000))
    assert abs(found.below - 0.5) < 0.05
    assert abs(found.above - 1.5) < 0.1


def test_coupling_recovers_consistent_pairs() -> None:
    """Pairs made from probabilities give them back."""
    rng = np.random.default_rng(0)
    p = rng.dirichlet(np.ones(4), size=50)
    pairs = np.column_stack([p[:, a] / (p[:, a] + p[:, b]) for a, b in pairs_of(4)])
    np.testing.assert_allclose(couple(pairs, np.argmax(p, axis=1), 4), p, atol=1e-6)


def test_votes_decide_and_values_break_ties() -> None:
    scores = scores_of_pairs(np.array([[-1.0, -1.0, -1.0], [2.0, -1.0, 3.0]]), 3)
    assert np.argmax(scores[0]) == 2  # two votes
    assert scores[1, 0] > scores[1, 2]  # one vote each: 0 over 1 by 2, 2 over 0 by 1, 1 over 2 by 3
    assert np.all((scores > -1) & (scores < 3))


@pytest.mark.parametrize(
    "y", [[0, 0, 1, 5, 5], [1, 0, 2, 0], [7], [True, True], [False, True], list("aab"), [0.5, 0.5, 2.0]]
)
def test_classes_are_those_of_numpy(y: list[object]) -> None:
    for mine, theirs in zip(classes_and_codes(np.array(y)), np.unique(np.array(y), return_inverse=True), strict=True):
        np.testing.assert_array_equal(mine, theirs)
        assert mine.dtype == theirs.dtype
