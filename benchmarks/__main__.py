"""Run all benchmarks to their end, then show every verdict in one table; exit status 1 where a promise fell short.

python -m benchmarks [--quick] [name …]        # gram, svm, …: those of bench_NAME.py; all without names
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

from benchmarks.measure import KEPT, QUICK, SHORT, SKIPPED

FOLDER = Path(__file__).parent


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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="smaller data and one round: judges nothing")
    parser.add_argument("names", nargs="*")
    given = parser.parse_args(sys.argv[1:] + (["--quick"] if QUICK else []))
    names = given.names or [path.stem.removeprefix("bench_") for path in sorted(FOLDER.glob("bench_*.py"))]
    rows = []
    for name in names:
        print(f"\n== {name}", flush=True)
        rows.append((name, *verdicts(FOLDER / f"bench_{name}.py", ["--quick"] if given.quick else [])))
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
