"""Ctrl-C ends a long computation on sequences."""

from __future__ import annotations

import signal
import subprocess
import sys
import time

import pytest

_SCRIPT = """
import numpy as np
import mercer as mc
rng = np.random.default_rng(0)
def dna(n, length): return [np.frombuffer(b"ACGT", np.uint8)[rng.integers(0, 4, length)].tobytes() for _ in range(n)]
def walks(n, length): return [rng.standard_normal(length).cumsum() for _ in range(n)]
def tokens(n, length): return [rng.integers(0, 300, length) for _ in range(n)]
kernel, few, many = {case}
kernel(few)
print("ready", flush=True)
try:
    kernel(many)
    print("finished", flush=True)
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""
_LONG = {
    "gapped words": "mc.Gappy(12, 6), dna(2, 30), dna(130, 20_000)",
    "gapped words of tokens": "mc.Gappy(12, 6), tokens(2, 30), tokens(100, 5_000)",
    "series": "mc.GlobalAlignment(3.0), walks(2, 30), walks(40, 10_000)",
    "subsequences": "mc.Subsequence(8, 0.5), dna(20, 30), dna(100, 20_000)",
}


@pytest.mark.thorough
@pytest.mark.parametrize(
    "name", [name if i < 2 else pytest.param(name, marks=pytest.mark.slow) for i, name in enumerate(_LONG)]
)
def test_a_long_computation_stops_when_interrupted(name: str) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", _SCRIPT.format(case=_LONG[name])], stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        time.sleep(0.8)
        process.send_signal(signal.SIGINT)
        # at once, but for what may have to be compiled first, on a busy machine; without an interrupt it takes minutes
        out, _ = process.communicate(timeout=20)
        assert out == "interrupted\n"
    finally:
        process.kill()
        process.communicate()
