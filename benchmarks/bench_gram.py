"""Promise: a Gaussian Gram matrix, 10 000 × 10 000, d = 64, freshly allocated.

≥ 8× scikit-learn in float32, ≥ 3× in float64; ≥ 2.5× and ≥ 2× oneDAL (package scikit-learn-intelex, where it is
installed); ≤ 1.1× the time of a bare GEMM plus a bare exp; peak memory ≤ 1.15 × the matrix.
"""

from __future__ import annotations

import numpy as np
from measure import interleaved, machine, peak_memory, table
from sklearn.metrics.pairwise import rbf_kernel

import mercer as mc
from mercer.runtime.threads import run_tasks

try:
    import onedal.primitives as onedal
except ImportError:
    onedal = None

N, D = 10_000, 64
GAMMA = 1 / D


def gemm_and_exp(X: np.ndarray) -> np.ndarray:
    """The two operations no Gaussian Gram can do without: BLAS on all cores, then exp on all cores in place."""
    K = X @ X.copy().T  # a copy: with the same buffer NumPy takes a slower, symmetric routine
    run_tasks(
        lambda i: np.exp(np.multiply(K[i : i + 64], -GAMMA, out=K[i : i + 64]), out=K[i : i + 64]), range(0, N, 64), 2
    )
    return K


def main() -> None:
    print(machine())
    rng = np.random.default_rng(0)
    for dtype in (np.float32, np.float64):
        X = rng.standard_normal((N, D)).astype(dtype)
        with np.errstate(over="ignore"):
            tasks = {
                "mercer": lambda X=X: mc.Gaussian(GAMMA)(X),
                "scikit-learn rbf_kernel": lambda X=X: rbf_kernel(X, gamma=GAMMA),
                "GEMM + exp": lambda X=X: gemm_and_exp(X),
            }
            if onedal is not None:
                tasks["oneDAL rbf_kernel"] = lambda X=X: onedal.rbf_kernel(X, gamma=GAMMA)
            times = interleaved(tasks, rounds=7)
        ratios = table(f"Gaussian Gram {N}², d = {D}, {np.dtype(dtype)}", times, "mercer")
        print(f"  mercer is {1 / ratios['GEMM + exp']:.2f}× the time of GEMM + exp")
        code = f"""
import numpy as np, mercer as mc
X = np.random.default_rng(0).standard_normal(({N}, {D})).astype("{np.dtype(dtype)}")
mc.Gaussian(0.1)(X[:2000])
work = lambda: mc.Gaussian(0.1)(X)
"""
        print(f"  peak memory {peak_memory(code) / (N * N * np.dtype(dtype).itemsize):.3f} × the matrix")


if __name__ == "__main__":
    main()
