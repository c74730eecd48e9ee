"""The text form of libsvm's models: what it says, checked, and the way back.

A head of lines ``keyword value …``, a line ``SV``, and one line for each support vector: its coefficients, then its
entries as index:value. Reading takes time and memory proportional to the file; what the head declares is compared with
what is there before anything is made of it. What the numbers mean is ``libsvm_machines``'.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path

import numpy as np
from scipy import sparse

from mercer.arrays import Array
from mercer.data import DataError
from mercer.data.archives import check_fields, most_bytes, unpacked
from mercer.data.tables import excerpt
from mercer.files.plain import ModelFileError

CLASSIFIERS = ("c_svc", "nu_svc")
KINDS = (*CLASSIFIERS, "one_class", "epsilon_svr", "nu_svr")
KERNELS = ("linear", "polynomial", "rbf", "sigmoid", "precomputed")
_LARGEST = 2**31 - 1  # of libsvm's whole numbers
_KEYWORDS = {
    "svm_type", "kernel_type", "degree", "gamma", "coef0", "nr_class", "total_sv", "rho", "label", "probA", "probB",
    "prob_density_marks", "nr_sv",
}  # fmt: skip


@dataclass(frozen=True)
class LibsvmModel:
    """What a file of libsvm says: f(x) = Σ_i coef_i k(x, sv_i) − rho of each pair of classes, positive for the first.

    ``entries`` are the support vectors, column j of index j; of a precomputed kernel column 0 is the number of the
    training sample, from 1. ``coef`` has a row less than there are classes.
    """

    svm_type: str
    kernel_type: str
    rho: Array
    coef: Array
    entries: sparse.csr_array
    parameters: dict[str, float] = field(default_factory=dict)  # of the kernel: degree, gamma, coef0
    labels: tuple[int, ...] = ()
    counts: tuple[int, ...] = ()  # of support vectors of each class
    sigmoids: tuple[tuple[float, float], ...] = ()  # A and B of P = 1/(1 + exp(A f + B)), for each pair

    @property
    def largest_index(self) -> int:
        """Of all entries; of a precomputed kernel, the number of the last training sample that is needed."""
        if self.kernel_type == "precomputed":
            return int(self.entries.data.max(initial=0))
        return int(self.entries.shape[1] - 1)

    def reordered(self, order: Array) -> LibsvmModel:
        """The same model with its classes in another order: ``order`` says where the first, second, … stood."""
        order, k = np.asarray(order, np.int64), len(self.labels)
        ends = np.cumsum(self.counts)
        blocks = []
        for a, i in enumerate(order.tolist()):
            others = np.delete(order, a)
            # row r of a support vector is its coefficient against the r-th other class
            rows = others - (others > i)
            signs = np.where((others > i) == (np.arange(k - 1) >= a), 1.0, -1.0)
            blocks.append(signs[:, None] * self.coef[rows, ends[i] - self.counts[i] : ends[i]])
        i, j = (order[side] for side in np.triu_indices(k, 1))
        sign, low, high = np.where(i < j, 1.0, -1.0), np.minimum(i, j), np.maximum(i, j)
        pairs = low * k - low * (low + 1) // 2 + high - low - 1
        A, B = np.reshape(self.sigmoids, (-1, 2)).T
        sigmoids = zip(A[pairs].tolist(), (sign * B[pairs]).tolist(), strict=True) if self.sigmoids else ()
        kept = np.concatenate([np.arange(ends[c] - self.counts[c], ends[c]) for c in order])
        return replace(
            self, rho=sign * self.rho[pairs], coef=np.concatenate(blocks, axis=1), entries=self.entries[kept],
            labels=tuple(self.labels[c] for c in order), counts=tuple(self.counts[c] for c in order),
            sigmoids=tuple(sigmoids),
        )  # fmt: skip


def read_libsvm(path: str | Path, max_bytes: int | str | None = None) -> LibsvmModel:
    """The model in a file of libsvm; whatever is wrong with it is a ModelFileError."""
    path = Path(path)
    if path.is_dir() or not path.exists():
        said = f"{path} is a folder; name the file of a model." if path.is_dir() else f"There is no file {path}."
        raise ModelFileError(said, "M501")
    try:
        limit = most_bytes(max_bytes)
        text = unpacked(path, limit).decode("ascii")
        check_fields(path, text.count(" ") + text.count("\n"), limit)
    except UnicodeDecodeError:
        raise ModelFileError(f"{path} is not a model of libsvm, which is plain text (ASCII).", "M504") from None
    except DataError as error:
        raise ModelFileError(str(error), "M504") from None
    except OSError as error:
        raise ModelFileError(f"{path} cannot be read: {error.strerror or error}.", "M501") from None
    return _Reading(path).model(text)


def looks_like_libsvm(path: str | Path) -> bool:
    """Whether a file begins as libsvm's models do."""
    try:
        with Path(path).open("rb") as file:
            return file.read(9) == b"svm_type "
    except OSError:
        return False


