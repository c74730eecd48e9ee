"""Data and models of libsvm for tests: the tools where they are installed, and a model that svm-train 3.24 wrote."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

needs_tools = pytest.mark.skipif(shutil.which("svm-train") is None, reason="libsvm's tools are not installed")


def tool(name: str, *arguments: Any) -> str:
    """What svm-train or svm-predict prints."""
    return subprocess.run(
        [f"svm-{name}", *map(str, arguments)], capture_output=True, text=True, check=True, timeout=120
    ).stdout


def blobs(classes: int, n: int = 90, d: int = 3, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Overlapping clouds; labels that are not in order when they come."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, classes, n)
    X = rng.standard_normal((n, d)) + 1.5 * rng.standard_normal((classes, d))[codes]
    X[rng.random(X.shape) < 0.1] = 0.0
    return X, np.array([7, -2, 4, 1])[codes]


def svmlight(path: Path, X: np.ndarray, y: np.ndarray) -> Path:
    rows = (" ".join(f"{j + 1}:{v:.17g}" for j, v in enumerate(row) if v) for row in X)
    path.write_text("".join(f"{t:.17g} {row}\n" for t, row in zip(y, rows, strict=True)))
    return path


GOLDEN = """\
svm_type c_svc
kernel_type rbf
gamma 0.40000000596046448
nr_class 3
total_sv 29
rho 0.3049143971209734 0.040502509972683981 -0.16660122340745709
label 4 7 -2
probA -0.69151945121508007 -2.0500255533935214 -0.6607164941536865
probB 0.27170870445519507 -0.035245857645461696 -0.13763247103311449
nr_sv 9 12 8
SV
2.686212886619832 0 1:-2.12 2:-1.59 
1.3379498309241205 0.3670123443004607 1:-2.76 2:-2.89 
0.70163763011297142 0.54883119918751477 1:-2.08 2:-3.52 
2.2292548572984989 0 1:-1.29 2:-2.01 
0.065809727118883388 0 1:-2.84 2:-1.84 
5 0 1:-0.47 2:-2.62 
2.4641342354185047 5 1:-2.25 
5 0.42512280549933706 1:-0.19 2:-1.84 
5 1.6140285451549443 1:-1.12 2:-1.46 
-0.72041415855485813 5 1:-0.87 2:1.06 
-0.35870909046293908 5 1:-1.08 2:0.06 
-0 5 1:1.04 2:-0.75 
-0 5 2:0.19 
-1.6568704893443142 1.6503546258660022 1:-3.72 2:0.54 
-5 0.69877368768547754 1:-1.85 2:-2.15 
-0 5 1:0.51 2:0.27 
-0 0.5788479779438569 1:-0.7 2:0.63 
-5 0.84034417239523784 1:-1.11 2:-1.26 
-5 0.35690693515374217 2:-2.98 
-5 0 1:-0.54 2:-1.53 
-1.7490054291306985 0 2:-1.28 
-0.070152482936939931 -5 1:-0.11 2:-0.21 
-0 -5 1:0.36 2:0.81 
-0 -5 1:-1.3 2:0.92 
-5 -5 1:-1.7 2:-0.05 
-0.86044459135393359 -0 1:1.05 2:2.02 
-1.0651952487712169 -0 1:-1.82 2:0.36 
-0 -5 1:0.66 2:0.25 
-0.9592025710801666 -4.1252273990443165 1:1.71 2:-0.6 
"""
GOLDEN_ROWS = [[-0.92, -2.79], [-0.87, 1.06], [-0.35, 0.0], [-1.08, 0.06], [1.04, -0.75], [-2.12, -1.59]]
# of each row, what svm-predict says and, with -b 1, its probabilities in the order of the labels in the file
GOLDEN_SAID = [
    (4, 0.609656, 0.311542, 0.0788019),
    (7, 0.096744, 0.561836, 0.34142),
    (7, 0.0729572, 0.673552, 0.253491),
    (7, 0.0893044, 0.529506, 0.38119),
    (7, 0.13132, 0.50624, 0.36244),
    (4, 0.57181, 0.322946, 0.105245),
]
