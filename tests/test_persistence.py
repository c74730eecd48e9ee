from __future__ import annotations

import datetime as dt
import io
import json
import subprocess
import sys
import tracemalloc
import zipfile
from collections.abc import Callable
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
from mercer.app.job import learn
from mercer.app.kinds import infer_kinds
from mercer.data import Ragged
from mercer.files.persistence import FORMAT, Header, header, load, save
from mercer.files.plain import ModelFileError
from mercer.kernels.base import kernel
from mercer.kernels.families import Radial

N = 60
rng = np.random.default_rng(0)
X = rng.standard_normal((N, 4))
POSITIVE = np.abs(X)
HOLES = np.where(rng.random((N, 4)) < 0.1, np.nan, X)
SPARSE = sparse.csr_array(np.where(rng.random((N, 200)) < 0.05, rng.random((N, 200)), 0))
TWO = np.where(X[:, 0] + 0.3 * X[:, 1] > 0, 1, -1)
THREE = np.array(["low", "middle", "high"])[np.digitize(X[:, 0], [-0.5, 0.5])]
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
    "repaired": (mc.Sigmoid(0.3, -0.1).repaired("clip"), X),
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


@pytest.mark.parametrize("i", range(len(CASES)), ids=[case.name for case in CASES])
def test_predictions_are_the_same_bits(files: Path, i: int) -> None:
    case, found = CASES[i], load(files / f"{i}.mercer")
    assert type(found["X"]) is type(case.X)
    assert found["expected"]
    for X in (case.X, found["X"]):
        for way, values in case.outputs(found["model"], X).items():
            np.testing.assert_array_equal(values, found["expected"][way], strict=True)
    assert str(found["model"].get_params()) == str(case.model.get_params())


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


# -- values -----------------------------------------------------------------------------------------------------------


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
    for bad in (pd.date_range("2024", periods=2, tz="UTC"), [[1], [2]]):
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


# -- what cannot be saved ---------------------------------------------------------------------------------------------


def double(Z: Any) -> Any:
    return 2 * Z


@pytest.mark.parametrize(
    ("model", "place"),
    [
        (mc.Gaussian(1.0).map(double), r"Mapped\.function is the function 'double'"),
        (mc.Outer(lambda Z: Z[:, 0]), r"Outer\.g is the function '<lambda>'"),
        (mc.SVC(kernel=mc.Linear() + mc.Gaussian(1.0).map(double)), r"SVC\.kernel\.terms\[1\]\.function"),
        ({"best": mc.SVC(kernel=mc.Outer(np.linalg.norm))}, r"dict\['best'\]\.kernel\.g is the function 'norm'"),
        ([X.sum], r"list\[0\] is the function 'sum'"),
    ],
)
def test_functions_are_refused_before_anything_is_written(tmp_path: Path, model: Any, place: str) -> None:
    with pytest.raises(ModelFileError, match=place + ".*holds data and no code"):
        save(model, tmp_path / "m.mercer")
    assert not list(tmp_path.iterdir())


def test_other_things_that_cannot_be_saved(tmp_path: Path) -> None:
    cycle: list[Any] = []
    cycle.append(cycle)
    with pytest.raises(ModelFileError, match=r"list\[0\] refers to something that it is a part of"):
        save(cycle, tmp_path / "m.mercer")
    with pytest.raises(ModelFileError, match="something that cannot be saved"):
        save({"file": (i for i in range(3))}, tmp_path / "m.mercer")
    with pytest.raises(ModelFileError, match=r"holds mercer\.gram\.stored\.DenseGram, which load\(\) would refuse"):
        save({"K": mc.DenseGram(np.eye(2))}, tmp_path / "m.mercer")
    with pytest.raises(ModelFileError, match="there is no folder"):
        save(mc.SVC(), tmp_path / "none" / "m.mercer")
    assert not list(tmp_path.iterdir())


def test_a_file_is_replaced_whole(tmp_path: Path) -> None:
    path = tmp_path / "m.mercer"
    save(mc.Gaussian(1.0), path)
    with pytest.raises(ModelFileError):
        save(mc.Outer(double), path)
    assert load(path) == mc.Gaussian(1.0)
    save(mc.Gaussian(2.0), path)
    assert load(path) == mc.Gaussian(2.0)
    assert [p.name for p in tmp_path.iterdir()] == ["m.mercer"]


