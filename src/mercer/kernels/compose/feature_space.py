"""Kernels that move the features of another: onto the sphere, to the origin, into a Euclidean space."""

from __future__ import annotations

import warnings
from copy import deepcopy
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from mercer import arrays
from mercer.annotations import Items, Samples, Symbol, Weights
from mercer.arrays import Array
from mercer.compute import Compute, bounds
from mercer.data import DataError, HashedRows, check_weights, leaves, size
from mercer.formula import dot, mean_of_means, mean_over_items, sqnorm, sqrt, where
from mercer.gram import Counts, KernelGram, common_dtype, item_values, recorded_values
from mercer.gram.validity import check_symmetric
from mercer.kernels.anything import Categorical
from mercer.kernels.base import Kernel, kernel
from mercer.kernels.compose.composite import Composite, OfOne
from mercer.kernels.compose.pointwise import Scaled
from mercer.kernels.compose.terms import Sum
from mercer.kernels.families import Explicit
from mercer.kernels.notation import method
from mercer.kernels.parameters import sample
from mercer.native.linalg import eigh, symmetric_part
from mercer.troubles import coded


class Wrapper(OfOne):
    """A kernel around one other, written as a method call: k.normalized()."""

    around: ClassVar[bool] = True
    method_name: ClassVar[str]

    def _method_arguments(self) -> tuple[Any, ...]:
        return ()

    @property
    def psd(self) -> bool | None:  # type: ignore[override]
        return True if self.kernel.psd else None

    def _to_store(self, X: Samples) -> Any:
        return self.kernel._to_store(X)

    def _names(self, X: Samples) -> dict[int, Any]:
        return self.kernel._names(X)

    @property
    def _notation(self) -> str:
        return method(self.kernel, self.method_name, *self._method_arguments(), mathematics=True)

    @property
    def _python(self) -> str:
        return method(self.kernel, self.method_name, *self._method_arguments(), mathematics=False)


class ZeroNormWarning(UserWarning):
    """Some objects have k(x, x) = 0 and so no direction; their normalised values are 0."""


def warn_of_zero_norms(k: Kernel, A: Items, values: str, base: Kernel | None = None) -> None:
    """Say which of the prepared items have k(x, x) = 0, and refuse those with less, or with what is no number; ``base``
    is asked in place of k.
    """
    if any(arrays.is_recorded(leaf) for leaf in leaves(A)):
        return
    norms = arrays.to_numpy(item_values((base or k)._selfs, A, common_dtype(A, Compute())))
    if (norms < 0).any():
        i = int(np.argmax(norms < 0))
        raise DataError(
            f"{k} gives k(x, x) = {norms[i]:g} < 0 for row {i}: it is not a kernel there, and has no norm to divide"
            " by.",
            "M209",
        )
    warn_of_zeros(k, norms, values)


def warn_of_zeros(k: Kernel, norms: Array, values: str) -> None:
    """One warning for all items whose features are all 0; an error where they are too large to be divided by."""
    if not np.isfinite(norms).all():
        i = int(np.argmax(~np.isfinite(norms)))
        raise FloatingPointError(
            coded(
                f"{k} gives {norms[i]} for the pair ({i}, {i}), row {i} with itself: its {values} values cannot be"
                " computed. Scale the data or the kernel's parameters"
                + (", or compute in float64." if norms.dtype == np.float32 else "."),
                "M210",
            )
        )
    if (norms == 0).any():
        count, i = int(np.sum(norms == 0)), int(np.argmax(norms == 0))
        warnings.warn(
            coded(
                f"{count} of {len(norms)} objects, the first in row {i}, have k(x, x) = 0 under {k}; their {values}"
                " values are 0.",
                "M207",
            ),
            ZeroNormWarning,
            stacklevel=3,
        )


