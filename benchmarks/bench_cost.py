"""Promise: ``estimate_cost`` foresees the peak of nine fits in ten to 15 % (those of 50 MB and more), and their seconds
to a factor of 2.

    python benchmarks/bench_cost.py [number …]

Each row is a process of its own: compiled code and libraries are loaded by a small fit first, then the fit is
measured and foreseen.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))  # as a script, as a module, and from a test
from measure import QUICK, judged, promise, sized

BYTES, SECONDS, MATTERS = 0.15, 2.0, 50e6

# the estimator, rows, columns (0: strings), and what it learns
CASES = [
    ("mc.KernelRidge(1.0, G)", 7_000, 10, "numbers"),
    ("mc.KernelRidge(1.0, G)", 4_000, 300, "numbers"),
    ("mc.KernelRidge(1.0, mc.Laplacian(0.05))", 4_000, 20, "numbers"),
    ("mc.KernelRidge(1e-3, G, centers=1000, random_state=0)", 60_000, 10, "numbers"),
    (
        "mc.KernelRidge(1e-3, G, centers=800, random_state=0, compute=mc.Compute(dtype='float32'))",
        60_000,
        30,
        "numbers",
    ),
    ("mc.KernelRidge(0.1, mc.Subsequence(3))", 700, 0, "numbers"),
    ("mc.KernelRidgeCV(kernel=G)", 2_000, 10, "numbers"),
    ("mc.KernelLogistic(1.0, G)", 4_000, 10, "classes"),
    ("mc.KernelLogistic(1.0, G)", 3_000, 10, "three"),
    ("mc.KernelHuber(1.0, kernel=G)", 3_500, 40, "numbers"),
    ("mc.KernelPoisson(1.0, G, centers=700, random_state=0)", 40_000, 10, "counts"),
    ("mc.KernelQuantile(alpha=1.0, kernel=G)", 4_000, 10, "numbers"),
    ("mc.SVC(kernel=G)", 4_000, 10, "classes"),
    ("mc.SVC(kernel=G)", 20_000, 10, "classes"),
    ("mc.SVC(kernel=mc.Spectrum(4))", 4_000, 0, "classes"),
    ("mc.SVR(kernel=G)", 5_000, 10, "numbers"),
    ("mc.OneClassSVM(0.1, G)", 15_000, 10, "nothing"),
    ("mc.KernelPCA(10, G)", 8_000, 10, "nothing"),
    ("mc.KernelKMeans(5, G, random_state=0)", 5_000, 10, "nothing"),
    ("mc.SpectralClustering(4, G, random_state=0)", 3_500, 10, "nothing"),
    ("mc.KernelSearchCV(mc.KernelRidge(), {'alpha': [0.01, 0.1, 1.0], 'kernel': [G]}, cv=4)", 3_000, 10, "numbers"),
]
TARGETS = {
    "classes": "first + 0.5 * noise > 0",
    "three": "np.digitize(first + 0.3 * noise, [-0.5, 0.5])",
    "numbers": "first + 0.5 * noise",
    "counts": "np.random.default_rng(1).poisson(np.exp(0.5 * first))",
    "nothing": "None",
}
SCRIPT = """
import re, time, warnings
warnings.simplefilter("ignore")
import numpy as np, mercer as mc
G = mc.Gaussian(1 / max(1, {width}))
def data(n):
    rng = np.random.default_rng(0)
    noise = rng.standard_normal(n)
    if {width}:
        X = rng.standard_normal((n, {width}))
        return X, X[:, 0], noise
    X = ["".join(rng.choice(list("ACGT"), 60)) for _ in range(n)]
    return X, np.array([x.count("AC") - 3.5 for x in X]), noise
def status(name):
    return 1024 * int(re.search(name + r":\\s+(\\d+)", open("/proc/self/status").read())[1])
machine = {estimator}
for n in ({warm}, {rows}):
    X, first, noise = data(n)
    y = {targets}
    open("/proc/self/clear_refs", "w").write("5")
    before = status("VmRSS")
    start = time.perf_counter()
    machine.fit(X, y)
    took = time.perf_counter() - start
    peak = status("VmHWM") - before
start = time.perf_counter()  # afterwards: what is freed before a fit would be there for it
cost = mc.estimate_cost(machine, X, y)
asked = time.perf_counter() - start
print(cost.memory, peak, cost.seconds, took, asked)
"""


def measured(k: int) -> tuple[float, float, float, float, float]:
    """Bytes foreseen and measured, seconds foreseen and measured, and seconds that it took to foresee them."""
    estimator, rows, width, kind = CASES[k]
    rows = sized(rows)
    warm = min(rows, 300 if not width else 1200)
    script = SCRIPT.format(width=width, estimator=estimator, rows=rows, warm=warm, targets=TARGETS[kind])
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, env=os.environ)
    a, b, c, d, e = map(float, result.stdout.split()[-5:])
    return a, b, c, d, e


def main() -> None:
    print(f"{'':<58} {'rows':>7} {'MB foreseen':>12} {'measured':>9} {'s foreseen':>11} {'measured':>9} {'asked':>6}")
    bytes_, seconds, asked = [], [], []
    for k in map(int, sys.argv[1:] or (range(3) if QUICK else range(len(CASES)))):
        memory, peak, foreseen, took, question = measured(k)
        matters = max(memory, peak) >= MATTERS
        good = abs(memory / peak - 1) <= BYTES if matters else None
        near = 1 / SECONDS <= foreseen / took <= SECONDS
        bytes_ += [good] if good is not None else []
        seconds.append(near)
        asked.append(question)
        marks = f"{'' if good is not False else ' bytes'}{'' if near else ' seconds'}"
        print(
            f"{k:>2} {CASES[k][0][3:58]:<55} {CASES[k][1]:>7} {memory / 1e6:>12.0f} {peak / 1e6:>9.0f}"
            f" {foreseen:>11.2f} {took:>9.2f} {question:>6.2f}{marks}",
            flush=True,
        )
    promise("bytes to 15 %", sum(bytes_) / max(1, len(bytes_)), at_least=0.9, unit="of the fits")
    promise("seconds to a factor of 2", sum(seconds) / len(seconds), at_least=0.9, unit="of the fits")
    promise("asked, the median", sorted(asked)[len(asked) // 2], at_most=0.5, unit="s")


if __name__ == "__main__":
    judged(main)
