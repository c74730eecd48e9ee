"""Fitted models in files that hold data and no code.

``save`` writes a skops archive: arrays as they are, objects as the name of their class and their attributes, nothing
pickled. ``load`` reads the names before it makes anything, and makes only values that Mercer itself defines
(estimators, kernels, dataclasses), what skops trusts by default (plain data, NumPy, scikit-learn's estimators) and what
the caller names.

What a file claims is checked before it is believed: sizes of arrays against the bytes that are there, attributes
against those that the class has. Whatever is wrong with it is a ``ModelFileError``.

What skops cannot hold is written in a plain form and restored on reading: data frames as their columns, texts as one
buffer, sparse matrices as their three arrays, dictionaries by pairs, tensors as arrays. What is about a run and not
about a model (``progress``, callbacks) is left out.
"""

from __future__ import annotations

import importlib
import io
import json
import os
import re
import types
import uuid
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator

import mercer
from mercer import arrays
from mercer.data import DataError, Graph, as_frame
from mercer.data.archives import check_array
from mercer.data.networks import Network
from mercer.data.tables import excerpt
from mercer.kernels.base import Kernel

FORMAT = 2  # 1 had Mercer's classes in other modules
_HEADER = "mercer.json"
_MEMBER = re.compile(r"schema\.json|mercer\.json|[\w-]+\.(npy|bin)")
# Where Mercer's values live. Not the engine: what its formulas are made of is compiled, and must come from a kernel,
# not from a file.
_VALUES = {
    "compute",
    "data",
    "kernels",
    "functions",
    "losses",
    "problems",
    "solvers",
    "estimators",
    "selection",
    "app",
    "files",
}
_OF_A_RUN = ("progress", "_skl_callbacks", "_callback_fit_ctx")
# of what is referred to: how often on average, and how much in all whatever the average
_MOST_REPEATED, _MOST_VALUES = 100, 1_000_000
_MANY = 32  # texts, from which on a list of them is one buffer


class ModelFileError(ValueError):
    """A model that cannot be written, or a file that cannot be read; the message says what is in the way."""


@dataclass(frozen=True)
class Header:
    """What a file says of itself: the number of its format, the version of Mercer that wrote it, and the class of what
    is in it.
    """

    format: int
    version: str
    kind: str


def save(model: Any, path: str | Path) -> None:
    """Write a model, a kernel, or a dictionary or list of them and of data, to a file. The file appears whole or not at
    all.
    """
    path = Path(path)
    if not path.parent.is_dir():
        raise ModelFileError(f"{path}: there is no folder {str(path.parent)!r}; make it first.")
    header = {
        "format": FORMAT,
        "version": mercer.__version__,
        "kind": f"{type(model).__module__}.{type(model).__qualname__}",
    }
    content = _archive(_packed(model, type(model).__name__, {}))
    with zipfile.ZipFile(content, "a") as archive:
        archive.writestr(_HEADER, json.dumps(header))
    beside = path.with_name(f".{path.name}.{uuid.uuid4().hex}")
    try:
        beside.write_bytes(content.getbuffer())
        os.replace(beside, path)
    finally:
        beside.unlink(missing_ok=True)


def load(path: str | Path, *, trusted: Sequence[type | str] = ()) -> Any:
    """The model in a file. Predictions are, bit for bit, those of the model that was saved; no code of a file is ever
    run.

    Parameters
    ----------
    path
        A file that ``save`` wrote.
    trusted
        Classes of your own (or their full names) that may be made besides Mercer's: kernels you wrote, say.

    Raises
    ------
    ModelFileError
        A ``ValueError``: for whatever is wrong with the file. Nothing has been loaded then.
    """
    from skops.io import get_untrusted_types, loads  # type: ignore[import-untyped]  # skops has no types

    content, header = _opened(path)
    if header.format != FORMAT:
        raise ModelFileError(
            f"{path} is of format {header.format}, written by Mercer {header.version}; Mercer {mercer.__version__}"
            f" reads format {FORMAT}. Read it with the version that wrote it, or train anew."
        )
    allowed = {t if isinstance(t, str) else f"{t.__module__}.{t.__name__}" for t in trusted}
    try:
        named = set(get_untrusted_types(data=content))
        foreign = sorted(name for name in named - allowed if not _is_own(name))
        if not foreign:
            return _restored(loads(content, trusted=sorted(named)), {})
    except ModelFileError:
        raise
    except Exception as error:  # a file may make skops, and the classes it names, fail in any way
        raise ModelFileError(
            f"{path} is damaged or was not written by Mercer: {type(error).__name__}: {str(error)[:300]}"
        ) from error
    raise ModelFileError(
        f"{path} asks for {', '.join(name[:100] for name in foreign[:8])}, which is not Mercer's: nothing was loaded. "
        "If you know who wrote the file and what these are, name them: load(path, trusted=[…])."
    )


