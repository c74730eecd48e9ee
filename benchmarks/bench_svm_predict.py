"""Promise: decision values of 100 000 points: 3000 SVs, d = 20 ≥ 40× scikit-learn, ≥ 6× intelex; 7000 SVs, d = 64 ≥ 30×
and ≥ 4×.
"""

from __future__ import annotations

import numpy as np
from measure import interleaved, judged, promise, sized, skipped, table
from sklearn.svm import SVC
from svm_data import generated

import mercer as mc

try:
    from sklearnex.svm import SVC as Intelex
except ImportError:
    Intelex = None

POINTS = sized(100_000)


def main() -> None:
    for d, n in ((20, 10_000), (64, 8_500)):
        kind = "noisy" if d == 20 else "friedman"
        X, y = generated(kind, n, d)
        T = generated(kind, POINTS, d, seed=1)[0]
        ours, peer = mc.SVC(1.0, mc.Gaussian(1 / d)).fit(X, y), SVC(gamma=1 / d).fit(X, y)
        single = mc.SVC(1.0, mc.Gaussian(1 / d)).fit(X.astype(np.float32), y)
        narrow = T.astype(np.float32)
        tasks = {
            "mercer": lambda m=ours, T=T: m.decision_function(T),
            "mercer, float32 data": lambda m=single, T=narrow: m.decision_function(T),
            "scikit-learn, a tenth of the points": lambda m=peer, T=T: m.decision_function(T[: POINTS // 10]),
        }
        if Intelex is not None:
            other = Intelex(gamma=1 / d).fit(X, y)
            tasks["intelex"] = lambda m=other, T=T: m.decision_function(T)
        times = interleaved(tasks, rounds=3)
        table(f"decision values of {POINTS} points, {len(ours.support_)} support vectors, d = {d}", times, "mercer")
        ratio = np.median(
            [10 * a / b for a, b in zip(times["scikit-learn, a tenth of the points"], times["mercer"], strict=True)]
        )
        f, g = ours.decision_function(T[:10_000]), peer.decision_function(T[:10_000])
        what = f"{len(ours.support_)} support vectors, d = {d}"
        promise(f"{what}, scikit-learn", float(ratio), at_least=40.0 if d == 20 else 30.0)
        if Intelex is None:
            skipped("intelex")
        else:
            pairs = zip(times["intelex"], times["mercer"], strict=True)
            promise(f"{what}, intelex", float(np.median([a / b for a, b in pairs])), at_least=6.0 if d == 20 else 4.0)
        print(f"  largest difference {np.abs(f - g).max():.1e}, signs that differ {np.sum(np.sign(f) != np.sign(g))}")
        whole = ours.decision_function(T)
        same = all(
            np.array_equal(np.concatenate([ours.decision_function(T[i : i + b]) for i in range(0, POINTS, b)]), whole)
            for b in (3001, 30_000)
        )
        print(f"  the same bits in blocks of 3001 and 30 000: {same}")


if __name__ == "__main__":
    judged(main)
