"""Random functions of a kernel: draws of a Gaussian process with the kernel as covariance."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from mercer.play.modes.base import Dial, Learner, Mode, Pictures, Trace, line
from mercer.play.state import State
from mercer.play.views import View

_EVERY = 2  # of the places on the line


class Draws(Mode):
    name, title, shows = "draws", "Random functions", "line"
    question = "What do functions look like that the kernel thinks likely?"
    learners: ClassVar[dict[str, Learner]] = {
        "draws": Learner(
            "Draws of a Gaussian process",
            (Dial("count", "functions", 5, 1, 20, whole=True), Dial("seed", "seed", 0, 0, 1000, whole=True)),
        )
    }
    kernel = "Gaussian(γ=1)"
    suggested = (
        "Gaussian(γ=1)", "Laplacian(γ=1)", "Matern()", "Linear() + Constant(c=1)", "Periodic()", "RationalQuadratic()",
        "Periodic()·Gaussian(γ=0.1)", "Polynomial(degree=3)", "Gaussian(γ=20) + Gaussian(γ=0.2)", "ArcCosine(order=1)",
    )  # fmt: skip
    numbers = (
        ("the first function at 0", "functions[len(x) // 2, 0]"),
        ("mean square of all", "np.mean(functions**2)"),
    )

    @property
    def start(self) -> dict[str, Any]:
        return {"family": "wave", "n": 1, "seed": 0}  # drawn is from the kernel alone: no samples are shown

    def samples(self, state: State) -> np.ndarray:
        return line()[::_EVERY]

    def groups(self, state: State) -> np.ndarray:
        return np.arange(len(self.samples(state)))

    def python(self, state: State) -> str:
        shown = [f"print({words!r}, {expression})" for words, expression in self.numbers]
        head = ["import numpy as np", "", "import mercer as mc", "", f"kernel = mc.parse({str(state.kernel)!r})"]
        return "\n".join([*head, *self.lines(state), *shown, ""])

    def lines(self, state: State) -> list[str]:
        count, seed = state.values["count"], state.values["seed"]
        return [
            f"x = np.linspace(-4, 4, {len(self.samples(state))})[:, None]",
            "values, vectors = np.linalg.eigh(kernel.gram(x).dense())",
            "vectors *= np.sign(vectors[np.abs(vectors).argmax(axis=0), np.arange(len(x))])",
            "root = vectors * np.sqrt(np.maximum(values, 0))",
            f"functions = root @ np.random.default_rng({seed}).standard_normal((len(x), {count}))",
        ]

    def pictures(self, state: State, trace: Trace) -> Pictures:
        x = self.samples(state)
        values, vectors = np.linalg.eigh(np.asarray(state.kernel.gram(x).dense(), np.float64))
        vectors *= np.sign(vectors[np.abs(vectors).argmax(axis=0), np.arange(len(x))])
        root = vectors * np.sqrt(np.maximum(values, 0))
        drawn = np.random.default_rng(int(state.values["seed"])).standard_normal((len(x), int(state.values["count"])))
        functions = root @ drawn
        yield View(
            "line", {"numbers": self.measured(state, functions=functions, x=x)}, {"x": x[:, 0], "draws": functions}
        )
        return None
