"""Promise: ridge of 200 000 samples by 2000 centers ≥ 5× scikit-learn's Nystroem and Ridge with the same centers at no
larger test error; 10⁶ samples, and 10⁷ from a memory-mapped file, within 3 GB, time growing as n.

Falkon is not in the table: pip found no distribution of it.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from measure import QUICK, interleaved, judged, peak_memory, promise, sized, table
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline

import mercer as mc

GAMMA, ALPHA, D = 0.02, 0.2, 20


def data(n: int, dtype: Any, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, D), dtype=np.float32).astype(dtype)
    return X, np.sin(X[:, 0]) + X[:, 1] * X[:, 2] + 0.1 * rng.standard_normal(n)


def against_scikit_learn() -> None:
    m = sized(2000)
    for dtype in (np.float64, np.float32):
        X, y = data(sized(200_000), dtype)
        T, t = data(20_000, dtype, 1)
        found = {}
        drawn = np.random.RandomState(0).permutation(len(X))[:m]  # those that Nystroem draws

        def ours(X: Any = X, y: Any = y, T: Any = T, found: Any = found, drawn: Any = drawn) -> None:
            machine = mc.KernelRidge(ALPHA, mc.Gaussian(GAMMA), centers=X[drawn], tol=1e-3)
            found["ours"] = machine.fit(X, y).predict(T)

        def theirs(X: Any = X, y: Any = y, T: Any = T, found: Any = found) -> None:
            peer = make_pipeline(Nystroem(gamma=GAMMA, n_components=m, random_state=0), Ridge(alpha=ALPHA))
            found["theirs"] = peer.fit(X, y).predict(T)

        ours(X[:20_000], y[:20_000], drawn=drawn % 20_000)  # what is compiled is compiled
        times = interleaved({"KernelRidge(centers=2000)": ours, "Nystroem(2000) and Ridge": theirs}, 3, warm=False)
        errors = {name: float(np.sqrt(np.mean((f - t) ** 2))) for name, f in found.items()}
        title = f"n = {len(X)}, d = {D}, m = {m}, {np.dtype(dtype).name}"
        note = f"test RMSE {errors['ours']:.4f}, scikit-learn {errors['theirs']:.4f}"
        table(title, times, "KernelRidge(centers=2000)", note, {"Nystroem(2000) and Ridge": 5.0})
        promise(f"{title}, test error over scikit-learn's", errors["ours"] / errors["theirs"], at_most=1.001)


def growth() -> None:
    print("\nby n, d = 20, m = 1000, float32, tol 1e-4: seconds and MB above the data")
    seconds = {}
    with tempfile.TemporaryDirectory() as folder:
        for n in (10**5, 10**6, 10**7) if not QUICK else (10**4,):
            path = Path(folder) / "X.npy"
            X = np.lib.format.open_memmap(path, "w+", np.float32, (n, D))
            rng = np.random.default_rng(0)
            for start in range(0, n, 10**6):
                X[start : start + 10**6] = rng.standard_normal((min(n - start, 10**6), D), dtype=np.float32)
            X.flush()
            del X
            code = f"""
import numpy as np, mercer as mc, time
X = np.load({str(path)!r}, mmap_mode="r")
y = np.sin(X[:, 0]) + X[:, 1] * X[:, 2]
machine = mc.KernelRidge({ALPHA}, mc.Gaussian({GAMMA}), centers=1000, random_state=0, tol=1e-4)
machine.fit(np.array(X[:20000]), y[:20000])  # what is compiled is compiled
def work():
    start = time.perf_counter()
    machine.fit(mc.Blocks(X) if {n >= 10**7} else np.array(X), y)
    open({str(Path(folder) / "seconds")!r}, "w").write(str(time.perf_counter() - start))
    assert machine.score(np.array(X[:10000]), y[:10000]) > 0.9
"""
            peak = peak_memory(code) / 1e6
            seconds[n] = float((Path(folder) / "seconds").read_text())
            print(f"  n = {n:>8}: {seconds[n]:7.1f} s, {peak:6.0f} MB {'(blocks of a file)' if n >= 10**7 else ''}")
            promise(f"n = {n}, peak memory", peak / 1000, at_most=3.0, unit="GB")
            path.unlink()
    if not QUICK:
        slope = float(np.polyfit(np.log(list(seconds)), np.log(list(seconds.values())), 1)[0])
        promise("time as a power of n, from 10⁵ to 10⁷", slope, at_most=1.1, unit="")


def main() -> None:
    start = time.perf_counter()
    against_scikit_learn()
    growth()
    print(f"\n{time.perf_counter() - start:.0f} s in all")


if __name__ == "__main__":
    judged(main)
