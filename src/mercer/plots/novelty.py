"""The picture of a decision function over a plane: what is usual and what is novel."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from mercer import arrays
from mercer.annotations import Axes, Estimator, Samples
from mercer.arrays import Array
from mercer.plots.drawing import BLUE, VERMILION, canvas, dot_size, framed, pyplot, surface
from mercer.plots.samples import Grid, Plane, as_numbers, called, check_between
from mercer.troubles import coded

if TYPE_CHECKING:
    import matplotlib.axes
    from matplotlib.collections import PathCollection
    from matplotlib.contour import QuadContourSet
    from matplotlib.figure import Figure


@dataclass(eq=False)
class NoveltyDisplay:
    """The decision function over a plane, its boundary at 0, and the points, inliers and outliers.

    Made by ``from_estimator``; ``plot`` draws it again, elsewhere.

    Parameters
    ----------
    x, y : ndarray of shape (r,)
        The grid.
    values : ndarray of shape (r, r)
        values[i, j] is the decision function at (x[j], y[i]).
    points : ndarray of shape (n, 2)
        Where the samples lie in the plane.
    inliers : ndarray of bool of shape (n,)
        What the estimator says of each sample itself. Of more than two columns a sample lies beside the plane, and its
        colour may differ from that of the surface behind it.
    names : tuple of two str, default=("x₁", "x₂")
        Of the axes.
    title : str, default=""
        Above the picture.

    Attributes
    ----------
    figure_, ax_ : matplotlib's figure and axes
        To be changed at will.
    surface_, boundary_ : matplotlib's contours
        The decision function, and where it is 0; None where it is nowhere 0.
    scatters_ : list
        Inliers and outliers.

    See Also
    --------
    OneClassSVM, SVDD, KernelPCANovelty : The estimators it is for.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> import numpy as np
    >>> import mercer as mc
    >>> plt.switch_backend("Agg")
    >>> X = np.random.default_rng(0).standard_normal((50, 2))
    >>> machine = mc.OneClassSVM(nu=0.1).fit(X)
    >>> display = mc.NoveltyDisplay.from_estimator(machine, X, resolution=20)
    >>> display.values.shape, len(display.inliers)
    ((20, 20), 50)
    >>> plt.close(display.figure_)
    """

    x: Array
    y: Array
    values: Array
    points: Array
    inliers: Array
    names: tuple[str, str] = ("x₁", "x₂")
    title: str = ""
    figure_: Figure = field(init=False, repr=False)
    ax_: matplotlib.axes.Axes = field(init=False, repr=False)
    surface_: QuadContourSet = field(init=False, repr=False)
    boundary_: QuadContourSet | None = field(init=False, repr=False)
    scatters_: list[PathCollection] = field(init=False, repr=False)

    @classmethod
    def from_estimator(
        cls, estimator: Estimator, X: Samples, *, resolution: int = 100, ax: Axes = None, **kwargs: Any
    ) -> NoveltyDisplay:
        """The decision function of a fitted one-class estimator, on two columns or on the plane of the first two
        principal axes through the mean.

        Parameters
        ----------
        estimator : fitted estimator
            With ``decision_function`` and ``predict``, and a kernel that is not "precomputed".
        X : table of shape (n, d)
            The samples to show, d ≥ 2.
        resolution : int, default=100
            Points of the grid along each side: so many squared are predicted.
        ax : matplotlib axes, optional
            Where to draw; None: a new figure.
        **kwargs
            For ``scatter``.

        Returns
        -------
        NoveltyDisplay
        """
        pyplot()
        if not hasattr(estimator, "decision_function") or not hasattr(estimator, "predict"):
            raise ValueError(
                coded(
                    f"{called(estimator)} has no decision_function and predict, as OneClassSVM, SVDD and"
                    " KernelPCANovelty have.",
                    "M311",
                )
            )
        check_between(estimator)
        plane = Plane.of(X)
        points = plane.project(as_numbers(X))
        grid = Grid.over(plane, points, X, resolution)
        values = grid.of(estimator.decision_function(grid.rows))
        inliers = np.asarray(arrays.to_numpy(estimator.predict(X))) > 0
        title = f"{called(estimator)}: {np.sum(~inliers)} of {len(inliers)} are outliers{plane.where}"
        return cls(grid.x, grid.y, values, points, inliers, plane.names, title).plot(ax, **kwargs)

    def plot(self, ax: Axes = None, **kwargs: Any) -> NoveltyDisplay:
        """Draw on ``ax``, or on a new figure; further arguments go to ``scatter``. Returns the display itself."""
        ax, _ = self.ax_, self.figure_ = canvas(ax)
        self.surface_, self.boundary_ = surface(ax, self.x, self.y, self.values, "decision function (boundary at 0)")
        style = {"s": dot_size(len(self.points)), "linewidths": 0.5, "edgecolors": "white"}
        self.scatters_ = [
            ax.scatter(
                *self.points[chosen].T,
                **(style | {"label": f"{name} ({chosen.sum()})", "color": colour, "marker": marker} | kwargs),
            )
            for name, chosen, colour, marker in (
                ("inlier", self.inliers, BLUE, "o"),
                ("outlier", ~self.inliers, VERMILION, "^"),
            )
        ]
        # the best place takes long to find among many points
        place = "best" if len(self.points) <= 2000 else "upper right"
        ax.legend(loc=place, fontsize="small", framealpha=0.9, edgecolor="none")
        ax.margins(0)
        framed(ax, self.names, self.title)
        return self
