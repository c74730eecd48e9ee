"""The picture of the course of a fit: how fast it comes to its end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone

from mercer.annotations import Axes, Estimator, Samples, Targets
from mercer.arrays import Array
from mercer.plots.drawing import GREY, canvas, colour, framed, pyplot
from mercer.plots.samples import called, inner
from mercer.troubles import coded

if TYPE_CHECKING:
    import matplotlib.axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

_MEASURES = ("gap", "residual", "error", "objective")  # which of them is shown, of those told most often
_UNITS = {"gap": "gap", "residual": "residual", "objective": "objective", "error": "error on samples held out"}
_NAMED = 8  # courses that have room for their names


@dataclass(eq=False)
class ConvergenceDisplay:
    """The gap or the objective of a fit after each step, over steps or seconds, with the tolerance it is to reach.

    Made by ``from_estimator``, of machines that keep their course, or by ``record``, which fits one and listens.
    ``plot`` draws it again, elsewhere.

    Parameters
    ----------
    courses : list of dict
        One for each problem that was solved, in the order in which they began: arrays "n_iter", "seconds" (where it was
        recorded) and "value".
    measure : str, default="gap"
        What the values are.
    tol : float, optional
        What the gap is to reach.
    over : {"n_iter", "seconds"}, default="n_iter"
        The axis.
    mixed : bool, default=False
        Whether the values are of several problems that were solved at a time: dots, and no line.
    title : str, default=""
        Above the picture.

    Attributes
    ----------
    figure_, ax_ : matplotlib's figure and axes
        To be changed at will.
    lines_ : list
        One for each course.
    tolerance_ : matplotlib artist or None
        The tolerance.

    See Also
    --------
    SVC, KernelLogistic, MKLClassifier : Machines that tell their progress.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> import mercer as mc
    >>> from sklearn.datasets import make_moons
    >>> plt.switch_backend("Agg")
    >>> X, y = make_moons(200, noise=0.2, random_state=0)
    >>> display = mc.ConvergenceDisplay.record(mc.KernelLogistic(0.1), X, y)
    >>> course = display.courses[0]["value"]
    >>> bool(course[-1] <= display.tol), display.ax_.get_yscale()
    (True, 'log')
    >>> plt.close(display.figure_)
    """

    courses: list[dict[str, Array]]
    measure: str = "gap"
    tol: float | None = None
    over: str = "n_iter"
    mixed: bool = False
    title: str = ""
    figure_: Figure = field(init=False, repr=False)
    ax_: matplotlib.axes.Axes = field(init=False, repr=False)
    lines_: list[Line2D] = field(init=False, repr=False)
    tolerance_: Line2D | None = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if self.over not in ("n_iter", "seconds"):
            raise ValueError(coded(f"over={self.over!r}: 'n_iter' or 'seconds'.", "M205"))
        if self.over == "seconds" and any("seconds" not in course for course in self.courses):
            raise ValueError(
                coded("over='seconds': this course was kept by steps; ConvergenceDisplay.record has seconds.", "M205")
            )

    @classmethod
    def from_estimator(
        cls, estimator: Estimator, *, measure: str | None = None, ax: Axes = None, **kwargs: Any
    ) -> ConvergenceDisplay:
        """The course that a fitted estimator has kept: ``history_``, a list of dictionaries, or ``objectives_``.

        Parameters
        ----------
        estimator : fitted estimator
            ``MKLClassifier`` and its kin, ``FeatureMachineRegressor``, ``KernelKMeans``; others keep none, and
            ``record`` fits one anew.
        measure : str, optional
            "gap", "residual", "objective" or "error"; None: the one that was kept most often.
        ax : matplotlib axes, optional
            Where to draw; None: a new figure.
        **kwargs
            For the lines.

        Returns
        -------
        ConvergenceDisplay
        """
        pyplot()
        machine = inner(estimator)
        kept = _kept(machine)
        if kept is None:
            raise ValueError(
                coded(
                    f"{called(machine)} keeps no history_ or objectives_ of its fit:"
                    " ConvergenceDisplay.record(estimator, X, y) fits one and draws its course.",
                    "M311",
                )
            )
        return cls._of(machine, [], kept, measure, "n_iter", ax, kwargs)

    @classmethod
    def record(
        cls,
        estimator: Estimator,
        X: Samples,
        y: Targets = None,
        *,
        over: str = "n_iter",
        measure: str | None = None,
        ax: Axes = None,
        **fit_params: Any,
    ) -> ConvergenceDisplay:
        """Fit a clone of the estimator to X and y, and show what it tells meanwhile; the estimator stays as it is.

        Parameters
        ----------
        estimator : estimator
            With the parameter ``progress``, as Mercer's have that take steps.
        X : collection of samples
            What it is fitted to.
        y : array of shape (n,), optional
            Targets or labels.
        over : {"n_iter", "seconds"}, default="n_iter"
            The axis. Several problems, those of pairs of classes, may be solved at a time: then over seconds.
        measure : str, optional
            "gap", "residual", "objective" or "error"; None: the one that was told most often.
        ax : matplotlib axes, optional
            Where to draw; None: a new figure.
        **fit_params
            For ``fit``, such as ``sample_weight``.

        Returns
        -------
        ConvergenceDisplay
            Of the fit that was recorded.
        """
        pyplot()
        if "progress" not in estimator.get_params(deep=False):
            raise ValueError(
                coded(f"{called(estimator)} has no parameter progress: it does not tell how its fit goes.", "M311")
            )
        told: list[dict[str, Any]] = []

        def listen(state: dict[str, Any]) -> None:
            if state.get("stage") == "solver":
                told.append(dict(state))

        machine = clone(estimator).set_params(progress=listen)
        machine.fit(X, **({} if y is None else {"y": y}), **fit_params)
        # what a machine keeps is its own course, what it tells also that of the solvers it asks
        kept = _kept(machine) if over == "n_iter" else None
        return cls._of(machine, _ended(machine, told), kept, measure, over, ax, {})

    @classmethod
    def _of(
        cls,
        machine: Estimator,
        told: Sequence[Mapping[str, Any]],
        kept: Sequence[Mapping[str, Any]] | None,
        measure: str | None,
        over: str,
        ax: Axes,
        kwargs: dict[str, Any],
    ) -> ConvergenceDisplay:
        steps = kept or told
        counts = {name: sum(_finite(step.get(name)) for step in steps) for name in _MEASURES}
        known = sorted((name for name in _MEASURES if counts[name]), key=lambda name: -counts[name])
        if measure is not None and measure not in known:
            raise ValueError(
                coded(
                    f"measure={measure!r}: {called(machine)} tells {', '.join(known) or 'nothing that can be drawn'}.",
                    "M205",
                )
            )
        if not known:
            raise ValueError(coded(f"{called(machine)} told nothing of its fit: it was solved in one step.", "M311"))
        measure = measure or known[0]
        tol = getattr(machine, "tol", None) if measure in ("gap", "residual") else None
        courses = _courses([step for step in steps if _finite(step.get(measure))], measure)
        # problems on several threads tell their steps in between one another
        mixed = kept is None and _interleaved(courses, len(getattr(machine, "intercept_", courses)))
        if mixed:
            courses = [{key: np.concatenate([course[key] for course in courses]) for key in courses[0]}]
        why = getattr(machine, "stop_reason_", None)
        ended = f", ended by {why!r}" if why else ""
        title = f"{called(machine)}: {_UNITS[measure]} after each step{ended}"
        title += ", several problems at a time" if mixed else f", {len(courses)} problems" if len(courses) > 1 else ""
        return cls(courses, measure, tol, over, mixed, title).plot(ax, **kwargs)

    def plot(self, ax: Axes = None, **kwargs: Any) -> ConvergenceDisplay:
        """Draw on ``ax``, or on a new figure; further arguments go to the lines. Returns the display itself."""
        ax, _ = self.ax_, self.figure_ = canvas(ax)
        values = np.concatenate([course["value"] for course in self.courses])
        few = len(values) <= 200
        self.lines_ = []
        for k, course in enumerate(self.courses):
            style = {
                "color": colour(k),
                "lw": 1.5,
                "marker": "o" if few else None,
                "ms": 3.5,
                "label": f"problem {k + 1}",
            }
            style |= {"ls": "none", "marker": "o"} if self.mixed else {}
            self.lines_ += ax.plot(course[self.over], course["value"], **(style | kwargs))
        if self.measure != "objective" and (values > 0).any():
            # a gap of nothing but rounding, or of 0, would hide all others
            floor = min(float(values[values > 0].max()), self.tol or np.inf) * 1e-6
            ax.set_yscale("log")
            ax.set_ylim(bottom=max(floor, 0.5 * float(values[values > 0].min())))
        self.tolerance_ = None
        if self.tol is not None and self.tol > 0:
            self.tolerance_ = ax.axhline(self.tol, color=GREY, lw=1.0, ls="--", label=f"tol = {self.tol:g}")
        if len(self.courses) == 1:
            self.lines_[0].set_label("_")
        if 1 < len(self.courses) <= _NAMED or self.tolerance_ is not None:
            if len(self.courses) > _NAMED:
                for line in self.lines_:
                    line.set_label("_")
            ax.legend(frameon=False, fontsize="small")
        if self.over == "n_iter":
            ax.xaxis.get_major_locator().set_params(integer=True)
        framed(ax, ("seconds" if self.over == "seconds" else "step of the solver", _UNITS[self.measure]), self.title)
        return self


def _kept(machine: Estimator) -> list[dict[str, Any]] | None:
    """The steps that a machine has kept, counted from 0."""
    steps = getattr(machine, "history_", None)
    if steps is None and (objectives := getattr(machine, "objectives_", None)) is not None:
        steps = [{"objective": value} for value in objectives]
    if not steps or not isinstance(steps[0], Mapping):
        return None
    return [{"n_iter": step.get("round", i), **step} for i, step in enumerate(steps)]


def _ended(machine: Estimator, told: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What was told, and where a single problem came to in the end; solvers do not tell their last step."""
    several = any(b["n_iter"] < a["n_iter"] for a, b in pairwise(told) if "n_iter" in a and "n_iter" in b)
    gap = getattr(machine, "gap_", None)
    if several or gap is None:
        return told
    last = {"n_iter": machine.n_iter_, "gap": gap, "residual": gap}
    if told and "seconds" in told[-1]:
        last["seconds"] = told[-1]["seconds"]
    return [*told, last]


def _courses(steps: list[Mapping[str, Any]], measure: str) -> list[dict[str, Array]]:
    """Steps apart where they are counted from the beginning again."""
    counts = [int(step.get("n_iter", step.get("step", i))) for i, step in enumerate(steps)]
    starts = [0, *[i for i in range(1, len(counts)) if counts[i] < counts[i - 1]], len(counts)]
    found = []
    for a, b in pairwise(starts):
        course = {"n_iter": np.array(counts[a:b]), "value": np.array([float(step[measure]) for step in steps[a:b]])}
        if all("seconds" in step for step in steps[a:b]):
            course["seconds"] = np.array([float(step["seconds"]) for step in steps[a:b]])
        found.append(course)
    return found


def _interleaved(courses: list[dict[str, Array]], problems: int) -> bool:
    """Whether what looks like courses one after the other cannot be them: there are more or fewer than problems, or one
    does not begin where the first does.
    """
    begin = [course["n_iter"][0] for course in courses]
    return len(courses) > 1 and (len(courses) != problems or any(first != begin[0] for first in begin))


def _finite(value: float | None) -> bool:
    return value is not None and bool(np.isfinite(value))
