"""Principal components in the space of a kernel: against explicit eigenvectors, and the way back."""

from __future__ import annotations

import pickle
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn import decomposition as peers
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError

import mercer as mc
from tests import unsupervised_oracles as oracle
from tests.estimators.component_samples import NEW, G, cloud, counts, gaussian, two_families

SOLVERS = ["exact", "lanczos", "krylov"]


def _networks() -> list[Any]:
    nx = pytest.importorskip("networkx")
    every = [make(k) for k in range(4, 10) for make in (nx.cycle_graph, nx.path_graph, nx.star_graph)]
    for g in every:
        nx.set_node_attributes(g, {v: "ABC"[v % 3] for v in g}, "label")
    return every


def _coefficients(model: Any, n: int) -> Any:
    """dual_coef_ with one row for each component, as elsewhere in the library."""
    A = np.asarray(model.dual_coef_)
    assert A.shape[1] == n
    return A


@pytest.mark.parametrize("solver", ["auto", *SOLVERS])
def test_kernel_pca_is_its_definition(solver: str) -> None:
    X = cloud()
    K, K_new = gaussian(X, X), gaussian(NEW, X)
    values, vectors = oracle.kernel_pca(K, 4)
    model = mc.KernelPCA(4, G, solver=solver).fit(X)
    assert model.solver_ in SOLVERS
    assert solver in ("auto", model.solver_)
    np.testing.assert_allclose(model.eigenvalues_, values, rtol=1e-7)
    np.testing.assert_allclose(model.eigenvectors_, vectors, atol=1e-6)  # signs too
    np.testing.assert_allclose(model.explained_variance_, values / len(X), rtol=1e-7)
    np.testing.assert_allclose(model.explained_variance_ratio_, values / np.trace(oracle.centred(K)), rtol=1e-7)
    np.testing.assert_allclose(model.transform(X), vectors * np.sqrt(values), atol=1e-6)
    np.testing.assert_allclose(model.transform(NEW), oracle.projections(K, K_new, 4), atol=1e-6)
    np.testing.assert_allclose(model.fit_transform(X), vectors * np.sqrt(values), atol=1e-6)


def test_the_functions_have_norm_1() -> None:
    """⟨f_l, f_m⟩ = δ_lm, and what they give is the transform."""
    X = cloud()
    model = mc.KernelPCA(5, G).fit(X)
    A = _coefficients(model, len(X))
    np.testing.assert_allclose(A @ gaussian(X, X) @ A.T, np.eye(5), atol=1e-8)
    np.testing.assert_allclose(np.ravel(model.function_.norm()), np.ones(5), atol=1e-8)
    np.testing.assert_allclose(gaussian(NEW, X) @ A.T + model.intercept_, model.transform(NEW), atol=1e-9)
    np.testing.assert_allclose(model.function_(NEW), model.transform(NEW), atol=1e-10)
    np.testing.assert_allclose(model.transform(X).mean(axis=0), np.zeros(5), atol=1e-9)


@pytest.mark.parametrize("k", [G, mc.Gaussian(), mc.Polynomial(2), mc.Laplacian(0.2)], ids=str)
def test_solvers_agree(k: Any) -> None:
    """One space, whatever the solver and the seed; the signs come out alike."""
    X = cloud(120, 1)
    base = mc.KernelPCA(3, k, solver="exact").fit(X)
    for solver in ("lanczos", "krylov"):
        for seed in (0, 1, 2):
            other = mc.KernelPCA(3, k, solver=solver, random_state=seed).fit(X)
            assert oracle.sine(other.eigenvectors_, base.eigenvectors_) < 1e-6
            np.testing.assert_allclose(other.eigenvalues_, base.eigenvalues_, rtol=1e-7)
            scale = np.abs(base.transform(NEW)).max()
            np.testing.assert_allclose(other.transform(NEW), base.transform(NEW), atol=1e-5 * scale)


