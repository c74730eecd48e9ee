"""Sums and products of kernels, flat: (a + b) + c and a + (b + c) are the same value."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import reduce
from typing import Any, ClassVar, Self

from scipy import sparse

from mercer import arrays
from mercer.annotations import Items, Samples
from mercer.compute import Compute
from mercer.data import HashedRows, side_by_side, tensor
from mercer.data.molecules import as_given
from mercer.gram import Counts, Gram
from mercer.kernels.base import Kernel, kernel
from mercer.kernels.columns import ColumnTerm, column_terms, gathered, product
from mercer.kernels.compose.composite import Composite
from mercer.kernels.compose.names import beside, multiplied
from mercer.kernels.notation import PRODUCT, SUM, join
from mercer.troubles import coded


class Terms(Composite):
    """A kernel of several terms. In ``get_params`` each goes by the name of what it is: ``gaussian``, ``linear``,
    ``gaussian_2``.
    """

    terms: tuple[Kernel, ...]

    def _validate(self) -> None:
        if not self.terms:
            raise ValueError(coded(f"{type(self).__name__} needs at least one kernel.", "M205"))

    def _to_store(self, X: Samples) -> Any:
        if len({type(term.domain) for term in self.terms}) > 1 and (given := as_given(X)) is not None:
            return given  # the form of one kind, as pairs of elements and positions, is nothing that another reads
        return reduce(lambda kept, term: term._to_store(kept), self.terms, X)

    def _children(self) -> Iterator[tuple[str, Kernel]]:
        seen: dict[str, int] = {}
        for term in self.terms:
            noun = _noun(term)
            seen[noun] = seen.get(noun, 0) + 1
            yield (noun if seen[noun] == 1 else f"{noun}_{seen[noun]}"), term

    def _replace(self, **changes: Any) -> Self:
        if "terms" in changes:
            return super()._replace(**changes)
        terms = tuple(changes.pop(name, term) for name, term in self._children())
        return super()._replace(terms=terms, **changes)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        params: dict[str, Any] = super().get_params(deep=False)
        if deep:
            for name, term in self._children():
                params[name] = term
                params |= {f"{name}__{key}": value for key, value in term.get_params().items()}
        return params

    def set_params(self, **params: Any) -> Self:
        if "terms" in params:
            self.terms = tuple(params.pop("terms"))
        named = dict(self._children())
        for name in [key for key in params if key in named]:
            named[name] = params.pop(name)
        self.terms = tuple(named.values())
        for key, value in params.items():
            name, _, rest = key.partition("__")
            if name not in named or not rest:
                raise ValueError(
                    coded(f"{self} has no parameter {key!r}; it has {', '.join(sorted(self.get_params()))}.", "M204")
                )
            named[name].set_params(**{rest: value})
        return self

    def _prepare(self, X: Samples) -> Any:
        return tuple(self._enter_part(term, X) for term in self.terms)

    def _pull_back(self, X: Samples, gradients: Any) -> Any:
        found = [term._pulled_back(X, g) for term, g in zip(self.terms, gradients, strict=True)]
        known = [g for g in found if g is not None]
        return _total(known) if known else None

    @property
    def psd(self) -> bool | None:  # type: ignore[override]
        return True if all(term.psd for term in self.terms) else None

    @property
    def explicit(self) -> bool:  # type: ignore[override]
        return all(term.explicit for term in self.terms)

    def _each(self, hook: str, *reps: Any) -> list[Any]:
        return [getattr(term, hook)(*(rep[t] for rep in reps)) for t, term in enumerate(self.terms)]


def _noun(k: Kernel) -> str:
    """What a term is, whatever is written around it."""
    inside = next((part for _, part in k._children()), None) if isinstance(k, Composite) and k.around else None
    return type(k).__name__.lower() if inside is None else _noun(inside)


@kernel
class Sum(Terms):
    """Σ k_t(x, z).  Features side by side."""

    usage: ClassVar[str] = "k1 + k2"
    terms: tuple[Kernel, ...]

    def _summands(self) -> tuple[Kernel, ...]:
        return self.terms

    def _grams(self, A: Items, B: Items, compute: Compute) -> list[Gram]:
        return [term._gram(a, b, compute) for term, a, b in zip(self.terms, A, B, strict=True)]

    def _block(self, A: Items, B: Items) -> Any:
        return _total(self._each("_pairs", A, B))

    def _diag(self, A: Items) -> Any:
        return _total(self._each("_selfs", A))

    def _width(self, A: Items) -> int:
        return sum(self._each("_width", A))

    def _features(self, A: Items) -> Any:
        return _beside(self._each("_features", A))

    def _column_terms(self, X: Samples, Y: Samples) -> list[ColumnTerm] | None:
        found = [column_terms(term, X, Y) for term in self.terms]
        known = [terms for terms in found if terms is not None]
        return gathered([each for terms in known for each in terms]) if len(known) == len(found) else None

    def _counts(self, A: Items) -> Counts | None:
        return Counts.of_sum(self._each("_counts", A))

    def _names(self, X: Samples) -> dict[int, Any]:
        return beside([(term._embedded(X), term._names(X)) for term in self.terms])

    @property
    def _notation(self) -> str:
        return join(" + ", [str(t) for t in self.terms], SUM)

    @property
    def _python(self) -> str:
        return join(" + ", [repr(t) for t in self.terms], SUM)


@kernel
class Product(Terms):
    """Π k_t(x, z).  Features: all products of one feature of each factor."""

    usage: ClassVar[str] = "k1 * k2"
    terms: tuple[Kernel, ...]

    def _block(self, A: Items, B: Items) -> Any:
        return math.prod(self._each("_pairs", A, B), start=1)

    def _diag(self, A: Items) -> Any:
        return math.prod(self._each("_selfs", A), start=1)

    def _balanced(self) -> Kernel:
        return self._with_children(lambda term: term._balanced())

    def _width(self, A: Items) -> int:
        return math.prod(self._each("_width", A))

    def _features(self, A: Items) -> Any:
        return _tensor(self._each("_features", A))

    def _factors(self) -> tuple[Kernel, ...]:
        return self.terms

    def _names(self, X: Samples) -> dict[int, Any]:
        return multiplied([(term._embedded(X), term._names(X)) for term in self.terms])

    def _column_terms(self, X: Samples, Y: Samples) -> list[ColumnTerm] | None:
        return product(column_terms(term, X, Y) for term in self.terms)

    @property
    def _notation(self) -> str:
        return join("·", [str(t) for t in self.terms], PRODUCT)

    @property
    def _python(self) -> str:
        return join(" * ", [repr(t) for t in self.terms], PRODUCT)


def _total(values: list[Any]) -> Any:
    return sum(values[1:], values[0])


def _beside(parts: list[Any]) -> Any:
    """Features side by side."""
    if len(parts) == 1:
        return parts[0]
    if any(isinstance(p, HashedRows) for p in parts):
        return side_by_side(parts)
    if any(sparse.issparse(p) for p in parts):
        return sparse.hstack(parts, format="csr")
    return arrays.namespace(*parts).concatenate(parts, axis=1)


def _tensor(parts: list[Any]) -> Any:
    """Row by row, the Kronecker product."""
    out = parts[0]
    for part in parts[1:]:
        if isinstance(out, HashedRows) or isinstance(part, HashedRows):
            out = tensor(out, part)
        elif sparse.issparse(out) or sparse.issparse(part):
            out, part = sparse.csr_array(out), sparse.csr_array(part)
            rows = [sparse.kron(out[[i]], part[[i]], format="csr") for i in range(out.shape[0])]
            out = sparse.vstack(rows, format="csr") if rows else sparse.csr_array((0, out.shape[1] * part.shape[1]))
        else:
            out = (out[:, :, None] * part[:, None, :]).reshape(out.shape[0], -1)
    return out
