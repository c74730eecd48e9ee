"""Promise: SVC training, Gaussian kernel, tol 1e-3, against scikit-learn (cache 2 GB) and scikit-learn-intelex, two
threads each.

Median over three generators: n = 2000 ≥ 6×; n = 10 000 ≥ 11× (C = 1), ≥ 7× (C = 100); n = 30 000 ≥ 22×, ≥ 7×; intelex ≥
6×; d = 256 ≥ 8× and ≥ 3×. Arguments: sizes to run, as 2000 10000 30000 wide; all without any.
"""

from __future__ import annotations

import statistics
import sys
from typing import Any

import numpy as np
from measure import QUICK, interleaved, judged, promise, skipped
from sklearn.svm import SVC
from svm_data import GENERATORS, generated

import mercer as mc

try:
    from sklearnex.svm import SVC as Intelex
except ImportError:
    Intelex = None

# the peer's time over ours, for C = 1 and C = 100
PROMISED = {
    "2000": {"scikit-learn": {1.0: 6.0, 100.0: 6.0}, "intelex": {1.0: 6.0, 100.0: 6.0}},
    "10000": {"scikit-learn": {1.0: 11.0, 100.0: 7.0}, "intelex": {1.0: 6.0, 100.0: 6.0}},
    "30000": {"scikit-learn": {1.0: 22.0, 100.0: 7.0}, "intelex": {1.0: 6.0, 100.0: 6.0}},
    "wide": {"scikit-learn": {1.0: 8.0, 100.0: 8.0}, "intelex": {1.0: 3.0, 100.0: 3.0}},
}


def cell(kind: str, n: int, C: float, d: int, rounds: int) -> dict[str, float]:
    X, y = generated(kind, n, d)
    fitted: dict[str, Any] = {}

    def keep(name: str, machine: Any) -> Any:
        fitted[name] = machine.fit(X, y)
        return fitted[name]

    tasks = {
        "mercer": lambda: keep("mercer", mc.SVC(C, mc.Gaussian(1 / d))),
        "scikit-learn": lambda: keep("scikit-learn", SVC(C=C, gamma=1 / d, cache_size=2000)),
    }
    if Intelex is not None:
        tasks["intelex"] = lambda: keep("intelex", Intelex(C=C, gamma=1 / d, cache_size=2000))
    tasks["mercer"]()  # compiled before the clock starts
    times = interleaved(tasks, rounds, warm=n <= 10_000)
    gram = mc.Gaussian(1 / d).gram(X)
    signs = np.where(y == 1, 1.0, -1.0)

    def objective(machine: Any) -> float:
        b = np.zeros(n)
        b[machine.support_] = np.asarray(machine.dual_coef_).reshape(-1)
        return float(0.5 * b @ (gram @ b) - signs @ b)

    best = objective(fitted["scikit-learn"])
    ratios = {
        name: statistics.median(t / o for t, o in zip(values, times["mercer"], strict=True))
        for name, values in times.items()
    }
    shown = "   ".join(f"{name} {statistics.median(values):8.3f} s" for name, values in times.items())
    more = "   ".join(f"{name} {ratio:5.1f}×" for name, ratio in ratios.items() if name != "mercer")
    m = fitted["mercer"]
    print(
        f"  {kind:<9} C = {C:<5g} {shown}   {more}   {len(m.support_)} SV, gap {m.gap_:.1e}, objective"
        f" {(objective(m) - best) / abs(best):+.0e}",
        flush=True,
    )
    return ratios


def main() -> None:
    wanted = sys.argv[1:] or (["2000"] if QUICK else list(PROMISED))
    for size in wanted:
        n, d = (8000, 256) if size == "wide" else (int(size), 20)
        print(f"\nn = {n}, d = {d}")
        for C in (1.0, 100.0):
            rounds = 7 if n == 2000 else 3 if n <= 10_000 else 1
            found = [cell(kind, n, C, d, rounds) for kind in (GENERATORS if d == 20 else ("mc",))]
            medians = {name: statistics.median(f[name] for f in found) for name in found[0] if name != "mercer"}
            for name, bounds in PROMISED[size].items():
                if name in medians:
                    promise(f"n = {n}, d = {d}, C = {C:g}, median, {name}", medians[name], at_least=bounds[C])
                else:
                    skipped(name)


if __name__ == "__main__":
    judged(main)
