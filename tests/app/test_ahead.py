"""What a first fit compiles, and that nothing is left to compile after ``mercer compile``; each in a process of its
own, with caches of its own.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import mercer as mc
from mercer.app import ahead
from mercer.app.cli import app

runner = CliRunner()

DATA = """
import numpy as np, mercer as mc
from mercer.runtime import compiling
rng = np.random.default_rng(0)

def data(n, classes=2, d=20):
    X = rng.normal(size=(n, d))
    return X, np.argmax(X @ rng.normal(size=(d, classes)) + 1.5 * rng.normal(size=(n, classes)), axis=1)
"""

FITS = """
mc.SVC().fit(*data(1000)).predict(data(50)[0])
mc.SVC().fit(*data(100))
mc.SVC().fit(*data(150, 3))
mc.SVC().fit(*data(1000, 3))
mc.SVC(compute=mc.Compute(threads=2)).fit(*data(4000))
mc.SVC().fit(data(1000)[0].astype(np.float32), data(1000)[1])
mc.SVC(kernel=mc.Polynomial(3)).fit(*data(700))
mc.SVR().fit(data(700)[0], data(700)[0][:, 0])
mc.OneClassSVM().fit(data(700)[0])
mc.KernelRidge().fit(data(1200)[0], data(1200)[0][:, 0]).predict(data(60)[0])
mc.KernelLogistic().fit(*data(400))
mc.KernelPCA(3).fit(data(500)[0])
mc.KMeans(3, random_state=0).fit(data(500)[0])
strings = ["".join(rng.choice(list("ACGT"), k)) for k in rng.integers(5, 90, 200)]
y = np.arange(200) % 2
for k in (mc.Spectrum(4), mc.Gappy(5, 3), mc.Spectrum(3).normalized(), mc.Subsequence(3)):
    mc.SVC(kernel=k).fit(strings, y).predict(strings[:9])
graphs = [mc.Graph([(0, 1), (1, 2), (2, 0), (2, 3)], list(rng.choice(list("CNO"), 4))) for _ in range(200)]
for k in (mc.WeisfeilerLehman(2), mc.ShortestPath().normalized(), mc.Tanimoto(mc.PathBag(4))):
    mc.SVC(kernel=k).fit(graphs, y).predict(graphs[:9])
"""


def _where(folder: Path) -> dict[str, str]:
    """The environment of a process whose caches are in a folder."""
    return os.environ | {
        "NUMBA_CACHE_DIR": str(folder / "numba"),
        "XDG_CACHE_HOME": str(folder / "home"),
        "LOCALAPPDATA": "",
    }


def _python(folder: Path, *arguments: str, timeout: float = 300) -> str:
    result = subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, timeout=timeout, env=_where(folder)
    )
    assert result.returncode == 0, result.stderr
    return result.stdout


@pytest.mark.slow
def test_a_first_fit_compiles_three_functions_and_none_after_mercer_compile(tmp_path: Path) -> None:
    """In float32 alone: the loop of the formula, whatever becomes of its values; the mirror in it; SMO. Then all that
    the kernel may need.
    """
    assert _python(tmp_path, "-c", DATA + "mc.SVC().fit(*data(1000)); print(compiling.compilations())").split() == ["3"]
    said = _python(tmp_path, "-m", "mercer.app.cli", "compile", "Gaussian()")
    assert said.startswith("compiling Gaussian()\n")
    assert " functions compiled, " in said
    assert "kB in" in said or "MB in" in said
    assert said.endswith(f"  {tmp_path / 'numba'}\n")
    code = "mc.SVC().fit(*data(90)); mc.SVC().fit(*data(800, 3)).predict(data(9)[0]); print(compiling.compilations())"
    assert _python(tmp_path, "-c", DATA + code).split() == ["0"]


@pytest.mark.slow
def test_nothing_is_left_to_compile_for_usual_work(tmp_path: Path) -> None:
    _python(tmp_path, "-m", "mercer.app.cli", "compile", timeout=1200)
    counted = "import numba.core.event as ev\nwith ev.install_recorder('numba:compile') as seen:\n"
    body = "".join(f"    {line}\n" for line in FITS.strip().split("\n"))
    told = "print([e.data['dispatcher'].py_func.__qualname__ for _, e in seen.buffer if e.is_start])"
    assert _python(tmp_path, "-c", DATA + counted + body + told).strip() == "[]"


@pytest.mark.parametrize(("variable", "place"), [("XDG_CACHE_HOME", "file"), ("NUMBA_CACHE_DIR", "file/inside")])
def test_where_nothing_can_be_kept_is_found_before_the_work(
    variable: str, place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def began() -> Any:
        raise AssertionError("the work began")

    monkeypatch.setattr(ahead, "_usual", began)
    monkeypatch.delenv("LOCALAPPDATA", raising=False)
    (tmp_path / "file").write_text("not a folder")
    monkeypatch.setenv(variable, str(tmp_path / place))
    result = runner.invoke(app, ["compile"])
    assert result.exit_code == 3
    assert result.stderr.startswith(f"mercer: {tmp_path / place}")
    assert f"set {variable} to a folder that can be written" in result.stderr
    with pytest.raises(OSError, match=variable):
        mc.compile_ahead()


def test_what_cannot_be_compiled_is_said() -> None:
    result = runner.invoke(app, ["compile", "Gausian()"])
    assert (result.exit_code, "'Gausian' is not the name of a kernel" in result.stderr) == (2, True)
    with pytest.raises(ValueError, match="takes none of the samples"):
        mc.compile_ahead(mc.Gaussian(1.0).on("age"))


KINDS = [
    mc.Gaussian("median"), mc.Matern([1.0, 2.0, 3.0], 1.5), mc.Min(), mc.Hellinger(), mc.Gaussian(1.0).on([0, 2]),
    mc.Spectrum(3), mc.WeightedDegree(3), mc.GlobalAlignment(), mc.TreeKernel(), mc.WeisfeilerLehman(2),
]  # fmt: skip


@pytest.mark.thorough
@pytest.mark.parametrize("kernel", KINDS, ids=str)
def test_every_kind_of_kernel_has_a_sample(kernel: mc.Kernel) -> None:
    X = ahead._sample_for(kernel)
    assert len(X) >= 40
    assert np.isfinite(kernel.bind(X[:5])(X[:5])).all()


@pytest.mark.thorough
def test_ctrl_c_ends_it_and_keeps_what_is_done(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "mercer.app.cli", "compile"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=_where(tmp_path)
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline().startswith("compiling ")
        time.sleep(0.5)
        sent = time.monotonic()
        process.send_signal(signal.SIGINT)
        said = process.stderr.read()
        assert process.wait(30) == 130
        assert time.monotonic() - sent < 25  # all of it takes minutes; one compilation on a busy machine, seconds
    assert "interrupted; what is compiled is kept" in said
    assert "Traceback" not in said
