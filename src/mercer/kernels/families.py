"""Five families; each leaves one method to write.

========== ==================== =============================================================
Radial     ``_profile(d2)``      a function of ‖x − z‖²
Inner      ``_profile(s, …)``    a function of ⟨x, z⟩, ‖x‖², ‖z‖²
Additive   ``_term(x, z)``       a sum over columns, then ``_profile(s)`` if wanted
Explicit   ``_map(X)``           an inner product of features
Pairwise   ``_pair(a, b)``       anything, one pair at a time
========== ==================== =============================================================

``Spectral`` and ``Homogeneous`` stand beside a family, in kernels that ``kernels.approximations`` can sample.

``_profile``, ``_term`` and ``_step`` are written with the functions of ``mercer.formula``; from that one formula follow
blocks on the CPU and the GPU, lazy products, gradients and algebra. A function that only NumPy knows works too, tile by
tile.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from mercer import arrays
from mercer.annotations import Items, Samples, Symbol
from mercer.arrays import Array
from mercer.compute import Compute
from mercer.data import Anything, Bits, Domain, HashedRows, Ragged, Vectors, leaves, size
from mercer.formula import dot, fold, fold_self, pointwise, sqdist, sqnorm
from mercer.gram import KernelGram, parameter_symbol
from mercer.kernels.base import Kernel
from mercer.runtime import compiling, threads, watch


class Radial(Kernel):
    """profile(‖x − z‖²). One GEMM per block; accurate for nearly equal points."""

    domain: ClassVar[Domain] = Vectors()

    def _profile(self, d2: Symbol) -> Any:
        raise NotImplementedError

    def _metric(self) -> Any:
        """Length scales that divide the columns before they are compared: None, a number, or one per column."""
        return None

    @property
    def _rotation_invariant(self) -> bool:  # type: ignore[override]
        return self._data_driven or np.ndim(self._metric()) == 0

    def _block(self, A: Items, B: Items) -> Any:
        return pointwise(self._profile, sqdist(A, B, self._metric()))

    def _diag(self, A: Items) -> Any:
        return pointwise(self._profile, 0.0 * sqnorm(A))

    def _slope(self, A: Items, B: Items, compute: Compute) -> Any:
        """−profile′(‖a − b‖²), from ∂ profile(s‖a − b‖²)/∂ log s of the formula itself; where points coincide, its
        difference quotient there.
        """
        d2 = squared_distances(A, B)
        slope = -KernelGram.gradients(self, _Stretched(self), A, B, compute)["stretch"].dense()
        least = 1e-10 * float(d2.max(initial=0.0)) + 1e-300
        at_zero = float(self._profile(np.array(least)) - self._profile(np.array(2 * least))) / least
        return np.where(d2 > least, slope / np.maximum(d2, least), at_zero)


class _SquaredDistance:
    """‖a − b‖² as a formula."""

    def __str__(self) -> str:
        return "‖x − z‖²"

    @staticmethod
    def _block(A: Items, B: Items) -> Any:
        return sqdist(A, B)

    @staticmethod
    def _diag(A: Items) -> Any:
        return 0.0 * sqnorm(A)


def squared_distances(A: Items, B: Items, *, compute: Compute | None = None) -> Any:
    """‖a − b‖² between all rows of two tables, without loss for near ones."""
    return KernelGram.of(_SquaredDistance(), A, B, compute or Compute()).dense()


class _Stretched:
    """profile(s‖a − b‖²) with a symbol for s = 1."""

    def __init__(self, kernel: Radial) -> None:
        self.kernel, self.stretch = kernel, parameter_symbol("stretch", 1.0)

    def _block(self, A: Items, B: Items) -> Any:
        return pointwise(lambda d2: self.kernel._profile(self.stretch * d2), sqdist(A, B))


class Inner(Kernel):
    """profile(⟨x, z⟩, ‖x‖², ‖z‖²). One GEMM per block."""

    _rotation_invariant = True

    domain: ClassVar[Domain] = Vectors()

    def _profile(self, s: Symbol, xx: Symbol, zz: Symbol) -> Any:
        raise NotImplementedError

    def _block(self, A: Items, B: Items) -> Any:
        return pointwise(self._profile, dot(A, B), sqnorm(A), sqnorm(B))

    def _diag(self, A: Items) -> Any:
        xx = sqnorm(A)
        return pointwise(self._profile, xx, xx, xx)


class Columnwise(Kernel):
    """profile(last state), state ← step(state, x_j, z_j) over the columns: the family behind ``Additive`` and dynamic
    programmes.
    """

    domain: ClassVar[Domain] = Vectors()

    def _start(self) -> tuple[float, ...]:
        return (0.0,)

    def _step(self, state: tuple[Any, ...], x: Symbol, z: Symbol) -> tuple[Any, ...]:
        raise NotImplementedError

    def _profile(self, s: Symbol) -> Any:
        return s

    def _block(self, A: Items, B: Items) -> Any:
        return pointwise(self._profile, fold(self._step, self._start(), A, B))

    def _diag(self, A: Items) -> Any:
        return pointwise(self._profile, fold_self(self._step, self._start(), A))


class Additive(Columnwise):
    """profile(Σ_j term(x_j, z_j))."""

    @property
    def _over_columns(self) -> str | None:  # type: ignore[override]
        return "sum" if type(self)._profile is Columnwise._profile else None

    def _term(self, x: Symbol, z: Symbol) -> Any:
        raise NotImplementedError

    def _step(self, state: tuple[Any, ...], x: Symbol, z: Symbol) -> tuple[Any, ...]:
        return (state[0] + self._term(x, z),)


class Explicit(Kernel):
    """⟨φ(x), φ(z)⟩ with a finite φ: dense features or sparse ones. Every learner can work with φ and forget n²."""

    explicit = True

    def _map(self, X: Samples) -> Any:
        raise NotImplementedError

    def _prepare(self, X: Samples) -> Any:
        return self._map(X)

    def _block(self, A: Items, B: Items) -> Any:
        return dot(A, B)

    def _diag(self, A: Items) -> Any:
        return sqnorm(A)

    def _features(self, A: Items) -> Any:
        return A.unpacked() if isinstance(A, Bits) else A

    def _width(self, A: Items) -> int:
        return A.per_row if isinstance(A, HashedRows) else int(A.shape[1])


class Spectral(Kernel):
    """2·E u(ω·x + b) u(ω·z + b) over random frequencies ω, u the cosine and b a random phase: what ``RandomFeatures``
    draws. Leaves ``_frequencies`` to write; the units u may be others.
    """

    _per_frequency: ClassVar[int] = 2  # features of each: a cosine and a sine stand for all phases

    def _frequencies(self, normal: Array, uniform: Array) -> Array:
        """ω in each row, from independent random numbers: standard normal ones, one for each column of the data, and
        ones uniform in (0, 1), one for each column and one more.
        """
        raise NotImplementedError

    def _responses(self, projections: Array, features: int) -> list[Any]:
        """The units' values at ω·x + b, side by side as many columns as there are features: cosines, then sines."""
        xp, count = arrays.namespace(projections), projections.shape[1]
        return [xp.cos(projections), xp.sin(projections[:, : features - count])]

    def _slopes(self, projections: Array, gradients: Array) -> Any:
        """Gradients by the projections, (items, outputs, frequencies), from those by what ``_responses`` gives."""
        xp, count = arrays.namespace(projections), projections.shape[1]
        pairs = gradients.shape[2] - count
        found = -xp.sin(projections)[:, None, :] * gradients[:, :, :count]
        found[:, :, :pairs] += xp.cos(projections)[:, None, :pairs] * gradients[:, :, count:]
        return found


