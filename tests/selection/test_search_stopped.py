"""A search that is ended early keeps what is finished."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV

import mercer as mc
from mercer.kernels.base import kernel
from tests.selection.search_samples import classes_to_learn


def test_progress_sees_every_cell() -> None:
    X, y = classes_to_learn(60)
    seen: list[dict[str, Any]] = []
    grid = {"C": [0.1, 1.0, 10.0], "kernel__gamma": [0.1, 1.0], "class_weight": [None, "balanced"]}

    def watch(state: dict[str, Any]) -> None:
        seen.append(state | {"scores": state["scores"].copy()})

    search = mc.KernelSearchCV(mc.SVC(kernel=mc.Gaussian(0.1)), grid, cv=3, progress=watch).fit(X, y)
    assert [s["done"] for s in seen] == sorted({s["done"] for s in seen})
    assert all(s["of"] == 36 for s in seen)
    assert all(s["done"] == np.isfinite(s["scores"]).sum() for s in seen)
    assert seen[-1]["done"] == 36
    assert len(seen) >= 12  # a path of C counts as one
    assert all(s["params"] in search.cv_results_["params"] for s in seen)
    assert (np.diff([s["seconds"] for s in seen]) >= 0).all()
    np.testing.assert_array_equal(seen[-1]["scores"].mean(axis=1), search.cv_results_["mean_test_score"])
    assert search.stopped_ == ""


class _After:
    """Lets so many kernels finish, then does something else."""

    def __init__(self, done: int, then: Any) -> None:
        self.done, self.then = done, then

    def __call__(self, state: dict[str, Any]) -> Any:
        return self.then() if state["done"] >= self.done else False


def _interrupt() -> Any:
    raise KeyboardInterrupt


GRID = {"C": [0.1, 1.0], "kernel__gamma": [0.1, 0.5, 2.0]}


def _partly(**options: Any) -> Any:
    X, y = classes_to_learn(60)
    return mc.KernelSearchCV(mc.SVC(kernel=mc.Gaussian(0.1), tol=1e-6), GRID, cv=3, **options).fit(X, y)


def _check_partly(search: Any, stopped: str) -> None:
    """The first kernel's candidates are done and among them is the best; the others are not, and rank behind."""
    X, y = classes_to_learn(60)
    results = search.cv_results_
    done = np.array([params["kernel__gamma"] == 0.1 for params in results["params"]])
    assert stopped in search.stopped_
    assert search.stopped_
    np.testing.assert_array_equal(np.isfinite(results["mean_test_score"]), done)
    assert np.isnan(results["std_test_score"][~done]).all()
    assert results["rank_test_score"][done].max() < results["rank_test_score"][~done].min()
    assert search.best_params_["kernel__gamma"] == 0.1
    peer = GridSearchCV(mc.SVC(kernel=mc.Gaussian(0.1), tol=1e-6), {"C": [0.1, 1.0]}, cv=3).fit(X, y)
    assert search.best_score_ == peer.best_score_
    assert search.best_params_["C"] == peer.best_params_["C"]
    np.testing.assert_allclose(search.decision_function(X), peer.decision_function(X), atol=1e-5)
    assert len(search.frame()) == 6


def test_progress_can_stop() -> None:
    _check_partly(_partly(progress=_After(8, lambda: True)), "callback")


@pytest.mark.thorough
def test_the_limit_of_time_keeps_what_is_finished() -> None:
    def slow() -> bool:
        time.sleep(0.6)
        return False

    _check_partly(_partly(progress=_After(8, slow), max_time=0.5), "max_time")


def test_ctrl_c_keeps_what_is_finished() -> None:
    _check_partly(_partly(progress=_After(8, _interrupt)), "interrupted")


def test_ctrl_c_can_be_an_error() -> None:
    with pytest.raises(KeyboardInterrupt):
        _partly(progress=_After(8, _interrupt), on_interrupt="raise")
    with pytest.raises(KeyboardInterrupt):
        _partly(progress=_After(1, _interrupt))  # nothing is finished: there is nothing to keep


@kernel
class Broken(mc.Gaussian):  # type: ignore[misc]
    """A Gaussian that is interrupted at γ = 0.5."""

    def _prepare(self, X: Any) -> Any:
        if self.gamma == 0.5:
            raise KeyboardInterrupt
        return super()._prepare(X)


def test_ctrl_c_inside_a_kernel() -> None:
    X, y = classes_to_learn(60)
    _check_partly(mc.KernelSearchCV(mc.SVC(kernel=Broken(0.1), tol=1e-6), GRID, cv=3).fit(X, y), "interrupted")
    with pytest.raises(KeyboardInterrupt):
        mc.KernelSearchCV(mc.SVC(kernel=Broken(0.1)), GRID, cv=3, on_interrupt="raise").fit(X, y)


def test_nothing_finished_in_time() -> None:
    with pytest.raises(ValueError, match=r"max_time=0 s.*more time"):
        _partly(max_time=0.0)
    with pytest.raises(ValueError, match="stopped by the callback") as found:
        _partly(progress=lambda state: True)
    assert "max_time=None" not in str(found.value)  # there was no limit of time; the callback stopped it
