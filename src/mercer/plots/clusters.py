"""The picture of points by cluster."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from mercer.annotations import Axes, Estimator, Samples, Targets
from mercer.arrays import Array
from mercer.data import size
from mercer.plots.drawing import INK, canvas, framed, legend, pyplot, scatter_classes
from mercer.plots.samples import Plane, as_numbers, called, one_each
from mercer.troubles import coded

if TYPE_CHECKING:
    import matplotlib.axes
    from matplotlib.collections import PathCollection
    from matplotlib.figure import Figure


@dataclass(eq=False)
class ClusterDisplay:
    """Points coloured by cluster, on two columns or on their first two principal axes; a label of −1 is noise, in
    grey.

    Made by ``from_estimator`` or ``from_labels``; ``plot`` draws it again, elsewhere.

    Parameters
    ----------
    points : ndarray of shape (n, 2)
        Where each sample lies in the plane.
    labels : ndarray of shape (n,)
        Its cluster.
    centers : ndarray of shape (clusters, 2), optional
        Where the centres lie in the plane.
    names : tuple of two str, default=("x₁", "x₂")
        Of the axes.
    title : str, default=""
        Above the picture.

    Attributes
    ----------
    figure_, ax_ : matplotlib's figure and axes
        To be changed at will.
    scatters_ : list
        The points of each cluster, in the order of their labels.
    centers_ : matplotlib artist or None
        The centres.

    See Also
    --------
    EmbeddingDisplay : Components, with or without classes.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> import numpy as np
    >>> import mercer as mc
    >>> plt.switch_backend("Agg")
    >>> X = np.random.default_rng(0).standard_normal((60, 2)) + 4 * np.repeat([[0], [1]], 30, axis=0)
    >>> display = mc.ClusterDisplay.from_estimator(mc.KMeans(2, random_state=0).fit(X), X)
    >>> [len(scatter.get_offsets()) for scatter in display.scatters_]
    [30, 30]
    >>> plt.close(display.figure_)
    """

    points: Array
    labels: Array
    centers: Array | None = None
    names: tuple[str, str] = ("x₁", "x₂")
    title: str = ""
    figure_: Figure = field(init=False, repr=False)
    ax_: matplotlib.axes.Axes = field(init=False, repr=False)
    scatters_: list[PathCollection] = field(init=False, repr=False)
    centers_: PathCollection | None = field(init=False, repr=False)

    @classmethod
    def from_estimator(cls, estimator: Estimator, X: Samples, *, ax: Axes = None, **kwargs: Any) -> ClusterDisplay:
        """``labels_`` of the X that the estimator was fitted to, or, where it keeps none, ``predict(X)``; centres where
        it has some.

        Parameters
        ----------
        estimator : fitted estimator
            With ``labels_`` or ``predict``; ``cluster_centers_`` or ``means_`` are drawn as stars.
        X : table of shape (n, d)
            Two columns are the axes; of more, the plane of the first two principal axes is shown.
        ax : matplotlib axes, optional
            Where to draw; None: a new figure.
        **kwargs
            For ``scatter``.

        Returns
        -------
        ClusterDisplay
        """
        pyplot()
        labels = getattr(estimator, "labels_", None)
        if labels is not None and len(labels) != size(X):
            cure = (
                "for others use ClusterDisplay.from_labels(X, estimator.predict(X))"
                if hasattr(estimator, "predict")
                else "give those samples"
            )
            raise ValueError(
                coded(
                    f"labels_ are of the {len(labels)} samples {called(estimator)} was fitted to, X has {size(X)};"
                    f" {cure}.",
                    "M111",
                )
            )
        if labels is None and not hasattr(estimator, "predict"):
            raise ValueError(
                coded(f"{called(estimator)} has neither labels_ nor predict(X): fit a clustering first.", "M311")
            )
        labels = estimator.predict(X) if labels is None else labels
        centers = getattr(estimator, "cluster_centers_", getattr(estimator, "means_", None))
        return cls._of(X, labels, centers, called(estimator), ax, kwargs)

    @classmethod
    def from_labels(
        cls, X: Samples, labels: Targets, *, centers: Samples = None, ax: Axes = None, **kwargs: Any
    ) -> ClusterDisplay:
        """Any labels of X, from wherever they are.

        Parameters
        ----------
        X : table of shape (n, d)
            As for ``from_estimator``.
        labels : array of shape (n,)
            Numbers or texts; −1 is noise.
        centers : table of shape (clusters, d), optional
            Rows like those of X.
        ax : matplotlib axes, optional
            Where to draw; None: a new figure.
        **kwargs
            For ``scatter``.

        Returns
        -------
        ClusterDisplay
        """
        return cls._of(X, labels, centers, "", ax, kwargs)

    @classmethod
    def _of(
        cls, X: Samples, labels: Targets, centers: Samples, title: str, ax: Axes, kwargs: dict[str, Any]
    ) -> ClusterDisplay:
        pyplot()
        plane, numbers = Plane.of(X), as_numbers(X)
        known = one_each(labels, len(numbers), "labels")
        if centers is not None:
            centers = as_numbers(centers)
            if centers.shape[1] != numbers.shape[1]:
                raise ValueError(
                    coded(f"The centres have {centers.shape[1]} columns, the data {numbers.shape[1]}.", "M104")
                )
            centers = plane.project(centers)
        return cls(plane.project(numbers), known, centers, plane.names, title).plot(ax, **kwargs)

    def plot(self, ax: Axes = None, **kwargs: Any) -> ClusterDisplay:
        """Draw on ``ax``, or on a new figure; further arguments go to ``scatter``. Returns the display itself."""
        labels = one_each(self.labels, len(self.points), "labels")
        ax, _ = self.ax_, self.figure_ = canvas(ax)
        self.scatters_ = scatter_classes(ax, self.points, labels, kwargs)
        self.centers_ = None
        if self.centers is not None:
            self.centers_ = ax.scatter(
                *np.asarray(self.centers).T,
                s=110,
                marker="*",
                c="white",
                edgecolors=INK,
                linewidths=1.2,
                label="centre",
            )
        legend(ax, "cluster")
        framed(ax, self.names, self.title)
        return self
