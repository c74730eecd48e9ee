"""The picture of the spectrum of a kernel matrix: how many directions the data has for it."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from mercer.annotations import Axes, Samples
from mercer.arrays import Array
from mercer.compute import Compute
from mercer.geometry import dimension_of_spectrum
from mercer.gram import Gram, as_gram
from mercer.kernels.base import Kernel
from mercer.native.linalg import eigenvalues
from mercer.plots.drawing import BLUE, VERMILION, bare, colour, framed, panels, pyplot
from mercer.plots.matrices import rounding, rows_of, symmetric
from mercer.plots.samples import percent, some
from mercer.troubles import coded

if TYPE_CHECKING:
    import matplotlib.axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D


@dataclass(eq=False)
class SpectrumDisplay:
    """The eigenvalues of a kernel matrix on a logarithmic scale, their cumulated share, and how many directions a ridge
    of α leaves.

    A spectrum that falls fast is one of few directions: approximations by as many features or centers lose nothing. A
    flat one says that samples are alike to none but themselves. Made by ``from_kernel`` or ``from_gram``; ``plot``
    draws it again, elsewhere.

    Parameters
    ----------
    eigenvalues : ndarray of shape (m,)
        Falling.
    alphas : sequence of float, default=()
        Ridges, each drawn as a line at its height.
    n_samples : int, optional
        Rows of the whole matrix; None: as many as eigenvalues. Where it is larger, the eigenvalues are those of a
        random part times n/m, which estimate the largest of the whole.
    floor : float, default=0.0
        |λ| up to here is rounding, and not drawn.
    name : str, default="K"
        What the matrix is called.

    Attributes
    ----------
    figure_, ax_ : matplotlib's figure, and the axes of the eigenvalues
        To be changed at will.
    axes_ : list of axes
        Those of the eigenvalues and of their cumulated share.
    line_, share_ : matplotlib artists
        The eigenvalues, and their cumulated share; None where there is no second axes.

    See Also
    --------
    GramDisplay : The matrix itself.
    effective_dimension : Σ λ_i/(λ_i + α), the number in the legend.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> import numpy as np
    >>> import mercer as mc
    >>> plt.switch_backend("Agg")
    >>> X = np.random.default_rng(0).standard_normal((100, 2))
    >>> display = mc.SpectrumDisplay.from_kernel(mc.Gaussian(0.1), X, alphas=[0.1, 10.0])
    >>> bool(np.isclose(display.dimensions[0], mc.effective_dimension(mc.Gaussian(0.1)(X), 0.1)))
    True
    >>> display.rank(0.99)  # directions that hold 99 % of the trace
    6
    >>> plt.close(display.figure_)
    """

    eigenvalues: Array
    alphas: Sequence[float] = ()
    n_samples: int | None = None
    floor: float = 0.0
    name: str = "K"
    figure_: Figure = field(init=False, repr=False)
    ax_: matplotlib.axes.Axes = field(init=False, repr=False)
    axes_: list[matplotlib.axes.Axes] = field(init=False, repr=False)
    line_: Line2D = field(init=False, repr=False)
    share_: Line2D | None = field(init=False, repr=False)

    @property
    def shares(self) -> Array:
        """What the first r directions hold of the trace, for each r; negative eigenvalues count as 0."""
        values = np.maximum(self.eigenvalues, 0.0)
        return np.cumsum(values) / max(float(values.sum()), 1e-300)

    @property
    def dimensions(self) -> list[float]:
        """The effective dimension for each of ``alphas``."""
        return [dimension_of_spectrum(self.eigenvalues, alpha) for alpha in self.alphas]

    def rank(self, share: float) -> int:
        """How many directions hold at least this share of the trace.

        Parameters
        ----------
        share : float
            Between 0 and 1.

        Returns
        -------
        int
        """
        return min(int(np.searchsorted(self.shares, share * (1 - 1e-12))) + 1, len(self.eigenvalues))

    @classmethod
    def from_kernel(
        cls,
        kernel: Kernel,
        X: Samples,
        *,
        alphas: float | Sequence[float] = (),
        max_rows: int = 2000,
        compute: Compute | None = None,
        ax: Axes = None,
        **kwargs: Any,
    ) -> SpectrumDisplay:
        """The spectrum of k(X, X).

        Parameters
        ----------
        kernel : Kernel
            The kernel.
        X : collection of samples
            What it takes.
        alphas, max_rows, ax, **kwargs
            As for ``from_gram``.
        compute : Compute, optional
            Device, precision, memory and threads.

        Returns
        -------
        SpectrumDisplay
        """
        name = textwrap.shorten(str(kernel), 60, placeholder=" …")
        gram = kernel.gram(X, compute=compute)
        return cls.from_gram(gram, alphas=alphas, max_rows=max_rows, name=name, ax=ax, **kwargs)

    @classmethod
    def from_gram(
        cls,
        K: ArrayLike | Gram,
        *,
        alphas: float | Sequence[float] = (),
        max_rows: int = 2000,
        name: str = "K",
        ax: Axes = None,
        **kwargs: Any,
    ) -> SpectrumDisplay:
        """The spectrum of an array or a Gram.

        Parameters
        ----------
        K : array or Gram of shape (n, n)
            Symmetric and finite.
        alphas : float or sequence of float, default=()
            Ridges whose effective dimension is shown.
        max_rows : int, default=2000
            Of more rows the spectrum is estimated from a random part of so many, always the same.
        name : str, default="K"
            For the title.
        ax : one or two matplotlib axes, optional
            Where to draw the eigenvalues and, on a second one, their cumulated share; None: a new figure with both.
        **kwargs
            For the line of eigenvalues.

        Returns
        -------
        SpectrumDisplay
        """
        pyplot()
        gram = as_gram(K)
        n = rows_of(gram)
        ridges = [float(alpha) for alpha in np.ravel(alphas)]
        if any(not alpha > 0 for alpha in ridges):
            raise ValueError(coded(f"alphas={ridges}: ridges are positive.", "M205"))
        rows = some(n, max_rows)
        found = symmetric(gram if len(rows) == n else gram.sub(rows, rows))
        values = eigenvalues(found)[::-1] * (n / len(rows))
        return cls(values, ridges, n, rounding(values, gram), name).plot(ax, **kwargs)

    def plot(self, ax: Axes = None, **kwargs: Any) -> SpectrumDisplay:
        """Draw on a pair of axes, eigenvalues and cumulated share; on a single one only the eigenvalues. Further
        arguments go to their line. Returns the display itself.
        """
        self.axes_ = panels(ax, 1, 2, (9.0, 3.8))
        ax = self.ax_ = self.axes_[0]
        self.figure_ = ax.figure
        m, n = len(self.eigenvalues), self.n_samples or len(self.eigenvalues)
        index, above, below = (np.arange(1, m + 1), self.eigenvalues > self.floor, self.eigenvalues < -self.floor)
        dots = {"marker": "o", "ms": 3.0, "lw": 1.0} if m <= 200 else {"marker": None, "lw": 1.8}
        (self.line_,) = ax.plot(
            index[above], self.eigenvalues[above], **({"color": BLUE, "label": "λ"} | dots | kwargs)
        )
        if below.any():
            label = f"λ < 0, drawn at |λ|: {below.sum()}"
            ax.plot(index[below], -self.eigenvalues[below], ls="none", marker="x", ms=3.5, color=VERMILION, label=label)
        if above.any() or below.any():
            ax.set_yscale("log")
        for k, (alpha, dimension) in enumerate(zip(self.alphas, self.dimensions, strict=True)):
            ax.axhline(alpha, color=colour(k + 2), lw=1.0, ls="--", label=f"α = {alpha:g}: dimension {dimension:.3g}")
        ax.legend(frameon=False, fontsize="small")
        part = "" if m == n else f", from {m} of {n} rows"
        rest = int(m - above.sum() - below.sum())
        zeros = f", {rest} are 0 up to rounding" if rest else ""
        framed(ax, ("index", "eigenvalue λ"), f"spectrum of {self.name}{part}{zeros}")
        self.share_ = None
        if len(self.axes_) == 2:
            self._draw_shares(self.axes_[1], index)
        return self

    def _draw_shares(self, ax: Axes, index: Array) -> None:
        (self.share_,) = ax.plot(index, self.shares, color=BLUE, lw=1.8)
        for share, mark in ((0.9, "o"), (0.99, "s")):
            rank = self.rank(share)
            label = f"{percent(share)} in {rank}"
            ax.plot(rank, self.shares[rank - 1], ls="none", marker=mark, ms=6, color=VERMILION, label=label)
        ax.legend(frameon=False, fontsize="small", loc="lower right")
        if len(index) > 10:
            ax.set_xscale("log")
        ax.set(xlabel="directions", ylabel="share of the trace", ylim=(0, 1.05))
        ax.set_title("cumulated", fontsize="medium")
        bare(ax)
