"""Groups of points: k-means in the space of the kernel, or the cut of its graph."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from mercer.estimators.kmeans import KernelKMeans
from mercer.estimators.spectral_clustering import SpectralClustering
from mercer.play.modes.base import Call, Dial, Learner, Mode, Needs, Pictures, Trace, fitted, on_plane, plane, points
from mercer.play.state import State
from mercer.play.views import View

_COUNT = Dial("n_clusters", "groups", 2, 2, 4, whole=True)


class Cluster(Mode):
    name, title, shows = "cluster", "Cluster", "plane"
    question = "Which points belong together?"
    learners: ClassVar[dict[str, Learner]] = {
        "k-means": Learner(
            "Kernel k-means", (_COUNT,),
            lambda v: Call(KernelKMeans, {"n_clusters": v["n_clusters"], "random_state": 0}),
        ),
        "spectral": Learner(
            "Spectral clustering", (_COUNT,),
            lambda v: Call(SpectralClustering, {"n_clusters": v["n_clusters"], "random_state": 0}),
        ),
    }  # fmt: skip
    kernel = "Gaussian(γ=4)"
    suggested = ("Gaussian(γ=4)", "Gaussian(γ=20)", "Laplacian(γ=2)", "Linear()", "Polynomial(degree=2)", "Matern()")
    families = ("rings", "groups", "moons", "squares", "cloud")
    needs = Needs(2)

    def shown(self, state: State) -> tuple[tuple[str, str], ...]:
        sizes = ("smallest group", "np.bincount(machine.labels_).min()")
        return (("sum of squared distances", "machine.inertia_"), sizes) if state.learner == "k-means" else (sizes,)

    def fewest(self, state: State) -> int:
        return int(state.values["n_clusters"])

    def lines(self, state: State) -> list[str]:
        return [f"machine = {self.call(state).python}.fit(X)"]

    def pictures(self, state: State, trace: Trace) -> Pictures:
        X = state.data.X
        machine = fitted(self.call(state), state.kernel, trace, X)
        trace.groups = np.asarray(machine.labels_)
        arrays = points(state, assigned=trace.groups)
        data: dict[str, Any] = {"numbers": self.measured(state, machine=machine, X=X)}
        if state.learner == "k-means":
            kinds = np.asarray(machine.predict(plane()))
            arrays |= {"field": on_plane(np.ones(len(kinds))), "kinds": on_plane(kinds)}
            data["field"] = "classes"
        else:
            data["note"] = "A cut is of these points alone: the plane has no colours."
        yield View("plane", data, arrays)
        return None
