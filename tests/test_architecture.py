"""The layers point one way, and each heavy dependency has one home."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parent
SOURCE = TESTS.parent / "src" / "mercer"

# From the top down: a module may import from its own layer only where the table says so, and otherwise from layers
# below.
LAYERS = [
    {"app"},
    {"play"},
    {"tabular"},
    {"reports"},
    {"plots"},
    {"explanations"},
    {"files"},
    {"selection", "testing"},
    {"estimators"},
    {"hypotheses"},
    {"solvers"},
    {"losses"},
    {"problems"},
    {"functions", "geometry"},
    {"kernels"},
    {"gram"},
    {"engine"},
    {"data"},
    {"formula", "native"},
    {"distributed"},
    {"compute"},
    {"runtime"},
    {"arrays", "annotations"},
    {"troubles"},
]
HOMES = {
    "torch": {"arrays", "engine.gpu"},
    "triton": {"engine.gpu"},
    "dask": {"distributed.answers", "distributed.collections", "distributed.partitions", "distributed.workers"},
    "distributed": {"distributed.answers", "distributed.collections", "distributed.partitions", "distributed.workers"},
    "rdkit": {"data.molecules", "data.fingerprints", "data.invariants", "data.descriptors", "data.scaffolds"},
    "matplotlib": {"plots.drawing"},
    "starlette": {"play.server"},
    "uvicorn": {"play.program"},
    "onnx": {"files.onnx"},
    "numba": {
        "runtime.compiling",
        "native.atomics",
        "native.vector",
        "native.lanes",
        "native.series_steps",
        "native.positive",
        "engine.cpu",
        "engine.mirror",
        "solvers.smo",
    },
    "llvmlite": {
        "native.atomics",
        "native.vector",
        "native.lanes",
        "native.series_steps",
        "native.positive",
        "engine.cpu",
        "engine.mirror",
        "solvers.smo",
    },
}
# Tests of the whole library; all others are of a room or of a module beside the rooms.
WHOLE = {
    "test_docstrings",
    "peers/test_scikit_learn",
    "test_architecture",
    "test_benchmarks",
    "test_compositions",
    "test_contract",
    "test_examples",
    "test_gallery",
    "test_memory",
    "test_package",
    "test_real_data",
    "test_site",
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


@pytest.fixture(scope="module")
def imports() -> dict[str, set[str]]:
    """What each module imports."""
    return {_name(path): _imports(path) for path in _modules()}


def test_imports_point_downwards(imports: dict[str, set[str]]) -> None:
    for me, imported in imports.items():
        for other in (name.removeprefix("mercer.") for name in imported if name.startswith("mercer.")):
            if other in ("__version__",) or other.split(".")[0] == me.split(".")[0]:
                continue
            assert _layer(other) > _layer(me), f"{me} imports {other}, which is not below it"
            assert (me.split(".")[0], other.split(".")[0]) not in NEVER, f"{me} must not import {other}"


def test_heavy_dependencies_have_one_home(imports: dict[str, set[str]]) -> None:
    for me, imported in imports.items():
        for package in {name.split(".")[0] for name in imported} & set(HOMES):
            assert me in HOMES[package], f"{me} imports {package}"


def test_every_module_has_a_layer() -> None:
    for path in _modules():
        _layer(_name(path))


def test_source_files_hold_one_idea() -> None:
    """A file of more than some 400 lines says in its first line why it is one file."""
    texts = {_name(path): path.read_text().splitlines() for path in _modules()}
    assert not [name for name, lines in texts.items() if len(lines) > 415 and "one file" not in lines[0]]
    assert not [name for name, lines in texts.items() if len(lines) > 750]


@pytest.mark.thorough
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


@pytest.mark.thorough
def test_nothing_prints() -> None:
    for path in _modules():
        calls = [
            n
            for n in ast.walk(ast.parse(path.read_text()))
            if isinstance(n, ast.Call) and isinstance(n.func, ast.Name) and n.func.id == "print"
        ]
        assert not calls, path


def _rooms() -> set[str]:
    """The folders of the library that hold code."""
    return {path.name for path in SOURCE.iterdir() if path.is_dir() and any(path.rglob("[!_]*.py"))}


def test_every_room_has_tests() -> None:
    assert {"kernels", "solvers", "estimators"} <= _rooms()
    assert not [room for room in sorted(_rooms()) if not any((TESTS / room).glob("test_*.py"))]


def test_tests_mirror_the_source() -> None:
    """A test module is in the folder of the room it tests, has the name of a module that is in no room, or is about
    the whole library.
    """
    beside = {path.stem for path in SOURCE.glob("[!_]*.py")}
    allowed = {f"test_{name}.py" for name in beside} | {f"{name}.py" for name in WHOLE}
    found = {path.relative_to(TESTS).as_posix() for path in TESTS.rglob("test_*.py")}
    assert sorted(name for name in found - allowed if name.split("/")[0] not in _rooms()) == []
    assert sorted(allowed - found) == []


def test_test_modules_hold_one_subject() -> None:
    lengths = {path: len(path.read_text().splitlines()) for path in TESTS.rglob("*.py")}
    assert not [path.relative_to(TESTS).as_posix() for path, length in lengths.items() if length > 650]


@pytest.mark.thorough
def test_tests_that_need_torch_are_marked() -> None:
    """``make test-torch`` runs what has the mark ``torch``; without torch they are skipped."""
    unmarked = []
    for path in TESTS.rglob("test_*.py"):
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
                calls = {ast.unparse(call) for call in ast.walk(node) if isinstance(call, ast.Call)}
                needs = any(call.startswith(("pytest.importorskip('torch')", "tensor(")) for call in calls)
                if needs and "pytest.mark.torch" not in map(ast.unparse, node.decorator_list):
                    unmarked.append(f"{path.relative_to(TESTS)}::{node.name}")
    assert not unmarked
