"""The picture of a metric that a feature machine has learnt."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from mercer.annotations import Axes, Estimator
from mercer.arrays import Array
from mercer.estimators.scikit_checks import check_is_fitted
from mercer.plots.drawing import BLUE, VERMILION, bare, canvas, plain, subplots
from mercer.troubles import coded

if TYPE_CHECKING:
    import matplotlib.axes
    from matplotlib.figure import Figure

_MOST = 30  # columns that have room for their names


@dataclass(eq=False)
class MetricDisplay:
    """M of a feature machine as a heat map, and beside it the directions that matter most.

    A bright cell off the diagonal is a pair of columns that act together. Of a diagonal M the weights of the columns
    are drawn, the largest first. Made by ``from_estimator``; ``plot`` draws it again, elsewhere.

    Parameters
    ----------
    metric : ndarray of shape (d, d) or (d,)
        M.
    names : list of str
        What the columns are called.

    Attributes
    ----------
    figure_, ax_ : matplotlib's figure, and the axes of the matrix or of the weights
        To be changed at will.
    axes_ : array of axes
        All axes.

    See Also
    --------
    FeatureMachineRegressor : What learns it.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> import numpy as np
    >>> import mercer as mc
    >>> plt.switch_backend("Agg")
    >>> X = np.random.default_rng(0).standard_normal((100, 3))
    >>> machine = mc.FeatureMachineRegressor(kernel=mc.Gaussian("median"), random_state=0)
    >>> machine = machine.fit(X, np.sin(X[:, 0] + X[:, 1]))
    >>> display = mc.MetricDisplay.from_estimator(machine, names=["a", "b", "c"])
    >>> shares, directions = display.directions
    >>> bool(shares[0] > 0.9), np.abs(directions[0]).round(1).tolist()
    (True, [0.7, 0.7, 0.0])
    >>> plt.close(display.figure_)
    """

    metric: Array
    names: list[str]
    figure_: Figure = field(init=False, repr=False)
    ax_: matplotlib.axes.Axes = field(init=False, repr=False)
    axes_: list[matplotlib.axes.Axes] = field(init=False, repr=False)

    @property
    def directions(self) -> tuple[Array, Array]:
        """Eigenvalues of M as shares of their sum, falling, and the directions they belong to, one in each row."""
        M = np.diag(self.metric) if self.metric.ndim == 1 else self.metric
        values, vectors = np.linalg.eigh(M)
        values = np.maximum(values[::-1], 0.0)
        return values / values.sum(), vectors.T[::-1]

    @classmethod
    def from_estimator(
        cls, estimator: Estimator, *, names: list[str] | None = None, ax: Axes = None, **kwargs: Any
    ) -> MetricDisplay:
        """The metric of a fitted feature machine.

        Parameters
        ----------
        estimator : FeatureMachineRegressor or FeatureMachineClassifier
            Fitted.
        names : list of str, optional
            Of the columns; None: those of the data frame it was trained on, or their numbers.
        ax : one or two matplotlib axes, optional
            Where to draw; None: a new figure.
        **kwargs
            For ``imshow``, or for ``barh`` of weights.

        Returns
        -------
        MetricDisplay
        """
        check_is_fitted(estimator)
        if not hasattr(estimator, "metric_"):
            raise TypeError(
                coded(f"A {type(estimator).__name__} has no metric to show; give a fitted feature machine.", "M311")
            )
        M = np.asarray(estimator.metric_)
        known = getattr(estimator, "feature_names_in_", range(len(M)))
        names = [str(name) for name in (known if names is None else names)]
        if len(names) != len(M):
            raise ValueError(coded(f"There are {len(names)} names for {len(M)} columns.", "M111"))
        return cls(M, names).plot(ax, **kwargs)

    def plot(self, ax: Axes = None, *, n_directions: int = 3, **kwargs: Any) -> MetricDisplay:
        """Draw it.

        Parameters
        ----------
        ax : one or two matplotlib axes, optional
            For the matrix, or the weights, and for the directions; None: a new figure.
        n_directions : int, default=3
            How many directions to show at most, beside a matrix.
        **kwargs
            For ``imshow``, or for ``barh`` of weights.

        Returns
        -------
        MetricDisplay
            This one.
        """
        full = self.metric.ndim == 2
        given = None if ax is None else list(np.ravel(ax))
        self.axes_ = subplots(1, 2, (10.0, 4.4)) if full and given is None else given or subplots(1, 1, (6.0, 4.4))
        self.ax_, self.figure_ = canvas(self.axes_[0])
        names = [plain(name) for name in self.names]
        if not full:
            shown = np.argsort(self.metric)[::-1][:_MOST][::-1]
            self.ax_.barh(range(len(shown)), self.metric[shown], **{"color": BLUE, **kwargs})
            self.ax_.set_yticks(range(len(shown)), [names[j] for j in shown])
            self.ax_.set_xlabel("weight of the column")
            bare(self.ax_)
            return self
        largest = float(np.abs(self.metric).max())
        image = self.ax_.imshow(self.metric, **{"cmap": "RdBu_r", "vmin": -largest, "vmax": largest, **kwargs})
        self.figure_.colorbar(image, ax=self.ax_, shrink=0.8)
        if len(names) <= _MOST:
            self.ax_.set_xticks(range(len(names)), names, rotation=90)
            self.ax_.set_yticks(range(len(names)), names)
        self.ax_.set_title("M")
        if len(self.axes_) > 1:
            self._draw_directions(self.axes_[1], n_directions, names)
        return self

    def _draw_directions(self, ax: Axes, count: int, names: list[str]) -> None:
        shares, directions = self.directions
        count = min(count, int(np.sum(shares > 1e-6)))
        for k in range(count):
            heights = directions[k] * np.sign(directions[k][np.argmax(np.abs(directions[k]))])
            colours = [BLUE if h >= 0 else VERMILION for h in heights]
            ax.bar(range(len(heights)), 0.4 * heights, bottom=-k, color=colours)
            ax.axhline(-k, color="black", linewidth=0.5)
        ax.set_yticks([-k for k in range(count)], [f"{shares[k]:.0%}" for k in range(count)])
        if len(names) <= _MOST:
            ax.set_xticks(range(len(names)), names, rotation=90)
        ax.set_title("directions, and their share of M")
        bare(ax)
