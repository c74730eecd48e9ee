"""Hidden Markov models: against sums over all paths, hmmlearn, and their own promises."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import mercer as mc
from tests.sequence_samples import dna

quietly = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
X = ["ABBA", "BAC", "C", "", "CABBACAB", "AACB"]


def started(X: Any = X, n_states: int = 3, seed: int = 0, **options: Any) -> mc.HiddenMarkovModel:
    """A model at a random start."""
    return mc.HiddenMarkovModel(n_states, max_iter=0, random_state=seed, **options).fit(X)


def paths(m: Any, x: str) -> dict[tuple[int, ...], float]:
    """p(states, letters) of every path of states."""
    letters = [int(np.flatnonzero(m.letters_ == ord(a) + 1)[0]) for a in x]
    found = {}
    for path in itertools.product(range(len(m.initial_)), repeat=len(x)):
        p = m.initial_[path[0]] if path else 1.0
        for i, (s, a) in enumerate(zip(path, letters, strict=True)):
            p *= m.emission_[s, a] * (m.transition_[path[i - 1], s] if i else 1.0)
        found[path] = p
    return found


def test_likelihoods_and_states_are_those_of_all_paths() -> None:
    m = started()
    np.testing.assert_allclose(m.score_samples(X), [np.log(sum(paths(m, x).values())) for x in X], atol=1e-12)
    for x, found in zip(X, m.predict(X), strict=True):
        every = paths(m, x)
        assert tuple(found.tolist()) == max(every, key=lambda path: every[path])
    assert m.score(X) == pytest.approx(m.score_samples(X).mean())


def test_scores_are_gradients() -> None:
    m = started()
    U, step = m.score_vectors(X), 1e-6
    parts = [m.initial_[None], m.transition_, m.emission_]
    shapes = [part.shape for part in parts]
    logs = np.concatenate([np.log(part).ravel() for part in parts])

    def at(theta: Any) -> Any:
        cuts = np.cumsum([np.prod(shape) for shape in shapes])[:-1]
        softmax = [np.exp(t.reshape(s)) for t, s in zip(np.split(theta, cuts), shapes, strict=True)]
        softmax = [p / p.sum(axis=1, keepdims=True) for p in softmax]
        m.initial_, m.transition_, m.emission_ = softmax[0][0], softmax[1], softmax[2]
        return m.score_samples(X)

    for j in range(len(logs)):
        change = np.zeros(len(logs))
        change[j] = step
        np.testing.assert_allclose(U[:, j], (at(logs + change) - at(logs - change)) / (2 * step), atol=1e-8)


@quietly
def test_steps_climb_and_weights_are_repetitions() -> None:
    Z = dna(40, 30, seed=3)
    bounds = [
        mc.HiddenMarkovModel(3, max_iter=k, tol=0.0, random_state=1, smoothing=s).fit(Z).lower_bound_
        for s in (0.0, 0.5)
        for k in range(1, 8)
    ]
    assert (np.diff(bounds[:7]) >= -1e-12).all()
    assert (np.diff(bounds[7:]) >= -1e-12).all()
    w = np.random.default_rng(1).integers(0, 4, len(Z))
    heavy = mc.HiddenMarkovModel(2, max_iter=20, random_state=0).fit(Z, sample_weight=w)
    repeated = mc.HiddenMarkovModel(2, max_iter=20, random_state=0).fit(
        [z for z, n in zip(Z, w, strict=True) for _ in range(n)]
    )
    np.testing.assert_allclose(heavy.emission_, repeated.emission_, rtol=1e-8)
    np.testing.assert_allclose(heavy.lower_bound_, repeated.lower_bound_, rtol=1e-10)
    with pytest.warns(ConvergenceWarning, match="max_iter=2"):
        mc.HiddenMarkovModel(3, max_iter=2, tol=0.0, random_state=0).fit(Z)


def test_letters_that_are_not_known_may_be_any() -> None:
    m = started(["ABBA", "BAB"], 2)
    both = [np.log(sum(np.exp(m.score_samples([f"A{a}B{b}"])[0]) for a in "AB" for b in "AB"))]
    np.testing.assert_allclose(m.score_samples(["A?B!"]), both, rtol=1e-12)
    assert m.score_samples([""]) == 0
    assert len(m.predict(["A?B"])[0]) == 3
    with pytest.raises(mc.DataError, match="All strings are empty"):
        mc.HiddenMarkovModel().fit(["", ""])
    with pytest.raises(ValueError, match="smoothing"):
        mc.HiddenMarkovModel(smoothing=-1.0).fit(X)


def test_long_strings_do_not_underflow() -> None:
    m = started(["AB"], 2)
    long = "AB" * 20_000
    assert m.score_samples([long])[0] == pytest.approx(2 * m.score_samples([long[: len(long) // 2]])[0], rel=1e-4)
    m.emission_ = np.array([[1.0, 0.0], [1.0, 0.0]])
    assert m.score_samples(["AB", "AA"])[0] == -np.inf
    m.emission_ = np.array([[1.0, 1e-300], [1.0, 1e-300]])
    assert m.score_samples(["BBB"])[0] == pytest.approx(3 * np.log(1e-300))


@quietly
@pytest.mark.thorough
def test_it_finds_states_that_were_there() -> None:
    rng = np.random.default_rng(0)
    states = [np.repeat(rng.permutation(4) % 2, 12) for _ in range(30)]
    Z = [
        "".join(rng.choice(list("ABCD"), p=(0.45, 0.45, 0.05, 0.05) if s else (0.05, 0.05, 0.45, 0.45)) for s in x)
        for x in states
    ]
    m = mc.HiddenMarkovModel(2, n_init=3, random_state=0).fit(Z)
    right = np.mean(np.concatenate(m.predict(Z)) == np.concatenate(states))
    assert max(right, 1 - right) > 0.95
    k = mc.Fisher(m).bind(Z)
    assert k(Z).shape == (30, 30)
    again = mc.HiddenMarkovModel(2, n_init=3, random_state=0).fit(Z)
    assert m == again


def test_a_model_is_saved(tmp_path: Path) -> None:
    m = started()
    mc.save(m, tmp_path / "m")
    np.testing.assert_array_equal(mc.load(tmp_path / "m").score_samples(X), m.score_samples(X))


@quietly
def test_it_is_the_model_of_hmmlearn() -> None:
    hmm = pytest.importorskip("hmmlearn.hmm")
    Z = dna(30, 40, seed=5)
    ours = started(Z, 3, smoothing=0.0)
    theirs = hmm.CategoricalHMM(3, n_iter=10, tol=-np.inf, init_params="", implementation="scaling")
    theirs.startprob_, theirs.transmat_, theirs.emissionprob_ = ours.initial_, ours.transition_, ours.emission_
    theirs.n_features = 4
    number = {chr(c - 1): i for i, c in enumerate(ours.letters_)}
    joined, lengths = np.array([[number[a]] for z in Z for a in z]), [len(z) for z in Z]
    assert ours.score_samples(Z).sum() == pytest.approx(theirs.score(joined, lengths), abs=1e-8)
    np.testing.assert_array_equal(np.concatenate(ours.predict(Z)), theirs.predict(joined, lengths))
    theirs.fit(joined, lengths)
    ours.set_params(warm_start=True, max_iter=10, tol=0.0).fit(Z)
    np.testing.assert_allclose(ours.transition_, theirs.transmat_, atol=1e-9)
    np.testing.assert_allclose(ours.emission_, theirs.emissionprob_, atol=1e-9)


def test_going_on_with_another_number_of_states_is_refused() -> None:
    model = mc.HiddenMarkovModel(2, random_state=0, max_iter=0, warm_start=True).fit(dna(5))
    with pytest.raises(ValueError, match="n_states=4"):
        model.set_params(n_states=4).fit(dna(5))
