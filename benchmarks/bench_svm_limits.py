"""Promise: ``max_time=1`` at n = 50 000 returns within 1.5 s with a model; Ctrl-C within 0.5 s; n = 200 000, d = 20
trains inside 2 GB.
"""

from __future__ import annotations

import signal
import subprocess
import sys
import time
import warnings

from measure import machine, peak_memory
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
    print(machine())
    X, y = generated("noisy", 50_000)
    mc.SVC(1.0, mc.Gaussian(1 / 20)).fit(X[:5000], y[:5000])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        start = time.perf_counter()
        model = mc.SVC(100.0, mc.Gaussian(1 / 20), max_time=1).fit(X, y)
    print(
        f"  max_time=1, n = 50 000, C = 100: {time.perf_counter() - start:.2f} s, {model.stop_reason_}, accuracy"
        f" {model.score(X, y):.3f}"
    )
    for wait in (0.3, 1.0, 3.0):
        with subprocess.Popen([sys.executable, "-c", _INTERRUPTED], stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            process.stdout.readline()
            time.sleep(wait)
            process.send_signal(signal.SIGINT)
            sent = time.perf_counter()
            process.stdout.readline()
            print(f"  Ctrl-C after {wait} s: answered in {time.perf_counter() - sent:.3f} s")
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
    print(f"  n = 200 000, d = 20, C = 1, budget 2 GB: peak {peak_memory(code) / 1e9:.2f} GB above the data")


if __name__ == "__main__":
    main()
