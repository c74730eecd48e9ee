"""Machines as ONNX graphs: what onnxruntime computes of them is what they predict."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_diabetes, load_iris

import mercer as mc
from mercer.losses import EpsilonInsensitive, Logistic

pytest.importorskip("onnx")
runtime = pytest.importorskip("onnxruntime")

X, SPECIES = load_iris(return_X_y=True)
X = X.astype(np.float32).astype(np.float64)[::2]
SPECIES = SPECIES[::2]
ROWS, TARGET = (load_diabetes().data[:80] * 20).astype(np.float32).astype(np.float64), load_diabetes().target[:80] / 50
NEW = np.random.default_rng(0).uniform(0.1, 6.0, (40, 4)).astype(np.float32).astype(np.float64)
LABELS = {"two": (SPECIES > 0).astype(int), "three": SPECIES, "texts": np.array(["setosa", "red", "blue"])[SPECIES]}

KERNELS = {
    "linear": mc.Linear(),
    "polynomial": mc.Polynomial(3, scale=0.1),
    "gaussian": mc.Gaussian(0.2),
    "gaussian of columns": mc.Gaussian([0.1, 0.2, 0.3, 0.4]),
    "sigmoid": mc.Sigmoid(0.1, 0.01),
    "laplacian": mc.Laplacian(0.3),
    "matern": mc.Matern(2.0, 1.5),
    "rational quadratic": mc.RationalQuadratic(2.0),
    "power exponential": mc.PowerExponential(2.0, 1.4),
    "periodic": mc.Periodic([3.0, 4.0, 5.0, 6.0]),
    "arc cosine": mc.ArcCosine(1),
    "anova": mc.Anova(2),
    "all subsets": mc.AllSubsets(),
    "chi squared": mc.ChiSquared(0.5),
    "bilinear": mc.Bilinear(np.diag([1.0, 2.0, 0.5, 0.0])),
    "constant": mc.Constant(2.0),
    "sum and product": mc.Gaussian(0.2) + 2.0 * mc.Linear() * mc.Gaussian(0.1),
    "power": (mc.Linear() + 1.0) ** 2,
    "exponential": mc.exp(0.01 * mc.Linear()),
    "normalized": mc.Polynomial(2).normalized(),
    "normalized fold": mc.Anova(2).normalized(),
    "centered": mc.Gaussian(0.2).centered(),
    "standardized": mc.Gaussian().standardized(),
    "imputed": mc.Gaussian(0.2).imputed(indicator=True),
    "columns": mc.Gaussian(0.3).on([0, -1]) + mc.Linear().on(1),
    "metric": mc.Gaussian(0.5).metric(np.diag([1.0, 0.5, 0.2, 0.1]) + 0.05),
    "repaired": mc.Sigmoid(0.1, 0.01).repaired(),
    "random features": mc.RandomFeatures(mc.Gaussian(0.2), 51, random_state=0),
    "random units": mc.RandomFeatures(mc.ArcCosine(1), 40, random_state=0),
    "nystrom": mc.Nystrom(mc.Gaussian(0.2), 20, random_state=0),
    "nystrom in a sum": mc.Nystrom(mc.Gaussian(0.2), 20, random_state=0) + mc.Linear(),
}


def run(machine: Any, rows: Any, **options: Any) -> dict[str, Any]:
    graph = mc.to_onnx(machine, **options)
    session = runtime.InferenceSession(graph.SerializeToString(), providers=["CPUExecutionProvider"])
    assert [entry.name for entry in session.get_inputs()] == ["X"]
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(None, {"X": np.asarray(rows, np.float32)}), strict=True))


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.filterwarnings("ignore:.*indefinite", "ignore:.*not positive")
def test_every_recorded_kernel(name: str) -> None:
    machine = mc.KernelRidge(0.1, kernel=KERNELS[name]).fit(X, SPECIES)
    found = run(machine, NEW)
    assert list(found) == ["variable"]
    assert found["variable"].shape == (40, 1)
    expected = machine.predict(NEW)
    assert np.abs(found["variable"][:, 0] - expected).max() <= 1e-5 * max(1.0, np.abs(expected).max())


@pytest.mark.parametrize("labels", LABELS)
@pytest.mark.parametrize(
    "machine",
    [
        mc.SVC(kernel=mc.Gaussian(0.2), probability=True),
        mc.SVC(kernel=mc.Polynomial(2)),
        mc.SVC(kernel=mc.Laplacian(0.2), centers=15, random_state=0, probability=True),
        mc.NuSVC(0.1, kernel=mc.Gaussian(0.1)),
        mc.KernelLogistic(0.1, mc.Gaussian(0.2) + mc.Linear()),
        mc.MKLClassifier(kernel=mc.Gaussian(0.2) + mc.Linear()),
    ],
    ids=["svc", "polynomial", "centers", "nu", "logistic", "mkl"],
)
def test_classifiers(machine: Any, labels: str) -> None:
    machine = machine.fit(X, LABELS[labels])
    found, scores = run(machine, NEW), machine.decision_function(NEW)
    assert found["label"].tolist() == machine.predict(NEW).tolist()
    assert np.abs(found["scores"].reshape(scores.shape) - scores).max() <= 1e-5
    assert ("probabilities" in found) == hasattr(machine, "predict_proba")
    if "probabilities" in found:
        assert np.abs(found["probabilities"] - machine.predict_proba(NEW)).max() <= 1e-5


def test_a_machine_of_libsvm(tmp_path: Path) -> None:
    """Votes that tie are decided by the order in the file, and probabilities are Platt's."""
    from tests.files.libsvm_samples import GOLDEN

    (tmp_path / "a.model").write_text(GOLDEN)
    machine = mc.load_libsvm(tmp_path / "a.model")
    rows = np.random.default_rng(0).uniform(-4, 4, (500, 2)).astype(np.float32)
    found = run(machine, rows)
    assert found["label"].tolist() == machine.predict(rows.astype(float)).tolist()
    assert np.abs(found["probabilities"] - machine.predict_proba(rows.astype(float))).max() <= 1e-5