def test_shares_of_variance() -> None:
    X = cloud()
    every = mc.KernelPCA(None, mc.Polynomial(2)).fit(X)
    total = np.sum(every.explained_variance_ratio_)
    np.testing.assert_allclose(total, 1.0, atol=1e-9)
    assert every.eigenvectors_.shape == (60, 14)  # the features of degree 1 and 2 in four variables
    assert (np.diff(every.eigenvalues_) <= 0).all()
    some = mc.KernelPCA(3, mc.Polynomial(2)).fit(X)
    np.testing.assert_allclose(some.explained_variance_ratio_, every.explained_variance_ratio_[:3], rtol=1e-6)
    assert some.explained_variance_ratio_.sum() < 1


def test_signs_are_settled() -> None:
    for seed in range(4):
        U = mc.KernelPCA(4, G).fit(cloud(seed=seed)).eigenvectors_
        assert (U[np.abs(U).argmax(axis=0), np.arange(4)] > 0).all()
    one, two = (mc.KernelPCA(4, G).fit(cloud()).transform(NEW) for _ in range(2))
    np.testing.assert_array_equal(one, two)


@pytest.mark.thorough
@pytest.mark.parametrize("k", [G, mc.Polynomial(2), mc.Linear()], ids=str)
@pytest.mark.parametrize("solver", ["auto", *SOLVERS])
def test_kernel_pca_weights_are_repetitions(solver: str, k: Any) -> None:
    X, w = cloud(), counts()
    one, other = (
        mc.KernelPCA(3, k, solver=solver).fit(X, sample_weight=w),
        mc.KernelPCA(3, k, solver=solver).fit(np.repeat(X, w, axis=0)),
    )
    values, _ = oracle.kernel_pca(oracle.repeated(np.asarray(k(X)), w), 3)
    np.testing.assert_allclose(one.eigenvalues_, values, rtol=1e-7)
    np.testing.assert_allclose(other.eigenvalues_, values, rtol=1e-7)
    np.testing.assert_allclose(one.explained_variance_, values / w.sum(), rtol=1e-7)
    np.testing.assert_allclose(one.explained_variance_ratio_, other.explained_variance_ratio_, rtol=1e-7)
    scale = np.abs(other.transform(NEW)).max()
    np.testing.assert_allclose(
        oracle.up_to_sign(one.transform(NEW), other.transform(NEW)), other.transform(NEW), atol=1e-6 * scale
    )
    np.testing.assert_allclose(one.function_.norm(), np.ones(3), atol=1e-6)


def test_zero_weight_is_absence_also_for_the_width() -> None:
    X, w = cloud(), counts()
    X[w == 0] *= 50  # would change the variance that γ = "scale" takes
    one, other = mc.KernelPCA(3).fit(X, sample_weight=w), mc.KernelPCA(3).fit(X[w > 0], sample_weight=w[w > 0])
    np.testing.assert_allclose(
        oracle.up_to_sign(one.transform(NEW), other.transform(NEW)), other.transform(NEW), atol=1e-8
    )


@pytest.mark.parametrize("solver", ["auto", *SOLVERS])
def test_more_components_than_the_rank(solver: str) -> None:
    """Three directions are all there are: what is beyond is left out or zero, never noise divided by √0."""
    X = cloud()[:, :3]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # may be said, must not fail
        model = mc.KernelPCA(10, mc.Linear(), solver=solver).fit(X)
    Z, P = model.transform(NEW[:, :3]), peers.PCA(3).fit(X).transform(NEW[:, :3])
    np.testing.assert_allclose(oracle.up_to_sign(Z[:, :3], P), P, atol=1e-6)
    np.testing.assert_allclose(Z[:, 3:], 0, atol=1e-4)
    assert np.isfinite(Z).all()
    np.testing.assert_allclose(model.explained_variance_ratio_.sum(), 1.0, atol=1e-9)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("solver", ["auto", *SOLVERS])
def test_a_sample_without_variance(solver: str) -> None:
    with pytest.raises(ValueError, match="The kernel is the same for all 8 samples"):
        mc.KernelPCA(2, G, solver=solver).fit(np.ones((8, 3)))


