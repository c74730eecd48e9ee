"""Interleaved timing and peak memory: machines are noisy, ratios within one run are not."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any


def interleaved(tasks: dict[str, Callable[[], Any]], rounds: int = 5, *, warm: bool = True) -> dict[str, list[float]]:
    """Seconds of each task in each round; the tasks take turns. One round before the clock starts, unless not ``warm``.

    A pause before each: the threads of some peers spin for a while after their work.
    """
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


def table(title: str, times: dict[str, list[float]], ours: str, note: str = "") -> dict[str, float]:
    """Print medians and each peer's time over ours (median of the ratios round by round); return those ratios."""
    print(f"\n{title}")
    ratios = {}
    for name, values in times.items():
        ratios[name] = statistics.median(v / o for v, o in zip(values, times[ours], strict=True))
        print(
            f"  {name:<44} {statistics.median(values):8.3f} s   best {min(values):8.3f} s   {ratios[name]:6.2f}× ours"
        )
    if note:
        print(f"  {note}")
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
    """The processor and its cores."""
    with open("/proc/cpuinfo") as info:
        name = next((line.split(":")[1].strip() for line in info if line.startswith("model name")), "unknown processor")
    return f"{name}, {os.cpu_count()} cores"
