"""Fitted machines as ONNX graphs, in plain operators: the formula of the kernel as it is recorded, and what the machine
makes of f = Σ_i a_i k(x, x_i) + b.

Names and shapes are skl2onnx's: the input ``X``, float (n, d); ``label`` and ``probabilities`` or ``scores`` of
classifiers, ``variable`` of regressors.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import expit

import mercer
from mercer.annotations import Estimator, Symbol
from mercer.arrays import Array
from mercer.engine.onnx import lowered
from mercer.engine.recorded import NotRecorded, Program, Recorded, Step
from mercer.estimators.logistic import KernelLogistic
from mercer.estimators.multiclass import pairs_of
from mercer.estimators.novelty import OneClassSVM
from mercer.estimators.representer import KernelQuantile, LossRegressor
from mercer.estimators.ridge import Ridge
from mercer.estimators.scikit_checks import check_is_fitted
from mercer.estimators.svm import Classifier
from mercer.estimators.svr import Regressor
from mercer.files.persistence import check_folder, write_whole
from mercer.files.plain import ModelFileError
from mercer.troubles import coded

_TAKEN = (
    "SVC, NuSVC, OneClassSVM, SVR, NuSVR, KernelRidge, KernelRidgeCV, KernelLogistic, KernelHuber, KernelExpectile,"
    " KernelPoisson, RepresenterMachine and the MKL machines"
)
_OPSET, _IR_VERSION = 18, 9  # that runtimes since 2023 read
_DTYPES = ("float32", "float64")


def to_onnx(model: Estimator, path: str | Path | None = None, *, dtype: str = "float64") -> Any:
    """A fitted machine over vectors as an ONNX model, which any runtime of ONNX evaluates without Mercer.

    Whatever kernel of vectors is recorded is taken: sums, products, ``normalized()``, ``standardized()``, ``metric``,
    ``on(columns)``, ``RandomFeatures``, and ``Nystrom`` and ``centers`` where the machine learns from landmarks.

    Parameters
    ----------
    model : estimator
        Fitted: ``SVC``, ``NuSVC``, ``OneClassSVM``, ``SVR``, ``NuSVR``, ``KernelRidge``, ``KernelLogistic``, another
        machine of a loss (but ``KernelQuantile``), or of several kernels.
    path : str or Path, optional
        Where to write; what is there is replaced.
    dtype : {"float64", "float32"}, default="float64"
        In which precision the graph computes; X and what comes out are float32 in either case. float32 is for runtimes
        without double precision, and loses digits where coefficients are large.

    Returns
    -------
    onnx.ModelProto
        Its input is ``X``, float of shape (n, n_features). Classifiers give ``label`` (n,), ``scores``, which is
        ``decision_function`` as (n, 1) or (n, n_classes), and ``probabilities`` (n, n_classes) where the machine has
        them; ``OneClassSVM`` gives ``label`` and ``scores``; regressors ``variable`` (n, n_outputs).

    Raises
    ------
    ModelFileError
        If the machine, or a part of its kernel, has no operators; the message names it.
    ImportError
        If onnx is not installed: ``pip install "mercer[onnx]"``.

    See Also
    --------
    save : Every model of Mercer, for Mercer.
    save_libsvm : For programs that link libsvm.

    Notes
    -----
    Kernels that are sums over columns (``Laplacian``, ``ChiSquared``, …) compare n samples with m support vectors in
    n·m·d numbers: give such a graph samples in batches.

    Examples
    --------
    >>> import mercer as mc
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> graph = mc.to_onnx(mc.SVC(kernel=mc.Gaussian(0.1) + mc.Linear()).fit(X, y))
    >>> [output.name for output in graph.graph.output]
    ['label', 'scores']
    """
    if dtype not in _DTYPES:
        raise ValueError(coded(f"dtype={dtype!r}: choose one of {', '.join(map(repr, _DTYPES))}.", "M205"))
    try:
        import onnx  # noqa: F401  # before the work
    except ImportError:
        raise ImportError(coded('to_onnx needs the package onnx: pip install "mercer[onnx]".', "M402")) from None
    if path is not None:
        check_folder(Path(path))
    _check(model)
    program = Program(np.dtype(dtype))
    X = Recorded(program, "X", (None, int(model.n_features_in_)), np.dtype(np.float32))
    made = _assembled(program, _answers(model, _functions(model, X.cast(dtype))), X.shape)
    if path is not None:
        write_whole(Path(path), made.SerializeToString())
    return made


def _check(model: Estimator) -> None:
    kinds = (Classifier, OneClassSVM, Regressor, Ridge, KernelLogistic, LossRegressor)
    if not isinstance(model, kinds) or isinstance(model, KernelQuantile):
        raise ModelFileError(f"to_onnx has no graph for a {type(model).__name__}; it takes {_TAKEN}.", "M507")
    check_is_fitted(model)
    if model.kernel_ is None:
        raise ModelFileError(
            "A machine of a precomputed matrix has no kernel to write: give it the kernel itself.", "M507"
        )
    if not hasattr(model, "n_features_in_"):
        raise ModelFileError(f"to_onnx is of rows of numbers, and {model.kernel_} does not compare those.", "M507")


def _functions(model: Estimator, X: Recorded) -> Any:
    """f of each pair, class or output, (n, functions)."""
    coef, bias = np.asarray(model._functions(), np.float64), np.asarray(model.intercept_, np.float64)
    nothing = 0.0 * X[:, :1]
    if not len(model.support_):
        return nothing + np.broadcast_to(bias, (1, coef.shape[1]))
    kernel = model.kernel_
    B = kernel._entered(model._unpacked(model.support_vectors_))[1]
    try:
        K = lowered(kernel, kernel._prepare(X), B)
    except (TypeError, ValueError, AttributeError, IndexError, NotImplementedError) as error:
        why = str(error) if isinstance(error, NotRecorded) else "what it does with the samples has no operators"
        raise ModelFileError(
            f"to_onnx cannot write {kernel}: {why}. Kernels of vectors whose formulas are recorded can be written, such"
            " as Linear, Polynomial, Gaussian, Laplacian, Sigmoid, their sums and products.",
            "M507",
        ) from error
    if not isinstance(K, Recorded) or K.shape != (None, len(coef)):
        K = nothing + K + np.zeros((1, len(coef)))
    return K @ coef + bias


def _answers(model: Estimator, f: Symbol) -> dict[str, Any]:
    """What comes out, by name."""
    if isinstance(model, OneClassSVM):
        scores = f - float(model.offset_)
        index = _chosen(scores < 0)
        return {"label": _taken(np.array([1, -1]), index), "scores": scores}
    if isinstance(model, Classifier):
        return _of_pairs(model, f)
    if isinstance(model, KernelLogistic):
        two = len(model.classes_) == 2
        found = {"label": _label(model.classes_, f), "scores": f}
        found["probabilities"] = _beside(expit(f)) if two else f.program.step("Softmax", f.shape, f, axis=1)
        return found
    if isinstance(model, LossRegressor):
        try:
            f = model._trained[0].mean(f)
        except TypeError as error:
            raise ModelFileError(f"to_onnx has no operators for the mean of {model._trained[0]}.", "M507") from error
    return {"variable": f}


def _of_pairs(model: Estimator, values: Symbol) -> dict[str, Any]:
    """Votes of pairs of classes, and coupled probabilities, as ``estimators.multiclass`` has them."""
    k, sigmoids = len(model.classes_), model._sigmoids if model.probability else None
    scores = values if k == 2 else _votes(values, k, model._ranks)
    found = {"label": _label(model.classes_, scores), "scores": scores}
    if sigmoids is None:
        return found
    every = type(sigmoids[0])(*(np.array(field) for field in zip(*(vars(s).values() for s in sigmoids), strict=True)))
    p = every(values)
    if k == 2:
        return found | {"probabilities": _beside(p)}
    predicted = np.argmax(scores, axis=1) if every.agrees else None
    return found | {"probabilities": _coupled(p, predicted, k)}


def _votes(values: Symbol, k: int, ranks: Array | None) -> Any:
    first, second = (np.zeros((values.shape[1], k)) for _ in range(2))
    for t, (a, b) in enumerate(pairs_of(k)):
        first[t, a] = second[t, b] = 1.0
    votes = (values > 0).astype(float) @ (first - second) + second.sum(axis=0)
    if ranks is not None:
        return votes - np.asarray(ranks, np.float64) / (3 * k)
    sums = values @ (first - second)
    return votes + sums / (3.0 * (np.abs(sums) + 1.0))


def _coupled(p: Symbol, predicted: Symbol | None, k: int) -> Any:
    """``couple`` of the pairs' probabilities: (Q + 11^T) x = 1, x over its sum. Q is as there; adding 11^T changes the
    solution by a factor alone, and leaves a positive definite matrix, which elimination without pivots solves.
    """
    S, c = np.zeros((p.shape[1], k, k)), np.zeros((k, k))
    for t, (a, b) in enumerate(pairs_of(k)):
        S[t, a, b], S[t, b, a], c[b, a] = 1.0, -1.0, 1.0
    r = (p @ S.reshape(len(S), -1) + c.reshape(-1)).reshape(-1, k, k)
    rt = (p @ S.transpose(0, 2, 1).reshape(len(S), -1) + c.T.reshape(-1)).reshape(-1, k, k)
    Q = np.sum(rt * rt, axis=2)[:, :, None] * np.eye(k) - r * rt + 1.0 + 1e-12 * np.eye(k)
    M = np.concatenate([Q, np.sum(0.0 * rt, axis=2)[:, :, None] + 1.0], axis=2)
    for i in range(k):
        row = M[:, i : i + 1, :] / M[:, i : i + 1, i : i + 1]
        others = (np.arange(k) != i).astype(np.float64)[:, None]
        M = M - (M[:, :, i : i + 1] * others) * row
        M = M * others + row * (1.0 - others)
    x = np.maximum(M[:, :, k], 0.0)
    x = x / np.sum(x, axis=1, keepdims=True)
    if predicted is None:
        return x
    chosen, top = (_one_hot(x.program, index, k) for index in (predicted, np.argmax(x, axis=1)))
    largest, own = (np.sum(mask * x, axis=1, keepdims=True) for mask in (top, chosen))
    return np.where(chosen > 0.5, largest, np.where(top > 0.5, own, x))


def _one_hot(program: Program, index: Symbol, k: int) -> Any:
    eye = np.eye(k)
    return program.step("Gather", (None, k), eye, index, axis=0)


def _label(classes: Array, scores: Symbol) -> Any:
    index = _chosen(scores > 0) if scores.shape[1] == 1 else np.argmax(scores, axis=1)
    return _taken(classes, index)


def _chosen(condition: Symbol) -> Any:
    """0 or 1 for each row of a column of conditions."""
    return condition.cast("int64")[:, 0]


def _taken(classes: Array, index: Symbol) -> Any:
    """The class of each number."""
    whole = classes.dtype.kind in "iub"
    values = classes.astype(np.int64) if whole else np.array([str(c) for c in classes.tolist()], object)
    return index.program.step("Gather", (None,), values, index, kind=values.dtype, axis=0)


def _beside(p: Symbol) -> Any:
    """The probabilities of two classes from that of the second."""
    return np.concatenate([1.0 - p, p], axis=1)


def _assembled(program: Program, answers: dict[str, Any], shape: Sequence[int | None]) -> Any:
    """The programme as ONNX's own structure, checked."""
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    kinds = {
        "float32": TensorProto.FLOAT, "float64": TensorProto.DOUBLE, "int64": TensorProto.INT64,
        "object": TensorProto.STRING,
    }  # fmt: skip
    outputs = []
    for name, value in answers.items():
        number = value.dtype.kind == "f"
        program.steps.append(
            _step("Cast", value, name, to="float32") if number else _step("Identity", value, name)
        )  # fmt: skip
        kind = TensorProto.FLOAT if number else kinds[str(value.dtype)]
        outputs.append(helper.make_tensor_value_info(name, kind, ["N", *value.shape[1:]]))
    nodes = []
    for operator, inputs, output, attributes in program.steps:
        given: dict[str, Any] = {k: kinds[v] if k == "to" else v for k, v in attributes.items()}
        nodes.append(helper.make_node(operator, list(inputs), [output], **given))
    constants = [numpy_helper.from_array(value, name) for name, value in program.constants.items()]
    entry = helper.make_tensor_value_info("X", TensorProto.FLOAT, ["N", *shape[1:]])
    graph = helper.make_graph(nodes, "mercer", [entry], outputs, constants)
    made = helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", _OPSET)], ir_version=_IR_VERSION, producer_name="mercer",
        producer_version=mercer.__version__,
    )  # fmt: skip
    onnx.checker.check_model(made)
    return made


def _step(operator: str, value: Recorded, name: str, **attributes: Any) -> Step:
    return Step(operator, (value.name,), name, attributes)
