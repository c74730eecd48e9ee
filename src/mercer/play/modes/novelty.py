"""Points unlike the others: what most of them have in common, and who is outside."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from mercer.estimators.novelty import SVDD, OneClassSVM
from mercer.estimators.reconstruction import KernelPCANovelty
from mercer.play.modes.base import Call, Dial, Learner, Mode, Needs, Pictures, Trace, fitted, on_plane, plane, points
from mercer.play.state import State
from mercer.play.views import View

_NU = Dial("nu", "ν, the share that may be outside", 0.1, 0.01, 0.9, log=True)


class Novelty(Mode):
    name, title, shows = "novelty", "Novelty", "plane"
    question = "Which points are unlike the others?"
    learners: ClassVar[dict[str, Learner]] = {
        "one-class": Learner("One-class support vectors", (_NU,), lambda v: Call(OneClassSVM, {"nu": v["nu"]})),
        "SVDD": Learner("The smallest ball (SVDD)", (_NU,), lambda v: Call(SVDD, {"nu": v["nu"]})),
        "PCA": Learner(
            "Distance from the principal components",
            (
                Dial("n_components", "components", 5, 1, 20, whole=True),
                Dial("contamination", "share outside", 0.1, 0.01, 0.5, log=True),
            ),
            lambda v: Call(
                KernelPCANovelty,
                {"n_components": v["n_components"], "contamination": v["contamination"], "random_state": 0},
            ),
        ),
    }
    kernel = "Gaussian(γ=2)"
    suggested = ("Gaussian(γ=2)", "Gaussian(γ=0.5)", "Laplacian(γ=1)", "Matern()", "RationalQuadratic()", "Linear()")
    families = ("cloud", "rings", "moons", "groups")
    needs = Needs(2)
    numbers = (
        ("points outside", "np.sum(machine.predict(X) < 0)"),
        ("points on the border", "np.sum(machine.predict(X[machine.support_]) > 0)"),
        ("points inside", "np.sum(np.delete(machine.predict(X), machine.support_) > 0)"),
        ("lowest score", "np.min(machine.decision_function(X))"),
    )

    def shown(self, state: State) -> tuple[tuple[str, str], ...]:
        if state.learner != "PCA":
            return self.numbers
        # the threshold is that of a share of the points: no border is learnt, on which there could be any
        return (self.numbers[0], ("points inside", "np.sum(machine.predict(X) > 0)"), self.numbers[-1])

    def groups(self, state: State) -> np.ndarray:
        return np.zeros(len(state.data), int)  # it is told of no classes

    def lines(self, state: State) -> list[str]:
        return [f"machine = {self.call(state).python}.fit(X)"]

    def pictures(self, state: State, trace: Trace) -> Pictures:
        X = state.data.X
        machine = fitted(self.call(state), state.kernel, trace, X)
        field = on_plane(np.asarray(machine.decision_function(plane()), np.float64))
        outside = np.flatnonzero(np.asarray(machine.predict(X)) < 0)
        learnt = np.empty(0, int) if state.learner == "PCA" else np.asarray(machine.support_, int)
        border = np.setdiff1d(learnt, outside)
        data: dict[str, Any] = {"numbers": self.measured(state, machine=machine, X=X), "field": "signed"}
        if state.learner != "PCA":
            n = len(X)
            data["note"] = (
                "ν is the share that may be outside: an upper bound of the share outside, a lower bound of the share of"
                f" support vectors. Here {len(outside) / n:.3g} ≤ {state.values['nu']:.3g} ≤ {len(learnt) / n:.3g}."
            )
        yield View("plane", data, points(state, field=field, outside=outside, support=border))
        return None
