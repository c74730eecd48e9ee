from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import pytest

import mercer as mc
from mercer.data import Domain, Vectors
from mercer.formula import minimum
from mercer.kernels.base import Kernel, kernel
from mercer.kernels.families import Additive, Explicit, Radial
from mercer.kernels.parameters import positive
from mercer.testing import assert_kernel_contract
from tests.cases import EVERY, Case, real

X = real(30)


@pytest.mark.parametrize("case", [c for c in EVERY if c.kernel.psd], ids=str)
def test_kernels_pass(case: Case) -> None:
    items = case.data()
    report = mc.check_kernel(case.kernel, items)
    assert report, report.verdict
    assert f"is a kernel on these {len(items)} objects" in str(report)


def test_indefinite_is_described() -> None:
    report = mc.check_kernel(mc.Sigmoid(-0.5, 1.0), X[:, :1])
    assert not report
    i = int(np.argmax(np.tanh(X[:, 0] ** 2 - 0.5) < 0))
    assert f"gives k(x{i}, x{i}) = " in report.verdict
    assert report.verdict.endswith("< 0: an inner product of a thing with itself. It is not a kernel.")
    K = np.eye(3) - 0.6 * (np.ones((3, 3)) - np.eye(3))
    report = mc.check_gram(K)
    assert report.symmetric
    assert report.cauchy_schwarz
    assert report.smallest_eigenvalue == pytest.approx(-0.2 / 1.6)
    assert "indefinite on these 3 objects: its smallest eigenvalue is -0.2" in report.verdict
    assert "repaired('clip')" in report.verdict


@kernel
class Lopsided(Kernel):
    """⟨x, z⟩ + x_0: not symmetric."""

    domain: ClassVar[Domain] = Vectors()

    def _block(self, A: Any, B: Any) -> Any:
        return A @ B.T + A[:, :1]


@kernel
class Inverse(Radial):
    """1/‖x − z‖²: infinite at 0."""

    def _profile(self, d2: Any) -> Any:
        return 1.0 / d2


def test_asymmetric_and_infinite_are_described() -> None:
    report = mc.check_kernel(Lopsided(), X)
    assert not report
    assert "Lopsided() is not symmetric: k(x" in report.verdict
    report = mc.check_kernel(Inverse(), X)
    assert not report.finite
    assert "Inverse() gives inf for the pair (0, 0)" in report.verdict


def test_cauchy_schwarz_and_negative_norms() -> None:
    report = mc.check_gram(np.array([[1.0, 2.0], [2.0, 1.0]]))
    assert not report.cauchy_schwarz
    assert "|2| > 1 for the pair (0, 1)" in report.verdict
    assert "k(x1, x1) = -1 < 0" in mc.check_gram(np.diag([1.0, -1.0])).verdict
    assert "pair (0, 1) is nan" in mc.check_gram(np.array([[1.0, np.nan], [np.nan, 1.0]])).verdict
    with pytest.raises(ValueError, match="square"):
        mc.check_gram(np.zeros((2, 3)))


def test_the_sign_of_the_smallest_eigenvalue_on_random_matrices() -> None:
    rng = np.random.default_rng(0)
    for t in range(100):
        n = int(rng.integers(2, 40))
        A = rng.standard_normal((n, int(rng.integers(1, n + 1))))
        K = A @ A.T + 0.3 * np.eye(n) - (rng.random() < 0.5) * 0.6 * np.eye(n)
        smallest = np.linalg.eigvalsh(K)[0]
        assert bool(mc.check_gram(K)) == (smallest > 0), t