def written(model: LibsvmModel) -> str:
    """The model as text, numbers with 17 digits, by which they read back as they are."""
    head: dict[str, object] = {"svm_type": model.svm_type, "kernel_type": model.kernel_type}
    head |= {name: _shown(value) for name, value in model.parameters.items()}
    head |= {"nr_class": len(model.labels) or 2, "total_sv": model.coef.shape[1]}
    head["rho"] = " ".join(map(_shown, model.rho.tolist()))
    if model.labels:
        head["label"] = " ".join(map(str, model.labels))
    for name, values in zip(("probA", "probB"), zip(*model.sigmoids, strict=True), strict=False):
        head[name] = " ".join(map(_shown, values))
    if model.labels:
        head["nr_sv"] = " ".join(map(str, model.counts))
    lines = [f"{name} {value}" for name, value in head.items()] + ["SV"]
    indices, values, ends = (x.tolist() for x in (model.entries.indices, model.entries.data, model.entries.indptr))
    for coef, (start, end) in zip(model.coef.T.tolist(), pairwise(ends), strict=True):
        entries = (f"{j}:{_shown(v)}" for j, v in zip(indices[start:end], values[start:end], strict=True))
        lines.append(" ".join([*map(_shown, coef), *entries]))
    return "\n".join(lines) + "\n"


def _shown(value: float) -> str:
    return format(value, ".17g")