@kernel
class Normalized(Wrapper):
    """k(x, z)/√(k(x, x) k(z, z)).  1 on the diagonal, exactly; 0 where k(x, x) = 0 (an empty string, a zero row), with
    a warning.

    Where k knows a kernel with the same normalised values and of moderate size (exp(k), powers, substrings, walks),
    that is computed: these are right though k itself may be beyond what a float holds.
    """

    usage: ClassVar[str] = "k.normalized()"
    method_name: ClassVar[str] = "normalized"
    kernel: Kernel

    @property
    def psd(self) -> bool | None:  # type: ignore[override]
        return self.kernel.psd

    @property
    def explicit(self) -> bool:  # type: ignore[override]
        return self._base.explicit

    @property
    def _base(self) -> Kernel:
        """What is divided by its norms."""
        return self.kernel._balanced()

    def _prepare(self, X: Samples) -> Any:
        A = self._enter_part(self._base, X)
        warn_of_zero_norms(self.kernel, A, "normalised", self._base)
        return A

    def _pull_back(self, X: Samples, gradients: Any) -> Any:
        return self._base._pulled_back(X, gradients)

    def _inverse_norm(self, A: Items) -> Any:
        d = self._base._selfs(A)
        return (
            where(d > 0, 1.0 / sqrt(where(d > 0, d, 1.0)), 0.0)
            if hasattr(d, "__formula__")
            else d**-0.5
            if d > 0
            else 0.0
        )

    def _block(self, A: Items, B: Items) -> Any:
        return self._base._pairs(A, B) * self._inverse_norm(A) * self._inverse_norm(B)

    def _diag(self, A: Items) -> Any:
        d = self._base._selfs(A)
        return where(d > 0, 1.0, 0.0) if hasattr(d, "__formula__") else float(d > 0)

    def _width(self, A: Items) -> int:
        return self._base._width(A)

    def _counts(self, A: Items) -> Counts | None:
        found = self._base._counts(A)
        return None if found is None else found.normalized()

    def _features(self, A: Items) -> Any:
        phi = self._base._features(A)
        if isinstance(phi, HashedRows):
            norms = np.sqrt(phi.sqnorm())
            return (1.0 / np.where(norms > 0, norms, 1.0)) * phi
        if sparse.issparse(phi):
            norms = np.sqrt(arrays.squared_rows(phi))
            return sparse.csr_array(sparse.diags_array(1.0 / np.where(norms > 0, norms, 1.0)) @ phi)
        xp = arrays.namespace(phi)
        norms = xp.sqrt(xp.einsum("ij,ij->i", phi, phi))
        return phi / xp.where(norms > 0, norms, xp.ones_like(norms))[:, None]

    def _balanced(self) -> Kernel:
        return self  # at most 1 already


@kernel
class Directions(Normalized):
    """The same as a part of a kernel that is itself normalised, and warns."""

    usage: ClassVar[str] = ""
    kernel: Kernel

    def _prepare(self, X: Samples) -> Any:
        return self._enter_part(self._base, X)


@kernel
class Rooted(Wrapper, Explicit):
    """⟨ψ(x), ψ(z)⟩, ψ_u = sign(φ_u)·√|φ_u| of the features φ of k: large counts weigh less.  k must be explicit."""

    usage: ClassVar[str] = "k.rooted()"
    method_name: ClassVar[str] = "rooted"
    kernel: Kernel

    @property
    def psd(self) -> bool | None:  # type: ignore[override]
        return True

    def _validate(self) -> None:
        if not self.kernel.explicit and not self.kernel._data_driven:
            raise TypeError(
                coded(f"rooted() takes roots of features, and {self.kernel} has no finite feature map.", "M212")
            )

    def _prepare(self, X: Samples) -> Any:
        phi = self.kernel._features(super()._prepare(X))
        if hasattr(phi, "codes"):
            return phi.valued(_root(phi.values.astype(phi.dtype, copy=False)))
        if hasattr(phi, "tocsr"):
            phi = phi.tocsr().copy()
            phi.data = _root(phi.data)
            return phi
        return _root(arrays.to_numpy(phi))

    def _pull_back(self, X: Samples, gradients: Any) -> Any:
        return Kernel._pull_back(self, X, gradients)


def _root(x: Symbol) -> Any:
    return np.sign(x) * np.sqrt(np.abs(x))


# ---------------------------------------------------------------------------------------------------------------------
# Centring
# ---------------------------------------------------------------------------------------------------------------------


@kernel
class Centered(Wrapper):
    """⟨φ(x) − μ, φ(z) − μ⟩, μ the (weighted) mean of φ over the data given to ``bind``."""

    usage: ClassVar[str] = "k.centered()"
    method_name: ClassVar[str] = "centered"
    kernel: Kernel

    @property
    def _data_driven(self) -> bool:
        return True

    def bind(self, X: Samples, weights: Weights = None) -> CenteredAt:
        k = self.kernel.bind(X, weights)
        K = k.gram(X)
        w = check_weights(K.shape[0], weights)
        w = w / w.sum()
        return CenteredAt(k, deepcopy(X), w, float(w @ arrays.to_numpy(K @ w)))


