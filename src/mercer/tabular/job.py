"""The main job in one call."""

from __future__ import annotations

from typing import Any

from mercer.tabular.intake import Rows
from mercer.tabular.model import TableModel


def learn(table: Rows, target: str, **options: Any) -> TableModel:
    """The best model of a column of a table that is found in a time.

    Decides what each column is, looks at the columns in several ways, tries kernels and machines over them on rows held
    out, averages the best few where that pays, and trains them on all rows.

    Parameters
    ----------
    table : data frame, or SparseTable
        Of polars, pandas or pyarrow, or what ``read_table`` returns; columns of any kind, with gaps.
    target : str
        The column to predict. Rows without a value of it are left out.
    **options
        Parameters of ``TableModel``: ``seconds=60.0``, ``task``, ``metric``, ``kinds``, ``drop``, ``group``,
        ``time_column``, ``weight``, ``random_state``, ``compute``, ``progress``.

    Returns
    -------
    TableModel
        Fitted: ``predict``, ``predict_proba``, ``predict_interval``, ``score``, ``explain``, ``save``; ``summary_``
        says what was found.

    Raises
    ------
    DataError
        If nothing can be learnt from the table; the message says why.

    See Also
    --------
    TableModel : The estimator, for pipelines and cross-validation.
    read_table : Tables from files.

    Examples
    --------
    >>> import mercer as mc
    >>> from sklearn.datasets import load_diabetes
    >>> frame = load_diabetes(as_frame=True).frame
    >>> model = mc.learn(frame[:300], "target", seconds=2.0, random_state=0)
    >>> lower, upper = model.predict_interval(frame[300:], coverage=0.8).T
    >>> bool(((lower <= frame[300:].target) & (frame[300:].target <= upper)).mean() > 0.7)
    True
    """
    return TableModel(target, **options).fit(table)
