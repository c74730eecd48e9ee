"""What ``mercer fit`` is compared with: learners as one who knows them would put them to a table.

Each takes (rows to train on, the target's name, the task, rows to test on, seconds) and returns an ``Answer``. All see
the same columns:

- numbers and booleans as they are; dates as days since 1970, month, weekday and hour;
- molecules (a column "smiles") as Morgan's 2048 bits of radius 2;
- texts (more than half of the values are different): tf-idf of words and pairs of them where there are two words or
  more on average, else of 1 to 5 letters in a row, reduced by ``TruncatedSVD`` to 100; sequences of one length also by
  position, a category for each;
- other texts as categories, the 254 most frequent; what training did not see is missing.

Trees of boosting get categories as categories and missing values as such; the others the median and a column that says
so, and one-hot categories (also standardised for support vectors).

==================  ====================================================================================================
``HGB``             ``HistGradientBoosting`` as it comes
``HGB tuned``       12 settings (the first as it comes, others drawn with seed 0), up to 1000 trees, stopped early and
                    chosen by a fifth of the rows; the best again on all. None is begun after 5 times the seconds.
``HGB calibrated``  ``CalibratedClassifierCV`` of it over 5 folds: sigmoid below 5000 rows, isotonic from there
``forest``          ``RandomForest`` as it comes
``SVM``             the best of a grid by 5 folds of at most 4000 rows, SVC, or SVR and ``KernelRidge``, then all rows
``flaml``           AutoML of the same seconds, on the columns as trees of boosting get them; where it is installed
==================  ====================================================================================================
"""

from __future__ import annotations

import os

# before OpenMP is loaded: on a busy machine threads that spin for each other starve
os.environ["OMP_WAIT_POLICY"] = "passive"

import functools
import importlib.util
import time
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from scipy.stats import loguniform
from sklearn.calibration import CalibratedClassifierCV
from sklearn.decomposition import TruncatedSVD
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler
from sklearn.svm import SVC, SVR
from threadpoolctl import threadpool_limits

SEARCHED = 4000  # rows that the grid of support vectors is searched on
FITS = 12  # settings of boosting that are tried
PATIENCE = 5  # times the seconds, after which no setting is begun
STEPS = 5_000_000  # of libsvm, after which it is content
PARTS = 100  # of texts
JOBS = 2
FEW = 5000  # rows below which boosting takes one thread


class Answer(NamedTuple):
    """What is predicted for the rows to test on; for classes also how probable each is, in the order of ``classes``."""

    predicted: Any
    probabilities: Any = None
    classes: Any = None


Peer = Callable[[pl.DataFrame, str, str, pl.DataFrame, float], Answer]


# ---------------------------------------------------------------------------------------------------------------------
# Columns
# ---------------------------------------------------------------------------------------------------------------------


class Encoded(NamedTuple):
    """Numbers, and codes of categories (NaN where missing or not seen), of both parts, and the targets."""

    numbers: Any
    categories: Any
    test_numbers: Any
    test_categories: Any
    y: Any
    classes: Any  # None for regression