# -- what cannot be read ----------------------------------------------------------------------------------------------


@pytest.fixture
def model_file(tmp_path: Path) -> Path:
    save(mc.SVC().fit(X, THREE.astype(object)), tmp_path / "m.mercer")
    return tmp_path / "m.mercer"


def _rewrite(path: Path, change: Callable[[dict[str, bytes]], None], **options: Any) -> None:
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    change(parts)
    with zipfile.ZipFile(path, "w", **options) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)


def _in_schema(old: str, new: str) -> Callable[[dict[str, bytes]], None]:
    def change(parts: dict[str, bytes]) -> None:
        text = parts["schema.json"].decode()
        assert old in text
        parts["schema.json"] = text.replace(old, new, 1).encode()

    return change


def test_paths(tmp_path: Path) -> None:
    with pytest.raises(ModelFileError, match="There is no file"):
        load(tmp_path / "none.mercer")
    with pytest.raises(ModelFileError, match="is a folder"):
        load(tmp_path)


def test_another_format_number_is_refused_with_both(model_file: Path) -> None:
    def change(parts: dict[str, bytes]) -> None:
        parts["mercer.json"] = json.dumps({"format": 99, "version": "7.5", "kind": "?"}).encode()

    _rewrite(model_file, change)
    with pytest.raises(
        ModelFileError, match=rf"of format 99, written by Mercer 7\.5; Mercer {mc.__version__} reads format {FORMAT}"
    ):
        load(model_file)
    _rewrite(model_file, lambda parts: parts.update({"mercer.json": b"[]"}))
    with pytest.raises(ModelFileError, match="it cannot be read"):
        load(model_file)


@pytest.mark.parametrize("share", [0.0, 0.01, 0.3, 0.9, 0.999])
def test_truncated_files(model_file: Path, share: float) -> None:
    content = model_file.read_bytes()
    model_file.write_bytes(content[: int(share * len(content))])
    with pytest.raises(ModelFileError, match=r"is cut off or damaged|is not a model"):
        load(model_file)


def test_a_flipped_bit_is_found(model_file: Path) -> None:
    with zipfile.ZipFile(model_file) as archive:
        largest = max(archive.infolist(), key=lambda part: part.file_size if part.filename.endswith(".npy") else 0)
    content = bytearray(model_file.read_bytes())
    content[largest.header_offset + 200] ^= 1
    model_file.write_bytes(bytes(content))
    with pytest.raises(ModelFileError, match=r"damaged in its part \d+\.npy"):
        load(model_file)


def test_other_archives(tmp_path: Path, model_file: Path) -> None:
    np.savez(tmp_path / "a.npz", X=X)
    with pytest.raises(ModelFileError, match="not a model that Mercer saved: it is an archive of something else"):
        load(tmp_path / "a.npz")
    (tmp_path / "a.txt").write_text("hello")
    with pytest.raises(ModelFileError, match="is not a model that Mercer saved"):
        load(tmp_path / "a.txt")
    _rewrite(model_file, lambda parts: None, compression=zipfile.ZIP_DEFLATED)
    with pytest.raises(ModelFileError, match="its parts are compressed"):
        load(model_file)


@pytest.mark.parametrize("name", ["../evil.npy", "/etc/passwd", "a\\..\\b.npy", "code.py", "x.pkl"])
def test_parts_of_other_names(model_file: Path, name: str) -> None:
    _rewrite(model_file, lambda parts: parts.update({name: b""}))
    with pytest.raises(ModelFileError, match="a part of it is named"):
        load(model_file)


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_two_parts_of_one_name(model_file: Path) -> None:
    with zipfile.ZipFile(model_file, "a") as archive:
        archive.writestr("schema.json", "{}")
    with pytest.raises(ModelFileError, match="two of its parts have the same name"):
        load(model_file)


