"""Pictures of matrices, embeddings, clusters, novelty and lagged correlation.

A display holds computed data and draws it: ``SomeDisplay.from_…(…)`` computes and draws, ``display.plot(ax=…)`` draws
again, elsewhere. After it ``figure_`` and ``ax_`` are matplotlib's own, to be changed at will. matplotlib is imported
when something is drawn.

Colours are those of Okabe and Ito, which all kinds of sight tell apart; classes differ by their marker, too.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from mercer import arrays
from mercer.arrays import Array
from mercer.compute import Compute
from mercer.data import Vectors, as_frame, size
from mercer.estimators.spectral_clustering import SpectralClustering
from mercer.gram import Gram, as_gram
from mercer.gram.validity import check_symmetric
from mercer.kernels.base import Kernel
from mercer.native.lapack import eigh_largest
from mercer.native.linalg import centred, eigenvalues, signed

__all__ = ["ClusterDisplay", "CorrelogramDisplay", "EmbeddingDisplay", "GramDisplay", "NoveltyDisplay"]

_BLUE, _VERMILION, _GREY, _INK = "#0072B2", "#D55E00", "#9A9A9A", "#222222"
_COLOURS = (_BLUE, _VERMILION, "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
_MARKERS = ("o", "s", "^", "D", "v", "P", "X")
_CLASSES = 20  # more distinct numbers than these are a scale, not classes; more groups are not named at a matrix
_SPECTRUM = 3000  # rows up to which all eigenvalues are computed: some seconds


@dataclass(eq=False)
class GramDisplay:
    """A Gram matrix as a heat map, and its spectrum beside it on a logarithmic scale.

    K, rows
        What is shown, in the order shown, and which rows of the whole matrix these are.
    eigenvalues
        Falling; of the whole matrix, or of ``K`` where that is too large.
    n_samples
        Rows of the whole matrix.
    labels
        One for each row shown; equal ones stand together.
    floor
        |λ| up to here is rounding: neither positive nor negative.
    """

    K: Array
    rows: Array
    eigenvalues: Array
    n_samples: int
    labels: Array | None = None
    floor: float = 0.0
    name: str = "K"
    order: str = "as given"
    figure_: Any = field(init=False, repr=False)
    ax_: Any = field(init=False, repr=False)
    axes_: Any = field(init=False, repr=False)
    image_: Any = field(init=False, repr=False)

    @property
    def smallest_eigenvalue(self) -> float:
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
        X: Any,
        labels: Any = None,
        *,
        n_clusters: int | None = None,
        max_rows: int = 1000,
        compute: Compute | None = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> GramDisplay:
        """The matrix k(X, X); see ``from_matrix``. Of many rows only those shown are computed."""
        gram = kernel.gram(X, compute=compute)
        name = textwrap.shorten(str(kernel), 60, placeholder=" …")
        return cls.from_matrix(gram, labels, n_clusters=n_clusters, max_rows=max_rows, name=name, ax=ax, **kwargs)

    @classmethod
    def from_matrix(
        cls,
        K: Any,
        labels: Any = None,
        *,
        n_clusters: int | None = None,
        max_rows: int = 1000,
        name: str = "K",
        ax: Any = None,
        **kwargs: Any,
    ) -> GramDisplay:
        """An array or a Gram, its rows sorted by label; without labels along the first axis of kernel PCA, or by
        spectral cluster.

        Of more than ``max_rows`` rows a random sample is shown, always the same. Past 3000 rows the eigenvalues are
        those of the sample: they lie between those of the whole matrix, so that a negative one proves it indefinite,
        but none proves nothing.
        """
        _pyplot()
        gram = as_gram(K)
        n = gram.shape[0]
        if gram.shape[0] != gram.shape[1] or n == 0:
            raise ValueError(f"A Gram matrix of the data with itself is square, got {gram.shape[0]} × {gram.shape[1]}.")
        if max_rows < 1:
            raise ValueError(f"max_rows={max_rows}: show at least one row.")
        if labels is not None and n_clusters is not None:
            raise ValueError(
                "Rows are sorted by the labels given or by clusters to be found: give labels or n_clusters, not both."
            )
        groups = None if labels is None else _one_each(labels, n, "labels")

        rows = np.arange(n) if n <= max_rows else np.sort(np.random.default_rng(0).choice(n, max_rows, replace=False))
        if n <= _SPECTRUM:
            whole = _symmetric(gram)
            shown = whole if len(rows) == n else whole[np.ix_(rows, rows)]
        else:
            whole = shown = _symmetric(gram.sub(rows, rows))
        values = eigenvalues(whole)[::-1]
        floor = len(values) * float(np.finfo(gram.dtype).eps) * float(np.abs(values).max())

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

    def plot(self, ax: Any = None, **kwargs: Any) -> GramDisplay:
        """Draw on a pair of axes, matrix and spectrum; on a single one only the matrix. Further arguments go to
        ``imshow``.
        """
        axes = (
            _subplots(1, 2, (9.0, 4.2), width_ratios=(1.2, 1))
            if ax is None
            else list(np.ravel(np.asarray(ax, dtype=object)))
        )
        if len(axes) > 2:
            raise ValueError(f"A matrix and its spectrum are drawn on two axes, or the matrix on one; got {len(axes)}.")
        self.axes_ = np.asarray(axes, dtype=object)
        self.ax_, self.figure_ = axes[0], axes[0].figure
        self._draw_matrix(axes[0], kwargs)
        if len(axes) == 2:
            self._draw_spectrum(axes[1])
        return self

    def _draw_matrix(self, ax: Any, kwargs: dict[str, Any]) -> None:
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
            if len(starts) <= _CLASSES:
                ax.set_yticks((starts + ends - 1) / 2, [str(v) for v in self.labels[starts]])
                ax.tick_params(axis="y", length=0)
                for edge in starts[1:] - 0.5:
                    ax.axhline(edge, color=_GREY, lw=0.6)
                    ax.axvline(edge, color=_GREY, lw=0.6)
        m = len(self.K)
        count = f"{m} rows" if m == self.n_samples else f"random sample of {m} of {self.n_samples} rows"
        ax.set_xlabel(f"{count}\n{self.order}")
        part = "" if len(self.eigenvalues) == self.n_samples else " (of the sample)"
        numbers = (
            f"$\\lambda_{{\\min}}$ = {self.smallest_eigenvalue:.3g}, effective rank = {self.effective_rank:.3g}{part}"
        )
        ax.set_title(f"{_plain(self.name)}\n{numbers}", fontsize="medium")

    def _draw_spectrum(self, ax: Any) -> None:
        index, values = np.arange(1, len(self.eigenvalues) + 1), self.eigenvalues
        positive, negative = values > self.floor, values < -self.floor
        dots = {"ls": "none", "ms": 3.5, "mew": 1.0}
        if positive.any():
            ax.plot(
                index[positive], values[positive], marker="o", color=_BLUE, label=f"λ > 0: {positive.sum()}", **dots
            )
        if negative.any():
            ax.plot(
                index[negative],
                -values[negative],
                marker="x",
                color=_VERMILION,
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
        _bare(ax)


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
        _pyplot()
        if not hasattr(estimator, "transform"):
            raise ValueError(f"{_called(estimator)} has no transform(X); an embedding needs one.")
        chosen = tuple(components)
        Z = _numbers(estimator.transform(X))
        width = Z.shape[1]
        if len(chosen) != 2 or any(not 0 <= c < width for c in chosen):
            raise ValueError(f"components={chosen}: choose two of the {width} components, 0 to {width - 1}.")
        shares = np.ravel(getattr(estimator, "explained_variance_ratio_", ()))
        first, second = (
            f"component {c + 1}" + (f" ({_percent(shares[c])} of the variance)" if c < len(shares) else "")
            for c in chosen
        )
        return cls(Z[:, list(chosen)], y, (first, second), _called(estimator)).plot(ax, **kwargs)

    def plot(self, ax: Any = None, **kwargs: Any) -> EmbeddingDisplay:
        """Draw; further arguments go to ``scatter``."""
        y = None if self.y is None else _one_each(self.y, len(self.points), "y")
        self.ax_, self.figure_ = _axes(ax)
        self.scatters_ = _scatter(self.ax_, self.points, y, getattr(self.y, "name", None), kwargs)
        _framed(self.ax_, self.names, self.title)
        return self


@dataclass(eq=False)
class CorrelogramDisplay:
    """λ(τ) = corr(f_τ(x(t − τ)), g(y(t))) over the lag τ, with its bootstrap band (lower, upper) and the lag of the
    largest |λ|.

    At τ > 0 the past of x meets the present of y: x leads.
    """

    lags: Array
    correlogram: Array
    band: Array | None = None
    best_lag: float | None = None
    figure_: Any = field(init=False, repr=False)
    ax_: Any = field(init=False, repr=False)
    line_: Any = field(init=False, repr=False)
    band_: Any = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self.lags, self.correlogram = np.asarray(self.lags), np.asarray(self.correlogram)
        if self.lags.ndim != 1 or self.correlogram.shape != self.lags.shape or not len(self.lags):
            raise ValueError(
                f"A correlogram has one value for each lag; got shapes {self.correlogram.shape} and {self.lags.shape}."
            )
        if self.band is not None and np.shape(self.band) != (2, len(self.lags)):
            raise ValueError(
                f"A band has a lower and an upper end for each of {len(self.lags)} lags; got shape"
                f" {np.shape(self.band)}."
            )
        if self.best_lag is None:
            self.best_lag = self.lags[np.argmax(np.abs(self.correlogram))]

    @classmethod
    def from_estimator(cls, estimator: Any, component: int = 0, *, ax: Any = None, **kwargs: Any) -> CorrelogramDisplay:
        """Of a fitted ``TemporalKernelCCA``."""
        _pyplot()
        if not hasattr(estimator, "correlogram_"):
            raise ValueError(f"{_called(estimator)} has no correlogram_: fit a TemporalKernelCCA first.")
        values, band = np.atleast_2d(estimator.correlogram_), getattr(estimator, "band_", None)
        if not 0 <= component < len(values):
            raise ValueError(f"component={component}: there are {len(values)}, counted from 0.")
        if band is not None:
            band = np.reshape(band, (2, *values.shape))[:, component]
        best = estimator.best_lag_ if component == 0 and np.ndim(estimator.best_lag_) == 0 else None
        return cls(estimator.lags_, values[component], band, best).plot(ax, **kwargs)

    def plot(self, ax: Any = None, **kwargs: Any) -> CorrelogramDisplay:
        """Draw; further arguments go to the line."""
        ax, _ = self.ax_, self.figure_ = _axes(ax)
        ax.axhline(0, color=_GREY, lw=0.8)
        self.band_ = None
        if self.band is not None:
            self.band_ = ax.fill_between(self.lags, *self.band, color=_BLUE, alpha=0.18, lw=0, label="bootstrap band")
        style = {"color": _BLUE, "marker": "o", "ms": 3.5, "lw": 1.5, "label": "canonical correlation"}
        (self.line_,) = ax.plot(self.lags, self.correlogram, **(style | kwargs))
        best = self.best_lag
        if best is not None:
            words = f"y follows x by {best:g}" if best > 0 else f"x follows y by {-best:g}" if best < 0 else "at lag 0"
            height = self.correlogram[np.argmin(np.abs(self.lags - best))]
            ax.axvline(best, color=_VERMILION, lw=0.8, ls=(0, (2, 2)))
            ax.plot(
                [best],
                [height],
                marker="o",
                ms=8,
                mfc="none",
                mec=_VERMILION,
                mew=1.5,
                ls="none",
                label=f"largest: {words}",
            )
        ax.text(0, 1.01, "← y leads", transform=ax.transAxes, ha="left", va="bottom", color=_INK)
        ax.text(1, 1.01, "x leads →", transform=ax.transAxes, ha="right", va="bottom", color=_INK)
        ax.set(xlabel="lag τ, of x(t − τ) against y(t)", ylabel="correlation λ(τ)")
        ax.xaxis.get_major_locator().set_params(integer=True)
        ax.legend(frameon=False, fontsize="small")
        _bare(ax)
        return self


@dataclass(eq=False)
class NoveltyDisplay:
    """The decision function over a plane, its boundary at 0, and the points, inliers and outliers.

    x, y, values
        The grid: values[i, j] is the decision function at (x[j], y[i]).
    points, inliers
        Where the points lie in the plane, and what the estimator says of each of them, wherever it lies outside of the
        plane.
    """

    x: Array
    y: Array
    values: Array
    points: Array
    inliers: Array
    names: tuple[str, str] = ("x₁", "x₂")
    title: str = ""
    figure_: Any = field(init=False, repr=False)
    ax_: Any = field(init=False, repr=False)
    surface_: Any = field(init=False, repr=False)
    boundary_: Any = field(init=False, repr=False)
    scatters_: list[Any] = field(init=False, repr=False)

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, *, resolution: int = 100, ax: Any = None, **kwargs: Any
    ) -> NoveltyDisplay:
        """Of a fitted one-class estimator, on two columns or on the plane of the first two principal axes through the
        mean.
        """
        _pyplot()
        if not hasattr(estimator, "decision_function") or not hasattr(estimator, "predict"):
            raise ValueError(
                f"{_called(estimator)} has no decision_function and predict, as OneClassSVM, SVDD and KernelPCANovelty"
                " have."
            )
        if getattr(estimator, "kernel", None) == "precomputed":
            raise ValueError(
                "A precomputed matrix says nothing of points between the samples; fit the estimator with a kernel to"
                " see contours."
            )
        if resolution < 2:
            raise ValueError(f"resolution={resolution}: a grid has at least 2 points a side.")
        plane = _Plane.of(X)
        points = plane.project(_numbers(X))
        x, y = (np.linspace(*_widened(column), resolution) for column in points.T)
        grid = plane.lift(np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2))
        values = np.asarray(arrays.to_numpy(estimator.decision_function(_like(grid, X))), np.float64).reshape(
            resolution, resolution
        )
        inliers = np.asarray(arrays.to_numpy(estimator.predict(X))) > 0
        where = "\non the plane of the first two principal axes through the mean" if plane.principal else ""
        title = f"{_called(estimator)}: {np.sum(~inliers)} of {len(inliers)} are outliers{where}"
        return cls(x, y, values, points, inliers, plane.names, title).plot(ax, **kwargs)

    def plot(self, ax: Any = None, **kwargs: Any) -> NoveltyDisplay:
        """Draw; further arguments go to ``scatter``."""
        _pyplot()
        from matplotlib.colors import TwoSlopeNorm

        ax, figure = self.ax_, self.figure_ = _axes(ax)
        low, high = float(self.values.min()), float(self.values.max())
        # a wider range than that of the values: pale colours, on which points are seen
        norm = TwoSlopeNorm(0.0, 1.6 * min(low, -1e-300), 1.6 * max(high, 1e-300))
        self.surface_ = ax.contourf(self.x, self.y, self.values, _levels(low, high), cmap="PuOr", norm=norm)
        bar = figure.colorbar(
            self.surface_, ax=ax, label="decision function (boundary at 0)", ticks=_ticks(low, high), format="%.2g"
        )
        bar.outline.set_visible(False)
        crossed = low < 0 < high
        self.boundary_ = (
            ax.contour(self.x, self.y, self.values, [0.0], colors=_INK, linewidths=1.5) if crossed else None
        )
        style = {"s": _dot(len(self.points)), "linewidths": 0.5, "edgecolors": "white"}
        self.scatters_ = [
            ax.scatter(
                *self.points[chosen].T,
                **(style | {"label": f"{name} ({chosen.sum()})", "color": colour, "marker": marker} | kwargs),
            )
            for name, chosen, colour, marker in (
                ("inlier", self.inliers, _BLUE, "o"),
                ("outlier", ~self.inliers, _VERMILION, "^"),
            )
        ]
        # the best place takes long to find among many points
        place = "best" if len(self.points) <= 2000 else "upper right"
        ax.legend(loc=place, fontsize="small", framealpha=0.9, edgecolor="none")
        ax.margins(0)
        _framed(ax, self.names, self.title)
        return self


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
        _pyplot()
        labels = getattr(estimator, "labels_", None)
        if labels is not None and len(labels) != size(X):
            cure = (
                "for others use ClusterDisplay.from_labels(X, estimator.predict(X))"
                if hasattr(estimator, "predict")
                else "give those samples"
            )
            raise ValueError(
                f"labels_ are of the {len(labels)} samples {_called(estimator)} was fitted to, X has {size(X)}; {cure}."
            )
        if labels is None and not hasattr(estimator, "predict"):
            raise ValueError(f"{_called(estimator)} has neither labels_ nor predict(X): fit a clustering first.")
        labels = estimator.predict(X) if labels is None else labels
        centers = getattr(estimator, "cluster_centers_", getattr(estimator, "means_", None))
        return cls._of(X, labels, centers, _called(estimator), ax, kwargs)

    @classmethod
    def from_labels(cls, X: Any, labels: Any, *, centers: Any = None, ax: Any = None, **kwargs: Any) -> ClusterDisplay:
        """Any labels of X; ``centers`` are rows like those of X."""
        return cls._of(X, labels, centers, "", ax, kwargs)

    @classmethod
    def _of(cls, X: Any, labels: Any, centers: Any, title: str, ax: Any, kwargs: dict[str, Any]) -> ClusterDisplay:
        _pyplot()
        plane, numbers = _Plane.of(X), _numbers(X)
        known = _one_each(labels, len(numbers), "labels")
        if centers is not None:
            centers = _numbers(centers)
            if centers.shape[1] != numbers.shape[1]:
                raise ValueError(f"The centres have {centers.shape[1]} columns, the data {numbers.shape[1]}.")
            centers = plane.project(centers)
        return cls(plane.project(numbers), known, centers, plane.names, title).plot(ax, **kwargs)

    def plot(self, ax: Any = None, **kwargs: Any) -> ClusterDisplay:
        """Draw; further arguments go to ``scatter``."""
        labels = _one_each(self.labels, len(self.points), "labels")
        ax, _ = self.ax_, self.figure_ = _axes(ax)
        self.scatters_ = _scatter_classes(ax, self.points, labels, kwargs)
        self.centers_ = None
        if self.centers is not None:
            self.centers_ = ax.scatter(
                *np.asarray(self.centers).T,
                s=110,
                marker="*",
                c="white",
                edgecolors=_INK,
                linewidths=1.2,
                label="centre",
            )
        _legend(ax, "cluster")
        _framed(ax, self.names, self.title)
        return self


@dataclass(frozen=True, eq=False)
class _Plane:
    """A plane in the space of the data: its two columns, or the first two principal axes through the mean."""

    origin: Array
    axes: Array  # (2, d), orthonormal
    names: tuple[str, str]
    principal: bool

    @classmethod
    def of(cls, table: Any) -> _Plane:
        X = _numbers(table)
        n, d = X.shape
        if d < 2:
            raise ValueError("The data has one column; a picture of a plane needs at least two.")
        if d == 2:
            frame = as_frame(table)
            first, second = map(str, frame.columns) if frame is not None else ("x₁", "x₂")
            return cls(np.zeros(2), np.eye(2), (first, second), principal=False)
        if n < 2:
            raise ValueError("One row has no principal axes; give at least two.")
        origin = X.mean(axis=0)
        _, values, axes = np.linalg.svd(X - origin, full_matrices=False)
        shares = values**2 / max(float(np.sum(values**2)), 1e-300)
        first, second = (f"principal axis {i + 1} ({_percent(shares[i])} of the variance)" for i in range(2))
        return cls(origin, signed(axes[:2].T).T, (first, second), principal=True)

    def project(self, X: Array) -> Array:
        return (X - self.origin) @ self.axes.T

    def lift(self, points: Array) -> Array:
        return points @ self.axes + self.origin


# -- what is shown ---------------------------------------------------------------------------------------------------


def _symmetric(gram: Gram) -> Array:
    K = arrays.to_numpy(gram.dense())
    if not np.isfinite(K).all():
        i, j = np.argwhere(~np.isfinite(K))[0]
        raise ValueError(f"The matrix has no finite value at K[{i}, {j}]: {K[i, j]}.")
    check_symmetric(K)
    return K.astype(np.float64)


def _first_component(K: Array) -> Array:
    """The leading eigenvector of HKH: where the rows lie along the first axis of kernel PCA."""
    return signed(eigh_largest(centred(K.copy()), 1)[1])[:, 0]


def _clusters(K: Array, n_clusters: int) -> Array:
    if not 1 <= n_clusters <= len(K):
        raise ValueError(f"n_clusters={n_clusters}: there are {len(K)} rows to divide.")
    cut = "normalized" if float(K.min()) >= 0 else "ratio"
    return np.asarray(SpectralClustering(n_clusters, "precomputed", cut=cut, random_state=0).fit(K).labels_)


def _numbers(X: Any) -> Array:
    """Rows of finite numbers, as a dense array of float64."""
    checked = Vectors().check(X)
    dense = checked.toarray() if hasattr(checked, "toarray") else arrays.to_numpy(checked)
    if not len(dense):
        raise ValueError("There are no rows to show.")
    return np.asarray(dense, np.float64)


def _one_each(values: Any, n: int, name: str) -> Array:
    """One value for each of n rows; what NumPy cannot sort goes by its text."""
    array = np.asarray(arrays.to_numpy(values) if arrays.is_tensor(values) else values)
    if array.shape != (n,):
        raise ValueError(f"{name} of shape {array.shape}: one value is needed for each of {n} rows.")
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        raise ValueError(f"{name}[{int(np.argmin(np.isfinite(array)))}] is not finite.")
    return array.astype(str) if array.dtype.kind == "O" else array


def _like(points: Array, X: Any) -> Any:
    """Points as a data frame of the kind and the columns of X, if X is one."""
    frame = as_frame(X)
    if frame is None:
        return points
    return nw.from_dict(dict(zip(frame.columns, points.T, strict=True)), backend=frame.implementation).to_native()


def _is_scale(y: Array) -> bool:
    """Whether y is drawn as a scale: numbers with fractions, or many of them."""
    return y.dtype.kind in "iuf" and (len(np.unique(y)) > _CLASSES or not np.array_equal(y, np.round(y)))


def _widened(column: Array) -> tuple[float, float]:
    low, high = float(column.min()), float(column.max())
    margin = 0.12 * (high - low) or 1.0
    return low - margin, high + margin


def _levels(low: float, high: float) -> Array:
    """Levels of filled contours over [low, high], 0 among them where it lies inside."""
    ends = (low, 0.0, high) if low < 0 < high else (low, high) if low < high else (low - 1.0, high + 1.0)
    return np.unique(np.concatenate([np.linspace(a, b, 8) for a, b in pairwise(ends)]))


def _ticks(low: float, high: float) -> list[float]:
    return sorted({low, low / 2, 0.0, high / 2, high}) if low < 0 < high else sorted({low, (low + high) / 2, high})


# -- how it is drawn -------------------------------------------------------------------------------------------------


def _pyplot() -> Any:
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise ImportError(
            'Displays are drawn with matplotlib, which is not installed: pip install "mercer[plots]".'
        ) from None
    return plt


def _subplots(rows: int, columns: int, inches: tuple[float, float], **options: Any) -> list[Any]:
    return list(np.ravel(_pyplot().subplots(rows, columns, figsize=inches, layout="constrained", **options)[1]))


def _axes(ax: Any) -> tuple[Any, Any]:
    ax = _subplots(1, 1, (6.0, 4.4))[0] if ax is None else ax
    return ax, ax.figure


def _scatter(ax: Any, points: Array, y: Array | None, name: Any, kwargs: dict[str, Any]) -> list[Any]:
    style = {"s": _dot(len(points)), "linewidths": 0, "alpha": 0.85}
    if y is None:
        return [ax.scatter(*points.T, **(style | {"color": _BLUE} | kwargs))]
    if _is_scale(y):
        drawn = ax.scatter(*points.T, **(style | {"c": y, "cmap": "viridis"} | kwargs))
        bar = ax.figure.colorbar(drawn, ax=ax, label=str(name or "y"))
        bar.outline.set_visible(False)
        bar.solids.set_alpha(1.0)
        return [drawn]
    drawn = _scatter_classes(ax, points, y, kwargs)
    _legend(ax, str(name or ""))
    return drawn


def _scatter_classes(ax: Any, points: Array, labels: Array, kwargs: dict[str, Any]) -> list[Any]:
    """One collection for each class, in their order. Seven colours; from the eighth class on, the markers differ from
    those of the first seven.
    """
    style = {"s": _dot(len(points)), "linewidths": 0, "alpha": 0.85}
    drawn = []
    for k, value in enumerate(np.unique(labels)):
        noise = labels.dtype.kind in "if" and value == -1
        k, turn = k % len(_COLOURS), k // len(_COLOURS)
        look = (
            {"color": _GREY, "marker": "."}
            if noise
            else {"color": _COLOURS[k], "marker": _MARKERS[(k + turn) % len(_MARKERS)]}
        )
        look["label"] = "noise" if noise else f"{value:g}" if labels.dtype.kind == "f" else str(value)
        drawn.append(ax.scatter(*points[labels == value].T, **(style | look | kwargs)))
    return drawn


def _dot(n: int) -> float:
    return float(np.clip(6000 / n, 6, 32))


def _legend(ax: Any, title: str) -> None:
    """Beside the picture where the figure makes room for it, else inside."""
    entries = len(ax.get_legend_handles_labels()[1])
    place = (
        {"loc": "upper left", "bbox_to_anchor": (1.0, 1.0)} if ax.figure.get_layout_engine() else {"loc": "upper right"}
    )
    ax.legend(title=title or None, fontsize="small", frameon=False, ncols=1 + (entries - 1) // 16, **place)


def _framed(ax: Any, names: tuple[str, str], title: str) -> None:
    ax.set(xlabel=_plain(names[0]), ylabel=_plain(names[1]))
    if title:
        ax.set_title(title, fontsize="medium")
    _bare(ax)


def _bare(ax: Any) -> None:
    ax.spines[["top", "right"]].set_visible(False)


def _plain(text: str) -> str:
    """Text as it is: a $ is not the beginning of mathematics."""
    return text.replace("$", r"\$")


def _called(estimator: Any) -> str:
    return type(estimator).__name__


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %"