class Homogeneous(Kernel):
    """Σ_j √(x_j z_j) ∫ κ(λ) exp(iλ log(x_j/z_j)) dλ: additive, and as large as the data. Leaves κ to write."""

    def _spectrum(self, frequency: Array) -> Array:
        raise NotImplementedError


class Pairwise(Kernel):
    """pair(a, b), one pair at a time; each pair once in a symmetric matrix.

    ``_pair`` is an ordinary method on two items, or a function compiled by Numba on two rows of numbers,
    ``compiled_pair``, with ``_parameters()`` as its third argument: then items are rows of arrays or of a ``Ragged``,
    and the loop runs compiled and without the GIL.
    """

    domain: ClassVar[Domain] = Anything()
    compiled_pair: ClassVar[Any] = None

    def _pair(self, a: Any, b: Any) -> float:
        raise NotImplementedError

    def _parameters(self) -> tuple[float, ...]:
        return ()

    def _block(self, A: Items, B: Items) -> Any:
        items, others = _items(A), _items(B)
        if type(self).compiled_pair is not None:
            return _compiled_block(type(self).compiled_pair, items, others, self._parameters())
        return np.array([self._row(a, others) for a in items], dtype=np.float64).reshape(len(items), len(others))

    def _row(self, a: Any, others: Items) -> list[float]:
        """The values of one item, which may take long; Ctrl-C and deadlines are heard before."""
        if threads.stopping():
            raise threads.Interrupted
        watch.look()
        return [self._pair(a, b) for b in others]

    def _diag(self, A: Items) -> Any:
        items = _items(A)
        if type(self).compiled_pair is not None:
            pair, parameters = type(self).compiled_pair, self._parameters()
            return np.array([pair(items[i], items[i], parameters) for i in range(size(items))], dtype=np.float64)
        return np.array([self._pair(a, a) for a in items], dtype=np.float64)


def _items(rep: Items) -> Any:
    leaf = next(leaves(rep))
    if hasattr(leaf, "__formula__"):
        raise TypeError("pairs are computed on items, not on symbols")
    return arrays.to_numpy(leaf) if arrays.is_tensor(leaf) else leaf


def _compiled_block(pair: Callable[..., float], A: Items, B: Items, parameters: tuple[float, ...]) -> Any:
    out = np.empty((size(A), size(B)))
    a, b = (x if isinstance(x, Ragged) else Ragged.of(list(x)) for x in (A, B))
    _loop()(pair, a.values, a.offsets, b.values, b.offsets, parameters, out)
    return out


_compiled_loop: list[Any] = []


def _loop() -> Any:
    """The one loop over pairs, compiled at first use so that importing Mercer does not import Numba."""
    if not _compiled_loop:
        _compiled_loop.append(compiling.jit(_pair_loop))
    return _compiled_loop[0]


def _pair_loop(
    pair: Callable[..., float],
    a: Array,
    a_offsets: Array,
    b: Array,
    b_offsets: Array,
    parameters: tuple[float, ...],
    out: Array,
) -> None:
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] = pair(a[a_offsets[i] : a_offsets[i + 1]], b[b_offsets[j] : b_offsets[j + 1]], parameters)
