"""Kernels on any kind of object."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable
from typing import Any, ClassVar

import narwhals.stable.v2 as nw
import numpy as np
from scipy import sparse

from mercer import arrays
from mercer.annotations import Items, Samples
from mercer.arrays import Array, Tensor
from mercer.data import DataError, Domain, Nodes, as_frame, chunks, listed, size, take
from mercer.formula import equal
from mercer.gram import Counts
from mercer.gram.validity import check_symmetric
from mercer.kernels.base import Kernel, kernel
from mercer.kernels.columns import ColumnTerm
from mercer.kernels.parameters import nonnegative
from mercer.troubles import coded

_TOGETHER = 32  # samples whose values with themselves are read off one block


@kernel
class Constant(Kernel):
    """c for every pair, c ≥ 0: one feature, √c.

    Added to another kernel, ``k + 1.0`` or ``k + Constant(c)``, it gives functions a constant part that is regularised
    like the rest.

    Parameters
    ----------
    c : float, default=1.0
        The value, at least 0.

    Examples
    --------
    >>> import mercer as mc
    >>> k = mc.Linear() + 0.5
    >>> k == mc.Linear() + mc.Constant(0.5)
    True
    >>> k([[1.0], [2.0]])
    array([[1.5, 2.5],
           [2.5, 4.5]])
    """

    c: float = nonnegative(1.0)
    explicit = True
    _blind = True

    def _column_terms(self, X: Samples, Y: Samples) -> list[ColumnTerm] | None:
        return [ColumnTerm(self.c, {})]

    def _prepare(self, X: Samples) -> Any:
        if arrays.is_recorded(X):
            return X  # it is not looked at
        # of the data's own precision, or no float at all, so that it does not decide the precision of what it is added
        # to
        X = listed(X)
        floats = hasattr(X, "dtype") and arrays.numpy_dtype(X).kind == "f"
        return arrays.zeros((size(X),), arrays.numpy_dtype(X) if floats else np.int8, X)

    def _block(self, A: Items, B: Items) -> Any:
        return self.c

    def _diag(self, A: Items) -> Any:
        return self.c

    def _width(self, A: Items) -> int:
        return 1

    def _features(self, A: Items) -> Any:
        dtype = arrays.numpy_dtype(A)
        return arrays.zeros((len(A), 1), dtype if dtype.kind == "f" else np.float64, A) + math.sqrt(self.c)

    def _names(self, X: Samples) -> dict[int, Any]:
        return {0: "constant"}

    def _counts(self, A: Items) -> Counts | None:
        return Counts((), self.c)


@kernel
class Categorical(Kernel):
    """1[x = z]: the delta kernel for nominal columns; of several columns, all must agree.

    ``Categorical().on("a") + Categorical().on("b")`` counts the columns that agree. Objects are compared by a 64-bit
    code of their value, so that training and test data need no common list of categories; 1, 1.0 and True are equal, 1
    and "1" are not. Missing values (None, NaN) are a category of their own. Two of a million categories share a code
    with probability 3·10⁻⁸.

    See Also
    --------
    Kernel.on : A kernel on some columns of a table.

    Examples
    --------
    >>> import mercer as mc
    >>> table = [["red", "small"], ["red", "large"], ["blue", "large"]]
    >>> k = mc.Categorical().on(0) + mc.Categorical().on(1)
    >>> k(table)
    array([[2., 1., 0.],
           [1., 2., 1.],
           [0., 1., 2.]])
    """

    _over_columns = "product"

    def _prepare(self, X: Samples) -> Any:
        return _codes(X)

    def _block(self, A: Items, B: Items) -> Any:
        return equal(A, B)

    def _diag(self, A: Items) -> Any:
        return 1.0


def _codes(X: Samples) -> Any:
    """A 64-bit code for each row: equal for equal rows, whatever the container."""
    rows = _rows(X)
    known: dict[Any, int] = {}
    out = np.empty(len(rows), np.int64)
    for i, row in enumerate(rows):
        key = tuple(_canonical(i, v) for v in row)
        if key not in known:
            known[key] = int.from_bytes(
                hashlib.blake2b(repr(key).encode(), digest_size=8).digest(), "little", signed=True
            )
        out[i] = known[key]
    return out


def _rows(X: Samples) -> list[Any]:
    frame = as_frame(X)
    if frame is not None:
        return list(frame.rows())
    series = nw.from_native(X, series_only=True, pass_through=True)
    if isinstance(series, nw.Series):
        return [(v,) for v in series.to_list()]
    if sparse.issparse(X):
        X = X.toarray()
    if arrays.is_tensor(X):
        X = arrays.to_numpy(X)
    if isinstance(X, np.ndarray) and X.ndim > 1:
        return [tuple(r) for r in X.reshape(len(X), -1).tolist()]
    return [(v,) for v in (X.tolist() if isinstance(X, np.ndarray) else X)]


def _canonical(i: int, value: object) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or value != value:
        return None
    if isinstance(value, bool | int | float):
        return int(value) if math.isfinite(value) and value == int(value) else value
    if isinstance(value, list | tuple):
        return tuple(_canonical(i, v) for v in value)
    if not isinstance(value, str | bytes):
        text = repr(value)
        if " at 0x" in text:
            raise DataError(
                f"Item {i} is a {type(value).__name__} without a value to compare; give strings, numbers or tuples of"
                " them.",
                "M107",
            )
        return (type(value).__name__, text)
    return value


@kernel
class Precomputed(Kernel):
    """K[i, j] for a matrix that you have: the samples are the numbers 0 … n − 1 of its rows.

    Whether K is positive semi-definite is not checked when the kernel is made (``psd`` is None): ``check_gram`` says
    it, and ``repaired()`` mends it. Estimators also take a ``Gram`` in the place of data.

    It knows these items and no others, and is for sums with other kernels. A machine that learns from K and answers for
    new items by the matrix k(new, train) is one with ``kernel="precomputed"``.

    Parameters
    ----------
    K : ndarray or torch.Tensor of shape (n, n)
        A symmetric matrix of similarities. Symmetry is checked once, when the kernel is made.

    Raises
    ------
    ValueError
        When K is not square, or not symmetric; the message names a pair.

    See Also
    --------
    Function : A similarity given as a function.
    DenseGram : A matrix of numbers as a ``Gram``.

    Examples
    --------
    >>> import numpy as np
    >>> import mercer as mc
    >>> k = mc.Precomputed(np.array([[2.0, 1.0, 0.0], [1.0, 2.0, 1.0], [0.0, 1.0, 2.0]]))
    >>> k([0, 2], [1])
    array([[1.],
           [1.]])
    >>> k.normalized()([0, 1])
    array([[1. , 0.5],
           [0.5, 1. ]])
    """

    K: Array | Tensor
    psd = None

    @property
    def domain(self) -> Domain:  # type: ignore[override]
        return Nodes(self.K.shape[0])

    def _validate(self) -> None:
        if not isinstance(self.K, np.ndarray) and not arrays.is_tensor(self.K):
            raise TypeError(
                coded(
                    f"Precomputed(K): K must be a NumPy array or a torch tensor, got {type(self.K).__name__}; convert"
                    " it with np.asarray.",
                    "M213",
                )
            )
        if self.K.ndim != 2 or self.K.shape[0] != self.K.shape[1]:
            raise ValueError(
                coded(
                    f"Precomputed(K): K must be a square array, got {getattr(self.K, 'shape', type(self.K).__name__)}.",
                    "M213",
                )
            )

    def __post_init__(self) -> None:
        super().__post_init__()
        check_symmetric(self.K)  # n² work: done when the kernel is made, not at each use

    def _prepare(self, X: Samples) -> Any:
        return X, arrays.to_numpy(self.K[:1, :1]).repeat(len(X))  # the second leaf only carries the precision of K

    def _block(self, A: Items, B: Items) -> Any:
        return self.K[_ids(A)][:, _ids(B)]

    def _diag(self, A: Items) -> Any:
        return self.K[_ids(A), _ids(A)]


@kernel
class Function(Kernel):
    """f(X, Y)[i, j] for a function f that returns the matrix between two collections of samples.

    What ``SVC(kernel=f)`` becomes. The formula is not known: there are no derivatives by parameters, and
    ``check_kernel`` says whether the values are positive semi-definite on your data (``psd`` is None). In training f is
    given blocks above the diagonal and whole ones on it, some 1.3 to 1.5 times n(n + 1)/2 pairs. A function of two
    single objects is a class that derives from ``mercer.kernels.families.Pairwise``, and is asked for each pair once.

    Parameters
    ----------
    function : callable
        f(X, Y) → array of shape (len(X), len(Y)). It is given parts of the data as they are (rows of an array, a list
        of objects), from several threads, and must treat each pair alike whatever else it is given with.

    See Also
    --------
    Precomputed : A similarity given as a matrix.

    Examples
    --------
    >>> import numpy as np
    >>> import mercer as mc
    >>> def same_initial(X, Y):
    ...     return np.array([[float(x[0] == y[0]) for y in Y] for x in X])
    >>> mc.Function(same_initial)(["apple", "avocado", "banana"])
    array([[1., 1., 0.],
           [1., 1., 0.],
           [0., 0., 1.]])
    """

    function: Callable[[Any, Any], Any]
    psd = None
    _halves: ClassVar[bool] = True  # a call costs more than the pairs on both sides of a diagonal

    def _validate(self) -> None:
        if not callable(self.function):
            raise TypeError(
                coded(
                    f"Function(f): f must be a function of two collections of samples, got {self.function!r}.", "M205"
                )
            )

    def _block(self, A: Items, B: Items) -> Any:
        if hasattr(A, "__formula__"):
            raise TypeError("a function of samples is called with samples, not with symbols")
        values = self.function(A, B)
        values = (
            values.toarray() if sparse.issparse(values) else values if arrays.is_tensor(values) else np.asarray(values)
        )
        if tuple(values.shape) != (size(A), size(B)):
            name = getattr(self.function, "__name__", type(self.function).__name__)
            raise DataError(
                f"{name}(X, Y) was given {size(A)} and {size(B)} samples and returned an array of shape"
                f" {tuple(values.shape)}; a kernel function returns the matrix of all pairs. For one that takes two"
                " single samples give lambda X, Y: [[f(x, y) for y in Y] for x in X].",
                "M216",
            )
        return values

    def _diag(self, A: Items) -> Any:
        if hasattr(A, "__formula__"):
            raise TypeError("a function of samples is called with samples, not with symbols")
        parts = [take(A, some) for some in chunks(size(A), _TOGETHER)]
        return np.concatenate([np.zeros(0), *(np.diagonal(arrays.to_numpy(self._block(part, part))) for part in parts)])


def _ids(A: Items) -> Any:
    if hasattr(A[0], "__formula__"):
        raise TypeError("rows of a matrix are looked up by number, not by symbol")
    return A[0]