@pytest.mark.parametrize(
    ("module", "name"),
    [
        ("os", "system"),
        ("subprocess", "Popen"),
        ("builtins", "eval"),
        ("mercer.data", "nw"),  # an import of Mercer's is not Mercer's
        ("mercer.data", "Iterable"),
        ("mercer.files.persistence", "Path"),
        ("mercer.files.persistence", "load"),  # nor is a function a value
        ("mercer.formula", "jit_source"),
        ("mercer.engine.expression", "Node"),  # formulas are compiled: only kernels make them
        ("mercer.app.cli", "app"),
        ("mercer.nothing", "SVC"),
        ("mercer_evil.kernels", "SVC"),
        ("mercer", "SVC"),
    ],
)
def test_foreign_classes_are_refused_by_name(model_file: Path, module: str, name: str) -> None:
    def change(parts: dict[str, bytes]) -> None:
        _in_schema('"SVC"', f'"{name}"')(parts)
        _in_schema('"mercer.estimators.svm"', f'"{module}"')(parts)

    _rewrite(model_file, change)
    with pytest.raises(ModelFileError, match=rf"asks for {module}\.{name}, which is not Mercer's: nothing was loaded"):
        load(model_file)


def test_foreign_functions_and_methods_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "k.mercer"
    save(mc.Gaussian(1.0).map(np.log1p), path)
    for module, name in (("os", "system"), ("mercer.files.persistence", "load")):
        save(mc.Gaussian(1.0).map(np.log1p), path)

        def change(parts: dict[str, bytes], module: str = module, name: str = name) -> None:
            schema = json.loads(parts["schema.json"])
            function = schema["content"]["content"]["function"]
            assert function["__class__"] == "log1p"
            function["__class__"], function["__module__"] = name, module
            parts["schema.json"] = json.dumps(schema).encode()

        _rewrite(path, change)
        with pytest.raises(ModelFileError, match=f"asks for {module}.{name}"):
            load(path)


def test_pickles_inside_arrays_are_not_opened(model_file: Path, tmp_path: Path) -> None:
    flag = tmp_path / "was_run"

    class Evil:
        def __reduce__(self) -> Any:
            return (Path.touch, (flag,))

    np.save(tmp_path / "evil.npy", np.array([Evil()], object), allow_pickle=True)

    def change(parts: dict[str, bytes]) -> None:
        name = next(name for name in parts if name.endswith(".npy"))
        parts[name] = (tmp_path / "evil.npy").read_bytes()

    _rewrite(model_file, change)
    with pytest.raises(ModelFileError, match="is an array of Python objects"):
        load(model_file)
    assert not flag.exists()


def test_parameters_out_of_range_and_parts_that_are_absent(tmp_path: Path) -> None:
    path = tmp_path / "k.mercer"
    save(mc.Gaussian(1.5) + mc.Linear(), path)
    _rewrite(path, _in_schema('"1.5"', '"-1.5"'))
    with pytest.raises(ModelFileError, match=r"gamma must be a positive number"):
        load(path)
    save({"a": X}, path)
    _rewrite(path, lambda parts: parts.pop(next(name for name in parts if name.endswith(".npy"))))
    with pytest.raises(ModelFileError, match="is damaged or was not written by Mercer"):
        load(path)
    _rewrite(path, lambda parts: parts.update({"schema.json": b"[" * 100_000}))
    with pytest.raises(ModelFileError, match=r"is not a model that Mercer saved: it cannot be read \(RecursionError\)"):
        load(path)


def _declared(content: bytes, shape: str, descr: str = "'<f8'") -> bytes:
    """An array whose header declares another shape or type."""
    header = f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}}}".encode().ljust(117) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + content[128:]


