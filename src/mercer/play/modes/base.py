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
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from mercer.annotations import Estimator
from mercer.arrays import Array
from mercer.compute import Compute
from mercer.kernels.base import Kernel
from mercer.play import blocks
from mercer.play.limits import MEMORY, Lacking
from mercer.play.samples import HEIGHT, WIDTH
from mercer.play.state import Data, State, data_of, kernel_of, learner_of, pair_of, values_of
from mercer.play.views import View, matrix_views

COLUMNS, ROWS = 96, 72  # of the picture of a plane
_FEWEST_FOR_CENTERS = 1000  # samples, of which a machine over all takes longer than a slider may wait
_IN_WORDS = {2: "Two", 3: "Three", 4: "Four"}
_MOST_STEPS = 500  # of a solver, that are drawn

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

    def make(self, kernel: Kernel | str, **more: Any) -> Any:
        return self.cls(**self.options, kernel=kernel, **more)

    @property
    def listened(self) -> bool:
        """Whether its steps can be listened to; who is listened to may go another way to the same end."""
        return "progress" in (field.name for field in dataclasses.fields(self.cls))

    @property
    def python(self) -> str:
        given = "".join(f"{name}={value!r}, " for name, value in self.options.items())
        listening = ", progress=steps.append" if self.listened else ""
        return f"mc.{self.cls.__name__}({given}kernel=kernel{listening})"


@dataclass(frozen=True)
class Learner:
    """A learner of a mode: its title, its dials, and the call that their values make. While a slider moves, one that
    takes long is a sum over ``centers`` of the samples alone, or learns from a ``part`` of them.
    """

    title: str
    dials: tuple[Dial, ...]
    call: Callable[[dict[str, float]], Call] | None = None
    centers: int | None = None
    part: int | None = None


