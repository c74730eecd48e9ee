"""Fitted models in files that hold data and no code.

``save`` writes a skops archive: arrays as they are, objects as the name of their class and their attributes, nothing
pickled, and what skops cannot hold in a plain form (``plain``). ``load`` reads the names before it makes anything, and
makes only values that Mercer itself defines (estimators, kernels, dataclasses), what skops trusts by default (plain
data, NumPy, scikit-learn's estimators) and what the caller names.

What a file claims is checked before it is believed: sizes of arrays against the bytes that are there, attributes
against those that the class has. Whatever is wrong with it is a ``ModelFileError``.
"""

from __future__ import annotations

import importlib
import io
import json
import os
import re
import tempfile
import uuid
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass, is_dataclass
from pathlib import Path
from typing import Any

from sklearn.base import BaseEstimator

import mercer
from mercer.data import DataError
from mercer.data.archives import check_array
from mercer.files.plain import ModelFileError, pack, restore

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
    "tabular",
    "files",
}
# of what is referred to: how often on average, and how much in all whatever the average
_MOST_REPEATED, _MOST_VALUES = 100, 1_000_000


@dataclass(frozen=True)
class Header:
    """What a file says of itself: the number of its format, the version of Mercer that wrote it, and the class of what
    is in it.
    """

    format: int
    version: str
    kind: str


def save(model: object, path: str | Path) -> None:
    """Write a model, a kernel, or a dictionary or list of them and of data, to a file. The file appears whole or not at
    all.

    The file holds data and no code: it can be read without trusting who wrote it. ``progress`` and callbacks, which are
    about a run, are left out. What a machine keeps of its training samples (support vectors) is in the file as it was
    given: who has the file can read them.

    Parameters
    ----------
    model : estimator, kernel, or dict or list of them and of data
        Fitted or not. Estimators of scikit-learn, such as pipelines with a machine of Mercer in them, are held too.
    path : str or Path
        Where to write; what is there is replaced.

    Raises
    ------
    ModelFileError
        If the model holds what a file cannot, such as a function, with the place of it in the model; or if the folder
        does not exist.

    See Also
    --------
    load : The way back.

    Notes
    -----
    The file is a skops archive (a zip file that is not compressed): arrays as they are, objects as the name of their
    class and their attributes. It names its format and the version of Mercer that wrote it.

    Examples
    --------
    >>> import tempfile
    >>> import mercer as mc
    >>> model = mc.KernelRidge(kernel=mc.Spectrum(2)).fit(["abab", "baba", "cccc"], [1.0, 2.0, 3.0])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     mc.save(model, f"{folder}/model.mercer")
    ...     again = mc.load(f"{folder}/model.mercer")
    >>> bool(again.predict(["abba"]) == model.predict(["abba"]))
    True
    """
    path = Path(path)
    check_folder(path)
    header = {
        "format": FORMAT,
        "version": mercer.__version__,
        "kind": f"{type(model).__module__}.{type(model).__qualname__}",
    }
    content = _archive(pack(model, type(model).__name__, {}))
    with zipfile.ZipFile(content, "a") as archive:
        archive.writestr(_HEADER, json.dumps(header))
    write_whole(path, content.getbuffer())


def check_folder(path: Path) -> None:
    """Raise ModelFileError unless there is a folder to put a model in."""
    if not path.parent.is_dir():
        raise ModelFileError(f"{path}: there is no folder {str(path.parent)!r}; make it first.", "M501")


def write_whole(path: Path, content: bytes | memoryview) -> None:
    """A file that appears whole or not at all."""
    beside = path.with_name(f".{path.name}.{uuid.uuid4().hex}")
    try:
        beside.write_bytes(content)
        os.replace(beside, path)
    finally:
        beside.unlink(missing_ok=True)


