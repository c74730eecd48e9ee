"""Sketches: features of products of kernels, in as many columns as one wants."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

import numpy as np
from scipy import fft, sparse

from mercer import arrays
from mercer.annotations import Items, RandomState, Samples, Weights
from mercer.arrays import Array
from mercer.compute import bounds
from mercer.data import DataError, HashedRows, chunks, size, take
from mercer.kernels.approximations.random_features import check_random_state
from mercer.kernels.base import Kernel, kernel
from mercer.kernels.compose.composite import Composite
from mercer.kernels.families import Explicit
from mercer.kernels.parameters import natural, sample
from mercer.runtime import threads
from mercer.runtime.randomness import generator
from mercer.troubles import coded

_TOGETHER = 2**18  # features that one task computes


def factors(k: Kernel) -> Iterator[Kernel]:
    """The kernels that k is the product of, those of factors too."""
    parts = k._factors() if hasattr(k, "_factors") else (k,)
    for part in parts:
        yield from (part,) if part is k else factors(part)


@kernel
class TensorSketch(Composite):
    """⟨S(x), S(z)⟩, S(x) = FFT⁻¹(Π_t FFT(C_t φ_t(x))): an approximation of Π_t k_t(x, z), k_t = ⟨φ_t, φ_t⟩.

    C_t sends each feature of k_t to a random one of D = ``n_components`` cells, with a random sign; the product of
    their Fourier transforms is the sketch of the tensor product of all φ_t, which is never formed. The mean over the
    draws is k(x, z) exactly; the variance is at most 3^p k(x, x) k(z, z)/D for p factors. For polynomials of many
    columns, where monomials are too many: D numbers and p·(d + D log D) steps for each sample. Sparse tables are
    sketched as they are.

    Memory: n·D numbers of the data's precision, n·D·8 bytes or n·D·4 for float32.

    Parameters
    ----------
    kernel : Kernel
        A ``Polynomial`` with offset ≥ 0 and scale ≥ 0, or a product or power of kernels with finitely many features
        (``explicit``) in fixed columns: ``Linear().on([0, 1]) * Linear().on([2, 3])``, ``RandomFeatures(Gaussian()) *
        Polynomial(2)``.
    n_components : int, default=1000
        D, the number of features.
    random_state : int, Generator, RandomState or None, default=None
        With a number, the same sketch for every data set of as many columns.

    See Also
    --------
    Polynomial : The kernel itself, and its monomials.
    RandomFeatures : Gaussian and other kernels of distances.

    References
    ----------
    .. [1] N. Pham and R. Pagh. Fast and scalable polynomial kernels via explicit feature maps. KDD 2013.

    Examples
    --------
    >>> import numpy as np
    >>> import mercer as mc
    >>> X = np.random.default_rng(0).standard_normal((300, 50)) / 50**0.5
    >>> k = mc.TensorSketch(mc.Polynomial(3), 2000, random_state=0).bind(X)
    >>> k.features(X).shape
    (300, 2000)
    >>> K = mc.Polynomial(3)(X)
    >>> bool(np.abs(k(X) - K).mean() < 0.03 * np.abs(K).max())
    True
    """

    usage: ClassVar[str] = "TensorSketch(kernel, n_components=1000, random_state=None)"
    explicit = True
    _data_driven = True
    _rotation_invariant = False

    kernel: Kernel
    n_components: int = natural(1000)
    random_state: RandomState = None

    def _validate(self) -> None:
        without = next((k for k in factors(self.kernel) if not k.explicit and not k._data_driven), None)
        if without is not None:
            raise TypeError(
                coded(
                    f"TensorSketch multiplies features, and {without} has no finite feature map: approximate it first,"
                    " RandomFeatures(k) or Nystrom(k).",
                    "M212",
                )
            )
        check_random_state(self, self.random_state)

    def bind(self, X: Samples, weights: Weights = None) -> Kernel:
        X, rng = self.domain.check(X), generator(self.random_state)
        k, D = self.kernel.bind(X, weights), int(self.n_components)
        first, cells = take(X, slice(0, 1)), []
        for factor in factors(k):
            width = _columns(self, factor, first).shape[1]
            cells.append(rng.integers(1, D + 1, width) * rng.choice([-1, 1], width))
        return Sketched(k, D, tuple(cells))


def _columns(of: Composite, factor: Kernel, X: Samples) -> Any:
    """The features of a factor, an array or a sparse matrix."""
    phi = factor._features(of._enter_part(factor, X))
    if isinstance(phi, HashedRows):
        raise DataError(f"TensorSketch is for features in fixed columns; those of {factor} are an open set.", "M212")
    return phi if sparse.issparse(phi) else arrays.to_numpy(phi)


@kernel
class Sketched(Composite, Explicit):
    """⟨S(x), S(z)⟩ with the cells and signs that were drawn: ±(1 + cell) for each feature of each factor."""

    _internal = True
    _bound_to_values = True
    _rotation_invariant = False

    kernel: Kernel
    n_components: int
    cells: Sequence[Array] = sample()

    @property
    def psd(self) -> bool:  # type: ignore[override]
        return True

    def bind(self, X: Samples, weights: Weights = None) -> Kernel:
        return self

    def _map(self, X: Samples) -> Any:
        parts = list(factors(self.kernel))
        known = {part: _columns(self, part, X) for part in parts}
        dtype = np.result_type(*(phi.dtype for phi in known.values()))
        tables = [
            (known[part], self._table(part, np.asarray(c), known[part]))
            for part, c in zip(parts, self.cells, strict=True)
        ]
        out = arrays.empty((size(X), self.n_components), dtype)

        def task(rows: slice) -> None:
            product: float | Array = 1.0
            for phi, table in tables:
                sketch = phi[rows] @ table
                product = product * fft.rfft(sketch.toarray() if sparse.issparse(sketch) else sketch, axis=1)
            out[rows] = fft.irfft(product, self.n_components, axis=1)

        threads.run_tasks(task, chunks(len(out), max(1, _TOGETHER // self.n_components)), bounds().workers)
        return arrays.like(out, X) if arrays.is_tensor(X) else out

    def _table(self, part: Kernel, cells: Array, phi: Items) -> Any:
        """The matrix of a count sketch, one entry ±1 for each feature."""
        if phi.shape[1] != len(cells):
            raise DataError(
                f"The sketch of {self.kernel} was drawn for {len(cells)} features of {part}, the data gives"
                f" {phi.shape[1]}: it has another number of columns.",
                "M104",
            )
        where = (np.arange(len(cells)), np.abs(cells) - 1)
        return sparse.csr_array((np.sign(cells).astype(phi.dtype), where), (len(cells), self.n_components))