def encoded(train: pl.DataFrame, target: str, task: str, test: pl.DataFrame) -> Encoded:
    numbers: list[tuple[Any, Any]] = []
    texts: list[tuple[list[str | None], list[str | None]]] = []
    for name in (name for name in train.columns if name != target):
        a, b = train[name], test[name]
        if a.dtype.is_numeric() or a.dtype == pl.Boolean:
            numbers.append((_floats(a)[:, None], _floats(b)[:, None]))
        elif a.dtype.is_temporal():
            numbers.append((_calendar(a), _calendar(b)))
        elif "smiles" in name.lower() and importlib.util.find_spec("rdkit") is not None:
            numbers.append((_fingerprints(a), _fingerprints(b)))
        elif a.drop_nulls().n_unique() > 0.5 * len(a):
            letters, others = (list(c.cast(pl.String).fill_null("")) for c in (a, b))
            numbers.append(_reduced(letters, others))
            length = len(letters[0])
            if length > 1 and all(len(s) == length and " " not in s for s in letters):
                texts += [([s[j] for s in letters], [s[j : j + 1] or None for s in others]) for j in range(length)]
        else:
            texts.append((a.cast(pl.String).to_list(), b.cast(pl.String).to_list()))
    X, T = (np.hstack([pair[k] for pair in numbers]) if numbers else np.empty((n, 0)) for k, n in _parts(train, test))
    C, D = (np.empty((n, 0)) for _, n in _parts(train, test))
    if texts:
        A, B = (
            np.array([[None if v is None else str(v) for v in pair[k]] for pair in texts], dtype=object).T
            for k in (0, 1)
        )
        codes = OrdinalEncoder(
            handle_unknown="use_encoded_value", unknown_value=np.nan, encoded_missing_value=np.nan, max_categories=254
        )
        C, D = codes.fit_transform(A), codes.transform(B)
    values = train[target]
    if task == "regression":
        return Encoded(X, C, T, D, values.cast(pl.Float64).to_numpy(), None)
    labels = sorted(values.unique().to_list())
    place = {label: k for k, label in enumerate(labels)}
    return Encoded(X, C, T, D, np.array([place[v] for v in values.to_list()]), np.array(labels, dtype=object))


def _parts(train: pl.DataFrame, test: pl.DataFrame) -> list[tuple[int, int]]:
    return [(0, train.height), (1, test.height)]


def _floats(column: pl.Series) -> Any:
    return column.cast(pl.Float64).fill_null(np.nan).to_numpy().astype(np.float64)


def _calendar(column: pl.Series) -> Any:
    if column.dtype in (pl.Time, pl.Duration):
        return _floats(column.to_physical())[:, None]
    moments = column.cast(pl.Datetime("us"))
    days = moments.to_physical().cast(pl.Float64) / 86_400_000_000
    return np.column_stack([_floats(c) for c in (days, moments.dt.month(), moments.dt.weekday(), moments.dt.hour())])


@functools.cache
def _bits(smiles: str) -> bytes:
    """Morgan's bits, packed: the same molecule is asked for by every peer."""
    from rdkit import Chem
    from rdkit.Chem import rdFingerprintGenerator

    molecule = Chem.MolFromSmiles(smiles)
    if molecule is None:
        return bytes(256)
    made = rdFingerprintGenerator.GetMorganGenerator(radius=2, fpSize=2048).GetFingerprintAsNumPy(molecule)
    return np.packbits(made.astype(bool)).tobytes()


def _fingerprints(column: pl.Series) -> Any:
    packed = np.frombuffer(b"".join(_bits(s or "") for s in column.to_list()), np.uint8).reshape(len(column), -1)
    return np.unpackbits(packed, axis=1).astype(np.float64)


def _reduced(train: list[str], test: list[str]) -> tuple[Any, Any]:
    words = np.mean([len(text.split()) for text in train]) >= 2
    vectors = TfidfVectorizer(
        analyzer="word" if words else "char", ngram_range=(1, 2) if words else (1, 5), min_df=2, sublinear_tf=True
    )
    A = vectors.fit_transform(train)
    svd = TruncatedSVD(min(PARTS, A.shape[1] - 1), random_state=0)
    return svd.fit_transform(A), svd.transform(vectors.transform(test))


def _for_boosting(data: Encoded) -> tuple[Any, Any, list[int]]:
    """Both parts as one matrix of numbers, and the places of the categories."""
    first = data.numbers.shape[1]
    places = list(range(first, first + data.categories.shape[1]))
    return np.hstack(data[0:2]), np.hstack(data[2:4]), places


def _filled(data: Encoded) -> tuple[Any, Any]:
    """Medians and signs of what is missing; categories one-hot."""
    parts: list[tuple[Any, Any]] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # columns without any value
        if data.numbers.shape[1]:
            median = SimpleImputer(strategy="median", add_indicator=True)
            parts.append((median.fit_transform(data.numbers), median.transform(data.test_numbers)))
        if data.categories.shape[1]:
            hot = OneHotEncoder(handle_unknown="ignore", sparse_output=False, min_frequency=2)
            parts.append((hot.fit_transform(data.categories), hot.transform(data.test_categories)))
    return np.hstack([a for a, _ in parts]), np.hstack([b for _, b in parts])


