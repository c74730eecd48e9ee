"""Promise: sparse rows (a9a: 32 561 × 123, 11 % filled) give the dense values to 1e-12, without a dense copy of the
data: at most half of one is taken for K v; the Gram matrix ≥ 1× scikit-learn's.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from measure import interleaved, judged, peak_memory, promise, skipped, table
from sklearn.datasets import load_svmlight_file
from sklearn.metrics.pairwise import rbf_kernel

import mercer as mc

FILE = Path(__file__).resolve().parents[2] / "shared" / "data" / "a9a" / "a9a.bz2"


def main() -> None:
    if not FILE.exists():
        skipped("a9a", "is not at hand")
        return
    X = load_svmlight_file(str(FILE), n_features=123)[0]
    dense = X[:4000].toarray()
    kernel = mc.Gaussian(0.03)
    apart = float(np.abs(kernel(X[:4000]) - kernel(dense)).max())
    promise("largest difference from dense, 4000²", apart, at_most=1e-12, unit="")
    times = interleaved(
        {
            "mercer, sparse": lambda: kernel(X[:8000]),
            "scikit-learn rbf_kernel, sparse": lambda: rbf_kernel(X[:8000], gamma=0.03),
        },
        rounds=3,
    )
    promised = {"scikit-learn rbf_kernel, sparse": 1.0}
    table("Gaussian Gram 8000², a9a", times, "mercer, sparse", promised=promised)
    code = f"""
import numpy as np, mercer as mc
from sklearn.datasets import load_svmlight_file
X = load_svmlight_file({str(FILE)!r}, n_features=123)[0]
v = np.ones(X.shape[0])
mc.Gaussian(0.03).gram(X[:500]) @ v[:500]
work = lambda: mc.Gaussian(0.03).gram(X) @ v
"""
    share = peak_memory(code) / (X.shape[0] * 123 * 8)
    promise(f"K v with all {X.shape[0]} rows, peak memory over a dense copy", share, at_most=0.5)


if __name__ == "__main__":
    judged(main)
