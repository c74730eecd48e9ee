"""An argument of one name is one thing, wherever it stands."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import mercer
from mercer import annotations

SOURCE = Path(mercer.__file__).parent
NAMED = {"X": "Samples", "Y": "Samples", "sample_weight": "Weights"}


@pytest.mark.thorough
def test_samples_and_weights_are_annotated_as_such() -> None:
    """``Any`` says nothing where there is a word for it."""
    found = [
        f"{path.relative_to(SOURCE)}:{node.lineno} {node.arg}"
        for path in SOURCE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.arg) and node.arg in NAMED and node.annotation is not None
        if ast.unparse(node.annotation) == "Any"
    ]
    assert found == []


def test_each_word_is_used() -> None:
    text = "\n".join(path.read_text() for path in SOURCE.rglob("*.py") if path.stem != "annotations")
    words = [name for name in vars(annotations) if name[0].isupper() and name not in ("Any", "TypeAlias")]
    assert len(words) >= 6
    assert [word for word in words if f": {word}" not in text] == []
