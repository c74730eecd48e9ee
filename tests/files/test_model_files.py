"""What cannot be saved, and files that cannot be read: broken, foreign, hostile."""

from __future__ import annotations

import io
import json
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse

import mercer as mc
from mercer.files.persistence import FORMAT, header, load, save
from mercer.files.plain import ModelFileError
from tests.files.model_samples import THREE, TWO, X


def double(Z: Any) -> Any:
    return 2 * Z


@pytest.mark.thorough
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


@pytest.mark.thorough
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


@pytest.mark.thorough
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


@pytest.mark.thorough
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


@pytest.mark.thorough
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
