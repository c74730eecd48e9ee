"""Runs a test module of scikit-learn with Mercer's adapters in the place of scikit-learn's public names.

The module's source is executed as it stands; only what it imports is replaced, and only for itself: the rest of
scikit-learn, which tests use as their oracle, stays as it is. Each module runs in a process of its own: ``python -m
tests.peers.harness MODULE REPORT``.
"""

from __future__ import annotations

import builtins
import importlib
import json
import os
import subprocess
import sys
import tempfile
import types
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import sklearn

from tests.peers import adapters

SOURCE = Path(sklearn.__file__).parent
_KERNELS = (
    "additive_chi2_kernel", "chi2_kernel", "cosine_similarity", "laplacian_kernel", "linear_kernel",
    "polynomial_kernel", "rbf_kernel", "sigmoid_kernel", "PAIRWISE_KERNEL_FUNCTIONS",
)  # fmt: skip
_MACHINES = ("SVC", "NuSVC", "SVR", "NuSVR", "OneClassSVM")

# the test module: the module of scikit-learn it tests, and the names there that are replaced
MODULES: dict[str, tuple[str, tuple[str, ...]]] = {
    "svm/tests/test_svm.py": ("sklearn.svm", _MACHINES),
    "svm/tests/test_sparse.py": ("sklearn.svm", _MACHINES),
    "tests/test_kernel_ridge.py": ("sklearn.kernel_ridge", ("KernelRidge",)),
    "decomposition/tests/test_kernel_pca.py": ("sklearn.decomposition", ("KernelPCA",)),
    "decomposition/tests/test_pca.py": ("sklearn.decomposition", ("PCA",)),
    "cluster/tests/test_k_means.py": ("sklearn.cluster", ("KMeans", "k_means")),
    "cluster/tests/test_spectral.py": ("sklearn.cluster", ("SpectralClustering", "spectral_clustering")),
    "mixture/tests/test_gaussian_mixture.py": ("sklearn.mixture", ("GaussianMixture",)),
    "cross_decomposition/tests/test_pls.py": ("sklearn.cross_decomposition", ("CCA",)),
    "metrics/tests/test_pairwise.py": ("sklearn.metrics.pairwise", _KERNELS),
}


@dataclass(frozen=True)
class Result:
    """How a test ended: "passed", "failed" or "skipped", and where it failed."""

    outcome: str
    reason: str = ""


def available() -> bool:
    """Whether scikit-learn was installed with its tests."""
    return all((SOURCE / module).is_file() for module in MODULES)


def run(module: str) -> dict[str, Result]:
    """The results of the tests of ``module`` that use Mercer."""
    root = Path(__file__).resolve().parents[2]
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        done = subprocess.run(
            [sys.executable, "-m", "tests.peers.harness", module, str(report)],
            cwd=root,
            capture_output=True,
            text=True,
            check=False,
        )
        if not report.is_file():
            raise RuntimeError(f"{module} could not be run:\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}")
        return {name: Result(*found) for name, found in json.loads(report.read_text()).items()}


# -- in the process of its own -----------------------------------------------------------------------------------------


class Importer:
    """``__import__`` that gives adapters in the place of ``names`` of the module ``target``, whichever way they are
    imported.
    """

    def __init__(self, target: str, names: tuple[str, ...]) -> None:
        self.standing: dict[str, types.ModuleType] = {}
        self._stand_in(target, {name: getattr(adapters, name) for name in names})
        while "." in target:
            child = self.standing[target]
            target, _, name = target.rpartition(".")
            self._stand_in(target, {name: child})

    def _stand_in(self, name: str, replaced: dict[str, Any]) -> None:
        module = importlib.import_module(name)
        other = types.ModuleType(name, module.__doc__)
        other.__dict__.update(vars(module) | replaced)
        other.__getattr__ = lambda attribute: getattr(module, attribute)  # type: ignore[method-assign]  # what is imported later
        self.standing[name] = other

    def __call__(self, name: str, globals: Any = None, locals: Any = None, fromlist: Any = (), level: int = 0) -> Any:
        module = builtins.__import__(name, globals, locals, fromlist, level)
        return self.standing.get(getattr(module, "__name__", ""), module) if level == 0 else module


class PeerModule(pytest.Module):
    """A test module whose imports go through an ``Importer``."""

    importer: Importer

    def _getobj(self) -> Any:
        name = "sklearn." + ".".join(self.path.relative_to(SOURCE).with_suffix("").parts)
        module = types.ModuleType(name)
        module.__file__, module.__package__ = str(self.path), name.rpartition(".")[0]
        module.__dict__["__builtins__"] = vars(builtins) | {"__import__": self.importer}
        sys.modules[name] = module  # where pickle looks for what it defines
        exec(compile(self.path.read_text(encoding="utf-8"), str(self.path), "exec"), module.__dict__)
        return module


class Plugin:
    """Collects the module by a ``PeerModule`` and records how each test that built an adapter ended."""

    def __init__(self, importer: Importer) -> None:
        self.importer, self.results = importer, dict[str, tuple[str, str]]()

    def pytest_pycollect_makemodule(self, module_path: Path, parent: Any) -> Any:
        module = PeerModule.from_parent(parent, path=module_path)
        module.importer = self.importer
        return module

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self, item: Any, nextitem: Any) -> Iterator[None]:
        before, self.outcome = adapters.built, ("skipped", "")
        yield
        if adapters.built > before:
            self.results[item.name] = self.outcome

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.failed and self.outcome[0] != "failed":
            self.outcome = ("failed", "")
        elif report.passed and report.when == "call":
            self.outcome = ("passed", "")

    def pytest_exception_interact(self, node: Any, call: Any, report: Any) -> None:
        if isinstance(report, pytest.TestReport):
            self.outcome = ("failed", _short(call.excinfo, node.path))


def _short(failure: Any, path: Path) -> str:
    """The place in the test module that failed, and the beginning of the message."""
    place = [entry for entry in failure.traceback if entry.path == path][-1:]
    said = " ".join(f"{failure.typename}: {failure.value}".split())[:300]
    return f"line {place[0].lineno + 1}, {str(place[0].statement).strip().splitlines()[0]}: {said}" if place else said


def main(module: str, report: str) -> None:
    os.environ.setdefault("SKLEARN_SKIP_NETWORK_TESTS", "1")
    plugin = Plugin(Importer(*MODULES[module]))
    options = [
        "-q",
        "-p",
        "no:cacheprovider",
        "-W",
        "ignore",
        "-c",
        os.devnull,
        f"--rootdir={SOURCE}",
        f"--confcutdir={SOURCE}",
    ]
    code = pytest.main([*options, str(SOURCE / module)], plugins=[plugin])
    if code in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
        Path(report).write_text(json.dumps(plugin.results))


if __name__ == "__main__":
    main(*sys.argv[1:])
