"""Promise: Ctrl-C ends every long operation within half a second on an idle machine, within one where four others want
each core.

    python benchmarks/bench_interrupts.py [--load N] [name …]

Each row is a process of its own that gets SIGINT while it works; ``--load`` starts so many busy processes beside it.
"compiling" is a first run without any compiled code to find.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))  # as a script, as a module, and from a test
from measure import QUICK, judged, promise

# the call, rows of X, and seconds until the signal: the call is then in what takes longest
CASES = {
    "Gram.dense": ("mc.Gaussian(0.1).gram(X, compute=big).dense()", 30_000, 1.0),
    "Gram @ v": ("mc.Gaussian(0.1).gram(X) @ y", 200_000, 2.0),
    "SVC": ("mc.SVC(C=1e4, kernel=K).fit(X, y > 0.3)", 50_000, 3.0),
    "SVC, 10 classes": ("mc.SVC(C=1e4, kernel=K).fit(X, np.digitize(y, np.linspace(-1, 1, 9)))", 40_000, 3.0),
    "NuSVC": ("mc.NuSVC(0.1, K).fit(X, y > 0.3)", 40_000, 3.0),
    "SVR": ("mc.SVR(C=1e3, kernel=K).fit(X, y)", 40_000, 3.0),
    "OneClassSVM": ("mc.OneClassSVM(0.3, K).fit(X)", 200_000, 3.0),
    "KernelRidge": ("mc.KernelRidge(1e-3, K).fit(X, y)", 18_000, 6.0),
    "KernelRidge, cg": ("mc.KernelRidge(1e-3, K, solver='cg').fit(X, y)", 60_000, 4.0),
    "KernelRidgeCV": ("mc.KernelRidgeCV(kernel=K).fit(X, y)", 8_000, 6.0),
    "KernelLogistic": ("mc.KernelLogistic(1e-3, K).fit(X, y > 0)", 16_000, 6.0),
    "KernelHuber": ("mc.KernelHuber(alpha=1e-3, kernel=K).fit(X, y)", 16_000, 6.0),
    "KernelQuantile": ("mc.KernelQuantile(alpha=1e-3, kernel=K).fit(X, y)", 20_000, 3.0),
    "KernelPCA, all": ("mc.KernelPCA(None, K).fit(X)", 12_000, 8.0),
    "KernelPCA, 10": ("mc.KernelPCA(10, K).fit(X)", 60_000, 4.0),
    "KernelKMeans": ("mc.KernelKMeans(20, K).fit(X)", 40_000, 4.0),
    "SpectralClustering": ("mc.SpectralClustering(20, K).fit(X)", 30_000, 4.0),
    "KernelCCA": ("mc.KernelCCA(2, K, K).fit(X, X[::-1])", 60_000, 4.0),
    "GaussianMixture": ("mc.GaussianMixture(40, max_iter=1000, tol=0).fit(X)", 200_000, 3.0),
    "KMeans": ("mc.KMeans(200, max_iter=1000, tol=0).fit(X)", 300_000, 2.0),
    "repaired": ("mc.Sigmoid(0.0, 1.0).repaired().bind(X)", 6_000, 4.0),
    "check_kernel": ("mc.check_kernel(K, X)", 9_000, 4.0),
    "KernelSearchCV": (
        "mc.KernelSearchCV(mc.SVC(kernel=K), {'kernel__gamma': [.1, .2, .3]}, on_interrupt='raise').fit(X, y > 0)",
        8_000,
        3.0,
    ),
    "tune": ("mc.tune(mc.KernelRidge(kernel=K), X, y, max_samples=None)", 6_000, 6.0),
    "mmd_test": ("mc.mmd_test(X, X + 0.01)", 12_000, 2.0),
    "hsic_test": ("mc.hsic_test(X, y)", 8_000, 2.0),
    "Gappy, strings": ("mc.Gappy(12, 6)(4 * strings)", 500, 2.0),
    "GlobalAlignment": ("mc.GlobalAlignment(1.0)(series)", 600, 1.0),
    "WeisfeilerLehman": ("mc.ShortestPath()(60 * graphs)", 3_000, 1.0),
    # with centers: the choice of landmarks, their factor, the system of the sample, and passes
    "KernelRidge, centers": ("mc.KernelRidge(1e-6, K, centers=1000, tol=1e-14).fit(X, y)", 200_000, 4.0),
    "KernelRidge, 6000 centers: factor": ("mc.KernelRidge(1e-6, K, centers=6000).fit(X, y)", 40_000, 3.0),
    "KernelRidge, 6000 centers: inverse": ("mc.KernelRidge(1e-6, K, centers=6000).fit(X, y)", 40_000, 7.0),
    "KernelRidge, 6000 centers: system": ("mc.KernelRidge(1e-6, K, centers=6000).fit(X, y)", 40_000, 14.0),
    "KernelRidge, uncertainty": ("mc.KernelRidge(1e-3, K, centers=2000, uncertainty=True).fit(X, y)", 200_000, 8.0),
    "KernelLogistic, centers": ("mc.KernelLogistic(1e-5, K, centers=1000).fit(X, y > 0)", 200_000, 4.0),
    "SVC, centers": ("mc.SVC(C=100, kernel=K, centers=1000).fit(X, y > 0.3)", 100_000, 4.0),
    "SVR, centers": ("mc.SVR(C=100, kernel=K, centers=1000).fit(X, y)", 100_000, 4.0),
    "KernelQuantile, centers": ("mc.KernelQuantile(alpha=1e-3, kernel=K, centers=1000).fit(X, y)", 100_000, 4.0),
    "FeatureMachine, centers": (
        "mc.FeatureMachineRegressor(kernel=K, centers=1000, max_samples=3000).fit(X, y)",
        100_000,
        4.0,
    ),
    "tune, centers": ("mc.tune(mc.KernelRidge(kernel=K, centers=500), X, y, max_samples=None)", 60_000, 4.0),
    "KernelSearchCV, centers": (
        "mc.KernelSearchCV(mc.KernelRidge(kernel=K, centers=800), {'kernel__gamma': [.1, .2, .3]},"
        " on_interrupt='raise').fit(X, y)",
        100_000,
        4.0,
    ),
    "Blocks": ("mc.KernelRidge(1e-6, K, centers=1000, tol=1e-14).fit(mc.Blocks(X), y)", 200_000, 4.0),
    "Parquet": ("mc.KernelLogistic(1e-6, K, centers=1000).fit(mc.scan_parquet(parquet(X)), y > 0)", 200_000, 5.0),
    "KernelSGDClassifier": (
        "mc.KernelSGDClassifier(kernel=K, budget=500).partial_fit(X, y > 0, classes=[False, True])",
        1_000_000,
        3.0,
    ),
    "KernelRLS": ("mc.KernelRLS(0.1, K, budget=500).partial_fit(X, y)", 400_000, 3.0),
    "Nystrom, pivoted": ("mc.Nystrom(K, 2000, 'pivoted').bind(X)", 200_000, 4.0),
    "Nystrom, leverage": ("mc.Nystrom(K, 4000, 'leverage').bind(X)", 60_000, 4.0),
    "Nystrom, kmeans++": ("mc.Nystrom(K, 4000, 'kmeans++').bind(X)", 200_000, 3.0),
    "Nystrom, features": ("mc.Nystrom(K, 4000).bind(X).features(X)", 60_000, 8.0),
    "predict, centers": ("fitted().predict(np.repeat(X, 10, axis=0))", 200_000, 2.5),
    "compiling": (
        "mc.Anova(3)(X); mc.ChiSquared(0.3)(abs(X)); mc.SVC().fit(X, y > 0); mc.Spectrum(3)(strings)",
        3_000,
        2.0,
    ),
}

_SCRIPT = """
import os, signal, threading, time
import numpy as np, mercer as mc
rng = np.random.default_rng(0)
X = rng.standard_normal(({rows}, 5)); y = np.sin(2 * X[:, 0]) + 0.5 * rng.standard_normal(len(X))
K, big = mc.Gaussian(0.2), mc.Compute(memory="12GB")
n = min({rows}, 3000)
strings = ["".join(rng.choice(list("ACGT"), 400)) for _ in range(min(n, 500))]
series = [rng.standard_normal((200, 2)) for _ in range(min(n, 2000))]
graphs = n * [None] if "Shortest" in {call!r} else []
for i in range(len(graphs)):
    graphs[i] = mc.Graph(rng.integers(0, 60, (90, 2)).tolist(), list("ab" * 30))
