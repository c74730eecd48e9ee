"""Promise: the main job on 500 000 rows × 40 columns, numbers, categories, a date and gaps, with nothing but
``--time 60``: trained on all rows in ≤ 120 s, with a peak of ≤ 3 GB of memory, the table's own 160 MB among them; of a
number and of classes.

``python bench_fit_large.py [regression | classification]``
"""

from __future__ import annotations

import json
import subprocess
import sys

from measure import QUICK, judged, promise, sized

ROWS, SECONDS, BYTES = sized(500_000, 20_000), 10.0 if QUICK else 60.0, 3e9

SCRIPT = """
import json, re, sys, time
import numpy as np, polars as pl
import mercer as mc

task, rows, seconds = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
random = np.random.default_rng(0)
Z = random.standard_normal((rows + 5000, 30))
town = random.integers(0, 30, rows + 5000)
day = random.integers(0, 3000, rows + 5000)
f = np.sin(2 * Z[:, 0]) * Z[:, 1] + np.abs(Z[:, 2]) + 0.3 * (town % 5) + np.cos(2 * np.pi * day / 365.25)
y = f + 0.3 * random.standard_normal(len(f))
frame = pl.DataFrame({f"x{j}": Z[:, j] for j in range(30)})
frame = frame.with_columns(
    pl.when(pl.Series(random.random(len(f)) < 0.05)).then(None).otherwise(pl.col("x3")).alias("x3"),
    *(pl.Series(f"word{j}", random.choice(["red", "green", "blue", "grey"], len(f))) for j in range(4)),
    *(pl.Series(f"count{j}", random.poisson(3, len(f))) for j in range(4)),
    pl.Series("town", [f"town {t}" for t in town]),
    (pl.lit("2015-01-01").str.to_date() + pl.duration(days=pl.Series(day))).alias("day"),
)
frame = frame.with_columns(pl.Series("y", y if task == "regression" else np.digitize(y, [0.5, 1.5]).astype(str)))
train, test = frame[:rows], frame[rows:]
del Z, f, y, frame, town, day
start = time.perf_counter()
model = mc.learn(train, "y", seconds=seconds, random_state=0)
took = time.perf_counter() - start
peak = 1024 * int(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1])
s = model.summary_
found = {"seconds": took, "peak": peak, "score": s["score"], "baseline": s["baseline"], "rows": s["rows"]}
print(json.dumps(found | {"test": abs(model.score(test)), "model": s["model"], "notes": s["notes"]}))
"""


def main() -> None:
    for task in sys.argv[1:] or ["regression", "classification"]:
        run = subprocess.run(
            [sys.executable, "-c", SCRIPT, task, str(ROWS), str(SECONDS)], capture_output=True, text=True, check=False
        )
        if run.returncode:
            print(run.stderr, file=sys.stderr)
            sys.exit(run.returncode)
        found = json.loads(run.stdout.splitlines()[-1])
        print(
            f"\n{task}, {ROWS} rows × 40 columns: {found['model']}\n  claimed {found['score']:.4f}, on 5000 other rows"
            f" {found['test']:.4f}, always the same answer {found['baseline']:.4f}"
        )
        promise(f"{task}, seconds", found["seconds"], at_most=120, unit="s")
        promise(f"{task}, peak memory", found["peak"] / 1e9, at_most=BYTES / 1e9, unit="GB")
        promise(f"{task}, share of the rows trained on", found["rows"] / ROWS, at_least=1, unit="")


if __name__ == "__main__":
    judged(main)