@kernel
class CenteredAt(OfOne):
    """k(x, z) − Σ_i w_i k(x, r_i) − Σ_i w_i k(z, r_i) + Σ_ij w_i w_j k(r_i, r_j): centred on the reference sample r.

    The last sum is stored, as ``mean``. New points cost one value per reference item.
    """

    _bound_to_values = True
    around: ClassVar[bool] = True
    kernel: Kernel
    reference: Samples = sample()
    weights: Weights = sample()
    mean: float

    @property
    def psd(self) -> bool | None:  # type: ignore[override]
        return True if self.kernel.psd else None

    @property
    def explicit(self) -> bool:  # type: ignore[override]
        return self.kernel.explicit

    def bind(self, X: Samples, weights: Weights = None) -> Kernel:
        return self

    def _reference(self) -> Any:
        return self.kernel._prepare(self.kernel.domain.check(self.reference))

    def _names(self, X: Samples) -> dict[int, Any]:
        return self.kernel._names(self.reference) | self.kernel._names(X)

    def _block(self, A: Items, B: Items) -> Any:
        R, w, block = self._reference(), self.weights, self.kernel._pairs
        means = mean_over_items(block, A, R, w) + mean_over_items(block, B, R, w)
        return self.kernel._pairs(A, B) - means + mean_of_means(block, A, R, w, self.mean)

    def _diag(self, A: Items) -> Any:
        R, w, block = self._reference(), self.weights, self.kernel._pairs
        return self.kernel._selfs(A) - 2.0 * mean_over_items(block, A, R, w) + mean_of_means(block, A, R, w, self.mean)

    def _width(self, A: Items) -> int:
        # as wide as all its rows together
        mean = self.kernel._features(self._reference()) if self.kernel._width(A) < size(A) else None
        return len(np.unique(mean.codes)) if isinstance(mean, HashedRows) else self.kernel._width(A)

    def _features(self, A: Items) -> Any:
        phi = self.kernel._features(A)
        if isinstance(phi, HashedRows):
            mean = self.kernel._features(self._reference()).combined(-np.asarray(self.weights, np.float64))
            return phi + mean.take(np.zeros(phi.shape[0], np.int64))
        phi, reference = (
            p.toarray() if sparse.issparse(p) else p for p in (phi, self.kernel._features(self._reference()))
        )
        mean = np.asarray(self.weights, np.float64) @ arrays.to_numpy(reference)
        return phi - arrays.like(mean.astype(arrays.numpy_dtype(phi)), phi)


# ---------------------------------------------------------------------------------------------------------------------
# Indefinite similarities
# ---------------------------------------------------------------------------------------------------------------------

_HOW = ("clip", "flip", "shift")


@kernel
class Repaired(Wrapper):
    """A valid kernel near an indefinite similarity, made from the spectrum K = UΛU^T on the data given to ``bind``.

    "clip" sets negative eigenvalues to 0 (the nearest positive semi-definite matrix), "flip" takes |Λ|, "shift" adds
    −λ_min to the similarity of each object with itself. Out of sample, clip and flip are k(x, R) U|Λ|^−1 U^T k(R, z)
    over the eigenvalues kept; shift adds its constant where x = z. The similarity must be symmetric.
    """

    usage: ClassVar[str] = "k.repaired(how='clip')"
    method_name: ClassVar[str] = "repaired"
    kernel: Kernel
    how: str = "clip"
    psd = True

    def _validate(self) -> None:
        if self.how not in _HOW:
            raise ValueError(coded(f"repaired({self.how!r}): choose one of {', '.join(map(repr, _HOW))}.", "M205"))

    def _method_arguments(self) -> tuple[Any, ...]:
        return (self.how,)

    @property
    def _data_driven(self) -> bool:
        return True

    def bind(self, X: Samples, weights: Weights = None) -> Kernel:
        k = self.kernel.bind(X, weights)
        # both orders of each pair, so that an asymmetric similarity is seen as such
        A = k._prepare(k.domain.check(X))
        K = arrays.to_numpy(KernelGram.of(k, A, A, Compute(dtype="float64"), mirror=False).dense())
        check_symmetric(K)
        root = np.sqrt(check_weights(len(K), weights))
        K = symmetric_part(K)
        if weights is not None:
            K *= root[:, None]
            K *= root
        values, vectors = eigh(K)
        tolerance = len(K) * np.finfo(np.float64).eps * float(np.abs(values).max(initial=0.0))
        if self.how == "shift":
            return Sum((k, Scaled(max(0.0, -float(values.min(initial=0.0))), Categorical())))
        keep = values > tolerance if self.how == "clip" else np.abs(values) > tolerance
        return Projected(k, deepcopy(X), root[:, None] * vectors[:, keep] / np.sqrt(np.abs(values[keep])))


@kernel
class Projected(Composite):
    """⟨φ(x), φ(z)⟩ with φ(x) = k(x, R)·basis, R a reference sample: a similarity made Euclidean by its values to R."""

    _bound_to_values = True
    around: ClassVar[bool] = True
    kernel: Kernel
    reference: Samples = sample()
    basis: Array = sample()
    explicit = True

    def bind(self, X: Samples, weights: Weights = None) -> Kernel:
        return self

    def _prepare(self, X: Samples) -> Any:
        A, R = self._enter_part(self.kernel, X), self.kernel._prepare(self.kernel.domain.check(self.reference))
        recorded = recorded_values(self.kernel, A, R)
        if recorded is not None:
            return recorded @ np.asarray(self.basis)
        K = KernelGram.of(self.kernel, A, R, bounds())
        return arrays.astype(K @ np.asarray(self.basis), K.dtype)

    def _block(self, A: Items, B: Items) -> Any:
        return dot(A, B)

    def _diag(self, A: Items) -> Any:
        return sqnorm(A)

    def _width(self, A: Items) -> int:
        return int(A.shape[1])

    def _features(self, A: Items) -> Any:
        return A

    def _symbolic(self, prefix: str) -> Any:
        raise NotImplementedError(
            coded(
                "A repaired similarity depends on its parameters through eigenvectors; it has no gradient here.", "M211"
            )
        )
