"""Splits that ask for more than rows at random: other scaffolds, later times, other groups.

They are scikit-learn's splitters, ``split(X, y, groups)`` and ``get_n_splits()``: for ``KernelSearchCV(cv=…)``,
``cross_val_score`` and the like.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from mercer.annotations import Samples, Targets
from mercer.arrays import Array
from mercer.data import DataError, as_frame, select, size
from mercer.data.molecules import Molecules
from mercer.data.scaffolds import scaffolds
from mercer.data.sequences import is_missing
from mercer.troubles import coded

Rows = tuple[Array, Array]


class Splitter:
    """So many splits; leaves ``split`` to write."""

    n_splits: int

    def get_n_splits(self, X: Samples = None, y: Targets = None, groups: Any = None) -> int:
        """How many splits there are."""
        return int(self.n_splits)

    def _check_count(self, least: int) -> None:
        if not isinstance(self.n_splits, int | np.integer) or self.n_splits < least:
            raise ValueError(
                coded(
                    f"{type(self).__name__}(n_splits={self.n_splits!r}): it must be a whole number of at least"
                    f" {least}.",
                    "M205",
                )
            )


@dataclass(frozen=True, eq=False)
class ScaffoldSplit(Splitter):
    """Molecules of one scaffold on one side: Bemis–Murcko scaffolds by their size, the largest to train on.

    Of one split, as DeepChem's: scaffolds go to the training rows, from the one with the most molecules to those with
    one, wherever there is room for all of it, else to the test; so what is tested is unlike what was learnt, which
    random splits of molecules do not ask. Of several, scaffolds are dealt to folds, each to the one with the fewest
    molecules so far.

    Parameters
    ----------
    test_size : float, default=0.2
        The share of molecules to test on, where there is one split; between 0 and 1.
    n_splits : int, default=1
        How many splits; of two or more, each molecule is in one test.
    column : str or int, optional
        The column of a table that holds the molecules. None: X is a list of molecules.

    See Also
    --------
    TimeSplit : Later rows to test on.
    GroupSplit : Rows of other groups.

    References
    ----------
    .. [1] G. W. Bemis and M. A. Murcko. The properties of known drugs. 1. Molecular frameworks. Journal of Medicinal
       Chemistry 39, 1996.
    .. [2] Z. Wu et al. MoleculeNet: a benchmark for molecular machine learning. Chemical Science 9, 2018.

    Examples
    --------
    >>> import mercer as mc
    >>> X = ["c1ccccc1C", "c1ccccc1CC", "c1ccccc1O", "C1CCCC1C"]
    >>> [(train.tolist(), test.tolist()) for train, test in mc.ScaffoldSplit(0.25).split(X)]
    [([0, 1, 2], [3])]
    """

    test_size: float = 0.2
    n_splits: int = 1
    column: str | int | None = None

    def __post_init__(self) -> None:
        if not 0 < self.test_size < 1:
            raise ValueError(
                coded(f"ScaffoldSplit(test_size={self.test_size!r}): it must lie between 0 and 1.", "M205")
            )
        self._check_count(1)

    def split(self, X: Samples, y: Targets = None, groups: Any = None) -> Iterator[Rows]:
        """Rows to train on and to test on, in order.

        Parameters
        ----------
        X : collection of molecules, or a table with a column of them
            SMILES or RDKit molecules.
        y, groups : ignored
            For scikit-learn's sake.

        Yields
        ------
        train, test : ndarray
            Numbers of rows.
        """
        found = Molecules().check(X if self.column is None else select(X, self.column))
        if self.n_splits == 1:
            train, test = scaffold_parts(found, (1 - self.test_size, self.test_size))
            yield _two_sides(np.sort(train), np.sort(test), "scaffold")
        else:
            yield from _folds(scaffolds(found), self.n_splits, "scaffolds")


def scaffold_parts(items: Sequence[Any], shares: Sequence[float]) -> list[Array]:
    """Parts of about these shares of some molecules, each scaffold in the first part that has room for it, from the
    largest scaffold on; the last part takes what is left.
    """
    groups: dict[str, list[int]] = {}
    for i, scaffold in enumerate(scaffolds(items)):
        groups.setdefault(scaffold, []).append(i)
    parts: list[list[int]] = [[] for _ in shares]
    limits = [share * len(items) for share in np.cumsum(shares)[:-1].tolist()]
    for group in sorted(groups.values(), key=lambda rows: (len(rows), rows[0]), reverse=True):
        filled = np.cumsum([len(part) for part in parts])
        place = next((p for p, limit in enumerate(limits) if filled[p] + len(group) <= limit), len(parts) - 1)
        parts[place] += group
    return [np.array(part, np.int64) for part in parts]


@dataclass(frozen=True, eq=False)
class TimeSplit(Splitter):
    """Forward in time: each test follows all that is trained on, and rows of one time are on one side.

    The rows in the order of their times are cut into ``n_splits`` + 1 parts; split k trains on the first k of them and
    tests on the next.

    Parameters
    ----------
    times : str, int or array-like, optional
        A column of the table, or a time for each row: numbers or dates. None: the rows are in the order of time.
    n_splits : int, default=5
        How many splits.

    See Also
    --------
    ScaffoldSplit : Molecules of other scaffolds.
    GroupSplit : Rows of other groups.

    Examples
    --------
    >>> import numpy as np
    >>> import mercer as mc
    >>> split = mc.TimeSplit([2020, 2022, 2021, 2022, 2023], n_splits=2)
    >>> [(train.tolist(), test.tolist()) for train, test in split.split(np.zeros((5, 1)))]
    [([0], [2]), ([0, 2], [1, 3, 4])]
    """

    times: Any = None
    n_splits: int = 5

    def __post_init__(self) -> None:
        self._check_count(1)

    def split(self, X: Samples, y: Targets = None, groups: Any = None) -> Iterator[Rows]:
        """Rows to train on and to test on, in order.

        Parameters
        ----------
        X : collection of samples
            As many as there are times.
        y, groups : ignored
            For scikit-learn's sake.

        Yields
        ------
        train, test : ndarray
            Numbers of rows.
        """
        times = np.arange(_size(X)) if self.times is None else _in_time(_values(self.times, X, "times"))
        found = forward(times, self.n_splits)
        if len(found) < self.n_splits:
            raise DataError(
                f"TimeSplit(n_splits={self.n_splits}): there are {len(np.unique(times))} different times, of which only"
                f" {len(found)} splits can be made.",
                "M605",
            )
        yield from found


def forward(times: Array, several: int) -> list[Rows]:
    """Splits of which each tests what comes after what it trains on; rows of one time are on one side. As many as are
    asked for, or as times change.
    """
    order = np.argsort(times, kind="stable")
    ordered = times[order]
    changes = np.flatnonzero(ordered[1:] != ordered[:-1]) + 1
    several = min(several, len(changes))
    even = np.linspace(0, len(order), several + 2).astype(int)[1:-1]
    # each cut where times change: at the last change before it, or at the next that leaves one for every other cut
    place = np.searchsorted(changes, even, side="right") - 1
    ahead = np.arange(several)
    place = np.maximum.accumulate(np.maximum(place, 0) - ahead) + ahead
    place = np.minimum(place, len(changes) - several + ahead)
    edges = [*changes[place].tolist(), len(order)]
    return [(np.sort(order[:begin]), np.sort(order[begin:end])) for begin, end in pairwise(edges)]


def _in_time(values: Array) -> Array:
    """Times that have an order: numbers, dates, or texts as 2024-05-31; none is missing."""
    lost = (
        np.array([is_missing(v) for v in values.tolist()]) if values.dtype.kind == "O" else np.zeros(len(values), bool)
    )
    if values.dtype.kind in "OUS" and not lost.any():
        try:
            numbers = all(isinstance(v, int | float | np.number) for v in values.tolist())
            values = values.astype(np.float64 if numbers else "datetime64")
        except (TypeError, ValueError):
            raise DataError(
                "The times are neither numbers nor dates; give them as such, or as texts like '2024-05-31'.", "M606"
            ) from None
    missing = lost
    if values.dtype.kind in "mMiuf":
        missing = np.isnat(values) if values.dtype.kind in "mM" else np.isnan(values.astype(np.float64))
    if missing.any():
        raise DataError(
            f"The time of row {int(np.argmax(missing))} is missing; leave the row out, or give it a time.", "M101"
        )
    return values


@dataclass(frozen=True, eq=False)
class GroupSplit(Splitter):
    """Rows of one group on one side: folds of whole groups, each group to the fold with the fewest rows so far.

    Parameters
    ----------
    groups : str, int or array-like, optional
        A column of the table, or a group for each row. None: what ``split`` is given.
    n_splits : int, default=5
        How many folds, at least 2.

    See Also
    --------
    ScaffoldSplit : Molecules of other scaffolds.
    TimeSplit : Later rows.

    Examples
    --------
    >>> import numpy as np
    >>> import mercer as mc
    >>> split = mc.GroupSplit(["a", "a", "b", "c", "b"], n_splits=2)
    >>> [test.tolist() for _, test in split.split(np.zeros((5, 1)))]
    [[0, 1, 3], [2, 4]]
    """

    groups: Any = None
    n_splits: int = 5

    def __post_init__(self) -> None:
        self._check_count(2)

    def split(self, X: Samples, y: Targets = None, groups: Any = None) -> Iterator[Rows]:
        """Rows to train on and to test on, in order.

        Parameters
        ----------
        X : collection of samples
            As many as have a group.
        y : ignored
            For scikit-learn's sake.
        groups : array-like, optional
            A group for each row, where the splitter has none.

        Yields
        ------
        train, test : ndarray
            Numbers of rows.
        """
        given = self.groups if self.groups is not None else groups
        if given is None:
            raise DataError("GroupSplit needs groups: a column of the table, or one for each row.", "M606")
        yield from _folds(_values(given, X, "groups").tolist(), self.n_splits, "groups")


def _size(X: Samples) -> int:
    return len(X) if isinstance(X, list | tuple) or as_frame(X) is not None else size(X)


def _values(given: Any, X: Samples, noun: str) -> Array:
    """A value for each row: a column of X, or as given."""
    found = np.asarray(select(X, given) if isinstance(given, str | int) else given)
    found = found[:, 0] if found.ndim == 2 and found.shape[1] == 1 else found
    if found.ndim != 1 or len(found) != _size(X):
        raise DataError(f"There are {len(found)} {noun} and {_size(X)} rows; give one for each row.", "M111")
    return found


def _folds(names: list[Any], several: int, noun: str) -> Iterator[Rows]:
    """Whole groups in folds, from the largest on, each to the fold with the fewest rows."""
    kinds = list(dict.fromkeys(names))
    if len(kinds) < several:
        raise DataError(f"{len(kinds)} {noun} cannot make {several} folds; ask for fewer.", "M605")
    number = {kind: k for k, kind in enumerate(kinds)}
    of = np.array([number[name] for name in names])
    counts, fold, filled = np.bincount(of), np.zeros(len(kinds), np.int64), np.zeros(several, np.int64)
    for kind in np.argsort(-counts, kind="stable"):
        fold[kind] = np.argmin(filled)
        filled[fold[kind]] += counts[kind]
    for k in range(several):
        yield _two_sides(np.flatnonzero(fold[of] != k), np.flatnonzero(fold[of] == k), noun)


def _two_sides(train: Array, test: Array, noun: str) -> Rows:
    if not len(train) or not len(test):
        raise DataError(
            f"One {noun} has too many of the {len(train) + len(test)} rows: there is nothing to hold out.", "M605"
        )
    return train, test
