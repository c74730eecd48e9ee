"""The contracts, as functions: run them on your own kernels and matrices.

``check_kernel`` and ``check_gram`` measure and report; ``assert_kernel_contract`` is what every kernel of Mercer is
tested with, and ``assert_reads_back`` the part of it that needs no data.
"""

from __future__ import annotations

import pickle
import sys
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone

from mercer import arrays
from mercer.compute import Compute
from mercer.data import size, take
from mercer.gram import Gram, KernelGram
from mercer.gram.validity import asymmetry, beyond_schwarz, extreme_eigenvalues
from mercer.kernels.base import Kernel
from mercer.kernels.notation import NotationError, names_of, parse
from mercer.native.linalg import eigenvalues


@dataclass(frozen=True)
class Validity:
    """What was measured, and a verdict in words. True if the matrix is that of a kernel, up to rounding.

    Attributes
    ----------
    finite, symmetric, cauchy_schwarz : bool
        Whether all values are finite; k(x, z) = k(z, x); |k(x, z)|² ≤ k(x, x)k(z, z).
    smallest_eigenvalue : float
        Relative to the largest; NaN if it was not measured.
    largest_eigenvalue : float
    verdict : str
        The same in words, with the place where something is wrong.
    tolerance : float
        What counts as rounding, relative to the largest value: 1e-8, and more where the matrix is of fewer than 64
        bits.
    """

    finite: bool
    symmetric: bool
    smallest_eigenvalue: float
    largest_eigenvalue: float
    cauchy_schwarz: bool
    verdict: str
    tolerance: float = 1e-8
    # parameters that ``gradient`` and ``tune`` do not see though they are said to be continuous
    without_derivative: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return self.finite and self.symmetric and self.cauchy_schwarz and self.smallest_eigenvalue >= -self.tolerance

    def __str__(self) -> str:
        return self.verdict


def _tolerance(dtype: Any) -> float:
    """What rounding makes of 0 in a matrix of this type: that of float32 is 1e-5."""
    return 1e-8 if dtype.kind != "f" else max(1e-8, 84 * float(np.finfo(dtype).eps))


def check_kernel(kernel: Kernel, X: Any) -> Validity:
    """Whether k behaves as a kernel on X: finite, symmetric, positive semi-definite, |k(x, z)|² ≤ k(x, x)k(z, z).

    The verdict also names parameters without a derivative, which ``tune`` would leave as they are.
    """
    kernel = kernel.bind(X)
    try:
        A = kernel._prepare(kernel.domain.check(X))
        K = KernelGram.of(kernel, A, A, Compute(), mirror=False).dense()
    except FloatingPointError as error:
        return Validity(False, False, float("nan"), float("nan"), False, str(error))
    found = _examine(arrays.to_numpy(K), str(kernel))
    missing, why = kernel.without_derivative(X)
    said = f" It has no derivative with respect to {', '.join(missing)}: {why}." if missing else ""
    return replace(found, verdict=found.verdict + said, without_derivative=tuple(missing))


def check_gram(K: Any) -> Validity:
    """Whether a matrix can be the Gram matrix of a kernel."""
    K = arrays.to_numpy(K.dense() if hasattr(K, "dense") else K.toarray() if sparse.issparse(K) else K)
    if K.ndim != 2 or K.shape[0] != K.shape[1]:
        raise ValueError(f"A Gram matrix is square, got shape {K.shape}.")
    if K.dtype.kind not in "fiub":
        raise ValueError(f"A Gram matrix is of real numbers, got {K.dtype}.")
    return _examine(K, "The matrix")


def _examine(K: Any, name: str) -> Validity:
    nan, tolerance = float("nan"), _tolerance(K.dtype)
    K = K.astype(np.float64, copy=False)
    if not arrays.all_finite(K):
        i, j = divmod(int(np.argmax(~np.isfinite(K))), K.shape[1])
        return Validity(
            False, False, nan, nan, False, f"{name}: the value for the pair ({i}, {j}) is {K[i, j]}.", tolerance
        )
    pair = asymmetry(K, tolerance)
    if pair is not None:
        i, j = pair
        verdict = (
            f"{name} is not symmetric: k(x{i}, x{j}) = {K[i, j]:.6g} but k(x{j}, x{i}) = {K[j, i]:.6g}. Average the"
            " two, or mend the formula."
        )
        return Validity(True, False, nan, nan, False, verdict, tolerance)
    diagonal = np.diagonal(K)
    rounding = tolerance * max(float(K.max(initial=0.0)), -float(K.min(initial=0.0)))
    if (diagonal < -rounding).any():
        i = int(np.argmin(diagonal))
        verdict = (
            f"{name} gives k(x{i}, x{i}) = {diagonal[i]:.6g} < 0: an inner product of a thing with itself. It is not a"
            " kernel."
        )
        return Validity(True, True, nan, nan, False, verdict, tolerance)
    root = np.sqrt(np.maximum(diagonal, 0.0))
    broken = beyond_schwarz(K, root, tolerance)
    schwarz = broken is None
    smallest, largest = extreme_eigenvalues(K)
    relative = smallest / largest if largest > 0 else 0.0 if smallest >= 0 else -np.inf
    if broken is not None:
        i, j = broken
        verdict = (
            f"{name} breaks |k(x, z)|² ≤ k(x, x)k(z, z): |{K[i, j]:.6g}| > {root[i] * root[j]:.6g} for the pair ({i},"
            f" {j}). It is not a kernel."
        )
    elif relative < -tolerance:
        verdict = (
            f"{name} is indefinite on these {len(K)} objects: its smallest eigenvalue is {smallest:.3g}, {relative:.2g}"
            " of the largest. It is not a kernel; .repaired('clip') makes one of it."
        )
    else:
        verdict = (
            f"{name} is a kernel on these {len(K)} objects: symmetric, finite, positive semi-definite "
            f"(smallest eigenvalue {smallest:.3g}, {relative:.2g} of the largest)."
        )
    return Validity(True, True, float(relative), float(largest), schwarz, verdict, tolerance)