def header(path: str | Path) -> Header:
    """What a file says of itself, without loading the model."""
    return _opened(path)[1]


# ---------------------------------------------------------------------------------------------------------------------
# The archive
# ---------------------------------------------------------------------------------------------------------------------


def _archive(packed: Any) -> io.BytesIO:
    from skops.io import dumps, get_untrusted_types

    try:
        content = dumps(packed)
    except Exception as error:  # skops has errors of its own, and passes on those of whatever it is given
        raise ModelFileError(f"The model holds something that cannot be saved: {error}") from error
    unreadable = [
        name for name in get_untrusted_types(data=content) if name.startswith("mercer.") and not _is_own(name)
    ]
    if unreadable:  # said now, not when the model is needed
        raise ModelFileError(
            f"The model holds {', '.join(unreadable)}, which load() would refuse: a fitted model keeps data, not"
            " machinery."
        )
    return io.BytesIO(content)


def _opened(path: str | Path) -> tuple[bytes, Header]:
    """The bytes of a file, whole and of the expected parts, and its header."""
    path = Path(path)
    if path.is_dir():
        raise ModelFileError(f"{path} is a folder; name the file of a model.")
    if not path.exists():
        raise ModelFileError(f"There is no file {path}. Check the path.")
    try:
        content = path.read_bytes()
    except OSError as error:
        raise ModelFileError(f"{path} cannot be read: {error.strerror}.") from None
    not_ours = f"{path} is not a model that Mercer saved"
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            _check_parts(archive, len(content), not_ours)
            damaged = archive.testzip()
            if damaged is not None:
                raise ModelFileError(f"{path} is damaged in its part {damaged}; copy or save it again.")
            for name in archive.namelist():
                _check_content(name, archive.read(name), not_ours)
            said = json.loads(archive.read(_HEADER))
            return content, Header(int(said["format"]), str(said["version"])[:100], str(said["kind"])[:200])
    except zipfile.BadZipFile:
        cut = content.startswith(b"PK")
        raise ModelFileError(
            f"{path} is cut off or damaged; copy or save it again." if cut else f"{not_ours}."
        ) from None
    except ModelFileError:
        raise
    except Exception as error:  # zipfile and json meet bytes of every kind
        raise ModelFileError(f"{not_ours}: it cannot be read ({type(error).__name__}).") from None


def _check_parts(archive: zipfile.ZipFile, size: int, not_ours: str) -> None:
    """That an archive has the parts of a model and no others, each once, not compressed, and not one over the other."""
    names = archive.namelist()
    if _HEADER not in names or "schema.json" not in names:
        raise ModelFileError(f"{not_ours}: it is an archive of something else.")
    odd = [name for name in names if not _MEMBER.fullmatch(name)]
    if odd or len(set(names)) < len(names):
        raise ModelFileError(
            f"{not_ours}: "
            + (f"a part of it is named {odd[0][:100]!r}." if odd else "two of its parts have the same name.")
        )
    # so that a small file cannot unpack to a huge one
    if any(part.compress_type != zipfile.ZIP_STORED for part in archive.infolist()):
        raise ModelFileError(f"{not_ours}: its parts are compressed.")
    if sum(part.file_size for part in archive.infolist()) > size:
        raise ModelFileError(f"{not_ours}: its parts would be larger than the file.")


def _check_content(name: str, content: bytes, not_ours: str) -> None:
    """That a part is what it can be: arrays of the size that they declare, and a tree that does not refer to itself
    again and again.
    """
    try:
        if name.endswith(".npy") or content.startswith(b"\x93NUMPY"):
            _, dtype = check_array(content, f"its part {name}")
            if dtype.hasobject:
                raise ModelFileError(f"{not_ours}: its part {name} is an array of Python objects.")
    except DataError as error:
        raise ModelFileError(f"{not_ours}: {error}") from None
    if content.startswith(b"PK"):
        raise ModelFileError(f"{not_ours}: its part {name} is an archive itself.")
    if name == "schema.json":
        parts: dict[int, int] = {}
        whole = _unrolled(json.loads(content), parts)
        if whole > _MOST_REPEATED * (len(parts) + 1) + _MOST_VALUES:
            raise ModelFileError(
                f"{not_ours}: its {len(parts)} parts refer to each other so often that they would be"
                f" {float(whole):.1g}."
            )


