"""Promise, on an H200: K v of 200 000², d = 32, never stored, ≥ 0.7 T values/s at relative error < 1e-5, ≥ 1.8 T/s in
TF32.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from measure import judged, promise, sized, skipped

import mercer as mc
from mercer.compute import Compute
from mercer.engine import gpu
from mercer.formula import exp, sqrt
from mercer.kernels.base import kernel
from mercer.kernels.families import Radial
from mercer.kernels.parameters import positive

try:
    import torch
except ImportError:
    torch = None


@kernel
class Damped(Radial):
    """A user's formula: exp(−√(1 + γ‖x − z‖²))."""

    gamma: float = positive(1.0)

    def _profile(self, d2: Any) -> Any:
        return exp(-sqrt(1.0 + self.gamma * d2))


def seconds(task: Any, rounds: int = 5) -> float:
    """The best of several rounds, after two to warm up."""
    best = float("inf")
    for turn in range(rounds + 2):
        torch.cuda.synchronize()
        start = time.perf_counter()
        task()
        torch.cuda.synchronize()
        if turn >= 2:
            best = min(best, time.perf_counter() - start)
    return best


def main() -> None:
    if torch is None or not torch.cuda.is_available():
        skipped("torch with a GPU", "is not there")
        return
    n, d = sized(200_000, 100_000), 32
    rng = np.random.default_rng(0)
    X = torch.from_numpy(rng.standard_normal((n, d)).astype(np.float32)).cuda()
    v, V = torch.ones(n, 1, device="cuda"), torch.randn(n, 8, device="cuda")
    print(torch.cuda.get_device_name(0), "torch", torch.__version__, f"n = {n}, d = {d}")
    rows = np.arange(0, n, 997)
    base = 0.0
    exact: Any = None
    for name, k, precision in (
        ("Gaussian", mc.Gaussian(1 / d), None),
        ("Gaussian, TF32", mc.Gaussian(1 / d), "tf32"),
        ("Matern 5/2", mc.Matern(4.0, 2.5), None),
        ("Matern 1/2", mc.Matern(4.0, 0.5), None),
        ("RationalQuadratic", mc.RationalQuadratic(4.0, 1.5), None),
        ("product of three", mc.Gaussian(0.01) * mc.Matern(4.0, 1.5) * mc.RationalQuadratic(4.0, 1.5), None),
        ("a user's formula", Damped(1 / d), None),
        ("Laplacian", mc.Laplacian(1 / d), None),
    ):
        gram = k.gram(X, compute=Compute(dtype=precision))
        elapsed = seconds(lambda g=gram: g @ v)
        base = base or elapsed
        exact = k.gram(X[rows].double(), X.double()) @ v.double()
        error = float(((gram @ v)[rows] - exact).abs().max() / exact.abs().max())
        rate = n * n / elapsed / 1e12
        print(
            f"  K v, {name:<20} {elapsed:7.4f} s  {rate:6.3f} T values/s  {elapsed / base:5.2f} × the Gaussian  error"
            f" {error:.1e}"
        )
        if name == "Gaussian":
            promise("K v, Gaussian", rate, at_least=0.7, unit="T values/s")
            promise("K v, Gaussian, relative error", error, at_most=1e-5, unit="")
        elif name == "Gaussian, TF32":
            promise("K v, Gaussian, TF32", rate, at_least=1.8, unit="T values/s")
    Y = mc.Gaussian(1 / d).gram(X, X[:20_000])
    rate = n * 20_000 / seconds(lambda: Y @ v[:20_000]) / 1e12
    print(f"  K v, 200 000 × 20 000, the columns among the rows: {rate:.3f} T values/s")
    one, eight = seconds(lambda: Y.normal(v[:20_000])), seconds(lambda: Y.normal(V[:20_000]))
    print(f"  K^T(K v), 200 000 × 20 000: one column {one:.4f} s, eight columns {eight:.4f} s, ratio {eight / one:.2f}")
    small = X[:40_000].double()
    fused = seconds(lambda: mc.Gaussian(1 / d).gram(small) @ v[:40_000], 3)
    limit, gpu._WORTH_COMPILING = gpu._WORTH_COMPILING, 2**62
    tiles = seconds(lambda: mc.Gaussian(1 / d).gram(small) @ v[:40_000], 3)
    tiles32 = seconds(lambda: mc.Gaussian(1 / d).gram(X[:40_000]) @ v[:40_000], 3)
    gpu._WORTH_COMPILING = limit
    fused32 = seconds(lambda: mc.Gaussian(1 / d).gram(X[:40_000]) @ v[:40_000], 3)
    print(f"  float64, 40 000²: fused {fused:.4f} s, torch tiles {tiles:.4f} s, ratio {tiles / fused:.1f}")
    print(f"  float32, 40 000²: fused {fused32:.4f} s, torch tiles {tiles32:.4f} s, ratio {tiles32 / fused32:.1f}")


if __name__ == "__main__":
    judged(main)
