"""The rows of a Dask collection as a mixture needs them: sums over blocks, and some rows to start from."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from mercer.annotations import Estimator, Samples, Weights
from mercer.arrays import Array
from mercer.compute import Compute
from mercer.estimators.checks import checked_table
from mercer.estimators.spread import Part, SpreadSamples, in_block
from mercer.solvers.covariances import FAMILIES
from mercer.solvers.em import Mixture, Sums, expected

_FEW = 20_000  # rows that starts are from
_OF_EACH = 500  # of them for each component, at least


class MixtureData(NamedTuple):
    """Rows about their mean, all or some of them; their weights; that mean; the weight of all; the sums of a step."""

    table: Array
    weights: Array
    centre: Array
    total: float
    sums: Callable[[Mixture], Sums]


def spread_data(mixture: Estimator, X: Samples, sample_weight: Weights, components: int, family: str) -> MixtureData:
    """Of a collection; ``mixture`` learns its columns from it."""
    samples = SpreadSamples.of(X, None, sample_weight, Compute(), numeric=False, classes=False)
    checked_table(mixture, samples.head, accept_sparse=False, dtype=np.float64)
    parts, door = samples.parts, _Door(mixture)
    first, total = parts.total("mean of the columns", _first_moments, door)
    centre, unit = first / total, len(samples) / float(total)
    chance = min(1.0, max(_FEW, _OF_EACH * components) / len(samples))
    few = [found for found in parts.each("rows for the start", _some_rows, door, chance) if found is not None]

    def sums(mixture: Mixture) -> Sums:
        return Sums(*parts.total("expectation", _expected, door, mixture, centre, unit, family))

    table, weights = np.concatenate([rows for rows, _ in few]), np.concatenate([w for _, w in few])
    return MixtureData(table - centre, weights * unit, centre, float(len(samples)), sums)


class _Door:
    """How a block is checked: as the table of an estimator that knows its columns."""

    def __init__(self, estimator: Estimator) -> None:
        known = ("n_features_in_", "feature_names_in_")
        self.estimator = type(estimator)()
        self.estimator.__dict__.update({name: vars(estimator)[name] for name in known if name in vars(estimator)})

    def __call__(self, part: Part) -> Array:
        table = partial(checked_table, self.estimator, part.X, accept_sparse=False, dtype=np.float64, reset=False)
        return np.asarray(in_block(part.number, table))


def _first_moments(part: Part, door: _Door) -> tuple[Array, Array] | None:
    return (part.w @ door(part), np.array(part.w.sum())) if len(part.w) else None


def _some_rows(part: Part, door: _Door, chance: float) -> tuple[Array, Array] | None:
    if not len(part.w):
        return None
    chosen = np.random.default_rng((0, part.number)).random(len(part.w)) < chance
    return door(part)[chosen], part.w[chosen]


def _expected(
    part: Part, door: _Door, mixture: Mixture, centre: Array, unit: float, family: str
) -> tuple[Any, ...] | None:
    if not len(part.w):
        return None
    sums = expected(door(part) - centre, part.w * unit, mixture, FAMILIES[family])
    return sums.likelihood, sums.mass, sums.first, sums.second
