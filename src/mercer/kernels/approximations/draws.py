"""Random points for random features: independent ones, orthogonal ones, and ones that fill the space evenly."""

from __future__ import annotations

import math

import numpy as np
from scipy import special

from mercer.arrays import Array

DRAWS = ("plain", "orthogonal", "quasi")
MOST_QUASI = 10_000  # columns: two Sobol' numbers for each, of which SciPy has 21201


def draw(how: str, count: int, d: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """Rows of d standard normal numbers and of d + 1 numbers uniform in (0, 1), all of a row independent.

    How rows depend on each other is the choice: not at all ("plain"), directions of the normal ones orthogonal in
    blocks of d ("orthogonal"), or as the points of a scrambled Sobol' sequence ("quasi").
    """
    if how == "quasi":
        from scipy.stats import qmc

        # of the next power of two, for which the sequence is made, the first; scrambled, so that each is uniform
        points = qmc.Sobol(2 * d + 1, rng=rng).random_base2(max(0, math.ceil(math.log2(count))))[:count]
        points = points + 2.0**-31  # multiples of 2⁻³⁰, 0 among them
        return np.asarray(special.ndtri(points[:, :d])), points[:, d:]
    normal = rng.standard_normal((count, d)) if how == "plain" else _orthogonal(count, d, rng)
    return normal, np.maximum(rng.random((count, d + 1)), 2.0**-54)


def _orthogonal(count: int, d: int, rng: np.random.Generator) -> Array:
    """Orthogonal directions, evenly distributed, with the lengths of normal vectors: each row is a normal vector."""
    whole, rest = divmod(count, d)
    blocks = [_directions((whole, d, d), rng)] if whole else []
    if rest:
        blocks.append(_directions((1, d, rest), rng))
    directions = np.concatenate([np.swapaxes(block, 1, 2).reshape(-1, d) for block in blocks])
    return np.asarray(directions * np.sqrt(rng.chisquare(d, (count, 1))))


def _directions(shape: tuple[int, int, int], rng: np.random.Generator) -> Array:
    """Matrices with orthonormal columns, of Haar's distribution: Q of normal matrices, R with a positive diagonal."""
    Q, R = np.linalg.qr(rng.standard_normal(shape))
    return np.asarray(Q * np.where(np.diagonal(R, axis1=1, axis2=2) < 0, -1.0, 1.0)[:, None, :])
