"""The case table on CUDA against the CPU: float64 to 1e-10, float32 to 1e-4, relative to the largest value.

For anyone with a GPU and torch: ``python -m tests.check_gpu`` in the project's folder. Not collected by pytest: CI has no GPU.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import torch

from mercer.backend import Compute, to_numpy
from tests.cases import CASES, Case

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
        "normal": error(wide.normal(V) / scale, K[:, :7].T @ K[:, :7] @ V / scale, float(np.abs(V).sum(0).max()) * len(X)),
        "moved": error(case.kernel.gram(X, compute=Compute(device="cuda")).dense(), K),
    }
    try:
        for name, gram in case.kernel.gradient(there).items():
            expected = case.kernel.gradient(case.data())[name].dense()
            found[f"∂/∂{name}"] = error(gram.dense(), expected, max(1.0, float(np.abs(expected).max()) / scale))
    except NotImplementedError:
        pass
    return found


def main() -> int:
    print(torch.cuda.get_device_name(0), "torch", torch.__version__)
    failures = 0
    for dtype, tolerance in TOLERANCE.items():
        worst = ("", "", 0.0)
        for case in CASES:
            for what, value in errors(case, dtype).items():
                worst = max(worst, (str(case), what, value), key=lambda w: w[2])
                if not value <= tolerance:
                    failures += 1
                    print(f"  FAILED {dtype} {case}: {what} differs by {value:.1e}")
        print(f"{dtype}: {len(CASES)} kernels, largest difference {worst[2]:.1e} ({worst[1]} of {worst[0]}), allowed {tolerance:.0e}")
    print("all within tolerance" if not failures else f"{failures} differences beyond tolerance")
    return min(failures, 1)


if __name__ == "__main__":
    sys.exit(main())
