"""Kernels between sets and bags: common members, and what they are of all members together."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from mercer import arrays
from mercer.annotations import Items, Samples, Symbol
from mercer.data import DataError, Domain, HashedRows, Sets, chunks, meet
from mercer.formula import dot, recorded, sqnorm, where
from mercer.kernels.base import Kernel, kernel
from mercer.kernels.compose.composite import Composite
from mercer.kernels.compose.feature_space import warn_of_zero_norms, warn_of_zeros
from mercer.kernels.families import Explicit
from mercer.kernels.vectors.histograms import HistogramIntersection
from mercer.runtime import threads
from mercer.troubles import coded

_ENTRIES = 2**22  # of a call, so that an interrupt is not late


@kernel
class Intersection(Explicit):
    """|x ∩ z|: the number of common members of two sets.

    Sets are rows of 0 and 1, packed into bits and counted by words of 64, or collections of hashable things. Cost:
    width/64 steps per pair.

    See Also
    --------
    Tanimoto : The share of common members in all members.

    Examples
    --------
    >>> import mercer as mc
    >>> baskets = [{"bread", "milk"}, {"milk", "eggs", "bread"}, {"wine"}]
    >>> mc.Intersection()(baskets)
    array([[2., 2., 0.],
           [2., 3., 0.],
           [0., 0., 1.]])
    """

    domain: ClassVar[Domain] = Sets()
    _integer_features = True

    def _map(self, X: Samples) -> Any:
        return X

    def _names(self, X: Samples) -> dict[int, Any]:
        return Sets().members(X)


def _check_kernel(k: Kernel, base: object) -> None:
    if not isinstance(base, Kernel):
        raise TypeError(
            coded(f"{type(k).__name__}(base={base!r}): the base must be a kernel, as mercer.PathBag(7).", "M205")
        )


def _share(common: Symbol, first: Symbol, second: Symbol) -> Any:
    """common/(first + second − common), 0 where that is 0/0."""
    union = first + second - common
    return common / where(union > 0, union, 1.0)


@kernel
class Tanimoto(Composite):
    """k/(k(x, x) + k(z, z) − k) over the kernel k = ``base``: of sets, |x ∩ z|/|x ∪ z|.

    Also called Jaccard's index. Values lie in [0, 1] where those of the base are at least 0, with 1 on the diagonal; 0
    where both are empty, with a warning. Positive semi-definite over every positive semi-definite base.

    Parameters
    ----------
    base : Kernel, default=Intersection()
        The kernel whose values are compared: a fingerprint such as ``Morgan()``, ``PathBag(7)``, ``Linear()``, …

    See Also
    --------
    MinMax : The same of counts, by their minima and maxima.
    Kernel.normalized : The cosine, k/√(k(x, x) k(z, z)).

    References
    ----------
    .. [1] L. Ralaivola, S. J. Swamidass, H. Saigo and P. Baldi. Graph kernels for chemical informatics. Neural Networks
       18,
       2005.

    Examples
    --------
    >>> import numpy as np
    >>> import mercer as mc
    >>> mc.Tanimoto()(np.array([[1, 1, 0, 1], [1, 0, 0, 1], [0, 0, 1, 0]])).round(3)
    array([[1.   , 0.667, 0.   ],
           [0.667, 1.   , 0.   ],
           [0.   , 0.   , 1.   ]])
    >>> mc.Tanimoto(mc.Spectrum(2))(["ACAC", "CACG"]).round(3)
    array([[1. , 0.6],
           [0.6, 1. ]])
    """

    usage: ClassVar[str] = "Tanimoto(base=Intersection())"
    base: Kernel = Intersection()

    def _validate(self) -> None:
        _check_kernel(self, self.base)

    @property
    def domain(self) -> Domain:  # type: ignore[override]
        return self.base.domain

    @property
    def psd(self) -> bool | None:  # type: ignore[override]
        return True if self.base.psd else None

    def _prepare(self, X: Samples) -> Any:
        A = self.base._prepare(X)
        warn_of_zero_norms(self.base, A, "Tanimoto")
        return A

    def _block(self, A: Items, B: Items) -> Any:
        return _share(self.base._pairs(A, B), self.base._selfs(A), self.base._selfs(B))

    def _diag(self, A: Items) -> Any:
        return where(self.base._selfs(A) > 0, 1.0, 0.0)


@kernel
class MinMax(Composite):
    """Σ_u min(φ_u(x), φ_u(z)) / Σ_u max(φ_u(x), φ_u(z)) over the features φ ≥ 0 of ``base``: Tanimoto's of bags.

    Values lie in [0, 1], with 1 on the diagonal; 0 where both have no features, with a warning. Positive semi-definite
    for every base. Integer counts c become c columns of 1, which makes Σ min an inner product.

    Parameters
    ----------
    base : Kernel
        A kernel with a finite feature map (``explicit``) whose features are at least 0, such as
        ``Morgan(counts=True)``.

    See Also
    --------
    Tanimoto : By inner products, over any kernel.
    HistogramIntersection : Σ min alone.

    Examples
    --------
    >>> import mercer as mc
    >>> mc.MinMax(mc.Linear())([[3.0, 1.0], [1.0, 1.0], [0.0, 2.0]]).round(3)
    array([[1.   , 0.5  , 0.2  ],
           [0.5  , 1.   , 0.333],
           [0.2  , 0.333, 1.   ]])
    """

    usage: ClassVar[str] = "MinMax(base)"
    base: Kernel

    @property
    def domain(self) -> Domain:  # type: ignore[override]
        return self.base.domain

    @property
    def psd(self) -> bool | None:  # type: ignore[override]
        return True

    def _validate(self) -> None:
        _check_kernel(self, self.base)
        if not self.base._data_driven:  # else it may have features when it is bound
            self._check_features()

    def _check_features(self) -> None:
        if not self.base.explicit:
            raise TypeError(
                coded(
                    f"MinMax needs the features of its base, and {self.base} has no finite feature map;"
                    f" Tanimoto({self.base}) needs none.",
                    "M212",
                )
            )

    def _prepare(self, X: Samples) -> Any:
        self._check_features()
        phi = self.base._features(self.base._prepare(X))
        if sparse.issparse(phi):
            phi = HashedRows.of(phi)
        values = phi.values if isinstance(phi, HashedRows) else arrays.to_numpy(phi)
        if (values < 0).any():
            raise DataError(
                f"MinMax needs features of at least 0, and those of {self.base} go down to {values.min():g}.", "M106"
            )
        with np.errstate(over="ignore"):  # what is infinite is an error below
            rows = (
                [phi.values[a:b].sum(dtype=np.float64) for a, b in pairwise(phi.offsets)]
                if isinstance(phi, HashedRows)
                else values.sum(axis=1)
            )
        totals = np.asarray(rows)
        warn_of_zeros(self.base, totals, "MinMax")
        if not isinstance(phi, HashedRows):
            return phi
        return (phi.unary(),) if self.base._integer_features else (phi, totals)

    def _minima(self, A: Items, B: Items) -> Any:
        """Σ min: of dense features by columns, of whole numbers an inner product of ones, of others entry by entry."""
        if isinstance(A, tuple) != isinstance(B, tuple):
            raise DataError("Of X and Y one is sparse and one is dense; give both in one form.", "M107")
        if not isinstance(A, tuple):
            return HistogramIntersection()._pairs(A, B)
        return dot(A[0], B[0]) if len(A) == 1 else recorded(minima, A[0], B[0])

    def _totals(self, A: Items) -> Any:
        if not isinstance(A, tuple):
            return HistogramIntersection()._selfs(A)
        return sqnorm(A[0]) if len(A) == 1 else A[1]

    def _block(self, A: Items, B: Items) -> Any:
        return _share(self._minima(A, B), self._totals(A), self._totals(B))

    def _diag(self, A: Items) -> Any:
        return where(self._totals(A) > 0, 1.0, 0.0)


def minima(A: HashedRows, B: HashedRows) -> Any:
    """Σ min over the columns that both rows have."""
    if hasattr(A, "__formula__"):
        raise TypeError("sparse rows are compared entry by entry, not as symbols")
    from mercer.native import minima as compiled

    first, second = meet(A, B)
    left = first.sorted_indices()  # a copy: the values are those of the items, which others look at too
    right = left if second is first else second.sorted_indices()
    out = np.zeros((left.shape[0], right.shape[0]))
    step = max(1, int(_ENTRIES * max(1, len(out)) / max(1, left.nnz * right.shape[0] + right.nnz * len(out))))
    for some in chunks(len(out), step):
        if threads.stopping():
            break
        compiled.minima(
            left.indptr[some.start : some.stop + 1],
            left.indices,
            left.data,
            right.indptr,
            right.indices,
            right.data,
            out[some],
        )
    return out
