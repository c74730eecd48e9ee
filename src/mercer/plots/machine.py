"""The picture of a classifier over a plane: regions, boundary, margins and support vectors."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from mercer.annotations import Axes, Estimator, Samples, Targets
from mercer.arrays import Array
from mercer.plots.drawing import (
    INK,
    between,
    canvas,
    colour,
    framed,
    legend,
    paler,
    pyplot,
    scatter_classes,
    surface,
    word,
)
from mercer.plots.samples import Grid, Plane, as_numbers, called, check_between, inner, one_each, shown_of, some
from mercer.troubles import coded

if TYPE_CHECKING:
    import matplotlib.axes
    from matplotlib.collections import PathCollection
    from matplotlib.contour import QuadContourSet
    from matplotlib.figure import Figure


@dataclass(eq=False)
class MachineDisplay:
    """A classifier over a plane: the region of each class, the boundary, the margins f = ±1 and the support vectors of
    a machine that has them, and the points by class.

    Made by ``from_estimator``; ``plot`` draws it again, elsewhere.

    Parameters
    ----------
    x, y : ndarray of shape (r,)
        The grid.
    values : ndarray of shape (r, r), or (r, r, n_classes) where there are more than two classes
        values[i, j] at (x[j], y[i]): what decides between two classes, larger than ``zero`` for the second; or the
        score of each class, the largest of which is the prediction.
    points : ndarray of shape (n, 2)
        Where the samples lie in the plane.
    labels : ndarray of shape (n,)
        The class of each.
    classes : ndarray of shape (n_classes,)
        The classes that the machine knows, in the order of their scores.
    support : ndarray of shape (m, 2), optional
        Where the support vectors lie in the plane.
    margins : bool, default=False
        Whether values of ±1 are the margins of a machine of two classes.
    zero : float, default=0.0
        The value at the boundary between two classes.
    names : tuple of two str, default=("x₁", "x₂")
        Of the axes.
    scale : str, default="decision function"
        What the values of two classes are called.
    rings : str, default="support vector"
        What the ringed points are called.
    title : str, default=""
        Above the picture.

    Attributes
    ----------
    figure_, ax_ : matplotlib's figure and axes
        To be changed at will.
    surface_ : matplotlib contours, or list of them
        The decision function of two classes; of more, the region of each class that has one.
    boundary_ : matplotlib contours, list of them, or None
        Where the prediction changes.
    margins_ : matplotlib contours or None
        Where f = ±1.
    scatters_ : list
        The points of each class.
    support_ : matplotlib artist or None
        The rings.

    See Also
    --------
    NoveltyDisplay : The same without classes.
    SVC, NuSVC, KernelLogistic : Machines to show.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> import mercer as mc
    >>> from sklearn.datasets import make_moons
    >>> plt.switch_backend("Agg")
    >>> X, y = make_moons(100, noise=0.2, random_state=0)
    >>> machine = mc.SVC(C=10.0, kernel=mc.Gaussian(1.0)).fit(X, y)
    >>> display = mc.MachineDisplay.from_estimator(machine, X, y, resolution=30)
    >>> display.values.shape, len(display.support) == len(machine.support_), display.margins
    ((30, 30), True, True)
    >>> plt.close(display.figure_)
    """

    x: Array
    y: Array
    values: Array
    points: Array
    labels: Array
    classes: Array
    support: Array | None = None
    margins: bool = False
    zero: float = 0.0
    names: tuple[str, str] = ("x₁", "x₂")
    scale: str = "decision function"
    rings: str = "support vector"
    title: str = ""
    figure_: Figure = field(init=False, repr=False)
    ax_: matplotlib.axes.Axes = field(init=False, repr=False)
    surface_: QuadContourSet | list[QuadContourSet] = field(init=False, repr=False)
    boundary_: QuadContourSet | list[QuadContourSet] | None = field(init=False, repr=False)
    margins_: QuadContourSet | None = field(init=False, repr=False)
    scatters_: list[PathCollection] = field(init=False, repr=False)
    support_: PathCollection | None = field(init=False, repr=False)

    @property
    def regions(self) -> Array:
        """The number of the predicted class at each point of the grid, (r, r)."""
        return self.values.argmax(axis=2) if self.values.ndim == 3 else (self.values > self.zero).astype(int)

    @classmethod
    def from_estimator(
        cls,
        estimator: Estimator,
        X: Samples,
        y: Targets = None,
        *,
        resolution: int = 100,
        max_points: int = 3000,
        ax: Axes = None,
        **kwargs: Any,
    ) -> MachineDisplay:
        """A fitted classifier on two columns, or on the plane of the first two principal axes through the mean.

        Parameters
        ----------
        estimator : fitted classifier
            With ``classes_`` and ``decision_function``, ``predict_proba`` or ``predict``; the first of these that it
            has is shown. Margins and rings are drawn where it counts its support vectors, ``n_support_``.
        X : table of shape (n, d)
            The samples to show, d ≥ 2.
        y : array of shape (n,), optional
            Their classes; None: as predicted.
        resolution : int, default=100
            Points of the grid along each side: so many squared are predicted.
        max_points : int, default=3000
            Of more samples a random part of so many is drawn, always the same; so of support vectors.
        ax : matplotlib axes, optional
            Where to draw; None: a new figure.
        **kwargs
            For ``scatter``.

        Returns
        -------
        MachineDisplay
        """
        pyplot()
        machine = inner(estimator)
        if not hasattr(estimator, "classes_") or not hasattr(estimator, "predict"):
            raise ValueError(
                coded(
                    f"{called(estimator)} has no classes_ and predict, as a fitted classifier has; numbers are shown by"
                    " RegressionDisplay, outliers by NoveltyDisplay.",
                    "M311",
                )
            )
        check_between(machine)
        plane, numbers = Plane.of(X), as_numbers(X)
        points = plane.project(numbers)
        grid = Grid.over(plane, points, X, resolution)
        values, zero, scale = _decision(estimator, grid)
        labels = one_each(estimator.predict(X) if y is None else y, len(points), "y")
        classes = one_each(estimator.classes_, len(estimator.classes_), "classes_")
        known = np.concatenate([classes, np.setdiff1d(labels, classes)])
        rows = some(len(points), max_points)
        support, margins = None, False
        if hasattr(machine, "n_support_"):
            support = plane.project(as_numbers(machine.support_vectors_)) if len(machine.support_) else None
            margins = values.ndim == 2 and scale == "decision function"
        centers = getattr(machine, "centers", None) is not None
        counted = "" if support is None else f", {len(support)} {'centers' if centers else 'support vectors'}"
        title = f"{called(machine)}: {len(classes)} classes{counted}{shown_of(len(rows), len(points))}{plane.where}"
        return cls(
            x=grid.x,
            y=grid.y,
            values=values,
            points=points[rows],
            labels=labels[rows],
            classes=known,
            support=None if support is None else support[some(len(support), max_points)],
            margins=margins,
            zero=zero,
            names=plane.names,
            scale=scale,
            rings="center" if centers else "support vector",
            title=title,
        ).plot(ax, **kwargs)

    def plot(self, ax: Axes = None, **kwargs: Any) -> MachineDisplay:
        """Draw on ``ax``, or on a new figure; further arguments go to ``scatter``. Returns the display itself."""
        ax, _ = self.ax_, self.figure_ = canvas(ax)
        self.margins_ = None
        if self.values.ndim == 3:
            self.surface_, self.boundary_ = self._draw_regions(ax)
        else:
            label = f"{self.scale} (boundary at {self.zero:g})"
            colours = between(colour(0), colour(1))
            self.surface_, self.boundary_ = surface(ax, self.x, self.y, self.values, label, colours, self.zero)
            levels = [m for m in (-1.0, 1.0) if self.values.min() < m < self.values.max()]
            if self.margins and levels:
                self.margins_ = ax.contour(
                    self.x, self.y, self.values, levels, colors=INK, linewidths=0.9, linestyles="dashed"
                )
        style = {"linewidths": 0.5 if len(self.points) <= 500 else 0.2, "edgecolors": "white", "alpha": 1.0}
        self.scatters_ = scatter_classes(ax, self.points, self.labels, style | kwargs, self.classes)
        self.support_ = None
        if self.support is not None:
            size = 2.6 * float(self.scatters_[0].get_sizes()[0])
            self.support_ = ax.scatter(
                *self.support.T, s=size, facecolors="none", edgecolors=INK, linewidths=0.8, label=self.rings
            )
        if self.margins_ is not None:
            ax.plot([], [], color=INK, lw=0.9, ls="--", label="margin, f = ±1")
        ax.margins(0)
        if self.values.ndim == 3:
            legend(ax, "class")
        else:  # beside the picture stands the scale
            ax.legend(
                loc="upper center",
                bbox_to_anchor=(0.5, -0.14),
                ncols=4,
                fontsize="small",
                frameon=False,
                columnspacing=1.2,
            )
        framed(ax, self.names, self.title)
        return self

    def _draw_regions(self, ax: Axes) -> tuple[list[Any], list[Any]]:
        """Where each class has the largest score, and where that ends: by how much it is larger, so that edges are
        smooth.
        """
        filled, edges = [], []
        for k in range(self.values.shape[2]):
            ahead = self.values[..., k] - np.delete(self.values, k, axis=2).max(axis=2)
            if ahead.max() <= 0:
                continue
            levels = [0.0, float(ahead.max())]
            filled.append(ax.contourf(self.x, self.y, ahead, levels, colors=[paler(colour(k))]))
            if ahead.min() < 0:
                edges.append(ax.contour(self.x, self.y, ahead, [0.0], colors=INK, linewidths=1.0))
        return filled, edges


def _decision(estimator: Estimator, grid: Grid) -> tuple[Array, float, str]:
    """What the estimator says at the points of a grid, its value at the boundary, and what it is called."""
    classes = estimator.classes_
    if hasattr(estimator, "decision_function"):
        found = grid.of(estimator.decision_function(grid.rows))
        if found.ndim == 2 or found.shape[2] == len(classes):
            return found, 0.0, "decision function"
    if hasattr(estimator, "predict_proba"):
        found = grid.of(estimator.predict_proba(grid.rows))
        if len(classes) > 2:
            return found, 0.0, "probability"
        return found[..., -1], 0.5, f"P({word(classes[-1])})"
    predicted = np.asarray(estimator.predict(grid.rows))
    found = grid.of((predicted[:, None] == np.asarray(classes)).astype(np.float64))
    return (found, 0.0, "prediction") if len(classes) > 2 else (found[..., -1], 0.5, "prediction")