@pytest.mark.parametrize(
    ("header", "message"),
    [
        (("(100000000000,)",), r"declares \(100000000000,\) values of '<f8', 800000000000 bytes"),  # 745 GiB
        (("(10**11,)",), "is not an array, or is damaged"),
        (("(" * 5000,), "is not an array, or is damaged"),
        (("(3,", "'<f8"), "is not an array, or is damaged"),  # a string that does not end: tokenize.TokenError
        (("(-1,)",), "which no array has"),
        (("(1,)", "'<U100000000'"), "400000000 bytes"),
        (("(1,)", "'|O'"), "array of Python objects"),
    ],
    ids=["large", "formula", "deep", "no end", "negative", "long texts", "objects"],
)
def test_arrays_are_as_large_as_they_say(model_file: Path, header: tuple[str, ...], message: str) -> None:
    def change(parts: dict[str, bytes]) -> None:
        name = max((n for n in parts if n.endswith(".npy")), key=lambda n: len(parts[n]))
        parts[name] = _declared(parts[name], *header)

    _rewrite(model_file, change)
    tracemalloc.start()
    with pytest.raises(ModelFileError, match=message):
        load(model_file)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 20_000_000


def test_texts_of_what_are_no_characters_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.mercer"
    save({"a": np.array(["x", "y"])}, path)

    def change(parts: dict[str, bytes]) -> None:
        name = next(n for n in parts if n.endswith(".npy"))
        parts[name] = parts[name][:-1] + b"\xff"

    _rewrite(path, change)
    with pytest.raises(ModelFileError, match="not a character"):
        load(path)


def test_arrays_under_another_name_are_looked_at_too(tmp_path: Path) -> None:
    path = tmp_path / "a.mercer"
    save({"a": X}, path)

    def change(parts: dict[str, bytes]) -> None:
        name = next(n for n in parts if n.endswith(".npy"))
        parts["other.bin"] = _declared(parts.pop(name), "(100000000000,)")
        _in_schema(name, "other.bin")(parts)

    _rewrite(path, change)
    with pytest.raises(ModelFileError, match=r"declares \(100000000000,\) values"):
        load(path)
    save({"a": X}, path)
    out = io.BytesIO()
    np.savez_compressed(out, a=np.zeros(1_000_000))
    _rewrite(
        path,
        lambda parts: parts.update(
            {next(n for n in parts if n.endswith(".npy")).replace(".npy", ".bin"): out.getvalue()}
        ),
    )
    with pytest.raises(ModelFileError, match="is an archive itself"):
        load(path)


@pytest.mark.parametrize("text", ["Infinity", "1e999", "[1]", '"x"', "null", "9" * 5000])
def test_a_header_of_any_kind_is_one_error(model_file: Path, text: str) -> None:
    _rewrite(
        model_file,
        lambda parts: parts.update({"mercer.json": f'{{"format": {text}, "version": "1", "kind": "x"}}'.encode()}),
    )
    for read in (load, header):
        with pytest.raises(ModelFileError):
            read(model_file)


def _content(path: Path, change: Callable[[dict[str, Any]], None]) -> None:
    """Change the attributes of the outermost object in a file."""

    def rewrite(parts: dict[str, bytes]) -> None:
        schema = json.loads(parts["schema.json"])
        change(schema["content"]["content"])
        parts["schema.json"] = json.dumps(schema).encode()

    _rewrite(path, rewrite)


def _renamed(old: str, new: str) -> Callable[[dict[str, Any]], None]:
    def change(members: dict[str, Any]) -> None:
        items = [(new if name == old else name, value) for name, value in members.items()]
        members.clear()
        members.update(items)

    return change


@pytest.mark.parametrize(
    ("model", "old", "new", "message"),
    [
        (mc.SVC(), "C", "D", "A SVC in the file lacks 'C'"),
        (mc.SVC(), "n_features_in_", "predict", "A SVC in the file has a member 'predict', which a SVC has not"),
        (mc.SVC(), "n_features_in_", "a b", "A SVC in the file has a member 'a b'"),
        (mc.SVC(), "n_features_in_", "__class__", "A SVC in the file has a member '__class__'"),
        (mc.Gaussian(0.5), "gamma", "delta", "A Gaussian in the file has a member 'delta'"),
        (mc.Polynomial(2) + mc.Linear(), "terms", "parts", "A Sum in the file lacks 'terms'"),
        (mc.Compute(), "memory", "run", "A Compute in the file has a member 'run'"),
    ],
)
def test_foreign_members_are_refused_in_words(tmp_path: Path, model: Any, old: str, new: str, message: str) -> None:
    path = tmp_path / "m.mercer"
    save(model.fit(X, TWO) if hasattr(model, "fit") else model, path)
    _content(path, _renamed(old, new))
    with pytest.raises(ModelFileError, match=message):
        load(path)


