"""Tables that are larger than memory, block by block."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from mercer.arrays import Array
from mercer.data import Blocks, DataError


def scan_parquet(
    path: str | Path, columns: Sequence[str] | None = None, target: str | None = None, rows: int = 65_536
) -> Any:
    """The rows of a Parquet file, or of all files of a folder, in blocks that are read anew in each pass.

    Parameters
    ----------
    path : str or Path
        A file, or a folder of files ``*.parquet`` of the same columns, in the order of their names.
    columns : list of str, optional
        The columns of X; None: all but ``target``.
    target : str, optional
        The column of the targets, which are read into memory.
    rows : int, default=65536
        Rows of a block.

    Returns
    -------
    X : Blocks
        Data frames of polars.
    y : ndarray of shape (n,)
        Only with ``target``.

    Raises
    ------
    DataError
        Where the file cannot be read, or a column is not in it.

    See Also
    --------
    Blocks : Other sources.
    read_table : A table that fits in memory.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> import numpy as np, polars as pl
    >>> import mercer as mc
    >>> x = np.linspace(0, 6, 500)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "sine.parquet"
    ...     pl.DataFrame({"x": x, "y": np.sin(x)}).write_parquet(path)
    ...     X, y = mc.scan_parquet(path, target="y", rows=200)
    ...     machine = mc.KernelRidge(1e-3, mc.Gaussian(1.0), centers=50, random_state=0).fit(X, y)
    >>> bool(machine.score(pl.DataFrame({"x": x}), np.sin(x)) > 0.999)
    True
    """
    places = _files(Path(path))
    try:
        lazy = [pl.scan_parquet(place, glob=False) for place in places]
        names = lazy[0].collect_schema().names()
        counts = [int(frame.select(pl.len()).collect().item()) for frame in lazy]
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        raise DataError(f"{path} cannot be read as Parquet: {_first_line(error)}", "M502") from None
    wanted = [name for name in names if name != target] if columns is None else list(columns)
    missing = [name for name in [*wanted, *([] if target is None else [target])] if name not in names]
    if missing:
        raise DataError(f"{path} has no column {missing[0]!r}; it has {', '.join(map(repr, names[:20]))}.", "M105")

    def read() -> Iterator[Any]:
        for place, frame, count in zip(places, lazy, counts, strict=True):
            for start in range(0, count, rows):
                try:
                    yield frame.select(wanted).slice(start, rows).collect()
                except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
                    raise DataError(
                        f"{place}, rows from {start} on, cannot be read: {_first_line(error)}", "M502"
                    ) from None

    blocks = Blocks(read, rows)
    if target is None:
        return blocks
    y: Array = np.concatenate([_column(place, frame, target) for place, frame in zip(places, lazy, strict=True)])
    return blocks, y


def _column(place: Path, frame: pl.LazyFrame, name: str) -> Array:
    try:
        return frame.select(name).collect().to_series().to_numpy()
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        raise DataError(f"{place}, column {name!r}, cannot be read: {_first_line(error)}", "M502") from None


def _files(path: Path) -> list[Path]:
    if path.is_dir():
        found = sorted(path.glob("*.parquet"))
        if not found:
            raise DataError(f"There is no file *.parquet in the folder {path}.", "M501")
        return found
    if not path.is_file():
        raise DataError(f"There is no file {path}.", "M501")
    return [path]


def _first_line(error: BaseException) -> str:
    return (str(error).splitlines() or ["it is damaged"])[0][:200]
