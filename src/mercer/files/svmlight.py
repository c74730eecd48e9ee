"""Tables of which most entries are 0: index:value pairs, read in time and memory proportional to their number."""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from scipy import sparse

from mercer.annotations import Index, Samples, Targets
from mercer.arrays import Array
from mercer.data import DataError

_NAME = re.compile(r"x(0|[1-9][0-9]{0,17})")
_MOST_COLUMNS = 10_000  # of a table with a column for every index
_FEW_CELLS = 1_000_000  # that cost nothing
_ZEROS = 64  # cells for each entry that a table may have
_PAIR = r"\d+:[^\s:]+"
_LINE = re.compile(rf"[+-]?[\d.]+(e[+-]?\d+)?(\s+qid:\d+)?(\s+{_PAIR})+\s*(#.*)?", re.IGNORECASE)


@dataclass(frozen=True, eq=False)
class SparseTable:
    """Rows with a target and few entries that are not 0, as a svmlight file holds them.

    Estimators take it in two parts, ``SVC().fit(table.X, table.target)``, and later tables in the columns of the first,
    ``predict(later.on(table.indices))``.

    Attributes
    ----------
    X : scipy.sparse.csr_array of shape (n, d)
        One column for every index that occurs.
    indices : ndarray of int of shape (d,)
        The index that each column of X stands for, ascending. As the column of a table, index j is called ``xj``.
    target : ndarray of shape (n,)
        The labels; integers where all are.

    See Also
    --------
    read_table : Reads it.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import mercer as mc
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "train.svm")
    ...     _ = path.write_text("+1 3:1.5 900000:2\\n-1 3:-1\\n")
    ...     table = mc.read_table(path)
    >>> table
    <sparse table of 2 rows and 2 columns, 3 entries>
    >>> table.names, table.target
    (['x3', 'x900000'], array([ 1, -1]))
    >>> model = mc.SVC(kernel=mc.Linear()).fit(table.X, table.target)
    >>> model.predict(table.on(table.indices))
    array([ 1, -1])
    """

    X: Samples
    indices: Index
    target: Array

    @property
    def height(self) -> int:
        """The number of rows."""
        return len(self.target)

    @property
    def width(self) -> int:
        """The number of columns of a table with a column for every index up to the last."""
        return int(self.indices[-1]) + int(self.indices[0] == 0) if len(self.indices) else 0

    def __len__(self) -> int:
        """The number of rows."""
        return self.height

    def __repr__(self) -> str:
        """Rows, columns and entries."""
        return f"<sparse table of {self.height} rows and {len(self.indices)} columns, {self.X.nnz} entries>"

    def on(self, indices: Index) -> Any:
        """The entries of these indices as the columns of a CSR matrix, 0 where this table has none; others are left
        out.

        Parameters
        ----------
        indices : array of int of shape (d,)
            Those of another table, in any order.

        Returns
        -------
        scipy.sparse.csr_array of shape (n, d)
        """
        wanted = np.asarray(indices, np.int64)
        order = np.argsort(wanted, kind="stable")
        place = np.searchsorted(wanted[order], np.asarray(self.indices))
        known = np.zeros(len(self.indices), bool)
        known[place < len(wanted)] = wanted[order][place[place < len(wanted)]] == self.indices[place < len(wanted)]
        entries = self.X.tocoo()
        kept = known[entries.col]
        columns = order[place[entries.col[kept]]]
        return sparse.csr_array((entries.data[kept], (entries.row[kept], columns)), shape=(self.height, len(wanted)))

    @property
    def names(self) -> list[str]:
        """What the columns of X are called in a table: x3 for index 3."""
        return [f"x{j}" for j in self.indices.tolist()]

    def unknown(self, indices: Index) -> list[str]:
        """The names of the columns of this table that are not among these indices: what ``on`` would leave out."""
        return [f"x{j}" for j in np.setdiff1d(self.indices, indices).tolist()]

    def frame(self, columns: Sequence[str] | None = None) -> pl.DataFrame:
        """The table with every 0 written out, as a polars data frame.

        Parameters
        ----------
        columns : sequence of str, optional
            Of "target", "x1", "x2", …; None: ``target``, then x1 … xd (from x0 where an index is 0).
        """
        if columns is None:
            start, last = (int(self.indices[0] != 0), int(self.indices[-1])) if len(self.indices) else (1, 0)
            return pl.DataFrame([pl.Series("target", self.target), *self._series(np.arange(start, last + 1))])
        named = {name: int(found[1]) for name in columns if (found := _NAME.fullmatch(name))}
        made = {s.name: s for s in self._series(np.array(list(named.values()), np.int64))} | {
            "target": pl.Series("target", self.target)
        }
        return pl.DataFrame([made[name] for name in columns if name in made] or list(made.values()))

    def _series(self, indices: Index) -> list[pl.Series]:
        values = self.on(indices).toarray()
        return [pl.Series(f"x{j}", values[:, k]) for k, j in enumerate(indices.tolist())]

    @property
    def suits_a_frame(self) -> bool:
        """Whether a table with every 0 written out is of a reasonable size for these entries."""
        return self.width <= _MOST_COLUMNS and self.height * self.width <= max(_FEW_CELLS, _ZEROS * self.X.nnz)

    @classmethod
    def of_frame(cls, frame: pl.DataFrame, target: str) -> SparseTable:
        """The columns x1, x2, … of a data frame, and its column ``target``, where it has one; else targets are 0."""
        names = {name: int(found[1]) for name in frame.columns if (found := _NAME.fullmatch(name))}
        ordered = sorted(names, key=lambda name: names[name])
        try:
            values = (
                frame.select(ordered).cast(pl.Float64).fill_null(0.0).to_numpy()
                if ordered
                else np.empty((frame.height, 0))
            )
        except pl.exceptions.PolarsError as error:
            raise DataError(f"The columns x1, x2, … must be of numbers: {str(error).splitlines()[0]}", "M502") from None
        given = frame.get_column(target).to_numpy() if target in frame.columns else np.zeros(frame.height)
        return cls(sparse.csr_array(values), np.array([names[name] for name in ordered], np.int64), given)


