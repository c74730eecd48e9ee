"""Promise: a first fit with nothing compiled takes at most 4 s, and after ``mercer compile`` at most 1 s.

    python benchmarks/bench_first_fit.py [--rounds N]

Each figure is of a process of its own: the import of the estimator, and its first fit. "nothing compiled" has empty
caches each time; "after mercer compile" has those that the command has filled, whose seconds are told too.
scikit-learn's SVC beside it, imported and fitted in the same way.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))  # as a script, and as a module
from measure import QUICK, judged, promise, table

SIZES = [(100, 2), (1000, 2), (3000, 2), (1000, 3)]

_SCRIPT = """
import sys, time
import numpy as np
n, classes = int(sys.argv[1]), int(sys.argv[2])
rng = np.random.default_rng(0)
X = rng.standard_normal((n, 20))
y = np.argmax(X @ rng.standard_normal((20, classes)) + 1.5 * rng.standard_normal((n, classes)), axis=1)
start = time.perf_counter()
from {module} import SVC
imported = time.perf_counter()
SVC().fit(X, y)
print(imported - start, time.perf_counter() - imported)
"""


def first_fit(module: str, n: int, classes: int, cache: str) -> tuple[float, float]:
    """Seconds of the import and of the first fit in a process whose caches are in a folder."""
    command = [sys.executable, "-c", _SCRIPT.format(module=module), str(n), str(classes)]
    imported, fitted = subprocess.run(
        command, capture_output=True, text=True, check=True, env=_caches(cache)
    ).stdout.split()
    return float(imported), float(fitted)


def _caches(folder: str) -> dict[str, str]:
    return os.environ | {
        "NUMBA_CACHE_DIR": os.path.join(folder, "numba"),
        "XDG_CACHE_HOME": folder,
        "LOCALAPPDATA": folder,
    }


def _empty(module: str, n: int, classes: int) -> tuple[float, float]:
    with tempfile.TemporaryDirectory() as folder:
        return first_fit(module, n, classes, folder)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=5)
    rounds = 1 if QUICK else parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as prepared:
        start = time.perf_counter()
        subprocess.run(
            [sys.executable, "-m", "mercer.app.cli", "compile"],
            check=True,
            stdout=subprocess.DEVNULL,
            env=_caches(prepared),
        )
        print(f"mercer compile: {time.perf_counter() - start:.0f} s")
        imports: dict[str, list[float]] = {"mercer": [], "scikit-learn": []}
        for n, classes in SIZES:
            fits: dict[str, list[float]] = {"after mercer compile": [], "nothing compiled": [], "scikit-learn": []}
            for _ in range(rounds):  # the three take turns
                ready, empty, theirs = (
                    first_fit("mercer", n, classes, prepared), _empty("mercer", n, classes),
                    first_fit("sklearn.svm", n, classes, prepared),
                )  # fmt: skip
                for name, (_, fitted) in zip(fits, (ready, empty, theirs), strict=True):
                    fits[name].append(fitted)
                imports["mercer"].append(ready[0])
                imports["scikit-learn"].append(theirs[0])
            title = f"first SVC().fit, n = {n}, d = 20, {classes} classes"
            table(title, fits, "after mercer compile")
            for name, most in (("nothing compiled", 4.0), ("after mercer compile", 1.0)):
                promise(f"{title}, {name}", statistics.median(fits[name]), at_most=most, unit="s")
        table("import of SVC", imports, "mercer")


if __name__ == "__main__":
    judged(main)