def test_a_precomputed_matrix() -> None:
    X = cloud()
    K, K_new = gaussian(X, X), gaussian(NEW, X)
    ours, same = mc.KernelPCA(3, "precomputed").fit(K), mc.KernelPCA(3, G).fit(X)
    np.testing.assert_allclose(ours.eigenvalues_, same.eigenvalues_, rtol=1e-9)
    np.testing.assert_allclose(ours.transform(K_new), same.transform(NEW), atol=1e-8)
    w = counts()
    ours, same = mc.KernelPCA(3, "precomputed").fit(K, sample_weight=w), mc.KernelPCA(3, G).fit(X, sample_weight=w)
    np.testing.assert_allclose(ours.transform(K_new), same.transform(NEW), atol=1e-8)


def test_float32_is_kept() -> None:
    X = cloud().astype(np.float32)
    model = mc.KernelPCA(3, G).fit(X)
    assert model.transform(X).dtype == np.float32
    np.testing.assert_allclose(
        model.transform(X), mc.KernelPCA(3, G).fit(X.astype(float)).transform(X.astype(float)), atol=1e-3
    )


@pytest.mark.parametrize("m", [1, 2, 3, 4])
def test_the_linear_kernel_is_pca(m: int) -> None:
    """The mean as well: it is there again after the way back."""
    X = cloud()
    ours, theirs = mc.KernelPCA(m, mc.Linear()).fit(X), peers.PCA(m).fit(X)
    np.testing.assert_allclose(
        oracle.up_to_sign(ours.transform(NEW), theirs.transform(NEW)), theirs.transform(NEW), atol=1e-8
    )
    np.testing.assert_allclose(ours.eigenvalues_, theirs.singular_values_**2, rtol=1e-9)
    np.testing.assert_allclose(
        ours.inverse_transform(ours.transform(NEW)), theirs.inverse_transform(theirs.transform(NEW)), atol=1e-5
    )
    np.testing.assert_allclose(ours.inverse_transform(np.zeros((1, m)))[0], X.mean(axis=0), atol=1e-5)


@pytest.mark.parametrize("pre_image", ["auto", "fixed_point", "ridge", "nearest"])
def test_one_gamma_there_and_back(pre_image: str) -> None:
    """γ = "scale" is the number it stands for, in both directions (scikit-learn 26280)."""
    X = cloud()
    found, given = (
        mc.KernelPCA(4, k, pre_image=pre_image).fit(X) for k in (mc.Gaussian(), mc.Gaussian(1 / (4 * X.var())))
    )
    none = mc.KernelPCA(4, pre_image=pre_image).fit(X)
    Z = given.transform(NEW)
    for other in (found, none):
        np.testing.assert_allclose(other.transform(NEW), Z, atol=1e-8)
        np.testing.assert_allclose(other.inverse_transform(Z), given.inverse_transform(Z), atol=1e-6)


@pytest.mark.parametrize("pre_image", ["auto", "fixed_point", "ridge"])
def test_all_components_bring_the_sample_back(pre_image: str) -> None:
    """φ(x) is then in the span: x is a pre-image of it."""
    X = cloud(30)
    model = mc.KernelPCA(29, G, pre_image=pre_image).fit(X)
    back = model.inverse_transform(model.transform(X))
    assert back.shape == X.shape
    share = np.sum((back - X) ** 2) / np.sum((X - X.mean(axis=0)) ** 2)
    assert share < 0.02


def test_nearest_gives_rows_of_the_sample() -> None:
    X = cloud(30)
    model = mc.KernelPCA(29, G, pre_image="nearest").fit(X)
    np.testing.assert_array_equal(model.inverse_transform(model.transform(X)), X)
    back = model.inverse_transform(model.transform(NEW))
    assert {tuple(row) for row in back} <= {tuple(row) for row in X}


@pytest.mark.parametrize("m", [4, 6])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_noise_is_taken_off_better_than_by_pca(seed: int, m: int) -> None:
    """A closed curve that fills six dimensions, with noise in all of them."""
    rng = np.random.default_rng(seed)
    t = np.sort(rng.uniform(0, 2 * np.pi, 150))
    clean = np.column_stack([a * f(k * t) for k, a in ((1, 1.0), (2, 0.7), (3, 0.5)) for f in (np.cos, np.sin)])
    X = clean + 0.2 * rng.standard_normal(clean.shape)
    errors = {}
    for name, model in {"kernel": mc.KernelPCA(m, mc.Gaussian(0.5)), "plain": mc.PCA(m)}.items():
        errors[name] = np.mean((model.fit(X).inverse_transform(model.transform(X)) - clean) ** 2)
    assert errors["kernel"] < 0.75 * errors["plain"]
    assert errors["kernel"] < 0.2**2  # and than doing nothing


