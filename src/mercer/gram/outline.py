"""A matrix before there is one: its shape, what its values cost, and a sample of it that says the rest.

Who chooses a way by what a matrix is (``policy``, the solvers) chooses the same for its outline, and says beside the
code that allocates and computes how much that will be: ``Work``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from math import isqrt
from typing import Any, NoReturn

import numpy as np
from numpy.typing import DTypeLike

from mercer.annotations import Index
from mercer.arrays import Array
from mercer.compute import Compute
from mercer.gram.contract import Gram, precision
from mercer.native.speed import Speed, quickest, speed

_LARGEST = 2048  # items of a sample
_LEAST = 24
_ENOUGH = 0.006  # seconds that a measurement may take
_ACROSS = 512  # columns of a block that is passed over
_TILES = 3 * 2**19  # bytes that a thread works in
_COPIES = 3  # of prepared items: centred and as given, in float64 and in float32


@dataclass(frozen=True)
class Work:
    """What is to be done: bytes at its peak, seconds, and how, in words. ``solver`` is what ``solver_`` will say;
    ``refused`` why the budget does not allow it.
    """

    memory: float = 0.0
    seconds: float = 0.0
    plan: str = ""
    solver: str = ""
    refused: str = ""

    def beside(self, memory: float = 0.0, seconds: float = 0.0) -> Work:
        """The same while so many bytes are held, and so many seconds more."""
        return replace(self, memory=self.memory + memory, seconds=self.seconds + seconds)

    def then(self, other: Work) -> Work:
        """One after the other; the words are those of this one."""
        return replace(
            self,
            memory=max(self.memory, other.memory),
            seconds=self.seconds + other.seconds,
            refused=self.refused or other.refused,
        )

    def times(self, count: float) -> Work:
        return replace(self, seconds=count * self.seconds)


@dataclass(frozen=True)
class Pace:
    """Seconds of one thread for a value that is stored, in a product (a row, where products are quick), in a product
    with eight columns, and in a pass K^T(KV).
    """

    store: float
    product: float
    columns: float
    across: float


@dataclass(frozen=True)
class Sample:
    """Some items of a matrix, and what was measured of them."""

    gram: Gram
    paces: Mapping[str, Pace]  # by precision
    prepare: float = 0.0  # seconds for an item at the door of the kernel
    item: float = 0.0  # bytes of a prepared item
    width: tuple[int, float, bool] | None = None  # features, the power of the items they grow with, whether fixed

    @classmethod
    def of(cls, gram: Gram, prepare: float = 0.0, item: float = 0.0) -> Sample:
        """``gram`` is a square matrix of a few hundred items or more, that computes on one thread."""
        found = gram.features(at_most=np.inf)
        width = None
        if found is not None:
            n = gram.shape[0]
            half = gram.sub(slice(0, n // 2), slice(0, n // 2)).features(at_most=np.inf) if n >= 16 else None
            growth = 0.0 if found.fixed or half is None else float(np.log2(max(1.0, found.width / max(1, half.width))))
            width = (found.width, min(growth, 1.0), bool(found.fixed))
        if gram.stored:
            return cls(gram, {}, prepare, item, width)
        return cls(gram, {name: _pace(gram.astype(name)) for name in ("float32", "float64")}, prepare, item, width)


def _pace(gram: Gram) -> Pace:
    n = min(gram.shape[0], max(1, isqrt(gram.compute.budget // (2 * gram.dtype.itemsize))))  # a matrix in the budget
    size = min(_LEAST, n)
    while True:  # more items until the time can be read
        part = gram.sub(slice(0, size), slice(0, size))
        part.dense()
        seconds = quickest(part.dense, 1)
        if size == n or seconds > _ENOUGH:
            break
        size = min(n, int(size * min(8.0, max(1.3, (1.2 * _ENOUGH / seconds) ** 0.5))))
    times = 3 if seconds < 2 * _ENOUGH else 1
    store = quickest(part.dense, times) / size**2
    if seconds > 4 * _ENOUGH:  # one value costs more than all that is done with it
        return Pace(store, store, store, 2 * store)
    v, V = np.ones(size), np.ones((size, 8))
    count = size if part.quick_products else size**2
    block = part.sub(slice(None), slice(0, min(size, _ACROSS)))
    u = np.ones((block.shape[1], 1))
    _, _, _ = part @ v, part @ V, block.normal(u)  # compiled
    return Pace(
        store,
        quickest(lambda: part @ v, times) / count,
        quickest(lambda: part @ V, times) / count,
        quickest(lambda: block.normal(u), times) / (block.shape[0] * block.shape[1]),
    )


@dataclass(frozen=True)
class Width:
    """How many features a matrix will have."""

    width: int
    fixed: bool = True
    symmetric: bool = True
    on_host: bool = True


@dataclass(frozen=True, eq=False)
class Marks:
    """Landmarks to come, m of them."""

    values: Outline
    count: int
    among: bool = True

    @property
    def index(self) -> range | None:
        return range(self.count) if self.among else None

    def __len__(self) -> int:
        return self.count


@dataclass(eq=False)
class Outline(Gram):
    """A matrix of ``shape`` whose values are like those of a sample; it has none itself."""

    sample: Sample
    shape: tuple[int, int]
    dtype: np.dtype[Any]
    compute: Compute
    marks: int | None = None  # of which the matrix is made, where it is Nyström's
    reading: float = 0.0  # seconds for an item in each pass, where samples come in blocks
    among: bool = True  # whether the landmarks are items
    held: bool = field(default=False)  # whether its values are in memory

    def __post_init__(self) -> None:
        self.name = self.sample.gram.name
        self.cost, self.recomputable = self.sample.gram.cost, self.sample.gram.recomputable
        self.stored = self.held or self.sample.gram.stored
        self.quick_products = self.sample.gram.quick_products or self.marks is not None

    # -- what decisions ask ------------------------------------------------------------------------------------------

    def features(self, at_most: float = 0.75) -> Any:
        if self.marks is not None:
            found = Width(self.marks)
        elif self.sample.width is None:
            return None
        else:
            width, growth, fixed = self.sample.width
            more = max(1.0, self.shape[0] / self.sample.gram.shape[0])
            found = Width(int(width * more**growth), fixed)
        return found if found.width < at_most * self.shape[0] else None

    def landmarks(self) -> Any:
        return None if self.marks is None else Marks(self._changed(marks=None), self.marks, self.among)

    def compiled(self) -> Outline:
        return self

    def diag(self) -> Array:
        return self.sample.gram.diag()

    def _changed(self, **changes: Any) -> Outline:
        given = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return Outline(**given | changes)

    def astype(self, dtype: DTypeLike) -> Outline:
        return self._changed(dtype=precision(dtype))

    def of(self, n: int) -> Outline:
        """That of so many of the items."""
        return self._changed(shape=(n, n))

    def within(self, budget: int) -> Outline:
        """The same with another budget of memory."""
        return self._changed(compute=replace(self.compute, memory=int(budget)))

    def in_memory(self, dtype: DTypeLike | None = None) -> Outline:
        return self._changed(held=True, dtype=self.dtype if dtype is None else precision(dtype))

    # -- what is allocated and how long it takes ---------------------------------------------------------------------

    @property
    def speed(self) -> Speed:
        return speed(self.compute.workers)

    def _pace(self, dtype: DTypeLike | None) -> Pace:
        return self.sample.paces[np.dtype(dtype or self.dtype).name]

    def bytes(self, dtype: DTypeLike | None = None, rows: float | None = None, columns: float | None = None) -> float:
        """Of so many rows and columns as numbers; None: all."""
        n = self.shape[0] if rows is None else rows
        m = self.shape[1] if columns is None else columns
        return n * m * np.dtype(dtype or self.dtype).itemsize

    @property
    def items(self) -> float:
        """Bytes of what is prepared of the items, and of the tiles that threads work in."""
        return _COPIES * self.sample.item * self.shape[0] + _TILES * self.compute.workers

    @property
    def preparing(self) -> float:
        """Seconds until the items are prepared."""
        return self.sample.prepare * self.shape[0]

    def storing(self, dtype: DTypeLike | None = None, rows: float | None = None, columns: float | None = None) -> float:
        """Seconds to have so many values in new memory: computed, or copied where they are stored."""
        n = self.shape[0] if rows is None else rows
        m = self.shape[1] if columns is None else columns
        if self.stored:
            return self.speed.writing(n * m * np.dtype(dtype or self.dtype).itemsize)
        # a square matrix is computed by halves, of which the sample's pace knows
        return n * m * self._pace(dtype).store * (1.0 if n == m else 1.5) / self.compute.workers

    def product(self, columns: int = 1, dtype: DTypeLike | None = None) -> float:
        """Seconds of K V."""
        n, m = self.shape
        if self.marks is not None:
            return 2 * self.passing(columns, dtype)
        if self.stored:
            return self.speed.reading(n * m * self.dtype.itemsize) * max(1.0, columns / 8)
        pace = self._pace(dtype)
        values = n if self.quick_products else n * m
        each = pace.product if columns == 1 else pace.columns * max(1.0, columns / 8)
        return values * each / self.compute.workers

    def passing(self, columns: int = 1, dtype: DTypeLike | None = None, count: int | None = None) -> float:
        """Seconds of C^T(CV), C the values of all items with ``count`` others."""
        m = count or self.marks or self.shape[1]
        if self.stored:
            return self.speed.reading(2 * self.shape[0] * m * self.dtype.itemsize)
        values = m * self._pace(dtype).across * max(1.0, columns / 4)
        return self.shape[0] * (self.reading + values / self.compute.workers)

    # -- what it has not ---------------------------------------------------------------------------------------------

    def _nothing(self) -> NoReturn:
        raise TypeError("An outline of a matrix has no values.")

    def rows(self, idx: Index) -> Array:
        self._nothing()

    def sub(self, rows: Index, cols: Index) -> Gram:
        self._nothing()

    def _dense(self, out: Array | None = None) -> Array:
        self._nothing()

    def _product(self, V: Array) -> Array:
        self._nothing()

    @property
    def T(self) -> Gram:
        return self


def largest_sample() -> int:
    """Items from which a sample says what there is to know."""
    return _LARGEST
