"""A mode: a question, the learners that answer it, and the pictures of an answer.

What is computed and what "show the Python" says is the same by construction: a learner is a ``Call``, which is made
and written from the same options, and a number under the picture is an expression that is evaluated here and printed
there.
"""

from __future__ import annotations

import dataclasses
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from mercer.arrays import Array
from mercer.compute import Compute
from mercer.play import blocks
from mercer.play.limits import MEMORY
from mercer.play.samples import HEIGHT, WIDTH
from mercer.play.state import Data, State, data_of, kernel_of, learner_of, pair_of, values_of
from mercer.play.views import View, matrix_views

COLUMNS, ROWS = 96, 72  # of the picture of a plane

# the views that keep up with a slider, and what is computed when it rests
Pictures = Generator[View, None, Callable[[], Iterator[View]] | None]


@dataclass(frozen=True)
class Dial:
    """A number that a learner takes, and how far it can be turned."""

    name: str
    label: str
    value: float
    low: float
    high: float
    log: bool = False
    whole: bool = False


@dataclass(frozen=True)
class Call:
    """An estimator of the library with its options: made, and written, from the same."""

    cls: type
    options: dict[str, Any] = field(default_factory=dict)

    def make(self, kernel: Any, **more: Any) -> Any:
        return self.cls(**self.options, kernel=kernel, **more)

    @property
    def python(self) -> str:
        given = "".join(f"{name}={value!r}, " for name, value in self.options.items())
        return f"mc.{self.cls.__name__}({given}kernel=kernel)"


@dataclass(frozen=True)
class Learner:
    """A learner of a mode: its title, its dials, and the call that their values make."""

    title: str
    dials: tuple[Dial, ...]
    call: Callable[[dict[str, float]], Call] | None = None


class Mode(ABC):
    """What a mode says of itself, and its pictures."""

    name: ClassVar[str]
    title: ClassVar[str]
    question: ClassVar[str]
    shows: ClassVar[str]  # "plane", "line" or "items": how the samples are drawn
    learners: ClassVar[dict[str, Learner]]
    kernel: ClassVar[str]  # that one begins with
    suggested: ClassVar[tuple[str, ...]]
    domains: ClassVar[tuple[str, ...]] = ("Vectors", "Anything")  # of the kernels that can be written
    families: ClassVar[tuple[str, ...]] = ()
    numbers: ClassVar[tuple[tuple[str, str], ...]] = ()  # words, and the expression of Python

    @property
    def start(self) -> dict[str, Any]:
        """The samples that the page begins with."""
        return {"family": self.families[0], "n": 300, "seed": 0}

    # -- what a mode has to say ---------------------------------------------------------------------------------------

    @abstractmethod
    def pictures(self, state: State, trace: Trace) -> Pictures:
        """The views of a state, the most important first; returns what else there is to see, and takes long."""

    @abstractmethod
    def lines(self, state: State) -> list[str]:
        """Lines of Python between the kernel and the numbers: they make what the numbers are of."""

    def groups(self, state: State) -> Array:
        """By what the rows of the matrix are put together."""
        return state.data.y

    def ridge(self, state: State) -> float | None:
        """λ of the effective dimension; None where the learner has none."""
        return None

    # -- final ---------------------------------------------------------------------------------------------------------

    def state(self, given: dict[str, Any], table: Data | None = None) -> State:
        """What the page asks for."""
        name = learner_of(given.get("learner"), self.learners)
        values = values_of(given.get("values"), self.learners[name].dials)
        kernel = kernel_of(given, self.kernel)
        data = data_of(given.get("data", self.start), items=self.shows == "items", table=table)
        return State(self.name, name, kernel, values, data, pair_of(given.get("pair"), len(data)))

    def call(self, state: State) -> Call:
        made = self.learners[state.learner].call
        assert made is not None
        return made(state.values)

    def answers(self, state: State, *, brief: bool = False) -> Iterator[View]:
        """All views of a state: facts of the kernel, pictures, how the solver came there, matrix and eigenvalues; if
        not ``brief``, what takes long.
        """
        samples = self.samples(state)
        bound = state.kernel.bind(samples)
        yield View("facts", blocks.facts(state.kernel, bound))
        trace = Trace()
        slow = yield from self.pictures(state, trace)
        yield trace.view()
        groups = self.groups(state) if trace.groups is None else trace.groups
        yield from matrix_views(bound, samples, len(samples), groups, self.ridge(state))
        if slow is not None and not brief:
            yield from slow()

    def samples(self, state: State) -> Any:
        """What the kernel compares."""
        return state.data.X[:, :1] if self.shows == "line" else state.data.X

    def python(self, state: State) -> str:
        """A program that computes what the page shows, and prints its numbers."""
        x = ["X, y = X[:, :1], X[:, 1]"] if self.shows == "line" else []
        shown = [f"print({words!r}, {expression})" for words, expression in self.shown(state)]
        head = ["import numpy as np", "", "import mercer as mc"]
        made = [*state.data.written().splitlines(), *x, "", f"kernel = mc.parse({str(state.kernel)!r})"]
        return "\n".join([*head, *made, *self.lines(state), *shown, ""])

    def shown(self, state: State) -> tuple[tuple[str, str], ...]:
        """Words and expressions of the numbers under the picture."""
        return self.numbers

    def measured(self, state: State, **known: Any) -> list[dict[str, Any]]:
        """The numbers under the picture; ``known`` is what their expressions speak of."""
        import mercer

        scope = {"np": np, "mc": mercer, **known}
        # the expressions are this room's own, and never a text of the page
        return [{"words": words, "value": float(eval(text, scope))} for words, text in self.shown(state)]


