"""Kernels that look at something else than what they are given: a function of it, some of its columns, its filled-in
values.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np

from mercer import arrays
from mercer.annotations import Items, Samples, Weights
from mercer.arrays import Array
from mercer.data import Anything, DataError, Domain, Vectors, check_weights, places, select, size, weighted_median
from mercer.gram import Counts, NoGradient
from mercer.kernels.base import Kernel, kernel
from mercer.kernels.columns import ColumnTerm, redirected
from mercer.kernels.compose.composite import Composite
from mercer.kernels.compose.feature_space import Wrapper
from mercer.troubles import coded


class Redirected(Wrapper):
    """k(f(x), f(z)): leaves ``_redirect(X)`` to write. As valid, as explicit and as smooth as k."""

    domain: ClassVar[Domain] = Anything()  # not that of k: f may take anything
    _rotation_invariant = False
    _same_items = False

    def _to_store(self, X: Samples) -> Any:
        return X  # what the kernel inside sees is not what there is

    def _redirect(self, X: Samples) -> Any:
        raise NotImplementedError

    def _prepare(self, X: Samples) -> Any:
        return self.kernel._prepare(self.kernel.domain.check(self._redirect(X)))  # what it is given is other data

    def _redirect_back(self, X: Samples, gradients: Array) -> Array:
        """The gradients by x from those by f(x)."""
        raise NoGradient(
            coded(f"{self} has no gradient by its samples: the derivative of {self.method_name} is not known.", "M211")
        )

    def _pull_back(self, X: Samples, gradients: Any) -> Any:
        found = self.kernel._pulled_back(self.kernel.domain.check(self._redirect(X)), gradients)
        return None if found is None else self._redirect_back(X, found)

    def _sources(self, X: Samples) -> list[int] | None:
        """For each column of f(X) the one column of X that it comes from; None: from several, or not known."""
        return None

    def _column_terms(self, X: Samples, Y: Samples) -> list[ColumnTerm] | None:
        sources = self._sources(X)
        if sources is None:
            return None
        return redirected(self.kernel, sources, *(self.kernel.domain.check(self._redirect(side)) for side in (X, Y)))

    def _balanced(self) -> Kernel:
        return self._with_children(lambda k: k._balanced())

    def _block(self, A: Items, B: Items) -> Any:
        return self.kernel._pairs(A, B)

    def _diag(self, A: Items) -> Any:
        return self.kernel._selfs(A)

    def _width(self, A: Items) -> int:
        return self.kernel._width(A)

    def _features(self, A: Items) -> Any:
        return self.kernel._features(A)

    def _counts(self, A: Items) -> Counts | None:
        return self.kernel._counts(A)

    def _names(self, X: Samples) -> dict[int, Any]:
        return self.kernel._names(self._redirect(X))

    @property
    def explicit(self) -> bool:  # type: ignore[override]
        return self.kernel.explicit

    def bind(self, X: Samples, weights: Weights = None) -> Kernel:
        if not self._data_driven:
            return self
        return self._with_children(lambda child: child.bind(child.domain.check(self._redirect(X)), weights))


@kernel
class Mapped(Redirected):
    """k(f(x), f(z)); f takes a collection of samples and returns one of the same length."""

    usage: ClassVar[str] = "k.map(function)"
    method_name: ClassVar[str] = "map"
    kernel: Kernel
    function: Callable[[Any], Any]

    def _validate(self) -> None:
        if not callable(self.function):
            raise TypeError(
                coded(f"map(f): f must be a function of a collection of samples, got {self.function!r}.", "M205")
            )

    def _method_arguments(self) -> tuple[Any, ...]:
        return (self.function,)

    def _redirect(self, X: Samples) -> Any:
        out = self.function(X)
        if size(out) != size(X):
            raise DataError(
                f"map(f): f was given {size(X)} samples and returned {size(out)}; it takes the whole collection and"
                " returns one sample each.",
                "M216",
            )
        return out


@kernel
class OnColumns(Redirected):
    """k on some columns of a table: by name in a data frame, by number in an array."""

    usage: ClassVar[str] = "k.on(columns)"
    method_name: ClassVar[str] = "on"
    kernel: Kernel
    columns: str | int | Sequence[str | int] | Array

    def _method_arguments(self) -> tuple[Any, ...]:
        return (self.columns,)

    def _redirect(self, X: Samples) -> Any:
        return select(X, self.columns)

    def _sources(self, X: Samples) -> list[int] | None:
        return places(X, self.columns)

    def _redirect_back(self, X: Samples, gradients: Array) -> Array:
        out = arrays.zeros((*gradients.shape[:2], X.shape[1]), arrays.numpy_dtype(gradients), gradients)
        for column, place in enumerate(places(X, self.columns)):
            out[:, :, place] += gradients[:, :, column]
        return out


_STRATEGIES = ("mean", "median", "zero")


@kernel
class Imputed(Wrapper):
    """k with missing values filled by the column's mean or median over the data given to ``bind``, or by 0.

    With ``indicator``, one column 0/1 per column says what was missing.
    """

    usage: ClassVar[str] = "k.imputed(strategy='mean', indicator=False)"
    domain: ClassVar[Domain] = Vectors(missing=True)
    method_name: ClassVar[str] = "imputed"
    kernel: Kernel
    strategy: str = "mean"
    indicator: bool = False

    def _validate(self) -> None:
        if self.strategy not in _STRATEGIES:
            raise ValueError(
                coded(f"imputed({self.strategy!r}): choose one of {', '.join(map(repr, _STRATEGIES))}.", "M205")
            )

    def _method_arguments(self) -> tuple[Any, ...]:
        return (self.strategy, self.indicator)

    @property
    def _data_driven(self) -> bool:
        return True

    def bind(self, X: Samples, weights: Weights = None) -> Kernel:
        X = _dense(self.domain.check(X))
        w = check_weights(len(X), weights)
        present = ~np.isnan(X) & (w > 0)[:, None]
        if self.strategy == "zero":
            fill = np.zeros(X.shape[1])
        else:
            empty = ~present.any(axis=0)
            if empty.any():
                raise DataError(
                    f"Column {int(np.argmax(empty))} has no value at all, so it has no {self.strategy}; drop it or use"
                    " imputed('zero').",
                    "M101",
                )
            fill = np.array([_centre(X[present[:, j], j], w[present[:, j]], self.strategy) for j in range(X.shape[1])])
        bound = Filled(self.kernel, fill, self.indicator)
        return bound.bind(X, weights)


def _dense(X: Samples) -> Any:
    return X.toarray() if hasattr(X, "toarray") else arrays.to_numpy(X)


def _centre(values: Array, weights: Weights, strategy: str) -> float:
    return float(np.average(values, weights=weights)) if strategy == "mean" else weighted_median(values, weights)


@kernel
class Filled(Redirected):
    """k where a missing value of column j is ``values[j]``."""

    domain: ClassVar[Domain] = Vectors(missing=True)
    method_name: ClassVar[str] = "filled"
    kernel: Kernel
    values: Array
    indicator: bool = False

    def _method_arguments(self) -> tuple[Any, ...]:
        return (self.values, self.indicator)

    def _redirect(self, X: Samples) -> Any:
        X = self.domain.check(X)
        if X.shape[1] != len(self.values):
            raise DataError(f"The kernel was bound to {len(self.values)} columns, the data has {X.shape[1]}.", "M104")
        xp = arrays.namespace(X)
        X = X if arrays.is_tensor(X) else _dense(X)
        fill = np.asarray(self.values, arrays.numpy_dtype(X))
        missing = xp.isnan(X)
        filled = xp.where(missing, arrays.like(fill, X), X)
        return (
            xp.concatenate([filled, arrays.astype(missing, arrays.numpy_dtype(X))], axis=1)
            if self.indicator
            else filled
        )

    def _sources(self, X: Samples) -> list[int] | None:
        return list(range(X.shape[1])) * (2 if self.indicator else 1)

    def _redirect_back(self, X: Samples, gradients: Array) -> Array:
        missing = arrays.namespace(X).isnan(X if arrays.is_tensor(X) else _dense(X))
        known = arrays.astype(~missing, arrays.numpy_dtype(gradients))
        return gradients[:, :, : X.shape[1]] * arrays.like(known, gradients)[:, None, :]


@kernel
class Standardized(Wrapper):
    """k of columns brought to mean 0 and variance 1 over the data given to ``bind``; a constant column is only
    centred. Gaps stay gaps where k itself fills them, and count nowhere.
    """

    usage: ClassVar[str] = "k.standardized()"
    method_name: ClassVar[str] = "standardized"
    kernel: Kernel

    @property
    def domain(self) -> Domain:  # type: ignore[override]
        return _rows_for(self.kernel)

    @property
    def _data_driven(self) -> bool:
        return True

    def bind(self, X: Samples, weights: Weights = None) -> Kernel:
        X = np.asarray(_dense(self.domain.check(X)), np.float64)
        return Shifted(self.kernel, *mean_and_deviation(X, check_weights(len(X), weights))).bind(X, weights)


def _rows_for(kernel: Kernel) -> Domain:
    """Rows of numbers, with gaps where the kernel takes them."""
    return Vectors(missing=getattr(kernel.domain, "missing", False))


def mean_and_deviation(X: Array, weights: Array) -> tuple[Array, Array]:
    """Of each column; the deviation of a constant one, of which rounding is left, counts as 1. NaN is not there, and a
    column of nothing else has mean 0.
    """
    if (gaps := np.isnan(X)).any():
        mean, spread = np.zeros(X.shape[1]), np.ones(X.shape[1])
        for j, known in enumerate(~gaps.T):
            if weights[known].any():
                mean[j : j + 1], spread[j : j + 1] = mean_and_deviation(X[known, j : j + 1], weights[known])
        return mean, spread
    mean = np.average(X, axis=0, weights=weights)
    spread = np.sqrt(np.average((X - mean) ** 2, axis=0, weights=weights))
    size = np.maximum(np.abs(mean), np.abs(X).max(axis=0, initial=0.0))
    return mean, np.where(spread > 1e-12 * size, spread, 1.0)


@kernel
class Shifted(Redirected):
    """k((x − mean)/spread, (z − mean)/spread), column by column."""

    method_name: ClassVar[str] = "shifted"
    kernel: Kernel
    mean: Array
    spread: Array

    @property
    def domain(self) -> Domain:  # type: ignore[override]
        return _rows_for(self.kernel)

    def _method_arguments(self) -> tuple[Any, ...]:
        return (self.mean, self.spread)

    def _redirect(self, X: Samples) -> Any:
        X = self.domain.check(X)
        if X.shape[1] != len(self.mean):
            raise DataError(f"The kernel was bound to {len(self.mean)} columns, the data has {X.shape[1]}.", "M104")
        X = X if arrays.is_tensor(X) else _dense(X)
        dtype = arrays.numpy_dtype(X)
        return (X - arrays.like(np.asarray(self.mean, dtype), X)) / arrays.like(np.asarray(self.spread, dtype), X)

    def _sources(self, X: Samples) -> list[int] | None:
        return list(range(X.shape[1]))

    def _redirect_back(self, X: Samples, gradients: Array) -> Array:
        return gradients / arrays.like(np.asarray(self.spread, np.float64), gradients)


@kernel
class Outer(Composite):
    """g(x) g(z) for a function g: a kernel with the one feature g.

    ``k * Outer(g)`` is g(x) k(x, z) g(z), a kernel whose samples are weighed by g.

    Parameters
    ----------
    g : callable
        Takes a collection of samples and returns one number for each.

    See Also
    --------
    Kernel.map : k(f(x), f(z)).

    Examples
    --------
    >>> import mercer as mc
    >>> def length(words):
    ...     return [len(word) for word in words]
    >>> mc.Outer(length)(["a", "word"])
    array([[ 1.,  4.],
           [ 4., 16.]])
    """

    usage: ClassVar[str] = "Outer(g)"
    g: Callable[[Any], Any]
    explicit = True

    def _validate(self) -> None:
        if not callable(self.g):
            raise TypeError(
                coded(f"Outer(g): g must be a function of a collection of samples, got {self.g!r}.", "M205")
            )

    def _prepare(self, X: Samples) -> Any:
        values = self.g(X)
        values = values if arrays.is_tensor(values) else np.asarray(values)
        if tuple(values.shape) not in ((size(X),), (size(X), 1)):
            raise DataError(
                f"Outer(g): g was given {size(X)} samples and returned shape {tuple(values.shape)}; it must return one"
                " number for each.",
                "M216",
            )
        values = values.reshape(-1)
        return values if arrays.numpy_dtype(values).kind == "f" else arrays.astype(values, np.float64)

    def _block(self, A: Items, B: Items) -> Any:
        return A * B

    def _diag(self, A: Items) -> Any:
        return A * A

    def _width(self, A: Items) -> int:
        return 1

    def _features(self, A: Items) -> Any:
        return A[:, None]
