"""The contracts, as functions: run them on your own kernels and matrices.

``check_kernel`` and ``check_gram`` measure and report; ``assert_kernel_contract`` is what every kernel of Mercer is
tested with, and ``assert_reads_back`` the part of it that needs no data.
"""

from __future__ import annotations

import pickle
import sys
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone

from mercer import arrays
from mercer.annotations import Samples
from mercer.arrays import Array
from mercer.compute import Compute
from mercer.data import size, take
from mercer.gram import Gram, KernelGram
from mercer.gram.validity import asymmetry, beyond_schwarz, extreme_eigenvalues
from mercer.kernels.base import Kernel
from mercer.kernels.notation import NotationError, names_of, parse
from mercer.native.linalg import eigenvalues
from mercer.troubles import coded


@dataclass(frozen=True)
class Validity:
    """What ``check_kernel`` and ``check_gram`` measured, and a verdict in words.

    ``bool(report)`` is True if the matrix is that of a kernel, up to rounding; ``str(report)`` is the verdict.

    Attributes
    ----------
    finite, symmetric, cauchy_schwarz : bool
        Whether all values are finite; k(x, z) = k(z, x); |k(x, z)|² ≤ k(x, x)k(z, z). A matrix that is not finite, or
        not symmetric, is not examined further; the rest is then False.
    smallest_eigenvalue : float
        Relative to the largest; NaN if it was not measured.
    largest_eigenvalue : float
        NaN if it was not measured.
    verdict : str
        The same in words, with the place where something is wrong.
    tolerance : float
        What counts as rounding, relative to the largest value: 1e-8, and more where the matrix is of fewer than 64
        bits.
    without_derivative : tuple of str
        Parameters that ``gradient`` and ``tune`` do not see though they are said to be continuous.
    not_tuned : tuple of str
        The other numbers among the parameters, which are said to have no derivative: ``tune`` leaves them.

    Examples
    --------
    >>> import mercer as mc
    >>> report = mc.check_gram([[1.0, 2.0], [2.0, 1.0]])
    >>> bool(report), report.symmetric, report.cauchy_schwarz
    (False, True, False)
    >>> print(report.verdict)
    The matrix breaks |k(x, z)|² ≤ k(x, x)k(z, z): |2| > 1 for the pair (0, 1). It is not a kernel.
    """

    finite: bool
    symmetric: bool
    smallest_eigenvalue: float
    largest_eigenvalue: float
    cauchy_schwarz: bool
    verdict: str
    tolerance: float = 1e-8
    without_derivative: tuple[str, ...] = ()
    not_tuned: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return self.finite and self.symmetric and self.cauchy_schwarz and self.smallest_eigenvalue >= -self.tolerance

    def __str__(self) -> str:
        return self.verdict


def _tolerance(dtype: np.dtype[Any]) -> float:
    """What rounding makes of 0 in a matrix of this type: that of float32 is 1e-5."""
    return 1e-8 if dtype.kind != "f" else max(1e-8, 84 * float(np.finfo(dtype).eps))


