"""Principal components, plain and in the space of a kernel: against explicit eigendecompositions, scikit-learn, and
what they promise.
"""

from __future__ import annotations

import pickle
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn import decomposition as peers
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.utils.estimator_checks import parametrize_with_checks

import mercer as mc
from tests import unsupervised_oracles as oracle


@parametrize_with_checks([mc.PCA(), mc.KernelPCA(), mc.KernelHebbian(), mc.KernelPCANovelty()])
def test_scikit_learns_contract(estimator: Any, check: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        check(estimator)


SCALES = np.array([3.0, 2.0, 1.0, 0.5])
G = mc.Gaussian(0.1)
SOLVERS = ["exact", "lanczos", "krylov"]


def _data(n: int = 60, seed: int = 0) -> Any:
    return np.random.default_rng(seed).standard_normal((n, 4)) * SCALES + [5.0, -3.0, 0.0, 20.0]


NEW = _data(17, 7)


def _gaussian(A: Any, B: Any, gamma: float = 0.1) -> Any:
    return np.array([[np.exp(-gamma * np.sum((a - b) ** 2)) for b in B] for a in A])


def _counts(n: int = 60, seed: int = 3) -> Any:
    return np.random.default_rng(seed).integers(0, 4, n)


def _strings() -> list[str]:
    """Two families of their own motifs, no two alike."""
    rng = np.random.default_rng(0)
    return ["".join(rng.choice(list(letters), 20)) for letters in ("AC", "GT") for _ in range(12)]


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


# -- PCA
# ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(60, 4), (5, 12)])
@pytest.mark.parametrize("whiten", [False, True])
@pytest.mark.parametrize("m", [None, 1, 3, 0.8])
def test_pca_is_scikit_learns(m: Any, whiten: bool, shape: tuple[int, int]) -> None:
    rng = np.random.default_rng(0)
    X, Z = rng.standard_normal(shape) * np.geomspace(3, 0.3, shape[1]) + 2.0, rng.standard_normal((6, shape[1]))
    ours, theirs = mc.PCA(m, whiten=whiten).fit(X), peers.PCA(m, whiten=whiten, svd_solver="full").fit(X)
    # with fewer rows than columns, the last direction has no variance and is anyone's
    rank = min(len(X) - 1, X.shape[1])
    count = ours.n_components_
    assert count == (rank if m is None else theirs.n_components_)  # None: all that have variance
    np.testing.assert_allclose(ours.mean_, theirs.mean_, atol=1e-10)
    for name in ("explained_variance_", "explained_variance_ratio_", "singular_values_"):
        np.testing.assert_allclose(getattr(ours, name), getattr(theirs, name)[:count], atol=1e-10)
    for mine, other in ((ours.components_.T, theirs.components_.T), (ours.transform(Z), theirs.transform(Z))):
        np.testing.assert_allclose(
            oracle.up_to_sign(mine, other[:, :count])[:, :rank], other[:, : min(count, rank)], atol=1e-9
        )
    np.testing.assert_allclose(ours.transform(X), ours.fit_transform(X), atol=1e-9)
    back = theirs.inverse_transform(theirs.transform(X))
    np.testing.assert_allclose(ours.inverse_transform(ours.transform(X)), back, atol=1e-8)


def test_pca_signs_do_not_depend_on_the_sample() -> None:
    for seed in range(5):
        C = mc.PCA().fit(_data(seed=seed)).components_
        assert (C[np.arange(4), np.abs(C).argmax(axis=1)] > 0).all()


@pytest.mark.parametrize("k", [1, 2, 3])
def test_no_approximation_of_the_rank_is_better(k: int) -> None:
    """Eckart–Young: the error is the variance left out, and no other affine plane has less."""
    X = _data()
    model = mc.PCA(k).fit(X)
    error = np.sum((model.inverse_transform(model.transform(X)) - X) ** 2)
    s = np.linalg.svd(X - X.mean(axis=0), compute_uv=False)
    np.testing.assert_allclose(error, np.sum(s[k:] ** 2), rtol=1e-10)
    rng = np.random.default_rng(0)
    for _ in range(50):
        near = model.components_.T + 0.05 * rng.standard_normal((4, k))
        Q = np.linalg.qr(near)[0]
        C = X - X.mean(axis=0)
        assert np.sum((C - C @ Q @ Q.T) ** 2) > error


def test_pca_weights_are_repetitions() -> None:
    X, w = _data(), _counts()
    one, other, absent = (
        mc.PCA().fit(X, sample_weight=w),
        mc.PCA().fit(np.repeat(X, w, axis=0)),
        mc.PCA().fit(X[w > 0], sample_weight=w[w > 0]),
    )
    for m in (one, absent):
        for name in ("mean_", "components_", "explained_variance_", "explained_variance_ratio_", "singular_values_"):
            np.testing.assert_allclose(getattr(m, name), getattr(other, name), atol=1e-10)
        np.testing.assert_allclose(m.transform(NEW), other.transform(NEW), atol=1e-9)
    assert np.abs(one.mean_ - X.mean(axis=0)).max() > 1e-3  # the weights matter here


def test_pca_keeps_float32_and_stands_far_from_the_origin() -> None:
    X = _data()
    small = mc.PCA(2).fit(X.astype(np.float32))
    assert small.components_.dtype == small.transform(X.astype(np.float32)).dtype == np.float32
    np.testing.assert_allclose(small.transform(X.astype(np.float32)), mc.PCA(2).fit(X).transform(X), atol=1e-3)
    near, far = mc.PCA().fit(X), mc.PCA().fit(X + 1e7)
    np.testing.assert_allclose(far.explained_variance_, near.explained_variance_, rtol=1e-6)


def test_pca_of_sparse_rows() -> None:
    """The same as dense, or an error that says so."""
    X = np.where(np.abs(_data()) > 2, _data(), 0.0)
    try:
        model = mc.PCA(2).fit(sparse.csr_array(X))
    except (TypeError, ValueError) as error:
        assert "sparse" in str(error).lower()  # noqa: PT017
    else:
        np.testing.assert_allclose(np.abs(model.components_), np.abs(mc.PCA(2).fit(X).components_), atol=1e-8)


@pytest.mark.parametrize("m", [0, -1, 5, 1.5, "two"])
def test_pca_refuses(m: Any) -> None:
    with pytest.raises((ValueError, TypeError), match="n_components"):
        mc.PCA(m).fit(_data())


# -- kernel PCA against the definition
# ----------------------------------------------------------------------------------


@pytest.mark.parametrize("solver", ["auto", *SOLVERS])
def test_kernel_pca_is_its_definition(solver: str) -> None:
    X = _data()
    K, K_new = _gaussian(X, X), _gaussian(NEW, X)
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
    X = _data()
    model = mc.KernelPCA(5, G).fit(X)
    A = _coefficients(model, len(X))
    np.testing.assert_allclose(A @ _gaussian(X, X) @ A.T, np.eye(5), atol=1e-8)
    np.testing.assert_allclose(np.ravel(model.function_.norm()), np.ones(5), atol=1e-8)
    np.testing.assert_allclose(_gaussian(NEW, X) @ A.T + model.intercept_, model.transform(NEW), atol=1e-9)
    np.testing.assert_allclose(model.function_(NEW), model.transform(NEW), atol=1e-10)
    np.testing.assert_allclose(model.transform(X).mean(axis=0), np.zeros(5), atol=1e-9)


@pytest.mark.parametrize("k", [G, mc.Gaussian(), mc.Polynomial(2), mc.Laplacian(0.2)], ids=str)
def test_solvers_agree(k: Any) -> None:
    """One space, whatever the solver and the seed; the signs come out alike."""
    X = _data(120, 1)
    base = mc.KernelPCA(3, k, solver="exact").fit(X)
    for solver in SOLVERS[1:]:
        for seed in (0, 1, 2):
            other = mc.KernelPCA(3, k, solver=solver, random_state=seed).fit(X)
            assert oracle.sine(other.eigenvectors_, base.eigenvectors_) < 1e-6
            np.testing.assert_allclose(other.eigenvalues_, base.eigenvalues_, rtol=1e-7)
            scale = np.abs(base.transform(NEW)).max()
            np.testing.assert_allclose(other.transform(NEW), base.transform(NEW), atol=1e-5 * scale)


def test_shares_of_variance() -> None:
    X = _data()
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
        U = mc.KernelPCA(4, G).fit(_data(seed=seed)).eigenvectors_
        assert (U[np.abs(U).argmax(axis=0), np.arange(4)] > 0).all()
    one, two = (mc.KernelPCA(4, G).fit(_data()).transform(NEW) for _ in range(2))
    np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize("k", [G, mc.Polynomial(2), mc.Linear()], ids=str)
@pytest.mark.parametrize("solver", ["auto", *SOLVERS])
def test_kernel_pca_weights_are_repetitions(solver: str, k: Any) -> None:
    X, w = _data(), _counts()
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
    X, w = _data(), _counts()
    X[w == 0] *= 50  # would change the variance that γ = "scale" takes
    one, other = mc.KernelPCA(3).fit(X, sample_weight=w), mc.KernelPCA(3).fit(X[w > 0], sample_weight=w[w > 0])
    np.testing.assert_allclose(
        oracle.up_to_sign(one.transform(NEW), other.transform(NEW)), other.transform(NEW), atol=1e-8
    )


@pytest.mark.parametrize("solver", ["auto", *SOLVERS])
def test_more_components_than_the_rank(solver: str) -> None:
    """Three directions are all there are: what is beyond is left out or zero, never noise divided by √0."""
    X = _data()[:, :3]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # may be said, must not fail
        model = mc.KernelPCA(10, mc.Linear(), solver=solver).fit(X)
    Z, P = model.transform(NEW[:, :3]), peers.PCA(3).fit(X).transform(NEW[:, :3])
    np.testing.assert_allclose(oracle.up_to_sign(Z[:, :3], P), P, atol=1e-6)
    np.testing.assert_allclose(Z[:, 3:], 0, atol=1e-4)
    assert np.isfinite(Z).all()
    np.testing.assert_allclose(model.explained_variance_ratio_.sum(), 1.0, atol=1e-9)


def test_a_sample_without_variance() -> None:
    """Scores of 0 or an error that says why, the same from every solver."""
    ends = []
    for solver in ("auto", *SOLVERS):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                Z = mc.KernelPCA(2, G, solver=solver).fit(np.ones((8, 3))).transform(np.ones((2, 3)))
        except ValueError as error:
            ends.append(str(error))
            assert "same" in ends[-1]
        else:
            ends.append("zero")
            np.testing.assert_allclose(Z, 0, atol=1e-6)
    assert len(set(ends)) == 1


def test_a_precomputed_matrix() -> None:
    X = _data()
    K, K_new = _gaussian(X, X), _gaussian(NEW, X)
    ours, same = mc.KernelPCA(3, "precomputed").fit(K), mc.KernelPCA(3, G).fit(X)
    np.testing.assert_allclose(ours.eigenvalues_, same.eigenvalues_, rtol=1e-9)
    np.testing.assert_allclose(ours.transform(K_new), same.transform(NEW), atol=1e-8)
    w = _counts()
    ours, same = mc.KernelPCA(3, "precomputed").fit(K, sample_weight=w), mc.KernelPCA(3, G).fit(X, sample_weight=w)
    np.testing.assert_allclose(ours.transform(K_new), same.transform(NEW), atol=1e-8)


def test_float32_is_kept() -> None:
    X = _data().astype(np.float32)
    model = mc.KernelPCA(3, G).fit(X)
    assert model.transform(X).dtype == np.float32
    np.testing.assert_allclose(
        model.transform(X), mc.KernelPCA(3, G).fit(X.astype(float)).transform(X.astype(float)), atol=1e-3
    )


# -- the way back
# -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("m", [1, 2, 3, 4])
def test_the_linear_kernel_is_pca(m: int) -> None:
    """The mean as well: it is there again after the way back."""
    X = _data()
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
    X = _data()
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
    X = _data(30)
    model = mc.KernelPCA(29, G, pre_image=pre_image).fit(X)
    back = model.inverse_transform(model.transform(X))
    assert back.shape == X.shape
    share = np.sum((back - X) ** 2) / np.sum((X - X.mean(axis=0)) ** 2)
    assert share < 0.02


def test_nearest_gives_rows_of_the_sample() -> None:
    X = _data(30)
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


# -- strings and graphs
# -------------------------------------------------------------------------------------------------


def _same_rows(model: Any, objects: Any, again: Any) -> None:
    """The objects that came back are those that went in, as the kernel sees them."""
    np.testing.assert_allclose(
        model.transform(again), model.transform(objects), atol=1e-8 * np.abs(model.transform(objects)).max()
    )


def test_strings() -> None:
    S, k = _strings(), mc.Spectrum(3)
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
            model.fit(_strings()).inverse_transform(np.zeros((1, 2)))


# -- the estimator
# ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("pre_image", ["auto", "ridge"])
def test_saved_and_loaded(pre_image: str, tmp_path: Path) -> None:
    X = _data()
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
        model.fit(_data())
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
        model.fit(_data()).inverse_transform(np.zeros((1, 2)))


def test_data_are_refused() -> None:
    X = _data()
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


# -- a stream
# -----------------------------------------------------------------------------------------------------------


def _stream(n: int = 60) -> Any:
    """Two directions well above the others."""
    return np.random.default_rng(5).standard_normal((n, 3)) * [2.0, 1.0, 0.1]


@pytest.mark.parametrize("k", [mc.Linear(), mc.Gaussian(0.1), mc.Gaussian()], ids=str)
def test_the_stream_finds_the_components_of_the_batch(k: Any) -> None:
    """With room for all, it is the same, each component and not only their span."""
    X, Z = _stream(), _stream(20)[::-1] * 0.9
    batch, stream = mc.KernelPCA(2, k).fit(X), mc.KernelHebbian(2, k, budget=100, tol=1e-12).fit(X)
    A, B = batch.transform(X), stream.transform(X)
    assert oracle.sine(A - A.mean(axis=0), B - B.mean(axis=0)) < 1e-5
    np.testing.assert_allclose(oracle.up_to_sign(B, A), A, atol=1e-5 * np.abs(A).max())
    np.testing.assert_allclose(
        oracle.up_to_sign(stream.transform(Z), batch.transform(Z)), batch.transform(Z), atol=1e-5 * np.abs(A).max()
    )
    np.testing.assert_allclose(stream.explained_variance_, batch.explained_variance_, rtol=1e-6)


def test_pieces_of_a_stream() -> None:
    X = _stream()
    model, seen = mc.KernelHebbian(2, mc.Gaussian(0.1), budget=100, tol=1e-12), 0
    for piece in (X[:25], X[25:26], X[26:]):
        assert model.partial_fit(piece) is model
        seen += len(piece)
        assert model.n_samples_seen_ == seen
        batch = mc.KernelPCA(2, mc.Gaussian(0.1)).fit(X[:seen])  # at any time the components of all that has passed
        A, B = batch.transform(X), model.transform(X)
        np.testing.assert_allclose(oracle.up_to_sign(B, A), A, atol=1e-5 * np.abs(A).max())
    with pytest.raises(ValueError, match="features"):
        model.partial_fit(X[:, :2])
    assert model.fit(X[:30]).n_samples_seen_ == 30  # fit begins again


@pytest.mark.parametrize("budget", [5, 20])
def test_the_budget_holds(budget: int) -> None:
    X = np.random.default_rng(0).standard_normal((200, 3))
    model = mc.KernelHebbian(2, mc.Gaussian(0.5), budget=budget)
    for start in range(0, 200, 40):
        model.partial_fit(X[start : start + 40])
        assert 1 <= len(model.centers_) <= budget
    Z = model.transform(X)
    assert Z.shape == (200, 2)
    assert np.isfinite(Z).all()
    assert (Z.std(axis=0) > 0).all()
    assert len(mc.KernelHebbian(2, mc.Gaussian(0.5), budget=budget).fit(X).centers_) <= budget


def test_a_larger_budget_comes_nearer() -> None:
    X = np.random.default_rng(0).standard_normal((150, 2)) * [2.0, 1.0]
    A = mc.KernelPCA(2, mc.Gaussian(0.2)).fit(X).transform(X)
    sines = [
        oracle.sine(A, (Z := mc.KernelHebbian(2, mc.Gaussian(0.2), budget=b).fit(X).transform(X)) - Z.mean(axis=0))
        for b in (4, 150)
    ]
    assert sines[1] < 0.01 < sines[0]


def test_a_stream_is_deterministic_and_takes_strings() -> None:
    X = _stream()
    one, two = (mc.KernelHebbian(2, G).fit(X).transform(X) for _ in range(2))
    np.testing.assert_array_equal(one, two)
    S, k = _strings(), mc.Spectrum(3).normalized()
    A, B = (
        mc.KernelPCA(1, k).fit(S).transform(S),
        mc.KernelHebbian(1, k).partial_fit(S[::2]).partial_fit(S[1::2]).transform(S),
    )
    np.testing.assert_allclose(oracle.up_to_sign(B, A), A, atol=1e-3 * np.abs(A).max())


@pytest.mark.parametrize(("parameters", "message"), [({"n_components": 0}, "n_components"), ({"budget": 0}, "budget")])
def test_streams_are_refused(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        mc.KernelHebbian(**parameters).fit(_stream())


# -- novelty
# ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("m", [1, 3, 6])
def test_the_score_is_the_error_of_reconstruction(m: int) -> None:
    X = _data()
    model = mc.KernelPCANovelty(m, G).fit(X)
    for Z in (X, NEW, NEW + 100):
        truth = oracle.reconstruction_errors(_gaussian(X, X), _gaussian(Z, X), np.ones(len(Z)), m)
        np.testing.assert_allclose(model.score_samples(Z), -truth, atol=1e-7)
    np.testing.assert_allclose(model.decision_function(NEW), model.score_samples(NEW) - model.offset_, atol=1e-12)
    np.testing.assert_array_equal(model.predict(NEW), np.where(model.decision_function(NEW) >= 0, 1, -1))


def test_linear_novelty_is_pcas_residual() -> None:
    X = _data()
    model, plain = mc.KernelPCANovelty(2, mc.Linear()).fit(X), peers.PCA(2).fit(X)
    rest = NEW - plain.inverse_transform(plain.transform(NEW))
    np.testing.assert_allclose(-model.score_samples(NEW), np.sum(rest**2, axis=1), atol=1e-7)


@pytest.mark.parametrize("share", [0.0, 0.01, 0.1, 0.37, 0.5])
def test_contamination_is_the_share_rejected(share: float) -> None:
    X = _data(200)
    model = mc.KernelPCANovelty(4, G, contamination=share).fit(X)
    assert (model.predict(X) == -1).sum() == round(share * 200)
    assert set(model.predict(np.vstack([X, X + 1e3]))) <= {-1, 1}


@pytest.mark.parametrize("m", [None, 5, 0.8])
def test_far_points_are_outliers(m: Any) -> None:
    t = np.random.default_rng(0).uniform(0, 2 * np.pi, 150)
    X = np.column_stack([np.cos(t), np.sin(t)])
    model = mc.KernelPCANovelty(m, mc.Gaussian(2.0), contamination=0.02).fit(X)
    # inside the ring is outside the sample, too
    assert (model.predict(np.array([[5.0, 5.0], [-30.0, 0.0], [0.0, 0.0]])) == -1).all()
    assert (model.predict(np.column_stack([np.cos(t + 0.01), np.sin(t + 0.01)])) == 1).mean() > 0.9


def test_a_share_of_the_variance() -> None:
    X = _data()
    ratios = np.cumsum(mc.KernelPCA(30, G).fit(X).explained_variance_ratio_)
    m = int(np.searchsorted(ratios, 0.9)) + 1
    np.testing.assert_allclose(
        mc.KernelPCANovelty(0.9, G).fit(X).score_samples(NEW),
        mc.KernelPCANovelty(m, G).fit(X).score_samples(NEW),
        atol=1e-8,
    )


def test_novel_strings() -> None:
    S = _strings()
    model = mc.KernelPCANovelty(2, mc.Spectrum(3).normalized(), contamination=0.0).fit(S)
    assert (model.predict(S) == 1).all()
    assert model.predict(["TATATATATATATATATATA"])[0] == -1


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"contamination": 0.7}, "contamination"),
        ({"contamination": -0.1}, "contamination"),
        ({"n_components": 0}, "n_components"),
        ({"n_components": 1.5}, "n_components"),
    ],
)
def test_novelty_is_refused(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        mc.KernelPCANovelty(**parameters).fit(_data())


# -- PCA as a model of the data
# -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(60, 4), (20, 30)])
@pytest.mark.parametrize("m", [1, 2, 3])
def test_pca_is_scikit_learns_model_of_the_data(shape: tuple[int, int], m: int) -> None:
    X = np.random.default_rng(0).standard_normal(shape) @ np.diag(np.linspace(3, 0.5, shape[1])) + 4
    ours, theirs = mc.PCA(m).fit(X), peers.PCA(m, svd_solver="full").fit(X)
    assert (ours.n_samples_, ours.n_components_, ours.n_features_in_) == (theirs.n_samples_, m, shape[1])
    for name in ("noise_variance_", "mean_", "singular_values_", "explained_variance_"):
        np.testing.assert_allclose(getattr(ours, name), getattr(theirs, name), rtol=1e-10)
    np.testing.assert_allclose(ours.get_covariance(), theirs.get_covariance(), atol=1e-12)
    np.testing.assert_allclose(ours.get_precision(), theirs.get_precision(), atol=1e-10)
    new = X[:7] + 0.3
    np.testing.assert_allclose(ours.score_samples(new), theirs.score_samples(new), rtol=1e-10)
    np.testing.assert_allclose(
        mc.PCA(m).fit(sparse.csr_array(X)).score(sparse.csr_array(new)), theirs.score(new), rtol=1e-9
    )
    assert ours.get_feature_names_out().tolist() == [f"pca{i}" for i in range(m)]


def test_pca_of_all_components_is_the_gaussian_of_the_data() -> None:
    X = _data()
    model = mc.PCA().fit(X)
    np.testing.assert_allclose(model.get_covariance(), np.cov(X.T), atol=1e-12)
    np.testing.assert_allclose(model.get_precision() @ np.cov(X.T), np.eye(4), atol=1e-10)
    from scipy.stats import multivariate_normal

    np.testing.assert_allclose(
        model.score_samples(NEW), multivariate_normal(X.mean(0), np.cov(X.T)).logpdf(NEW), rtol=1e-9
    )


def test_whitening_does_not_change_the_model() -> None:
    X = _data()
    np.testing.assert_allclose(mc.PCA(2, whiten=True).fit(X).score(X), mc.PCA(2).fit(X).score(X), rtol=1e-12)


def test_a_density_needs_an_inverse() -> None:
    X = np.random.default_rng(0).standard_normal((5, 12))
    with pytest.raises(ValueError, match="rank 4 and 12 columns"):
        mc.PCA().fit(X).score(X)


@pytest.mark.parametrize("unit", [1.0, 1e-9])
def test_the_likeliest_number_of_components(unit: float) -> None:
    rng = np.random.default_rng(0)
    for k in (1, 3, 6):
        X = unit * (
            rng.standard_normal((300, k)) @ rng.standard_normal((k, 10)) * 3 + 0.3 * rng.standard_normal((300, 10))
        )
        ours = mc.PCA("mle").fit(X)
        assert ours.n_components_ == k == peers.PCA("mle").fit(X / unit).n_components_
    with pytest.raises(ValueError, match="n_samples >= n_features"):
        mc.PCA("mle").fit(X[:9])


def test_the_likeliest_number_of_repetitions_and_of_white_noise() -> None:
    X = np.random.default_rng(1).standard_normal((40, 2)) @ np.random.default_rng(2).standard_normal((2, 6)) * 2
    X += 0.5 * np.random.default_rng(3).standard_normal((40, 6))
    w = 1 + _counts(40)
    one, other = mc.PCA("mle").fit(X, sample_weight=w), peers.PCA("mle").fit(np.repeat(X, w, axis=0))
    assert one.n_components_ == other.n_components_
    np.testing.assert_allclose(one.noise_variance_, other.noise_variance_, rtol=1e-10)
    assert mc.PCA("mle").fit(np.eye(5).repeat(3, axis=0)).n_components_ >= 1  # equal eigenvalues are no failure


# -- matrices that are not those of a kernel
# ----------------------------------------------------------------------------


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
    k = mc.Sigmoid(1.0, 0.0)
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


# -- streams of weighted samples
# ----------------------------------------------------------------------------------------


def test_a_weight_in_a_stream_is_a_repetition() -> None:
    X, w = _data(), _counts()
    one, many = mc.KernelHebbian(3, G).fit(X, sample_weight=w), mc.KernelHebbian(3, G).fit(np.repeat(X, w, axis=0))
    whole, parts = mc.KernelPCA(3, G).fit(X, sample_weight=w), mc.KernelHebbian(3, G)
    for some in np.array_split(np.arange(len(X)), 3):
        parts.partial_fit(X[some], sample_weight=1e-300 * w[some])
    for other in (many, whole, parts):
        np.testing.assert_allclose(one.explained_variance_, other.explained_variance_, rtol=1e-7)
        np.testing.assert_allclose(np.abs(one.transform(NEW)), np.abs(other.transform(NEW)), atol=1e-6)
