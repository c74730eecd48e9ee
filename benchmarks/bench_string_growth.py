"""Promise: explicit string kernels cost the letters: time against total length, up to 10⁸ letters, grows with a slope
of ≤ 1.1 (log-log), in ≤ 500 MB above the strings; and an SVM on 20 000 strings within 4 GB.

Draws docs/string_growth.png.
"""

from __future__ import annotations

import sys
import time

import numpy as np
from growth import drawn
from measure import QUICK, judged, peak_memory, promise
from string_peers import random_dna

import mercer as mc

LETTERS = (10**5, 3 * 10**5, 10**6, 3 * 10**6, 10**7, 3 * 10**7, 10**8)[: 3 if QUICK else None]


def function(kernel: mc.Kernel) -> mc.RKHSFunction:
    """f = Σ c_i k(·, x_i) over 200 strings: what a machine predicts with."""
    return mc.RKHSFunction(kernel, random_dna(200, 1000, 1000, seed=1), np.random.default_rng(0).standard_normal(200))


def growth() -> None:
    kernels = [mc.Spectrum(8), mc.Spectrum(6, 3), mc.Gappy(6, 4), mc.Spectrum(8).both_strands()]
    curves = {}
    print("\nf(x) for strings of 1000 letters, seconds by total letters; slope of the last decade, log-log")
    for kernel in kernels:
        f = function(kernel).simplified()
        f(random_dna(10, 1000, 1000))
        times = []
        for letters in LETTERS:
            if letters == 10**8 and not isinstance(kernel, mc.Spectrum):
                break
            X = random_dna(letters // 1000, 1000, 1000)
            start = time.perf_counter()
            f(X)
            times.append(time.perf_counter() - start)
        used = LETTERS[: len(times)]
        slope = float(np.polyfit(np.log(used[-3:]), np.log(times[-3:]), 1)[0])
        promise(f"{kernel}, slope of seconds against letters", slope, at_most=1.1, unit="")
        print(f"  {kernel!s:<34}" + "".join(f" {t:8.3f}" for t in times) + f"   slope {slope:.2f}")
        curves[str(kernel)] = list(zip(used, times, strict=True))
    if not QUICK:
        drawn("string_growth", {"letters": curves})
    for letters in (10**6,) if QUICK else (10**7, 10**8):
        code = f"""
import mercer as mc, numpy as np
from benchmarks.string_peers import random_dna
f = mc.RKHSFunction(mc.Spectrum(8), random_dna(200, 1000, 1000, seed=1), np.ones(200)).simplified()
X = random_dna({letters} // 1000, 1000, 1000)
f(X[:10])
work = lambda: f(X)
"""
        what = f"Spectrum(8), {letters:.0e} letters: peak memory above the strings"
        promise(what, peak_memory(code) / 1e6, at_most=500, unit="MB")


MACHINE = """
import numpy as np, time, mercer as mc
from benchmarks.string_peers import random_dna
rng = np.random.default_rng(2)
X, y = random_dna(20_000, 400, 400, seed=1), rng.integers(0, 2, 20_000)
def planted(x):
    at, word = int(rng.integers(0, 390)), list("ACGTTGCAAC")
    for p in rng.integers(0, 10, 2):
        word[p] = "ACGT"[int(rng.integers(0, 4))]
    return x[:at] + "".join(word) + x[at + 10:]
X = [planted(x) if label else x for x, label in zip(X, y)]
mc.SVC(kernel={kernel}).fit(X[:300], y[:300]).predict(X[:10])
def work():
    start = time.perf_counter()
    machine = mc.SVC(kernel={kernel}).fit(X[:16_000], y[:16_000])
    fitted = time.perf_counter()
    score = machine.score(X[16_000:], y[16_000:])
    print(f"  {kernel}: fit {{fitted - start:.1f}} s, 4000 predictions {{time.perf_counter() - fitted:.1f}} s, "
          f"accuracy {{100 * score:.1f}} %, {{len(machine.support_)}} support vectors, {{machine.stop_reason_}}, "
          f"gap {{machine.gap_:.1e}}", flush=True)
"""


def svm() -> None:
    print("\n16 000 + 4000 strings of 400 letters, a word of 10 letters with up to 2 changes planted in half of them")
    for kernel in ("mc.Spectrum(6).normalized()", "mc.Gappy(7, 5).normalized()"):
        code = "import subprocess, sys\n" + MACHINE.replace("{kernel}", kernel).replace("{{", "{").replace("}}", "}")
        import subprocess

        script = code + "\nimport re\nwork()\n"
        script += "peak = int(re.search(r'VmHWM:\\s+(\\d+)', open('/proc/self/status').read())[1]) * 1024\n"
        script += "print(peak)\n"
        said = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
        *lines, peak = said.splitlines()
        print("\n".join(lines))
        promise(f"{kernel}, 20 000 strings: peak memory in all", int(peak) / 1e9, at_most=4.0, unit="GB")


def main() -> None:
    chosen = sys.argv[1:] or (["growth"] if QUICK else ["growth", "svm"])
    if "growth" in chosen:
        growth()
    if "svm" in chosen:
        svm()


if __name__ == "__main__":
    judged(main)
