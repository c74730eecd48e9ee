"""Promise, on an H200: ridge of 10⁶ samples by 5000 centers ≤ 30 s, of 10⁷ ≤ 120 s, predictions of n = 20 000 within
1e-4 of the CPU's; a learnt metric with centers at n = 10⁶ in the table.
"""

from __future__ import annotations

import time
import traceback
from typing import Any

import numpy as np
from measure import judged, promise, sized, skipped

import mercer as mc
from mercer.arrays import device_name

try:
    import torch
except ImportError:
    torch = None

D = 20


def data(n: int) -> tuple[Any, np.ndarray]:
    """Samples on the device, and targets."""
    torch.manual_seed(0)
    X = torch.randn(n, D, device="cuda")
    y = torch.sin(X[:, 0]) + X[:, 1] * X[:, 2] + 0.1 * torch.randn(n, device="cuda")
    return X, y.cpu().numpy().astype(np.float64)


def main() -> None:
    if torch is None or not torch.cuda.is_available():
        skipped("torch with a GPU", "is not there")
        return
    compute = mc.Compute(device="cuda", memory="90GB")
    k = mc.Gaussian(0.02)
    print(device_name())
    X, y = data(20_000)
    Z = X[:500]
    there = mc.KernelRidge(0.2, k, centers=Z, tol=1e-6, compute=compute).fit(X, y)
    here = mc.KernelRidge(0.2, k, centers=Z.cpu().numpy(), tol=1e-6).fit(X.cpu().numpy(), y)
    apart = np.max(np.abs(np.asarray(there.predict(X[:2000])) - here.predict(X[:2000].cpu().numpy())))
    promise(
        "n = 20 000, m = 500, largest difference of predictions from the CPU's", float(apart), at_most=1e-4, unit=""
    )
    for n, most in ((sized(10**6), 30.0), (sized(10**7), 120.0)):
        X, y = data(n)
        machine = mc.KernelRidge(0.2, k, centers=sized(5000), random_state=0, tol=1e-4, compute=compute)
        start = time.perf_counter()
        machine.fit(X, y)
        took = time.perf_counter() - start
        error = float(np.sqrt(np.mean((np.asarray(machine.predict(X[:20_000])) - y[:20_000]) ** 2)))
        print(f"n = {n}: {took:.1f} s, {machine.n_iter_} steps, residual {machine.gap_:.1e}, RMSE {error:.3f}")
        promise(f"n = {n}, seconds", took, at_most=most, unit="s")
        del X
    X, y = data(sized(10**6))
    metric = mc.FeatureMachineRegressor(centers=sized(5000), random_state=0, compute=compute)
    start = time.perf_counter()
    try:
        metric.fit(X.cpu().numpy(), y)
    except Exception:
        traceback.print_exc()
        return
    print(
        f"FeatureMachineRegressor, n = {len(y)}, {sized(5000)} centers: {time.perf_counter() - start:.1f} s,"
        f" kernel {metric.kernel_}"[:200]
    )


if __name__ == "__main__":
    judged(main)