def check_kernel(kernel: Kernel, X: Samples) -> Validity:
    """Whether k behaves as a kernel on X: finite, symmetric, positive semi-definite, |k(x, z)|² ≤ k(x, x)k(z, z).

    For a kernel of your own, on data as you will use. Positive semi-definite on X proves nothing for other data;
    indefinite on X refutes the kernel. The verdict also names parameters without a derivative, which ``tune`` would
    leave as they are.

    Parameters
    ----------
    kernel : Kernel
        Bound to X where it takes something from data.
    X : collection of samples
        What the kernel's domain takes. All n² values are computed, both (x, z) and (z, x), and eigenvalues in n³
        steps: some hundred samples are enough.

    Returns
    -------
    Validity
        True in a condition if nothing is wrong; ``verdict`` says what was measured.

    See Also
    --------
    check_gram : The same for a matrix.
    check_mercer : Mercer's condition on an interval.
    mercer.testing.assert_kernel_contract : All that a kernel of Mercer promises.

    Examples
    --------
    >>> import numpy as np
    >>> import mercer as mc
    >>> X = np.linspace(-2, 2, 20)[:, None]
    >>> bool(mc.check_kernel(mc.Gaussian(1.0), X))
    True
    >>> report = mc.check_kernel(mc.Sigmoid(offset=-1.0), X)
    >>> bool(report)
    False
    >>> print(report.verdict)
    Sigmoid(offset=-1.0) gives k(x9, x9) = -0.756901 < 0: an inner product of a thing with itself. It is not a kernel.
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
    fixed = kernel._not_tuned()
    if fixed:
        said += (
            f" tune leaves {', '.join(fixed)} as {'they are' if len(fixed) > 1 else 'it is'}, without a derivative:"
            " search over values with KernelSearchCV."
        )
    return replace(found, verdict=found.verdict + said, without_derivative=tuple(missing), not_tuned=tuple(fixed))


def check_gram(K: Any) -> Validity:
    """Whether a matrix can be the Gram matrix of a kernel: finite, symmetric, positive semi-definite.

    Parameters
    ----------
    K : array, sparse matrix or Gram of shape (n, n)
        Of real numbers. Eigenvalues cost n³.

    Returns
    -------
    Validity
        True in a condition if nothing is wrong; ``verdict`` says what was measured, and where.

    Raises
    ------
    ValueError
        If K is not square, or not of real numbers.

    See Also
    --------
    check_kernel : The same for a kernel on data.
    Precomputed : A kernel from a matrix; ``Precomputed(K).repaired("clip")`` from an indefinite one.

    Examples
    --------
    >>> import numpy as np
    >>> import mercer as mc
    >>> bool(mc.check_gram(np.eye(3)))
    True
    >>> similarity = np.array([[1.0, 0.9, 0.0], [0.9, 1.0, 0.9], [0.0, 0.9, 1.0]])
    >>> report = mc.check_gram(similarity)
    >>> bool(report), report.cauchy_schwarz, round(report.smallest_eigenvalue, 3)
    (False, True, -0.12)
    """
    K = arrays.to_numpy(K.dense() if hasattr(K, "dense") else K.toarray() if sparse.issparse(K) else K)
    if K.ndim != 2 or K.shape[0] != K.shape[1]:
        raise ValueError(coded(f"A Gram matrix is square, got shape {K.shape}.", "M213"))
    if K.dtype.kind not in "fiub":
        raise ValueError(coded(f"A Gram matrix is of real numbers, got {K.dtype}.", "M102"))
    return _examine(K, "The matrix")


def _examine(K: Array, name: str) -> Validity:
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

    Parameters
    ----------
    kernel : Kernel
        A kernel on vectors, of one column here.
    interval : tuple of two floats
        (a, b), a < b.
    nodes : int, default=64
        Points of the quadrature: as many eigenvalues are returned, of which the largest are accurate.

    Returns
    -------
    ndarray of shape (nodes,)
        The eigenvalues, largest first, of the integral operator: negative ones, beyond rounding, refute the kernel.

    See Also
    --------
    check_kernel : On data.

    References
    ----------
    Mercer, J. (1909). Functions of positive and negative type. Philosophical Transactions of the Royal Society A 209.

    Examples
    --------
    The eigenvalues of min(x, z) on [0, 1] are 1/((i − ½)²π²):

    >>> import numpy as np
    >>> import mercer as mc
    >>> mc.check_mercer(mc.Min(), (0.0, 1.0))[:3].round(3)
    array([0.405, 0.045, 0.016])
    >>> (1 / ((np.arange(1, 4) - 0.5) * np.pi) ** 2).round(3)
    array([0.405, 0.045, 0.016])
    """
    a, b = interval
    if not a < b:
        raise ValueError(coded(f"interval=({a}, {b}): the left end must be smaller than the right.", "M205"))
    x, w = np.polynomial.legendre.leggauss(nodes)
    points = ((b - a) * x + (a + b)) / 2
    root = np.sqrt(w * (b - a) / 2)
    K = arrays.to_numpy(kernel(points[:, None]))
    return eigenvalues(root[:, None] * K * root)[::-1]


def assert_kernel_contract(kernel: Kernel, X: Samples, *, rtol: float = 1e-10) -> None:
    """Raise AssertionError unless the kernel keeps what every kernel of Mercer promises on the samples X.

    Symmetry; positive semi-definiteness where promised; diag = the diagonal; any block equal to its part of the whole;
    products, rows and views equal to the dense matrix; features that reproduce it; a derivative for each continuous
    parameter; equal after clone, pickle and parse, before it is bound to X and after. Every kernel of Mercer is tested
    with it; call it in the tests of your own.

    Parameters
    ----------
    kernel : Kernel
        The kernel to examine, bound or not.
    X : collection of samples
        Some ten to a hundred, as varied as the kernel allows: empty sequences, copies, missing labels.
    rtol : float, default=1e-10
        What two ways to the same value may differ by, as a share of the largest value of the matrix.

    Raises
    ------
    AssertionError
        With the kernel, what was compared and by how much it differs.

    See Also
    --------
    check_kernel : Measures and reports, and does not raise.

    Examples
    --------
    >>> import numpy as np
    >>> import mercer as mc
    >>> from mercer.testing import assert_kernel_contract
    >>> X = np.random.default_rng(0).standard_normal((12, 2))
    >>> assert_kernel_contract(mc.Gaussian(0.5) + mc.Linear(), X)
    """
    assert_reads_back(kernel)
    kernel = kernel.bind(X)
    assert_reads_back(kernel)
    K = arrays.to_numpy(kernel(X)).astype(np.float64)
    n = len(K)
    scale = max(float(np.abs(K).max()), 1e-300)

    def close(actual: object, expected: Array, what: str) -> None:
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
    ``mercer.kernels.notation.names_of``. Where two different things have the same description, the text does not say
    which is which, and nothing is compared.

    Parameters
    ----------
    kernel : Kernel
        The kernel to write and read back.

    Examples
    --------
    >>> import mercer as mc
    >>> from mercer.testing import assert_reads_back
    >>> k = 2 * mc.Gaussian(0.5) + mc.Spectrum(3).normalized()
    >>> print(k)
    2·Gaussian(γ=0.5) + Spectrum(k=3).normalized()
    >>> assert_reads_back(k)
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


def _assert_gram(gram: Gram, K: Array, close: Callable[[object, Array, str], None]) -> None:
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
