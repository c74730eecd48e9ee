"""``mercer train``: svm-train's flags and words, a model file of libsvm, and the check of ``-v``."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import KFold, StratifiedKFold

from mercer.annotations import Estimator, Samples
from mercer.arrays import Array
from mercer.data import DataError
from mercer.estimators.multiclass import pairs_of
from mercer.estimators.novelty import OneClassSVM
from mercer.estimators.nu_svm import NuSVC
from mercer.estimators.probability import PlattSigmoid
from mercer.estimators.svm import SVC
from mercer.estimators.svr import SVR, NuSVR
from mercer.files.libsvm import LibsvmModel
from mercer.files.libsvm_machines import described
from mercer.files.svmlight import SparseTable
from mercer.kernels.given import PRECOMPUTED
from mercer.kernels.vectors.products import Linear, Polynomial, Sigmoid
from mercer.kernels.vectors.radial import Gaussian
from mercer.troubles import coded

_CLASSIFIERS, _ONE_CLASS, _PRECOMPUTED = (0, 1), 2, 4
_FOLDS = 5  # of which probabilities are found, as in svm-train
_AT_BOUND = 1e-6


@dataclass(frozen=True)
class Flags:
    """What svm-train is told: the kind of machine and kernel, by number, and their parameters."""

    svm_type: int = 0
    kernel_type: int = 2
    degree: int = 3
    gamma: float | None = None
    coef0: float = 0.0
    cost: float = 1.0
    nu: float = 0.5
    epsilon: float = 0.1
    tol: float = 1e-3
    probability: bool = False
    weights: dict[int, float] = field(default_factory=dict)

    @property
    def classifies(self) -> bool:
        return self.svm_type in _CLASSIFIERS


class Trained(NamedTuple):
    """A model, and what is said about it: its lines, and warnings that its solver did not converge."""

    model: LibsvmModel
    lines: list[str]
    warnings: list[str]


class Data(NamedTuple):
    """Samples as the machine sees them, and libsvm's index of each column (of a matrix, nothing)."""

    X: Samples
    y: Array
    indices: Array


def data_of(table: SparseTable, flags: Flags, where: str) -> Data:
    """The samples of a svmlight table; of a precomputed kernel, the matrix that its columns 1, 2, … are."""
    y = np.asarray(table.target)
    if flags.classifies and y.dtype.kind != "i":
        raise DataError(
            f"{where}: libsvm's labels are whole numbers, the first is {y[0]:g}; -s 3 is for regression.", "M112"
        )
    if flags.kernel_type == _PRECOMPUTED:
        n = table.height
        numbers = table.on(np.array([0])).toarray()[:, 0]
        if not np.array_equal(numbers, np.arange(1, n + 1)):
            raise DataError(
                f"{where}: a line of a precomputed kernel is 'label 0:i 1:K(i,1) 2:K(i,2) …', i = 1, 2, …, in order.",
                "M502",
            )
        return Data(table.on(np.arange(1, n + 1)).toarray(), y, np.zeros(0, np.int64))
    if len(table.indices) and (table.indices[0] == 0 or table.indices[-1] > 2**31 - 1):
        raise DataError(f"{where}: indices are from 1 to 2³¹ − 1; 0 is for precomputed kernels, -t 4.", "M502")
    return Data(table.X, y, np.asarray(table.indices))


def machine_for(flags: Flags, data: Data) -> Any:
    """The machine that the flags name, not yet fitted."""
    if flags.kernel_type == _PRECOMPUTED:
        kernel: Any = PRECOMPUTED
    else:
        largest = int(data.indices[-1]) if len(data.indices) else 1
        gamma = 1.0 / largest if flags.gamma is None or flags.gamma == 0 else flags.gamma
        kernel = (
            Linear() if flags.kernel_type == 0
            else Polynomial(flags.degree, flags.coef0, gamma) if flags.kernel_type == 1
            else Gaussian(gamma) if flags.kernel_type == 2
            else Sigmoid(flags.coef0, gamma)
        )  # fmt: skip
    common = {"kernel": kernel, "tol": flags.tol}
    if flags.svm_type == 0:
        weight = {label: flags.weights.get(label, 1.0) for label in np.unique(data.y).tolist()}
        return SVC(flags.cost, class_weight=weight if flags.weights else None, **common)
    if flags.svm_type == 1:
        return NuSVC(flags.nu, **common)
    if flags.svm_type == _ONE_CLASS:
        return OneClassSVM(flags.nu, **common)
    if flags.svm_type == 3:
        return SVR(flags.cost, flags.epsilon, **common)
    return NuSVR(flags.nu, flags.cost, **common)


