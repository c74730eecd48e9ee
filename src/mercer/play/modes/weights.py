"""Learning the kernel: the weights of a sum of kernels, or the metric of the columns."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from mercer.estimators.feature_machine import FeatureMachineClassifier
from mercer.estimators.mkl import MKLClassifier
from mercer.kernels.compose.terms import Sum
from mercer.play.limits import Refused
from mercer.play.modes.base import Call, Dial, Learner, Mode, Needs, Pictures, Trace, fitted, on_plane, plane, points
from mercer.play.state import State
from mercer.play.views import View


class Weights(Mode):
    name, title, shows = "weights", "Learn the kernel", "plane"
    question = "Which kernels, or which directions, matter for these classes?"
    learners: ClassVar[dict[str, Learner]] = {
        "MKL": Learner(
            "Weights of the terms of a sum",
            (
                Dial("C", "C, the price of errors", 1.0, 1e-2, 1e3, log=True),
                Dial("p", "p: from few weights to even ones", 1.0, 1.0, 4.0),
            ),
            lambda v: Call(MKLClassifier, {"C": v["C"], "p": v["p"]}),
            part=600,
        ),
        "metric": Learner(
            "The metric of the plane, learnt from gradients",
            (Dial("max_iter", "rounds", 5, 1, 10, whole=True),),
            lambda v: Call(FeatureMachineClassifier, {"max_iter": v["max_iter"], "random_state": 0}),
            part=150,
        ),
    }
    kernel = "Gaussian(γ=8) + Gaussian(γ=1) + Gaussian(γ=0.1) + Linear()"
    suggested = (
        "Gaussian(γ=8) + Gaussian(γ=1) + Gaussian(γ=0.1) + Linear()", "Gaussian(γ=1) + Laplacian(γ=1) + Matern()",
        "Gaussian(γ=2).on([0]) + Gaussian(γ=2).on([1])", "Linear() + Polynomial(degree=2) + Polynomial(degree=3)",
    )  # fmt: skip
    families = ("moons", "rings", "squares", "overlap", "same mean")
    needs = Needs(2, classes=2)
    numbers = (("accuracy on these points", "machine.score(X, y)"),)

    def shown(self, state: State) -> tuple[tuple[str, str], ...]:
        if state.learner == "metric":
            return (*self.numbers, ("share of the first column", "machine.importances_[0]"))
        return (*self.numbers, ("largest weight", "np.max(machine.weights_)"))

    def lines(self, state: State) -> list[str]:
        made = self.call(state).python
        if state.learner == "metric":
            made = made.replace(", kernel=kernel", "")  # it learns its own
        return [f"machine = {made}.fit(X, y)"]

    def pictures(self, state: State, trace: Trace) -> Pictures:
        X, y = state.data.X, state.data.y
        metric = state.learner == "metric"
        if not metric and not isinstance(state.kernel, Sum):
            raise Refused("Weights are of the terms of a sum: add a kernel with +.")
        machine = fitted(self.call(state), "auto" if metric else state.kernel, trace, X, y)
        trace.kernel = machine.kernel_
        values = np.asarray(machine.decision_function(plane()), np.float64)
        data = {"numbers": self.measured(state, machine=machine, X=X, y=y), "classes": machine.classes_.tolist()}
        if values.ndim == 1:
            yield View("plane", data | {"field": "signed"}, points(state, field=on_plane(values)))
        else:
            best = np.sort(values, axis=1)[:, -2:]
            more = {"field": on_plane(best[:, 1] - best[:, 0]), "kinds": on_plane(values.argmax(axis=1))}
            yield View("plane", data | {"field": "classes"}, points(state, **more))
        if metric:
            yield View("weights", {"kind": "metric"}, {"metric": np.asarray(machine.metric_, np.float64)})
        else:
            yield View(
                "weights", {"kind": "terms", "names": list(machine.kernel_names_)}, {"weights": machine.weights_}
            )
        return None
