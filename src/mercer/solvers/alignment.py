"""Weights of kernels by centred alignment: the sum of kernels that is nearest to that of the targets, in closed form.

    max over β ≥ 0 of ⟨Σ_m β_m K_m, T⟩ / ‖Σ_m β_m K_m‖, K and T = Y Y^T centred, ⟨·, ·⟩ Frobenius's

The direction is that of min v^T G v − 2 v^T a over v ≥ 0, G_lm = ⟨K_l, K_m⟩, a_m = ⟨K_m, T⟩ (Cortes, Mohri and
Rostamizadeh 2012).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.optimize import nnls

from mercer.arrays import Array
from mercer.data import chunks
from mercer.gram import Gram
from mercer.runtime.threads import single_threaded_blas
from mercer.runtime.watch import look

_AT_ONCE = 2**23  # values that are looked at together: 64 MB


def aligned_weights(parts: Sequence[Gram], units: Array, targets: Array, weights: Array) -> Array:
    """β of Σβ = 1 for the parts, each times its unit; ``targets`` (n, outputs), ``weights`` of the samples. Memory:
    some rows of all parts at once.
    """
    n, share = len(weights), weights / weights.sum()
    root = np.sqrt(share)
    means = np.stack([unit * np.asarray(part @ share) for unit, part in zip(units, parts, strict=True)])
    grand = means @ share
    Y = root[:, None] * (targets - share @ targets)
    G, a = np.zeros((len(parts), len(parts))), np.zeros(len(parts))
    strips = chunks(n, max(1, _AT_ONCE // (n * len(parts))))
    with single_threaded_blas():  # the bits must not depend on threads
        for k, rows in enumerate(strips):
            centred = np.stack(
                [unit * np.asarray(part.rows(rows), np.float64) for unit, part in zip(units, parts, strict=True)]
            )
            centred -= means[:, rows, None]
            centred -= means[:, None, :]
            centred += grand[:, None, None]
            centred *= root[rows, None] * root
            flat = centred.reshape(len(parts), -1)
            G += flat @ flat.T
            a += flat @ (Y[rows] @ Y.T).ravel()
            look("alignment", (k + 1) / len(strips))
    values, vectors = np.linalg.eigh(G)
    kept = values > 1e-12 * values[-1]  # equal kernels are one
    half = vectors[:, kept] * np.sqrt(values[kept])
    v = nnls(half.T, (vectors[:, kept].T @ a) / np.sqrt(values[kept]))[0]
    return v / v.sum() if v.any() else np.full(len(parts), 1.0 / len(parts))
