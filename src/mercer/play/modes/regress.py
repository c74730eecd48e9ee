"""A number y at each x on a line: a mean with its uncertainty, quantiles, or a tube."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import ClassVar

import numpy as np

from mercer.annotations import Estimator
from mercer.estimators.representer import KernelQuantile
from mercer.estimators.ridge import KernelRidge
from mercer.estimators.svr import SVR
from mercer.play.modes.base import Call, Dial, Learner, Mode, Needs, Pictures, Trace, fitted, line, points
from mercer.play.state import State
from mercer.play.views import View
from mercer.selection.left_out import LeftOut, has_closed_form

_QUANTILES = [0.1, 0.5, 0.9]
_LARGEST_LEFT_OUT = 1000


class Regress(Mode):
    name, title, shows = "regress", "Regress", "line"
    question = "Which number belongs to a new x, and how sure is that?"
    learners: ClassVar[dict[str, Learner]] = {
        "ridge": Learner(
            "Ridge, with a band of two standard deviations",
            (Dial("alpha", "α, the weight of ‖f‖²", 0.1, 1e-4, 1e3, log=True),),
            lambda v: Call(KernelRidge, {"alpha": v["alpha"], "uncertainty": True}), centers=300,
        ),
        "quantiles": Learner(
            "Quantiles .1, .5, .9", (Dial("alpha", "α, the weight of ‖f‖²", 0.1, 1e-4, 1e3, log=True),),
            lambda v: Call(KernelQuantile, {"quantiles": _QUANTILES, "alpha": v["alpha"]}),
        ),
        "SVR": Learner(
            "Support vectors, with a tube of ε",
            (
                Dial("C", "C, the price of errors", 10.0, 1e-3, 1e4, log=True),
                Dial("epsilon", "ε, errors that cost nothing", 0.2, 0.0, 1.0),
            ),
            lambda v: Call(SVR, {"C": v["C"], "epsilon": v["epsilon"]}),
        ),
    }  # fmt: skip
    kernel = "Gaussian(γ=1)"
    suggested = (
        "Gaussian(γ=1)", "Laplacian(γ=1)", "Matern()", "Linear()", "Polynomial(degree=3)", "Periodic()",
        "Gaussian(γ=1) + 0.1·Linear()", "Periodic() + Linear()", "RationalQuadratic()",
    )  # fmt: skip
    families = ("wave", "fan")
    needs = Needs(2)

    def shown(self, state: State) -> tuple[tuple[str, str], ...]:
        if state.learner == "ridge":
            return (("RMSE on these points", "np.sqrt(np.mean((machine.predict(X) - y) ** 2))"),)
        if state.learner == "quantiles":
            return (("share of points between .1 and .9",
                     "np.mean((machine.predict(X)[:, 0] <= y) & (y <= machine.predict(X)[:, 2]))"),)  # fmt: skip
        return (
            ("RMSE on these points", "np.sqrt(np.mean((machine.predict(X) - y) ** 2))"),
            ("support vectors", "len(machine.support_)"),
        )

    def lines(self, state: State) -> list[str]:
        return [f"machine = {self.call(state).python}.fit(X, y)"]

    def groups(self, state: State) -> np.ndarray:
        return np.argsort(np.argsort(state.data.X[:, 0]))  # rows in the order of x

    def ridge(self, state: State) -> float | None:
        return state.values.get("alpha")

    def pictures(self, state: State, trace: Trace) -> Pictures:
        X, y, x = state.data.X[:, :1], state.data.X[:, 1], line()
        machine = fitted(self.call(state), state.kernel, trace, X, y)
        data = {"numbers": self.measured(state, machine=machine, X=X, y=y)}
        support = np.asarray(machine.support_, int) if state.learner == "SVR" else np.empty(0, int)
        if state.learner == "ridge":
            middle, spread = machine.predict(x, return_std=True)
            curves = np.column_stack([middle - 2 * spread, middle, middle + 2 * spread])
        elif state.learner == "quantiles":
            curves = machine.predict(x)
        else:
            epsilon, middle = state.values["epsilon"], machine.predict(x)
            curves = np.column_stack([middle - epsilon, middle, middle + epsilon])
        yield View("line", data, points(state, x=x[:, 0], curves=curves, support=support))
        return partial(_left_out, machine, y)


def _left_out(machine: Estimator, y: np.ndarray) -> Iterator[View]:
    """The error on a point that the machine has not seen."""
    if not has_closed_form(machine) or len(y) > _LARGEST_LEFT_OUT:
        yield View("error", {"why": f"Exact leave-one-out is for the ridge, up to {_LARGEST_LEFT_OUT} points."})
    else:
        residuals = LeftOut.of(machine, y).residuals
        rows = [{"words": "leave-one-out RMSE, exact", "value": float(np.sqrt(np.mean(residuals**2)))}]
        yield View("error", {"rows": rows})
