"""What is loaded is what was saved: predictions to the bit, and values of every kind."""

from __future__ import annotations

import datetime as dt
import re
import subprocess
import sys
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal, assert_series_equal
from scipy import sparse
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import mercer as mc
from mercer.data import Ragged
from mercer.files.persistence import FORMAT, Header, header, load, save
from mercer.files.plain import ModelFileError
from mercer.kernels.base import kernel
from mercer.kernels.families import Radial
from mercer.tabular.job import learn
from mercer.tabular.kinds import infer_kinds
from tests.files.model_samples import HOLES, POSITIVE, SPARSE, THREE, TWO, N, X

COLUMNS: dict[str, Any] = {
    "age": X[:, 0],
    "size": X[:, 1].astype(np.float32),
    "town": [["Köln", "Aachen", None][i % 3] for i in range(N)],
    "flag": [True, False] * (N // 2),
    "hole": HOLES[:, 2],
}
TABLE_KERNEL = (
    mc.Gaussian(0.5).on(["age", "size"])
    + mc.Categorical().on("town") * mc.Categorical().on("flag")
    + mc.Gaussian().imputed().on("hole")
)


@dataclass(frozen=True)
class Case:
    name: str
    model: Any
    X: Any
    y: Any = None

    def outputs(self, model: Any, X: Any) -> dict[str, Any]:
        ways = ("predict", "decision_function", "predict_proba", "score_samples")
        return {way: getattr(model, way)(X) for way in ways if hasattr(model, way)}


KERNELS: dict[str, tuple[Any, Any]] = {
    "default": (None, X),
    "float32": (mc.Gaussian(), X.astype(np.float32)),
    "matern": (mc.Matern([0.5, 1.0, 2.0, 3.0], 2.5), X),
    "sum": (mc.Gaussian(0.3) + 2 * mc.Linear() + 1.5, X),
    "product": (mc.Gaussian(0.3) * mc.Polynomial(3), X),
    "function": (mc.exp(0.1 * mc.Linear()) + mc.polynomial(mc.Linear(), [1.0, 0.0, 2.0]), X),
    "normalized": (mc.Polynomial(3).normalized(), X),
    "centered": (mc.Gaussian(0.3).centered(), X),
    "repaired": (mc.Sigmoid(-0.1, 0.3).repaired("clip"), X),
    "imputed": (mc.Gaussian(0.3).imputed("median", indicator=True), HOLES),
    "histograms": (mc.HistogramIntersection() + mc.ChiSquared(0.7), POSITIVE),
    "ufunc": (mc.Gaussian(0.3).map(np.log1p), POSITIVE),
    "numbered": (mc.Gaussian(0.3).on([0, 2]) + mc.Linear().on(1), X),
    "sparse": (mc.Gaussian(), SPARSE),
    "sparse matrix": (mc.Linear(), sparse.csr_matrix(SPARSE)),
    "precomputed": (mc.Precomputed(X @ X.T), np.arange(N)),
    "matrix": ("precomputed", X @ X.T),
    "polars": (TABLE_KERNEL, pl.DataFrame(COLUMNS)),
    "pandas": (TABLE_KERNEL, pd.DataFrame(COLUMNS)),
    "categories": (mc.Categorical(), np.array([["a", 1], ["b", 2], ["a", None]] * (N // 3), object)),
    "texts": (mc.Categorical(), ["äb", "c", ""] * (N // 3)),
}
CASES = [
    *(Case(f"SVC {name}", mc.SVC(kernel=k), data, THREE) for name, (k, data) in KERNELS.items()),
    Case("SVC probability", mc.SVC(probability=True), X, THREE),
    Case("SVC objects", mc.SVC(probability=True), X, THREE.astype(object)),
    Case("SVC weights", mc.SVC(class_weight={-1: 2.0, 1: 0.5}), X, TWO),
    Case("SVC booleans", mc.SVC(class_weight={False: 2.0, True: 0.5}), X, TWO > 0),
    Case("NuSVC", mc.NuSVC(0.3, probability=True), X, TWO),
    Case("SVR", mc.SVR(), X, X[:, 1]),
    Case("SVR table", mc.SVR(kernel=TABLE_KERNEL), pl.DataFrame(COLUMNS), X[:, 1]),
    Case("NuSVR", mc.NuSVR(), X, X[:, 1]),
    Case("OneClassSVM", mc.OneClassSVM(0.2), X),
    Case("OneClassSVM table", mc.OneClassSVM(0.2, TABLE_KERNEL), pd.DataFrame(COLUMNS)),
    Case("SVDD", mc.SVDD(0.2, mc.Polynomial(2)), X),
    Case("pipeline", make_pipeline(StandardScaler(), mc.SVC(probability=True)), X, TWO),
    Case("compute", mc.SVC(compute=mc.Compute(dtype="float32", threads=1)), X, TWO),
]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Every case in a file of its own: the fitted model, data, and what it predicts on them."""
    folder: Path = tmp_path_factory.mktemp("models")
    for i, case in enumerate(CASES):
        model = case.model.fit(case.X, case.y)
        save(
            {"name": case.name, "model": model, "X": case.X, "expected": case.outputs(model, case.X)},
            folder / f"{i}.mercer",
        )
    return folder


@pytest.mark.thorough
@pytest.mark.parametrize("i", range(len(CASES)), ids=[case.name for case in CASES])
def test_predictions_are_the_same_bits(files: Path, i: int) -> None:
    case, found = CASES[i], load(files / f"{i}.mercer")
    assert type(found["X"]) is type(case.X)
    assert found["expected"]
    for items in (case.X, found["X"]):
        for way, values in case.outputs(found["model"], items).items():
            np.testing.assert_array_equal(values, found["expected"][way], strict=True)
    assert str(found["model"].get_params()) == str(case.model.get_params())


@pytest.mark.thorough
def test_a_fresh_process_needs_only_this_module(files: Path) -> None:
    code = """
import sys
from pathlib import Path
from mercer.files.persistence import load

for path in sorted(Path(sys.argv[1]).iterdir()):
    case = load(path)
    for way, expected in case["expected"].items():
        found = getattr(case["model"], way)(case["X"])
        assert found.dtype == expected.dtype and (found == expected).all(), (case["name"], way)
    sys.stdout.write(case["name"] + "\\n")
"""
    done = subprocess.run([sys.executable, "-W", "error", "-c", code, str(files)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert sorted(done.stdout.splitlines()) == sorted(case.name for case in CASES)


def _there_and_back(value: Any, folder: Path) -> Any:
    save(value, folder / "value.mercer")
    return load(folder / "value.mercer")


def _same(a: Any, b: Any) -> None:
    assert type(a) is type(b)
    if isinstance(a, dict):
        assert list(a) == list(b)
        assert [type(key) for key in a] == [type(key) for key in b]
        for key in a:
            _same(a[key], b[key])
    elif isinstance(a, list | tuple):
        assert len(a) == len(b)
        for x, z in zip(a, b, strict=True):
            _same(x, z)
    elif isinstance(a, np.ndarray):
        assert a.dtype == b.dtype
        np.testing.assert_array_equal(a, b, strict=True)
    else:
        assert a == b or (a != a and b != b)


_scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text()
_arrays = st.sampled_from(
    [
        np.eye(3),
        np.eye(3, dtype=np.float32),
        np.asfortranarray(X),
        np.array(["a", "bc"]),
        np.array(["a", None, 1.5], object),
        np.array([], np.int8),
        np.array([[1, "x"], [2, "y"]], object),
        np.array(["2024-02-29"], "datetime64[D]"),
        np.float32(0.1),
        np.int8(3),
        np.str_("x"),
    ]
)
_keys = st.text() | st.integers() | st.booleans() | st.none() | st.tuples(st.integers(), st.text())


@pytest.mark.thorough
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.recursive(
        _scalars | _arrays,
        lambda part: (
            st.lists(part, max_size=4)
            | st.tuples(part, part)
            | st.dictionaries(_keys, part, max_size=4)
            | st.lists(st.text(), min_size=40)
        ),
        max_leaves=12,
    )
)
def test_data_come_back_as_they_were(tmp_path: Path, value: Any) -> None:
    _same(_there_and_back(value, tmp_path), value)


_columns = {
    "real": st.floats(),
    "single": st.floats(width=32),
    "whole": st.integers(-(2**63), 2**63 - 1),
    "text": st.text(),
    "flag": st.booleans(),
    "day": st.dates(),
    "time": st.datetimes(min_value=dt.datetime(1700, 1, 1), max_value=dt.datetime(2200, 1, 1)),
}
_schema = {
    "real": pl.Float64, "single": pl.Float32, "whole": pl.Int64, "text": pl.String, "flag": pl.Boolean, "day": pl.Date,
    "time": pl.Datetime("us"),
}  # fmt: skip


@pytest.mark.thorough
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=30)
@given(st.lists(st.tuples(*(st.none() | values for values in _columns.values())), max_size=8))
def test_frames_come_back_as_they_were(tmp_path: Path, rows: list[Any]) -> None:
    frame = pl.DataFrame(rows, schema=_schema, orient="row")
    found = _there_and_back({"frame": frame, "column": frame["text"]}, tmp_path)
    assert_frame_equal(found["frame"], frame, check_exact=True)
    assert_series_equal(found["column"], frame["text"])


def test_frames_of_pandas(tmp_path: Path) -> None:
    frame = pd.DataFrame(
        {
            0: [1.5, np.nan],
            "whole": pd.array([2**60 + 1, None], "Int64"),
            "flag": pd.array([True, None], "boolean"),
            "day": pd.to_datetime(["2024-02-29", None]),
            "mixed": np.array(["a", 1], object),
            "category": pd.Categorical(["u", "v"]),
        },
        index=[7, 9],
    )
    found = _there_and_back(frame, tmp_path)
    assert list(found.columns) == list(frame.columns)
    pd.testing.assert_frame_equal(found.drop(columns="category"), frame.drop(columns="category").reset_index(drop=True))
    assert found["category"].tolist() == ["u", "v"]
    for bad in (pd.date_range("2024", periods=2, tz="UTC"), [object(), object()]):
        with pytest.raises(ModelFileError, match=r"DataFrame\['when'\] is a column of .*, which cannot be saved"):
            save(pd.DataFrame({"when": bad}), tmp_path / "bad.mercer")


def test_sparse_ragged_kinds_and_kernels(tmp_path: Path) -> None:
    for given_matrix in (SPARSE, sparse.csr_matrix(SPARSE), sparse.csc_array(SPARSE), sparse.csc_matrix(SPARSE)):
        found = _there_and_back(given_matrix, tmp_path)
        assert type(found) is type(given_matrix)
        assert (found != given_matrix).nnz == 0
    assert isinstance(_there_and_back(sparse.coo_array(SPARSE), tmp_path), sparse.csr_array)
    ragged = _there_and_back(Ragged.of([[1.0], [2.0, 3.0]]), tmp_path)
    assert ragged[1].tolist() == [2.0, 3.0]
    kinds = infer_kinds(pl.DataFrame({"a": [1.5, 2.5], "b": ["x", "x"]}))
    assert _there_and_back(kinds, tmp_path) == kinds
    for k, data in KERNELS.values():
        if isinstance(k, mc.Kernel):
            assert _there_and_back(k, tmp_path) == k
            bound = k.bind(k.domain.check(data))
            assert _there_and_back(bound, tmp_path).gram(data).dense().tobytes() == bound.gram(data).dense().tobytes()


@pytest.mark.torch
def test_tensors(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    found = _there_and_back({"t": torch.arange(3.0)}, tmp_path)["t"]
    assert torch.equal(found, torch.arange(3.0))


def test_what_is_about_the_run_is_left_out(tmp_path: Path) -> None:
    reports: list[Any] = []
    model = mc.SVC(progress=reports.append).fit(X, TWO)
    found = _there_and_back(model, tmp_path)
    assert found.progress is None
    assert model.progress == reports.append  # the model itself is as it was
    assert found.compute == model.compute
    assert found.fit(X, THREE).predict(X).tolist() == mc.SVC().fit(X, THREE).predict(X).tolist()


def test_header(tmp_path: Path) -> None:
    save(mc.SVC().fit(X, TWO), tmp_path / "m.mercer")
    assert header(tmp_path / "m.mercer") == Header(FORMAT, mc.__version__, "mercer.estimators.svm.SVC")


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
@pytest.mark.parametrize("width", [3, 40])  # a long list of names is packed otherwise
def test_a_loaded_model_predicts_from_frames_as_the_original(tmp_path: Path, library: Any, width: int) -> None:
    values = np.random.default_rng(0).standard_normal((60, width))
    frame = library({f"column {j}": values[:, j] for j in range(width)})
    y = np.where(values[:, 0] > 0, 1, -1)
    for model in (
        mc.SVC(),
        mc.KernelRidge(),
        make_pipeline(StandardScaler(), mc.SVC()),
        mc.SVC(kernel=mc.Linear().on(["column 0", "column 2"])),
    ):
        save(model.fit(frame, y), tmp_path / "m.mercer")
        found = load(tmp_path / "m.mercer")
        np.testing.assert_array_equal(found.predict(frame), model.predict(frame))
        assert found.feature_names_in_.tolist() == list(frame.columns)
        if not isinstance(model.kernel if hasattr(model, "kernel") else None, mc.Kernel):
            with pytest.raises(ValueError, match="feature names"):
                found.predict(frame[[frame.columns[j] for j in (1, 0, *range(2, width))]])


@pytest.mark.thorough
@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_the_model_of_a_table_predicts_from_frames_of_any_library(tmp_path: Path, library: Any) -> None:
    data = np.random.default_rng(0)
    columns = {
        "size": data.standard_normal(80), "count": data.integers(0, 50, 80),
        "town": [["Köln", "Aachen", None][i % 3] for i in range(80)], "flag": [True, False] * 40,
        "hole": np.where(data.random(80) < 0.2, np.nan, data.standard_normal(80)),
        "day": [dt.datetime(2024, 1, 1 + i % 28, i % 24) for i in range(80)],
    }  # fmt: skip
    kind = np.where(columns["size"] > 0, "large", "small")
    model = learn(pl.DataFrame({**columns, "kind": kind}), "kind", seconds=2)
    save(model, tmp_path / "m.mercer")
    found = load(tmp_path / "m.mercer")
    expected = model.predict(pl.DataFrame(columns))
    np.testing.assert_array_equal(found.predict(library(columns)), expected)
    np.testing.assert_array_equal(found.predict(library({**columns, "kind": kind})), expected)
    assert found.score(library({**columns, "kind": kind})) == pytest.approx(np.mean(expected == kind))
    with pytest.raises(mc.DataError, match="not a ndarray"):
        found.predict(np.ones((3, 3)))


@kernel
class Wide(Radial):
    """A kernel that a user wrote."""

    width: float = 1.0

    def _profile(self, d2: Any) -> Any:
        return 1.0 / (1.0 + d2 / self.width)


def test_classes_of_a_user_are_loaded_when_named(tmp_path: Path) -> None:
    model = mc.SVC(kernel=Wide(2.0)).fit(X, TWO)
    save(model, tmp_path / "m.mercer")
    with pytest.raises(ModelFileError, match=r"asks for .*test_persistence\.Wide"):
        load(tmp_path / "m.mercer")
    for trusted in ([Wide], [f"{__name__}.Wide"]):
        np.testing.assert_array_equal(
            load(tmp_path / "m.mercer", trusted=trusted).decision_function(X), model.decision_function(X)
        )


SETS = [X[i : i + 1 + i % 3].tolist() for i in range(12)]
SETS_OF_TWO = [each[:2] for each in (X[i : i + 2].tolist() for i in range(12))]
GRAPHS = [mc.Graph([(0, 1), (1, 2)][: 1 + i % 2], ["a", "b", "c"]) for i in range(12)]
WORDS = [["ab", "c"] * (1 + i % 3) for i in range(12)]
NESTED: dict[str, tuple[Any, mc.Kernel]] = {
    "series": (pl.Series("s", [[row[0] for row in each] for each in SETS]), mc.SoftDTW(1.0)),
    "sets": (pl.Series("s", SETS), mc.MeanEmbedding()),
    "arrays": (pl.Series("s", SETS_OF_TWO, dtype=pl.Array(pl.Float64, (2, X.shape[1]))), mc.MeanEmbedding()),
    "words": (pl.Series("s", WORDS), mc.Spectrum(2)),
    "graphs": (pl.Series("s", GRAPHS, dtype=pl.Object), mc.WeisfeilerLehman(1)),
    "pandas arrays": (pd.Series([np.array(each) for each in SETS], name="s"), mc.MeanEmbedding()),
    "pandas words": (pd.Series(WORDS, name="s"), mc.Spectrum(2)),
    "pandas graphs": (pd.Series(GRAPHS, name="s"), mc.WeisfeilerLehman(1)),
}


@pytest.mark.parametrize("name", NESTED)
def test_columns_of_collections(tmp_path: Path, name: str) -> None:
    column, k = NESTED[name]
    frame = column.to_frame()
    model = mc.SVC(kernel=k.on("s")).fit(frame, [0, 1] * 6)
    found = _there_and_back(model, tmp_path)
    np.testing.assert_array_equal(found.decision_function(frame), model.decision_function(frame))
    with pytest.raises(ModelFileError, match=r"columns\[0\]\[0\]\[0\] is the function 'print'"):
        save(pd.DataFrame({"s": [[print]]}), tmp_path / "f.mercer")


@pytest.mark.parametrize(
    "column",
    [
        pl.Series("s", [[1, None], None, [], [3]]),
        pl.Series("s", [[[1.0, 2.0], []], None, [], [[3.0], None]]),
        pl.Series("s", [[[True, False]], None], dtype=pl.Array(pl.Array(pl.Boolean, 2), 1)),
        pl.Series("s", [None, None], dtype=pl.List(pl.Float32)),
        pl.Series("s", [], dtype=pl.List(pl.UInt8)),
    ],
)
def test_lists_with_gaps(tmp_path: Path, column: pl.Series) -> None:
    assert_series_equal(_there_and_back(column, tmp_path), column)


@pytest.mark.parametrize("machine", [mc.KernelHuber(), mc.RepresenterMachine(mc.losses.Pinball(0.3))], ids=str)
def test_a_file_may_name_a_class_as_its_folder_does(machine: Any, tmp_path: Path) -> None:
    """As files do that were written when the folder was one module."""
    X = np.linspace(-1.0, 1.0, 30)[:, None]
    machine = machine.fit(X, X[:, 0])
    mc.save(machine, tmp_path / "new.mercer")
    with zipfile.ZipFile(tmp_path / "new.mercer") as new, zipfile.ZipFile(tmp_path / "old.mercer", "w") as old:
        for part in new.namelist():
            content = new.read(part)
            renamed = re.sub(rb"mercer\.losses\.\w+\b", b"mercer.losses", content) if part == "schema.json" else content
            old.writestr(part, renamed)
    again = mc.load(tmp_path / "old.mercer")
    np.testing.assert_array_equal(again.predict(X), machine.predict(X))
