"""Promise: ``max_time=1`` at n = 50 000 returns within 1.5 s with a model; Ctrl-C within 0.5 s; n = 200 000, d = 20
trains inside 2 GB.
"""

from __future__ import annotations

import signal
import subprocess
import sys
import time
import warnings

from measure import QUICK, judged, peak_memory, promise, sized
from svm_data import generated

import mercer as mc

_INTERRUPTED = """
import sys
sys.path.insert(0, "benchmarks")
from svm_data import generated
import mercer as mc
X, y = generated("noisy", 50_000)
mc.SVC(1.0, mc.Gaussian(1 / 20)).fit(X[:5000], y[:5000])
print("ready", flush=True)
try:
    mc.SVC(1e4, mc.Gaussian(1 / 20), tol=1e-9).fit(X, y)
except KeyboardInterrupt:
    print("stopped", flush=True)
"""


def main() -> None:
    X, y = generated("noisy", sized(50_000, 20_000))
    mc.SVC(1.0, mc.Gaussian(1 / 20)).fit(X[:5000], y[:5000])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        start = time.perf_counter()
        model = mc.SVC(100.0, mc.Gaussian(1 / 20), max_time=1).fit(X, y)
        took = time.perf_counter() - start
    print(f"  {model.stop_reason_}, accuracy {model.score(X, y):.3f}")
    promise("max_time=1, n = 50 000, C = 100", took, at_most=1.5, unit="s")
    for wait in (0.3, 1.0, 3.0):
        with subprocess.Popen([sys.executable, "-c", _INTERRUPTED], stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            process.stdout.readline()
            time.sleep(wait)
            process.send_signal(signal.SIGINT)
            sent = time.perf_counter()
            process.stdout.readline()
            promise(f"Ctrl-C after {wait} s: answered in", time.perf_counter() - sent, at_most=0.5, unit="s")
    if QUICK:
        return
    code = """
import sys
sys.path.insert(0, "benchmarks")
from svm_data import generated
import mercer as mc
X, y = generated("mc", 200_000)
compute = mc.Compute(memory="2GB")
mc.SVC(1.0, mc.Gaussian(1 / 20), compute=compute).fit(X[:5000], y[:5000])
work = lambda: mc.SVC(1.0, mc.Gaussian(1 / 20), compute=compute).fit(X, y)
"""
    X, y = generated("mc", 200_000)
    start = time.perf_counter()
    model = mc.SVC(1.0, mc.Gaussian(1 / 20), compute=mc.Compute(memory="2GB")).fit(X, y)
    print(
        f"  n = 200 000: {time.perf_counter() - start:.1f} s, {model.stop_reason_}, gap {model.gap_:.1e},"
        f" {len(model.support_)} SV"
    )
    promise("n = 200 000, d = 20, C = 1: peak above the data", peak_memory(code) / 1e9, at_most=2.0, unit="GB")


if __name__ == "__main__":
    judged(main)
