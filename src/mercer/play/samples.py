"""Points to play with: families of points in the plane and on a line, drawn by a seed, and the columns of a table."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from mercer.arrays import Array
from mercer.play.limits import MOST_CLASSES, MOST_POINTS, Refused

Drawn = tuple[Array, Array]
WIDTH, HEIGHT = 4.0, 3.0  # the plane is [−4, 4] × [−3, 3]
_DIGITS = 4  # of a coordinate: what a link holds is what is computed with


def _moons(n: int, rng: np.random.Generator) -> Drawn:
    y = np.arange(n) % 2
    t = np.pi * rng.random(n)
    X = np.column_stack([np.cos(t) * (1 - 2 * y) + y - 0.5, np.sin(t) * (1 - 2 * y) + 0.5 * y - 0.25])
    return 1.3 * X + 0.22 * rng.standard_normal((n, 2)), y


def _rings(n: int, rng: np.random.Generator) -> Drawn:
    y = np.arange(n) % 2
    t, r = 2 * np.pi * rng.random(n), np.where(y, 1.7, 0.6) + 0.12 * rng.standard_normal(n)
    return np.column_stack([r * np.cos(t), r * np.sin(t)]), y


def _groups(n: int, rng: np.random.Generator) -> Drawn:
    y = np.arange(n) % 3
    centres = np.array([[-1.4, -0.6], [1.4, -0.7], [0.1, 1.2]])
    return centres[y] + 0.45 * rng.standard_normal((n, 2)), y


def _squares(n: int, rng: np.random.Generator) -> Drawn:
    X = rng.uniform(-1, 1, (n, 2)) * [0.65 * WIDTH, 0.65 * HEIGHT]
    return X, ((X[:, 0] > 0) ^ (X[:, 1] > 0)).astype(int)


def _overlap(n: int, rng: np.random.Generator) -> Drawn:
    y = np.arange(n) % 2
    return np.column_stack([0.9 * (2 * y - 1), 0.5 * (2 * y - 1)]) + 0.9 * rng.standard_normal((n, 2)), y


def _cloud(n: int, rng: np.random.Generator) -> Drawn:
    t = rng.uniform(-1.2, 1.2, n)
    X = np.column_stack([1.6 * t, 0.9 * np.sin(2 * t)]) + 0.15 * rng.standard_normal((n, 2))
    far = np.arange(n) % 20 == 19
    X[far] = rng.uniform(-1, 1, (int(far.sum()), 2)) * [0.7 * WIDTH, 0.7 * HEIGHT]
    return X, far.astype(int)


def _same_mean(n: int, rng: np.random.Generator) -> Drawn:
    y = np.arange(n) % 2
    X = rng.standard_normal((n, 2)) * 0.7
    X[y == 1] = X[y == 1] * [1.5, 0.5]
    return X, y


def _wave(n: int, rng: np.random.Generator) -> Drawn:
    x = rng.uniform(-0.7 * WIDTH, 0.7 * WIDTH, n)
    return np.column_stack([x, np.sin(2 * x) + 0.15 * x + 0.2 * rng.standard_normal(n)]), np.zeros(n, int)


def _fan(n: int, rng: np.random.Generator) -> Drawn:
    x = rng.uniform(-0.7 * WIDTH, 0.7 * WIDTH, n)
    noise = (0.05 + 0.1 * (x + 0.7 * WIDTH)) * rng.standard_normal(n)
    return np.column_stack([x, 0.8 * np.sin(1.5 * x) + noise]), np.zeros(n, int)


FAMILIES: dict[str, Callable[[int, np.random.Generator], Drawn]] = {
    "moons": _moons, "rings": _rings, "groups": _groups, "squares": _squares, "overlap": _overlap, "cloud": _cloud,
    "same mean": _same_mean, "wave": _wave, "fan": _fan,
}  # fmt: skip


def draw(family: str, n: int = 300, seed: int = 0) -> Drawn:
    """Points of a family and their labels: the same for the same seed.

    Parameters
    ----------
    family : str
        One of ``FAMILIES``: "moons", "rings", "wave", …
    n : int, default=300
        How many.
    seed : int, default=0
        Of what is drawn.

    Returns
    -------
    X : ndarray of shape (n, 2)
        Coordinates, rounded to four digits.
    y : ndarray of shape (n,)
        Labels 0, 1, 2.

    Examples
    --------
    >>> from mercer.play.samples import draw
    >>> X, y = draw("rings", n=6)
    >>> X.shape, y.tolist()
    ((6, 2), [0, 1, 0, 1, 0, 1])
    """
    if family not in FAMILIES:
        raise Refused(f"There are no points called {family!r}; there are {', '.join(FAMILIES)}.")
    if not 1 <= n <= MOST_POINTS:
        raise Refused(f"{n} points: a page shows 1 to {MOST_POINTS}.")
    X, y = FAMILIES[family](n, np.random.default_rng(seed))
    return X.round(_DIGITS), y


def of_table(path: str | Path, columns: tuple[str, ...] = (), target: str | None = None) -> Drawn:
    """Two columns of a table, or its two principal components, scaled to the plane, and labels.

    Parameters
    ----------
    path : str or Path
        A table that ``mercer.read_table`` reads.
    columns : tuple of str, default=()
        Two of its columns of numbers; without them all that are numbers, standardised and brought to two principal
        components.
    target : str, optional
        A column of at most four different values: the labels.

    Returns
    -------
    X : ndarray of shape (n, 2)
        Coordinates, rounded to four digits; rows with missing numbers are left out.
    y : ndarray of shape (n,)
        Labels from 0; all 0 without a target.
    """
    import polars as pl

    from mercer.estimators.pca import PCA
    from mercer.files.readers import read_table

    frame = read_table(path)
    if not isinstance(frame, pl.DataFrame):
        raise Refused(f"{path} is a sparse table: a page opens tables with named columns, as CSV and Parquet.", "M502")
    absent = [name for name in (*columns, *([target] if target else [])) if name not in frame.columns]
    if absent:
        raise Refused(f"{path} has no column {absent[0]!r}; it has {', '.join(frame.columns[:20])}.", "M105")
    if len(columns) not in (0, 2):
        raise Refused(f"{len(columns)} columns were given: a plane is of two.", "M205")
    names = list(columns) or [c for c in frame.columns if frame[c].dtype.is_numeric() and c != target]
    if len(names) < 2 or not all(frame[c].dtype.is_numeric() for c in names):
        raise Refused(f"{path}: two columns of numbers are needed to draw points; name them with --columns.", "M102")
    frame = frame.drop_nulls(names).filter(pl.all_horizontal(pl.col(names).cast(pl.Float64).is_finite()))
    if frame.height > MOST_POINTS:
        frame = frame.sample(MOST_POINTS, seed=0)
    if frame.height < 2:
        raise Refused(f"{path}: fewer than two rows have numbers in {', '.join(names[:5])}.", "M116")
    Z = frame.select(pl.col(names).cast(pl.Float64)).to_numpy()
    spread = Z.std(axis=0)
    Z = (Z - Z.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    if Z.shape[1] > 2:
        Z = PCA(2, random_state=0).fit_transform(Z)
    X = (Z / max(float(np.abs(Z / [WIDTH, HEIGHT]).max()), 1e-12) * 0.95).round(_DIGITS)
    if target is None:
        return X, np.zeros(len(X), int)
    values, y = np.unique(frame[target].cast(pl.String).fill_null("missing").to_numpy(), return_inverse=True)
    if len(values) > MOST_CLASSES:
        raise Refused(
            f"Column {target!r} has {len(values)} different values; a page shows {MOST_CLASSES} classes at most.",
            "M112",
        )
    return X, y.astype(int)