def _same_rows(model: Any, objects: Any, again: Any) -> None:
    """The objects that came back are those that went in, as the kernel sees them."""
    np.testing.assert_allclose(
        model.transform(again), model.transform(objects), atol=1e-8 * np.abs(model.transform(objects)).max()
    )


def test_strings() -> None:
    S, k = two_families(), mc.Spectrum(3)
    grams = [{s[i : i + 3]: sum(s[j : j + 3] == s[i : i + 3] for j in range(18)) for i in range(18)} for s in S]
    K = np.array([[sum(v * b.get(g, 0) for g, v in a.items()) for b in grams] for a in grams], float)
    model = mc.KernelPCA(2, k).fit(S)
    np.testing.assert_allclose(model.transform(S), oracle.projections(K, K, 2), atol=1e-7)
    first = model.transform(S)[:, 0]
    assert (first[:12] * first[12:] < 0).all()  # the families stand on two sides
    with pytest.warns(UserWarning, match="rank"):
        full = mc.KernelPCA(23, k).fit(S)
    again = full.inverse_transform(full.transform(S))
    assert [str(s) for s in again] == S
    noisy = [S[0][:-1] + "G", S[20][:-1] + "A"]
    assert [str(s) for s in full.inverse_transform(full.transform(noisy))] == [S[0], S[20]]


def test_graphs() -> None:
    graphs, k = _networks(), mc.WeisfeilerLehman(2)
    K = np.asarray(k(graphs), float)
    model = mc.KernelPCA(3, k).fit(graphs)
    np.testing.assert_allclose(
        np.abs(model.transform(graphs)), np.abs(oracle.projections(K, K, 3)), atol=1e-6 * np.sqrt(K.max())
    )
    full = mc.KernelPCA(None, k).fit(graphs)
    _same_rows(full, graphs, full.inverse_transform(full.transform(graphs)))


def test_what_has_no_coordinates_has_only_the_nearest() -> None:
    for way in ("fixed_point", "ridge"):
        model = mc.KernelPCA(2, mc.Spectrum(3), pre_image=way)
        with pytest.raises((ValueError, TypeError), match=r"nearest|pre_image|pre-image"):
            model.fit(two_families()).inverse_transform(np.zeros((1, 2)))


@pytest.mark.parametrize("pre_image", ["auto", "ridge"])
def test_saved_and_loaded(pre_image: str, tmp_path: Path) -> None:
    X = cloud()
    model = mc.KernelPCA(3, G, pre_image=pre_image).fit(X)
    mc.save(model, tmp_path / "model")
    for again in (mc.load(tmp_path / "model"), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(again.transform(NEW), model.transform(NEW))
        np.testing.assert_array_equal(
            again.inverse_transform(model.transform(NEW)), model.inverse_transform(model.transform(NEW))
        )
    fresh = clone(model)
    assert fresh.get_params() == model.get_params()
    with pytest.raises(NotFittedError):
        fresh.transform(NEW)


@pytest.mark.parametrize(
    "model", [mc.PCA(2), mc.KernelHebbian(2, G), mc.KernelPCANovelty(2, G)], ids=lambda m: type(m).__name__
)
def test_the_others_are_saved_too(model: Any, tmp_path: Path) -> None:
    ask = "score_samples" if hasattr(model, "score_samples") else "transform"
    model = clone(model)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(cloud())
    mc.save(model, tmp_path / "model")
    np.testing.assert_array_equal(getattr(mc.load(tmp_path / "model"), ask)(NEW), getattr(model, ask)(NEW))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_components": 0}, "n_components"),
        ({"n_components": -2}, "n_components"),
        ({"solver": "qr"}, "solver"),
        ({"pre_image": "magic"}, "pre_image"),
        ({"tol": -1.0, "solver": "lanczos"}, "tol"),
    ],
)
def test_parameters_are_refused(parameters: dict[str, Any], message: str) -> None:
    model = mc.KernelPCA(**{"n_components": 2, "kernel": G, **parameters})
    with pytest.raises(ValueError, match=message):
        model.fit(cloud()).inverse_transform(np.zeros((1, 2)))


