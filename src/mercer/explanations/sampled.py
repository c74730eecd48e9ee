"""Shapley values of columns by sampling: of any function of the rows of a table.

Columns of x take the place of those of a background row one after the other, in a random order and in the reverse of
it; what each changes is its contribution in that order. Along an order the changes telescope, so that the mean over
orders adds up to f(x) less the mean of f over the background whatever was drawn. Each background row has orders of its
own: it is a stratum, and the standard errors are those of a stratified mean.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mercer.annotations import Samples
from mercer.arrays import Array
from mercer.data import as_frame, chunks, size, stack, take
from mercer.kernels.columns import width
from mercer.runtime import watch

_AT_ONCE = 4096  # rows that the function is asked for together

Answers = Callable[[Any], Array]


def sampled_values(
    f: Answers, X: Samples, Z: Samples, n_permutations: int, random: np.random.Generator
) -> tuple[Array, Array, Array]:
    """(values, standard errors, base): of each column (n, columns, outputs), twice, and f's mean over Z (outputs,)."""
    n, d = size(X), width(X)
    of_z, of_x = _rows_of(f(Z)), _rows_of(f(X))
    pairs = max(2, -(-n_permutations // (2 * len(of_z))))  # for each background row; of one, no spread would be seen
    values, errors = np.zeros((n, d, of_x.shape[1])), np.zeros((n, d, of_x.shape[1]))
    for i in range(n):
        orders = np.stack([random.permutation(d) for _ in range(len(of_z) * pairs)]).reshape(len(of_z), pairs, d)
        chains = _chains(f, stack(take(X, slice(i, i + 1)), Z), orders, of_x[i], of_z)
        values[i] = chains.mean(axis=(0, 1))
        errors[i] = np.sqrt((chains.var(axis=1, ddof=1) / pairs).sum(axis=0)) / len(of_z)
    return values, errors, of_z.mean(axis=0)


def _chains(f: Answers, table: Samples, orders: Array, of_x: Array, of_z: Array) -> Array:
    """What each column changes, (background rows, pairs of orders, columns, outputs): the mean over an order and its
    reverse. The first row of the table is x, the others are the background.
    """
    both = np.stack([orders, orders[..., ::-1]], axis=2)  # (rows, pairs, 2, d)
    rank = np.argsort(both, axis=-1)
    d = both.shape[-1]
    # after s steps, the columns of the first s ranks are those of x
    from_x = rank[..., None, :] < np.arange(1, d)[:, None]
    source = np.where(from_x, 0, 1 + np.arange(len(of_z))[:, None, None, None, None])
    middle = _asked(f, table, source.reshape(-1, d), of_z.shape[1]).reshape(*both.shape[:3], d - 1, -1)
    first = np.broadcast_to(of_z[:, None, None, None, :], (*both.shape[:3], 1, of_z.shape[1]))
    last = np.broadcast_to(of_x, first.shape)
    steps = np.diff(np.concatenate([first, middle, last], axis=3), axis=3)
    return np.asarray(np.take_along_axis(steps, rank[..., None], axis=3).mean(axis=2))


def _asked(f: Answers, table: Samples, source: Array, outputs: int) -> Array:
    """f of rows whose column j is that of row source[:, j] of the table."""
    out = np.empty((len(source), outputs))
    for some in chunks(len(source), _AT_ONCE):
        watch.look()
        out[some] = _rows_of(f(mixed(table, source[some])))
    return out


def mixed(table: Samples, source: Array) -> Any:
    """Rows whose column j is that of row source[:, j] of a table."""
    frame = as_frame(table)
    if frame is None:
        return table[source, np.arange(source.shape[1])]
    columns = [frame.get_column(name)[source[:, j].tolist()] for j, name in enumerate(frame.columns)]
    return frame[source[:, 0].tolist()].with_columns(*columns).to_native()


def _rows_of(answers: Array) -> Array:
    found = np.asarray(answers, np.float64)
    return found.reshape(len(found), -1)