def test_parts_that_refer_to_each_other_do_not_multiply(tmp_path: Path) -> None:
    """Forty lists, each holding the one before twice: a million million values from a few kilobytes."""
    path = tmp_path / "m.mercer"
    save([[1.0], [2.0]], path)

    def change(parts: dict[str, bytes]) -> None:
        schema = json.loads(parts["schema.json"])
        inner = schema["content"][0]
        for k in range(40):
            again = {
                "__class__": "list",
                "__module__": "builtins",
                "__loader__": "CachedNode",
                "__id__": inner["__id__"],
            }
            inner = {**schema, "content": [inner, again], "__id__": 10**15 + k}
        parts["schema.json"] = json.dumps({**schema, "content": [inner]}).encode()

    _rewrite(path, change)
    with pytest.raises(ModelFileError, match="refer to each other so often"):
        load(path)


def test_what_is_shared_is_restored_once(tmp_path: Path) -> None:
    shared = mc.Gaussian(0.5)
    save({"a": shared, "b": shared, "c": [shared] * 50}, tmp_path / "s.mercer")
    found = load(tmp_path / "s.mercer")
    assert found["a"] is found["b"] is found["c"][49]
    assert found["a"] == shared


def test_graphs_in_a_file_are_checked(tmp_path: Path) -> None:
    """Compiled loops follow the edges of a graph without looking."""
    path = tmp_path / "g.mercer"
    save({"g": mc.Graph([(0, 1), (1, 2)], labels=["A", "B", "A"]), "n": mc.Diffusion(np.ones((2, 2)))}, path)
    assert load(path)["g"].edges.tolist() == [[0, 1], [1, 2]]

    def change(parts: dict[str, bytes]) -> None:
        for name in [n for n in parts if n.endswith(".npy")]:
            values = np.load(io.BytesIO(parts[name]))
            if values.tolist() == [[0, 1], [1, 2]]:
                out = io.BytesIO()
                np.save(out, values + 1_000_000)
                parts[name] = out.getvalue()

    _rewrite(path, change)
    with pytest.raises(ModelFileError, match="names a vertex that is not there"):
        load(path)


def test_parts_over_each_other_are_refused(model_file: Path) -> None:
    """A central directory of many entries for the same bytes."""
    content = model_file.read_bytes()
    with zipfile.ZipFile(model_file) as archive:
        at = archive.start_dir
        big = max(archive.infolist(), key=lambda part: part.file_size)
    entries, end = content[at : content.rindex(b"PK\x05\x06")], content[content.rindex(b"PK\x05\x06") :]
    entry = entries[entries.index(big.filename.encode()) - 46 :][: 46 + len(big.filename)]
    copies = b"".join(
        entry.replace(big.filename.encode(), f"{k:0{len(big.filename) - 4}d}.bin".encode()) for k in range(50)
    )
    count = int.from_bytes(end[8:10], "little") + 50
    end = end[:8] + 2 * count.to_bytes(2, "little") + (len(entries) + len(copies)).to_bytes(4, "little") + end[16:]
    model_file.write_bytes(content[:at] + entries + copies + end)
    with pytest.raises(ModelFileError, match=r"larger than the file|damaged|cannot be read"):
        load(model_file)


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


def test_sparse_indices_out_of_range(tmp_path: Path) -> None:
    path = tmp_path / "s.mercer"
    matrix = sparse.csr_array(np.eye(3))
    save({"s": matrix, "kept": matrix.indices}, path)

    def change(parts: dict[str, bytes]) -> None:
        for name in [n for n in parts if n.endswith(".npy")]:
            values = np.load(io.BytesIO(parts[name]))
            if values.tolist() == [0, 1, 2]:
                out = io.BytesIO()
                np.save(out, values + 1000)
                parts[name] = out.getvalue()

    _rewrite(path, change)
    with pytest.raises(ModelFileError, match="is damaged or was not written by Mercer"):
        load(path)


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