def parquet(X):
    import pyarrow as pa, pyarrow.parquet as pq, tempfile
    path = os.path.join(tempfile.mkdtemp(), "X.parquet")
    pq.write_table(pa.table({{f"x{{j}}": X[:, j] for j in range(X.shape[1])}}), path, row_group_size=50_000)
    return path
def fitted():
    return mc.KernelRidge(1.0, K, centers=2000).fit(X[:6000], y[:6000])
def signalled():
    time.sleep({wait})
    print("signal", time.perf_counter(), flush=True)
    os.kill(os.getpid(), signal.SIGINT)
{warm}
threading.Thread(target=signalled, daemon=True).start()
try:
    {call}
    print("finished", time.perf_counter(), flush=True)
    time.sleep({wait})
except KeyboardInterrupt:
    print("caught", time.perf_counter(), flush=True)
"""
_WARM = "full, X, y = (X, y), X[:700], y[:700]\ntry:\n    {call}\nexcept Exception:\n    pass\nX, y = full"


def seconds(name: str) -> float | None:
    """From the signal to the end of the call; None where the call was over before."""
    call, rows, wait = CASES[name]
    warm = "" if name == "compiling" else _WARM.format(call=call)
    with tempfile.TemporaryDirectory() as folder:
        fresh = {"NUMBA_CACHE_DIR": folder, "XDG_CACHE_HOME": folder} if name == "compiling" else {}
        text = _SCRIPT.format(rows=rows, wait=wait, call=call, warm=warm)
        done = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", text],
            capture_output=True,
            text=True,
            timeout=300,
            env={**os.environ, **fresh},
        )
    said = dict(line.split() for line in done.stdout.splitlines() if len(line.split()) == 2)
    if "finished" in said:
        return None
    if "caught" not in said:
        raise RuntimeError(done.stdout + done.stderr)
    return float(said["caught"]) - float(said["signal"])


@contextmanager
def busy(count: int):  # type: ignore[no-untyped-def]
    """So many processes that do nothing but work."""
    others = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    time.sleep(0.5 if others else 0.0)
    try:
        yield
    finally:
        for other in others:
            other.kill()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--load", type=int, default=None, help="busy processes beside; without it, both 0 and 4")
    parser.add_argument("names", nargs="*")
    given = parser.parse_args()
    loads = [0, 4] if given.load is None else [given.load]
    print("from SIGINT to the end of the call\n")
    for name in given.names or (["Gram @ v"] if QUICK else CASES):
        for load in loads:
            with busy(load):
                taken = seconds(name)
            what = f"{name}, {CASES[name][1]} rows, load {load}"
            if taken is None:
                print(f"  {what}: it had ended before the signal")
            else:
                promise(what, taken, at_most=1.0 if load else 0.5, unit="s")


if __name__ == "__main__":
    judged(main)