def check_mercer(kernel: Kernel, interval: tuple[float, float], nodes: int = 64) -> Any:
    """Mercer's condition ∬ g(x) k(x, z) g(z) dx dz ≥ 0 on an interval, by Gauss–Legendre quadrature.

    Returns the eigenvalues, largest first, of the integral operator: negative ones, beyond rounding, refute the kernel.
    """
    a, b = interval
    if not a < b:
        raise ValueError(f"interval=({a}, {b}): the left end must be smaller than the right.")
    x, w = np.polynomial.legendre.leggauss(nodes)
    points = ((b - a) * x + (a + b)) / 2
    root = np.sqrt(w * (b - a) / 2)
    K = arrays.to_numpy(kernel(points[:, None]))
    return eigenvalues(root[:, None] * K * root)[::-1]


def assert_kernel_contract(kernel: Kernel, X: Any, *, rtol: float = 1e-10) -> None:
    """Raise AssertionError unless the kernel keeps what every kernel of Mercer promises on the samples X.

    Symmetry; positive semi-definiteness where promised; diag = the diagonal; any block equal to its part of the whole;
    products, rows and views equal to the dense matrix; features that reproduce it; a derivative for each continuous
    parameter; equal after clone, pickle and parse, before it is bound to X and after.
    """
    assert_reads_back(kernel)
    kernel = kernel.bind(X)
    assert_reads_back(kernel)
    K = arrays.to_numpy(kernel(X)).astype(np.float64)
    n = len(K)
    scale = max(float(np.abs(K).max()), 1e-300)

    def close(actual: Any, expected: Any, what: str) -> None:
        gap = float(np.max(np.abs(arrays.to_numpy(actual) - expected), initial=0.0))
        assert gap <= rtol * scale, f"{kernel}: {what} differs by {gap / scale:.2g} of the largest value"

    items = kernel.domain.check(X)
    first, second = np.arange(n)[: n // 2], np.arange(n)[n // 3 :]
    close(K.T, K, "the transposed matrix")
    close(kernel.diag(X), np.diagonal(K), "diag")
    close(kernel(take(items, first), take(items, second)), K[np.ix_(first, second)], "a block")
    close(kernel.gram(X, take(items, second)).dense(), K[:, second], "the matrix between two sets")
    _assert_gram(kernel.gram(X), K, close)
    _assert_gram(kernel.gram(take(items, first), take(items, second)), K[np.ix_(first, second)], close)
    if kernel.psd:
        smallest, largest = extreme_eigenvalues(K)
        assert smallest >= -1e-9 * max(largest, 1e-300), (
            f"{kernel} claims to be positive semi-definite, but has the eigenvalue {smallest:.3g}"
        )
    if kernel.explicit:
        phi: Any = kernel.features(X)
        product = (phi @ phi.T).toarray() if sparse.issparse(phi) else arrays.to_numpy(phi @ phi.T)
        close(product, K, "the inner product of features")
    if not any(part._bound_to_values for part in kernel._parts()):
        missing, why = kernel.without_derivative(X)
        assert not missing, f"{kernel} has no derivative with respect to {', '.join(missing)}: {why}"
    copies = [clone(kernel), deepcopy(kernel)]
    # not defined at a prompt
    if getattr(sys.modules.get(type(kernel).__module__), type(kernel).__qualname__, None) is type(kernel):
        copies.append(pickle.loads(pickle.dumps(kernel)))
    for copy in copies:
        assert copy == kernel, f"{kernel} is not equal to its copy"
        assert hash(copy) == hash(kernel), f"{kernel} does not hash like its copy"


def assert_reads_back(kernel: Kernel) -> None:
    """Raise AssertionError unless ``parse`` makes the same kernel of str(kernel), and of repr(kernel).

    What a text cannot hold (functions, long arrays, fitted models) is given to ``parse`` beside it, by
    ``mercer.kernels.notation.names_of``.
    """
    try:
        names = names_of(kernel)
    except NotationError:  # two different things of the same description: the text does not claim to say which is which
        return
    for form in (str, repr):
        text = form(kernel)
        try:
            again = parse(text, names)
        except NotationError as error:
            raise AssertionError(f"{form.__name__}(kernel) is {text[:200]!r}, which does not parse: {error}") from error
        assert again == kernel, f"{form.__name__}(kernel) is {text[:200]!r}, which parses to another kernel"


def _assert_gram(gram: Gram, K: Any, close: Any) -> None:
    n, m = K.shape
    assert gram.shape == K.shape
    assert size(gram.dense()) == n
    V = np.random.default_rng(0).standard_normal((m, 3))
    scale = float(np.abs(V).sum(axis=0).max())
    rows, cols = np.arange(n)[::-2], np.arange(m)[1::3]
    close(gram.rows(rows), K[rows], "rows")
    close(gram.sub(rows, cols).dense(), K[np.ix_(rows, cols)], "sub")
    close(gram.T.dense(), K.T, "T")
    close((gram @ V) / scale, K @ V / scale, "a product")
    close((gram.T @ (gram @ V)) / scale / n, K.T @ (K @ V) / scale / n, "a product with the transposed")
    close(
        gram.normal(V) / scale / n / max(1.0, float(np.abs(K).max())),
        K.T @ (K @ V) / scale / n / max(1.0, float(np.abs(K).max())),
        "normal",
    )
