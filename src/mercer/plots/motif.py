"""The logo of a motif."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from mercer.annotations import Axes, Estimator, Samples
from mercer.arrays import Array
from mercer.explanations.motif import Motif, motif
from mercer.plots.drawing import canvas, colour_of, framed, glyph

if TYPE_CHECKING:
    import matplotlib.axes
    from matplotlib.figure import Figure

_LEAST = 0.005  # of the highest place: a letter that would not be seen
_WIDE = 0.92  # of a place, that its letters fill


@dataclass(eq=False)
class MotifDisplay:
    """A logo: at each place of a motif its letters, one above the other, each as high as its share of the information.

    Made by ``from_estimator``, or of a ``Motif``; ``plot`` draws it again, elsewhere.

    Parameters
    ----------
    motif : Motif
        What is shown.

    Attributes
    ----------
    figure_, ax_ : matplotlib's figure and axes
        To be changed at will.
    heights : ndarray of shape (width, n_letters)
        The height of each letter, in bits.

    See Also
    --------
    motif : Where motifs come from.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> import numpy as np
    >>> import mercer as mc
    >>> plt.switch_backend("Agg")
    >>> f = mc.RKHSFunction(mc.Spectrum(3), ["TTGATTACATT"], np.array([1.0]))
    >>> display = mc.MotifDisplay.from_estimator(f, ["CCGATTACACC", "GGGATTACAGG"], 7)
    >>> display.motif.consensus, display.heights.shape
    ('GATTACA', (7, 4))
    >>> plt.close(display.figure_)
    """

    motif: Motif
    figure_: Figure = field(init=False, repr=False)
    ax_: matplotlib.axes.Axes = field(init=False, repr=False)

    @property
    def heights(self) -> Array:
        """p times the information of its place: together they are as high as it."""
        return self.motif.matrix * self.motif.information[:, None]

    @classmethod
    def from_estimator(
        cls, estimator: Estimator, X: Samples, width: int, *, ax: Axes = None, **kwargs: Any
    ) -> MotifDisplay:
        """The logo of what a machine looks for in sequences.

        Parameters
        ----------
        estimator : fitted estimator or RKHSFunction
            A machine for sequences.
        X : collection of sequences
            Those to look at.
        width : int
            The length of the motif.
        ax : matplotlib axes, optional
            Where to draw; None: a new figure.
        **kwargs
            For ``mercer.motif``.

        Returns
        -------
        MotifDisplay
        """
        return cls(motif(estimator, X, width, **kwargs)).plot(ax)

    def plot(self, ax: Axes = None) -> MotifDisplay:
        """Draw on ``ax``, or on a new figure. Returns the display itself."""
        self.ax_, self.figure_ = canvas(ax)
        heights = self.heights
        for place, column in enumerate(heights):
            bottom = 0.0
            for k in np.argsort(column):  # the largest on top
                if column[k] > _LEAST * max(float(heights.sum(axis=1).max()), 1e-300):
                    box = (place + 1 - _WIDE / 2, bottom, _WIDE, float(column[k]))
                    glyph(self.ax_, str(self.motif.letters[k]), box, colour_of(int(k)))
                    bottom += float(column[k])
        self.ax_.set_xlim(0.4, len(heights) + 0.6)
        self.ax_.set_ylim(0, 1.05 * max(float(heights.sum(axis=1).max()), 1e-9))
        self.ax_.set_xticks(range(1, len(heights) + 1))
        used = int(np.sum(self.motif.starts >= 0))
        framed(self.ax_, ("place", "information (bits)"), f"motif of {used} of {len(self.motif.starts)} sequences")
        return self
