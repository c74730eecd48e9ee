"""The case table on CUDA against the CPU: float64 to 1e-10, float32 to 1e-4, relative to the largest value.

For anyone with a GPU and torch: ``python -m tests.check_gpu`` in the project's folder. Not collected by pytest: CI has
no GPU.
"""

from __future__ import annotations

import os
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any

import numpy as np
import torch

import mercer as mc
from mercer.arrays import to_numpy
from mercer.compute import Compute
from mercer.engine.gpu import available
from tests.cases import CASES, Case
from tests.engine.test_gpu import Elementary

TOLERANCE = {"float64": 1e-10, "float32": 1e-4}


def errors(case: Case, dtype: str) -> dict[str, float]:
    """The largest difference of each operation, relative to the largest value."""
    X = case.data().astype(dtype)
    there = torch.from_numpy(X).cuda()
    K = case.kernel(case.data())
    scale = float(np.abs(K).max()) or 1.0
    V = np.random.default_rng(0).standard_normal((7, 3))

    def error(actual: Any, expected: Any, size: float = 1.0) -> float:
        return float(np.max(np.abs(to_numpy(actual).astype(float) - expected))) / scale / size

    wide = case.kernel.gram(there, there[:7])
    found = {
        "K": error(case.kernel(there), K),
        "K(X, Y)": error(wide.dense(), K[:, :7]),
        "diag": error(case.kernel.diag(there), np.diagonal(K)),
        "rows": error(case.kernel.gram(there).rows([3, 1]), K[[3, 1]]),
        "K V": error(wide @ V, K[:, :7] @ V, float(np.abs(V).sum(0).max())),
        "normal": error(
            wide.normal(V) / scale, K[:, :7].T @ K[:, :7] @ V / scale, float(np.abs(V).sum(0).max()) * len(X)
        ),
        "moved": error(case.kernel.gram(X, compute=Compute(device="cuda")).dense(), K),
    }
    try:
        for name, gram in case.kernel.gradient(there).items():
            expected = case.kernel.gradient(case.data())[name].dense()
            found[f"∂/∂{name}"] = error(gram.dense(), expected, max(1.0, float(np.abs(expected).max()) / scale))
    except NotImplementedError:
        pass
    return found


def fused(d: int) -> list[mc.Kernel]:
    """Formulas of every kind that one Triton kernel computes, for data of d columns; the first five are radial."""
    return [
        mc.Gaussian(0.7 / d),
        mc.Matern(2.0, 2.5),
        mc.Matern(np.linspace(1.0, 7.0, d).tolist(), 1.5),
        mc.RationalQuadratic(2.0, 1.5),
        mc.PowerExponential(d**0.5, 1.4),
        mc.PowerLaplacian(1 / d, 1.5),
        mc.Gaussian(0.1 / d) * mc.Matern(d**0.5, 0.5) * mc.RationalQuadratic(4.0, 1.5),
        mc.Polynomial(3, -0.5, 0.7 / d),
        mc.Laplacian(1.4 / d),
        mc.Anova(2),
        (mc.Gaussian(0.7 / d) + mc.Linear()).normalized() * mc.Constant(2.0),
        Elementary(0.7 / d),
    ]


