"""Kernels from kernels, value by value: sums, products, scalings, powers, exp, polynomials.

Each keeps what its parts had: a finite feature map where all parts have one, and a proof of positive semi-definiteness.
Sums and products are flat: (a + b) + c and a + (b + c) are the same value.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import reduce
from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse

from mercer import arrays, formula
from mercer.data import Anything, Coded, Domain, Vectors, salted, side_by_side, size, tensor
from mercer.gram import Counts
from mercer.kernels.base import Kernel, kernel, natural, nonnegative
from mercer.kernels.notation import PRODUCT, SUM, join, number

_NEGATIVE = "must be at least 0: with a negative one, k(x, x) could be negative, and k would not be a kernel"


class Composite(Kernel):
    """A kernel made of kernels. Of parts that are all of one domain it is of that domain, which checks the data for all
    of them; of parts that are all of vectors, of vectors; else each part checks the data for itself.
    """

    usage: ClassVar[str] = ""  # how one writes it, for the inventory
    # whether it is written around another kernel, by whose name it goes in a sum: k.normalized(), 2 * k
    around: ClassVar[bool] = False

    @property
    def domain(self) -> Domain:  # type: ignore[override]
        domains = [child.domain for _, child in self._children() if not child._blind]
        if domains and all(domain == domains[0] for domain in domains):
            return domains[0]
        vectors = [domain for domain in domains if isinstance(domain, Vectors)]
        return (
            Vectors(missing=all(domain.missing for domain in vectors))
            if vectors and len(vectors) == len(domains)
            else Anything()
        )

    def _enter_part(self, part: Kernel, X: Any) -> Any:
        """Data that this kernel's domain has checked, as a part of it prepares them."""
        return part._prepared(X, self.domain)


# ---------------------------------------------------------------------------------------------------------------------
# Several parts
# ---------------------------------------------------------------------------------------------------------------------


class Terms(Composite):
    """A kernel of several terms. In ``get_params`` each goes by the name of what it is: ``gaussian``, ``linear``,
    ``gaussian_2``.
    """

    terms: tuple[Kernel, ...]

    def _validate(self) -> None:
        if not self.terms:
            raise ValueError(f"{type(self).__name__} needs at least one kernel.")

    def _kept(self, X: Any) -> Any:
        return reduce(lambda kept, term: term._kept(kept), self.terms, X)

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
                raise ValueError(f"{self} has no parameter {key!r}; it has {', '.join(sorted(self.get_params()))}.")
            named[name].set_params(**{rest: value})
        return self

    def _prepare(self, X: Any) -> Any:
        return tuple(self._enter_part(term, X) for term in self.terms)

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

    def _block(self, A: Any, B: Any) -> Any:
        return _total(self._each("_pairs", A, B))

    def _diag(self, A: Any) -> Any:
        return _total(self._each("_selfs", A))

    def _width(self, A: Any) -> int:
        return sum(self._each("_width", A))

    def _features(self, A: Any) -> Any:
        return _beside(self._each("_features", A))

    def _counts(self, A: Any) -> Counts | None:
        return Counts.of_sum(self._each("_counts", A))

    def _names(self, X: Any) -> dict[int, Any]:
        return {
            int(salted(np.uint64(code), t)[0]): name
            for t, term in enumerate(self.terms)
            for code, name in term._names(X).items()
        }

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

    def _block(self, A: Any, B: Any) -> Any:
        return math.prod(self._each("_pairs", A, B), start=1)

    def _diag(self, A: Any) -> Any:
        return math.prod(self._each("_selfs", A), start=1)

    def _balanced(self) -> Kernel:
        return self._with_children(lambda term: term._balanced())

    def _width(self, A: Any) -> int:
        return math.prod(self._each("_width", A))

    def _features(self, A: Any) -> Any:
        return _tensor(self._each("_features", A))

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
    if any(isinstance(p, Coded) for p in parts):
        return side_by_side(parts)
    if any(sparse.issparse(p) for p in parts):
        return sparse.hstack(parts, format="csr")
    return arrays.namespace(*parts).concatenate(parts, axis=1)


def _tensor(parts: list[Any]) -> Any:
    """Row by row, the Kronecker product."""
    out = parts[0]
    for part in parts[1:]:
        if isinstance(out, Coded) or isinstance(part, Coded):
            out = tensor(out, part)
        elif sparse.issparse(out) or sparse.issparse(part):
            out, part = sparse.csr_array(out), sparse.csr_array(part)
            rows = [sparse.kron(out[[i]], part[[i]], format="csr") for i in range(out.shape[0])]
            out = sparse.vstack(rows, format="csr") if rows else sparse.csr_array((0, out.shape[1] * part.shape[1]))
        else:
            out = (out[:, :, None] * part[:, None, :]).reshape(out.shape[0], -1)
    return out


def add(*parts: Any) -> Kernel:
    """The sum, flat; a number counts as the constant kernel."""
    return Sum(tuple(term for part in parts for term in _terms(part, Sum)))


