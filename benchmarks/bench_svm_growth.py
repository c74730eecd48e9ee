"""Promise: SVC training at every n of 10³ … 10⁵ ≥ 2× scikit-learn's speed and ≥ 1× scikit-learn-intelex's.

Draws docs/svm_growth.png: d = 20, C = 1.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from growth import drawn
from measure import QUICK, judged, promise, skipped
from sklearn.svm import SVC
from svm_data import generated

import mercer as mc

try:
    from sklearnex.svm import SVC as Intelex
except ImportError:
    Intelex = None

SIZES = (1000, 2000, 5000, 10_000, 20_000, 50_000, 100_000)
LONGEST = 40.0  # seconds; a peer that took a quarter of it is not asked for the next size


def main() -> None:
    makers: dict[str, Any] = {
        "mercer": lambda: mc.SVC(1.0, mc.Gaussian(1 / 20)),
        "scikit-learn": lambda: SVC(gamma=1 / 20, cache_size=2000),
    }
    if Intelex is not None:
        makers["intelex"] = lambda: Intelex(gamma=1 / 20, cache_size=2000)
    found: dict[str, list[tuple[int, float]]] = {name: [] for name in makers}
    makers["mercer"]().fit(*generated("mc", 5000))
    for n in SIZES[:2] if QUICK else SIZES:
        X, y = generated("mc", n)
        for name, make in makers.items():
            if found[name] and found[name][-1][1] > LONGEST / 4:
                continue
            times = []
            for _ in range(3 if n <= 5000 else 1):
                start = time.perf_counter()
                make().fit(X, y)
                times.append(time.perf_counter() - start)
            found[name].append((n, float(np.median(times))))
        print(
            f"  n = {n:>6}: "
            + "   ".join(f"{name} {points[-1][1]:8.3f} s" for name, points in found.items() if points[-1][0] == n),
            flush=True,
        )
        ours = found["mercer"][-1][1]
        for name, bound in (("scikit-learn", 2.0), ("intelex", 1.0)):
            if name not in found:
                skipped(name)
            elif found[name][-1][0] == n:
                promise(f"n = {n}, {name}", found[name][-1][1] / ours, at_least=bound)
    for name, points in found.items():
        n, t = np.log(np.array(points[-4:])).T
        print(f"  {name}: time grows as n^{np.polyfit(n, t, 1)[0]:.2f} over its last sizes")
    if not QUICK:
        drawn("svm_growth", {"samples": found}, columns=3)


if __name__ == "__main__":
    judged(main)
