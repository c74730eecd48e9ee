"""The picture of a Gram matrix and its spectrum."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from mercer.annotations import Axes, Samples, Targets
from mercer.arrays import Array
from mercer.compute import Compute
from mercer.estimators.spectral_clustering import SpectralClustering
from mercer.gram import Gram, as_gram
from mercer.kernels.base import Kernel
from mercer.native.lapack import eigh_largest
from mercer.native.linalg import centred, eigenvalues, signed
from mercer.plots.drawing import BLUE, GREY, MOST_CLASSES, VERMILION, bare, plain, pyplot, subplots
from mercer.plots.matrices import rounding, rows_of, symmetric
from mercer.plots.samples import one_each, some
from mercer.troubles import coded

if TYPE_CHECKING:
    import matplotlib.axes
    from matplotlib.figure import Figure
    from matplotlib.image import AxesImage

_SPECTRUM = 3000  # rows up to which all eigenvalues are computed: some seconds


@dataclass(eq=False)
class GramDisplay:
    """A Gram matrix as a heat map, and its spectrum beside it on a logarithmic scale.

    A matrix whose blocks agree with the labels is one to learn from; all values alike, or a diagonal and nothing beside
    it, are a width that is too large or too small. Made by ``from_kernel`` or ``from_matrix``; ``plot`` draws it again,
    elsewhere.

    Parameters
    ----------
    K : ndarray of shape (m, m)
        What is shown, in the order shown.
    rows : ndarray of int of shape (m,)
        Which rows of the whole matrix these are.
    eigenvalues : ndarray
        Falling; of the whole matrix, or of ``K`` where that is too large.
    n_samples : int
        Rows of the whole matrix.
    labels : ndarray of shape (m,), optional
        One for each row shown; equal ones stand together.
    floor : float, default=0.0
        |λ| up to here is rounding: neither positive nor negative.
    name, order : str
        What the matrix is called, and how its rows are sorted, in words.

    Attributes
    ----------
    figure_, ax_ : matplotlib's figure, and the axes of the matrix
        To be changed at will.
    axes_ : array of axes
        Those of the matrix and of the spectrum.
    image_ : matplotlib image
        The heat map.

    See Also
    --------
    check_gram : Whether a matrix is that of a kernel, in words.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> import numpy as np
    >>> import mercer as mc
    >>> plt.switch_backend("Agg")
    >>> labels = np.repeat(["low", "high"], 10)
    >>> X = np.r_[np.linspace(0, 1, 10), np.linspace(5, 6, 10)][:, None]
    >>> display = mc.GramDisplay.from_kernel(mc.Gaussian(1.0), X, labels)
    >>> round(display.effective_rank, 1), len(display.axes_)
    (2.7, 2)
    >>> plt.close(display.figure_)
    """

    K: Array
    rows: Array
    eigenvalues: Array
    n_samples: int
    labels: Array | None = None
    floor: float = 0.0
    name: str = "K"
    order: str = "as given"
    figure_: Figure = field(init=False, repr=False)
    ax_: matplotlib.axes.Axes = field(init=False, repr=False)
    axes_: Array = field(init=False, repr=False)
    image_: AxesImage = field(init=False, repr=False)

    @property
    def smallest_eigenvalue(self) -> float:
        """The smallest of ``eigenvalues``; negative beyond ``floor``, it proves the matrix indefinite."""
        return float(self.eigenvalues[-1])

    @property
    def effective_rank(self) -> float:
        """tr(K)²/‖K‖² = (Σλ)²/Σλ²: n for the identity, 1 for a constant matrix."""
        square = float(np.sum(self.eigenvalues**2))
        return float(np.sum(self.eigenvalues)) ** 2 / square if square > 0 else 0.0

    @classmethod
    def from_kernel(
        cls,
        kernel: Kernel,
        X: Samples,
        labels: Targets = None,
        *,
        n_clusters: int | None = None,
        max_rows: int = 1000,
        compute: Compute | None = None,
        ax: Axes = None,
        **kwargs: Any,
    ) -> GramDisplay:
        """The matrix k(X, X). Of more than 3000 rows only those shown are computed.

        Parameters
        ----------
        kernel : Kernel
            The kernel.
        X : collection of samples
            What it takes.
        labels, n_clusters, max_rows, ax, **kwargs
            As for ``from_matrix``.
        compute : Compute, optional
            Device, precision, memory and threads.

        Returns
        -------
        GramDisplay
        """
        gram = kernel.gram(X, compute=compute)
        name = textwrap.shorten(str(kernel), 60, placeholder=" …")
        return cls.from_matrix(gram, labels, n_clusters=n_clusters, max_rows=max_rows, name=name, ax=ax, **kwargs)

    @classmethod
    def from_matrix(
        cls,
        K: ArrayLike | Gram,
        labels: Targets = None,
        *,
        n_clusters: int | None = None,
        max_rows: int = 1000,
        name: str = "K",
        ax: Axes = None,
        **kwargs: Any,
    ) -> GramDisplay:
        """An array or a Gram, its rows sorted by label; without labels along the first axis of kernel PCA, or by
        spectral cluster.

        Parameters
        ----------
        K : array or Gram of shape (n, n)
            Symmetric and finite.
        labels : array of shape (n,), optional
            Rows of the same label stand together.
        n_clusters : int, optional
            Sort by so many spectral clusters; not together with ``labels``.
        max_rows : int, default=1000
            Of more rows a random sample of so many is shown, always the same.
        name : str, default="K"
            For the title.
        ax : one or two matplotlib axes, optional
            Where to draw the matrix and, on a second one, the spectrum; None: a new figure with both.
        **kwargs
            For ``imshow``.

        Returns
        -------
        GramDisplay

        Notes
        -----
        Past 3000 rows the eigenvalues are those of the rows shown: they lie between those of the whole matrix. So a
        negative one proves the matrix indefinite; that there is none proves nothing.
        """
        pyplot()
        gram = as_gram(K)
        n = rows_of(gram)
        if max_rows < 1:
            raise ValueError(coded(f"max_rows={max_rows}: show at least one row.", "M205"))
        if labels is not None and n_clusters is not None:
            raise ValueError(
                coded(
                    "Rows are sorted by the labels given or by clusters to be found: give labels or n_clusters, not"
                    " both.",
                    "M217",
                )
            )
        groups = None if labels is None else one_each(labels, n, "labels")

        rows = some(n, max_rows)
        if n <= _SPECTRUM:
            whole = symmetric(gram)
            shown = whole if len(rows) == n else whole[np.ix_(rows, rows)]
        else:
            whole = shown = symmetric(gram.sub(rows, rows))
        values = eigenvalues(whole)[::-1]
        floor = rounding(values, gram)

        if groups is not None:
            groups, order = groups[rows], "by label"
            sequence = np.argsort(groups, kind="stable")
        elif n_clusters is not None:
            groups, order = _clusters(shown, n_clusters), "by spectral cluster"
            sequence = np.lexsort((_first_component(shown), groups))
        else:
            order, sequence = "along the first axis of kernel PCA", np.argsort(_first_component(shown), kind="stable")
        display = cls(
            K=shown[np.ix_(sequence, sequence)],
            rows=rows[sequence],
            eigenvalues=values,
            n_samples=n,
            labels=None if groups is None else groups[sequence],
            floor=floor,
            name=name,
            order=order,
        )
        return display.plot(ax, **kwargs)

    def plot(self, ax: Axes = None, **kwargs: Any) -> GramDisplay:
        """Draw on a pair of axes, matrix and spectrum; on a single one only the matrix. Further arguments go to
        ``imshow``. Returns the display itself.
        """
        axes = (
            subplots(1, 2, (9.0, 4.2), width_ratios=(1.2, 1))
            if ax is None
            else list(np.ravel(np.asarray(ax, dtype=object)))
        )
        if len(axes) > 2:
            raise ValueError(
                coded(
                    f"A matrix and its spectrum are drawn on two axes, or the matrix on one; got {len(axes)}.", "M205"
                )
            )
        self.axes_ = np.asarray(axes, dtype=object)
        self.ax_, self.figure_ = axes[0], axes[0].figure
        self._draw_matrix(axes[0], kwargs)
        if len(axes) == 2:
            self._draw_spectrum(axes[1])
        return self

    def _draw_matrix(self, ax: Axes, kwargs: dict[str, Any]) -> None:
        low, high = float(self.K.min()), float(self.K.max())
        largest = max(-low, high)
        colours = (
            {"cmap": "RdBu_r", "vmin": -largest, "vmax": largest}
            if low < 0
            else {"cmap": "viridis", "vmin": 0.0, "vmax": high}
        )
        self.image_ = ax.imshow(self.K, **({"interpolation": "nearest"} | colours | kwargs))
        self.figure_.colorbar(self.image_, ax=ax, label="kernel value", shrink=0.85).outline.set_visible(False)
        ax.set(xticks=[], yticks=[])
        if self.labels is not None:
            starts = np.flatnonzero(np.r_[True, self.labels[1:] != self.labels[:-1]])
            ends = np.r_[starts[1:], len(self.labels)]
            if len(starts) <= MOST_CLASSES:
                ax.set_yticks((starts + ends - 1) / 2, [str(v) for v in self.labels[starts]])
                ax.tick_params(axis="y", length=0)
                for edge in starts[1:] - 0.5:
                    ax.axhline(edge, color=GREY, lw=0.6)
                    ax.axvline(edge, color=GREY, lw=0.6)
        m = len(self.K)
        count = f"{m} rows" if m == self.n_samples else f"random sample of {m} of {self.n_samples} rows"
        ax.set_xlabel(f"{count}\n{self.order}")
        part = "" if len(self.eigenvalues) == self.n_samples else " (of the sample)"
        numbers = (
            f"$\\lambda_{{\\min}}$ = {self.smallest_eigenvalue:.3g}, effective rank = {self.effective_rank:.3g}{part}"
        )
        ax.set_title(f"{plain(self.name)}\n{numbers}", fontsize="medium")

    def _draw_spectrum(self, ax: Axes) -> None:
        index, values = np.arange(1, len(self.eigenvalues) + 1), self.eigenvalues
        positive, negative = values > self.floor, values < -self.floor
        dots = {"ls": "none", "ms": 3.5, "mew": 1.0}
        if positive.any():
            ax.plot(index[positive], values[positive], marker="o", color=BLUE, label=f"λ > 0: {positive.sum()}", **dots)
        if negative.any():
            ax.plot(
                index[negative],
                -values[negative],
                marker="x",
                color=VERMILION,
                label=f"λ < 0, drawn at |λ|: {negative.sum()}",
                **dots,
            )
        if rest := int(len(values) - positive.sum() - negative.sum()):
            ax.plot([], [], label=f"0 up to rounding: {rest}", ls="none")
        if positive.any() or negative.any():
            ax.set_yscale("log")
        ax.set_xlim(0, len(values) + 1)
        part = "" if len(values) == self.n_samples else f" ({len(values)} sampled rows)"
        ax.set(xlabel=f"index{part}", ylabel="eigenvalue")
        ax.legend(frameon=False, loc="upper right", fontsize="small")
        bare(ax)


def _first_component(K: Array) -> Array:
    """The leading eigenvector of HKH: where the rows lie along the first axis of kernel PCA."""
    return signed(eigh_largest(centred(K.copy()), 1)[1])[:, 0]


def _clusters(K: Array, n_clusters: int) -> Array:
    if not 1 <= n_clusters <= len(K):
        raise ValueError(coded(f"n_clusters={n_clusters}: there are {len(K)} rows to divide.", "M205"))
    cut = "normalized" if float(K.min()) >= 0 else "ratio"
    return np.asarray(SpectralClustering(n_clusters, "precomputed", cut=cut, random_state=0).fit(K).labels_)
