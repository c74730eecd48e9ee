"""Promises about waiting: import < 0.4 s, `mercer --help` < 0.5 s, an asymmetric 5000 × 5000 matrix refused in <
0.1 s.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from measure import judged, promise

import mercer as mc


def best(task: Callable[[], Any], rounds: int = 5) -> float:
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        task()
        times.append(time.perf_counter() - start)
    return min(times)


def refused(K: np.ndarray) -> None:
    try:
        mc.Precomputed(K)
    except ValueError:
        return
    raise AssertionError("an asymmetric matrix was accepted")


def main() -> None:
    nothing = best(lambda: subprocess.run([sys.executable, "-c", "pass"], check=True))
    imported = best(lambda: subprocess.run([sys.executable, "-c", "import mercer as mc"], check=True))
    used = best(
        lambda: subprocess.run(
            [sys.executable, "-c", "import mercer as mc; mc.Gaussian(1.0)([[0.0], [1.0]])"], check=True
        ),
        3,
    )
    helped = best(
        lambda: subprocess.run(
            [sys.executable, "-m", "mercer.app.cli", "--help"], check=True, stdout=subprocess.DEVNULL
        )
    )
    print(
        f"  import mercer: {imported - nothing:.3f} s above a bare Python; import and a first kernel: {used:.2f} s;"
        f" mercer --help: {helped:.3f} s"
    )
    noisy = 1 + 0.05 * np.random.default_rng(0).standard_normal((5000, 5000))
    single = noisy + noisy.T
    single[4900, 4000] += 1
    promise("import mercer, above a bare Python", imported - nothing, at_most=0.4, unit="s")
    promise("mercer --help", helped, at_most=0.5, unit="s")
    promise("asymmetric 5000², noise: refused in", best(lambda: refused(noisy)), at_most=0.1, unit="s")
    promise("asymmetric 5000², one wrong entry: refused in", best(lambda: refused(single)), at_most=0.1, unit="s")
    for size in (1100, 1100):
        X = np.random.default_rng(0).standard_normal((size, 20))
        start = time.perf_counter()
        mc.Gaussian(0.1)(X)
        print(f"  first and second Gram of {size}² in this process: {time.perf_counter() - start:.3f} s")


if __name__ == "__main__":
    judged(main)
