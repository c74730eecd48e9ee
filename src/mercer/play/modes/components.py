"""Kernel PCA: the components of points as functions on the plane, and points brought back from the first of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import ClassVar

import numpy as np

from mercer.annotations import Estimator
from mercer.estimators.kernel_pca import KernelPCA
from mercer.play.modes.base import Call, Dial, Learner, Mode, Needs, Pictures, Trace, fitted, on_plane, plane, points
from mercer.play.state import State
from mercer.play.views import View

_LARGEST_BROUGHT_BACK = 600


class Components(Mode):
    name, title, shows = "components", "Kernel PCA", "plane"
    question = "Along which functions do the points vary most, and what is left without noise?"
    learners: ClassVar[dict[str, Learner]] = {
        "PCA": Learner(
            "Kernel PCA",
            (
                Dial("n_components", "components that are kept", 2, 1, 8, whole=True),
                Dial("component", "component that is shown", 1, 1, 8, whole=True),
            ),
            lambda v: Call(KernelPCA, {"n_components": v["n_components"], "random_state": 0}),
        )
    }
    kernel = "Gaussian(γ=1)"
    suggested = ("Gaussian(γ=1)", "Gaussian(γ=0.2)", "Laplacian(γ=0.5)", "Linear()", "Polynomial(degree=2)", "Matern()")
    families = ("cloud", "moons", "rings", "groups", "same mean")
    needs = Needs(2)
    numbers = (("share of the variance that is kept", "np.sum(machine.explained_variance_ratio_)"),)

    def groups(self, state: State) -> np.ndarray:
        return np.zeros(len(state.data), int)

    def lines(self, state: State) -> list[str]:
        made = f"machine = {self.call(state).python}.fit(X)"
        return [made, "denoised = machine.inverse_transform(machine.transform(X))"]

    def pictures(self, state: State, trace: Trace) -> Pictures:
        X = state.data.X
        machine = fitted(self.call(state), state.kernel, trace, X)
        which = int(min(state.values["component"], machine.n_components_)) - 1
        values = np.asarray(machine.transform(plane()))[:, which]
        data = {"numbers": self.measured(state, machine=machine, X=X), "field": "smooth", "component": which + 1}
        shown = View("plane", data, points(state, field=on_plane(values)))
        yield shown
        return partial(_brought_back, machine, X, shown)


def _brought_back(machine: Estimator, X: np.ndarray, shown: View) -> Iterator[View]:
    """The plane again, with where each point would be had it no part outside the components."""
    if len(X) > _LARGEST_BROUGHT_BACK:
        yield replace(shown, data=shown.data | {"note": f"Points are brought back up to {_LARGEST_BROUGHT_BACK}."})
    else:
        moved = np.asarray(machine.inverse_transform(machine.transform(X)), np.float64)
        yield replace(shown, arrays=shown.arrays | {"moved": moved})