class _Reading:
    """One file being read: its place in messages, and what its head has said."""

    def __init__(self, path: Path) -> None:
        self.path, self.head, self.line = path, dict[str, list[str]](), 0

    def wrong(self, what: str) -> ModelFileError:
        return ModelFileError(f"{self.path}, line {self.line}: {what}", "M504")

    def model(self, text: str) -> LibsvmModel:
        lines = self._lines(text)
        self._read_head(lines)
        svm_type, kernel_type = self._one_of("svm_type", KINDS), self._one_of("kernel_type", KERNELS)
        wanted = {"polynomial": ("degree", "gamma", "coef0"), "rbf": ("gamma",), "sigmoid": ("gamma", "coef0")}
        parameters = {name: self._numbers(name, 1)[0] for name in wanted.get(kernel_type, ())}
        classes, total = self._whole("nr_class")[0], self._whole("total_sv")[0]
        labels: tuple[int, ...] = ()
        counts: tuple[int, ...] = ()
        if classes < 2:
            raise self.wrong(f"nr_class {classes}: a machine tells two classes apart at least.")
        if svm_type not in CLASSIFIERS and classes != 2:
            raise self.wrong(f"nr_class {classes}: an {svm_type} has 2 there.")
        # the pairs are as many as numbers stand there: a file cannot declare more than it holds
        rho = self._numbers("rho", classes * (classes - 1) // 2)
        sigmoids: tuple[tuple[float, float], ...] = ()
        if svm_type in CLASSIFIERS:
            labels, counts = self._whole("label", classes, signed=True), self._whole("nr_sv", classes)
            if len(set(labels)) < classes:
                raise self.wrong("label: two classes have the same label.")
            if sum(counts) != total:
                raise self.wrong(f"nr_sv adds up to {sum(counts)}, total_sv is {total}.")
            if "probA" in self.head or "probB" in self.head:
                sigmoids = tuple(
                    zip(*(self._numbers(name, len(rho)) for name in ("probA", "probB")), strict=True)
                )  # fmt: skip
        coef, entries = self._read_vectors(lines, classes - 1, kernel_type == "precomputed")
        if coef.shape[1] != total:
            raise self.wrong(
                f"the file ends after {coef.shape[1]} support vectors, total_sv is {total}: it is cut off or damaged."
            )
        return LibsvmModel(svm_type, kernel_type, np.array(rho), coef, entries, parameters, labels, counts, sigmoids)

    def _lines(self, text: str) -> Iterator[str]:
        start = 0
        while start < len(text):
            end = text.find("\n", start)
            end = len(text) if end < 0 else end
            self.line += 1
            yield text[start:end]
            start = end + 1

    def _read_head(self, lines: Iterator[str]) -> None:
        for line in lines:
            parts = line.split()
            if parts == ["SV"]:
                return
            if not parts or parts[0] not in _KEYWORDS:
                first = excerpt(parts[0]) if parts else "a blank line"
                raise self.wrong(f"{first} is not a keyword of a model of libsvm; its head ends with a line 'SV'.")
            if parts[0] in self.head:
                raise self.wrong(f"{parts[0]} stands there twice.")
            self.head[parts[0]] = parts[1:]
        raise self.wrong("there is no line 'SV': this is not a model of libsvm, or it is cut off.")

    def _values(self, name: str, count: int) -> list[str]:
        if name not in self.head:
            raise self.wrong(f"the head says nothing of {name}.")
        found = self.head[name]
        if len(found) != count:
            raise self.wrong(f"{name} has {len(found)} values where {count} belong.")
        return found

    def _one_of(self, name: str, known: tuple[str, ...]) -> str:
        (found,) = self._values(name, 1)
        if found not in known:
            raise self.wrong(f"{name} {excerpt(found)}: known are {', '.join(known)}.")
        return found

    def _numbers(self, name: str, count: int) -> list[float]:
        return [self._number(text, name) for text in self._values(name, count)]

    def _number(self, text: str, name: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not math.isfinite(value) or "_" in text:
            raise self.wrong(f"{name} {excerpt(text)} is not a finite number.")
        return value

    def _whole(self, name: str, count: int = 1, *, signed: bool = False) -> tuple[int, ...]:
        found = self._values(name, count)
        for text in found:
            digits = text[1:] if signed and text[:1] in ("-", "+") else text
            if not digits.isdigit() or len(digits) > 10 or int(digits) > _LARGEST:
                raise self.wrong(f"{name} {excerpt(text)} is not a whole number of at most {_LARGEST}.")
        return tuple(int(text) for text in found)

    def _read_vectors(self, lines: Iterator[str], rows: int, precomputed: bool) -> tuple[Array, sparse.csr_array]:
        coef, values, indices, ends = array("d"), array("d"), array("q"), array("q", [0])
        for line in lines:
            parts = line.split()
            if len(parts) < rows or (precomputed and len(parts) != rows + 1):
                raise self.wrong(
                    f"a support vector has {rows} coefficients and its number as 0:number." if precomputed
                    else f"a support vector has {rows} coefficients, then its entries as index:value."
                )  # fmt: skip
            coef.extend([self._number(part, "the coefficient") for part in parts[:rows]])
            last = -1 if precomputed else 0
            for part in parts[rows:]:
                name, _, value = part.partition(":")
                if not name.isdigit() or len(name) > 10 or not last < int(name) <= _LARGEST:
                    raise self.wrong(
                        f"{excerpt(part)}: indices are whole numbers from {0 if precomputed else 1} that ascend."
                    )
                last = int(name)
                indices.append(last)
                values.append(self._number(value, "the value"))
            if precomputed and (last != 0 or values[-1] < 1 or values[-1] % 1 or values[-1] > _LARGEST):
                raise self.wrong(f"{excerpt(parts[-1])} is not the number of a training sample, 0:1 or more.")
            ends.append(len(indices))
        width = max(indices, default=0) + 1
        found = (np.array(values), np.array(indices, np.int64), np.array(ends, np.int64))
        return np.array(coef).reshape(-1, rows).T.copy(), sparse.csr_array(found, shape=(len(ends) - 1, width))