def save_or_rescue(model: object, path: Path) -> Path:
    """Where a model that took long to find was saved: the path, or a new file in the folder for temporary files where
    nothing can be written there. A model that no file can hold is an error, as in ``save``.
    """
    try:
        save(model, path)
    except (OSError, ModelFileError):
        rescued = Path(tempfile.mkdtemp(prefix="mercer-")) / path.name
        save(model, rescued)
        return rescued
    return path


def load(path: str | Path, *, trusted: Sequence[type | str] = ()) -> Any:
    """The model in a file. Predictions are, bit for bit, those of the model that was saved; no code of a file is ever
    run.

    Parameters
    ----------
    path : str or Path
        A file that ``save`` wrote.
    trusted : sequence of type or str, default=()
        Classes of your own (or their full names) that may be made besides Mercer's: kernels you wrote, say. Name only
        classes that you know: their own code may run when they are made.

    Returns
    -------
    model
        What was saved.

    Raises
    ------
    ModelFileError
        A ``ValueError``: for whatever is wrong with the file. Nothing has been loaded then.

    See Also
    --------
    save : Writes the file, and an example.

    Notes
    -----
    What is made without being named: estimators, kernels and dataclasses that Mercer itself defines, and what skops
    trusts by default (plain data, NumPy, scikit-learn's estimators). Sizes of arrays are compared with the bytes that
    are there, and attributes with those that the class has.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import mercer as mc
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "kernel.mercer")
    ...     mc.save(mc.Gaussian(0.5) + mc.Linear(), path)
    ...     mc.load(path)
    Gaussian(gamma=0.5) + Linear()
    """
    from skops.io import get_untrusted_types, loads  # type: ignore[import-untyped]  # skops has no types

    content, header = _opened(path)
    if header.format != FORMAT:
        raise ModelFileError(
            f"{path} is of format {header.format}, written by Mercer {header.version}; Mercer {mercer.__version__}"
            f" reads format {FORMAT}. Read it with the version that wrote it, or train anew.",
            "M504",
        )
    allowed = {t if isinstance(t, str) else f"{t.__module__}.{t.__name__}" for t in trusted}
    try:
        named = set(get_untrusted_types(data=content))
        foreign = sorted(name for name in named - allowed if not _is_own(name))
        if not foreign:
            return restore(loads(content, trusted=sorted(named)), {})
    except ModelFileError:
        raise
    except Exception as error:  # a file may make skops, and the classes it names, fail in any way
        raise ModelFileError(
            f"{path} is damaged or was not written by Mercer: {type(error).__name__}: {str(error)[:300]}", "M504"
        ) from error
    raise ModelFileError(
        f"{path} asks for {', '.join(name[:100] for name in foreign[:8])}, which is not Mercer's: nothing was loaded. "
        "If you know who wrote the file and what these are, name them: load(path, trusted=[…]).",
        "M506",
    )


def header(path: str | Path) -> Header:
    """What a file says of itself, without loading the model."""
    return _opened(path)[1]


def _archive(packed: object) -> io.BytesIO:
    from skops.io import dumps, get_untrusted_types

    try:
        content = dumps(packed)
    except Exception as error:  # skops has errors of its own, and passes on those of whatever it is given
        raise ModelFileError(f"The model holds something that cannot be saved: {error}", "M505") from error
    unreadable = [
        name for name in get_untrusted_types(data=content) if name.startswith("mercer.") and not _is_own(name)
    ]
    if unreadable:  # said now, not when the model is needed
        raise ModelFileError(
            f"The model holds {', '.join(unreadable)}, which load() would refuse: a fitted model keeps data, not"
            " machinery.",
            "M505",
        )
    return io.BytesIO(content)


