"""The picture of points at two of their components."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mercer.arrays import Array
from mercer.plots.drawing import canvas, framed, pyplot, scatter
from mercer.plots.samples import as_numbers, called, one_each, percent


@dataclass(eq=False)
class EmbeddingDisplay:
    """Points at two of their components; y, where given, as classes (a legend) or as a scale (a colour bar)."""

    points: Array
    y: Any = None
    names: tuple[str, str] = ("component 1", "component 2")
    title: str = ""
    figure_: Any = field(init=False, repr=False)
    ax_: Any = field(init=False, repr=False)
    scatters_: list[Any] = field(init=False, repr=False)

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any = None, components: Sequence[int] = (0, 1), *, ax: Any = None, **kwargs: Any
    ) -> EmbeddingDisplay:
        """``estimator.transform(X)`` at two components, with their share of the variance where the estimator knows
        it.
        """
        pyplot()
        if not hasattr(estimator, "transform"):
            raise ValueError(f"{called(estimator)} has no transform(X); an embedding needs one.")
        chosen = tuple(components)
        Z = as_numbers(estimator.transform(X))
        width = Z.shape[1]
        if len(chosen) != 2 or any(not 0 <= c < width for c in chosen):
            raise ValueError(f"components={chosen}: choose two of the {width} components, 0 to {width - 1}.")
        shares = np.ravel(getattr(estimator, "explained_variance_ratio_", ()))
        first, second = (
            f"component {c + 1}" + (f" ({percent(shares[c])} of the variance)" if c < len(shares) else "")
            for c in chosen
        )
        return cls(Z[:, list(chosen)], y, (first, second), called(estimator)).plot(ax, **kwargs)

    def plot(self, ax: Any = None, **kwargs: Any) -> EmbeddingDisplay:
        """Draw; further arguments go to ``scatter``."""
        y = None if self.y is None else one_each(self.y, len(self.points), "y")
        self.ax_, self.figure_ = canvas(ax)
        self.scatters_ = scatter(self.ax_, self.points, y, getattr(self.y, "name", None), kwargs)
        framed(self.ax_, self.names, self.title)
        return self
