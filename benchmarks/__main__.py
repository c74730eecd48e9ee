"""Run all benchmarks to their end, then show every verdict in one table; exit status 1 where a promise fell short.

python -m benchmarks [--quick] [--keep] [--minutes M] [name …]      # those of bench_NAME.py; all without names

``--keep`` writes the verdicts to ``results/verdicts.jsonl``, in the place of an older run of the same
benchmark. ``--minutes`` stops each benchmark after so long; the verdicts until then count.
"""

from __future__ import annotations

import argparse
import contextlib
import datetime
import json
import math
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

from benchmarks.measure import KEPT, QUICK, SHORT, SKIPPED, machine

FOLDER = Path(__file__).parent
RESULTS = FOLDER / "results" / "verdicts.jsonl"


def verdicts(path: Path, options: list[str], seconds: float = math.inf) -> tuple[int, list[str]]:
    """Run one benchmark, show what it prints, and return its exit status and the lines of its verdicts."""
    command = [sys.executable, "-u", str(path), *options]
    found = []
    # the folder above, for processes that the benchmark starts itself
    places = os.pathsep.join([str(FOLDER.parent), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "PYTHONPATH": places}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment, process_group=0) as run:
        assert run.stdout is not None
        clock = threading.Timer(min(seconds, threading.TIMEOUT_MAX), _stop, [run.pid])
        clock.start()
        # what it leaves behind may hold its output open: it is ended when the benchmark is
        after = threading.Thread(target=lambda: (run.wait(), _stop(run.pid)), daemon=True)
        after.start()
        try:
            for line in run.stdout:
                print(line, end="", flush=True)
                if line.strip().startswith((KEPT, SHORT, SKIPPED)):
                    found.append(line.strip())
            run.wait()
        finally:
            clock.cancel()
            _stop(run.pid)
    return run.returncode, found


def _stop(group: int) -> None:
    """End a benchmark with the processes that it has started."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(group, signal.SIGTERM)


def keep(name: str, status: int, lines: list[str], path: Path = RESULTS) -> None:
    """Write the verdicts of a run, with machine, date and how busy the machine was after it."""
    old = [json.loads(line) for line in path.read_text("utf-8").splitlines()] if path.exists() else []
    run = {
        "benchmark": name, "date": datetime.date.today().isoformat(), "machine": machine(),
        "load": round(os.getloadavg()[1], 1), "ended": _ended(status, lines),
        "verdicts": list(dict.fromkeys(lines)),  # a peer that is not installed is said once
    }  # fmt: skip
    runs = sorted([*(one for one in old if one["benchmark"] != name), run], key=lambda one: str(one["benchmark"]))
    path.write_text("".join(json.dumps(one, ensure_ascii=False) + "\n" for one in runs), encoding="utf-8")


def _ended(status: int, lines: list[str]) -> bool:
    """Exit status 1 with a promise that fell short is an end as well; a negative one is a signal's."""
    return status == 0 or (status == 1 and any(line.startswith(SHORT) for line in lines))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="smaller data and one round: judges nothing")
    parser.add_argument("--keep", action="store_true", help=f"write the verdicts to results/{RESULTS.name}")
    parser.add_argument("--minutes", type=float, default=math.inf, help="stop each benchmark after so long")
    parser.add_argument("names", nargs="*")
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell ignores it for what it starts in the background
    for ends in (signal.SIGTERM, signal.SIGHUP):  # the benchmark is of a group of its own, and is ended as well
        signal.signal(ends, lambda number, _: sys.exit(128 + number))
    given = parser.parse_args(sys.argv[1:] + (["--quick"] if QUICK else []))
    names = given.names or [path.stem.removeprefix("bench_") for path in sorted(FOLDER.glob("bench_*.py"))]
    rows = []
    for name in names:
        print(f"\n== {name}", flush=True)
        options = ["--quick"] if given.quick else []
        rows.append((name, *verdicts(FOLDER / f"bench_{name}.py", options, 60 * given.minutes)))
        if given.keep and not given.quick:
            keep(*rows[-1])
    print("\n== all verdicts")
    for name, status, lines in rows:
        for line in dict.fromkeys(lines):  # a peer that is not installed is said once
            print(f"  {name:<16} {line}")
        if not lines:
            print(f"  {name:<16} promises nothing")
        if not _ended(status, lines):
            print(f"  {name:<16} ended with exit status {status}")
    short = sum(line.startswith(SHORT) for _, _, lines in rows for line in lines)
    broken = [name for name, status, lines in rows if not _ended(status, lines)]
    print(f"{short} promises fell short; did not run to their end: {', '.join(broken) or 'none'}")
    sys.exit(bool(broken) or (bool(short) and not given.quick))


if __name__ == "__main__":
    main()
