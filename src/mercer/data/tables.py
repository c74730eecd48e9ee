"""Tables: columns by name, from any data frame."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from scipy import sparse

from mercer import arrays
from mercer.annotations import Samples
from mercer.troubles import coded


class DataError(ValueError):
    """Input that a domain cannot accept; the message names the place and the cure.

    The one error for data, files of data, graphs and molecules: a ``ValueError``, so that code written for scikit-learn
    catches it too.

    See Also
    --------
    NotationError : A text that is not a kernel.
    ModelFileError : A file that is not a model.

    Examples
    --------
    >>> import mercer as mc
    >>> try:
    ...     mc.Linear()([[1.0, 2.0], [3.0, float("nan")]])
    ... except mc.DataError as error:
    ...     print(error)
    Row 1, column 1 is a missing value (NaN). Drop or fill it, or say what it means with kernel.imputed(). [M101]
    """

    def __init__(self, message: str, code: str = "M100") -> None:
        super().__init__(coded(message, code))


def shown(value: object) -> str:
    """What a message says of a value of the user's: its repr, cut at 200 characters, whatever that repr does."""
    try:
        text = repr(value)
    except Exception:  # a whole number of 5000 digits has none, and a class of the user's may do anything
        return f"an object of type {type(value).__name__} that cannot be shown"
    return text if len(text) <= 200 else text[:197] + "…"


def excerpt(text: object, most: int = 60) -> str:
    """A value as it may stand in a message, whatever its length: the beginning of its repr."""
    shown = repr(text[: most + 1] if isinstance(text, str) else text)
    return shown if len(shown) <= most + 2 else f"{shown[:most]}…{shown[-1]}"


def as_frame(X: Samples) -> nw.DataFrame[Any] | None:
    """X as a narwhals data frame if it is a data frame of any library, else None."""
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    return frame if isinstance(frame, nw.DataFrame) else None


def in_order_of(X: Samples, Y: Samples) -> Any:
    """X with its columns in the order of Y's, where both are data frames of the same columns; else X as it is."""
    mine, theirs = (as_frame(t) if hasattr(t, "columns") else None for t in (X, Y))
    if (
        mine is None
        or theirs is None
        or mine.columns == theirs.columns
        or sorted(map(str, mine.columns)) != sorted(map(str, theirs.columns))
    ):
        return X
    return mine.select(theirs.columns).to_native()


def places(X: Samples, columns: Any) -> list[int]:
    """The numbers of the columns that ``select`` takes."""
    frame = as_frame(X)
    names = list(range(X.shape[1]) if frame is None else frame.columns)
    asked = list(columns) if isinstance(columns, list | tuple | np.ndarray) else [columns]
    return [
        int(c) % len(names) if isinstance(c, int | np.integer) and -len(names) <= c < len(names) else names.index(c)
        for c in asked
    ]


def select(X: Samples, columns: Any) -> Any:
    """The named (data frame) or numbered (array) columns of a table; one column given alone comes as a column, unless
    it is of numbers.
    """
    frame = as_frame(X)
    many = isinstance(columns, list | tuple | np.ndarray)
    if frame is not None:
        names = list(columns) if many else [columns]
        names = [
            frame.columns[c] if isinstance(c, int | np.integer) and -len(frame.columns) <= c < len(frame.columns) else c
            for c in names
        ]
        for name in names:
            if name not in frame.columns:
                raise DataError(
                    f"There is no column {name!r} in the table; its columns are {_listing(frame.columns)}.", "M105"
                )
        return frame.select(names).to_native() if many else frame.get_column(names[0]).to_native()
    if not hasattr(X, "shape"):
        X = np.asarray(X, dtype=object)
    if len(X.shape) != 2:
        raise DataError(
            f"Columns {columns!r} were asked of an object of shape {tuple(X.shape)}; give a data frame or a 2-D array.",
            "M105",
        )
    for c in columns if many else [columns]:
        if not isinstance(c, int | np.integer) or not -X.shape[1] <= c < X.shape[1]:
            raise DataError(
                f"There is no column {c!r} in an array of {X.shape[1]} columns; use 0…{X.shape[1] - 1}, or a data frame"
                " for names.",
                "M105",
            )
    if sparse.issparse(X):
        X = X.tocsr()
    numbers = sparse.issparse(X) or arrays.numpy_dtype(X).kind in "fiub"
    return X[:, list(columns)] if many else X[:, [columns]] if numbers else X[:, columns]


def _listing(names: Sequence[Any], most: int = 8) -> str:
    shown = ", ".join(repr(n) for n in names[:most])
    return shown if len(names) <= most else f"{shown}, … ({len(names)} in all)"


def frame_to_numpy(frame: nw.DataFrame[Any]) -> Any:
    columns = [column_to_numpy(frame.get_column(name), i) for i, name in enumerate(frame.columns)]
    if not columns:
        return np.empty((len(frame), 0))
    return np.stack(columns, axis=1)  # float32 only when every column is


def column_to_numpy(column: nw.Series[Any], position: int) -> Any:
    kind = column.dtype
    if kind.is_numeric() or kind == nw.Boolean:
        values = column.cast(nw.Float32 if kind == nw.Float32 else nw.Float64).to_numpy()
        return np.asarray(values, np.float32 if kind == nw.Float32 else np.float64)
    try:
        return np.array([np.nan if v is None else float(v) for v in column.to_list()])
    except (TypeError, ValueError):
        row, value = next((i, v) for i, v in enumerate(column.to_list()) if not _is_number(v))
        raise DataError(
            f"Row {row}, column {column.name!r} ({position}) is {shown(value)}, not a number. "
            f"Encode it, or compare that column with Categorical().on({column.name!r}).",
            "M102",
        ) from None


def _is_number(value: Any) -> bool:
    try:
        return value is None or float(value) is not None
    except (TypeError, ValueError):
        return False
