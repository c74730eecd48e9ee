"""The picture of whether probabilities hold what they say."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri

from mercer.annotations import Axes, Estimator, Samples, Targets
from mercer.arrays import Array
from mercer.data import size
from mercer.plots.drawing import BLUE, GREY, bare, framed, panels, plain, pyplot, word
from mercer.plots.responses import Response
from mercer.plots.samples import called, one_each
from mercer.troubles import coded

if TYPE_CHECKING:
    import matplotlib.axes
    from matplotlib.collections import LineCollection
    from matplotlib.container import BarContainer
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

_LEVEL = 0.95  # of the intervals


@dataclass(eq=False)
class CalibrationDisplay:
    """How often what was predicted with a probability came true, with Wilson intervals of 95 %, over the histogram of
    the probabilities; and the Brier score in its parts.

    Brier = reliability − resolution + uncertainty + what differs inside of the bins. Made by ``from_estimator`` or
    ``from_predictions``; ``plot`` draws it again, elsewhere.

    Parameters
    ----------
    probabilities : ndarray of shape (n,)
        p of each sample.
    outcomes : ndarray of bool of shape (n,)
        Whether it came true.
    edges : ndarray of shape (bins + 1,)
        Of the bins, from 0 to 1.
    event : str, default="event"
        What the probabilities are of.
    title : str, default=""
        The beginning of the title; the Brier score follows.

    Attributes
    ----------
    figure_, ax_ : matplotlib's figure, and the axes of the curve
        To be changed at will.
    axes_ : list of axes
        Those of the curve and of the histogram.
    line_, intervals_ : matplotlib artists
        The curve and its intervals.
    histogram_ : matplotlib artist or None
        The histogram.

    See Also
    --------
    KernelLogistic : Probabilities by maximum likelihood.
    ConfusionDisplay : Which classes are taken for which.

    References
    ----------
    A. Murphy, A new vector partition of the probability score, Journal of Applied Meteorology 12 (1973). D. Stephenson
    et al., Two extra components in the Brier score decomposition, Weather and Forecasting 23 (2008). E. Wilson,
    Probable inference, JASA 22 (1927).

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> import numpy as np
    >>> import mercer as mc
    >>> plt.switch_backend("Agg")
    >>> rng = np.random.default_rng(0)
    >>> p = rng.uniform(size=1000)
    >>> display = mc.CalibrationDisplay.from_predictions(rng.uniform(size=1000) < p, p)
    >>> bool(display.reliability < 0.01), round(display.brier, 2)
    (True, 0.17)
    >>> plt.close(display.figure_)
    """

    probabilities: Array
    outcomes: Array
    edges: Array
    event: str = "event"
    title: str = ""
    figure_: Figure = field(init=False, repr=False)
    ax_: matplotlib.axes.Axes = field(init=False, repr=False)
    axes_: list[matplotlib.axes.Axes] = field(init=False, repr=False)
    line_: Line2D = field(init=False, repr=False)
    intervals_: LineCollection = field(init=False, repr=False)
    histogram_: BarContainer | None = field(init=False, repr=False)

    def __post_init__(self) -> None:
        bins = np.clip(np.searchsorted(self.edges, self.probabilities, side="right") - 1, 0, len(self.edges) - 2)
        self._bin = np.unique(bins, return_inverse=True)[1]  # those that are empty do not count
        self._hit = np.asarray(self.outcomes, np.float64)

    @property
    def counts(self) -> Array:
        """Samples of each bin that has some."""
        return np.bincount(self._bin)

    @property
    def predicted(self) -> Array:
        """The mean probability of each bin."""
        return np.bincount(self._bin, self.probabilities) / self.counts

    @property
    def observed(self) -> Array:
        """The share of each bin that came true."""
        return np.bincount(self._bin, self._hit) / self.counts

    @property
    def intervals(self) -> Array:
        """Wilson's interval for each of these shares, (bins, 2)."""
        return wilson(self.observed * self.counts, self.counts, _LEVEL)

    @property
    def brier(self) -> float:
        """The mean of (p − outcome)²."""
        return float(np.mean((self.probabilities - self._hit) ** 2))

    @property
    def reliability(self) -> float:
        """How far predicted and observed shares are apart, squared and on average: 0 is best."""
        return float(np.average((self.predicted - self.observed) ** 2, weights=self.counts))

    @property
    def resolution(self) -> float:
        """How far observed shares are from their mean, squared and on average: the larger, the better."""
        return float(np.average((self.observed - self._hit.mean()) ** 2, weights=self.counts))

    @property
    def uncertainty(self) -> float:
        """The variance of the outcomes, which no prediction changes."""
        return float(self._hit.mean() * (1 - self._hit.mean()))

    @property
    def within(self) -> float:
        """What probabilities that differ inside of a bin add to the Brier score."""
        inside, came = self.probabilities - self.predicted[self._bin], self._hit - self.observed[self._bin]
        return float(np.mean(inside**2) - 2 * np.mean(inside * came))

    @classmethod
    def from_estimator(
        cls,
        estimator: Estimator,
        X: Samples,
        y: Targets,
        *,
        target: object = None,
        n_bins: int = 10,
        strategy: str = "quantile",
        ax: Axes = None,
        **kwargs: Any,
    ) -> CalibrationDisplay:
        """The probabilities of a fitted classifier, on samples that it was not trained on.

        Parameters
        ----------
        estimator : fitted classifier
            With ``predict_proba``.
        X : collection of samples
            What the estimator takes.
        y : array of shape (n,)
            Their classes.
        target : class, optional
            Whose probability; None: that of the second of two classes.
        n_bins, strategy, ax, **kwargs
            As for ``from_predictions``.

        Returns
        -------
        CalibrationDisplay
        """
        pyplot()
        if not hasattr(estimator, "predict_proba"):
            raise ValueError(
                coded(f"{called(estimator)} has no predict_proba(X): there are no probabilities to judge.", "M311")
            )
        answer = Response.of(estimator, "predict_proba", target)
        labels = one_each(y, size(X), "y")
        wanted = estimator.classes_[-1] if target is None else target
        outcomes = labels == (str(wanted) if labels.dtype.kind == "U" else wanted)
        edges = _edges(p := answer(X), n_bins, strategy)
        return cls(p, outcomes, edges, answer.name, called(estimator)).plot(ax, **kwargs)

    @classmethod
    def from_predictions(
        cls,
        y: Targets,
        p: ArrayLike,
        *,
        target: object = None,
        n_bins: int = 10,
        strategy: str = "quantile",
        ax: Axes = None,
        **kwargs: Any,
    ) -> CalibrationDisplay:
        """Any probabilities against what came true.

        Parameters
        ----------
        y : array of shape (n,)
            Two classes.
        p : array of shape (n,)
            The probability that y is ``target``, between 0 and 1.
        target : class, optional
            None: the last of the classes in their order: True, 1.
        n_bins : int, default=10
            How many bins at most.
        strategy : {"quantile", "uniform"}, default="quantile"
            Bins of as many samples each, or of one width.
        ax : one or two matplotlib axes, optional
            Where to draw the curve and, on a second one, the histogram; None: a new figure with both.
        **kwargs
            For the curve.

        Returns
        -------
        CalibrationDisplay
        """
        pyplot()
        shares = np.asarray(p, np.float64)
        if shares.ndim != 1 or not len(shares):
            raise ValueError(coded(f"p has shape {shares.shape}: one probability is needed for each sample.", "M111"))
        labels = one_each(y, len(shares), "y")
        classes = np.unique(labels)
        if len(classes) > 2 and target is None:
            raise ValueError(
                coded(f"y has {len(classes)} classes: say whose probability p is, target={classes[0]!r}.", "M205")
            )
        wanted = classes[-1] if target is None else target
        return cls(shares, labels == wanted, _edges(shares, n_bins, strategy), f"P({word(wanted)})").plot(ax, **kwargs)

    def plot(self, ax: Axes = None, **kwargs: Any) -> CalibrationDisplay:
        """Draw on a pair of axes, curve and histogram; on a single one only the curve. Further arguments go to the
        curve. Returns the display itself.
        """
        self.axes_ = panels(ax, 2, 1, (6.0, 5.4), height_ratios=(3, 1))
        ax = self.ax_ = self.axes_[0]
        self.figure_ = ax.figure
        ax.plot([0, 1], [0, 1], color=GREY, lw=1.0, ls="--", label="calibrated")
        at, share, ends = self.predicted, self.observed, self.intervals
        self.intervals_ = ax.vlines(at, ends[:, 0], ends[:, 1], color=BLUE, lw=1.4, alpha=0.7, label="95 % (Wilson)")
        style = {"color": BLUE, "marker": "o", "ms": 5, "lw": 1.5, "label": "observed share"}
        (self.line_,) = ax.plot(at, share, **(style | kwargs))
        ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))
        ax.legend(frameon=False, fontsize="small", loc="upper left")
        who = f"{self.title}, " if self.title else ""
        title = f"{who}Brier score {self.brier:.3f} = reliability {self.reliability:.3f}\n"
        title += f"− resolution {self.resolution:.3f} + uncertainty {self.uncertainty:.3f}"
        title += f" {'−' if self.within < 0 else '+'} inside bins {abs(self.within):.3f}"
        framed(ax, (f"predicted {self.event}", "share that came true"), title)
        self.histogram_ = None
        if len(self.axes_) == 2:
            below: Axes = self.axes_[1]
            *_, self.histogram_ = below.hist(self.probabilities, np.linspace(0, 1, 41), color=BLUE, alpha=0.6)
            below.set(xlim=(-0.02, 1.02), xlabel=plain(f"predicted {self.event}"), ylabel="samples")
            ax.set_xlabel("")
            bare(below)
        return self


