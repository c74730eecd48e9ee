"""The picture of the weights that a machine has learnt for its kernels."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from mercer.annotations import Axes, Estimator
from mercer.arrays import Array
from mercer.plots.drawing import BLUE, framed, name_ticks, panels, pyplot
from mercer.plots.samples import called, inner
from mercer.troubles import coded

if TYPE_CHECKING:
    import matplotlib.axes
    from matplotlib.container import BarContainer
    from matplotlib.figure import Figure

_MOST = 30  # kernels that have room for their names


@dataclass(eq=False)
class WeightsDisplay:
    """β of a sum of kernels Σ β_m k_m as bars, the heaviest on top.

    Made by ``from_estimator``; ``plot`` draws it again, elsewhere.

    Parameters
    ----------
    weights : ndarray of shape (n_kernels,)
        β.
    names : list of str
        What the kernels are called.
    unit : str, default="weight β"
        Of the weights.
    title : str, default=""
        Above the picture.

    Attributes
    ----------
    figure_, ax_ : matplotlib's figure and axes
        To be changed at will.
    bars_ : matplotlib artist
        The bars.

    See Also
    --------
    MKLClassifier, MKLRegressor, MKLRidge, MKLOneClass : What learns them.
    MetricDisplay : Weights of columns.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> import numpy as np
    >>> import mercer as mc
    >>> plt.switch_backend("Agg")
    >>> X = np.random.default_rng(0).standard_normal((100, 3))
    >>> kernels = {f"column {j}": mc.Gaussian(1.0).on(j) for j in range(3)}
    >>> machine = mc.MKLClassifier(kernel=kernels).fit(X, X[:, 1] > 0)
    >>> display = mc.WeightsDisplay.from_estimator(machine)
    >>> display.names[int(display.weights.argmax())], len(display.bars_)
    ('column 1', 3)
    >>> plt.close(display.figure_)
    """

    weights: Array
    names: list[str]
    unit: str = "weight β"
    title: str = ""
    figure_: Figure = field(init=False, repr=False)
    ax_: matplotlib.axes.Axes = field(init=False, repr=False)
    bars_: BarContainer = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if np.shape(self.weights) != (len(self.names),):
            raise ValueError(
                coded(f"There are {len(self.names)} names for weights of shape {np.shape(self.weights)}.", "M111")
            )

    @classmethod
    def from_estimator(cls, estimator: Estimator, *, ax: Axes = None, **kwargs: Any) -> WeightsDisplay:
        """The weights of a fitted machine that has learnt them.

        Parameters
        ----------
        estimator : fitted estimator
            With ``weights_`` and ``kernel_names_``; all pairs of classes and all outputs share them.
        ax : matplotlib axes, optional
            Where to draw; None: a new figure.
        **kwargs
            For ``barh``.

        Returns
        -------
        WeightsDisplay
        """
        pyplot()
        machine = inner(estimator)
        if not hasattr(machine, "weights_") or not hasattr(machine, "kernel_names_"):
            raise ValueError(
                coded(
                    f"{called(machine)} has no weights_ and kernel_names_: fit an MKLClassifier, MKLRegressor,"
                    " MKLRidge or MKLOneClass first.",
                    "M311",
                )
            )
        weights, names = np.asarray(machine.weights_, np.float64), list(machine.kernel_names_)
        shown = f", {_MOST} shown" if len(names) > _MOST else ""
        title = f"{called(machine)}: {np.count_nonzero(weights)} of {len(names)} kernels have weight{shown}"
        norm = getattr(machine, "p", None)
        unit = "weight β" if norm is None else f"weight β, of norm ‖β‖_{norm:g} = 1"
        return cls(weights, names, unit, title).plot(ax, **kwargs)

    def plot(self, ax: Axes = None, **kwargs: Any) -> WeightsDisplay:
        """Draw on ``ax``, or on a new figure; further arguments go to ``barh``. Returns the display itself."""
        shown = np.argsort(-self.weights, kind="stable")[:_MOST][::-1]
        (ax,) = panels(ax, 1, 1, (7.0, 1.4 + 0.28 * max(4, len(shown))))
        self.ax_, self.figure_ = ax, ax.figure
        self.bars_ = ax.barh(range(len(shown)), self.weights[shown], **({"color": BLUE} | kwargs))
        ax.bar_label(self.bars_, [f"{w:.2g}" for w in self.weights[shown]], padding=3, fontsize="small")
        name_ticks(ax.yaxis, [self.names[m] for m in shown])
        ax.margins(y=0.02)
        ax.set_xlim(right=1.12 * max(float(self.weights.max()), 1e-300))
        framed(ax, (self.unit, ""), self.title)
        return self
