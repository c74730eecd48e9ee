from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone

import mercer as mc
from mercer.kernels.compose.pointwise import Scaled
from mercer.kernels.compose.terms import Product, Sum
from tests.cases import real

X = real(17)

ATOMS = st.sampled_from(
    [
        mc.Linear(),
        mc.Gaussian(0.3),
        mc.Laplacian(0.5),
        mc.Polynomial(2, 0.5),
        mc.Constant(0.7),
        mc.Matern(1.2, 2.5),
        mc.ArcCosine(1),
        mc.AllSubsets(),
    ]
)


def _extend(kernels: st.SearchStrategy[mc.Kernel]) -> st.SearchStrategy[mc.Kernel]:
    return st.one_of(
        st.tuples(kernels, kernels).map(lambda p: p[0] + p[1]),
        st.tuples(kernels, kernels).map(lambda p: p[0] * p[1]),
        st.tuples(st.sampled_from([0, 0.5, 2]), kernels).map(lambda p: p[0] * p[1]),
        kernels.map(lambda k: k**2),
        kernels.map(lambda k: k.normalized()),
        kernels.map(lambda k: mc.exp(0.1 * k.normalized())),
    )


KERNELS = st.recursive(ATOMS, _extend, max_leaves=4)


def close(a: Any, b: Any) -> None:
    np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-9 * max(1e-300, float(np.abs(b).max())))


@pytest.mark.thorough
@pytest.mark.filterwarnings("ignore::mercer.kernels.compose.feature_space.ZeroNormWarning")
@given(a=KERNELS, b=KERNELS, c=KERNELS)
def test_the_algebra_is_that_of_the_matrices(a: mc.Kernel, b: mc.Kernel, c: mc.Kernel) -> None:
    A, B, C = a(X), b(X), c(X)
    close((a + b)(X), A + B)
    close((a * b)(X), A * B)
    close(((a + b) + c)(X), (a + (b + c))(X))
    close((a * (b + c))(X), (a * b + a * c)(X))
    close((3 * a + b / 4)(X), 3 * A + B / 4)
    close((a**3)(X), A**3)
    assert C.shape == (17, 17)


@pytest.mark.filterwarnings("ignore::mercer.kernels.compose.feature_space.ZeroNormWarning")
@given(k=KERNELS)
def test_a_proof_of_psd_is_kept_and_true(k: mc.Kernel) -> None:
    assert k.psd is True
    values = np.linalg.eigvalsh(k(X))
    assert values[0] >= -1e-9 * max(values[-1], 1e-300)


@pytest.mark.thorough
@pytest.mark.filterwarnings("ignore::mercer.kernels.compose.feature_space.ZeroNormWarning")
@given(k=KERNELS, seed=st.integers(0, 10**6))
def test_order_of_the_rows_does_not_matter(k: mc.Kernel, seed: int) -> None:
    order = np.random.default_rng(seed).permutation(17)
    close(k(X[order]), k(X)[np.ix_(order, order)])


@pytest.mark.thorough
@pytest.mark.filterwarnings("ignore::mercer.kernels.compose.feature_space.ZeroNormWarning")
@given(k=KERNELS, cut=st.integers(1, 16))
def test_chunks_do_not_matter(k: mc.Kernel, cut: int) -> None:
    close(np.vstack([k(X[:cut], X), k(X[cut:], X)]), k(X))


@given(k=KERNELS)
def test_kernels_are_values(k: mc.Kernel) -> None:
    assert clone(k) == k
    assert hash(clone(k)) == hash(k)
    assert mc.parse(str(k)) == k
    assert mc.parse(repr(k)) == k
    assert k != k + mc.Linear()


def test_sums_and_products_are_flat() -> None:
    a, b, c = mc.Linear(), mc.Gaussian(1.0), mc.Laplacian(1.0)
    assert (a + b) + c == a + (b + c) == Sum((a, b, c))
    assert (a * b) * c == a * (b * c) == Product((a, b, c))
    assert 2 * (3 * a) == Scaled(6, a)
    assert (2 * a) * (3.0 * b) == Scaled(6.0, Product((a, b)))
    assert sum([a, b, c]) == Sum((a, b, c))


def test_explicit_survives() -> None:
    linear, poly, constant = mc.Linear(), mc.Polynomial(2), mc.Constant(2.0)
    assert (linear + poly).explicit
    assert (linear * poly).explicit
    assert (2 * linear).normalized().explicit
    assert (linear**3).explicit
    assert (linear + 1.0).features(X).shape == (17, 5)
    assert (linear * linear * constant).features(X).shape == (17, 16)
    assert mc.polynomial(linear, [1, 1, 1]).features(X).shape == (17, 1 + 4 + 16)
    assert not (linear + mc.Gaussian(1.0)).explicit
    assert not mc.exp(linear).explicit


@pytest.mark.filterwarnings("ignore::mercer.kernels.compose.feature_space.ZeroNormWarning")
def test_sparse_features_stay_sparse() -> None:
    S = sparse.csr_array(np.where(X > 0.5, X, 0))
    for k in (
        mc.Linear() + mc.Hellinger(),
        mc.Linear() * mc.Linear(),
        (2 * mc.Linear()).normalized(),
        mc.polynomial(mc.Linear(), [1, 0, 2]),
        mc.Linear() + 1.0,
    ):
        phi = k.features(S)
        assert sparse.issparse(phi)
        close((phi @ phi.T).toarray(), k(S.toarray()))


