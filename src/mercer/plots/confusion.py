"""The picture of which classes are taken for which."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from mercer.annotations import Axes, Estimator, Samples, Targets
from mercer.arrays import Array
from mercer.data import size
from mercer.plots.drawing import BLUE, INK, MOST_CLASSES, framed, name_ticks, panels, pyplot, word
from mercer.plots.samples import called, one_each, percent
from mercer.troubles import coded

if TYPE_CHECKING:
    import matplotlib.axes
    from matplotlib.container import BarContainer
    from matplotlib.figure import Figure
    from matplotlib.image import AxesImage

_PAIRS = 20  # of many classes, the confusions that are shown
_SHARES = 12  # classes whose cells have room for a share below the count


@dataclass(eq=False)
class ConfusionDisplay:
    """Counts of predicted classes for each class, with their shares; of more than 20 classes the pairs that are
    confused most.

    Made by ``from_estimator`` or ``from_predictions``; ``plot`` draws it again, elsewhere.

    Parameters
    ----------
    counts : ndarray of int of shape (n_classes, n_classes)
        counts[i, j] samples of class i were taken for class j.
    classes : ndarray of shape (n_classes,)
        In their order.
    title : str, default=""
        The beginning of the title; the share of what is right follows.

    Attributes
    ----------
    figure_, ax_ : matplotlib's figure and axes
        To be changed at will.
    image_ : matplotlib image or None
        The shares, where classes are at most 20.
    bars_ : matplotlib artist or None
        The pairs, where they are more.

    See Also
    --------
    CalibrationDisplay : Whether probabilities hold what they say.
    MachineDisplay : Where the classes lie.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> import mercer as mc
    >>> plt.switch_backend("Agg")
    >>> display = mc.ConfusionDisplay.from_predictions(["a", "a", "b", "b"], ["a", "b", "b", "b"])
    >>> display.counts.tolist(), display.pairs()
    ([[1, 1], [0, 2]], [('a', 'b', 1, 0.5)])
    >>> plt.close(display.figure_)
    """

    counts: Array
    classes: Array
    title: str = ""
    figure_: Figure = field(init=False, repr=False)
    ax_: matplotlib.axes.Axes = field(init=False, repr=False)
    image_: AxesImage | None = field(init=False, repr=False)
    bars_: BarContainer | None = field(init=False, repr=False)

    @property
    def shares(self) -> Array:
        """Of each class, what was taken for which; of a class without samples, 0."""
        totals = self.counts.sum(axis=1, keepdims=True)
        return np.divide(self.counts, totals, out=np.zeros(self.counts.shape), where=totals > 0)

    def pairs(self, most: int | None = None) -> list[tuple[Any, Any, int, float]]:
        """What is confused: class, what it is taken for, how often, its share of the class; the most frequent first.

        Parameters
        ----------
        most : int, optional
            How many at most; None: all.

        Returns
        -------
        list of tuple
        """
        wrong = np.where(np.eye(len(self.classes), dtype=bool), 0, self.counts)
        shares = self.shares
        found = sorted(map(tuple, np.argwhere(wrong)), key=lambda at: (-wrong[at], -shares[at], at))
        return [(self._class(i), self._class(j), int(wrong[i, j]), float(shares[i, j])) for i, j in found[:most]]

    def _class(self, i: int) -> Any:
        return self.classes[i].item() if isinstance(self.classes[i], np.generic) else self.classes[i]

    @classmethod
    def from_estimator(
        cls, estimator: Estimator, X: Samples, y: Targets, *, ax: Axes = None, **kwargs: Any
    ) -> ConfusionDisplay:
        """What a fitted classifier predicts for samples of known classes.

        Parameters
        ----------
        estimator : fitted classifier
            With ``predict``.
        X : collection of samples
            What the estimator takes.
        y : array of shape (n,)
            Their classes.
        ax : matplotlib axes, optional
            Where to draw; None: a new figure.
        **kwargs
            For ``imshow``, or for ``barh`` of pairs.

        Returns
        -------
        ConfusionDisplay
        """
        pyplot()
        if not hasattr(estimator, "predict") or not hasattr(estimator, "classes_"):
            raise ValueError(
                coded(
                    f"{called(estimator)} has no classes_ and predict, as a fitted classifier has; numbers are shown by"
                    " RegressionDisplay and ResidualDisplay.",
                    "M311",
                )
            )
        truth = one_each(y, size(X), "y")
        return cls._of(truth, estimator.predict(X), estimator.classes_, called(estimator), ax, kwargs)

    @classmethod
    def from_predictions(
        cls, y: Targets, predicted: Targets, *, classes: Sequence[Any] | Array = (), ax: Axes = None, **kwargs: Any
    ) -> ConfusionDisplay:
        """Any predictions against the classes that were right.

        Parameters
        ----------
        y, predicted : array of shape (n,)
            Classes.
        classes : sequence, default=()
            The order of the classes; those that it lacks follow in theirs.
        ax : matplotlib axes, optional
            Where to draw; None: a new figure.
        **kwargs
            For ``imshow``, or for ``barh`` of pairs.

        Returns
        -------
        ConfusionDisplay
        """
        pyplot()
        return cls._of(one_each(y, len(predicted), "y"), predicted, classes, "", ax, kwargs)

    @classmethod
    def _of(
        cls, y: Array, predicted: Targets, classes: Sequence[Any] | Array, title: str, ax: Axes, kwargs: dict[str, Any]
    ) -> ConfusionDisplay:
        found = one_each(predicted, len(y), "predicted")
        if not len(y):
            raise ValueError(coded("There are no rows to show.", "M116"))
        if (y.dtype.kind in "UO") != (found.dtype.kind in "UO"):
            raise ValueError(coded(f"y has classes such as {y[0]!r}, predictions are such as {found[0]!r}.", "M112"))
        given = one_each(classes, len(classes), "classes") if len(classes) else found[:0]
        order = np.concatenate([given, np.setdiff1d(np.concatenate([y, found]), given)])
        place = {value: i for i, value in enumerate(order.tolist())}
        at = [place[value] for value in y.tolist()], [place[value] for value in found.tolist()]
        counts = np.zeros((len(order), len(order)), np.int64)
        np.add.at(counts, at, 1)
        return cls(counts, order, title).plot(ax, **kwargs)

    def plot(self, ax: Axes = None, **kwargs: Any) -> ConfusionDisplay:
        """Draw on ``ax``, or on a new figure; further arguments go to ``imshow`` or ``barh``. Returns the display
        itself.
        """
        k, many = len(self.classes), len(self.classes) > MOST_CLASSES
        side = float(np.clip(0.5 * k, 3.4, 8.0))
        (ax,) = panels(ax, 1, 1, (7.0, 6.4) if many else (side + 2.0, side + 0.6))
        self.ax_, self.figure_, self.image_, self.bars_ = ax, ax.figure, None, None
        right, n = int(np.trace(self.counts)), int(self.counts.sum())
        title = f"{self.title + ': ' if self.title else ''}{right} of {n} right ({percent(right / n)})"
        if many:
            self._draw_pairs(ax, title, kwargs)
        else:
            self._draw_cells(ax, title, kwargs)
        return self

    def _draw_cells(self, ax: Axes, title: str, kwargs: dict[str, Any]) -> None:
        k, shares = len(self.classes), self.shares
        style = {"cmap": "Blues", "vmin": 0.0, "vmax": 1.0}
        self.image_ = ax.imshow(shares, **(style | kwargs))
        bar = self.figure_.colorbar(self.image_, ax=ax, label="share of the class", shrink=0.85)
        bar.outline.set_visible(False)
        names = [word(value) for value in self.classes]
        upright = sum(map(len, names)) <= max(4 * k, 24)
        name_ticks(ax.xaxis, names, 0 if upright else 90)
        name_ticks(ax.yaxis, names)
        for i, j in np.ndindex(k, k):
            if self.counts[i, j]:
                text = f"{self.counts[i, j]}" + (f"\n{percent(round(float(shares[i, j]), 3))}" if k <= _SHARES else "")
                light = "white" if shares[i, j] > 0.55 else INK
                ax.text(j, i, text, ha="center", va="center", fontsize="x-small" if k > 4 else "small", color=light)
        framed(ax, ("predicted class", "class"), title)

    def _draw_pairs(self, ax: Axes, title: str, kwargs: dict[str, Any]) -> None:
        pairs = self.pairs(_PAIRS)[::-1]
        self.bars_ = ax.barh(range(len(pairs)), [count for *_, count, _ in pairs], **({"color": BLUE} | kwargs))
        ax.bar_label(self.bars_, [percent(round(share, 3)) for *_, share in pairs], padding=3, fontsize="small")
        name_ticks(ax.yaxis, [f"{word(a)} → {word(b)}" for a, b, *_ in pairs])
        ax.margins(x=0.12)
        title += f"\n{len(self.classes)} classes, the {len(pairs)} pairs that are confused most"
        framed(ax, ("samples, and their share of the class", "class → predicted"), title)
