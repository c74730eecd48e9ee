"""Data shared by the tests of model files."""

from __future__ import annotations

import numpy as np
from scipy import sparse

N = 60
rng = np.random.default_rng(0)
X = rng.standard_normal((N, 4))
POSITIVE = np.abs(X)
HOLES = np.where(rng.random((N, 4)) < 0.1, np.nan, X)
SPARSE = sparse.csr_array(np.where(rng.random((N, 200)) < 0.05, rng.random((N, 200)), 0))
TWO = np.where(X[:, 0] + 0.3 * X[:, 1] > 0, 1, -1)
THREE = np.array(["low", "middle", "high"])[np.digitize(X[:, 0], [-0.5, 0.5])]
