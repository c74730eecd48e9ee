"""Functions of the value of one kernel: scalings, powers, exp, polynomials."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np

from mercer import arrays, formula
from mercer.annotations import Items, Samples, Symbol
from mercer.data import size
from mercer.gram import Counts
from mercer.kernels.base import Kernel, kernel
from mercer.kernels.columns import ColumnTerm, column_terms, exponential, gathered, power, product
from mercer.kernels.compose.composite import OfOne
from mercer.kernels.compose.names import beside, multiplied
from mercer.kernels.compose.terms import _beside, _tensor
from mercer.kernels.notation import PRODUCT, join, number
from mercer.kernels.parameters import natural, nonnegative
from mercer.troubles import coded

_NEGATIVE = "must be at least 0: with a negative one, k(x, x) could be negative, and k would not be a kernel"


class Pointwise(OfOne):
    """function(k(x, z)): leaves ``_apply(value)`` to write."""

    around: ClassVar[bool] = True

    def _apply(self, value: Symbol) -> Any:
        raise NotImplementedError

    def _block(self, A: Items, B: Items) -> Any:
        return self._apply(self.kernel._pairs(A, B))

    def _diag(self, A: Items) -> Any:
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

    def _apply(self, value: Symbol) -> Any:
        return self.scale * value

    def _balanced(self) -> Kernel:
        return self._with_children(lambda k: k._balanced())

    @property
    def psd(self) -> bool | None:  # type: ignore[override]
        return self.kernel.psd

    @property
    def explicit(self) -> bool:  # type: ignore[override]
        return self.kernel.explicit

    def _width(self, A: Items) -> int:
        return self.kernel._width(A)

    def _features(self, A: Items) -> Any:
        return math.sqrt(self.scale) * self.kernel._features(A)

    def _factors(self) -> tuple[Kernel, ...]:
        from mercer.kernels.anything import Constant

        return (Constant(self.scale), self.kernel)

    def _column_terms(self, X: Samples, Y: Samples) -> list[ColumnTerm] | None:
        return product([[ColumnTerm(self.scale, {})], column_terms(self.kernel, X, Y)])

    def _counts(self, A: Items) -> Counts | None:
        found = self.kernel._counts(A)
        return None if found is None else found.scaled(self.scale)

    def _names(self, X: Samples) -> dict[int, Any]:
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

    def _apply(self, value: Symbol) -> Any:
        return value ** int(self.exponent)

    def _balanced(self) -> Kernel:
        from mercer.kernels.compose.feature_space import Directions

        return self._replace(kernel=Directions(self.kernel))  # at most 1, and so are all powers

    @property
    def explicit(self) -> bool:  # type: ignore[override]
        return self.kernel.explicit

    def _width(self, A: Items) -> int:
        return int(self.kernel._width(A) ** int(self.exponent))

    def _features(self, A: Items) -> Any:
        return _tensor([self.kernel._features(A)] * int(self.exponent))

    def _factors(self) -> tuple[Kernel, ...]:
        return (self.kernel,) * int(self.exponent)

    def _names(self, X: Samples) -> dict[int, Any]:
        return multiplied([(self.kernel._embedded(X), self.kernel._names(X))] * int(self.exponent))

    def _column_terms(self, X: Samples, Y: Samples) -> list[ColumnTerm] | None:
        return power(column_terms(self.kernel, X, Y), int(self.exponent))

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

    def _apply(self, value: Symbol) -> Any:
        return formula.exp(value)

    def _balanced(self) -> Kernel:
        return ExponentialOfDistance(self.kernel)

    def _column_terms(self, X: Samples, Y: Samples) -> list[ColumnTerm] | None:
        return exponential(column_terms(self.kernel, X, Y))


@kernel
class ExponentialOfDistance(OfOne):
    """exp(k(x, z) − k(x, x)/2 − k(z, z)/2): exp(k) normalised, exp(−½ of a squared distance in feature space)."""

    kernel: Kernel

    def _block(self, A: Items, B: Items) -> Any:
        return formula.exp(self.kernel._pairs(A, B) - 0.5 * self.kernel._selfs(A) - 0.5 * self.kernel._selfs(B))

    def _diag(self, A: Items) -> Any:
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

    def _apply(self, value: Symbol) -> Any:
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
            raise ValueError(
                coded("polynomial(k, coefficients) needs a list of numbers, from the constant term upwards.", "M205")
            )
        if (c < 0).any():
            i = int(np.argmax(c < 0))
            raise ValueError(
                coded(f"polynomial(k, coefficients): coefficient {i} is {c[i]:g}; coefficients {_NEGATIVE}.", "M205")
            )

    def _apply(self, value: Symbol) -> Any:
        out = 0.0 * value + float(self.coefficients[-1])
        for c in reversed(tuple(self.coefficients)[:-1]):
            out = out * value + float(c)
        return out

    @property
    def explicit(self) -> bool:  # type: ignore[override]
        return self.kernel.explicit

    def _column_terms(self, X: Samples, Y: Samples) -> list[ColumnTerm] | None:
        single = column_terms(self.kernel, X, Y)
        found = [product([[ColumnTerm(c, {})], power(single, i)]) for i, c in self._powers()]
        known = [terms for terms in found if terms is not None]
        return gathered([each for terms in known for each in terms]) if len(known) == len(found) else None

    def _powers(self) -> list[tuple[int, float]]:
        return [(i, float(c)) for i, c in enumerate(self.coefficients) if c > 0]

    def _width(self, A: Items) -> int:
        return max(1, sum(int(self.kernel._width(A) ** i) for i, _ in self._powers()))

    def _features(self, A: Items) -> Any:
        phi = self.kernel._features(A)
        dense = [
            math.sqrt(c) * (_tensor([phi] * i) if i else _ones(phi))
            for i, c in self._powers()
        ]  # fmt: skip
        return _beside(dense) if dense else 0.0 * _ones(phi)

    def _names(self, X: Samples) -> dict[int, Any]:
        phi, names = self.kernel._embedded(X), self.kernel._names(X)
        ones = _ones(phi), {0: "constant"}
        parts = [
            (_tensor([phi] * i), multiplied([(phi, names)] * i)) if i else ones
            for i, _ in self._powers()
        ]  # fmt: skip
        return beside(parts or [ones])

    @property
    def _notation(self) -> str:
        return f"polynomial({self.kernel}, [{', '.join(number(c) for c in self.coefficients)}])"

    @property
    def _python(self) -> str:
        return f"polynomial({self.kernel!r}, [{', '.join(number(c) for c in self.coefficients)}])"


def _ones(phi: Items) -> Any:
    out = arrays.zeros((size(phi), 1), arrays.numpy_dtype(phi), phi if arrays.is_tensor(phi) else None)
    return out + 1