def multiply(left: Kernel, *others: Any) -> Kernel:
    """left · others, flat; a number scales, and scales are gathered in front."""
    scale, factors, flat = _unscaled(left)
    for other in others:
        if isinstance(other, Kernel):
            more, terms, _ = _unscaled(other)
            product = 1.0 * (1.0 if scale is None else scale) * (1.0 if more is None else more)
            scale, flat = product if product != 1.0 else None, True
            factors += terms
        else:
            value = Scaled(_as_number(other), left).scale  # checked
            scale = value if scale is None else value * scale
    k = Product(tuple(factors)) if flat else factors[0]
    return k if scale is None else Scaled(scale, k)


def _unscaled(k: Kernel) -> tuple[float | None, list[Kernel], bool]:
    """The scale in front of a kernel, its factors, and whether it is a product."""
    scale, k = (k.scale, k.kernel) if isinstance(k, Scaled) else (None, k)
    return scale, list(k.terms) if isinstance(k, Product) else [k], isinstance(k, Product)


def reciprocal(value: Any) -> float:
    """1/value, by which a kernel may be scaled."""
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating) or value <= 0:
        raise ValueError(f"A kernel can be divided by a positive number, not by {value!r}.")
    return 1.0 / float(value)


def _terms(k: Any, kind: type[Terms]) -> tuple[Kernel, ...]:
    if isinstance(k, kind):
        return k.terms
    if isinstance(k, Kernel):
        return (k,)
    from mercer.kernels.anything import Constant

    return (Constant(_as_number(k)),)


def _as_number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        raise TypeError(f"Kernels combine with kernels and numbers, not with {type(value).__name__} {value!r}.")
    return value if isinstance(value, int) else float(value)


# ---------------------------------------------------------------------------------------------------------------------
# One part, and a function of its value
# ---------------------------------------------------------------------------------------------------------------------


class Pointwise(Composite):
    """function(k(x, z)): leaves ``_apply(value)`` to write."""

    around: ClassVar[bool] = True
    kernel: Kernel

    def _apply(self, value: Any) -> Any:
        raise NotImplementedError

    def _prepare(self, X: Any) -> Any:
        return self._enter_part(self.kernel, X)

    def _block(self, A: Any, B: Any) -> Any:
        return self._apply(self.kernel._pairs(A, B))

    def _diag(self, A: Any) -> Any:
        return self._apply(self.kernel._selfs(A))

    @property
    def psd(self) -> bool | None:  # type: ignore[override]
        return True if self.kernel.psd else None


@kernel
class Scaled(Pointwise):
    """scale·k(x, z), scale ≥ 0.  Features √scale·φ."""

    usage: ClassVar[str] = "a * k"
    scale: float = nonnegative(why=_NEGATIVE)
    kernel: Kernel

    def _apply(self, value: Any) -> Any:
        return self.scale * value

    def _balanced(self) -> Kernel:
        return self._with_children(lambda k: k._balanced())

    @property
    def psd(self) -> bool | None:  # type: ignore[override]
        return self.kernel.psd

    @property
    def explicit(self) -> bool:  # type: ignore[override]
        return self.kernel.explicit

    def _width(self, A: Any) -> int:
        return self.kernel._width(A)

    def _features(self, A: Any) -> Any:
        return math.sqrt(self.scale) * self.kernel._features(A)

    def _counts(self, A: Any) -> Counts | None:
        found = self.kernel._counts(A)
        return None if found is None else found.scaled(self.scale)

    def _names(self, X: Any) -> dict[int, Any]:
        return self.kernel._names(X)

    @property
    def _notation(self) -> str:
        return join("·", [number(self.scale), str(self.kernel)], PRODUCT)

    @property
    def _python(self) -> str:
        return join(" * ", [number(self.scale), repr(self.kernel)], PRODUCT)


@kernel
class Power(Pointwise):
    """k(x, z)^exponent, exponent a whole number ≥ 1."""

    usage: ClassVar[str] = "k ** n"
    kernel: Kernel
    exponent: int = natural()

    def _apply(self, value: Any) -> Any:
        return value ** int(self.exponent)

    def _balanced(self) -> Kernel:
        from mercer.kernels.compose.feature_space import Directions

        return self._replace(kernel=Directions(self.kernel))  # at most 1, and so are all powers

    @property
    def explicit(self) -> bool:  # type: ignore[override]
        return self.kernel.explicit

    def _width(self, A: Any) -> int:
        return int(self.kernel._width(A) ** int(self.exponent))

    def _features(self, A: Any) -> Any:
        return _tensor([self.kernel._features(A)] * int(self.exponent))

    @property
    def _notation(self) -> str:
        from mercer.kernels.notation import atom, superscript

        return atom(str(self.kernel)) + superscript(int(self.exponent))

    @property
    def _python(self) -> str:
        from mercer.kernels.notation import atom

        return f"{atom(repr(self.kernel))} ** {int(self.exponent)}"


