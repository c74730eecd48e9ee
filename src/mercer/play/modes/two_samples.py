"""Two samples: is one drawn as the other is, and where do they differ?"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from mercer.compute import Compute
from mercer.functions import mean_embedding
from mercer.hypotheses.two_sample import mmd_test
from mercer.play.limits import MEMORY
from mercer.play.modes.base import Dial, Learner, Mode, Needs, Pictures, Trace, on_plane, plane, points
from mercer.play.state import State
from mercer.play.views import View


class TwoSamples(Mode):
    name, title, shows = "two_samples", "Two samples", "plane"
    question = "Are the points of both colours drawn alike, and where are there more of which?"
    learners: ClassVar[dict[str, Learner]] = {
        "MMD": Learner(
            "Maximum mean discrepancy", (Dial("n_permutations", "permutations", 500, 100, 2000, whole=True),), part=1000
        )
    }
    kernel = "Gaussian(γ=1)"
    suggested = ("Gaussian(γ=1)", "Gaussian(γ=20)", "Laplacian(γ=1)", "Linear()", "Polynomial(degree=2)", "Matern()")
    families = ("same mean", "overlap", "moons", "squares")
    needs = Needs(4, classes=2, each=2)
    numbers = (("MMD², unbiased", "outcome.statistic"), ("p", "outcome.pvalue"))

    def lacks(self, state: State) -> str | None:
        counts = np.unique(state.data.y, return_counts=True)[1][: self.needs.classes]
        if len(counts) < self.needs.classes or counts.min() < self.needs.each:
            return "Two samples are needed, of two points or more each: add points of another colour."
        return None

    def lines(self, state: State) -> list[str]:
        count = state.values["n_permutations"]
        return [
            "A, B = X[y == np.unique(y)[0]], X[y == np.unique(y)[1]]",
            f"outcome = mc.mmd_test(A, B, kernel, n_permutations={count}, random_state=0)",
        ]

    def pictures(self, state: State, trace: Trace) -> Pictures:
        X, y = state.data.X, state.data.y
        labels = np.unique(y)
        A, B = X[y == labels[0]], X[y == labels[1]]
        kernel = state.kernel.bind(X)
        witness = mean_embedding(kernel, A) - mean_embedding(kernel, B)
        outcome = mmd_test(
            A, B, state.kernel, n_permutations=int(state.values["n_permutations"]), random_state=0,
            compute=Compute(memory=MEMORY),
        )  # fmt: skip
        data = {"numbers": self.measured(state, outcome=outcome), "field": "signed"}
        yield View("plane", data, points(state, field=on_plane(np.asarray(witness(plane())))))
        return None
