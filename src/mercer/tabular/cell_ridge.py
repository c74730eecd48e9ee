"""A ridge over the cells of trees by the cells themselves: exact for any number of rows.

Two rows are as alike as the share of trees in one cell of which both fall: K = H Hᵀ/T, H with a 1 for the cell of each
row in each tree. A product with K costs the ones of H, rows times trees, so that the system of all rows is solved by
conjugate gradients, and f(x) is a sum of one number for each tree: w = Hᵀα/T of the cells that x falls into.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from mercer.arrays import Array
from mercer.compute import Compute
from mercer.gram import LowRankGram
from mercer.kernels.base import Kernel
from mercer.kernels.vectors.codes import Overlap
from mercer.problems import LinearSystem
from mercer.solvers.inverses import Woodbury
from mercer.solvers.linear import ConjugateGradients
from mercer.troubles import coded

_TOLERANCE = 1e-4  # of the residual: far below the noise of any table that needs this
_ROUGH = 1e-2  # a residual that answers would show
_NUMBERS = 2**22  # of the preconditioner, rank times rows: alike rows make systems of few but large eigenvalues
_LEAST, _MOST = 20, 500  # columns of it: fewer are none
_PATIENCE = 100  # steps: where rows are alike, residuals stay for long before they fall


@dataclass(eq=False)
class CellRidge:
    """f(x) = Σ_t w[cell of x in tree t] + b; ``offsets`` say where the cells of each tree begin among all."""

    alpha: float
    offsets: Array
    weights: Array
    intercept: Array
    n_iter_: int
    gap_: float
    stop_reason_: str

    @classmethod
    def fitted(
        cls, alpha: float, codes: Array, offsets: Array, Y: Array, sample_weight: Array | None, compute: Compute | None
    ) -> CellRidge:
        """min Σ w_i (y_i − f(x_i))² + α‖f − b‖², from the codes of the rows' cells, (n, trees)."""
        w = np.ones(len(codes)) if sample_weight is None else np.asarray(sample_weight, np.float64)
        used = np.flatnonzero(w > 0)
        if len(used) < len(w):
            return cls.fitted(alpha, codes[used], offsets, Y[used], w[used], compute)
        H = _cells(codes, offsets)
        del codes  # of millions of rows as large as H's places
        gram = LowRankGram(H, H, compute or Compute())
        system = LinearSystem(Y.reshape(len(w), -1), w, alpha, True)
        rank = min(_MOST, _NUMBERS // len(w), len(w) - 1)
        # a few columns save a fifth of the steps, and their rows of the matrix cost more memory than all else
        inverse = Woodbury.pivoted(gram, rank) if rank >= _LEAST else Woodbury.none(len(w))
        found = ConjugateGradients(_TOLERANCE, solver="cg", patience=_PATIENCE).solve(system, gram, inverse)
        if found.residual > _ROUGH:
            warnings.warn(
                coded(
                    f"The ridge over cells of trees stopped with a residual of {found.residual:.2g}"
                    f" ({found.stop_reason}); a larger alpha than {alpha:g} is easier to solve.",
                    "M301",
                ),
                ConvergenceWarning,
                stacklevel=2,
            )
        cells = np.asarray(H.T @ found.coef, np.float32)
        shape = (len(cells),) if Y.ndim == 1 else cells.shape
        return cls(
            alpha, offsets, cells.reshape(shape), np.asarray(found.bias).reshape(shape[1:]), found.n_iter,
            found.residual, found.stop_reason,
        )  # fmt: skip

    def predict(self, codes: Array) -> Array:
        """f of rows by the codes of their cells."""
        return np.asarray(_cells(codes, self.offsets) @ self.weights + self.intercept)

    @property
    def kernel_(self) -> Kernel:
        """The same kernel between codes."""
        return Overlap() * (1.0 / (len(self.offsets) - 1))

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        return {"alpha": self.alpha}


def _cells(codes: Array, offsets: Array) -> Any:
    """H/√T: a row for each row of codes, a column for each cell of each tree."""
    n, trees = codes.shape
    places = codes.astype(np.int32)
    places += offsets[:-1].astype(np.int32)
    ones = np.full(n * trees, 1.0 / np.sqrt(trees), np.float32)
    starts = np.arange(0, n * trees + 1, trees, dtype=np.int32 if n * trees < 2**31 else np.int64)  # as the places
    return sparse.csr_array((ones, places.ravel(), starts), shape=(n, int(offsets[-1])))