def test_data_are_refused() -> None:
    X = cloud()
    bad = X.copy()
    bad[3, 1] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        mc.KernelPCA(2, G).fit(bad)
    with pytest.raises(ValueError, match="square"):
        mc.KernelPCA(2, "precomputed").fit(X)
    with pytest.raises(ValueError, match="weight"):
        mc.KernelPCA(2, G).fit(X, sample_weight=-np.ones(60))
    with pytest.raises(ValueError, match="weight"):
        mc.KernelPCA(2, G).fit(X, sample_weight=np.zeros(60))
    with pytest.raises(ValueError, match=r"write mercer\.Gaussian"):
        mc.KernelPCA(2, "rbf").fit(X)
    model = mc.KernelPCA(2, G).fit(X)
    with pytest.raises(ValueError, match="features"):
        model.transform(X[:, :3])
    with pytest.raises(ValueError, match=r"component|column|features"):
        model.inverse_transform(np.zeros((3, 5)))


def _indefinite(n: int) -> Any:
    A = np.random.RandomState(0).standard_normal((n, n))
    return A + A.T


def _spectrum(K: Any) -> Any:
    H = np.eye(len(K)) - 1 / len(K)
    return np.linalg.eigvalsh(H @ K @ H)[::-1]


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("n", [30, 120])
def test_ratios_are_of_the_positive_eigenvalues(solver: str, n: int) -> None:
    K = _indefinite(n)
    truth = _spectrum(K)
    below = truth < -1e-9 * truth[0]
    share = -truth[below].sum() / np.abs(truth).sum()
    with pytest.warns(
        UserWarning, match=f"{below.sum()} of its {n} eigenvalues are negative, and make up {share:.2g} of the sum"
    ) as told:
        model = mc.KernelPCA(3, "precomputed", solver=solver).fit(K)
    assert len(told) == 1
    np.testing.assert_allclose(model.explained_variance_ratio_, truth[:3] / truth[truth > 0].sum(), rtol=1e-6)
    assert model.n_negative_ == below.sum()
    np.testing.assert_allclose(model.negative_share_, share, rtol=1e-6)


def test_all_components_of_an_indefinite_kernel_explain_all() -> None:
    X = np.random.default_rng(0).standard_normal((60, 3))
    k = mc.Sigmoid(0.0, 1.0)
    truth = _spectrum(k(X))
    with pytest.warns(UserWarning, match="positive eigenvalues alone"):
        model = mc.KernelPCA(None, k).fit(X)
    np.testing.assert_allclose(model.explained_variance_ratio_.sum(), 1.0)
    assert model.n_components_ == np.sum(truth > 1e-9)
    with pytest.warns(UserWarning, match="not positive semi-definite"):
        half = mc.KernelPCANovelty(0.5, k).fit(X)
    positive = truth[truth > 0]
    assert half.n_components_ == 1 + np.searchsorted(np.cumsum(positive), 0.5 * positive.sum())


def test_more_components_than_positive_eigenvalues() -> None:
    K = _indefinite(30)
    positive = int(np.sum(_spectrum(K) > 1e-9))
    with pytest.warns(UserWarning, match="not positive semi-definite|positive eigenvalues, 20") as told:
        model = mc.KernelPCA(20, "precomputed").fit(K)
    last = (
        f"has {positive} positive eigenvalues, 20 components were asked for: the scores of the last {20 - positive}"
        " are 0"
    )
    assert [last in str(w.message) for w in told] == [False, True]
    assert np.linalg.matrix_rank(K) == 30  # which is what a rank would be
    np.testing.assert_allclose(model.explained_variance_ratio_.sum(), 1.0)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_rounding_is_not_called_negative(dtype: Any) -> None:
    X = np.random.default_rng(0).standard_normal((500, 2))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = mc.KernelPCA(3, "precomputed").fit(mc.Gaussian(0.1)(X).astype(dtype))
    assert (model.n_negative_, model.negative_share_) == (0, 0.0)
