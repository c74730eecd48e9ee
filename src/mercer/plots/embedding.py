"""The picture of points at two of their components."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from mercer.annotations import Axes, Estimator, Samples, Targets
from mercer.arrays import Array
from mercer.plots.drawing import canvas, framed, pyplot, scatter
from mercer.plots.samples import as_numbers, called, one_each, percent
from mercer.troubles import coded

if TYPE_CHECKING:
    import matplotlib.axes
    from matplotlib.collections import PathCollection
    from matplotlib.figure import Figure


@dataclass(eq=False)
class EmbeddingDisplay:
    """Points at two of their components; y, where given, as classes (a legend) or as a scale (a colour bar).

    Made by ``from_estimator``; ``plot`` draws it again, elsewhere.

    Parameters
    ----------
    points : ndarray of shape (n, 2)
        Two components of each sample.
    y : array of shape (n,), optional
        Texts, booleans and up to 20 different integers are classes; other numbers are a scale.
    names : tuple of two str, default=("component 1", "component 2")
        Of the axes.
    title : str, default=""
        Above the picture.

    Attributes
    ----------
    figure_, ax_ : matplotlib's figure and axes
        To be changed at will.
    scatters_ : list
        The points: one collection for each class, or one for all.

    See Also
    --------
    ClusterDisplay : Points by cluster.
    KernelPCA, PCA, KernelCCA : Estimators with components.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> import numpy as np
    >>> import mercer as mc
    >>> plt.switch_backend("Agg")
    >>> radius = np.repeat([1.0, 3.0], 30)
    >>> X = radius[:, None] * np.column_stack([np.cos(np.arange(60)), np.sin(np.arange(60))])
    >>> pca = mc.KernelPCA(2, kernel=mc.Gaussian(0.5)).fit(X)
    >>> display = mc.EmbeddingDisplay.from_estimator(pca, X, radius)
    >>> [text.get_text() for text in display.ax_.get_legend().get_texts()]
    ['1', '3']
    >>> plt.close(display.figure_)
    """

    points: Array
    y: Targets = None
    names: tuple[str, str] = ("component 1", "component 2")
    title: str = ""
    figure_: Figure = field(init=False, repr=False)
    ax_: matplotlib.axes.Axes = field(init=False, repr=False)
    scatters_: list[PathCollection] = field(init=False, repr=False)

    @classmethod
    def from_estimator(
        cls,
        estimator: Estimator,
        X: Samples,
        y: Targets = None,
        components: Sequence[int] = (0, 1),
        *,
        ax: Axes = None,
        **kwargs: Any,
    ) -> EmbeddingDisplay:
        """``estimator.transform(X)`` at two components, with their share of the variance where the estimator knows
        it.

        Parameters
        ----------
        estimator : fitted estimator
            With ``transform``.
        X : collection of samples
            What the estimator takes.
        y : array of shape (n,), optional
            Classes or numbers by which the points are coloured.
        components : pair of int, default=(0, 1)
            Which two, counted from 0.
        ax : matplotlib axes, optional
            Where to draw; None: a new figure.
        **kwargs
            For ``scatter``.

        Returns
        -------
        EmbeddingDisplay
        """
        pyplot()
        if not hasattr(estimator, "transform"):
            raise ValueError(coded(f"{called(estimator)} has no transform(X); an embedding needs one.", "M311"))
        chosen = tuple(components)
        Z = as_numbers(estimator.transform(X))
        width = Z.shape[1]
        if len(chosen) != 2 or any(not 0 <= c < width for c in chosen):
            raise ValueError(
                coded(f"components={chosen}: choose two of the {width} components, 0 to {width - 1}.", "M205")
            )
        shares = np.ravel(getattr(estimator, "explained_variance_ratio_", ()))
        first, second = (
            f"component {c + 1}" + (f" ({percent(shares[c])} of the variance)" if c < len(shares) else "")
            for c in chosen
        )
        return cls(Z[:, list(chosen)], y, (first, second), called(estimator)).plot(ax, **kwargs)

    def plot(self, ax: Axes = None, **kwargs: Any) -> EmbeddingDisplay:
        """Draw on ``ax``, or on a new figure; further arguments go to ``scatter``. Returns the display itself."""
        y = None if self.y is None else one_each(self.y, len(self.points), "y")
        self.ax_, self.figure_ = canvas(ax)
        self.scatters_ = scatter(self.ax_, self.points, y, getattr(self.y, "name", None), kwargs)
        framed(self.ax_, self.names, self.title)
        return self
