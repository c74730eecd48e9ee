"""``mercer predict`` with a model of libsvm: its predictions, and svm-predict's words on how good they are."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from scipy import sparse

from mercer.app.train import errors
from mercer.arrays import Array
from mercer.files.libsvm import CLASSIFIERS, LibsvmModel, read_libsvm
from mercer.files.libsvm_machines import machine_of
from mercer.files.readers import read_pairs
from mercer.files.svmlight import SparseTable
from mercer.troubles import coded


def libsvm_answers(
    path: Path, data: Path, probabilities: bool, max_bytes: str | None
) -> tuple[pl.DataFrame, str]:  # fmt: skip
    """A column of predictions, P(label) beside it where it is asked for, and the score in words."""
    model, table = read_libsvm(path, max_bytes), read_pairs(data, max_bytes)
    machine, X = _meeting(model, table)
    columns: dict[str, Any] = {}
    if probabilities:
        if not model.sigmoids:
            raise ValueError(coded(f"{path} has no probabilities; train it with -b 1.", "M311"))
        found = machine.predict_proba(X)
        predicted = machine.classes_[np.argmax(found, axis=1)]  # as svm-predict -b 1 has it
        columns = {f"P({label})": found[:, k] for k, label in enumerate(machine.classes_.tolist())}
    else:
        predicted = machine.predict(X)
    return pl.DataFrame({"target": predicted} | columns), _judged(model, np.asarray(table.target), predicted)


def _meeting(model: LibsvmModel, table: SparseTable) -> tuple[Any, Any]:
    """The machine and the samples on the indices that either of them has: others are 0 in both."""
    if model.kernel_type == "precomputed":
        count = model.largest_index
        return machine_of(model, count), table.on(np.arange(1, count + 1)).toarray()
    entries = model.entries
    indices = np.union1d(np.union1d(entries.indices, table.indices), [1])
    columns = np.searchsorted(indices, entries.indices) + 1
    found = sparse.csr_array((entries.data, columns, entries.indptr), shape=(entries.shape[0], len(indices) + 1))
    return machine_of(replace(model, entries=found), len(indices)), table.on(indices)


def _judged(model: LibsvmModel, y: Array, predicted: Array) -> str:
    if model.svm_type in (*CLASSIFIERS, "one_class"):
        right = int(np.sum(predicted == y))
        return f"Accuracy = {100 * right / len(y):g}% ({right}/{len(y)}) (classification)"
    error, correlation = errors(y, predicted)
    return (
        f"Mean squared error = {error:g} (regression)\n"
        f"Squared correlation coefficient = {correlation:g} (regression)"
    )  # fmt: skip
