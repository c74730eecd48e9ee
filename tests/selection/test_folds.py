"""What shares a matrix between folds, machines and scores, against fits on the samples themselves."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import FitFailedWarning
from sklearn.model_selection import GridSearchCV

import mercer as mc

RNG = np.random.default_rng(0)
X = RNG.standard_normal((60, 3))
Y = (X[:, 0] + 0.3 * RNG.standard_normal(60) > 0).astype(int)


def _saturated(A: Any, B: Any) -> Any:
    return np.tanh(3 * A @ B.T - 1)


@pytest.mark.filterwarnings("ignore:The kernel matrix is indefinite")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_only_copies_are_one_sample_where_there_is_but_a_matrix() -> None:
    """Negative or tiny distances in a matrix are no copies: the same machine as from the samples."""
    K = _saturated(X, X)
    alone, known = mc.KernelRidgeCV([50.0], "precomputed").fit(K, Y), mc.KernelRidgeCV([50.0], _saturated).fit(X, Y)
    assert len(alone.support_) == len(known.support_) == 60
    np.testing.assert_allclose(alone.predict(K), known.predict(X), atol=1e-10)
    twice = np.r_[np.arange(60), [3, 3, 8]]
    repeated = mc.KernelRidgeCV([1e-3], "precomputed").fit(mc.Gaussian(0.5)(X)[np.ix_(twice, twice)], Y[twice])
    assert len(repeated.support_) == 60


def test_a_path_leaves_the_machine_as_it_is() -> None:
    machine = mc.SVC(kernel=mc.Gaussian("scale")).fit(X, Y)
    before = machine.decision_function(X)
    machine.path(10 * X, Y, [1.0, 2.0])
    np.testing.assert_array_equal(machine.decision_function(X), before)


SCORES = {
    "length": lambda e, A, y: float(len(A)),
    "some rows": lambda e, A, y: float(np.mean(e.predict(A[:5]) == y[:5])),
    "coefficients": lambda e, A, y: -float(np.abs(e.dual_coef_).sum()),
    "vectors": lambda e, A, y: -float(np.abs(e.support_vectors_).sum()),
    "function": lambda e, A, y: -e.function_.norm(),
}


@pytest.mark.parametrize("name", SCORES)
def test_scores_of_ones_own_are_given_samples(name: str) -> None:
    """A function that looks at more than answers gets samples, and a machine that keeps its own, as in GridSearchCV."""
    grid = {"C": [0.1, 1.0], "kernel": [mc.Gaussian(0.5), mc.Linear()]}
    ours = mc.KernelSearchCV(mc.SVC(), grid, cv=3, scoring=SCORES[name]).fit(X, Y)
    theirs = GridSearchCV(mc.SVC(), grid, cv=3, scoring=SCORES[name]).fit(X, Y)
    for key in ("mean_test_score", "std_test_score"):
        np.testing.assert_allclose(ours.cv_results_[key], theirs.cv_results_[key], rtol=1e-6, atol=1e-9)


def test_probabilities_in_a_search_are_those_of_a_fit() -> None:
    """Copies among the samples are known by the samples, in a fold too."""
    twice = np.r_[np.arange(60), np.arange(0, 60, 3)]
    grid = {"C": [0.5, 5.0]}
    machine = mc.SVC(kernel=mc.Gaussian(0.5), probability=True)
    ours = mc.KernelSearchCV(machine, grid, cv=3, scoring="neg_log_loss").fit(X[twice], Y[twice])
    theirs = GridSearchCV(machine, grid, cv=3, scoring="neg_log_loss").fit(X[twice], Y[twice])
    np.testing.assert_allclose(ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"], rtol=1e-6)


def test_a_matrix_of_another_width_is_refused() -> None:
    machine = mc.SVC(kernel=mc.Linear()).fit(X[:20], Y[:20])
    for others in (X, X[:10]):
        with pytest.raises(ValueError, match=f"has {len(others)} columns.*trained on 20"):
            machine.predict(mc.Linear().gram(X[:3], others))
    np.testing.assert_array_equal(machine.predict(mc.Linear().gram(X, X[:20])), machine.predict(X))


@pytest.mark.parametrize(
    ("machine", "grid"),
    [
        (mc.SVC(kernel=mc.Linear()), {"C": [1.0, 10.0, -1.0]}),
        (mc.KernelRidge(), {"alpha": [0.1, 0.2, np.inf]}),
        (mc.KernelRidge(), {"alpha": [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, np.inf]}),
        (mc.KernelRidge(), {"alpha": [0.1, None]}),
    ],
)
def test_one_bad_point_of_a_path_is_out_alone(machine: Any, grid: dict[str, Any]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FitFailedWarning)
        found = mc.KernelSearchCV(machine, grid, cv=3, error_score=np.nan).fit(X, Y).cv_results_["mean_test_score"]
    assert np.isfinite(found[:-1]).all()
    assert np.isnan(found[-1])
    with pytest.raises((ValueError, TypeError)):
        mc.KernelSearchCV(machine, grid, cv=3).fit(X, Y)
