"""Kernel expressions from kinds of columns: their values against the formulas they stand for."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from scipy import sparse

from mercer.app.candidates import Columns, Entries, candidates, relevance
from mercer.app.kinds import Kind, infer_kinds
from mercer.kernels.vectors.radial import Gaussian

FRAME = pl.DataFrame(
    {"a": [1.0, 2.0, 4.0, 7.0], "b": [0.5, None, 2.5, 3.0], "c": ["u", "v", "u", None], "d": ["p", "p", "q", "q"]}
)
KINDS = {
    "a": Kind("numeric", ""),
    "b": Kind("numeric", ""),
    "c": Kind("nominal", ""),
    "d": Kind("nominal", ""),
    "e": Kind("constant", ""),
}


def test_columns_by_what_a_kernel_does_with_them() -> None:
    columns = Columns.of(KINDS, ["b", "c"])
    assert (columns.numbers, columns.categories, columns.gaps, len(columns)) == (("a", "b"), ("c", "d"), True, 4)
    assert not Columns.of(KINDS, ["c"]).gaps


def test_the_smooth_kernel_is_a_gaussian_over_numbers_and_disagreements() -> None:
    gamma = 0.25
    columns = Columns(("a",), ("c", "d"), False)
    K = columns.smooth(Gaussian(gamma), gamma)(FRAME)
    a = FRAME.get_column("a").to_numpy()
    a = (a - a.mean()) / a.std()
    disagree = sum(
        (
            np.array(FRAME.get_column(name).to_list(), object)[:, None]
            != np.array(FRAME.get_column(name).to_list(), object)
        )
        for name in "cd"
    )
    np.testing.assert_allclose(K, np.exp(-gamma * (a[:, None] - a) ** 2 - 2 * gamma * disagree), rtol=1e-12)


def test_the_spread_of_a_sparse_table_is_its_total_variance() -> None:
    rng = np.random.default_rng(0)
    X = sparse.csr_array(np.where(rng.random((50, 300)) < 0.05, rng.random((50, 300)), 0.0))
    entries = Entries.of(X)
    assert entries.spread == pytest.approx(X.toarray().var(axis=0).sum())
    for candidate in candidates(entries, "classification", 1.0, None):
        for kernel in candidate.grid["kernel"]:
            assert np.isfinite(kernel(X)).all()
    assert relevance(entries, "regression") == []


@pytest.mark.thorough
@pytest.mark.parametrize(
    "columns",
    [Columns(("a", "b"), ("c", "d"), True), Columns(("a",), (), False), Columns((), ("c", "d"), False)],
    ids=str,
)
@pytest.mark.parametrize("task", ["classification", "regression"])
def test_every_candidate_gives_a_kernel_on_the_table(columns: Columns, task: str) -> None:
    found = candidates(columns, task, 2.0, None)
    assert found
    for candidate in found:
        for kernel in candidate.grid["kernel"]:
            assert kernel.psd
            K = kernel(FRAME)
            assert K.shape == (4, 4)
            assert np.linalg.eigvalsh(K)[0] > -1e-10
    for _, kernel in relevance(columns, task):
        assert kernel(FRAME).shape == (4, 4)
        assert any("length_scale" in name for name in kernel.gradient(FRAME))


def test_no_gradient_over_too_many_columns() -> None:
    assert not relevance(Columns(tuple(f"x{j}" for j in range(60)), (), False), "regression")


@pytest.mark.thorough
def test_texts_and_sequences_are_compared() -> None:
    """A table of nothing else, and one with numbers: the kernel sees each column its own way, and tells the classes
    apart.
    """
    rng = np.random.default_rng(0)
    rows = 60
    label = rng.integers(0, 2, rows)
    words = np.array(["sun rain wind cloud storm", "bread milk cheese butter salt"])
    text = [" ".join(rng.choice(words[k].split(), 6)) + f" note {i}" for i, k in enumerate(label)]
    gene = ["".join(rng.choice(list("ACGT"), 45)) + ("ACGACGACG" if k else "") for k in label]
    frame = pl.DataFrame({"text": text, "gene": gene, "size": rng.standard_normal(rows)})
    kinds = infer_kinds(frame)
    assert [kind.name for kind in kinds.values()] == ["text", "sequence", "numeric"]
    for columns in (["text"], ["gene"], ["text", "gene", "size"]):
        chosen = Columns.of({name: kinds[name] for name in columns}, [])
        for family in candidates(chosen, "classification", 1.0, None):
            kernel = family.grid["kernel"][0]
            machine = family.estimator.set_params(kernel=kernel, C=100.0).fit(frame[:40], label[:40])
            if "text" in columns:
                assert machine.score(frame[40:], label[40:]) > 0.9
    empty = frame.with_columns(pl.lit("").alias("text"))
    assert np.isfinite(kernel.bind(frame)(empty, frame)).all()