def _unrolled(state: Any, known: dict[int, int]) -> int:
    """How many values a tree has when everything that it refers to stands in the place of the reference."""
    if isinstance(state, list):
        return sum(_unrolled(part, known) for part in state)
    if not isinstance(state, dict):
        return 1
    me = state.get("__id__")
    if isinstance(me, int) and me in known:
        return known[me]
    if isinstance(me, int):
        known[me] = 1  # within itself
    size = 1 + sum(_unrolled(part, known) for part in state.values())
    if isinstance(me, int):
        known[me] = size
    return size


def _is_own(name: str) -> bool:
    """Whether a name is that of a value which Mercer defines: an estimator, a kernel, a dataclass or a named tuple, in
    the module it names.
    """
    module, _, cls = name.rpartition(".")
    parts = module.split(".")
    if len(parts) < 2 or parts[0] != "mercer" or parts[1] not in _VALUES:
        return False
    try:
        found = getattr(importlib.import_module(module), cls, None)
    except ImportError:
        return False
    # not a function, nor a class that the module merely imports
    if not isinstance(found, type) or found.__module__ != module:
        return False
    return (
        issubclass(found, BaseEstimator)
        or is_dataclass(found)
        or (issubclass(found, tuple) and hasattr(found, "_fields"))
    )


# ---------------------------------------------------------------------------------------------------------------------
# There and back
# ---------------------------------------------------------------------------------------------------------------------


def _packed(value: Any, where: str, known: dict[int, tuple[Any, Any]]) -> Any:
    """A copy of a value in which everything is of a form that skops holds; what is met twice is packed once."""
    if id(value) in known:
        packed = known[id(value)][1]
        if packed is _UNDER_WAY:
            raise ModelFileError(f"{where} refers to something that it is a part of; such a cycle cannot be saved.")
        return packed
    if _is_function(value):
        raise ModelFileError(
            f"{where} is the function {getattr(value, '__name__', value)!r}. A file holds data and no code, so it"
            " cannot be saved: apply the function to the data before they come to the model, or write a kernel class"
            " of your own with it."
        )
    known[id(value)] = value, _UNDER_WAY
    packed = _with_parts(_plain(value, where), lambda part, name: _packed(part, where + name, known))
    known[id(value)] = value, packed  # with the value itself, whose id is its own only while it lives
    return packed


_UNDER_WAY = object()


def _restored(value: Any, known: dict[int, tuple[Any, Any]]) -> Any:
    """What was packed, from the innermost outwards; what is met twice is restored once."""
    if id(value) in known:
        return known[id(value)][1]
    _check_members(value)
    restored = _with_parts(value, lambda part, _: _restored(part, known))
    if isinstance(restored, Plain):
        restored = restored.restored()
    elif isinstance(restored, Kernel):
        restored.check_parameters()  # a file may say anything
    elif isinstance(restored, Graph | Network):
        restored.__post_init__()  # what names a vertex is followed without looking later
    known[id(value)] = value, restored
    return restored


def _check_members(value: Any) -> None:
    """That an object has the attributes that its class needs, and none that would stand in the place of a method."""
    if (
        isinstance(value, type)
        or not (isinstance(value, BaseEstimator) or is_dataclass(value))
        or not hasattr(value, "__dict__")
    ):
        return
    cls: Any = type(value)
    needed = {f.name for f in fields(value)} if is_dataclass(value) else set()
    if not needed and cls.__module__.startswith("mercer."):
        needed = set(cls._get_param_names())
    lacking = sorted(name for name in needed if not hasattr(value, name))
    if lacking:
        raise ModelFileError(
            f"A {cls.__name__} in the file lacks {lacking[0]!r}: it is damaged, or of another version of Mercer."
        )
    exact = is_dataclass(value) and (isinstance(value, Kernel) or not isinstance(value, BaseEstimator))
    for name in vars(value):
        shadows = callable(getattr(cls, name, None)) or name.startswith("__")
        if name not in needed and (exact or shadows or not name.isidentifier()):
            raise ModelFileError(
                f"A {cls.__name__} in the file has a member {excerpt(name)}, which a {cls.__name__} has not."
            )


