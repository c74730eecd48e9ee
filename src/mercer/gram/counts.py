"""The Gram of counts: K = diag(u) (Σ_t s_t C_t D_t^T + c) diag(v) for sparse matrices of whole numbers.

C_t are the features of one term of a sum, s_t its scale, c a constant kernel beside them, u and v what normalisation
makes of the rows. Counts are exact in float32, so one copy of them serves every precision; products add up in float64.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import DTypeLike
from scipy import sparse

from mercer.annotations import Index, Items, Symbol
from mercer.arrays import Array
from mercer.compute import Compute
from mercer.data import HashedRows, chunks, size, take
from mercer.data.hashed_rows import row_norms, together
from mercer.engine.tiles import same_selection
from mercer.formula import dot, sqnorm
from mercer.gram.computed import KernelGram
from mercer.gram.contract import as_index, precision
from mercer.gram.factored import FactoredGram
from mercer.runtime import compiling, threads
from mercer.runtime.threads import cached_property

_PARTS = 8  # of the rows, whose sums of columns are added up apart


@dataclass(frozen=True, eq=False)
class Counts:
    """The features of a set as whole numbers: k(x, z) = (Σ_t s_t ⟨c_t(x), c_t(z)⟩ + c) u(x) u(z)."""

    terms: tuple[
        tuple[float, Any], ...
    ]  # s_t and the counts c_t, ``HashedRows``, or CSR where columns have been numbered
    constant: float = 0.0
    factor: Array | None = None  # u; None: 1

    def __len__(self) -> int:
        return size(self.terms[0][1])

    def take(self, rows: Index) -> Counts:
        """Of some rows, whose columns have been numbered."""
        factor = None if self.factor is None else take(self.factor, rows)
        return replace(self, terms=tuple((s, _taken(C, rows)) for s, C in self.terms), factor=factor)

    @property
    def factors(self) -> Array:
        """u."""
        return np.ones(len(self)) if self.factor is None else self.factor

    def scaled(self, scale: float) -> Counts:
        """Of scale·k."""
        return Counts(tuple((scale * s, counts) for s, counts in self.terms), scale * self.constant, self.factor)

    @classmethod
    def of_sum(cls, parts: Sequence[Counts | None]) -> Counts | None:
        """Of a sum; None where a term has none, or a factor of its own."""
        if any(part is None or part.factor is not None for part in parts):
            return None
        known = [part for part in parts if part is not None]
        return cls(tuple(term for part in known for term in part.terms), sum(part.constant for part in known))

    def normalized(self) -> Counts | None:
        """Of k(x, z)/√(k(x, x) k(z, z)); rows of norm 0 stay 0. None where there are no counts to normalise."""
        if not self.terms:
            return None
        squares = sum((s * counts.sqnorm() for s, counts in self.terms), np.zeros(1)) + self.constant
        return Counts(self.terms, self.constant, 1.0 / np.sqrt(np.where(squares > 0, squares, 1.0)))


class CountsGram(FactoredGram):
    """Features that are counts: K between two sets of them, or of one (``right is left``).

    Entries are made when they are first needed; the whole symmetric matrix has a quicker way, ``symmetric``, the same
    by the formula of its kernel.
    """

    def __init__(
        self,
        left: Counts,
        right: Counts,
        compute: Compute,
        dtype: DTypeLike,
        *,
        diagonal: Array | Callable[[], Array] | None = None,
        symmetric: KernelGram | None = None,
    ) -> None:
        self._given, self.compute, self.dtype = (left, right), compute, np.dtype(dtype)
        self._diagonal = diagonal if right is left else None
        self.shape, self._symmetric = (len(left), len(right)), symmetric

    @property
    def diagonal(self) -> Array | None:
        """K_ii, where it was given or can be computed without the counts: when it is asked for, since to store the
        matrix finds it on the way.
        """
        if callable(self._diagonal):
            self._diagonal = self._diagonal()
        return self._diagonal

    @cached_property
    def sides(self) -> tuple[Counts, Counts]:
        """Both sets with columns numbered together, as CSR matrices of float32; what they were made of is let go."""
        _ = self.diagonal  # while there is what it is made of
        left, right = self._given
        numbered = [_numbered_together(a, b) for (_, a), (_, b) in zip(left.terms, right.terms, strict=True)]
        first = replace(left, terms=tuple((s, C) for (s, _), (C, _) in zip(left.terms, numbered, strict=True)))
        second = first
        if right is not left:
            second = replace(right, terms=tuple((s, D) for (s, _), (_, D) in zip(right.terms, numbered, strict=True)))
        self._given, self._symmetric = (first, second), None
        return first, second

    @property
    def symmetric(self) -> bool:
        return self._given[1] is self._given[0]

    @cached_property
    def _numbered(self) -> tuple[Any, Any]:
        """The features themselves, for whoever wants to see them."""
        left, right = self.sides
        phi = _features(left, self.dtype)
        return phi, phi if self.symmetric else _features(right, self.dtype)

    def _factors(self) -> tuple[Any, Array]:
        left = self.sides[0]
        if len(left.terms) == 1 and left.constant == 0:  # the counts themselves
            scale, C = left.terms[0]
            return C, np.sqrt(scale) * left.factors
        return super()._factors()

    @property
    def width(self) -> int:
        return sum(int(C.shape[1]) for _, C in self.sides[0].terms) + (self.sides[0].constant > 0)

    def _like(
        self,
        left: Counts,
        right: Counts,
        dtype: DTypeLike | None = None,
        diagonal: Array | Callable[[], Array] | None = None,
    ) -> CountsGram:
        other = CountsGram(left, right, self.compute, self.dtype if dtype is None else dtype, diagonal=diagonal)
        other.name = self.name
        return other

    @property
    def T(self) -> CountsGram:
        return self if self.symmetric else self._like(*self.sides[::-1])

    def sub(self, rows: Index, cols: Index) -> CountsGram:
        rows, cols = as_index(rows, self.shape[0]), as_index(cols, self.shape[1])
        left = self.sides[0].take(rows)
        if not (self.symmetric and same_selection(rows, cols, self.shape[0])):
            return self._like(left, self.sides[1].take(cols))
        return self._like(left, left, diagonal=None if self.diagonal is None else take(self.diagonal, rows))

    def astype(self, dtype: DTypeLike) -> CountsGram:
        if precision(dtype) == self.dtype:
            return self
        other = self._like(*self._given, dtype, self._diagonal)
        symmetric = self._symmetric
        other._symmetric = None if symmetric is None else symmetric.astype(dtype)
        other.__dict__.update({name: self.__dict__[name] for name in ("sides",) if name in self.__dict__})
        return other

    def diag(self) -> Array:
        if self.diagonal is not None:
            return np.asarray(self.diagonal, self.dtype)
        n, (left, right) = min(self.shape), self.sides
        values = np.full(n, left.constant)
        for (scale, C), (_, D) in zip(left.terms, right.terms, strict=True):
            own = (
                row_norms(C.data, C.indptr)
                if self.symmetric
                else np.asarray(C[:n].astype(np.float64).multiply(D[:n]).sum(axis=1)).reshape(-1)
            )
            values += scale * own
        return (values * left.factors[:n] * right.factors[:n]).astype(self.dtype)

    def _dense(self, out: Array | None = None) -> Array:
        # nobody has asked for entries, and this does not
        symmetric = self._symmetric  # which another thread may let go
        return super()._dense(out) if symmetric is None else symmetric._dense(out)

    def _lazy(self) -> KernelGram:
        compute = Compute(**{**self.compute.__dict__, "dtype": self.dtype.name})
        left, right = self.sides
        formula = _Formula(tuple(scale for scale, _ in left.terms), left.constant, self.symmetric)
        matrices = [(*(C for _, C in side.terms), side.factors) for side in (left, right)]
        if not self.symmetric:
            return KernelGram.of(formula, matrices[0], matrices[1], compute, name=self.name)
        return KernelGram.of(formula, items := (*matrices[0], self.diag()), items, compute, name=self.name)

    def _product(self, V: Array) -> Array:
        left, right = self.sides
        u, v = left.factors, right.factors
        sums = 8 * max(1, self.width)  # bytes of the sums of one column of V and one part of the rows
        parts = int(np.clip(self.compute.budget // (8 * sums), 1, _PARTS))
        out = np.empty((self.shape[0], V.shape[1]))
        for some in chunks(V.shape[1], max(1, int(self.compute.budget // (8 * sums * (parts + 1))))):
            W = v[:, None] * np.asarray(V[:, some], np.float64)
            total = (
                np.full((self.shape[0], W.shape[1]), left.constant) * W.sum(axis=0)
                if left.constant
                else np.zeros((self.shape[0], W.shape[1]))
            )
            for (scale, C), (_, D) in zip(left.terms, right.terms, strict=True):
                total += scale * product(C, transposed_product(D, W, parts, self.compute.workers), self.compute.workers)
            out[:, some] = u[:, None] * total
        return out


@dataclass(frozen=True)
class _Formula:
    """(Σ_t s_t ⟨c_t, d_t⟩ + c) u v as the formula of counts, factors of their rows, and, of one set, their known values
    with themselves.
    """

    scales: tuple[float, ...]
    constant: float
    symmetric: bool

    def _block(self, A: Items, B: Items) -> Any:
        t = len(self.scales)
        total = sum(_times(s, dot(a, b)) for s, a, b in zip(self.scales, A, B, strict=False))
        return (total + self.constant if self.constant else total) * A[t] * B[t]

    def _diag(self, A: Items) -> Any:
        t = len(self.scales)
        return (
            A[t + 1]
            if self.symmetric
            else sum(s * sqnorm(a) for s, a in zip(self.scales, A, strict=False)) * A[t] * A[t]
        )


def _times(scale: float, value: Symbol) -> Any:
    return value if scale == 1 else scale * value


def _numbered_together(a: HashedRows | sparse.csr_array, b: HashedRows | sparse.csr_array) -> tuple[Any, Any]:
    if not isinstance(a, HashedRows):
        return a, b
    places, width = together([a] if b is a else [a, b])
    made = [_csr(counts, p, width) for counts, p in zip((a, b), places, strict=False)]
    return made[0], made[-1]


def _features(side: Counts, dtype: DTypeLike) -> Any:
    """Φ = [√s_t u C_t …, √c u]."""
    u = sparse.diags_array(side.factors)
    parts = [np.sqrt(s) * (u @ C.astype(np.float64)) for s, C in side.terms]
    if side.constant:
        parts.append(sparse.csr_array(np.sqrt(side.constant) * side.factors[:, None]))
    return sparse.csr_array(sparse.hstack(parts, format="csr") if len(parts) > 1 else parts[0]).astype(dtype)


def _csr(counts: HashedRows, places: Array, width: int) -> Any:
    made = sparse.csr_array((counts.shape[0], max(1, width)), dtype=np.float32)
    # as they are: the constructor would copy what it checks
    made.data, made.indices = counts.values.astype(np.float32), places
    made.indptr = counts.offsets.astype(np.int32 if len(places) < 2**31 else np.int64)
    made.distinct = True  # no column twice in a row, in whatever order
    return made


def _taken(C: sparse.csr_array, rows: Index) -> Any:
    part = take(C, rows)
    part.distinct = True
    return part


def product(C: sparse.csr_array, V: Array, workers: int) -> Array:
    """C V in float64."""
    out = np.zeros((C.shape[0], V.shape[1]))
    loop = compiling.compiled(_product_loop)

    def task(rows: slice) -> None:
        loop(C.indptr[rows.start : rows.stop + 1], C.indices, C.data, V, out[rows])

    threads.run_tasks(task, chunks(C.shape[0], max(1, -(-C.shape[0] // 32))), workers, blas=False)
    return out


def transposed_product(C: sparse.csr_array, V: Array, count: int, workers: int) -> Array:
    """C^T V in float64: so many parts of the rows apart, added up in their order, so that threads do not change a
    bit.
    """
    parts = chunks(C.shape[0], max(1, -(-C.shape[0] // count)))
    sums: list[Any] = [None] * len(parts)
    loop = compiling.compiled(_transposed_loop)

    def task(p: int) -> None:
        rows, total = parts[p], np.zeros((C.shape[1], V.shape[1]))
        loop(C.indptr[rows.start : rows.stop + 1], C.indices, C.data, V[rows], total)
        sums[p] = total

    threads.run_tasks(task, range(len(parts)), workers, blas=False)
    return sum(sums[1:], sums[0]) if sums else np.zeros((C.shape[1], V.shape[1]))


def _product_loop(indptr, indices, data, V, out):  # type: ignore[no-untyped-def]
    for i in range(len(out)):
        for m in range(out.shape[1]):
            total = 0.0
            for k in range(indptr[i], indptr[i + 1]):
                total += data[k] * V[indices[k], m]
            out[i, m] = total


def _transposed_loop(indptr, indices, data, V, out):  # type: ignore[no-untyped-def]
    for i in range(len(V)):
        for m in range(V.shape[1]):
            x = V[i, m]
            if x != 0:
                for k in range(indptr[i], indptr[i + 1]):
                    out[indices[k], m] += data[k] * x
