"""Back from feature space: an x whose φ(x) is near P = Σ_i γ_i φ(x_i)."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from mercer import arrays
from mercer.annotations import Estimator
from mercer.arrays import Array
from mercer.compute import Compute
from mercer.data import Vectors, chunks, take
from mercer.estimators.ridge import KernelRidge
from mercer.estimators.ridge_cv import KernelRidgeCV
from mercer.kernels.families import Radial
from mercer.kernels.vectors.products import Linear
from mercer.kernels.vectors.radial import Gaussian
from mercer.troubles import coded

PRE_IMAGES = ("fixed_point", "ridge", "nearest")
_AT_ONCE = 1024  # scores that are taken back together
_STEPS = 300
_LEARNED_FROM = 2000  # rows that the ridge of the regression is chosen on


def pre_images(machine: Estimator, Z: Array) -> Any:
    """Items for rows of scores of a fitted ``KernelPCA``."""
    kernel = machine.kernel_
    how = machine.pre_image
    vectors = isinstance(kernel.domain, Vectors)
    if how == "auto":
        how = (
            "fixed_point"
            if isinstance(kernel, Radial) and kernel._metric() is None
            else "ridge"
            if vectors
            else "nearest"
        )
    if how == "nearest":
        return take(machine.support_vectors_, _nearest(machine, Z))
    if how == "fixed_point" and not (isinstance(kernel, Radial) and kernel._metric() is None):
        raise TypeError(
            coded(
                f"pre_image='fixed_point' is for kernels of ‖x − z‖² alone, not for {kernel}; use 'ridge' for vectors,"
                " 'nearest' for others.",
                "M215",
            )
        )
    if how == "ridge" and not vectors:
        raise TypeError(
            coded(f"pre_image='ridge' is for vectors, and {kernel} compares other things; use 'nearest'.", "M215")
        )
    kept = machine.support_vectors_
    kept = kept.toarray() if sparse.issparse(kept) else arrays.to_numpy(kept)
    X = np.asarray(kept, np.float64)
    back = _regressed(machine, X, Z) if how == "ridge" else _fixed_points(machine, X, Z)
    return back.astype(kept.dtype, copy=False)


def _nearest(machine: Estimator, Z: Array) -> Array:
    """The training object of the least ‖P − φ(x_i)‖² = ‖z − z_i‖² + what x_i itself loses by projection."""
    scores = machine._training_scores()
    squares = np.sum(scores**2, axis=1)
    whole = machine._centred_norms(arrays.to_numpy(machine.kernel_.diag(machine.support_vectors_)), machine._means)
    own = squares + np.maximum(whole - squares, 0.0)
    parts = [np.argmin(own - 2 * Z[some] @ scores.T, axis=1) for some in chunks(len(Z), _AT_ONCE)]
    return np.concatenate([np.zeros(0, np.int64), *parts])


def _regressed(machine: Estimator, X: Array, Z: Array) -> Array:
    """A ridge regression from scores to vectors: for a kernel with features of its own linear, by least squares; else
    Gaussian.
    """
    scores, linear, size = machine._training_scores(), machine.kernel_.explicit, float(machine._weights_kept.mean())
    weights = machine._weights_kept / size  # of any scale, the candidates for alpha fit them
    alpha = None if machine.alpha is None else machine.alpha / machine._weight_scale / size
    if alpha is None and not linear:
        few = np.linspace(0, len(X) - 1, min(len(X), _LEARNED_FROM)).astype(np.int64)
        alpha = KernelRidgeCV(kernel=Gaussian()).fit(scores[few], X[few], weights[few]).alpha_
    model = KernelRidge(alpha=alpha or 0.0, kernel=Linear() if linear else Gaussian()).fit(scores, X, weights)
    return np.asarray(model.predict(Z)).reshape(len(Z), X.shape[1])


def _fixed_points(machine: Estimator, X: Array, Z: Array) -> Array:
    """z ← Σ_i γ_i g_i x_i/Σ_i γ_i g_i, g = −profile′(‖z − x_i‖²), from the nearest training vector until it rests.

    The distance to P is stationary there. A step that is undefined (the weights cancel) ends at the point before.
    """
    share = machine._weights_kept / machine._weights_kept.sum()
    close = 1e-8 * float(np.sqrt(np.mean(np.var(X, axis=0)) + 1e-300))
    out = X[_nearest(machine, Z)].copy()
    compute = machine.compute or Compute()
    for some in chunks(len(Z), int(np.clip(compute.budget // (64 * len(X)), 1, _AT_ONCE))):
        gamma = share + Z[some] @ machine.dual_coef_
        moving = np.arange(some.start, some.stop)
        for _ in range(_STEPS):
            weights = gamma[moving - some.start] * machine.kernel_._slope(out[moving], X, compute)
            total = weights.sum(axis=1)
            defined = np.abs(total) > 1e-12 * np.abs(weights).sum(axis=1)
            new = (weights @ X) / np.where(defined, total, 1.0)[:, None]
            new = np.where(defined[:, None], new, out[moving])
            step = np.linalg.norm(new - out[moving], axis=1)
            out[moving] = new
            moving = moving[step > close]
            if not len(moving):
                break
    return out