@dataclass(frozen=True)
class Needs:
    """What the machines of a mode cannot do without: so many points, of so many classes, of each so many."""

    points: int = 1
    classes: int = 1
    each: int = 1


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
    needs: ClassVar[Needs] = Needs()
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

    def fewest(self, state: State) -> int:
        """The number of points below which there is no machine."""
        return self.needs.points

    def lacks(self, state: State) -> str | None:
        """What is missing of the samples, in words; None where nothing is."""
        n, labels = len(state.data), np.unique(state.data.y)
        if len(labels) < self.needs.classes:
            they = f"The {n} points are all" if n > 1 else "There is one point, and it is"
            return (
                f"{they} of class {labels[0] + 1}, and two classes are needed: choose another class above the picture"
                " and add points of it."
            )
        if n < self.fewest(state):
            there = "there is one" if n == 1 else f"there are {n}"
            needed = _IN_WORDS.get(self.fewest(state), str(self.fewest(state)))
            return f"{needed} points or more are needed, and {there}: click into the picture to add some."
        return None

    # -- final ---------------------------------------------------------------------------------------------------------

    def state(self, given: dict[str, Any], table: Data | None = None) -> State:
        """What the page asks for."""
        name = learner_of(given.get("learner"), self.learners)
        values = values_of(given.get("values"), self.learners[name].dials)
        kernel = kernel_of(given, self.kernel)
        try:
            data = data_of(given.get("data", self.start), items=self.shows == "items", table=table)
        except Lacking as error:
            error.facts = blocks.facts(kernel)  # a kernel can be turned and typed before there are samples
            raise
        return State(self.name, name, kernel, values, data, pair_of(given.get("pair"), len(data)))

    def call(self, state: State) -> Call:
        learner = self.learners[state.learner]
        assert learner.call is not None
        made = learner.call(state.values)
        if state.brief and learner.centers is not None and len(state.data) > _FEWEST_FOR_CENTERS:
            return Call(made.cls, {**made.options, "centers": learner.centers, "random_state": 0})
        return made

    def answers(self, state: State, *, brief: bool = False) -> Iterator[View]:
        """All views of a state: facts of the kernel, pictures, how the solver came there, matrix and eigenvalues. If
        ``brief``, without what takes long, and where learning does, approximately, which the picture then says.
        """
        lacks = self.lacks(state)
        if lacks is not None:
            yield View("facts", blocks.facts(state.kernel))
            raise Lacking(lacks)
        samples = self.samples(state)
        bound = state.kernel.bind(samples)
        yield View("facts", blocks.facts(state.kernel, bound))
        trace = Trace()
        slow = yield from self._approximate(state, trace) if brief else self.pictures(state, trace)
        yield trace.view()
        groups = self.groups(state) if trace.groups is None else trace.groups
        learnt = trace.kernel is not None
        kernel = bound if trace.kernel is None else trace.kernel
        yield from matrix_views(kernel, samples, len(samples), groups, self.ridge(state), learnt=learnt)
        if slow is not None and not brief:
            yield from slow()

    def _approximate(self, state: State, trace: Trace) -> Pictures:
        """The pictures while a slider moves: all samples are shown, also where not all are learnt from."""
        learner, n = self.learners[state.learner], len(state.data)
        used, note = replace(state, brief=True), None
        if learner.part is not None and n > learner.part:
            rows = np.sort(np.random.default_rng(0).permutation(n)[: learner.part])
            used = replace(used, data=Data(state.data.X[rows], state.data.y[rows], state.data.written))
            note = f"While a slider moves, {learner.part} of the {n} points are learnt from."
        elif learner.centers is not None and n > _FEWEST_FOR_CENTERS:
            note = f"While a slider moves, f is a sum over {learner.centers} of the {n} points."
        pictures = self.pictures(used, trace)
        for view in pictures:
            if note is None or "points" not in view.arrays:
                yield view
            else:
                arrays = view.arrays | points(state)
                yield replace(view, data=view.data | {"note": note}, arrays=arrays)
        return None

    def samples(self, state: State) -> Any:
        """What the kernel compares."""
        return state.data.X[:, :1] if self.shows == "line" else state.data.X

    def python(self, state: State) -> str:
        """A program that computes what the page shows, and prints its numbers."""
        x = ["X, y = X[:, :1], X[:, 1]"] if self.shows == "line" else []
        shown = [f"print({words!r}, {expression})" for words, expression in self.shown(state)]
        head = ["import numpy as np", "", "import mercer as mc"]
        made = [*state.data.written().splitlines(), *x, "", f"kernel = mc.parse({str(state.kernel)!r})"]
        lines = self.lines(state)
        steps = (
            ["steps = []  # what the solver says on its way"] if any("steps.append" in line for line in lines) else []
        )
        return "\n".join([*head, *made, *steps, *lines, *shown, ""])

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
    """Listens to a solver: seconds, gap and objective of its steps; ``groups`` and the ``kernel``, where it has found
    any.
    """

    def __init__(self) -> None:
        self.began, self.steps = time.perf_counter(), list[tuple[float, float, float]]()
        self.said: dict[str, Any] = {}
        self.groups: Array | None = None
        self.kernel: Kernel | None = None

    def __call__(self, said: dict[str, Any]) -> bool:
        gap, objective = said.get("gap"), said.get("objective")
        if isinstance(gap, float | int) or isinstance(objective, float | int):
            row = (time.perf_counter() - self.began, _number(gap), _number(objective))
            self.steps.append(row)
        return False

    def of(self, machine: Estimator) -> None:
        """What a machine that was fitted says of its end."""
        for name in ("stop_reason_", "n_iter_", "gap_", "solver_", "converged_"):
            value = getattr(machine, name, None)
            if value is not None and np.ndim(value) == 0:
                self.said[name.rstrip("_")] = value.item() if isinstance(value, np.generic) else value
        end = _number(self.said.get("gap"))
        # a last step that is exact is not reported: the way ends where the machine says that it is
        if self.steps and np.isfinite(end) and self.steps[-1][1] != end:
            self.steps = [*self.steps[: _MOST_STEPS - 1], (time.perf_counter() - self.began, end, np.nan)]

    def view(self) -> View:
        steps = np.array(self.steps[:_MOST_STEPS], np.float64).reshape(-1, 3)
        return View("solver", self.said, {"steps": steps})


def _number(value: object) -> float:
    return float(value) if isinstance(value, float | int) else np.nan


def fitted(call: Call, kernel: Kernel | str, trace: Trace, *data: Any) -> Any:
    """The machine of a call, within the memory of the page, its steps listened to."""
    more: dict[str, Any] = {"compute": Compute(memory=MEMORY)}
    if call.listened:
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
