"""Kernels worth trying on the rows of a table, by what the columns are; widths in units of the median distance.

Numbers, marks and categories are compared as rows (``encoding``): smooth functions of their distance, rougher ones
column by column, linear ones, and sums. Texts are compared by their words and by short runs of letters, sequences by
longer ones, with gaps, or by place where all have one length; molecules by the fingerprints and paths that they share.
These are added to the kernels of the other columns, or multiplied with them. The entries of a sparse table are compared
as they are.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce

import numpy as np
import polars as pl
from scipy import sparse

from mercer.annotations import Samples
from mercer.arrays import Array
from mercer.kernels.base import Kernel
from mercer.kernels.compose.algebra import add
from mercer.kernels.graphs.fingerprints import AtomPairs, Morgan, TopologicalPaths
from mercer.kernels.graphs.labelled import PathBag
from mercer.kernels.graphs.sets import MinMax, Tanimoto
from mercer.kernels.sequences.mismatches import Gappy
from mercer.kernels.sequences.positions import WeightedDegree
from mercer.kernels.sequences.words import BagOfWords, Spectrum
from mercer.kernels.vectors.products import Linear
from mercer.kernels.vectors.radial import Gaussian, Laplacian
from mercer.tabular.encoding import Encoding

_GAUSSIAN = (0.1, 0.3, 1.0, 3.0, 10.0)  # γ times the median squared distance
_LAPLACIAN = (0.1, 0.3, 1.0, 3.0)  # γ times the median ℓ₁ distance
_LOOKED_AT = 400  # rows that distances are measured between
_ALIKE = 0.01  # a constant, so that two empty texts are alike instead of without direction
_LOWER = 0.3  # beside ⟨x, z⟩ of mean 1: how much single columns count in a polynomial, beside pairs and triples
_LONGEST = 2000  # letters of sequences that are compared by place


@dataclass(frozen=True)
class Named:
    """A kernel with its name in words; those of one ``name`` differ in their width alone, ``width`` counts them."""

    name: str
    kernel: Kernel
    width: int = 0


def kernels_of(X: Samples, encoding: Encoding | None) -> list[Named]:
    """Of rows of numbers, of a frame with what is written beside them, or of a sparse table."""
    if sparse.issparse(X):
        return _of_entries(X)
    if not isinstance(X, pl.DataFrame):
        return _of_rows(X)
    assert encoding is not None
    written = _of_written(X, encoding.written)
    if not encoding.columns:
        return written
    return [*written, *(k for k in _beside(X, encoding) if k.name == "linear" or k.width in (1, 2, 3))]


def joined(first: list[Named], X: pl.DataFrame, encoding: Encoding) -> list[Named]:
    """Kernels of what is written, with a kernel of the numbers beside: added in two widths, and multiplied."""
    gaussian = {k.width: k.kernel for k in _beside(X, encoding) if k.name == "Gaussian"}
    wide, middle = (gaussian[_GAUSSIAN.index(c)] for c in (0.3, 1.0))
    sums = [Named(f"{w.name} + Gaussian", w.kernel + k, j) for w in first for j, k in enumerate((wide, middle))]
    return [*sums, *(Named(f"{w.name} × Gaussian", w.kernel * wide) for w in first)]


def kernels_by_kind(best: Named, X: Samples, encoding: Encoding) -> list[Kernel]:
    """Kernels whose weights are to be learnt: for each kind of column one or two of its own, and the best of all rows;
    none where there is one kind alone.
    """
    if isinstance(X, pl.DataFrame):
        if not encoding.columns:
            return []
        numbers = {k.name: k.kernel for k in _beside(X, encoding) if k.name == "linear" or k.width == 1}
        return [best.kernel, *(k.kernel for k in _of_written(X, encoding.written)[:2]), *numbers.values()]
    places = encoding.places
    if len(places) < 2:
        return []
    out = [best.kernel]
    for kind, columns in places.items():
        rows = {(k.name, k.width): k.kernel for k in _of_rows(X[:, columns])}
        wanted = [("Gaussian", 1), ("Laplacian", 1)] if kind == "" else [("linear", 0)]
        out += [rows[key].on(columns) for key in wanted]
    return out


def _beside(X: pl.DataFrame, encoding: Encoding) -> list[Named]:
    """Kernels of the numbers of a frame."""
    numbers = X.select(encoding.columns).to_numpy()
    found = [k for k in _of_rows(numbers) if k.name in ("Gaussian", "linear")]
    return [Named(k.name, k.kernel.on(encoding.columns), k.width) for k in found]


def _of_rows(X: Array) -> list[Named]:
    squared, absolute, size = _distances(X)
    linear = Linear() * (1.0 / size)
    gaussian = [Named("Gaussian", Gaussian(c / squared), j) for j, c in enumerate(_GAUSSIAN)]
    laplacian = [Named("Laplacian", Laplacian(c / absolute), j) for j, c in enumerate(_LAPLACIAN)]
    with_linear = [Named("Gaussian + linear", g.kernel + linear * 0.1, g.width) for g in gaussian[1:4]]
    pairs = [Named("polynomial", (linear + _LOWER) ** degree, j) for j, degree in enumerate((2, 3))]
    return [*gaussian, *laplacian, *with_linear, *pairs, Named("linear", linear)]


def _of_entries(X: Samples) -> list[Named]:
    squares, means = X.multiply(X).sum() / X.shape[0], np.asarray(X.sum(axis=0)).ravel() / X.shape[0]
    spread = max(float(squares - means @ means), 0.0) or 1.0
    return [
        Named("linear", Linear() * (1.0 / spread)),
        Named("cosine", (Linear() + _ALIKE * spread).normalized()),
        *(Named("Gaussian", Gaussian(0.5 * c / spread), j) for j, c in enumerate(_GAUSSIAN)),
    ]


def _of_written(X: pl.DataFrame, written: dict[str, str]) -> list[Named]:
    """Kernels of the columns of texts, sequences and molecules: for each way to see them, added over the columns."""
    ways = {name: dict(_ways(kind, X.get_column(name))) for name, kind in written.items()}
    most = max(len(found) for found in ways.values())
    out = []
    for j in range(most):
        names, parts = [], []
        for name, found in ways.items():
            label, kernel = list(found.items())[min(j, len(found) - 1)]
            names.append(label)
            parts.append((kernel + _ALIKE).normalized().on(name))
        out.append(Named(" + ".join(dict.fromkeys(names)), reduce(add, parts) * (1.0 / len(parts))))
    return out


def _ways(kind: str, column: pl.Series) -> list[tuple[str, Kernel]]:
    if kind == "text":
        words, letters = BagOfWords(), Spectrum(5, 2)
        return [
            ("words", words), ("letters", letters), ("words + letters", words.normalized() + letters.normalized()),
            ("long letters", Spectrum(8, 3).normalized() + words.normalized()),
        ]  # fmt: skip
    if kind == "sequence":
        found = [("words", Spectrum(5, 3)), ("gapped words", Gappy(7, 5)), ("short words", Spectrum(3, 1))]
        lengths = column.str.len_chars()
        if lengths.n_unique() == 1 and int(lengths[0]) <= _LONGEST:
            placed = WeightedDegree(min(12, int(lengths[0])), min(2, int(lengths[0]) - 1))
            found = [
                ("words by place", placed),
                ("words by place + gapped words", placed.normalized() + Gappy(7, 5).normalized()),
                *found,
            ]
        return found
    morgan, counted = Tanimoto(Morgan(2, chirality=True)), MinMax(Morgan(2, counts=True, chirality=True))
    pairs, paths = (
        MinMax(AtomPairs(counts=True, chirality=True)),
        Tanimoto(PathBag(7).atoms(charge=True, chirality=True)),
    )
    subgraphs = MinMax(TopologicalPaths(6, counts=True))
    return [
        ("Morgan counts", counted), ("atom pairs", pairs), ("all fingerprints", counted + pairs + subgraphs),
        ("Morgan", morgan), ("paths", paths), ("subgraphs", subgraphs),
        ("Morgan counts of radius 3", MinMax(Morgan(3, counts=True, chirality=True))),
    ]  # fmt: skip


def _distances(X: Array) -> tuple[float, float, float]:
    """Medians over pairs of rows: of squared distances, of absolute ones; and the mean squared length."""
    some = X[np.linspace(0, len(X) - 1, min(len(X), _LOOKED_AT)).astype(int)]
    other = np.roll(some, 1 + len(some) // 3, axis=0)
    squared, absolute = ((some - other) ** 2).sum(axis=1), np.abs(some - other).sum(axis=1)
    return (
        float(np.median(squared)) or float(np.mean(squared)) or 1.0,
        float(np.median(absolute)) or float(np.mean(absolute)) or 1.0,
        float(np.mean((some**2).sum(axis=1))) or 1.0,
    )