def _answer(model: Any, T: Any, data: Encoded) -> Answer:
    if data.classes is None:
        return Answer(model.predict(T))
    found = data.classes[np.asarray(model.predict(T)).astype(int)]
    probabilities = model.predict_proba(T) if hasattr(model, "predict_proba") else None
    return Answer(found, probabilities, data.classes)


# ---------------------------------------------------------------------------------------------------------------------
# Peers
# ---------------------------------------------------------------------------------------------------------------------


def boosting(train: pl.DataFrame, target: str, task: str, test: pl.DataFrame, seconds: float) -> Answer:
    data = encoded(train, target, task, test)
    X, T, places = _for_boosting(data)
    with threadpool_limits(_threads(len(X)), "openmp"):
        return _answer(_boosted(data, places).fit(X, data.y), T, data)


def _threads(rows: int) -> int:
    """Threads that wait for each other after every node cost more than they bring where there are few rows."""
    return 1 if rows < FEW else JOBS


def _boosted(data: Encoded, places: list[int], **values: Any) -> Any:
    kind = HistGradientBoostingRegressor if data.classes is None else HistGradientBoostingClassifier
    return kind(categorical_features=places or None, random_state=0, **values)


def tuned_boosting(train: pl.DataFrame, target: str, task: str, test: pl.DataFrame, seconds: float) -> Answer:
    began = time.perf_counter()
    data = encoded(train, target, task, test)
    X, T, places = _for_boosting(data)
    fit, held = train_test_split(
        np.arange(len(X)), test_size=0.2, random_state=0, stratify=None if data.classes is None else data.y
    )
    random = np.random.default_rng(0)
    best: tuple[tuple[float, float], dict[str, Any]] | None = None
    for k in range(FITS):
        values: dict[str, Any] = {} if k == 0 else _drawn(random)
        if best is not None and time.perf_counter() - began > PATIENCE * seconds:
            break
        model = _boosted(data, places, max_iter=1000, early_stopping=True, n_iter_no_change=20, **values)
        with threadpool_limits(_threads(len(X)), "openmp"):
            model.fit(X[fit], data.y[fit], X_val=X[held], y_val=data.y[held])
            found = _errors(model, X[held], data.y[held], data)
        if best is None or found < best[0]:
            best = found, {**values, "max_iter": model.n_iter_}
    assert best is not None
    with threadpool_limits(_threads(len(X)), "openmp"):
        return _answer(_boosted(data, places, early_stopping=False, **best[1]).fit(X, data.y), T, data)


def _drawn(random: np.random.Generator) -> dict[str, Any]:
    return {
        "learning_rate": float(loguniform(0.02, 0.3).rvs(random_state=random)),
        "max_leaf_nodes": int(random.choice([7, 15, 31, 63, 127])),
        "min_samples_leaf": int(random.choice([5, 10, 20, 50])),
        "l2_regularization": float(random.choice([0.0, 0.1, 1.0, 10.0])),
        "max_features": float(random.choice([0.3, 0.6, 1.0])),
    }


def _errors(model: Any, X: Any, y: Any, data: Encoded) -> tuple[float, float]:
    """What is to be small: the error, and where it is the same the logarithmic loss."""
    if data.classes is None:
        return float(np.sqrt(np.mean((model.predict(X) - y) ** 2))), 0.0
    probabilities = model.predict_proba(X)
    return (
        float(np.mean(np.argmax(probabilities, axis=1) != y)),
        float(log_loss(y, probabilities, labels=range(len(data.classes)))),
    )


def calibrated_boosting(train: pl.DataFrame, target: str, task: str, test: pl.DataFrame, seconds: float) -> Answer:
    data = encoded(train, target, task, test)
    X, T, places = _for_boosting(data)
    method = "sigmoid" if len(X) < 5000 else "isotonic"
    with threadpool_limits(_threads(len(X)), "openmp"):
        return _answer(CalibratedClassifierCV(_boosted(data, places), method=method, cv=5).fit(X, data.y), T, data)


