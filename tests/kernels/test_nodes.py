"""Kernels between vertices: small graphs by their spectrum, large ones by columns; both against the matrix functions
themselves.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

import mercer as mc
from mercer.kernels.graphs import nodes
from tests import graph_oracles as truth
from tests.cases import NETWORK, SIGNED

KERNELS = [
    (mc.Diffusion(NETWORK, 0.7), truth.diffusion(NETWORK, 0.7)),
    (mc.Diffusion(NETWORK, 0.0), np.eye(30)),
    (mc.Diffusion(NETWORK, 30.0), truth.diffusion(NETWORK, 30.0)),
    (mc.ExponentialDiffusion(SIGNED, 0.5), truth.exponential_diffusion(SIGNED, 0.5)),
    (mc.MatrixPower(SIGNED, 4), np.linalg.matrix_power(SIGNED, 4)),
    (mc.RegularizedLaplacian(NETWORK, 1.5), truth.regularized_laplacian(NETWORK, 1.5)),
    (mc.RegularizedLaplacian(NETWORK, 30.0), truth.regularized_laplacian(NETWORK, 30.0)),
    (mc.PStepWalk(NETWORK, 2.5, 3), truth.p_step_walk(NETWORK, 2.5, 3)),
    (mc.CommuteTime(NETWORK), truth.commute_time(NETWORK)),
]


@pytest.mark.parametrize("dense", [True, False], ids=["spectrum", "columns"])
@pytest.mark.parametrize(
    ("kernel", "wanted"), KERNELS, ids=lambda x: type(x).__name__ if isinstance(x, mc.Kernel) else ""
)
def test_both_routes_are_the_matrix_function(kernel: mc.Kernel, wanted: Any, dense: bool, monkeypatch: Any) -> None:
    monkeypatch.setattr(nodes, "_DENSE", 3000 if dense else 5)
    assert kernel.explicit == dense
    rows, cols = np.array([3, 1, 1, 29, 0]), np.array([7, 3, 3, 0, 1, 2, 29])
    scale = np.abs(wanted).max()
    np.testing.assert_allclose(kernel(np.arange(30)), wanted, atol=1e-10 * scale)
    np.testing.assert_allclose(kernel(rows, cols), wanted[np.ix_(rows, cols)], atol=1e-10 * scale)
    np.testing.assert_allclose(kernel.diag(rows), np.diagonal(wanted)[rows], atol=1e-10 * scale)


def test_input_forms_and_names() -> None:
    networkx = pytest.importorskip("networkx")
    g = networkx.Graph()
    g.add_edge("ann", "bob", weight=2.0)
    g.add_edge("bob", "cem")
    g.add_node("dee")
    W = np.array([[0, 2, 0, 0], [2, 0, 1, 0], [0, 1, 0, 0], [0, 0, 0, 0.0]])
    by_name = mc.Diffusion(g, 0.3)(["cem", "ann", "dee"])
    np.testing.assert_allclose(by_name, truth.diffusion(W, 0.3)[np.ix_([2, 0, 3], [2, 0, 3])], atol=1e-12)
    for form in (W, sparse.csr_array(W), W.tolist(), mc.Network(W)):
        np.testing.assert_allclose(mc.Diffusion(form, 0.3)([2, 0, 3]), by_name, atol=1e-12)
    named = mc.Network(W, ["ann", "bob", "cem", "dee"])
    np.testing.assert_allclose(mc.Diffusion(named, 0.3)(np.array(["cem", "ann", "dee"])), by_name, atol=1e-12)
    plain = mc.Graph([(0, 1), (1, 2)], n_vertices=4)
    np.testing.assert_allclose(
        mc.CommuteTime(plain)([0, 1]), truth.commute_time((W > 0).astype(float))[:2, :2], atol=1e-12
    )
    with pytest.raises(mc.DataError, match=r"'eve'.*not the name"):
        mc.Diffusion(g)(["ann", "eve"])
    with pytest.raises(mc.DataError, match="Row 1 is 4"):
        mc.Diffusion(W)([0, 4])
    with pytest.raises(mc.DataError, match="directed"):
        mc.Diffusion(networkx.DiGraph([(0, 1)]))


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: mc.Diffusion(np.ones((2, 3))), "square"),
        (lambda: mc.Diffusion(np.array([[0.0, 1.0], [0.5, 0.0]])), "symmetric"),
        (lambda: mc.Diffusion(-np.ones((2, 2))), "at least 0"),
        (lambda: mc.Diffusion(np.array([[0.0, np.nan], [np.nan, 0.0]])), "finite"),
        (lambda: mc.Diffusion("graph"), "not a graph"),
        (lambda: mc.Network(np.zeros((2, 2)), ["a", "a"]), "each once"),
        (lambda: mc.Diffusion(np.zeros((2, 2)), -1.0), "beta"),
        (lambda: mc.MatrixPower(np.zeros((2, 2)), 3), "even"),
        (lambda: mc.PStepWalk(np.zeros((2, 2)), 1.5), "at least 2"),
    ],
)
def test_errors(make: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        make()


def test_values_of_a_kernel(tmp_path: Any) -> None:
    kernel = mc.Diffusion(NETWORK, 0.7)
    copy = clone(kernel)
    assert copy == kernel
    assert copy.graph is kernel.graph  # with the spectrum that was computed
    mc.save(kernel, tmp_path / "k.mercer")
    found = mc.load(tmp_path / "k.mercer")
    assert found == kernel
    np.testing.assert_array_equal(found([1, 2]), kernel([1, 2]))
    changed = clone(kernel).set_params(beta=2.0)
    assert changed != kernel
    np.testing.assert_allclose(changed([1, 2]), truth.diffusion(NETWORK, 2.0)[1:3, 1:3], atol=1e-12)


@pytest.mark.slow
def test_twenty_thousand_vertices_without_a_matrix() -> None:
    """Transductive classification: 800 known vertices of two loosely joined groups, all others predicted."""
    n, rng = 20_000, np.random.default_rng(0)
    y = np.arange(n) % 2
    u = rng.integers(0, n, 5 * n)
    v = (u + 2 * rng.integers(1, n // 2, 5 * n) + (rng.random(5 * n) < 0.1)) % n  # mostly of the same group
    W = sparse.coo_array((np.ones(len(u)), (u, v)), shape=(n, n)).tocsr()
    known = rng.permutation(n)[:800]
    kernel = mc.PStepWalk(((W + W.T) > 0).astype(float), 2.0, 6)
    assert not kernel.explicit
    machine = mc.SVC(kernel=kernel, C=10.0).fit(known, y[known])
    assert (machine.predict(np.arange(n)) == y).mean() > 0.9


def _star_and_path(leaves: int, n: int) -> Any:
    u = np.r_[np.zeros(leaves, int), np.arange(leaves, n - 1)]
    v = np.r_[np.arange(1, leaves + 1), np.arange(leaves + 1, n)]
    W = sparse.coo_array((np.ones(len(u)), (u, v)), shape=(n, n)).tocsr()
    return sparse.csr_array(W + W.T)


@pytest.mark.thorough
@pytest.mark.parametrize("make", [
    lambda W: (mc.ExponentialDiffusion(W, 1.0), truth.exponential_diffusion(W.toarray(), 1.0)),
    lambda W: (mc.Diffusion(W, 200.0), truth.diffusion(W.toarray(), 200.0)),
    lambda W: (mc.CommuteTime(W), truth.commute_time(W.toarray())),
    lambda W: (mc.RegularizedLaplacian(W, 1e3), truth.regularized_laplacian(W.toarray(), 1e3)),
])  # fmt: skip
def test_columns_of_hard_graphs(make: Any, monkeypatch: Any) -> None:
    """A vertex of large degree, a long path: spectra far from what degrees tell, slow decay, bad conditions."""
    monkeypatch.setattr(nodes, "_DENSE", 5)
    kernel, wanted = make(_star_and_path(60, 300))
    ids = np.array([0, 3, 60, 150, 299])
    np.testing.assert_allclose(kernel(np.arange(300), ids), wanted[:, ids], atol=1e-7 * np.abs(wanted).max())


def test_unfinished_columns_are_not_kept(monkeypatch: Any) -> None:
    monkeypatch.setattr(nodes, "_DENSE", 5)
    kernel = mc.Diffusion(NETWORK, 0.7)
    monkeypatch.setattr("mercer.runtime.threads.stopping", lambda: True)
    kernel._block(*(kernel.domain.check(np.arange(9)) for _ in range(2)))
    monkeypatch.undo()
    monkeypatch.setattr(nodes, "_DENSE", 5)
    np.testing.assert_allclose(kernel(np.arange(9)), truth.diffusion(NETWORK, 0.7)[:9, :9], atol=1e-10)


def test_a_signed_network_is_no_network_for_others() -> None:
    signed = mc.ExponentialDiffusion(SIGNED).graph
    with pytest.raises(mc.DataError, match="at least 0"):
        mc.Diffusion(signed)
    other = mc.Diffusion(NETWORK, 0.5).set_params(graph=NETWORK * 2)
    np.testing.assert_allclose(other([0, 1]), truth.diffusion(2 * NETWORK, 0.5)[:2, :2], atol=1e-12)
