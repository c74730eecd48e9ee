"""K ≈ C (G + εI)^−1 C^T from the values C of all items with m of them, the landmarks, and G among these.

Its functions are sums over the landmarks alone, Σ_j c_j k(·, z_j). With G + εI = L L^T the features are Φ = C L^−T:
what they cost is n m values for each pass over C, and nothing of size n × m need be stored.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from mercer import arrays
from mercer.annotations import Index
from mercer.arrays import Array
from mercer.compute import human
from mercer.data import chunks
from mercer.engine.tiles import same_selection
from mercer.gram.computed import KernelGram
from mercer.gram.contract import Gram, as_index
from mercer.gram.factored import FactoredGram, LowRankGram
from mercer.native.linalg import NotPositive, cholesky, lower_triangle, triangular_solve
from mercer.native.products import multiply, triangular_inverse
from mercer.runtime.threads import cached_property, run_tasks
from mercer.troubles import coded

TOGETHER, _LEAST = 2048, 64  # whose features are computed together, where the budget allows it, and where not
# of the largest k(z, z): ε, below which a direction among the landmarks is rounding
_FLOOR = {"float32": 1e-6, "float64": 2e-15}


@dataclass(frozen=True, eq=False)
class Landmarks:
    """Items that stand for all: what is learnt is a function of their values.

    Attributes
    ----------
    values : Gram
        C, (n, m): of all items with the landmarks.
    factor : ndarray of shape (m, m)
        L, lower triangular, with L L^T = G + εI.
    index : ndarray of shape (m,) or None
        Which of the items they are; None where they are others.
    """

    values: Gram
    factor: Array
    index: Array | None = None

    @classmethod
    def of(cls, values: Gram, among: Gram, index: Array | None = None) -> Landmarks:
        """From C and G; ε is as small as the precision of C allows."""
        return cls(values, root_of(among, values.dtype), index)

    def __len__(self) -> int:
        return len(self.factor)

    def coefficients(self, theta: Array) -> Array:
        """c = L^−T θ: Σ_j c_j k(·, z_j) is the function ⟨θ, φ(·)⟩."""
        return np.asarray(arrays.to_numpy(triangular_solve(self.factor, theta, transposed=True)))

    def of_values(self, sums: Array) -> Array:
        """L^−1 C^T u = Φ^T u, from C^T u."""
        return np.asarray(arrays.to_numpy(triangular_solve(self.factor, sums)))

    def features(self, rows: Index = slice(None), dtype: DTypeLike | None = None) -> Array:
        """Φ of some rows, in the precision of C unless another is wanted."""
        part = self.values if isinstance(rows, slice) and rows == slice(None) else self.values.sub(rows, slice(None))
        wanted = np.dtype(dtype or part.dtype)
        out = np.empty((part.shape[0], len(self)), wanted)

        # products of matrices run on all threads, where solving with L waits for one; worth it for many rows
        workers = part.compute.workers
        root = triangular_inverse(self.factor, workers).T if len(out) >= len(self) else None

        for block, gram in part.by_blocks():

            def task(some: slice, gram: Gram = gram, found: Array = out[block]) -> None:
                values = np.asarray(arrays.to_numpy(gram.rows(some)), np.float64)
                if root is None:
                    found[some] = self.of_values(values.T).T
                else:
                    multiply(values, root, found[some])

            pieces = chunks(gram.shape[0], together(len(self), part.compute.budget))
            there = bool(pieces) and arrays.is_tensor(gram.rows([0]))  # a device computes one after the other
            run_tasks(task, pieces, 1 if there else workers)
        return out

    def sub(self, rows: Index) -> Landmarks:
        """Of some of the items, of which the landmarks need not be."""
        return replace(self, values=self.values.sub(rows, slice(None)), index=None)


def together(m: int, budget: int) -> int:
    """Rows whose features by m landmarks a thread computes together: three strips of a sixty-fourth of the budget."""
    return max(_LEAST, min(TOGETHER, budget // (64 * 8 * max(1, m))))


def root_of(among: Gram, dtype: np.dtype[Any]) -> Array:
    """L with L L^T = G + εI, ε the least that makes it positive and is more than rounding in ``dtype``."""
    largest = float(np.max(np.abs(arrays.to_numpy(among.diag())), initial=0.0)) or 1.0
    epsilon = _FLOOR[np.dtype(dtype).name] * largest
    while True:
        G = np.asarray(arrays.to_numpy(among.fresh(np.float64)))  # memory of its own
        G[np.diag_indices_from(G)] += epsilon
        try:
            return lower_triangle(np.asarray(cholesky(G, among.compute.workers)))
        except NotPositive as found:
            if epsilon > 1e-3 * largest:
                raise ValueError(
                    coded(
                        f"The matrix of the landmarks has a negative eigenvalue (pivot {found.pivot}): {among.name} is"
                        " not positive semi-definite on these data. Repair the kernel, kernel.repaired('clip'), or"
                        " choose another.",
                        "M209",
                    )
                ) from None
            epsilon *= 10


class NystromGram(FactoredGram):
    """C (G + εI)^−1 C^T: the matrix of all items as their landmarks see it.

    Products are two passes over C. Features are stored when somebody asks for their numbers.
    """

    fixed = True
    symmetric = True

    def __init__(self, landmarks: Landmarks, dtype: DTypeLike | None = None) -> None:
        self._landmarks = landmarks
        C = landmarks.values
        self.shape, self.dtype, self.compute = (C.shape[0], C.shape[0]), np.dtype(dtype or C.dtype), C.compute
        self.name = C.name

    def landmarks(self) -> Landmarks:
        return self._landmarks

    @property
    def width(self) -> int:
        return len(self._landmarks)

    @cached_property
    def _stored(self) -> LowRankGram:
        need = self.shape[0] * self.width * self.dtype.itemsize
        if need > self.compute.budget // 2:
            raise MemoryError(
                coded(
                    f"The features of {self.shape[0]} items by {self.width} landmarks take {human(need)}, and half the"
                    f" memory budget is {human(self.compute.budget // 2)}. Take fewer landmarks, float32 data, or raise"
                    f" the budget: Compute(memory='{human(2.2 * need).replace(' ', '')}').",
                    "M401",
                )
            )
        return LowRankGram(self._landmarks.features(dtype=self.dtype), None, self.compute)

    @property
    def _numbered(self) -> tuple[Any, Any]:
        return self._stored._numbered

    def _lazy(self) -> KernelGram:
        return self._stored._lazy()

    def sub(self, rows: Index, cols: Index) -> Gram:
        rows, cols = as_index(rows, self.shape[0]), as_index(cols, self.shape[0])
        if "_stored" not in self.__dict__ and same_selection(rows, cols, self.shape[0]):
            return NystromGram(self._landmarks.sub(rows), self.dtype)
        return self._stored.sub(rows, cols)

    def astype(self, dtype: DTypeLike) -> Gram:
        if np.dtype(dtype) == self.dtype:
            return self
        if "_stored" in self.__dict__:
            return self._stored.astype(dtype)
        if self._landmarks.values.dtype == np.float64:  # features are rounded, not C, whose rounding L^−1 would enlarge
            return NystromGram(self._landmarks, dtype)
        return NystromGram(replace(self._landmarks, values=self._landmarks.values.astype(dtype)))

    def diag(self) -> Array:
        if "_stored" in self.__dict__:
            return self._stored.diag()
        out = np.empty(self.shape[0])
        for rows in chunks(len(out), max(self.width, together(self.width, self.compute.budget))):
            phi = self._landmarks.features(rows, np.float64)
            np.einsum("ij,ij->i", phi, phi, out=out[rows])
        return out

    @property
    def T(self) -> NystromGram:
        return self

    def _product(self, V: Array) -> Array:
        if "_stored" in self.__dict__:
            return self._stored._product(V)
        C, marks = self._landmarks.values, self._landmarks
        theta = marks.of_values(np.asarray(arrays.to_numpy(C.T @ arrays.to_numpy(V))))
        return np.asarray(arrays.to_numpy(C @ marks.coefficients(theta)))
