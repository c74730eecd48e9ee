"""Run all benchmarks to their end, then show every verdict in one table; exit status 1 where a promise fell short.

python -m benchmarks [--quick] [--keep] [name …]        # gram, svm, …: those of bench_NAME.py; all without names

``--keep`` writes the verdicts to ``results/verdicts.jsonl``, in the place of an older run of the same
benchmark.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import subprocess
import sys
from pathlib import Path

from benchmarks.measure import KEPT, QUICK, SHORT, SKIPPED, machine

FOLDER = Path(__file__).parent
RESULTS = FOLDER / "results" / "verdicts.jsonl"


def verdicts(path: Path, options: list[str]) -> tuple[int, list[str]]:
    """Run one benchmark, show what it prints, and return its exit status and the lines of its verdicts."""
    command = [sys.executable, "-u", str(path), *options]
    found = []
    # the folder above, for processes that the benchmark starts itself
    places = os.pathsep.join([str(FOLDER.parent), os.environ.get("PYTHONPATH", "")])
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": places}) as run:
        assert run.stdout is not None
        for line in run.stdout:
            print(line, end="", flush=True)
            if line.strip().startswith((KEPT, SHORT, SKIPPED)):
                found.append(line.strip())
    return run.returncode, found


def keep(name: str, status: int, lines: list[str], path: Path = RESULTS) -> None:
    """Write the verdicts of a run, with machine, date and how busy the machine was after it."""
    old = [json.loads(line) for line in path.read_text("utf-8").splitlines()] if path.exists() else []
    run = {
        "benchmark": name, "date": datetime.date.today().isoformat(), "machine": machine(),
        "load": round(os.getloadavg()[1], 1), "ended": not status or any(line.startswith(SHORT) for line in lines),
        "verdicts": list(dict.fromkeys(lines)),  # a peer that is not installed is said once
    }  # fmt: skip
    runs = sorted([*(one for one in old if one["benchmark"] != name), run], key=lambda one: str(one["benchmark"]))
    path.write_text("".join(json.dumps(one, ensure_ascii=False) + "\n" for one in runs), encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="smaller data and one round: judges nothing")
    parser.add_argument("--keep", action="store_true", help=f"write the verdicts to results/{RESULTS.name}")
    parser.add_argument("names", nargs="*")
    given = parser.parse_args(sys.argv[1:] + (["--quick"] if QUICK else []))
    names = given.names or [path.stem.removeprefix("bench_") for path in sorted(FOLDER.glob("bench_*.py"))]
    rows = []
    for name in names:
        print(f"\n== {name}", flush=True)
        rows.append((name, *verdicts(FOLDER / f"bench_{name}.py", ["--quick"] if given.quick else [])))
        if given.keep and not given.quick:
            keep(*rows[-1])
    print("\n== all verdicts")
    for name, status, lines in rows:
        for line in dict.fromkeys(lines):  # a peer that is not installed is said once
            print(f"  {name:<16} {line}")
        if not lines:
            print(f"  {name:<16} promises nothing")
        if status and not any(line.startswith(SHORT) for line in lines):
            print(f"  {name:<16} ended with exit status {status}")
    short = sum(line.startswith(SHORT) for _, _, lines in rows for line in lines)
    broken = [name for name, status, lines in rows if status and not any(line.startswith(SHORT) for line in lines)]
    print(f"{short} promises fell short; did not run to their end: {', '.join(broken) or 'none'}")
    sys.exit(bool(broken) or (bool(short) and not given.quick))


if __name__ == "__main__":
    main()