def test_unknown_stays_unknown() -> None:
    sigmoid = mc.Sigmoid()
    assert sigmoid.psd is False
    for k in (
        sigmoid + mc.Linear(),
        sigmoid * mc.Linear(),
        sigmoid**2,
        mc.exp(sigmoid),
        sigmoid.centered(),
        sigmoid.map(lambda x: x),
    ):
        assert k.psd is None
    assert (2 * sigmoid).psd is False
    assert sigmoid.normalized().psd is False
    assert sigmoid.repaired().psd is True
    assert mc.Precomputed(np.eye(3)).psd is None


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: -2 * mc.Linear(), ValueError, "scale must be at least 0: with a negative one"),
        (lambda: mc.Linear() + (-1.0), ValueError, "c must be a number of at least 0"),
        (lambda: mc.polynomial(mc.Linear(), [1.0, -0.5]), ValueError, "coefficient 1 is -0.5"),
        (lambda: mc.polynomial(mc.Linear(), []), ValueError, "needs a list"),
        (lambda: mc.Linear() - mc.Gaussian(1.0), TypeError, "difference of two kernels"),
        (lambda: -mc.Linear(), TypeError, "−k is not a kernel"),
        (lambda: mc.Linear() ** 0, ValueError, "exponent must be a whole number of at least 1"),
        (lambda: mc.Linear() ** 0.5, ValueError, "whole number"),
        (lambda: mc.Linear() / 0, ValueError, "positive number"),
        (lambda: mc.Linear() * "x", TypeError, "Kernels combine with kernels and numbers"),
        (lambda: mc.Linear() + None, TypeError, "Kernels combine with kernels and numbers"),
        (lambda: Sum(()), ValueError, "at least one kernel"),
        (lambda: Sum((mc.Linear(), 3)), TypeError, "made of kernels"),
    ],
)
def test_errors_say_why(make: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        make()


def test_geometric_outside_its_range_is_reported() -> None:
    with pytest.raises(FloatingPointError, match=r"geometric\(Linear\(\)\) gives inf for the pair"):
        mc.geometric(mc.Linear())(np.array([[2.0], [0.1]]))


def test_parameters_by_name() -> None:
    k = mc.Gaussian(0.1) + mc.Linear() + 2 * mc.Gaussian(0.2)
    params = k.get_params()
    assert params["gaussian__gamma"] == 0.1
    assert params["gaussian_2__kernel__gamma"] == 0.2
    assert params["gaussian_2__scale"] == 2
    k.set_params(gaussian__gamma=5.0, gaussian_2__kernel__gamma=6.0, linear=mc.Laplacian(1.0))
    assert k == mc.Gaussian(5.0) + mc.Laplacian(1.0) + 2 * mc.Gaussian(6.0)
    with pytest.raises(ValueError, match="has no parameter 'sigma'"):
        k.set_params(sigma=1)
    with pytest.raises(ValueError, match="has no parameter"):
        k.set_params(cauchy__gamma=1)


def test_different_classes_are_different_values() -> None:
    assert mc.Gaussian(1.0) != mc.Laplacian(1.0)
    assert mc.Gaussian(1.0) != "Gaussian"
    assert (
        len({mc.Gaussian(1.0), mc.Gaussian(1.0), mc.Gaussian(2.0), mc.Bilinear(np.eye(2)), mc.Bilinear(np.eye(2))}) == 3
    )


def test_terms_go_by_what_they_are() -> None:
    """By the name that the user wrote, not by that of a kernel inside; what is written around a kernel does not hide
    it.
    """
    refined = (
        mc.WeisfeilerLehman(3) + mc.WLOptimalAssignment(2) + mc.WeisfeilerLehman(1, mc.ShortestPath()).normalized()
    )
    assert [name for name, _ in refined._children()] == [
        "weisfeilerlehman",
        "wloptimalassignment",
        "weisfeilerlehman_2",
    ]
    params = refined.get_params()
    assert params["weisfeilerlehman__depth"] == 3
    assert params["weisfeilerlehman__base"] == mc.VertexHistogram()
    assert refined.set_params(weisfeilerlehman__depth=5, weisfeilerlehman_2__kernel__depth=4).terms[
        0
    ] == mc.WeisfeilerLehman(5)
    shares = mc.Tanimoto(mc.PathBag(7)) + 2 * mc.MinMax(mc.PathBag(3)) + mc.Convolution(None, mc.Spectrum(1))
    assert [name for name, _ in shares._children()] == ["tanimoto", "minmax", "convolution"]
    around = (
        2 * mc.Gaussian(1.0)
        + mc.exp(mc.Linear()).normalized()
        + mc.Laplacian(1.0).on([0])
        + mc.Gaussian(2.0).centered()
    )
    assert [name for name, _ in around._children()] == ["gaussian", "linear", "laplacian", "gaussian_2"]
    X = np.random.default_rng(0).random((5, 2))
    assert [name for name, _ in around.bind(X)._children()] == ["gaussian", "linear", "laplacian", "gaussian_2"]
