from __future__ import annotations

import io
import os
import subprocess
import sys

import pytest
from typer.testing import CliRunner

import mercer as mc
from mercer.cli import app
from mercer.inventory import entries

runner = CliRunner()


def test_demo_shows_check_gram_and_table() -> None:
    result = runner.invoke(app, ["demo", "--rows", "60"])
    assert result.exit_code == 0, result.output
    for word in ("breast cancer, 60 rows", "is a kernel", "60 × 60 float64", "alignment", "%"):
        assert word in result.output.replace("\n", " ")


def test_demo_takes_an_expression_and_explains_a_bad_one() -> None:
    result = runner.invoke(app, ["demo", "--rows", "50", "--kernel", "Laplacian(γ=0.1)²"])
    assert result.exit_code == 0, result.output
    assert "Laplacian(γ=0.1)²" in result.output
    result = runner.invoke(app, ["demo", "--kernel", "Gausian()"])
    assert result.exit_code == 2
    assert "not the name of a kernel" in result.output.replace("\n", " ")


def test_kernels_lists_every_public_kernel() -> None:
    result = runner.invoke(app, ["kernels"])
    assert result.exit_code == 0
    for name in dir(mc):
        thing = getattr(mc, name)
        if isinstance(thing, type) and issubclass(thing, mc.Kernel) and thing is not mc.Kernel:
            assert name in result.output
    assert "k.normalized()" in result.output
    gaussian = next(e for e in entries(composites=False) if e.call.startswith("Gaussian"))
    assert (gaussian.formula, gaussian.psd, gaussian.features) == ("exp(−γ‖x − z‖²)", "yes", "no")
    assert all(e.formula for e in entries(composites=True))


def test_versions() -> None:
    result = runner.invoke(app, ["versions"])
    assert result.exit_code == 0
    out = io.StringIO()
    mc.show_versions(out)
    for text in (result.output, out.getvalue()):
        for word in ("mercer", "numpy", "scikit-learn", "blas", "memory", "device"):
            assert word in text


@pytest.mark.parametrize("arguments", [["--help"], ["demo", "--help"], ["kernels", "--help"]])
def test_help_imports_nothing_heavy(arguments: list[str]) -> None:
    code = (
        f"import sys; sys.argv = ['mercer', *{arguments!r}]\n"
        "from mercer.cli import main\n"
        "try:\n    main()\nexcept SystemExit as e:\n    assert not e.code\n"
        "heavy = [m for m in ('numpy', 'scipy', 'sklearn', 'numba', 'torch', 'dask', 'matplotlib', 'rdkit') if m in sys.modules]\n"
        "assert not heavy, heavy"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env={**os.environ, "COLUMNS": "80"}, timeout=60)
    assert result.returncode == 0, result.stderr