def _with_parts(value: Any, change: Callable[[Any, str], Any]) -> Any:
    """A copy of a container or an object with each of its parts changed; anything else as it is."""
    if type(value) is dict:
        return {key: change(part, f"[{key!r}]") for key, part in value.items()}
    if type(value) in (list, tuple):
        return type(value)(change(part, f"[{i}]") for i, part in enumerate(value))
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(change(part, f".{name}") for name, part in zip(value._fields, value, strict=True)))
    if isinstance(value, BaseEstimator) or (
        is_dataclass(value) and not isinstance(value, type) and hasattr(value, "__dict__")
    ):
        other = object.__new__(type(value))
        other.__dict__.update({name: change(part, f".{name}") for name, part in vars(value).items()})
        return other
    return value


def _is_function(value: Any) -> bool:
    """Whether a value is code. NumPy's universal functions are not: every NumPy has them, by the same name."""
    known = isinstance(value, type | np.ufunc | BaseEstimator) or is_dataclass(value) or hasattr(value, "shape")
    return isinstance(value, types.MethodType) or (callable(value) and not known)


def _plain(value: Any, where: str) -> Any:
    """A value, or the plain form of what skops does not hold."""
    if isinstance(value, BaseEstimator) and any(vars(value).get(name) is not None for name in _OF_A_RUN):
        return _without_run(value)
    if type(value) is dict and not all(type(key) is str for key in value):
        return Pairs(list(value), list(value.values()))
    if type(value) is list and len(value) >= _MANY and all(type(item) is str for item in value):
        return Texts.of(value)
    if type(value) in (set, frozenset):
        return Members(list(value), type(value) is frozenset)
    if isinstance(value, np.ndarray) and value.dtype.kind in "OT":
        return Objects(value.shape, value.ravel().tolist())
    if sparse.issparse(value):
        return Sparse.of(value)
    if arrays.is_tensor(value):
        return Tensor(arrays.to_numpy(value))
    frame = as_frame(value) if hasattr(value, "columns") else None
    if frame is not None:
        return Table.of(frame, where)
    series = (
        nw.from_native(value, series_only=True, pass_through=True)
        if hasattr(value, "dtype") and not isinstance(value, np.ndarray)
        else None
    )
    return Table.of(series.to_frame(), where, single=True) if isinstance(series, nw.Series) else value


def _without_run(model: Any) -> Any:
    other = object.__new__(type(model))
    other.__dict__.update({name: value for name, value in vars(model).items() if name not in _OF_A_RUN})
    if "progress" in vars(model):
        other.progress = None
    return other


class Plain:
    """The form of a value in the file; ``restored`` is the value."""

    def restored(self) -> Any:
        raise NotImplementedError


@dataclass(frozen=True)
class Pairs(Plain):
    """A dictionary with keys other than texts."""

    keys: list[Any]
    values: list[Any]

    def restored(self) -> Any:
        return dict(zip(self.keys, self.values, strict=True))


@dataclass(frozen=True)
class Members(Plain):
    """A set, or (``frozen``) one that cannot be changed."""

    items: list[Any]
    frozen: bool

    def restored(self) -> Any:
        return frozenset(self.items) if self.frozen else set(self.items)


@dataclass(frozen=True)
class Texts(Plain):
    """A list of texts, some of them None, in one buffer of UTF-8."""

    buffer: Any
    ends: Any
    missing: Any

    @classmethod
    def of(cls, items: Sequence[str | None]) -> Texts:
        encoded = [b"" if item is None else item.encode("utf-8", "surrogatepass") for item in items]
        ends = np.cumsum([0, *map(len, encoded)])[1:]
        return cls(np.frombuffer(b"".join(encoded), np.uint8), ends, np.array([item is None for item in items], bool))

    def restored(self) -> Any:
        raw, ends = self.buffer.tobytes(), self.ends.tolist()
        texts = (raw[start:end].decode("utf-8", "surrogatepass") for start, end in zip([0, *ends], ends, strict=False))
        return [None if gone else text for text, gone in zip(texts, self.missing.tolist(), strict=True)]


@dataclass(frozen=True)
class Objects(Plain):
    """An array of Python objects: texts, numbers, None."""

    shape: tuple[int, ...]
    items: list[Any]

    def restored(self) -> Any:
        out = np.empty(len(self.items), object)
        for i, item in enumerate(self.items):  # one by one: items that are lists must not become columns
            out[i] = item
        return out.reshape(self.shape)