def _opened(path: str | Path) -> tuple[bytes, Header]:
    """The bytes of a file, whole and of the expected parts, and its header."""
    path = Path(path)
    if path.is_dir():
        raise ModelFileError(f"{path} is a folder; name the file of a model.", "M501")
    if not path.exists():
        raise ModelFileError(f"There is no file {path}. Check the path.", "M501")
    try:
        content = path.read_bytes()
    except OSError as error:
        raise ModelFileError(f"{path} cannot be read: {error.strerror}.", "M501") from None
    not_ours = f"{path} is not a model that Mercer saved"
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            _check_parts(archive, len(content), not_ours)
            damaged = archive.testzip()
            if damaged is not None:
                raise ModelFileError(f"{path} is damaged in its part {damaged}; copy or save it again.", "M504")
            for name in archive.namelist():
                _check_content(name, archive.read(name), not_ours)
            said = json.loads(archive.read(_HEADER))
            return content, Header(int(said["format"]), str(said["version"])[:100], str(said["kind"])[:200])
    except zipfile.BadZipFile:
        cut = content.startswith(b"PK")
        raise ModelFileError(
            f"{path} is cut off or damaged; copy or save it again." if cut else f"{not_ours}.", "M504"
        ) from None
    except ModelFileError:
        raise
    except Exception as error:  # zipfile and json meet bytes of every kind
        raise ModelFileError(f"{not_ours}: it cannot be read ({type(error).__name__}).", "M504") from None


def _check_parts(archive: zipfile.ZipFile, size: int, not_ours: str) -> None:
    """That an archive has the parts of a model and no others, each once, not compressed, and not one over the other."""
    names = archive.namelist()
    if _HEADER not in names or "schema.json" not in names:
        raise ModelFileError(f"{not_ours}: it is an archive of something else.", "M504")
    odd = [name for name in names if not _MEMBER.fullmatch(name)]
    if odd or len(set(names)) < len(names):
        raise ModelFileError(
            f"{not_ours}: "
            + (f"a part of it is named {odd[0][:100]!r}." if odd else "two of its parts have the same name."),
            "M504",
        )
    # so that a small file cannot unpack to a huge one
    if any(part.compress_type != zipfile.ZIP_STORED for part in archive.infolist()):
        raise ModelFileError(f"{not_ours}: its parts are compressed.", "M504")
    if sum(part.file_size for part in archive.infolist()) > size:
        raise ModelFileError(f"{not_ours}: its parts would be larger than the file.", "M504")


def _check_content(name: str, content: bytes, not_ours: str) -> None:
    """That a part is what it can be: arrays of the size that they declare, and a tree that does not refer to itself
    again and again.
    """
    try:
        if name.endswith(".npy") or content.startswith(b"\x93NUMPY"):
            _, dtype = check_array(content, f"its part {name}")
            if dtype.hasobject:
                raise ModelFileError(f"{not_ours}: its part {name} is an array of Python objects.", "M504")
    except DataError as error:
        raise ModelFileError(f"{not_ours}: {error}", "M504") from None
    if content.startswith(b"PK"):
        raise ModelFileError(f"{not_ours}: its part {name} is an archive itself.", "M504")
    if name == "schema.json":
        parts: dict[int, int] = {}
        whole = _unrolled(json.loads(content), parts)
        if whole > _MOST_REPEATED * (len(parts) + 1) + _MOST_VALUES:
            raise ModelFileError(
                f"{not_ours}: its {len(parts)} parts refer to each other so often that they would be"
                f" {float(whole):.1g}.",
                "M504",
            )


def _unrolled(state: object, known: dict[int, int]) -> int:
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
    the module it names, or in one of the folder it names, which says so in ``__all__``: older files have such names.
    """
    module, _, cls = name.rpartition(".")
    parts = module.split(".")
    if len(parts) < 2 or parts[0] != "mercer" or parts[1] not in _VALUES:
        return False
    try:
        home = importlib.import_module(module)
    except ImportError:
        return False
    found = getattr(home, cls, None)
    # not a function, nor a class that the module merely imports
    if not isinstance(found, type):
        return False
    within = cls in getattr(home, "__all__", ()) and found.__module__.startswith(f"{module}.")
    if found.__module__ != module and not within:
        return False
    return (
        issubclass(found, BaseEstimator)
        or is_dataclass(found)
        or (issubclass(found, tuple) and hasattr(found, "_fields"))
    )
