"""What a user's first minute relies on."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from importlib.resources import files

import pytest

import mercer as mc
from mercer.kernels.compose.composite import Composite
from mercer.kernels.notation import kernel_classes


def _python(code: str, timeout: float = 120) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=timeout)


@pytest.mark.thorough
def test_import_is_light() -> None:
    code = """
import sys, mercer
heavy = [m for m in ("numpy", "numba", "torch", "dask", "matplotlib", "rdkit", "sklearn") if m in sys.modules]
assert not heavy, heavy
mercer.Gaussian(1.0)([[0.0], [1.0]])
heavy = [m for m in ("numba", "torch", "dask", "matplotlib", "rdkit") if m in sys.modules]
assert not heavy, heavy
"""
    result = _python(code)
    assert result.returncode == 0, result.stderr


@pytest.mark.thorough
def test_every_lazy_name_exists() -> None:
    result = _python("import os; os.environ['EAGER_IMPORT'] = '1'\nimport mercer\nassert len(dir(mercer)) > 30")
    assert result.returncode == 0, result.stderr
    for name in dir(mc):
        assert getattr(mc, name) is not None


def test_typed() -> None:
    assert files("mercer").joinpath("py.typed").is_file()


@pytest.mark.thorough
def test_ctrl_c_interrupts_a_product() -> None:
    """One of minutes stops promptly, leaves no worker running, and Mercer goes on working; half a second, on an idle
    machine, is measured in ``benchmarks/bench_interrupts.py``.
    """
    code = """
import numpy as np, mercer as mc, threading, time, sys
X = np.random.default_rng(0).standard_normal((200_000, 50))
gram = mc.Gaussian(0.01).gram(X)
print("started", flush=True)
try:
    gram @ np.ones(200_000)
except KeyboardInterrupt:
    print("interrupted", time.time(), flush=True)
assert (mc.Gaussian(0.01)(X[:500]).diagonal() == 1).all()
"""
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        assert process.stdout.readline().strip() == "started"
        time.sleep(1.0)
        sent = time.time()
        process.send_signal(signal.SIGINT)
        word, moment = process.stdout.readline().split()
        assert word == "interrupted"
        assert float(moment) - sent < 10
        assert process.wait(timeout=60) == 0
    finally:
        process.kill()  # a process that does not end fails the test, and does not stop all others
        process.communicate()


def test_a_kernel_is_exported_or_internal() -> None:
    """A kernel that nobody exports would be missing from ``mercer kernels`` and from every table."""
    # of the modules themselves, not of an example in a docstring that was run before
    classes = [
        cls
        for name, cls in kernel_classes().items()
        if cls.__module__.startswith("mercer.") and vars(sys.modules[cls.__module__]).get(name) is cls
    ]
    assert len(classes) > 80
    simple = [cls for cls in classes if not issubclass(cls, Composite)]
    exported = {name for name in mc.__all__ if isinstance(getattr(mc, name), type) and getattr(mc, name) in simple}
    public = {cls.__name__ for cls in simple if not cls._internal}
    assert public <= exported, f"a line in src/mercer/__init__.pyi, or _internal = True: {sorted(public - exported)}"
    assert exported <= public, f"exported and _internal: {sorted(exported - public)}"
