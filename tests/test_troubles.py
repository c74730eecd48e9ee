"""Every message that a user meets ends with a code: what Mercer raises and warns, what scikit-learn's checks say."""

from __future__ import annotations

import ast
import builtins
import warnings
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone, is_classifier
from sklearn.exceptions import NotFittedError

import mercer as mc
from mercer.app.troubleshooting import entries
from mercer.play.limits import Refused
from mercer.troubles import CODE, code_of_scikit_learn, coded, coding_scikit_learn

SOURCE = Path(__file__).resolve().parents[1] / "src" / "mercer"

# Errors whose constructor codes the message; DataError is to be given its code, or to quote an error that has one.
CODING = {"DataError", "ModelFileError", "NotationError", "Refused"}
# Errors that are caught within Mercer, and say what they say to the code that catches them.
INTERNAL = {
    "Untraceable": "a formula did with a symbol what only numbers can: its kernel is then computed block by block",
    "NotRecorded": "to_onnx quotes it",
    "NonFinite": "gram/computed names the kernel and the pair",
    "NotPositive": "who factorises says what a matrix without a factor means",
    "Stopped": "codes itself", "OutOfTime": "codes itself", "Exit": "ends a command, without a word",
    "AssertionError": "what a contract of mercer.testing says, and pytest shows",
    "_Enough": "ends the rounds of a feature machine, without a word",
}  # fmt: skip
# Messages that nobody but Mercer reads: the module, how it begins, and why.
UNCODED = {
    ("data.sequences", "an array is no token"): "caught where tokens are coded",
    ("engine.expression", "name"): "an attribute of symbols that is looked for and may be missing",
    ("engine.tiles", "cannot be computed"): "an operation without a rule, which no formula records",
    ("files.libsvm_machines", "degree"): "quoted by the reader of models",
    ("files.nested", "the lengths of lists do not add up"): "quoted by the reader of models",
    ("gram.outline", "An outline of a matrix has no values."): "estimate_cost asks its outlines for none",
    ("gram.stacked", "A matrix of blocks"): "solvers on blocks ask for neither",
    ("kernels", "symbol"): "the engine tries symbols first, and computes on items where they are refused",
    ("kernels.reading", "arithmetic in a kernel expression"): "quoted by the parser, with the place",
    ("reports.page", "A drawing has a script in it."): "pictures are drawn by Mercer, without any",
    ("selection.search", "message"): "a warning of a worker, coded there",
}


@cache
def _sources() -> list[tuple[str, list[ast.AST]]]:
    """The name of each module, and all that its syntax tree holds."""
    return [
        (
            ".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__"),
            list(ast.walk(ast.parse(path.read_text(encoding="utf-8")))),
        )
        for path in sorted(SOURCE.rglob("*.py"))
    ]


def _name(call: ast.Call) -> str:
    return call.func.id if isinstance(call.func, ast.Name) else getattr(call.func, "attr", "")


def _classes_of_errors() -> set[str]:
    """Python's errors and warnings, and those that Mercer defines or takes from libraries, by their names."""
    known = {name for name in dir(builtins) if isinstance(getattr(builtins, name), type)}
    known = {name for name in known if issubclass(getattr(builtins, name), BaseException)}
    return known | {"NotFittedError", "LinAlgError", "ClickException", "BadParameter"} | {
        node.name
        for _, nodes in _sources()
        for node in nodes
        if isinstance(node, ast.ClassDef) and any(_is_error(base) for base in node.bases)
    }  # fmt: skip


def _is_error(base: ast.expr) -> bool:
    return ast.unparse(base).endswith(("Error", "Exception", "Warning", "Stopped", "Untraceable"))


def _is_coded(call: ast.Call) -> bool:
    """Whether the message of an error or a warning goes through ``coded``, by itself or by the constructor."""
    name, parts = _name(call), [*call.args, *(keyword.value for keyword in call.keywords)]
    calls = any(isinstance(node, ast.Call) and _name(node) == "coded" for part in parts for node in ast.walk(part))
    codes = any(
        isinstance(node, ast.Constant) and CODE.fullmatch(f"[{node.value}]")
        for part in parts
        for node in ast.walk(part)
    )
    quotes = any(isinstance(node, ast.Name) and node.id == "error" for part in parts for node in ast.walk(part))
    if name == "DataError":
        return codes or quotes
    return calls or name in CODING or (name == "warn" and codes)