DTYPES = ["float64", "float32", "float16", "longdouble", "int64", "int8", "uint8", "bool"]


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_words_are_the_truth_for_every_type(dtype: str) -> None:
    """The verdict says "is a kernel on these" if and only if the report is True."""
    rng, seen = np.random.default_rng(0), set()
    for t in range(120):
        n = int(rng.integers(0, 12))
        A = rng.standard_normal((n, max(1, n // 2))) * (3 if t % 2 else 1)
        K = A @ A.T + [0.0, 1e-6, -1e-6, -3e-3, 0.3, -3.0][t % 6] * np.eye(n)
        K = {"bool": (K > 0.5), "uint8": np.abs(K)}.get(dtype, K)
        report = mc.check_gram(np.asarray(K).astype(dtype))
        assert bool(report) == ("is a kernel on these" in report.verdict), report
        seen.add(bool(report))
    assert seen == {True, False}


@pytest.mark.parametrize("dtype", DTYPES)
def test_rounding_of_any_type_does_not_refute_a_kernel(dtype: str) -> None:
    A = np.random.default_rng(0).integers(0, 2, (9, 3)).astype(float)
    A[:, 1:] = 0.0  # of rank 1, so that eigenvalues are rounded 0
    for K in (A @ A.T, np.zeros((3, 3)), np.ones((5, 5))):
        assert mc.check_gram(K.astype(dtype))
    X = real(40)
    K = (
        np.exp(-((X[:, None] - X) ** 2).sum(-1)).astype(dtype)
        if np.dtype(dtype).kind == "f"
        else np.eye(40, dtype=dtype)
    )
    assert mc.check_gram(K), mc.check_gram(K)


def test_rounding_on_the_diagonal_is_no_negative_norm() -> None:
    K = np.array([[0.0, 0.0], [0.0, 1.0]]) - np.array([[1e-17, 0.0], [0.0, 0.0]])
    assert mc.check_gram(K)
    assert not mc.check_gram(K - np.array([[1e-3, 0.0], [0.0, 0.0]]))
    with pytest.raises(ValueError, match="real numbers, got complex128"):
        mc.check_gram(np.eye(2) * 1j)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_kernels_in_either_precision_are_kernels_in_words_and_truth(dtype: Any) -> None:
    for k in (mc.Gaussian(0.1), mc.Linear(), mc.Sigmoid(-0.5, 1.0), mc.Polynomial(3)):
        report = mc.check_kernel(k, X.astype(dtype))
        assert bool(report) == ("is a kernel on these" in report.verdict) == (not isinstance(k, mc.Sigmoid)), report


@pytest.mark.slow
def test_large_matrices_by_lanczos() -> None:
    A = np.random.default_rng(0).standard_normal((1500, 1500)) / 40
    K = A @ A.T + 0.01 * np.eye(1500)
    assert mc.check_gram(K)
    report = mc.check_gram(K - 0.5 * np.eye(1500))
    assert not report
    exact = np.linalg.eigvalsh(K - 0.5 * np.eye(1500))
    assert report.smallest_eigenvalue == pytest.approx(exact[0] / exact[-1], rel=1e-3)


def test_a_noisy_matrix_is_refused() -> None:
    """How quickly, at 5000 objects, is in benchmarks/bench_checks.py."""
    K = 1 + 0.05 * np.random.default_rng(0).standard_normal((700, 700))
    with pytest.raises(ValueError, match="not symmetric"):
        mc.Precomputed(K)


def test_one_asymmetric_entry_is_found() -> None:
    K = np.eye(1300)
    K[1200, 100] = 1e-6
    with pytest.raises(ValueError, match=r"K\[100, 1200\] = 0 but K\[1200, 100\] = 1e-06"):
        mc.Precomputed(K)


def test_mercers_condition_by_quadrature() -> None:
    values = mc.check_mercer(mc.Min(), (0.0, 1.0))
    exact = 1 / ((np.arange(5) + 0.5) * np.pi) ** 2  # Brownian motion's eigenvalues
    np.testing.assert_allclose(values[:5], exact, rtol=1e-2)
    assert values[-1] > -1e-12
    assert mc.check_mercer(mc.Sigmoid(-1.0, 1.0), (-1.0, 1.0))[-1] < -0.1
    with pytest.raises(ValueError, match="left end"):
        mc.check_mercer(mc.Min(), (1.0, 0.0))


@kernel
class LyingDiag(Radial):
    """exp(−d²) with a wrong diagonal."""

    def _profile(self, d2: Any) -> Any:
        from mercer.formula import exp

        return exp(-d2)

    def _diag(self, A: Any) -> Any:
        return 2.0


@kernel
class LyingFeatures(Explicit):
    """Claims features that give another kernel."""

    domain: ClassVar[Domain] = Vectors()

    def _map(self, X: Any) -> Any:
        return X

    def _block(self, A: Any, B: Any) -> Any:
        from mercer.formula import dot

        return 2.0 * dot(A, B)

    def _diag(self, A: Any) -> Any:
        from mercer.formula import sqnorm

        return 2.0 * sqnorm(A)


@kernel
class LyingPsd(Radial):
    """−‖x − z‖², which is not positive semi-definite and says it is."""

    def _profile(self, d2: Any) -> Any:
        return -1.0 * d2


@pytest.mark.parametrize(
    ("liar", "complaint"),
    [(LyingFeatures(), "features"), (LyingPsd(), "positive semi-definite"), (Lopsided(), "block|transposed|two sets")],
)
def test_the_contract_catches_liars(liar: mc.Kernel, complaint: str) -> None:
    with pytest.raises(AssertionError, match=complaint):
        assert_kernel_contract(liar, X[:3] if isinstance(liar, LyingFeatures) else X)


def test_the_contract_catches_a_wrong_diagonal() -> None:
    with pytest.raises(AssertionError, match=r"block|rows|product|sets"):
        assert_kernel_contract(LyingDiag(), X)


@kernel
class WithNumpy(Radial):
    """A Gaussian whose author used NumPy's exp."""

    gamma: float = positive(1.0, symbol="γ")

    def _profile(self, d2: Any) -> Any:
        return np.exp(-self.gamma * d2)


@kernel
class InTheTerm(Additive):
    """A parameter where the recorder cannot follow it."""

    width: float = positive(1.0)

    def _term(self, x: Any, z: Any) -> Any:
        return minimum(self.width * x, self.width * z)


@pytest.mark.parametrize("k", [WithNumpy(0.3), 2 * WithNumpy(0.3) + mc.Linear(), InTheTerm(0.5)], ids=str)
def test_a_parameter_without_a_derivative_is_named(k: Any) -> None:
    X = np.random.default_rng(0).uniform(size=(20, 2))
    found = mc.check_kernel(k, X)
    assert found  # it is a kernel all the same
    assert len(found.without_derivative) == 1
    assert found.without_derivative[0].endswith(("gamma", "width"))
    assert f"no derivative with respect to {found.without_derivative[0]}" in str(found)
    with pytest.raises(AssertionError, match="no derivative with respect to"):
        assert_kernel_contract(k, X)
    if isinstance(k, InTheTerm):
        with pytest.raises(ValueError, match="in _profile"):
            mc.tune(mc.KernelRidge(kernel=k), X, X[:, 0], max_iter=3)
    else:
        with pytest.warns(UserWarning, match=f"tune leaves {found.without_derivative[0]} of .* as they are"):
            mc.tune(mc.KernelRidge(kernel=k), X, X[:, 0], max_iter=3)


def test_what_is_recorded_is_not_complained_of() -> None:
    X = np.random.default_rng(0).uniform(size=(20, 2))
    for k in (
        mc.Gaussian(0.3),
        2 * mc.Gaussian("median") + mc.Matern(1.0, 2.0),
        mc.Gaussian(0.1).centered(),
        mc.Laplacian(1.0).normalized(),
    ):
        assert mc.check_kernel(k, X).without_derivative == ()


@kernel
class WrongShape(Kernel):
    """One row too many."""

    def _block(self, A: Any, B: Any) -> Any:
        return np.ones((len(A) + 1, len(B)))


@kernel
class OneRow(Kernel):
    """What NumPy would broadcast without a word."""

    def _block(self, A: Any, B: Any) -> Any:
        return np.ones((1, len(B)))

    def _diag(self, A: Any) -> Any:
        return 1.0


@pytest.mark.parametrize("k", [WrongShape(), OneRow()], ids=str)
def test_a_block_of_the_wrong_shape_is_an_error_with_both_shapes(k: Any) -> None:
    with pytest.raises(
        ValueError, match=rf"{type(k).__name__}\._(block|diag) returned an array of shape .* must be of shape \("
    ):
        k([1, 2, 3], [4, 5])


def test_overflow_names_the_kernel_as_the_user_wrote_it() -> None:
    X = np.full((300, 2), 1e200)
    with (
        np.errstate(over="ignore"),
        pytest.raises(FloatingPointError, match=r"The kernel Linear\(\) gives inf") as caught,
    ):
        mc.Linear()(X)
    assert "_InnerProduct" not in str(caught.value)
    assert "class" not in str(caught.value)


@pytest.mark.parametrize("word", ["scale", "median"])
def test_a_bandwidth_that_the_data_do_not_give_is_explained(word: str) -> None:
    X = 1e200 * np.random.default_rng(0).standard_normal((20, 2))
    with (
        np.errstate(over="ignore", invalid="ignore"),
        pytest.raises(ValueError, match=f"gamma='{word}', .* scale the columns"),
    ):
        mc.Gaussian(word).bind(X)