def looks_like_svmlight(text: str) -> bool:
    """Whether the first line of a text is a label and pairs index:value."""
    lines = [line for line in text[:100_000].split("\n")[:10] if line.strip() and not line.startswith("#")]
    return bool(lines) and _LINE.fullmatch(lines[0].strip()) is not None


def read_svmlight(lines: Iterator[str], path: str | Path) -> SparseTable:
    """The lines ``label index:value …`` as a table."""
    target, ends, indices, values = array("d"), array("q", [0]), array("q"), array("d")
    for number, line in enumerate(lines, start=1):
        parts = line.partition("#")[0].split()
        if not parts:
            continue
        for part in parts[1:]:
            index, _, value = part.partition(":")
            if index == "qid":
                continue
            amount = _float(value) if index.isascii() and index.isdigit() and len(index) <= 18 else None
            if amount is None:
                large = " Indices have at most 18 digits." if index.isdigit() else ""
                raise DataError(f"{path}, line {number}: {part[:40]!r} is not 'index:value'.{large}", "M502")
            indices.append(int(index))
            values.append(amount)
        label = _float(parts[0])
        if label is None:
            raise DataError(
                f"{path}, line {number}: the label {parts[0][:40]!r} is not a number; several labels a line are not"
                " supported.",
                "M502",
            )
        twice = _twice(indices[ends[-1] :])
        if twice is not None:
            raise DataError(
                f"{path}, line {number}: the index {twice} stands there twice; a column has one value in a row.", "M502"
            )
        target.append(label)
        ends.append(len(indices))
    if not target:
        raise DataError(f"{path} has no rows.", "M502")
    present, columns = np.unique(
        np.frombuffer(indices, np.int64) if indices else np.empty(0, np.int64), return_inverse=True
    )
    entries = (np.array(values), columns.astype(np.int64), np.array(ends))
    X = sparse.csr_array(entries, shape=(len(target), len(present)))
    X.sort_indices()
    return SparseTable(X, present, _labels(np.array(target)))


def _twice(indices: Sequence[int]) -> int | None:
    """An index that occurs twice in a row."""
    if all(a < b for a, b in pairwise(indices)):
        return None
    ordered = sorted(indices)
    return next((a for a, b in pairwise(ordered) if a == b), None)


def _labels(labels: Targets) -> Any:
    """Whole numbers as such."""
    return (
        labels.astype(np.int64)
        if (np.abs(labels) < 2**53).all() and np.array_equal(labels, np.rint(labels))
        else labels
    )


def _float(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