def _uncoded(name: str, nodes: Iterable[ast.AST], errors: set[str]) -> Iterator[tuple[str, str]]:
    """The calls in a module that make an error or a warning without a code."""
    for node in nodes:
        if not isinstance(node, ast.Call) or not node.args:
            continue
        made = _name(node)
        if (made in errors - set(INTERNAL) or made == "warn") and not _is_coded(node):
            yield name, ast.unparse(node)


def _listed(module: str, call: str) -> set[tuple[str, str]]:
    return {(where, words) for where, words in UNCODED if f"{module}.".startswith(f"{where}.") and words in call}


@pytest.mark.thorough
def test_every_message_for_users_is_coded() -> None:
    errors = _classes_of_errors()
    assert {"DataError", "NotPositive", "Untraceable", "ClusterLost", "ValueError"} <= errors
    found = [each for name, nodes in _sources() for each in _uncoded(name, nodes, errors)]
    assert not [f"{module}: {call[:150]}" for module, call in found if not _listed(module, call)]
    unused = set(UNCODED).difference(*(_listed(module, call) for module, call in found))
    assert not unused, "listed as without a code, and no longer there"


@pytest.mark.thorough
def test_a_message_without_a_code_is_found() -> None:
    """The test above can fail."""
    source = """
raise ValueError("no")
raise ValueError(coded("yes", "M205"))
raise DataError("no")
raise DataError("yes", "M101")
raise DataError(f"yes: {error}")
warnings.warn("no", UserWarning)
warn("yes", "M301", ConvergenceWarning)
raise ModelFileError("yes")
raise NotPositive(3)
"""
    found = _uncoded("module", ast.walk(ast.parse(source)), _classes_of_errors())
    assert [call for _, call in found] == ["ValueError('no')", "DataError('no')", "warnings.warn('no', UserWarning)"]


@pytest.mark.thorough
def test_every_code_has_an_entry_and_every_entry_is_used() -> None:
    used = {
        node.value
        for _, nodes in _sources()
        for node in nodes
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and CODE.fullmatch(f"[{node.value}]")
    }
    assert used == set(entries())


@pytest.mark.parametrize("error", [mc.DataError, mc.ModelFileError, mc.NotationError, Refused])
def test_errors_that_code_themselves(error: Any) -> None:
    assert CODE.findall(str(error("It is not so."))) == [CODE.findall(str(error("")))[0]]
    assert str(error("It is not so.", "M205")) == "It is not so. [M205]"


def test_the_code_of_what_is_quoted_counts() -> None:
    assert coded("Row 3 is missing.", "M101") == "Row 3 is missing. [M101]"
    assert coded(f"Block 2: {coded('Row 3 is missing.', 'M101')}", "M504") == "Block 2: Row 3 is missing. [M101]"
    assert coded(f"Block 2: {coded('Row 3 is odd.', 'M100')}", "M504") == "Block 2: Row 3 is odd. [M504]"
    assert coded("A [M101]. B [M102].", "M100") == "A. B. [M101]"


# -- what scikit-learn's checks say -----------------------------------------------------------------------------------

X, Y, TWO = np.random.default_rng(0).normal(size=(12, 2)), np.arange(12.0), np.arange(12) % 2
HOLES = np.where(np.arange(24).reshape(12, 2) == 5, np.nan, X)
TEXTS = np.array([["a", "b"]] * 12, dtype=object)

MACHINES = [
    mc.KernelRidge(0.1), mc.KernelRidge(0.1, centers=4), mc.KernelRidgeCV([0.1, 1.0]), mc.SVR(), mc.NuSVR(),
    mc.KernelHuber(), mc.KernelRLS(), mc.KernelSGDRegressor(), mc.MKLRegressor(), mc.SVC(), mc.NuSVC(0.3),
    mc.KernelLogistic(), mc.KernelSGDClassifier(), mc.MKLClassifier(),
]  # fmt: skip
ALONE = [
    mc.KernelPCA(2), mc.KernelKMeans(2), mc.OneClassSVM(0.3), mc.SVDD(0.3), mc.KernelPCANovelty(2),
    mc.PCA(1), mc.KMeans(2), mc.GaussianMixture(2),
]  # fmt: skip