def train(data: Data, flags: Flags) -> Trained:
    """The model of the data, with labels in the order in which they come, as svm-train has them."""
    machine, said = _fitted(machine_for(flags, data), data.X, data.y)
    if flags.probability:
        machine.probability, machine._sigmoids = True, _sigmoids(machine, data)
    model = described(machine)
    if flags.svm_type == _ONE_CLASS:  # libsvm's coefficients are at most 1
        scale = flags.nu * len(data.y)
        model = replace(model, coef=scale * model.coef, rho=scale * model.rho)
    if model.labels:
        seen = [int(label) for label in dict.fromkeys(data.y.tolist())]
        if seen == [-1, 1]:  # which libsvm has the other way round
            seen = [1, -1]
        model = model.reordered(np.array([model.labels.index(label) for label in seen]))
    if flags.kernel_type != _PRECOMPUTED:
        model = replace(model, entries=_at_indices(model.entries, data.indices))
    return Trained(model, _report(machine, model, flags), said)


def _at_indices(entries: sparse.csr_array, indices: Array) -> Any:
    """Entries with libsvm's index in the place of the number of their column."""
    width = int(indices[-1]) + 1 if len(indices) else 1
    return type(entries)((entries.data, indices[entries.indices - 1], entries.indptr), shape=(entries.shape[0], width))


def _fitted(machine: Estimator, X: Samples, y: Array) -> tuple[Any, list[str]]:
    """The machine, fitted, and what it says of convergence; other warnings pass."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        machine.fit(X, y)
    said = []
    for warning in caught:
        if issubclass(warning.category, ConvergenceWarning):
            said.append(str(warning.message))
        else:
            warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)
    return machine, said


def _report(machine: Estimator, model: LibsvmModel, flags: Flags) -> list[str]:
    """What svm-train prints, as far as it is known: a block for each pair of classes."""
    pairs = pairs_of(len(model.labels)) if model.labels else [(0, 1)]
    of = np.repeat(np.arange(len(model.labels)), model.counts) if model.labels else None
    lines = [f"optimization finished, #iter = {machine.n_iter_}"]
    for t, (a, b) in enumerate(pairs):
        parts = (
            [model.coef[0]] if of is None
            else [model.coef[b - 1, of == a], model.coef[a, of == b]]
        )  # fmt: skip
        bounds = (
            [flags.cost * flags.weights.get(model.labels[c], 1.0) for c in (a, b)] if flags.svm_type == 0
            else [flags.cost] if flags.svm_type > 2
            else [float(np.abs(part).max(initial=0.0)) for part in parts]
        )  # fmt: skip
        size = sum(int(np.count_nonzero(part)) for part in parts)
        full = sum(
            int(np.sum(np.abs(part) >= (1 - _AT_BOUND) * bound)) if bound else 0
            for part, bound in zip(parts, bounds, strict=True)
        )
        known = len(pairs) == 1 and flags.svm_type in (0, 2, 3)
        lines.append((f"obj = {machine.objective_:.6f}, " if known else "") + f"rho = {model.rho[t]:.6f}")
        lines.append(f"nSV = {size}, nBSV = {full}")
    return [*lines, f"Total nSV = {model.coef.shape[1]}"] if model.labels else lines


def _sigmoids(machine: Estimator, data: Data) -> list[PlattSigmoid]:
    """Platt's sigmoid of each pair of classes, on values of samples that were left out, a fifth at a time."""
    k = len(machine.classes_)
    found = []
    for a, b in pairs_of(k):
        rows = np.flatnonzero((data.y == machine.classes_[a]) | (data.y == machine.classes_[b]))
        y = np.where(data.y[rows] == machine.classes_[b if k == 2 else a], 1, -1)
        X = data.X[np.ix_(rows, rows)] if machine._precomputed else data.X[rows]
        one = clone(machine).set_params(probability=False, class_weight=_weights_of_pair(machine, a, b, k))
        least = int(min(np.sum(y > 0), np.sum(y < 0)))
        values = np.zeros(len(y))
        if least < 2:
            values = _fitted(one, X, y)[0].decision_function(X)
        else:
            folds = StratifiedKFold(min(_FOLDS, least), shuffle=True, random_state=0)
            for inside, outside in folds.split(X, y):
                fit, new = _split(machine, X, inside, outside)
                values[outside] = _fitted(clone(one), fit, y[inside])[0].decision_function(new)
        found.append(PlattSigmoid.fit(values, y))
    return found