def fused_errors(
    kernel: mc.Kernel, d: int, dtype: str, precision: str | None = None, far: float = 0.0
) -> dict[str, float]:
    """A formula through Triton against the CPU in float64: the stored matrix, products with 1 and 8 columns, K^T(KV).

    Some items are equal, some nearly; with ``far``, a cluster of them lies that far from the rest.
    """
    rng = np.random.default_rng(0)
    X, Y = rng.standard_normal((2311, d)).astype(dtype), rng.standard_normal((2050, d)).astype(dtype)
    if far:
        X[300:340] = far + 1e-2 * rng.standard_normal((40, d))
        Y[40:60] = far + 1e-2 * rng.standard_normal((20, d))
    X[100] = X[2000] = Y[5]
    X[101] = Y[6] + 1e-4
    V = rng.standard_normal((2050, 8))
    gram = kernel.gram(torch.from_numpy(X).cuda(), torch.from_numpy(Y).cuda(), Compute(dtype=precision))
    assert gram._tiles._launch is not None, f"{kernel} should be fused"  # type: ignore[attr-defined]
    K = kernel(X.astype(float), Y.astype(float))
    scale, size = float(np.abs(K).max()), float(np.abs(V).sum(0).max())
    square = kernel.gram(torch.from_numpy(X).cuda(), compute=Compute(dtype=precision))
    return {
        "K": float(np.abs(to_numpy(gram.dense()) - K).max()) / scale,
        "symmetric K": float(np.abs(to_numpy(square.dense()) - kernel(X.astype(float))).max()) / scale,
        "K v": float(np.abs(to_numpy(gram @ V[:, 0]) - K @ V[:, 0]).max()) / scale / size,
        "K V": float(np.abs(to_numpy(gram @ V) - K @ V).max()) / scale / size,
        "K e": float(np.abs(to_numpy(gram @ np.eye(2050)[:, [6, 50]]) - K[:, [6, 50]]).max()) / scale,
        "normal": float(np.abs(to_numpy(gram.normal(V)) - K.T @ (K @ V)).max()) / scale**2 / size / len(X),
    }


def check_one(job: tuple[str, str | None, float, int, float, int]) -> tuple[bool, str]:
    dtype, precision, tolerance, d, far, which = job
    kernel = fused(d)[which]
    start = time.perf_counter()
    found = fused_errors(kernel, d, dtype, precision, far)
    worst = max(found, key=lambda k: found[k])
    good = found[worst] <= tolerance
    where = f"{precision or dtype} {kernel}, {d} columns{', with a far cluster' if far else ''}"
    return (
        good,
        (
            f"  {'' if good else 'FAILED '}{where}: largest difference {found[worst]:.1e} ({worst}),"
            f" {time.perf_counter() - start:.1f} s"
        ),
    )


def check_fused() -> int:
    """Every formula of ``fused`` in every precision, subtracted (7 columns) and multiplied out (40, 100); the number of
    failures.

    Compiling is the work, so each formula has a process of its own.
    """
    jobs = [
        (dtype, precision, tolerance, d, far, which)
        for dtype, precision, tolerance in (
            ("float64", None, 1e-12),
            ("float32", None, 1e-5),
            ("float32", "tf32", 3e-2),
        )
        for d, far, some in ((7, 0.0, range(10)), (40, 0.0, range(10)), (40, 50.0, range(5)), (100, 0.0, (0, 4, 5)))
        for which in some
    ]
    failures = 0
    with pool() as workers:
        for good, line in workers.map(check_one, jobs):
            failures += not good
            print(line, flush=True)
    return failures


def check_case(job: tuple[str, int]) -> tuple[str, dict[str, float]]:
    dtype, which = job
    return str(CASES[which]), errors(CASES[which], dtype)


def check_cases(dtype: str, tolerance: float) -> int:
    """Every kernel of the case table, small matrices mostly; the number of failures."""
    failures, worst = 0, ("", "", 0.0)
    with pool() as workers:
        for case, found in workers.map(check_case, [(dtype, k) for k in range(len(CASES))], chunksize=4):
            for what, value in found.items():
                worst = max(worst, (case, what, value), key=lambda w: w[2])
                if not value <= tolerance:
                    failures += 1
                    print(f"  FAILED {dtype} {case}: {what} differs by {value:.1e}")
    print(
        f"{dtype}: {len(CASES)} kernels, largest difference {worst[2]:.1e} ({worst[1]} of {worst[0]}), allowed"
        f" {tolerance:.0e}",
        flush=True,
    )
    return failures


def pool() -> ProcessPoolExecutor:
    return ProcessPoolExecutor(min(12, os.cpu_count() or 1), mp_context=get_context("spawn"))


def main() -> int:
    print(torch.cuda.get_device_name(0), "torch", torch.__version__)
    failures = check_fused() if available() else 0
    failures += sum(check_cases(dtype, tolerance) for dtype, tolerance in TOLERANCE.items())
    print("all within tolerance" if not failures else f"{failures} differences beyond tolerance")
    return min(failures, 1)


if __name__ == "__main__":
    sys.exit(main())
