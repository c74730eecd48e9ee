"""A weighted sum of matrices that stay apart: what learns the weights asks for its parts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike
from scipy import sparse

from mercer import arrays
from mercer.annotations import Index
from mercer.arrays import Array
from mercer.data import chunks
from mercer.engine.tiles import same_selection
from mercer.gram.computed import FamilyGram, KernelGram
from mercer.gram.contract import Cost, Gram, as_index, precision
from mercer.gram.factored import Features, LowRankGram
from mercer.runtime.threads import cached_property, run_tasks
from mercer.troubles import coded

_STRIP = 512  # rows that are added up in one task
_WORTH_ADDING = 2**21  # values of all parts; fewer are there before a compiler has started
_PASSES = 3  # over the values of a family, one for each column of a product


class SumGram(Gram):
    """Σ_m w_m K_m of Gram matrices of one shape, w ≥ 0. Parts of weight 0 are never asked.

    Nothing is stored but the parts; a value costs what those of all parts with weight cost together.

    Parameters
    ----------
    parts : sequence of Gram
        K_m.
    weights : array-like of shape (n_parts,)
        w_m, at least 0.
    symmetric : bool, default=False
        Whether rows and columns are the same items: one half is then computed and mirrored.

    Attributes
    ----------
    weights : ndarray of shape (n_parts,)
        w.

    See Also
    --------
    MKLClassifier : Learns the weights.

    Examples
    --------
    >>> import mercer as mc
    >>> X = [[0.0], [1.0]]
    >>> total = mc.SumGram([mc.Linear().gram(X), mc.Gaussian(1.0).gram(X)], [2.0, 1.0])
    >>> total.dense().round(3)
    array([[1.   , 0.368],
           [0.368, 3.   ]])
    """

    def __init__(self, parts: Sequence[Gram], weights: ArrayLike, *, symmetric: bool = False) -> None:
        self._parts = list(parts)
        self.weights, self._symmetric = np.asarray(weights, np.float64), symmetric
        if not self._parts or self.weights.shape != (len(self._parts),):
            raise ValueError(coded(f"A sum of {len(self._parts)} matrices cannot have weights {weights!r}.", "M205"))
        if len({part.shape for part in self._parts}) > 1:
            raise ValueError(
                coded(f"Matrices of shapes {[part.shape for part in self._parts]} cannot be added.", "M111")
            )
        if not (np.isfinite(self.weights).all() and (self.weights >= 0).all()):
            raise ValueError(coded(f"Weights of a sum are numbers of at least 0, got {weights!r}.", "M205"))
        first = self._parts[0]
        self.shape, self.compute = first.shape, first.compute
        self.dtype = np.result_type(*(part.dtype for part in self._parts))
        self.name = "of this sum"

    @property
    def parts(self) -> list[Gram]:
        return self._parts

    def weighted(self, weights: ArrayLike) -> SumGram:
        """The same parts with other weights."""
        out = SumGram(self._parts, weights, symmetric=self._symmetric)
        out.__dict__["_groups"] = self._groups  # with what is packed for them
        return out

    def of_parts(self, parts: Sequence[Gram]) -> SumGram:
        """The same weights of other parts, such as these in another form."""
        return SumGram(parts, self.weights, symmetric=self._symmetric)

    @cached_property
    def _groups(self) -> list[tuple[Array, Gram]]:
        """The parts by number: those that differ in their numbers alone, and share distances or inner products, as one
        matrix; the others alone.
        """
        alike: dict[Any, list[int]] = {}
        worth = len(self._parts) * self.shape[0] * self.shape[1] >= _WORTH_ADDING
        for m, part in enumerate(self._parts):
            key = part.family_key if worth and isinstance(part, KernelGram) else None
            alike.setdefault(m if key is None else key, []).append(m)
        return [(np.array(which), self._together(which)) for which in alike.values()]

    def _together(self, which: list[int]) -> Gram:
        some: list[Any] = [self._parts[m] for m in which]
        return some[0] if len(some) == 1 else FamilyGram.together(some, np.ones(len(some)))

    @cached_property
    def _used(self) -> list[tuple[float, Gram]]:
        """Parts with weight, families as one."""
        out: list[tuple[float, Gram]] = []
        for which, group in self._groups:
            some = np.flatnonzero(self.weights[which] > 0)
            if len(some) > 1:
                assert isinstance(group, FamilyGram)
                out.append((1.0, group.chosen(some, self.weights[which[some]])))
            elif len(some):
                m = which[some[0]]
                out.append((float(self.weights[m]), self._parts[m]))
        return out

    def products(self, V: Any) -> Array:
        """K_m V of each part; those that share distances are multiplied in one pass."""
        V = self._right(V)
        if V.ndim == 1:
            return self.products(V[:, None])[:, :, 0]
        out = np.empty((len(self.weights), self.shape[0], V.shape[1]))
        for which, group in self._groups:
            if isinstance(group, FamilyGram) and V.shape[1] <= _PASSES:
                out[which] = group.products(np.asarray(V, np.float64))
            else:  # of many columns each value is computed once, tile by tile
                for m in which:
                    out[m] = arrays.to_numpy(self._part(m) @ V)
        return out

    def _part(self, m: int) -> Gram:
        return self._parts[m]

    @property
    def cost(self) -> Cost:  # type: ignore[override]
        costs = [part.cost for _, part in self._used]
        return max(costs) if len(costs) == 1 else max(costs, default=Cost.CHEAP) or Cost.COSTLY

    @property
    def recomputable(self) -> bool:  # type: ignore[override]
        return all(part.recomputable for part in self._parts)

    @property
    def quick_products(self) -> bool:  # type: ignore[override]
        return all(part.quick_products for _, part in self._used)

    def compiled(self) -> SumGram:
        return self.of_parts([part.compiled() for part in self._parts])

    def features(self, at_most: float = 0.75) -> Features | None:
        """Those of the parts side by side, each times √w."""
        found = [(w, part.features(at_most)) for w, part in self._used]
        known = [(w, f) for w, f in found if f is not None and f.symmetric]
        if len(known) < len(found) or not known or sum(f.width for _, f in known) >= at_most * self.shape[0]:
            return None
        scaled = [np.sqrt(w) * f.phi for w, f in known]
        if any(sparse.issparse(phi) for phi in scaled):
            both: Array | sparse.csr_array = sparse.hstack(scaled, format="csr")
        else:
            both = arrays.namespace(*scaled).concatenate(scaled, axis=1)
        return LowRankGram(both, both, self.compute).features(at_most)

    def _total(self, ask: Callable[[Gram], Array], shape: tuple[int, ...], dtype: DTypeLike) -> Array:
        """Σ_m w_m ask(K_m)."""
        total: Array | None = None
        for w, part in self._used:
            values = w * ask(part)
            total = values if total is None else total + values
        return np.zeros(shape, dtype) if total is None else arrays.astype(total, dtype)

    def rows(self, idx: Index) -> Array:
        idx = as_index(idx, self.shape[0])
        return self._total(lambda part: part.rows(idx), (len(np.arange(self.shape[0])[idx]), self.shape[1]), self.dtype)

    def sub(self, rows: Index, cols: Index) -> SumGram:
        rows, cols = as_index(rows, self.shape[0]), as_index(cols, self.shape[1])
        same = self._symmetric and same_selection(rows, cols, self.shape[0])
        return _PartOfSum(self, rows, cols, same)

    def astype(self, dtype: DTypeLike) -> SumGram:
        if all(part.dtype == precision(dtype) for part in self._parts):
            return self
        terms = zip(self.weights, self._parts, strict=True)
        out = self.of_parts([part.astype(dtype) if w > 0 else part for w, part in terms])
        out.dtype = precision(dtype)
        return out

    def diag(self) -> Array:
        return self._total(lambda part: part.diag(), (min(self.shape),), self.dtype)

    @property
    def T(self) -> SumGram:
        return self if self._symmetric else self.of_parts([part.T for part in self._parts])

    def _dense(self, out: Array | None = None) -> Array:
        if any(arrays.is_tensor(part.sub(slice(0, 1), slice(0, 1)).dense()) for _, part in self._used[:1]):
            total = self._total(lambda part: part.dense(), self.shape, self.dtype)
            if out is None:
                return total
            out[...] = total
            return out
        out = np.empty(self.shape, self.dtype) if out is None else out
        if len(self._used) == 1 and self._used[0][0] == 1.0:
            return self._used[0][1]._dense(out)
        run_tasks(partial(self._fill, out), chunks(self.shape[0], _STRIP), self.compute.workers)
        return out

    def _fill(self, out: Array, rows: slice) -> None:
        """A strip of the matrix: of a symmetric one from the diagonal on, and its mirror image."""
        cols = slice(rows.start if self._symmetric else 0, self.shape[1])
        place = out[rows, cols]
        place[...] = 0.0
        for w, part in self._used:
            values = np.asarray(part.sub(rows, cols).dense())
            place += values if w == 1.0 else w * values
        if self._symmetric:
            square = place[:, : len(place)]
            square[...] = np.triu(square) + np.triu(square, 1).T
            out[rows.stop :, rows] = place[:, len(place) :].T

    def _product(self, V: Array) -> Array:
        return self._total(lambda part: part._product(V), (self.shape[0], V.shape[1]), np.float64)


class _PartOfSum(SumGram):
    """Some rows and columns of a sum: those of its parts are taken when somebody asks for the parts."""

    def __init__(self, whole: SumGram, rows: Index, cols: Index, symmetric: bool) -> None:
        self._whole, self._chosen = whole, (rows, cols)
        self.weights, self._symmetric, self.name = whole.weights, symmetric, whole.name
        self.compute, self.dtype = whole.compute, whole.dtype
        self.shape = (len(np.arange(whole.shape[0])[rows]), len(np.arange(whole.shape[1])[cols]))

    @cached_property
    def _parts(self) -> list[Gram]:
        return [part.sub(*self._chosen) for part in self._whole.parts]

    @cached_property
    def _groups(self) -> list[tuple[Array, Gram]]:
        return [(which, group.sub(*self._chosen)) for which, group in self._whole._groups]

    @cached_property
    def _used(self) -> list[tuple[float, Gram]]:
        return [(w, part.sub(*self._chosen)) for w, part in self._whole._used]

    def _part(self, m: int) -> Gram:
        return self._whole._part(m).sub(*self._chosen)
