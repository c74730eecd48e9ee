"""What is worth trying on a table: kernel expressions from the kinds of its columns, and a grid for each.

Numbers are standardised, gaps filled with the median and marked, and compared by distance; categories by whether they
agree. Distances of both multiply, exp(−γ(‖x − z‖² + 2·disagreements)), which is a Gaussian over numbers and indicator
columns; a linear part and one length for every column are there for tables that want them. Texts are compared by their
words and by short runs of letters, sequences by longer ones, with gaps; molecules by the paths they share. These
kernels are added to those of the other columns. A sparse table is compared as it is: rows by their inner product, by
its cosine, or by distance.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np

from mercer.annotations import Estimator, Samples
from mercer.app.kinds import Kind
from mercer.compute import Compute
from mercer.estimators.ridge import KernelRidge
from mercer.estimators.svm import SVC
from mercer.estimators.svr import SVR
from mercer.kernels.anything import Categorical
from mercer.kernels.base import Kernel
from mercer.kernels.compose.algebra import add, exp
from mercer.kernels.graphs.labelled import PathBag, WeisfeilerLehman
from mercer.kernels.sequences.mismatches import Gappy
from mercer.kernels.sequences.words import BagOfWords, Spectrum
from mercer.kernels.vectors.products import Linear
from mercer.kernels.vectors.radial import Gaussian, Laplacian, Matern

_WIDTHS = (0.03, 0.1, 0.3, 1.0, 3.0)  # γ times the number of columns
_PRICES = (0.1, 1.0, 10.0, 100.0, 1000.0)
_RIDGES = tuple(np.geomspace(1e-4, 1e2, 13).tolist())


@dataclass(frozen=True)
class Candidate:
    """A family to search: ``name`` in words, an estimator, and its grid."""

    name: str
    estimator: Estimator
    grid: dict[str, list[Any]]


@dataclass(frozen=True)
class Columns:
    """The used columns of a table by what a kernel does with them; ``gaps`` says whether numbers are missing."""

    numbers: tuple[str, ...]
    categories: tuple[str, ...]
    gaps: bool
    texts: tuple[str, ...] = ()
    sequences: tuple[str, ...] = ()
    molecules: tuple[str, ...] = ()

    @classmethod
    def of(cls, kinds: Mapping[str, Kind], missing: Sequence[str]) -> Columns:
        def of(*wanted: str) -> tuple[str, ...]:
            return tuple(name for name, kind in kinds.items() if kind.name in wanted)

        numbers = of("numeric", "date")
        return cls(
            numbers, of("nominal"), any(name in missing for name in numbers), of("text"), of("sequence"), of("molecule")
        )

    def __len__(self) -> int:
        return len(self.numbers) + len(self.categories)

    def written(self, text: Kernel, sequence: Kernel, molecule: Kernel) -> Kernel | None:
        """Kernels for each text, sequence and molecule, added; None where there are none."""
        # a little of a constant, so that two empty ones are alike instead of without direction
        by = [
            (text, self.texts),
            (sequence, self.sequences),
            (molecule.atoms(charge=True, chirality=True), self.molecules),
        ]
        parts = [(kernel + 0.01).normalized().on(name) for kernel, names in by for name in names]
        return reduce(add, parts) if parts else None

    def over_numbers(self, kernel: Kernel) -> Kernel:
        """A kernel on vectors, on the columns of numbers as they must be seen."""
        # a gap may come at prediction though there was none in training: then it is filled, and only not marked
        return kernel.standardized().imputed("median", indicator=self.gaps).on(list(self.numbers))

    def agreeing(self) -> Kernel:
        """How many categories agree."""
        return reduce(add, [Categorical().on(name) for name in self.categories])

    def smooth(self, kernel: Kernel, gamma: float) -> Kernel:
        """A decreasing function of distance over all columns: ``kernel`` over numbers times e^(−2γ·disagreements)."""
        parts = [self.over_numbers(kernel)] if self.numbers else []
        if self.categories:
            parts.append(exp(self.agreeing() * (2 * gamma)).normalized())
        return parts[0] if len(parts) == 1 else parts[0] * parts[1]

    def linear(self) -> Kernel:
        parts = [self.over_numbers(Linear())] if self.numbers else []
        parts += [self.agreeing()] if self.categories else []
        return parts[0] if len(parts) == 1 else parts[0] + parts[1]

    def relevance(self, kernel: Kernel) -> Kernel:
        """``kernel``, with a length for each column of numbers, and a weight for the categories: to be tuned."""
        parts = [self.over_numbers(kernel)]
        if self.categories:
            parts.append(exp(self.agreeing() * (1.0 / len(self))).normalized())
        return parts[0] if len(parts) == 1 else parts[0] * parts[1]


@dataclass(frozen=True)
class Entries:
    """The columns of a sparse table, of which a kernel sees the entries as they are; ``spread`` is the mean squared
    distance of a row to the mean.
    """

    spread: float

    @classmethod
    def of(cls, X: Samples) -> Entries:
        squares, means = X.multiply(X).sum() / X.shape[0], np.asarray(X.sum(axis=0)).ravel() / X.shape[0]
        return cls(max(float(squares - means @ means), 0.0) or 1.0)

    def kernels(self) -> dict[str, list[Kernel]]:
        return {
            "linear": [Linear() * (1.0 / self.spread)],
            # a little of a constant, so that an empty row has a direction
            "cosine": [(Linear() + 0.01 * self.spread).normalized()],
            "Gaussian": [Gaussian(g / self.spread) for g in _WIDTHS],
        }


def kernels(columns: Columns | Entries) -> dict[str, list[Kernel]]:
    """Families of kernels by name, each with its widths."""
    if isinstance(columns, Entries):
        return columns.kernels()
    parts = "paths" if columns.molecules and not (columns.texts or columns.sequences) else "words"
    ways = {
        parts: columns.written(BagOfWords(), Spectrum(5, 3), PathBag(7)),
        f"more {parts}": columns.written(
            BagOfWords() + 0.1 * Spectrum(4, 3), Spectrum(5, 3) + Gappy(7, 5), PathBag(7) + 0.1 * WeisfeilerLehman(3)
        ),
    }
    written = {name: kernel for name, kernel in ways.items() if kernel is not None}
    if not len(columns):
        return {name: [kernel] for name, kernel in written.items()}
    return {
        name: [k + w for k in family for w in list(written.values())[:1]] if written else family
        for name, family in _tabular(columns).items()
    }


def _tabular(columns: Columns) -> dict[str, list[Kernel]]:
    d = len(columns)
    families: dict[str, list[Kernel]] = {"Gaussian": [columns.smooth(Gaussian(g / d), g / d) for g in _WIDTHS]}
    if columns.numbers:
        families["Laplacian"] = [columns.smooth(Laplacian(g / d), g / d) for g in (0.03, 0.1, 0.3, 1.0)]
        families["Gaussian + linear"] = [
            columns.smooth(Gaussian(g / d), g / d) + columns.linear() * (0.1 / d) for g in (0.1, 0.3, 1.0)
        ]
    families["linear"] = [columns.linear() * (1.0 / d)]
    return families


def candidates(columns: Columns | Entries, task: str, spread: float, compute: Compute | None) -> list[Candidate]:
    """What to search, the likeliest first. ``spread`` is the standard deviation of a regression's target: prices are in
    its units.
    """
    out = []
    for name, family in kernels(columns).items():
        if task == "classification":
            out.append(Candidate(f"SVC, {name}", SVC(compute=compute), {"kernel": family, "C": list(_PRICES)}))
        else:
            out.append(
                Candidate(f"ridge, {name}", KernelRidge(compute=compute), {"kernel": family, "alpha": list(_RIDGES)})
            )
    if task == "regression":
        grid: dict[str, list[Any]] = {
            "kernel": next(iter(kernels(columns).values())),
            "C": [spread * c for c in (1.0, 10.0, 100.0)],
            "epsilon": [0.1 * spread],
        }
        out.insert(1, Candidate("SVR, Gaussian", SVR(compute=compute, max_time=10.0), grid))
    return out


def relevance(columns: Columns | Entries, task: str) -> list[tuple[str, Kernel]]:
    """Kernels whose lengths and weights are worth following a gradient for; none where there are too many columns."""
    if isinstance(columns, Entries):
        return []
    d = len(columns.numbers) * (2 if columns.gaps else 1)  # marks of gaps are columns too
    if not 2 <= d <= 40 or columns.texts or columns.sequences or columns.molecules:
        return []
    lengths = np.full(d, np.sqrt(len(columns)))
    named = [
        ("one length a column, Gaussian", Matern(lengths, np.inf)),
        ("one length a column, Matern 3/2", Matern(lengths, 1.5)),
    ]
    return [(name, columns.relevance(kernel)) for name, kernel in (named if task == "regression" else named[:1])]
