"""Promise: K v, K never stored: n = 100 000 × m = 2000, d = 20 ≥ 15× scikit-learn in chunks; n = 50 000 symmetric ≥
20×; ≤ 300 MB above the data.
"""

from __future__ import annotations

import numpy as np
from measure import interleaved, judged, peak_memory, promise, sized, table
from sklearn.metrics.pairwise import rbf_kernel

import mercer as mc

N, STORED = sized(50_000), sized(10_000)


def main() -> None:
    rectangular()
    for D in (20, 64):
        symmetric(D)


def rectangular() -> None:
    n, m, d = sized(100_000), 2000, 20
    rng = np.random.default_rng(0)
    X, v = rng.standard_normal((n, d)).astype(np.float32), rng.standard_normal(m).astype(np.float32)
    Y = X[:m].copy()
    tasks = {
        "K v": lambda: mc.Gaussian(1 / d).gram(X, Y) @ v,
        "scikit-learn in chunks of 1000": lambda: np.concatenate(
            [rbf_kernel(X[i : i + 1000], Y, gamma=1 / d) @ v for i in range(0, n, 1000)]
        ),
    }
    promised = {"scikit-learn in chunks of 1000": 15.0}
    table(f"K v, n = {n}, m = {m}, d = {d}, float32", interleaved(tasks, rounds=7), "K v", promised=promised)


def symmetric(D: int) -> None:
    rng = np.random.default_rng(0)
    kernel = mc.Gaussian(1 / D)
    for dtype in (np.float32, np.float64):
        X, v = rng.standard_normal((N, D)).astype(dtype), rng.standard_normal(N)

        def chunked(X: np.ndarray = X, v: np.ndarray = v) -> np.ndarray:
            return np.concatenate([rbf_kernel(X[i : i + 500], X, gamma=1 / D) @ v for i in range(0, N // 10, 500)])

        times = interleaved(
            {
                "K v": lambda X=X, v=v: kernel.gram(X) @ v,
                "stored Gram of 10 000": lambda X=X: kernel(X[:STORED]),
                "scikit-learn, a tenth of the rows": chunked,
            },
            rounds=3,
        )
        table(f"K v, n = {N}, d = {D}, {np.dtype(dtype)}", times, "K v")
        rates = [
            (N * N / a) / (STORED * STORED / b)
            for a, b in zip(times["K v"], times["stored Gram of 10 000"], strict=True)
        ]
        ratio = [10 * c / a for a, c in zip(times["K v"], times["scikit-learn, a tenth of the rows"], strict=True)]
        rate = N * N / np.median(times["K v"]) / 1e9
        print(f"  {rate:.2f} G values/s: {np.median(rates):.2f} of the rate of the stored matrix")
        title = f"K v, n = {N}, d = {D}, {np.dtype(dtype)}"
        promise(f"{title}, scikit-learn in chunks", float(np.median(ratio)), at_least=20.0)
        code = f"""
import numpy as np, mercer as mc
X = np.random.default_rng(0).standard_normal(({N}, {D})).astype("{np.dtype(dtype)}")
v = np.ones({N})
mc.Gaussian(0.1).gram(X[:2000]) @ v[:2000]
work = lambda: mc.Gaussian(0.1).gram(X) @ v
"""
        promise(f"{title}, peak memory above the data", peak_memory(code) / 1e6, at_most=300, unit="MB")


if __name__ == "__main__":
    judged(main)