class Trace:
    """Listens to a solver: seconds, gap and objective of its steps; ``groups``, where it has found any."""

    def __init__(self) -> None:
        self.began, self.steps = time.perf_counter(), list[tuple[float, float, float]]()
        self.said: dict[str, Any] = {}
        self.groups: Array | None = None

    def __call__(self, said: dict[str, Any]) -> bool:
        gap, objective = said.get("gap"), said.get("objective")
        if isinstance(gap, float | int) or isinstance(objective, float | int):
            row = (time.perf_counter() - self.began, _number(gap), _number(objective))
            self.steps.append(row)
        return False

    def of(self, machine: Any) -> None:
        """What a machine that was fitted says of its end."""
        for name in ("stop_reason_", "n_iter_", "gap_", "solver_", "converged_"):
            value = getattr(machine, name, None)
            if value is not None and np.ndim(value) == 0:
                self.said[name.rstrip("_")] = value.item() if isinstance(value, np.generic) else value

    def view(self) -> View:
        steps = np.array(self.steps[:500], np.float64).reshape(-1, 3)
        return View("solver", self.said, {"steps": steps})


def _number(value: Any) -> float:
    return float(value) if isinstance(value, float | int) else np.nan


def fitted(call: Call, kernel: Any, trace: Trace, *data: Any) -> Any:
    """The machine of a call, within the memory of the page, its steps listened to."""
    more: dict[str, Any] = {"compute": Compute(memory=MEMORY)}
    if "progress" in (field.name for field in dataclasses.fields(call.cls)):
        more["progress"] = trace
    machine = call.make(kernel, **more).fit(*data)
    trace.of(machine)
    return machine


def plane() -> Array:
    """The middles of the cells of the picture of a plane, row by row from the top."""
    x = (np.arange(COLUMNS) + 0.5) / COLUMNS * 2 * WIDTH - WIDTH
    y = HEIGHT - (np.arange(ROWS) + 0.5) / ROWS * 2 * HEIGHT
    return np.column_stack([np.tile(x, ROWS), np.repeat(y, COLUMNS)])


def on_plane(values: Array) -> Array:
    return np.asarray(values).reshape(ROWS, COLUMNS)


def line() -> Array:
    """Places on the line at which functions are drawn."""
    return np.linspace(-WIDTH, WIDTH, 321)[:, None]


def points(state: State, **more: Array) -> dict[str, Array]:
    """The samples as they are drawn."""
    return {"points": np.column_stack([state.data.X, state.data.y]), **more}