def answer(machine: Any, new: Any) -> Any:
    """What the machine says of new samples."""
    return (machine.predict if hasattr(machine, "predict") else machine.transform)(new)


SAID: dict[str, tuple[str, Callable[[Any, Any], Any]]] = {
    "a missing value": ("M101", lambda m, y: m.fit(HOLES, y)),
    "a missing value, asked later": ("M101", lambda m, y: answer(m.fit(X, y), HOLES)),
    "texts": ("M102", lambda m, y: m.fit(TEXTS, y)),
    "another number of columns": ("M104", lambda m, y: answer(m.fit(X, y), X[:, :1])),
    "one axis": ("M103", lambda m, y: m.fit(X[:, 0], y)),
    "no rows": ("M116", lambda m, y: m.fit(X[:0], y[:0])),
    "not fitted": ("M312", lambda m, y: answer(m, X)),
    "no such parameter": ("M204", lambda m, y: m.set_params(colour=1)),
}
WITH_TARGETS: dict[str, tuple[str, Callable[[Any, Any], Any]]] = {
    "other numbers of samples": ("M111", lambda m, y: m.fit(X, y[:-1])),
    "a missing target": ("M101", lambda m, y: m.fit(X, np.where(y == 1, np.nan, y))),
    "no targets": ("M112", lambda m, y: m.fit(X, None)),
    "targets of three axes": ("M103", lambda m, y: m.fit(X, np.zeros((12, 2, 2)))),
    "negative weights": ("M114", lambda m, y: m.fit(X, y, sample_weight=-np.ones(12))),
    "weights of two axes": ("M114", lambda m, y: m.fit(X, y, sample_weight=np.ones((12, 2)))),
    "weights that are missing": ("M101", lambda m, y: m.fit(X, y, sample_weight=np.full(12, np.nan))),
    "weights of other samples": ("M114", lambda m, y: m.fit(X, y, sample_weight=np.ones(5))),
}


def _called(machine: Any) -> str:
    return type(machine).__name__


@pytest.mark.parametrize("case", SAID)
@pytest.mark.parametrize("machine", [*MACHINES, *ALONE], ids=_called)
def test_what_is_said_at_the_door_is_coded(machine: Any, case: str) -> None:
    _assert_said(*SAID[case], machine)


@pytest.mark.parametrize("case", WITH_TARGETS)
@pytest.mark.parametrize("machine", MACHINES, ids=_called)
def test_what_is_said_of_targets_and_weights_is_coded(machine: Any, case: str) -> None:
    _assert_said(*WITH_TARGETS[case], machine)


@pytest.mark.parametrize(
    "search", [mc.KernelSearchCV(mc.SVC(), {"C": [1.0]}), mc.ConformalRegressor(mc.SVR()), mc.TableModel("y")]
)
@pytest.mark.parametrize("case", ["not fitted", "no such parameter"])
def test_what_is_said_around_machines_is_coded(search: Any, case: str) -> None:
    _assert_said(*SAID[case], search)


def _assert_said(code: str, call: Callable[[Any, Any], Any], machine: Any) -> None:
    y = TWO.astype(float) if is_classifier(machine) else Y
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises((ValueError, TypeError, NotFittedError)) as caught:
            call(clone(machine), y)
    assert CODE.findall(str(caught.value)) == [code], str(caught.value)


def test_what_others_say_is_left_alone() -> None:
    assert code_of_scikit_learn("Input X contains NaN.") == "M101"
    assert code_of_scikit_learn("The weather is fine.") is None
    for error in (ValueError("The weather is fine."), ValueError("Input X contains NaN. [M113]"), ValueError(1, "NaN")):
        before = error.args
        with pytest.raises(ValueError, match=r"weather|NaN"), coding_scikit_learn():
            raise error
        assert error.args == before