def _weights_of_pair(machine: Estimator, a: int, b: int, k: int) -> dict[int, float] | None:
    weight, classes = machine.class_weight, machine.classes_.tolist()
    if weight is None:
        return None
    first, second = (classes[b], classes[a]) if k == 2 else (classes[a], classes[b])
    return {1: weight[first], -1: weight[second]}


def _split(machine: Estimator, X: Samples, inside: Array, outside: Array) -> tuple[Any, Any]:
    """Samples to learn from and others; of a matrix, the rows and columns of these."""
    if machine._precomputed:
        return X[np.ix_(inside, inside)], X[np.ix_(outside, inside)]
    return X[inside], X[outside]


def cross_validated(data: Data, flags: Flags, folds: int) -> tuple[list[str], list[str]]:
    """What svm-train prints with -v, in its words, which other programs read; and warnings."""
    n = len(data.y)
    if folds > n:
        raise DataError(f"-v {folds}: there are {n} samples; take at most as many folds.", "M205")
    predicted, said = np.zeros(n), list[str]()
    machine = machine_for(flags, data)
    least = int(np.unique(data.y, return_counts=True)[1].min()) if flags.classifies else 0
    rule = StratifiedKFold if least >= folds else KFold
    for inside, outside in rule(folds, shuffle=True, random_state=0).split(np.zeros(n), data.y):
        fit, new = _split(machine, data.X, inside, outside)
        one, more = _fitted(clone(machine), fit, data.y[inside])
        predicted[outside] = one.predict(new)
        said += more
    if flags.svm_type < 3:
        return [f"Cross Validation Accuracy = {100 * np.mean(predicted == data.y):g}%"], said
    error, correlation = errors(data.y, predicted)
    return [
        f"Cross Validation Mean squared error = {error:g}",
        f"Cross Validation Squared correlation coefficient = {correlation:g}",
    ], said


def errors(y: Array, predicted: Array) -> tuple[float, float]:
    """The mean squared error and the squared correlation."""
    with np.errstate(invalid="ignore", divide="ignore"):
        correlation = float(np.corrcoef(y, predicted)[0, 1] ** 2)
    return float(np.mean((predicted - y) ** 2)), correlation


def separated(arguments: Sequence[str]) -> tuple[list[str], dict[int, float]]:
    """Names of files, and the weights -wi of classes i; whatever else begins with a dash is refused."""
    files, weights, rest = [], {}, list(arguments)
    while rest:
        one = rest.pop(0)
        if not one.startswith("-") or one == "-":
            files.append(one)
            continue
        try:
            if not one.startswith("-w"):
                raise ValueError
            weights[int(one[2:])] = float(rest.pop(0))
        except (ValueError, IndexError):
            raise ValueError(
                coded(f"{one}: there is no such flag; the weight of class 1 is -w1 2.5.", "M204")
            ) from None
    return files, weights
