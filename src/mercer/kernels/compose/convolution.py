"""Kernels between objects from kernels between their parts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from mercer import arrays
from mercer.annotations import Index, Items, Samples, Weights
from mercer.arrays import Array
from mercer.compute import Compute
from mercer.data import Anything, DataError, Domain, chunks, size, take
from mercer.data.representations import offsets_of, spans, sums_of_rows
from mercer.data.sequences import items_of
from mercer.gram import KernelGram
from mercer.kernels.base import Kernel, kernel
from mercer.kernels.compose.composite import Composite
from mercer.runtime import threads
from mercer.troubles import coded

_PAIRS = 2**21  # of parts that are compared together


@dataclass(frozen=True, eq=False)
class Parts:
    """The decompositions of object i are the rows ``offsets[i]`` … ``offsets[i + 1]`` of each of the prepared
    ``reps``.
    """

    offsets: Array
    reps: tuple[Any, ...]

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def take(self, rows: Index) -> Parts:
        part, offsets = spans(self.offsets, rows)
        return Parts(offsets, tuple(take(rep, part) for rep in self.reps))


@kernel
class Convolution(Composite):
    """Σ over decompositions (x_1, …, x_D) of x and (z_1, …, z_D) of z of Π_d k_d(x_d, z_d).

    The kernel between objects from kernels between their parts: of sets, of sentences by their words, of records by
    their fields. With one kernel and ``decompose=None`` it is the kernel between sets, Σ k(a, b) over members a of x
    and b of z; ``normalized()`` keeps large objects from having large values. An object without decompositions has the
    value 0 with every other. Cost: one value of each k_d for each pair of decompositions.

    Parameters
    ----------
    decompose : callable or None
        ``decompose(x)`` gives the decompositions of one object: a list of tuples of D parts (with one kernel, of the
        parts themselves). None: an object is the collection of its parts.
    parts : Kernel or tuple of Kernel
        The kernels k_1 … k_D, one for each part. In ``get_params`` they are ``part_0``, ``part_1``, …

    References
    ----------
    .. [1] D. Haussler. Convolution kernels on discrete structures. UCSC-CRL-99-10, 1999.

    Examples
    --------
    >>> import mercer as mc
    >>> sets = [["red", "blue"], ["red", "red"], []]
    >>> mc.Convolution(None, mc.Categorical())(sets)
    array([[2., 2., 0.],
           [2., 4., 0.],
           [0., 0., 0.]])
    >>> pairs = lambda word: [(word[:i], word[i:]) for i in range(1, len(word))]
    >>> mc.Convolution(pairs, (mc.Categorical(), mc.Spectrum(1)))(["abb"], ["abb", "acb"])
    array([[5., 2.]])
    """

    usage: ClassVar[str] = "Convolution(decompose, parts)"
    domain: ClassVar[Domain] = Anything()
    _same_items = False
    decompose: Callable[[Any], Any] | None
    parts: tuple[Kernel, ...]

    def __post_init__(self) -> None:
        self.parts = (self.parts,) if isinstance(self.parts, Kernel) else tuple(self.parts)
        super().__post_init__()

    def _validate(self) -> None:
        if not self.parts or not all(isinstance(k, Kernel) for k in self.parts):
            raise TypeError(
                coded(
                    "Convolution(decompose, parts): parts is a kernel, or a tuple of kernels, one for each part.",
                    "M205",
                )
            )
        if self.decompose is not None and not callable(self.decompose):
            raise TypeError(
                coded(
                    "Convolution(decompose, parts): decompose is a function of one object, or None where objects are"
                    " collections.",
                    "M205",
                )
            )

    @property
    def psd(self) -> bool | None:  # type: ignore[override]
        return True if all(k.psd for k in self.parts) else None

    def _children(self) -> Iterator[tuple[str, Kernel]]:
        yield from ((f"part_{d}", k) for d, k in enumerate(self.parts))

    def _replace(self, **changes: Any) -> Self:
        given = {name: changes.pop(name) for name, _ in self._children() if name in changes}
        parts = tuple(given.get(name, k) for name, k in self._children())
        return super()._replace(**({"parts": parts} if given else {}), **changes)

    def _decomposed(self, X: Samples) -> tuple[Any, list[list[Any]]]:
        """How many decompositions each object has, and, for each place, all parts there."""
        counts, places = [], [[] for _ in self.parts]  # type: ignore[var-annotated]
        for i, x in enumerate(items_of(X, "objects")):
            try:
                found = list(x if self.decompose is None else self.decompose(x))
            except TypeError as error:
                raise DataError(f"Item {i} of the objects could not be taken apart: {error}.", "M216") from None
            counts.append(len(found))
            for parts in found:
                if len(self.parts) == 1:
                    places[0].append(parts)
                    continue
                if len(parts) != len(self.parts):
                    raise DataError(
                        f"Item {i} of the objects has a decomposition into {len(parts)} parts; there are"
                        f" {len(self.parts)} kernels.",
                        "M216",
                    )
                for place, part in zip(places, parts, strict=True):
                    place.append(part)
        return counts, places

    def bind(self, X: Samples, weights: Weights = None) -> Kernel:
        if not self._data_driven:
            return self
        counts, places = self._decomposed(X)
        each = None if weights is None else np.repeat(np.asarray(weights, np.float64), counts)
        bound = tuple(
            k.bind(k.domain.check(_collection(place)), each) for k, place in zip(self.parts, places, strict=True)
        )
        return self._replace(**{f"part_{d}": k for d, k in enumerate(bound)})

    def _prepare(self, X: Samples) -> Any:
        counts, places = self._decomposed(X)
        reps = tuple(
            k._prepare(k.domain.check(_collection(place))) if place else []
            for k, place in zip(self.parts, places, strict=True)
        )
        return Parts(offsets_of(counts), reps)

    def _block(self, A: Items, B: Items) -> Any:
        if hasattr(A, "__formula__"):
            raise TypeError("parts are compared as they are, not as symbols")
        out = np.zeros((len(A), len(B)))
        if not out.size or not A.offsets[-1] or not B.offsets[-1]:
            return out
        for rows in chunks(len(A), max(1, int(_PAIRS / max(1.0, A.offsets[-1] / len(A) * B.offsets[-1])))):
            if threads.stopping():
                break
            some = A.take(rows)
            if some.offsets[-1]:
                out[rows] = sums_of_rows(sums_of_rows(self._product(some, B), some.offsets).T, B.offsets).T
        return out

    def _product(self, A: Parts, B: Parts) -> Any:
        product: float | Array = 1.0
        for k, a, b in zip(self.parts, A.reps, B.reps, strict=True):
            try:
                product = product * arrays.to_numpy(KernelGram.of(k, a, b, Compute(threads=1)).dense())
            except FloatingPointError as error:
                raise FloatingPointError(coded(f"{self}, between the parts of some objects: {error}", "M210")) from None
        return product

    def _diag(self, A: Items) -> Any:
        if hasattr(A, "__formula__"):
            raise TypeError("parts are compared as they are, not as symbols")
        return np.array([float(self._block(A.take(i), A.take(i))[0, 0]) for i in chunks(size(A), 1)])


def _collection(parts: list[Any]) -> Any:
    """Parts as samples: rows of numbers where they are such."""
    if parts and all(isinstance(p, int | float | np.number) for p in parts):
        return np.asarray(parts, np.float64)[:, None]
    if (
        parts
        and all(isinstance(p, np.ndarray) and p.ndim == 1 and p.dtype.kind == "f" for p in parts)
        and len({len(p) for p in parts}) == 1
    ):
        return np.stack(parts)
    return parts
