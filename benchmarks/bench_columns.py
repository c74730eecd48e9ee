"""Promise: kernels that go column by column.

Histogram intersection and χ² at 4000², d = 64: ≥ 2× scikit-learn; the Laplacian ≥ 1×. ANOVA (degree 3) and all-subsets
at 3000²: ≥ 4× vectorised NumPy.
"""

from __future__ import annotations

import numpy as np
from measure import interleaved, judged, sized, table
from sklearn.metrics.pairwise import chi2_kernel, laplacian_kernel, manhattan_distances

import mercer as mc


def intersection_by_distance(X: np.ndarray) -> np.ndarray:
    """min(x, z) = (x + z − |x − z|)/2, the way one gets it from scikit-learn."""
    mass = X.sum(1)
    return (mass[:, None] + mass - manhattan_distances(X)) / 2


def anova(X: np.ndarray, degree: int) -> np.ndarray:
    e = [np.ones((len(X), len(X)), X.dtype)] + [np.zeros((len(X), len(X)), X.dtype) for _ in range(degree)]
    for x in X.T:
        product = np.multiply.outer(x, x)
        for s in range(degree, 0, -1):
            e[s] += product * e[s - 1]
    return e[degree]


def all_subsets(X: np.ndarray) -> np.ndarray:
    out = np.ones((len(X), len(X)), X.dtype)
    for x in X.T:
        out *= 1 + np.multiply.outer(x, x)
    return out


def main() -> None:
    rng = np.random.default_rng(0)
    for dtype in (np.float32, np.float64):
        H = rng.random((sized(4000), 64)).astype(dtype)
        Z = rng.standard_normal((sized(3000), 64)).astype(dtype) / 8
        pairs = {
            "histogram intersection": (
                mc.HistogramIntersection(),
                lambda H=H: intersection_by_distance(H),
                H,
                "scikit-learn manhattan_distances",
                2.0,
            ),
            "χ²": (mc.ChiSquared(0.1), lambda H=H: chi2_kernel(H, gamma=0.1), H, "scikit-learn chi2_kernel", 2.0),
            "Laplacian": (
                mc.Laplacian(0.1),
                lambda H=H: laplacian_kernel(H, gamma=0.1),
                H,
                "scikit-learn laplacian_kernel",
                1.0,
            ),
            "ANOVA, degree 3": (mc.Anova(3), lambda Z=Z: anova(Z, 3), Z, "vectorised NumPy", 4.0),
            "all subsets": (mc.AllSubsets(), lambda Z=Z: all_subsets(Z), Z, "vectorised NumPy", 4.0),
        }
        for name, (kernel, peer, X, peer_name, ratio) in pairs.items():
            np.testing.assert_allclose(
                kernel(X)[:50, :50], peer()[:50, :50], rtol=1e-3 if dtype is np.float32 else 1e-9, atol=1e-4
            )
            times = interleaved({"mercer": lambda k=kernel, X=X: k(X), peer_name: peer}, rounds=3)
            table(f"{name}, {len(X)}², d = 64, {np.dtype(dtype)}", times, "mercer", promised={peer_name: ratio})


if __name__ == "__main__":
    judged(main)
