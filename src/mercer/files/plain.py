"""Models in plain form: what a file can hold in the place of what it cannot, and the way there and back.

Data frames are written as their columns, texts as one buffer, sparse matrices as their three arrays, dictionaries by
pairs, tensors as arrays. What is about a run and not about a model (``progress``, callbacks) is left out. Functions are
refused by name.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator

from mercer import arrays
from mercer.annotations import Estimator, Index, Samples
from mercer.arrays import Array
from mercer.data import Graph, as_frame
from mercer.data.networks import Network
from mercer.data.tables import excerpt
from mercer.files.nested import Nested, is_nested
from mercer.files.plain_form import Plain
from mercer.files.plain_molecules import in_plain_form
from mercer.kernels.base import Kernel
from mercer.troubles import coded

_OF_A_RUN = ("progress", "_skl_callbacks", "_callback_fit_ctx")
_MANY = 32  # texts, from which on a list of them is one buffer
_UNDER_WAY = object()


class ModelFileError(ValueError):
    """A model that cannot be written, or a file that cannot be read; the message says what is in the way.

    A ``ValueError``, raised by ``save`` and ``load`` and by nothing else.

    Examples
    --------
    >>> import mercer as mc
    >>> try:
    ...     mc.save(mc.Linear().map(lambda X: X), "model.mercer")
    ... except mc.ModelFileError as error:
    ...     print(str(error).partition(",")[0])
    Mapped.function is the function '<lambda>'. A file holds data and no code
    """

    def __init__(self, message: str, code: str = "M504") -> None:
        super().__init__(coded(message, code))


def pack(value: object, where: str, known: dict[int, tuple[Any, Any]]) -> Any:
    """A copy of a value in which everything is of a form that skops holds; what is met twice is packed once."""
    if id(value) in known:
        packed = known[id(value)][1]
        if packed is _UNDER_WAY:
            raise ModelFileError(
                f"{where} refers to something that it is a part of; such a cycle cannot be saved.", "M505"
            )
        return packed
    if _is_function(value):
        raise ModelFileError(
            f"{where} is the function {getattr(value, '__name__', value)!r}. A file holds data and no code, so it"
            " cannot be saved: apply the function to the data before they come to the model, or write a kernel class"
            " of your own with it.",
            "M505",
        )
    known[id(value)] = value, _UNDER_WAY
    packed = _with_parts(_plain(value, where), lambda part, name: pack(part, where + name, known))
    known[id(value)] = value, packed  # with the value itself, whose id is its own only while it lives
    return packed


def restore(value: object, known: dict[int, tuple[Any, Any]]) -> Any:
    """What was packed, from the innermost outwards; what is met twice is restored once."""
    if id(value) in known:
        return known[id(value)][1]
    _check_members(value)
    restored = _with_parts(value, lambda part, _: restore(part, known))
    if isinstance(restored, Plain):
        restored = restored.restored()
    elif isinstance(restored, Kernel):
        restored.check_parameters()  # a file may say anything
    elif isinstance(restored, Graph | Network):
        restored.__post_init__()  # what names a vertex is followed without looking later
    known[id(value)] = value, restored
    return restored


def _check_members(value: object) -> None:
    """That an object has the attributes that its class needs, and none that would stand in the place of a method."""
    if (
        isinstance(value, type)
        or not (isinstance(value, BaseEstimator) or is_dataclass(value))
        or not hasattr(value, "__dict__")
    ):
        return
    cls: Any = type(value)
    needed = {f.name for f in fields(value)} if is_dataclass(value) else set()
    if not is_dataclass(value) and cls.__module__.startswith("mercer."):
        needed = set(cls._get_param_names())
    declared = isinstance(value, BaseEstimator) and not isinstance(value, Kernel)  # defaults of the class do not count
    lacking = sorted(name for name in needed if (name not in vars(value) if declared else not hasattr(value, name)))
    if lacking:
        raise ModelFileError(
            f"A {cls.__name__} in the file lacks {lacking[0]!r}: it is damaged, or of another version of Mercer.",
            "M504",
        )
    exact = is_dataclass(value) and (isinstance(value, Kernel) or not isinstance(value, BaseEstimator))
    for name in vars(value):
        shadows = callable(getattr(cls, name, None)) or name.startswith("__")
        if name not in needed and (exact or shadows or not name.isidentifier()):
            raise ModelFileError(
                f"A {cls.__name__} in the file has a member {excerpt(name)}, which a {cls.__name__} has not.", "M504"
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


def _is_function(value: object) -> bool:
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
    if (known := in_plain_form(value)) is not None:
        return known
    frame = as_frame(value) if hasattr(value, "columns") else None
    if frame is not None:
        return Table.of(frame, where)
    series = (
        nw.from_native(value, series_only=True, pass_through=True)
        if hasattr(value, "dtype") and not isinstance(value, np.ndarray)
        else None
    )
    return Table.of(series.to_frame(), where, single=True) if isinstance(series, nw.Series) else value


def _without_run(model: Estimator) -> Any:
    other = object.__new__(type(model))
    other.__dict__.update({name: value for name, value in vars(model).items() if name not in _OF_A_RUN})
    if "progress" in vars(model):
        other.progress = None
    return other


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

    buffer: Array
    ends: Array
    missing: Array

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
    data: Array
    indices: Index
    indptr: Array

    @classmethod
    def of(cls, X: Samples) -> Sparse:
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

    values: Array

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
        columns: list[Any] = []
        missing: list[Any] = []
        for name in frame.columns:
            column = frame.get_column(name)
            gone = column.is_null().to_numpy()
            if library == "polars" and is_nested(column.to_native().dtype):
                columns.append(Nested.of(column.to_native()))
                missing.append(None)
                continue
            columns.append(_values_of(column, gone, f"{where}[{name!r}]"))
            missing.append(np.asarray(gone, bool) if gone.any() else None)
        return cls(library, list(frame.columns), columns, missing, single)

    def restored(self) -> Any:
        make = _polars_table if self.library == "polars" else _pandas_table
        frame = make(self.names, self.columns, self.missing)
        return frame[self.names[0]] if self.single else frame


def _values_of(column: nw.Series[Any], gone: Array, where: str) -> Any:
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
        if all(_can_be_packed(item) for item in items):
            return items
    raise ModelFileError(
        f"{where} is a column of {kind}, which cannot be saved; turn it into numbers, texts, arrays or dates without"
        " time zone.",
        "M505",
    )


def _can_be_packed(item: object) -> bool:
    """Whether an object in a column is of a kind that a file holds; what is inside of it is looked at when it is
    packed.
    """
    known = (str, bool, int, float, list, tuple, dict, np.ndarray, np.generic, Graph, Network)
    return item is None or isinstance(item, known) or sparse.issparse(item) or in_plain_form(item) is not None


def _polars_table(names: Sequence[Any], columns: Sequence[Any], missing: Sequence[Any]) -> Any:
    import polars as pl

    made = {}
    for name, values, gone in zip(names, columns, missing, strict=True):
        if isinstance(values, pl.Series):  # with its own gaps
            made[name] = values.alias(name)
            continue
        if isinstance(values, list) and not all(item is None or type(item) is str for item in values):
            made[name] = pl.Series(name, values, dtype=pl.Object)
            continue
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
            "The model was trained on a data frame of pandas, and keeps one: pip install pandas.", "M402"
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
