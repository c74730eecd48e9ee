"""The layers point one way, and each heavy dependency has one home."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[1] / "src" / "mercer"

# From the top down: a module may import from its own layer only where the table says so, and otherwise from layers
# below.
LAYERS = [
    {"app"},
    {"plots", "report"},
    {"files"},
    {"selection", "testing"},
    {"estimators"},
    {"hypotheses"},
    {"solvers"},
    {"losses"},
    {"problems"},
    {"functions"},
    {"kernels"},
    {"gram"},
    {"engine"},
    {"data"},
    {"formula", "native"},
    {"compute", "distributed"},
    {"runtime"},
    {"arrays"},
]
HOMES = {
    "torch": {"arrays", "engine.gpu"},
    "triton": {"engine.gpu"},
    "dask": {"distributed"},
    "distributed": {"distributed"},
    "rdkit": {"data.molecules"},
    "matplotlib": {"plots.drawing"},
    "numba": {
        "runtime.compiling",
        "native.atomics",
        "native.vector",
        "native.lanes",
        "native.positive",
        "engine.cpu",
        "engine.mirror",
        "solvers.smo",
    },
    "llvmlite": {
        "native.atomics",
        "native.vector",
        "native.lanes",
        "native.positive",
        "engine.cpu",
        "engine.mirror",
        "solvers.smo",
    },
}
NEVER = {
    ("solvers", "kernels"),
    ("estimators", "selection"),
    ("estimators", "plots"),
    ("kernels", "engine"),
    ("solvers", "engine"),
}


def _modules() -> list[Path]:
    return sorted(p for p in SOURCE.rglob("*.py") if p.parent != SOURCE or p.name != "__init__.py")


def _name(path: Path) -> str:
    return ".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__")


def _imports(path: Path) -> set[str]:
    """Absolute names of everything imported anywhere in a file, also inside functions; not what is imported for types
    only.
    """
    tree = ast.parse(path.read_text())
    for_types = [
        node for node in ast.walk(tree) if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
    ]
    skipped = {id(inner) for node in for_types for inner in ast.walk(node)}
    names = set()
    for node in ast.walk(tree):
        if id(node) in skipped:
            continue
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            module = node.module or ""
            names |= {f"{module}.{alias.name}" if module == "mercer" else module for alias in node.names}
    return names


def _layer(name: str) -> int:
    return next(i for i, layer in enumerate(LAYERS) if name.split(".")[0] in layer)


@pytest.mark.parametrize("path", _modules(), ids=_name)
def test_imports_point_downwards(path: Path) -> None:
    me = _name(path)
    for imported in _imports(path):
        if not imported.startswith("mercer."):
            continue
        other = imported.removeprefix("mercer.")
        if other in ("__version__",) or other.split(".")[0] == me.split(".")[0]:
            continue
        assert _layer(other) > _layer(me), f"{me} imports {other}, which is not below it"
        assert (me.split(".")[0], other.split(".")[0]) not in NEVER, f"{me} must not import {other}"


@pytest.mark.parametrize("path", _modules(), ids=_name)
def test_heavy_dependencies_have_one_home(path: Path) -> None:
    for imported in _imports(path):
        package = imported.split(".")[0]
        if package in HOMES:
            assert _name(path) in HOMES[package], f"{_name(path)} imports {package}"


def test_every_module_has_a_layer() -> None:
    for path in _modules():
        _layer(_name(path))


def test_source_files_hold_one_idea() -> None:
    """A file of more than some 400 lines says in its first line why it is one file."""
    texts = {_name(path): path.read_text().splitlines() for path in _modules()}
    assert not [name for name, lines in texts.items() if len(lines) > 415 and "one file" not in lines[0]]
    assert not [name for name, lines in texts.items() if len(lines) > 750]


def test_nobody_outside_asks_of_which_kind_a_gram_is() -> None:
    """Solvers and estimators ask a Gram for what it can do: no ``isinstance``, ``type`` or ``match`` on its classes
    outside of ``gram``.
    """
    names = {
        node.name
        for path in (SOURCE / "gram").glob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ClassDef)
    }
    kinds = {name for name in names if name.endswith(("Gram", "Part"))}
    assert {"Gram", "KernelGram", "DenseGram", "LowRankGram", "CountsGram", "SparseGram"} <= kinds
    found = []
    for path in _modules():
        if path.parent.name == "gram":
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            asks = (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Name)
                and node.func.id in ("isinstance", "issubclass", "type")
            )
            compares = isinstance(node, ast.Compare | ast.match_case)
            used = {
                n.id if isinstance(n, ast.Name) else n.attr
                for n in ast.walk(node)
                if isinstance(n, ast.Name | ast.Attribute)
            }
            if (asks or compares) and used & kinds:
                found.append(f"{_name(path)}: {ast.unparse(node)[:100]}")
    assert not found


def test_nothing_prints() -> None:
    for path in _modules():
        calls = [
            n
            for n in ast.walk(ast.parse(path.read_text()))
            if isinstance(n, ast.Call) and isinstance(n.func, ast.Name) and n.func.id == "print"
        ]
        assert not calls, path


def test_tests_mirror_the_source() -> None:
    tests = {p.name for p in Path(__file__).parent.rglob("*.py")}
    covered_elsewhere = {
        "base": "test_contract.py",
        "arrays": "test_compute.py",
        "formula": "test_compute.py",
        "compiling": "test_folds.py",
        "labelled": "test_graphs.py",
        "radial": "test_vectors.py",
        "products": "test_vectors.py",
        "parameters": "test_contract.py",
        "composite": "test_algebra.py",
        "terms": "test_algebra.py",
        "pointwise": "test_algebra.py",
        "ridge_cv": "test_ridge.py",
        "nu_svm": "test_hulls.py",
        "families": "test_contract.py",
        "anything": "test_inputs.py",
        "reading": "test_notation.py",
        "svmlight": "test_readers.py",
        "archives": "test_readers.py",
        "parquet": "test_readers.py",
        "places": "test_readers.py",
        "text": "test_readers.py",
        "delimited": "test_readers.py",
        "fasta": "test_readers.py",
        "npz": "test_readers.py",
        "plain": "test_persistence.py",
        "app.model": "test_job.py",
        "drawing": "test_plots.py",
        "samples": "test_plots.py",
        "matrix": "test_plots.py",
        "embedding": "test_plots.py",
        "correlogram": "test_plots.py",
        "plots.novelty": "test_plots.py",
        "plots.clusters": "test_plots.py",
        "demo": "test_cli.py",
        "inventory": "test_cli.py",
        "versions": "test_cli.py",
        "validity": "test_testing.py",
        "contract": "test_gram.py",
        "computed": "test_gram.py",
        "stored": "test_gram.py",
        "factored": "test_gram.py",
        "wrapped": "test_gram.py",
        "policy": "test_gram.py",
        "mirror": "test_cpu.py",
        "reductions": "test_tiles.py",
        "steps": "test_tiles.py",
        "smo": "test_dual.py",
        "newton": "test_dual.py",
        "interior": "test_dual.py",
        "multiclass": "test_probability.py",
        "callbacks": "test_svm.py",
        "lapack": "test_linalg.py",
        "machine": "test_svm.py",
        "svr": "test_svm.py",
        "console": "test_cli.py",
        "objects": "test_data.py",
        "representations": "test_data.py",
        "tables": "test_data.py",
        "hashed_rows": "test_sequences.py",
        "mixing": "test_sequences.py",
        "words": "test_sequence_truth.py",
        "mismatches": "test_sequence_truth.py",
        "positions": "test_sequence_truth.py",
        "subsequences": "test_sequence_truth.py",
        "substrings": "test_sequence_truth.py",
        "alignments": "test_sequence_truth.py",
        "strands": "test_sequence_truth.py",
        "lanes": "test_sequence_truth.py",
        "windows": "test_sequence_truth.py",
        "automaton": "test_sequence_truth.py",
        "joins": "test_tiles.py",
        "lists": "test_tiles.py",
        "coordinate": "test_dual.py",
        "bits": "test_graphs.py",
        "graph_files": "test_graphs.py",
        "graph_forms": "test_graphs.py",
        "graph_notices": "test_notices.py",
        "atoms": "test_notices.py",
        "molecules": "test_graphs.py",
        "walks": "test_graphs.py",
        "subgraphs": "test_graphs.py",
        "sets": "test_graphs.py",
        "minima": "test_graphs.py",
        "pairs": "test_graphs.py",
        "propagation": "test_graphs.py",
        "fingerprints": "test_graphs.py",
        "networks": "test_nodes.py",
        "generative": "test_mixture.py",
        "all_or_nothing": "test_svm.py",
        "positive": "test_balance.py",
        "markov": "test_mixture.py",
        "em": "test_gaussian_mixture.py",
        "pca": "test_decomposition.py",
        "kernel_pca": "test_decomposition.py",
        "components": "test_decomposition.py",
        "pre_images": "test_decomposition.py",
        "reconstruction": "test_decomposition.py",
        "hebbian": "test_decomposition.py",
        "kmeans": "test_clusters.py",
        "lloyd": "test_clusters.py",
        "spectral_clustering": "test_clusters.py",
        "cuts": "test_clusters.py",
        "temporal": "test_cca.py",
        "linear_cca": "test_cca.py",
        "neighbours": "test_clusters.py",
        "verbose": "test_clusters.py",
        "weights": "test_unsupervised.py",
        "whole": "test_unsupervised_users.py",
        "checks": "test_unsupervised_users.py",
        "correlation": "test_cca.py",
        "incomplete": "test_cca.py",
        "result": "test_hypotheses.py",
        "permutations": "test_hypotheses.py",
        "kernels": "test_hypotheses.py",
        "two_sample": "test_hypotheses.py",
        "dependence": "test_hypotheses.py",
        "conditional": "test_hypotheses.py",
    }
    for path in _modules():
        name, stem = _name(path), path.stem
        if stem != "__init__":
            # by the whole name where several rooms have a module of that name
            expected = covered_elsewhere.get(name, covered_elsewhere.get(stem, f"test_{stem}.py"))
            assert expected in tests, f"no test file for {name}"