def wilson(hits: Array, n: Array, level: float) -> Array:
    """Wilson's interval for a share of hits among n: the shares q with |hits/n − q| ≤ z √(q(1 − q)/n)."""
    z = float(ndtri((1 + level) / 2))
    share = hits / n
    middle = (share + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z / (1 + z**2 / n) * np.sqrt(share * (1 - share) / n + z**2 / (4 * n**2))
    return np.clip(np.column_stack([middle - half, middle + half]), 0.0, 1.0)


def _edges(p: Array, n_bins: int, strategy: str) -> Array:
    if not np.isfinite(p).all() or p.min() < -1e-9 or p.max() > 1 + 1e-9:
        raise ValueError(
            coded(f"Probabilities lie between 0 and 1; these between {p.min():.3g} and {p.max():.3g}.", "M106")
        )
    if n_bins < 1:
        raise ValueError(coded(f"n_bins={n_bins}: at least one.", "M205"))
    if strategy == "uniform":
        return np.linspace(0.0, 1.0, n_bins + 1)
    if strategy != "quantile":
        raise ValueError(coded(f"strategy={strategy!r}: 'quantile' or 'uniform'.", "M205"))
    inner = np.quantile(p, np.linspace(0, 1, n_bins + 1)[1:-1])
    return np.unique(np.concatenate([[0.0], inner, [1.0]]))