class FunctionOf(Pointwise):
    """A named function of a kernel, written as a call: exp(k), geometric(k)."""

    name: ClassVar[str]

    @property
    def _notation(self) -> str:
        return f"{self.name}({self.kernel})"

    @property
    def _python(self) -> str:
        return f"{self.name}({self.kernel!r})"


@kernel
class Exponential(FunctionOf):
    """exp(k(x, z)): a limit of polynomials in k with non-negative coefficients."""

    usage: ClassVar[str] = "exp(k)"
    name: ClassVar[str] = "exp"
    kernel: Kernel

    def _apply(self, value: Any) -> Any:
        return formula.exp(value)

    def _balanced(self) -> Kernel:
        return ExponentialOfDistance(self.kernel)


@kernel
class ExponentialOfDistance(Composite):
    """exp(k(x, z) − k(x, x)/2 − k(z, z)/2): exp(k) normalised, exp(−½ of a squared distance in feature space)."""

    kernel: Kernel

    def _prepare(self, X: Any) -> Any:
        return self._enter_part(self.kernel, X)

    def _block(self, A: Any, B: Any) -> Any:
        return formula.exp(self.kernel._pairs(A, B) - 0.5 * self.kernel._selfs(A) - 0.5 * self.kernel._selfs(B))

    def _diag(self, A: Any) -> Any:
        return formula.exp(0.0 * self.kernel._selfs(A))

    @property
    def psd(self) -> bool | None:  # type: ignore[override]
        return True if self.kernel.psd else None


@kernel
class Geometric(FunctionOf):
    """1/(1 − k(x, z)) = Σ k^i, for |k| < 1: other values are reported with their pair, as infinite."""

    usage: ClassVar[str] = "geometric(k)"
    name: ClassVar[str] = "geometric"
    kernel: Kernel

    def _apply(self, value: Any) -> Any:
        inside = formula.greater(1.0, abs(value))
        return formula.where(inside, 1.0 / formula.where(inside, 1.0 - value, 1.0), math.inf)


@kernel
class PolynomialOf(FunctionOf):
    """Σ_i c_i k(x, z)^i, c_i ≥ 0, from the constant upwards."""

    usage: ClassVar[str] = "polynomial(k, coefficients)"
    name: ClassVar[str] = "polynomial"
    kernel: Kernel
    coefficients: tuple[float, ...]

    def _validate(self) -> None:
        c = np.asarray(self.coefficients, np.float64)
        if c.ndim != 1 or not c.size or not np.isfinite(c).all():
            raise ValueError("polynomial(k, coefficients) needs a list of numbers, from the constant term upwards.")
        if (c < 0).any():
            i = int(np.argmax(c < 0))
            raise ValueError(f"polynomial(k, coefficients): coefficient {i} is {c[i]:g}; coefficients {_NEGATIVE}.")

    def _apply(self, value: Any) -> Any:
        out = 0.0 * value + float(self.coefficients[-1])
        for c in reversed(tuple(self.coefficients)[:-1]):
            out = out * value + float(c)
        return out

    @property
    def explicit(self) -> bool:  # type: ignore[override]
        return self.kernel.explicit

    def _powers(self) -> list[tuple[int, float]]:
        return [(i, float(c)) for i, c in enumerate(self.coefficients) if c > 0]

    def _width(self, A: Any) -> int:
        return max(1, sum(int(self.kernel._width(A) ** i) for i, _ in self._powers()))

    def _features(self, A: Any) -> Any:
        phi = self.kernel._features(A)
        dense = [
            math.sqrt(c) * (_tensor([phi] * i) if i else _ones(phi))
            for i, c in self._powers()
        ]  # fmt: skip
        return _beside(dense) if dense else 0.0 * _ones(phi)

    @property
    def _notation(self) -> str:
        return f"polynomial({self.kernel}, [{', '.join(number(c) for c in self.coefficients)}])"

    @property
    def _python(self) -> str:
        return f"polynomial({self.kernel!r}, [{', '.join(number(c) for c in self.coefficients)}])"


def _ones(phi: Any) -> Any:
    out = arrays.zeros((size(phi), 1), arrays.numpy_dtype(phi), phi if arrays.is_tensor(phi) else None)
    return out + 1


def exp(k: Kernel) -> Exponential:
    """exp(k(x, z))."""
    return Exponential(k)


def geometric(k: Kernel) -> Geometric:
    """1/(1 − k(x, z)), |k| < 1."""
    return Geometric(k)


def polynomial(k: Kernel, coefficients: Any) -> PolynomialOf:
    """Σ_i coefficients[i]·k(x, z)^i, coefficients ≥ 0."""
    return PolynomialOf(k, tuple(coefficients))


FUNCTIONS: dict[str, Callable[..., Kernel]] = {"exp": exp, "geometric": geometric, "polynomial": polynomial}
