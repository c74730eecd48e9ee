"""Promise: K v for n = 50 000, K never stored: ≥ 0.6 of the values per second of the stored matrix, ≤ 300 MB above the data."""

from __future__ import annotations

import numpy as np
from measure import interleaved, machine, peak_memory, table
from sklearn.metrics.pairwise import rbf_kernel

import mercer as mc

N, D, STORED = 50_000, 64, 10_000


def main() -> None:
    print(machine())
    rng = np.random.default_rng(0)
    kernel = mc.Gaussian(1 / D)
    for dtype in (np.float32, np.float64):
        X, v = rng.standard_normal((N, D)).astype(dtype), rng.standard_normal(N)

        def chunked(X: np.ndarray = X, v: np.ndarray = v) -> np.ndarray:
            return np.concatenate([rbf_kernel(X[i : i + 500], X, gamma=1 / D) @ v for i in range(0, 5000, 500)])

        times = interleaved(
            {
                "K v": lambda X=X, v=v: kernel.gram(X) @ v,
                "stored Gram of 10 000": lambda X=X: kernel(X[:STORED]),
                "scikit-learn, a tenth of the rows": chunked,
            },
            rounds=3,
        )
        table(f"K v, n = {N}, d = {D}, {np.dtype(dtype)}", times, "K v")
        rates = [(N * N / a) / (STORED * STORED / b) for a, b in zip(times["K v"], times["stored Gram of 10 000"], strict=True)]
        ratio = [10 * c / a for a, c in zip(times["K v"], times["scikit-learn, a tenth of the rows"], strict=True)]
        rate = N * N / np.median(times["K v"]) / 1e9
        print(f"  {rate:.2f} G values/s: {np.median(rates):.2f} of the rate of the stored matrix; {np.median(ratio):.1f}× scikit-learn in chunks")
        code = f"""
import numpy as np, mercer as mc
X = np.random.default_rng(0).standard_normal(({N}, {D})).astype("{np.dtype(dtype)}")
v = np.ones({N})
mc.Gaussian(0.1).gram(X[:2000]) @ v[:2000]
work = lambda: mc.Gaussian(0.1).gram(X) @ v
"""
        print(f"  peak memory {peak_memory(code) / 1e6:.0f} MB above the data")


if __name__ == "__main__":
    main()
