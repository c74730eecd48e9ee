"""Classes in the plane: a support vector machine, or logistic regression."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import ClassVar

import numpy as np

from mercer.annotations import Estimator
from mercer.estimators.logistic import KernelLogistic
from mercer.estimators.svm import SVC
from mercer.play.modes.base import Call, Dial, Learner, Mode, Needs, Pictures, Trace, fitted, on_plane, plane, points
from mercer.play.state import State
from mercer.play.views import View
from mercer.selection.bounds import generalisation, is_svc_of_two_classes

_LARGEST_BOUNDED = 600  # samples up to which bounds are computed, n³


class Classify(Mode):
    name, title, shows = "classify", "Classify", "plane"
    question = "Which class is a new point of?"
    learners: ClassVar[dict[str, Learner]] = {
        "SVC": Learner(
            "Support vector machine", (Dial("C", "C, the price of errors", 10.0, 1e-3, 1e4, log=True),),
            lambda v: Call(SVC, {"C": v["C"]}),
        ),
        "logistic": Learner(
            "Logistic regression", (Dial("alpha", "α, the weight of ‖f‖²", 0.1, 1e-4, 1e3, log=True),),
            lambda v: Call(KernelLogistic, {"alpha": v["alpha"]}), centers=300,
        ),
    }  # fmt: skip
    kernel = "Gaussian(γ=2)"
    suggested = (
        "Gaussian(γ=2)", "Laplacian(γ=1)", "Linear()", "Polynomial(degree=3)", "Matern()", "RationalQuadratic()",
        "ArcCosine(order=1)", "Periodic()", "Gaussian(γ=2) + 0.1·Linear()", "Sigmoid()",
    )  # fmt: skip
    families = ("moons", "rings", "groups", "squares", "overlap", "same mean")
    needs = Needs(2, classes=2)
    numbers = (("accuracy on these points", "machine.score(X, y)"), ("objective", "np.sum(machine.objective_)"))

    def shown(self, state: State) -> tuple[tuple[str, str], ...]:
        more = (("support vectors", "len(machine.support_)"),) if state.learner == "SVC" else ()
        return self.numbers + more

    def lines(self, state: State) -> list[str]:
        return [f"machine = {self.call(state).python}.fit(X, y)"]

    def ridge(self, state: State) -> float | None:
        return 1 / (2 * state.values["C"]) if state.learner == "SVC" else state.values["alpha"]

    def pictures(self, state: State, trace: Trace) -> Pictures:
        X, y = state.data.X, state.data.y
        machine = fitted(self.call(state), state.kernel, trace, X, y)
        values = np.asarray(machine.decision_function(plane()), np.float64)
        support = np.asarray(getattr(machine, "support_", ()), int) if state.learner == "SVC" else np.empty(0, int)
        data = {"numbers": self.measured(state, machine=machine, X=X, y=y), "classes": machine.classes_.tolist()}
        arrays = points(state, support=support)
        if values.ndim == 1:
            yield View("plane", data | {"field": "signed"}, arrays | {"field": on_plane(values)})
        else:
            # how far the first class is before the second
            best = np.sort(values, axis=1)[:, -2:]
            arrays |= {"field": on_plane(best[:, 1] - best[:, 0]), "kinds": on_plane(values.argmax(axis=1))}
            yield View("plane", data | {"field": "classes"}, arrays)
        return partial(_bounds, machine, X, y)


def _bounds(machine: Estimator, X: np.ndarray, y: np.ndarray) -> Iterator[View]:
    """What is known of the error on new points."""
    if not is_svc_of_two_classes(machine):
        yield View("error", {"why": "Estimates of the error are for a support vector machine of two classes."})
    elif len(y) > _LARGEST_BOUNDED:
        yield View("error", {"why": f"Estimates of the error take n³: up to {_LARGEST_BOUNDED} points."})
    else:
        found = generalisation(machine, X, y)
        rows = [
            ("leave-one-out error, by the span", found.span_error),
            ("support vectors/n, which bounds it", found.support_share),
            ("training error", found.training_error),
        ]
        yield View("error", {"rows": [{"words": words, "value": value} for words, value in rows]})