def forest(train: pl.DataFrame, target: str, task: str, test: pl.DataFrame, seconds: float) -> Answer:
    data = encoded(train, target, task, test)
    X, T = _filled(data)
    kind = RandomForestRegressor if data.classes is None else RandomForestClassifier
    return _answer(kind(random_state=0, n_jobs=JOBS).fit(X, data.y), T, data)


def support_vectors(train: pl.DataFrame, target: str, task: str, test: pl.DataFrame, seconds: float) -> Answer:
    """The best of the grids by 5 folds; it has no probabilities."""
    data = encoded(train, target, task, test)
    X, T = _filled(data)
    d, y = X.shape[1], data.y
    gammas = [0.03 / d, 0.1 / d, 0.3 / d, 1 / d, 3 / d]
    some = np.random.default_rng(0).permutation(len(X))[:SEARCHED]
    centre = 0.0
    if data.classes is not None:
        scoring = "accuracy"
        models: list[tuple[Any, dict[str, Any]]] = [
            (SVC(cache_size=1000, max_iter=STEPS), {"svc__C": [0.1, 1, 10, 100, 1000], "svc__gamma": gammas})
        ]
    else:
        scoring = "neg_root_mean_squared_error"
        centre, s = float(np.mean(y)), float(np.std(y))
        machine = SVR(epsilon=0.1 * s, cache_size=1000, max_iter=STEPS)
        models = [
            (machine, {"svr__C": [s, 10 * s, 100 * s], "svr__gamma": gammas}),
            (KernelRidge(kernel="rbf"), {"kernelridge__alpha": [1e-3, 1e-2, 0.1, 1.0], "kernelridge__gamma": gammas}),
        ]
    y = y - centre if data.classes is None else y
    best: tuple[float, Any] | None = None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # classes of fewer rows than folds; steps that were not enough
        for model, grid in models:
            pipe = make_pipeline(StandardScaler(), model)
            search = GridSearchCV(pipe, grid, cv=5, scoring=scoring, n_jobs=JOBS, refit=False).fit(X[some], y[some])
            if best is None or search.best_score_ > best[0]:
                best = search.best_score_, pipe.set_params(**search.best_params_)
        assert best is not None
        fitted = best[1].fit(X, y)
    if data.classes is None:
        return Answer(fitted.predict(T) + centre)
    return _answer(fitted, T, data)


def flaml(train: pl.DataFrame, target: str, task: str, test: pl.DataFrame, seconds: float) -> Answer:
    import pandas as pd
    from flaml import AutoML

    data = encoded(train, target, task, test)
    X, T, places = _for_boosting(data)
    frames = []
    for Z in (X, T):
        frame = pd.DataFrame(Z, columns=[f"x{j}" for j in range(Z.shape[1])])
        for j in places:
            known = np.unique(X[:, j][~np.isnan(X[:, j])]).astype(int)
            frame[f"x{j}"] = pd.Categorical(frame[f"x{j}"].astype("Int64"), categories=known)
        frames.append(frame)
    automl = AutoML()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        automl.fit(
            frames[0],
            data.y,
            task=task,
            metric="rmse" if data.classes is None else "accuracy",
            time_budget=seconds,
            seed=0,
            n_jobs=_threads(len(X)),
            verbose=0,
        )
        return _answer(automl, frames[1], data)


PEERS: dict[str, Peer] = {
    "HGB": boosting,
    "HGB tuned": tuned_boosting,
    "HGB calibrated": calibrated_boosting,
    "forest": forest,
    "SVM": support_vectors,
    "flaml": flaml,
}
CLASSES_ONLY = ("HGB calibrated",)


def at_hand() -> dict[str, Peer]:
    """Those that are installed."""
    return {name: peer for name, peer in PEERS.items() if name != "flaml" or importlib.util.find_spec("flaml")}
