"""The picture of points by cluster."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mercer.arrays import Array
from mercer.data import size
from mercer.plots.drawing import INK, canvas, framed, legend, pyplot, scatter_classes
from mercer.plots.samples import Plane, as_numbers, called, one_each


@dataclass(eq=False)
class ClusterDisplay:
    """Points coloured by cluster, on two columns or on their first two principal axes; a label of −1 is noise, in
    grey.
    """

    points: Array
    labels: Array
    centers: Array | None = None
    names: tuple[str, str] = ("x₁", "x₂")
    title: str = ""
    figure_: Any = field(init=False, repr=False)
    ax_: Any = field(init=False, repr=False)
    scatters_: list[Any] = field(init=False, repr=False)
    centers_: Any = field(init=False, repr=False)

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, *, ax: Any = None, **kwargs: Any) -> ClusterDisplay:
        """``labels_`` of the X that the estimator was fitted to, or, where it keeps none, ``predict(X)``; centres where
        it has some.
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
                f"labels_ are of the {len(labels)} samples {called(estimator)} was fitted to, X has {size(X)}; {cure}."
            )
        if labels is None and not hasattr(estimator, "predict"):
            raise ValueError(f"{called(estimator)} has neither labels_ nor predict(X): fit a clustering first.")
        labels = estimator.predict(X) if labels is None else labels
        centers = getattr(estimator, "cluster_centers_", getattr(estimator, "means_", None))
        return cls._of(X, labels, centers, called(estimator), ax, kwargs)

    @classmethod
    def from_labels(cls, X: Any, labels: Any, *, centers: Any = None, ax: Any = None, **kwargs: Any) -> ClusterDisplay:
        """Any labels of X; ``centers`` are rows like those of X."""
        return cls._of(X, labels, centers, "", ax, kwargs)

    @classmethod
    def _of(cls, X: Any, labels: Any, centers: Any, title: str, ax: Any, kwargs: dict[str, Any]) -> ClusterDisplay:
        pyplot()
        plane, numbers = Plane.of(X), as_numbers(X)
        known = one_each(labels, len(numbers), "labels")
        if centers is not None:
            centers = as_numbers(centers)
            if centers.shape[1] != numbers.shape[1]:
                raise ValueError(f"The centres have {centers.shape[1]} columns, the data {numbers.shape[1]}.")
            centers = plane.project(centers)
        return cls(plane.project(numbers), known, centers, plane.names, title).plot(ax, **kwargs)

    def plot(self, ax: Any = None, **kwargs: Any) -> ClusterDisplay:
        """Draw; further arguments go to ``scatter``."""
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
