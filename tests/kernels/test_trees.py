"""Trees: input, errors, and fragments against their enumeration."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mercer as mc
from tests import graph_oracles as truth

labels = st.sampled_from("SNVa")
trees = st.recursive(
    labels.map(lambda x: (x,)),
    lambda t: st.tuples(labels, st.lists(t, min_size=1, max_size=3)).map(lambda p: (p[0], *p[1])),
    max_leaves=6,
)


@given(st.lists(trees, min_size=1, max_size=4), st.sampled_from([0.2, 1.0]))
@settings(max_examples=40, deadline=None)
def test_fragments_are_those_of_the_enumeration(X: list[Any], decay: float) -> None:
    for kind, oracle in (("subset", truth.subset_tree), ("subtree", truth.subtree)):
        wanted = np.array([[oracle(x, z, decay) for z in X] for x in X])
        np.testing.assert_allclose(mc.TreeKernel(decay, kind)(X), wanted, rtol=1e-12)


class Node(list[Any]):
    """As nltk's trees: a list of children with a label."""

    def __init__(self, name: str, *children: Any) -> None:
        super().__init__(children)
        self._name = name

    def label(self) -> str:
        return self._name


def test_all_forms_of_a_tree_are_the_same() -> None:
    forms = [
        ("S", ("NP", "John"), ("VP", ("V", "sees"), ("NP", "Mary"))),
        ["S", ["NP", ["John"]], ["VP", ["V", "sees"], ["NP", "Mary"]]],
        "(S (NP John) (VP (V sees) (NP Mary)))",
        "((S (NP John)\n (VP (V sees) (NP Mary))))",
        Node("S", Node("NP", "John"), Node("VP", Node("V", "sees"), Node("NP", "Mary"))),
    ]
    K = mc.TreeKernel(0.5)(forms)
    assert np.all(K[0, 0] == K)
    assert K[0, 0] > 0
    assert np.allclose(mc.TreeKernel(0.5).normalized()(forms), 1)


def test_a_leaf_alone_has_no_fragment() -> None:
    assert mc.TreeKernel()(["a", "(a b)"]).tolist() == [[0.0, 0.0], [0.0, 0.4]]


@pytest.mark.parametrize(
    ("X", "words"),
    [
        (["(a b", "(a)"], ("Tree 0", "not closed")),
        (["(a b)", "a b)"], ("Tree 1", "not opened")),
        (["(a b) (c d)"], ("Tree 0", "one tree")),
        ([("a", "b"), None], ("Tree 1", "missing")),
        ([("a", ())], ("Tree 0", "without a label")),
        ([("a", {1: 2})], ("Tree 0", "dict")),
        ("(a b)", ("collection", "list")),
    ],
)
def test_errors_name_the_tree(X: Any, words: tuple[str, ...]) -> None:
    with pytest.raises(mc.DataError) as caught:
        mc.TreeKernel()(X)
    for word in words:
        assert word in str(caught.value)


@pytest.mark.thorough
def test_deep_trees() -> None:
    tree: Any = ("a", "b")
    for _ in range(5000):
        tree = ("a", tree)
    assert np.isfinite(mc.TreeKernel(0.4)([tree])).all()


def test_a_classifier_of_trees(tmp_path: Any) -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 40)
    X = [f"(S (NP {rng.choice(['a', 'b', 'c'])}) (VP (V x) {'(NP d)' if k else '(PP e)'}))" for k in y]
    machine = mc.SVC(kernel=mc.TreeKernel(0.4).normalized(), C=10.0).fit(X[:30], y[:30])
    assert (machine.predict(X[30:]) == y[30:]).all()
    mc.save(machine, tmp_path / "m.mercer")
    assert (mc.load(tmp_path / "m.mercer").predict(X[30:]) == y[30:]).all()
    with pytest.raises(ValueError, match="fragments"):
        mc.TreeKernel(fragments="all")
