"""Interleaved timing, peak memory, and promises: machines are noisy, ratios within one run are not.

Each benchmark states its promises in its docstring and as numbers, ``promise(what, measured, at_least=…)`` or
``table(…, promised={peer: ratio})``, and ends with ``judged(main)``: a line for each promise, kept or fallen short, and
exit status 1 where one fell short. A peer that is not installed is ``skipped``, by name. ``--quick`` takes smaller data
and one round, to see that a benchmark runs; it judges nothing.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

KEPT, SHORT, SKIPPED = "kept", "FELL SHORT", "skipped:"  # how the line of a verdict begins
QUICK = "--quick" in sys.argv
if QUICK:
    sys.argv.remove("--quick")
_fallen: list[str] = []


def sized(full: int, quick: int | None = None) -> int:
    """How many rows, points or steps: all, or a tenth or ``quick`` in a quick run."""
    return full if not QUICK else max(1, full // 10) if quick is None else quick


def promise(
    what: str, measured: float, *, at_least: float | None = None, at_most: float | None = None, unit: str = "×"
) -> bool:
    """Print whether a measured number keeps to its bound; remembered for ``judged``."""
    assert (at_least is None) != (at_most is None), "a promise has one bound"
    bound, sign = (at_least, "≥") if at_least is not None else (at_most, "≤")
    kept = bool(measured >= bound if at_least is not None else measured <= bound)
    compared = sign if kept else "<" if at_least is not None else ">"
    line = f"{what}: {_shown(measured, unit)} {compared} {_shown(bound, unit)}"
    print(f"  {KEPT if kept else SHORT} {line}", flush=True)
    if not kept:
        _fallen.append(line)
    return kept


def _shown(number: float, unit: str) -> str:
    return f"{number:.4g}{'' if unit in ('', '×') else ' '}{unit}"


def skipped(name: str, why: str = "is not installed") -> None:
    """Say that a peer or a data set is not there: its promises are neither kept nor broken."""
    print(f"  {SKIPPED} {name} {why}", flush=True)


def judged(main: Callable[[], Any]) -> None:
    """Run a benchmark; exit status 1 where a promise fell short."""
    print(machine(), flush=True)
    main()
    if QUICK:
        print("  a quick run: it judges nothing")
    elif _fallen:
        sys.exit(1)


def interleaved(tasks: dict[str, Callable[[], Any]], rounds: int = 5, *, warm: bool = True) -> dict[str, list[float]]:
    """Seconds of each task in each round; the tasks take turns. One round before the clock starts, unless not ``warm``.

    A pause before each: the threads of some peers spin for a while after their work.
    """
    rounds = 1 if QUICK else rounds
    times: dict[str, list[float]] = {name: [] for name in tasks}
    for turn in range(0 if warm else 1, rounds + 1):
        for name, task in tasks.items():
            time.sleep(0.2)
            start = time.perf_counter()
            result = task()
            elapsed = time.perf_counter() - start
            del result
            if turn:
                times[name].append(elapsed)
    return times


def table(
    title: str, times: dict[str, list[float]], ours: str, note: str = "", promised: dict[str, float] | None = None
) -> dict[str, float]:
    """Print medians and each peer's time over ours (median of the ratios round by round); return those ratios.
    ``promised`` says for peers how large that ratio is to be; a peer of it that was not timed is not installed.
    """
    print(f"\n{title}")
    ratios = {}
    for name, values in times.items():
        ratios[name] = statistics.median(v / o for v, o in zip(values, times[ours], strict=True))
        print(
            f"  {name:<44} {statistics.median(values):8.3f} s   best {min(values):8.3f} s   {ratios[name]:6.2f}× ours"
        )
    if note:
        print(f"  {note}")
    for name, bound in (promised or {}).items():
        if name in ratios:
            promise(f"{title}, {name}", ratios[name], at_least=bound)
        else:
            skipped(name)
    return ratios


def peak_memory(code: str) -> int:
    """Bytes by which running ``code``'s function ``work()`` raises the peak resident memory, measured in a process of
    its own.

    ``code`` prepares the data at top level and defines ``work``. The kernel's high-water mark is reset first (Linux
    only).
    """
    script = f"""
import re
{code}
def status(name):
    return 1024 * int(re.search(name + r":\\s+(\\d+)", open("/proc/self/status").read())[1])
open("/proc/self/clear_refs", "w").write("5")
before = status("VmRSS")
work()
print(status("VmHWM") - before)
"""
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, env=os.environ)
    return int(result.stdout.split()[-1])


def machine() -> str:
    """The processor, and how many of its cores this process may use."""
    with open("/proc/cpuinfo") as info:
        name = next((line.split(":")[1].strip() for line in info if line.startswith("model name")), "unknown processor")
    return f"{name}, {len(os.sched_getaffinity(0))} cores"
