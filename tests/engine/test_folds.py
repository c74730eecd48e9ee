from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mercer import formula
from mercer.engine import reductions
from mercer.engine.expression import Fold, fold_variable
from mercer.engine.folds import compilable, source
from mercer.kernels.base import kernel
from mercer.kernels.families import Additive, Columnwise
from tests.cases import CASES, Case

FOLDS = [c for c in CASES if isinstance(c.kernel, Columnwise)]


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("case", FOLDS, ids=str)
def test_compiled_is_step_by_step(case: Case, dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    X = case.data().astype(dtype)
    plain = case.kernel(X, X[:5])
    monkeypatch.setattr(reductions, "_WORTH_COMPILING", 0)
    tolerance = 1e-13 if dtype == "float64" else 2e-6
    np.testing.assert_allclose(case.kernel(X, X[:5]), plain, rtol=tolerance, atol=tolerance * np.abs(plain).max())
    np.testing.assert_allclose(case.kernel(X)[:, :5], plain, rtol=tolerance, atol=tolerance * np.abs(plain).max())


def test_constants_keep_the_precision() -> None:
    s, x, z = (fold_variable(v) for v in ("s0", "x", "z"))
    text = source(Fold((0.0,), (s + (x + 0.5) * z,)), np.dtype("float32"))
    assert "np.float32(0.5)" in text


def test_what_cannot_be_compiled_is_not() -> None:
    s, x, z = (fold_variable(v) for v in ("s0", "x", "z"))
    assert compilable((s + x * z,))
    assert not compilable((s + (x**0.3) * z,))


SCRIPT = """
import numpy as np, mercer as mc
from mercer.engine import reductions
reductions._WORTH_COMPILING = 0
X = np.arange(6.0).reshape(3, 2)
assert mc.HistogramIntersection()(X)[0, 2] == 1.0
"""


def _run(script: str, **environment: str) -> Any:
    known = {name: value for name, value in os.environ.items() if name != "NUMBA_CACHE_DIR"}  # the places as they are
    return subprocess.run(
        [sys.executable, "-c", script], env={**known, **environment}, capture_output=True, text=True, timeout=120
    )


@pytest.mark.thorough
def test_compiled_code_is_kept_and_a_damaged_cache_does_no_harm(tmp_path: Path) -> None:
    assert _run(SCRIPT, XDG_CACHE_HOME=str(tmp_path)).returncode == 0
    kept = [f for f in tmp_path.rglob("*") if f.suffix in (".nbi", ".nbc")]
    assert kept
    before = {f: f.stat().st_mtime_ns for f in kept}
    assert _run(SCRIPT, XDG_CACHE_HOME=str(tmp_path)).returncode == 0
    assert {f: f.stat().st_mtime_ns for f in kept} == before  # loaded, not compiled again
    for f in kept:
        f.write_bytes(b"damaged" + f.read_bytes()[7:])
    again = _run(SCRIPT, XDG_CACHE_HOME=str(tmp_path))
    assert again.returncode == 0, again.stderr


@pytest.mark.thorough
def test_works_where_nothing_can_be_written(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")  # works for root too, whom permissions do not stop
    result = _run(SCRIPT, XDG_CACHE_HOME=str(blocked), HOME=str(blocked), NUMBA_CACHE_DIR=str(blocked / "x"))
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize(
    "name", ["sin", "cos", "tan", "arcsin", "arccos", "arctan", "sinh", "cosh", "tanh", "exp", "expm1", "log", "log1p"]
)
def test_elementary_functions_in_a_fold(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Written in a term of a kernel: by NumPy on tiles, and compiled, what the function itself gives."""

    @kernel
    class Elementary(Additive):
        def _term(self, x: Any, z: Any) -> Any:
            return getattr(formula, name)(x * z)

    X = np.random.default_rng(0).uniform(0.1, 0.9, (30, 3))
    truth = getattr(np, name)(X[:, None] * X[None]).sum(2)
    np.testing.assert_allclose(Elementary()(X), truth, rtol=1e-13)
    monkeypatch.setattr(reductions, "_WORTH_COMPILING", 0)
    np.testing.assert_allclose(Elementary()(X), truth, rtol=1e-13)