@dataclass(frozen=True)
class Sparse(Plain):
    """A compressed sparse matrix or array, by class name, shape and its three arrays."""

    name: str
    shape: tuple[int, ...]
    data: Any
    indices: Any
    indptr: Any

    @classmethod
    def of(cls, X: Any) -> Sparse:
        kept = X if X.format in ("csr", "csc") else X.tocsr()
        return cls(type(kept).__name__, tuple(int(s) for s in kept.shape), kept.data, kept.indices, kept.indptr)

    def restored(self) -> Any:
        makers = {
            cls.__name__: cls for cls in (sparse.csr_array, sparse.csr_matrix, sparse.csc_array, sparse.csc_matrix)
        }
        out = makers[self.name]((self.data, self.indices, self.indptr), shape=self.shape)
        out.check_format(full_check=True)  # indices are followed without looking later
        return out


@dataclass(frozen=True)
class Tensor(Plain):
    """A tensor of torch, restored on the CPU."""

    values: Any

    def restored(self) -> Any:
        return arrays.to_device(self.values, "cpu")


@dataclass(frozen=True)
class Table(Plain):
    """A data frame of polars or pandas as its columns, each an array or texts and, where values are missing, which;
    ``single`` for a column alone.
    """

    library: str
    names: list[Any]
    columns: list[Any]
    missing: list[Any]
    single: bool = False

    @classmethod
    def of(cls, frame: nw.DataFrame[Any], where: str, *, single: bool = False) -> Table:
        library = "pandas" if frame.implementation.is_pandas() else "polars"
        if not frame.implementation.is_pandas() and not frame.implementation.is_polars():
            frame = nw.from_native(frame.to_polars(), eager_only=True)
        columns, missing = [], []
        for name in frame.columns:
            column = frame.get_column(name)
            gone = column.is_null().to_numpy()
            columns.append(_values_of(column, gone, f"{where}[{name!r}]"))
            missing.append(np.asarray(gone, bool) if gone.any() else None)
        return cls(library, list(frame.columns), columns, missing, single)

    def restored(self) -> Any:
        make = _polars_table if self.library == "polars" else _pandas_table
        frame = make(self.names, self.columns, self.missing)
        return frame[self.names[0]] if self.single else frame


def _values_of(column: nw.Series[Any], gone: Any, where: str) -> Any:
    """A column as an array or texts, with something else where a value is missing."""
    kind = column.dtype
    if kind.is_numeric() or kind == nw.Boolean:
        values = np.ascontiguousarray(column.fill_null(False if kind == nw.Boolean else 0).to_numpy())
        if values.dtype.kind in "fiub":
            return values
    elif kind == nw.Date or kind == nw.Duration or (kind == nw.Datetime and getattr(kind, "time_zone", None) is None):
        return np.ascontiguousarray(column.to_numpy())
    else:
        items = [None if empty else item for item, empty in zip(column.to_list(), gone, strict=True)]
        if all(item is None or type(item) is str for item in items):
            return Texts.of(items)
        if all(item is None or type(item) in (str, bool, int, float) for item in items):
            return items
    raise ModelFileError(
        f"{where} is a column of {kind}, which cannot be saved; turn it into numbers, texts or dates without time zone."
    )


def _polars_table(names: Sequence[Any], columns: Sequence[Any], missing: Sequence[Any]) -> Any:
    import polars as pl

    made = {}
    for name, values, gone in zip(names, columns, missing, strict=True):
        column = pl.Series(name, values, dtype=pl.String if isinstance(values, list) else None, strict=False)
        made[name] = (
            column if gone is None else pl.select(pl.when(pl.Series(~gone)).then(column)).to_series().alias(name)
        )
    return pl.DataFrame(made)


def _pandas_table(names: Sequence[Any], columns: Sequence[Any], missing: Sequence[Any]) -> Any:
    try:
        import pandas as pd  # type: ignore[import-untyped]  # only where a model keeps a frame of it
    except ImportError:
        raise ModelFileError(
            "The model was trained on a data frame of pandas, and keeps one: pip install pandas."
        ) from None
    nullable = {"i": pd.arrays.IntegerArray, "u": pd.arrays.IntegerArray, "b": pd.arrays.BooleanArray}
    made = []
    for values, gone in zip(columns, missing, strict=True):
        if isinstance(values, list):
            made.append(pd.Series(values, dtype=object))
        elif gone is not None and values.dtype.kind in nullable:
            made.append(pd.Series(nullable[values.dtype.kind](values, gone)))
        else:
            made.append(
                pd.Series(
                    values
                    if gone is None or values.dtype.kind != "f"
                    else np.where(gone, values.dtype.type(np.nan), values)
                )
            )
    frame = pd.concat(made, axis=1) if made else pd.DataFrame()
    frame.columns = pd.Index(names)
    return frame