@pytest.mark.parametrize(
    "machine",
    [
        mc.SVR(kernel=mc.Gaussian(0.05)),
        mc.NuSVR(kernel=mc.Laplacian(0.1)),
        mc.KernelRidge(kernel=mc.Gaussian(0.05)),
        mc.KernelPoisson(kernel=mc.Gaussian(0.05)),
        mc.KernelHuber(kernel=mc.Matern(3.0, 2.5)),
        mc.RepresenterMachine(EpsilonInsensitive(0.1), kernel=mc.Gaussian(0.05)),
        mc.MKLRegressor(kernel=mc.Gaussian(0.05) + mc.Linear()),
    ],
    ids=lambda machine: type(machine).__name__,
)
def test_regressors(machine: Any) -> None:
    machine = machine.fit(ROWS, TARGET)
    assert np.abs(run(machine, ROWS)["variable"][:, 0] - machine.predict(ROWS)).max() <= 1e-5


def test_several_outputs_sparse_rows_and_one_class() -> None:
    both = np.column_stack([TARGET, -TARGET])
    machine = mc.KernelRidge(kernel=mc.Gaussian(0.05)).fit(sparse.csr_array(ROWS), both)
    assert np.abs(run(machine, ROWS)["variable"] - machine.predict(ROWS)).max() <= 1e-5
    loss = mc.RepresenterMachine(Logistic(), kernel=mc.Gaussian(0.05)).fit(ROWS, np.where(TARGET > 3, 1.0, -1.0))
    assert np.abs(run(loss, ROWS)["variable"][:, 0] - loss.predict(ROWS)).max() <= 1e-5
    region = mc.OneClassSVM(0.2, kernel=mc.Gaussian(0.05)).fit(ROWS)
    found = run(region, ROWS + 0.1)
    rows = (ROWS + 0.1).astype(np.float32).astype(float)
    assert found["label"].tolist() == region.predict(rows).tolist()
    assert np.abs(found["scores"][:, 0] - region.decision_function(rows)).max() <= 1e-5


def test_missing_values_are_filled_in_the_graph() -> None:
    machine = mc.KernelRidge(0.1, kernel=mc.Gaussian(0.2).imputed(indicator=True)).fit(X, SPECIES)
    gaps = NEW.copy()
    gaps[::3, 1] = gaps[::4, 3] = np.nan
    assert np.abs(run(machine, gaps)["variable"][:, 0] - machine.predict(gaps)).max() <= 1e-5


def test_single_precision_and_a_file(tmp_path: Path) -> None:
    machine = mc.SVC(kernel=mc.Gaussian(0.2)).fit(X, SPECIES)
    graph = mc.to_onnx(machine, tmp_path / "a.onnx", dtype="float32")
    assert (tmp_path / "a.onnx").read_bytes() == graph.SerializeToString()
    assert {tensor.data_type for tensor in graph.graph.initializer} <= {1, 7}  # float and int64
    found = run(machine, NEW, dtype="float32")
    assert np.abs(found["scores"] - machine.decision_function(NEW)).max() <= 1e-4
    assert (found["label"] == machine.predict(NEW)).all()


@pytest.mark.parametrize(
    ("machine", "words"),
    [
        (mc.SVC(kernel=mc.Matern(1.0, 0.7)), "to_onnx cannot write Matern.*computed by its own code"),
        (mc.SVC(kernel=mc.Gaussian(1.0).map(lambda rows: np.sort(rows))), "cannot write"),
        (mc.KernelPCA(), "no graph for a KernelPCA; it takes SVC"),
        (mc.KernelQuantile(), "no graph for a KernelQuantile"),
    ],
)
def test_what_has_no_operators(machine: Any, words: str) -> None:
    with pytest.raises(mc.ModelFileError, match=words):
        mc.to_onnx(machine.fit(X, SPECIES))


def test_what_is_not_of_rows() -> None:
    with pytest.raises(mc.ModelFileError, match="rows of numbers"):
        mc.to_onnx(mc.SVC(kernel=mc.Spectrum(2)).fit(["abab", "cccc"], [0, 1]))
    with pytest.raises(mc.ModelFileError, match="precomputed"):
        mc.to_onnx(mc.SVC(kernel="precomputed").fit(np.eye(4), [0, 1, 0, 1]))
    with pytest.raises(ValueError, match="dtype='half'"):
        mc.to_onnx(mc.SVC().fit(X, SPECIES), dtype="half")


def test_without_onnx_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    machine = mc.SVC().fit(X, SPECIES)
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(ImportError, match=r'pip install "mercer\[onnx\]"'):
        mc.to_onnx(machine)
