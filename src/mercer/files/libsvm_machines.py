"""Machines from models of libsvm, and back: the same decisions, in the layout of the other.

Both write f = Σ_i coef_i k(x, x_i) + b. libsvm has −rho for b, its labels in any order, and of two classes a value that
is positive for the first; Mercer sorts the labels, and of two classes the value is positive for the second.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from mercer import arrays
from mercer.annotations import Estimator
from mercer.arrays import Array
from mercer.estimators.multiclass import pairs_of
from mercer.estimators.novelty import OneClassSVM
from mercer.estimators.nu_svm import NuSVC
from mercer.estimators.probability import PlattSigmoid, ScoreSigmoid
from mercer.estimators.scikit_checks import check_is_fitted
from mercer.estimators.svm import SVC
from mercer.estimators.svr import SVR, NuSVR
from mercer.files.libsvm import CLASSIFIERS, LibsvmModel, read_libsvm, written
from mercer.files.persistence import check_folder, write_whole
from mercer.files.plain import ModelFileError
from mercer.kernels.base import Kernel
from mercer.kernels.given import PRECOMPUTED
from mercer.kernels.vectors.products import Linear, Polynomial, Sigmoid
from mercer.kernels.vectors.radial import Gaussian

_MACHINES: dict[str, type[Any]] = {
    "c_svc": SVC, "nu_svc": NuSVC, "one_class": OneClassSVM, "epsilon_svr": SVR, "nu_svr": NuSVR,
}  # fmt: skip
_FEW_CELLS, _ZEROS = 1_000_000, 4  # of support vectors that are kept with every 0 written out: so many, or for an entry


def load_libsvm(
    path: str | Path, *, n_features: int | None = None, max_bytes: int | str | None = None
) -> SVC | NuSVC | OneClassSVM | SVR | NuSVR:
    """The fitted machine in a model file of libsvm (``svm-train``); its decisions are libsvm's.

    Parameters
    ----------
    path : str or Path
        A file that ``svm-train``, ``svm_save_model``, ``mercer train`` or ``save_libsvm`` wrote, as it is or packed by
        gzip, bzip2 or xz.
    n_features : int, optional
        The columns of X, of which column j is libsvm's index j + 1; of a precomputed kernel, the number of training
        samples. None: the largest index in the file.
    max_bytes : int or str, optional
        How much may be read after unpacking, in bytes or as "2GB"; None: an eighth of the machine's memory.

    Returns
    -------
    SVC, NuSVC, OneClassSVM, SVR or NuSVR
        With ``predict_proba`` where the file has probabilities. C, ν and ε, which a file does not hold, are at their
        defaults, and the numbers of the support vectors, ``support_``, are −1.

    Raises
    ------
    ModelFileError
        A ``ValueError``: for whatever is wrong with the file.

    See Also
    --------
    save_libsvm : The way back, and an example.
    load : Models of Mercer's own.

    Notes
    -----
    Between classes of as many votes a machine from libsvm takes the one that stands first in the file, as libsvm does;
    Mercer's own take the one whose values add up to more. Probabilities are Platt's, coupled by Wu, Lin and Weng's
    second method, solved exactly where libsvm iterates to 0.005/n_classes; the likeliest class need not be the
    predicted one. The width of the noise that a regression may hold (probA) is not kept.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import mercer as mc
    >>> text = "svm_type c_svc\\nkernel_type linear\\nnr_class 2\\ntotal_sv 2\\nrho 0\\nlabel 1 -1\\nnr_sv 1 1\\nSV\\n"
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "a.model").write_text(text + "0.5 1:1 2:1\\n-0.5 1:-1 2:-1\\n")
    ...     machine = mc.load_libsvm(Path(folder, "a.model"))
    >>> machine.kernel, machine.predict([[2.0, 1.0], [0.0, -3.0]])
    (Linear(), array([ 1, -1]))
    """
    return machine_of(read_libsvm(path, max_bytes), n_features)


def machine_of(model: LibsvmModel, n_features: int | None = None) -> Any:
    """The fitted machine that a model describes."""
    width = max(model.largest_index, 1) if n_features is None else n_features
    if width < model.largest_index:
        raise ModelFileError(
            f"n_features={width}: the model has the index {model.largest_index}; give at least that.", "M104"
        )
    try:
        kernel = _kernel_of(model)
    except ValueError as error:
        raise ModelFileError(f"The kernel of the model is none: {error}", "M504") from None
    machine = _MACHINES[model.svm_type](kernel=kernel)
    if model.labels:
        model = _enter_classes(machine, model)
    total = model.coef.shape[1]
    machine.n_features_in_ = machine._n_items = width
    machine.dual_coef_, machine.intercept_ = np.ascontiguousarray(model.coef), -model.rho
    if model.kernel_type == "precomputed":
        machine.kernel_, machine.support_ = None, model.entries.data.astype(np.int32) - 1
        machine.support_vectors_ = np.empty((total, 0))
    else:
        machine.kernel_, machine.support_ = kernel, np.full(total, -1, np.int32)
        machine.support_vectors_ = _rows(model.entries, width)
    if model.svm_type == "one_class":
        machine.intercept_, machine.offset_ = np.zeros(1), float(model.rho[0])
        machine._at_edge = machine.offset_, 0.0
    if not model.labels:
        machine.n_support_, machine._single = np.array([total], np.int32), True
    return machine


def _enter_classes(machine: Estimator, model: LibsvmModel) -> LibsvmModel:
    """The model with its labels sorted, and of two classes positive for the second; sets what a classifier has beside
    f.
    """
    order = np.argsort(model.labels)  # where each class stands in the file
    model = model.reordered(order)
    if len(order) == 2:
        model = _turned(model)
    machine.classes_, machine.n_support_ = np.array(model.labels), np.array(model.counts, np.int32)
    machine._ranks = order if len(order) > 2 else None
    machine.probability = bool(model.sigmoids)
    machine._sigmoids = [PlattSigmoid(-A, -B) for A, B in model.sigmoids] or None  # P = σ(−A f − B)
    return model


def _turned(model: LibsvmModel) -> LibsvmModel:
    """The same model of two classes, positive for the other one; its own inverse."""
    return replace(
        model, coef=-model.coef, rho=-model.rho, sigmoids=tuple((A, -B) for A, B in model.sigmoids)
    )  # fmt: skip


def _kernel_of(model: LibsvmModel) -> Kernel | str:
    p = model.parameters
    if model.kernel_type == "polynomial":
        if p["degree"] % 1:
            raise ValueError(f"degree {p['degree']:g} is not a whole number.")
        return Polynomial(int(p["degree"]), offset=p["coef0"], scale=p["gamma"])
    if model.kernel_type == "rbf":
        return Gaussian(p["gamma"])
    if model.kernel_type == "sigmoid":
        return Sigmoid(offset=p["coef0"], scale=p["gamma"])
    return Linear() if model.kernel_type == "linear" else PRECOMPUTED


def _rows(entries: sparse.csr_array, width: int) -> Any:
    """Support vectors without the column of index 0, with zeros written out where there are few."""
    rows = sparse.csr_array((entries.data, entries.indices - 1, entries.indptr), shape=(entries.shape[0], width))
    few = rows.shape[0] * width <= max(_FEW_CELLS, _ZEROS * rows.nnz)
    return rows.toarray() if few else rows


# ---------------------------------------------------------------------------------------------------------------------
# Writing
# ---------------------------------------------------------------------------------------------------------------------


def save_libsvm(model: Estimator, path: str | Path, *, probability: bool | None = None) -> None:
    """Write a fitted machine as a model file of libsvm, which ``svm-predict`` and all that links libsvm can read.

    Parameters
    ----------
    model : SVC, NuSVC, OneClassSVM, SVR or NuSVR
        Fitted, with a kernel that libsvm has: ``Linear``, ``Polynomial``, ``Gaussian`` of one γ, ``Sigmoid``, or
        "precomputed". Labels are whole numbers; y has one column.
    path : str or Path
        Where to write; what is there is replaced. The file appears whole or not at all.
    probability : bool, optional
        Whether to write probabilities; None: where the machine has them. Those of ``SVC(probability=True)`` have two
        slopes where libsvm has one and an offset: they are refused, and False leaves them out. ``mercer train -b 1``
        finds libsvm's.

    Raises
    ------
    ModelFileError
        If libsvm has no such machine, kernel, label or probability; the message says what it has.

    See Also
    --------
    load_libsvm : The way back.
    save : Every model of Mercer, in its own format.
    to_onnx : The machines of all kernels of vectors, for other runtimes.

    Notes
    -----
    Numbers have 17 digits: what is read back is the same to the bit. A sum over centers or of ``compress`` is written
    with each center once for every class but the last, since libsvm's coefficients belong to pairs with one's own.

    Examples
    --------
    >>> import tempfile
    >>> import mercer as mc
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> machine = mc.SVC(C=10.0, kernel=mc.Gaussian(0.1)).fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     mc.save_libsvm(machine, f"{folder}/iris.model")
    ...     again = mc.load_libsvm(f"{folder}/iris.model")
    >>> bool((again.predict(X) == machine.predict(X)).all()), again.kernel
    (True, Gaussian(gamma=0.1))
    """
    path = Path(path)
    check_folder(path)
    text = written(described(model, probability))
    try:
        write_whole(path, text.encode("ascii"))
    except OSError as error:
        raise ModelFileError(f"{path} cannot be written: {error.strerror or error}.", "M501") from None


def described(model: Estimator, probability: bool | None = None) -> LibsvmModel:
    """A fitted machine as libsvm would say it."""
    kind = next((name for name, cls in _MACHINES.items() if type(model) is cls), None)
    if kind is None:
        raise ModelFileError(
            f"A {type(model).__name__} has no place in a file of libsvm, which holds {', '.join(_names())}. save() and"
            " to_onnx() take others.",
            "M507",
        )
    check_is_fitted(model)
    kernel_type, parameters = _kernel_in_words(model.kernel_)
    coef, entries, rho = np.asarray(model._dual_coef), _entries(model), -np.asarray(model.intercept_, np.float64)
    if kind not in CLASSIFIERS:
        if len(coef) > 1:
            raise ModelFileError(f"libsvm has one output, this {type(model).__name__} has {len(coef)}.", "M507")
        rho = np.array([model.offset_]) if kind == "one_class" else rho
        return LibsvmModel(kind, kernel_type, rho, coef, entries, parameters)
    labels, counts = _labels(model.classes_), np.asarray(model.n_support_)
    if model._compressed or len(counts) != len(labels):
        coef, counts, chosen = _by_classes(model)
        entries = entries[chosen]
    sizes, sigmoids = tuple(int(c) for c in counts), _sigmoids(model, probability)
    found = LibsvmModel(kind, kernel_type, rho, coef, entries, parameters, labels, sizes, sigmoids)
    if len(labels) == 2:
        return _turned(found)
    return found if model._ranks is None else found.reordered(np.argsort(model._ranks))


def _names() -> list[str]:
    return [cls.__name__ for cls in _MACHINES.values()]


def _kernel_in_words(kernel: Kernel | None) -> tuple[str, dict[str, float]]:
    if kernel is None:
        return "precomputed", {}
    if type(kernel) is Linear:
        return "linear", {}
    if type(kernel) is Gaussian and np.ndim(kernel.gamma) == 0:
        return "rbf", {"gamma": float(kernel.gamma)}
    if type(kernel) is Polynomial:
        return "polynomial", {"degree": int(kernel.degree), "gamma": kernel.scale, "coef0": kernel.offset}
    if type(kernel) is Sigmoid:
        return "sigmoid", {"gamma": kernel.scale, "coef0": kernel.offset}
    raise ModelFileError(
        f"libsvm has no kernel {kernel}. It has Linear(), Polynomial(degree, offset, scale), Gaussian(gamma) with one"
        " gamma, Sigmoid(offset, scale), and matrices, kernel='precomputed'; save() and to_onnx() take others.",
        "M507",
    )


def _labels(classes: Array) -> tuple[int, ...]:
    numbers = classes.dtype.kind in "iubf" and bool((classes.astype(np.float64) % 1 == 0).all())
    if not numbers or np.abs(classes.astype(np.float64)).max() > 2**31 - 1:
        raise ModelFileError(
            f"libsvm's labels are whole numbers of at most 2³¹ − 1, the machine has {classes[0]!s}, {classes[1]!s}, …:"
            " train it on numbers, as sklearn.preprocessing.LabelEncoder gives them.",
            "M507",
        )
    return tuple(int(label) for label in classes)


def _by_classes(model: Estimator) -> tuple[Array, Array, Array]:
    """Functions over support vectors that belong to no class, in libsvm's layout: (coefficients, how many of each
    class, which of the support vectors). Each class but the last has all of them, with its coefficients against later
    classes.
    """
    functions, k, m = model._functions().T, len(model.classes_), len(model.support_)
    coef = np.zeros((k - 1, (k - 1) * m))
    for t, (a, b) in enumerate(pairs_of(k)):
        coef[b - 1, a * m : (a + 1) * m] = functions[t]
    return coef, np.array([m] * (k - 1) + [0]), np.tile(np.arange(m), k - 1)


def _sigmoids(model: Estimator, probability: bool | None) -> tuple[tuple[float, float], ...]:
    """A and B of P = 1/(1 + exp(A f + B))."""
    if probability is False or (probability is None and model._sigmoids is None):
        return ()
    if model._sigmoids is None:
        raise ModelFileError("The machine has no probabilities to write: fit it with probability=True.", "M507")
    found = []
    for sigmoid in model._sigmoids:
        if isinstance(sigmoid, ScoreSigmoid):
            if sigmoid.below != sigmoid.above:
                raise ModelFileError(
                    "Mercer's probabilities have a slope on each side of the margin, libsvm's one slope and an offset:"
                    " no file of libsvm says the same. Leave them out, save_libsvm(…, probability=False), or train with"
                    " mercer train -b 1, which finds libsvm's.",
                    "M507",
                )
            sigmoid = PlattSigmoid(sigmoid.below, 0.0)
        found.append((-sigmoid.slope, -sigmoid.offset))
    return tuple(found)


def _entries(model: Estimator) -> sparse.csr_array:
    """The support vectors as libsvm numbers their columns, from 1; of a matrix, their numbers in column 0."""
    if model.kernel_ is None:
        return sparse.csr_array((model.support_[:, None] + 1).astype(np.float64))
    kept = model.support_vectors_
    rows = sparse.csr_array(kept if sparse.issparse(kept) else arrays.to_numpy(kept))
    rows.sort_indices()
    rows.eliminate_zeros()
    return sparse.csr_array(
        (rows.data.astype(np.float64), rows.indices.astype(np.int64) + 1, rows.indptr),
        shape=(rows.shape[0], rows.shape[1] + 1),
    )
