"""Promise: a change keeps the speed of what was fast, within 5 %. Two source trees on one machine take turns.

    python benchmarks/compare_versions.py ../mercer-before

A process for each tree holds the data; the tasks are those of bench_gram, bench_product, bench_svm, bench_svm_small,
bench_strings, bench_graphs, bench_ridge and bench_kpca at their main sizes.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

ALLOWED = 1.05
ROUNDS = 15


def tasks() -> dict[str, Callable[[], Any]]:
    """What is timed, by name; all that need not be timed has been done."""
    import numpy as np
    from sklearn.datasets import load_digits, load_iris
    from svm_data import generated

    import mercer as mc

    rng = np.random.default_rng(0)
    X, P = rng.standard_normal((4000, 64)), rng.standard_normal((20_000, 20))
    R, v = rng.standard_normal((4000, 10)), rng.standard_normal(20_000)
    gaussian, single = mc.Gaussian(1 / 64), X.astype(np.float32)
    iris, digits = load_iris(), load_digits()
    strings = ["".join(letters) for letters in np.array(list("ACGT"))[rng.integers(0, 4, (2000, 300))]]
    graphs = [
        mc.Graph(rng.integers(0, 20, (30, 2)).tolist(), list(map(str, rng.integers(0, 4, 20)))) for _ in range(1500)
    ]
    fit = {n: generated("mc", n) for n in (100, 2000, 10_000)}
    found = {
        "gram, n = 4000, float64": lambda: gaussian(X),
        "gram, n = 4000, float32": lambda: gaussian(single),
        "product, n = 20 000": lambda: mc.Gaussian(0.05).gram(P) @ v,
        **{f"SVC, n = {n}": partial(mc.SVC(1.0, mc.Gaussian(1 / 20)).fit, *data) for n, data in fit.items()},
        "SVC, iris": partial(mc.SVC(1.0, mc.Gaussian(0.5)).fit, iris.data, iris.target),
        "SVC, digits": partial(mc.SVC(10.0, mc.Gaussian(0.02)).fit, digits.data / 16, digits.target),
        "Spectrum(3), 2000 × 300": lambda: mc.Spectrum(3)(strings),
        "2*Spectrum(3), 2000 × 300": lambda: (2 * mc.Spectrum(3))(strings),
        "Spectrum(6), 2000 × 300": lambda: mc.Spectrum(6)(strings),
        "Gappy(7, 4), 2000 × 300": lambda: mc.Gappy(7, 4)(strings),
        "WeisfeilerLehman(4), 1500 graphs": lambda: mc.WeisfeilerLehman(4)(graphs),
        "KernelRidge, n = 4000": partial(mc.KernelRidge(1e-2, mc.Gaussian(0.1)).fit, R, np.sin(R[:, 0])),
        "KernelPCA, n = 4000": partial(mc.KernelPCA(10, mc.Gaussian(0.1)).fit, R),
    }
    for task in found.values():
        task()
    return found


def worker() -> None:
    """Runs the task whose number it reads, and writes the seconds that it took: of several runs, for short ones."""
    known = list(tasks().items())
    print("\n".join(name for name, _ in known), end="\n\n", flush=True)
    for line in sys.stdin:
        task, took = known[int(line)][1], []
        while not took or (sum(took) < 0.05 and len(took) < 20):
            start = time.perf_counter()
            task()
            took.append(time.perf_counter() - start)
        print(min(took), flush=True)


def _begin(tree: Path) -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONPATH": str(tree / "src")}
    return subprocess.Popen(
        [sys.executable, __file__, "--worker"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
    )


def _seconds(process: subprocess.Popen[str], task: int) -> float:
    assert process.stdin is not None
    assert process.stdout is not None
    print(task, file=process.stdin, flush=True)
    return float(process.stdout.readline())


def main(before: str) -> int:
    trees = [Path(before), Path(__file__).parents[1]]
    processes = [_begin(tree) for tree in trees]
    names = [[line.strip() for line in iter(p.stdout.readline, "\n")] for p in processes if p.stdout is not None]
    print(f"{'':36s} {'before':>10s} {'after':>10s}   after/before")
    slower = []
    for t, name in enumerate(names[0]):
        took: list[list[float]] = [[], []]
        for turn in range(ROUNDS):
            for which in (0, 1) if turn % 2 else (1, 0):
                took[which].append(_seconds(processes[which], t))
        ratio = statistics.median(b / a for a, b in zip(*took, strict=True))
        slower += [name] if ratio > ALLOWED else []
        first, second = (1e3 * statistics.median(x) for x in took)
        print(f"{name:36s} {first:7.2f} ms {second:7.2f} ms   {ratio:.2f}")
    for process in processes:
        process.kill()
    print(f"slower by more than {ALLOWED - 1:.0%}: {', '.join(slower) or 'none'}")
    return int(bool(slower))


if __name__ == "__main__":
    if sys.argv[1:] == ["--worker"]:
        worker()
    elif len(sys.argv) == 2:
        sys.exit(main(sys.argv[1]))
    else:
        sys.exit(__doc__)
