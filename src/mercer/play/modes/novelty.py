"""Points unlike the others: what most of them have in common, and who is outside."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from mercer.estimators.novelty import SVDD, OneClassSVM
from mercer.estimators.reconstruction import KernelPCANovelty
from mercer.play.modes.base import Call, Dial, Learner, Mode, Pictures, Trace, fitted, on_plane, plane, points
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
    numbers = (
        ("points outside", "np.sum(machine.predict(X) < 0)"),
        ("lowest score", "np.min(machine.decision_function(X))"),
    )

    def lines(self, state: State) -> list[str]:
        return [f"machine = {self.call(state).python}.fit(X)"]

    def pictures(self, state: State, trace: Trace) -> Pictures:
        X = state.data.X
        machine = fitted(self.call(state), state.kernel, trace, X)
        field = on_plane(np.asarray(machine.decision_function(plane()), np.float64))
        outside = np.flatnonzero(np.asarray(machine.predict(X)) < 0)
        data = {"numbers": self.measured(state, machine=machine, X=X), "field": "signed"}
        yield View("plane", data, points(state, field=field, support=outside))
        return None
