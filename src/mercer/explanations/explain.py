"""The door: which explanation, of what, and its parts as ``Explanation``s."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mercer import arrays
from mercer.annotations import Estimator, RandomState, Samples
from mercer.arrays import Array
from mercer.compute import Compute
from mercer.data import Vectors, as_frame, listed
from mercer.estimators.scikit_checks import check_is_fitted
from mercer.explanations.places import base_of, by_feature, by_place, has_places
from mercer.explanations.result import Explanation
from mercer.explanations.sampled import sampled_values
from mercer.explanations.shapley import exact_values
from mercer.explanations.subject import Subject
from mercer.functions import RKHSFunction
from mercer.kernels.base import Kernel
from mercer.runtime.randomness import generator
from mercer.troubles import coded

_PERMUTATIONS = 200


def explain(
    model: Estimator,
    X: Samples,
    by: str = "auto",
    *,
    background: Samples = None,
    random_state: RandomState = None,
    n_permutations: int = _PERMUTATIONS,
) -> list[Explanation]:
    """Why a model answers what it answers: for each sample, parts that add up to f(x).

    For every machine of the form f = Σ_i α_i k(·, x_i) + b, which have it as ``function_``; by column also for any
    other model of tables. What is explained is f itself: the prediction of a regression, the decision of a classifier
    (of several classes, of each pair), the score of a one-class machine, the logarithm of a rate; one output or
    several. docs/explanations.md says which kernels have which explanation, and what it costs.

    Parameters
    ----------
    model : fitted estimator, RKHSFunction or function of rows
        What answers. Without ``function_`` its ``decision_function``, ``predict_proba`` or ``predict`` is explained, or
        it is called itself.
    X : collection of samples
        What is asked about.
    by : {"auto", "sample", "term", "column", "gradient", "feature", "place", "lag"}, default="auto"
        "sample": α_i k(x, x_i) of every training sample that is kept. "term": of each term of a sum of kernels.
        "column": Shapley values of the columns of a table, exact where the kernel is a sum of products over columns,
        else sampled, with standard errors; of molecules under ``Descriptors`` their descriptors. "gradient": ∇f(x),
        which does not add up to anything. "feature" and "place": of words, paths and the like in strings, texts,
        graphs and molecules, and of the letters, vertices and atoms that they cover. "lag": of each lag of a series,
        for ``TemporalKernelCCA``. "auto": terms where they compare different kinds of data, places of structured
        items, columns of tables, lags of series, else samples.
    background : table, optional
        Of ``by="column"``: the rows whose values stand in the place of those not yet there. None: up to 50 of the
        samples that the model keeps (of a support vector machine, its support vectors), evenly drawn.
    random_state : int, RandomState, Generator or None, default=None
        Of the orders in which columns come, where they are sampled.
    n_permutations : int, default=200
        At least how many orders of the columns are drawn for each sample; each background row has at least four.

    Returns
    -------
    list of Explanation
        One for each sample.

    Raises
    ------
    TypeError
        Where the model or its kernel has no such explanation; the message says which it has.

    See Also
    --------
    motif : What a machine looks for in sequences.
    influence : What leaving out a training row would change.

    Examples
    --------
    >>> import numpy as np
    >>> import mercer as mc
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((60, 3))
    >>> machine = mc.KernelRidge(0.01, kernel=mc.Gaussian(0.2)).fit(X, X[:, 0] * X[:, 1])
    >>> [e] = mc.explain(machine, X[:1])
    >>> e.by, e.names, e.errors is None
    ('column', [0, 1, 2], True)
    >>> bool(abs(e.total - machine.predict(X[:1])[0]) < 1e-8)
    True
    """
    if by not in ("auto", *_WAYS):
        raise ValueError(coded(f"by={by!r}: choose one of {', '.join(map(repr, ('auto', *_WAYS)))}.", "M205"))
    if not (isinstance(n_permutations, int | np.integer) and n_permutations >= 1):
        raise ValueError(coded(f"n_permutations={n_permutations!r}: give a whole number of at least 1.", "M205"))
    if hasattr(model, "_by_lag") and by in ("auto", "lag"):
        return _by_lag(model, X)
    subject = Subject.of(model, X)
    if by == "auto":
        by = _fitting(subject)
    if by in ("column", "gradient"):
        subject, background = subject.by_columns(background)
    if by == "column":
        return _by_column(subject, background, int(n_permutations), generator(random_state))
    if subject.f is None:
        raise TypeError(
            coded(
                f"{type(model).__name__} has no function in the space of a kernel (function_), so that by={by!r}"
                " cannot be"
                ' told; by="column" can.',
                "M311",
            )
        )
    return _WAYS[by](subject, subject.f)


def _fitting(subject: Subject) -> str:
    """What ``by="auto"`` is."""
    if subject.f is None:
        return "column"
    k = subject.f.kernel
    if len({_kind(term) for term in k._summands() if not term._blind}) > 1:
        return "term"
    if has_places(k, subject.X):
        return "place"
    table = as_frame(subject.X) is not None or isinstance(k.domain, Vectors)
    return "column" if table or len(getattr(subject.X, "shape", ())) == 2 else "sample"


def _kind(k: Kernel) -> tuple[str, ...]:
    """What a kernel compares: the domains of those it is made of, vectors of any kind being one."""
    leaves = [part.domain for part in k._parts() if not part._blind and next(part._children(), None) is None]
    return tuple(sorted({"vectors" if isinstance(d, Vectors) else type(d).__name__ for d in leaves}))


def _by_sample(subject: Subject, f: RKHSFunction) -> list[Explanation]:
    K = np.asarray(arrays.to_numpy(f.kernel.gram(subject.X, f.centers).dense()), np.float64)
    coef, names = _numbers(f.coef), [] if subject.numbers is None else subject.numbers.tolist()
    return [Explanation("sample", names, (row * coef.T).T, base_of(f)) for row in K]


def _by_term(subject: Subject, f: RKHSFunction) -> list[Explanation]:
    k, A, B = f.kernel._enter(subject.X, f.centers)
    parts = [np.asarray(arrays.to_numpy(gram @ f.coef), np.float64) for gram in k._grams(A, B, Compute())]
    names = [str(term) for term in k._summands()]
    return [Explanation("term", names, values, base_of(f)) for values in np.stack(parts, axis=1)]


def _by_gradient(subject: Subject, f: RKHSFunction) -> list[Explanation]:
    slopes = np.asarray(arrays.to_numpy(f.gradient(subject.X)), np.float64)
    answers = np.asarray(arrays.to_numpy(f(subject.X)), np.float64)
    return [
        Explanation("gradient", subject.columns(), slope.T, _number(answer))
        for slope, answer in zip(slopes, answers, strict=True)
    ]


def _by_column(
    subject: Subject, background: Samples, n_permutations: int, random: np.random.Generator
) -> list[Explanation]:
    X, Z, errors = subject.table(), subject.background(background), None
    values = None if subject.f is None else exact_values(subject.f, X, Z)
    if values is not None:
        answers = np.asarray(arrays.to_numpy(subject.answers(Z)), np.float64)
        base = answers.reshape(len(answers), -1).mean(axis=0)
    else:
        values, errors, base = sampled_values(subject.answers, X, Z, n_permutations, random)
    one = subject.single and values.shape[2] == 1
    names = subject.columns()
    return [
        Explanation(
            "column",
            names,
            values[i, :, 0] if one else values[i],
            float(base[0]) if one else base,
            None if errors is None else errors[i, :, 0] if one else errors[i],
        )
        for i in range(len(values))
    ]


def _by_place(subject: Subject, f: RKHSFunction) -> list[Explanation]:
    return by_place(f, subject.X)


def _by_feature(subject: Subject, f: RKHSFunction) -> list[Explanation]:
    return by_feature(f, subject.X)


def _by_lag(model: Estimator, X: Samples) -> list[Explanation]:
    """f_τ(x(t − τ)) of each lag τ, for every moment that ``transform`` answers for."""
    check_is_fitted(model)
    lags = model.lags_.tolist()
    return [Explanation("lag", lags, values, -model._offset) for values in model._by_lag(listed(X))]


def _lag_of(subject: Subject, f: RKHSFunction) -> list[Explanation]:
    raise TypeError(coded('by="lag" is for models of series, such as TemporalKernelCCA.', "M311"))


def _numbers(coef: Array) -> Array:
    return np.asarray(arrays.to_numpy(coef), np.float64)


def _number(value: float | Array) -> Any:
    return float(value) if np.ndim(value) == 0 else value


_WAYS: dict[str, Callable[..., list[Explanation]]] = {
    "sample": _by_sample,
    "term": _by_term,
    "column": _by_column,
    "gradient": _by_gradient,
    "feature": _by_feature,
    "place": _by_place,
    "lag": _lag_of,
}
