"""The case table of estimators: every public one once, with how it is made over a kernel and what it learns from. A new
estimator is one line here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone

import mercer as mc
from mercer.losses import Huber
from tests.loss_cases import LOSSES

N = 36
GROUPS = np.arange(N) % 3
_rng = np.random.default_rng(0)
_centres = np.array([[0.0, 0.0, 0.0], [4.0, 0.0, 1.0], [0.0, 4.0, -1.0]])

ROWS = _centres[GROUPS] + 0.5 * _rng.standard_normal((N, 3))  # three groups, far apart
NEW = _centres[[0, 1, 2, 0, 1, 2, 0]] + 0.5 * _rng.standard_normal((7, 3))
NUMBERS = np.sin(ROWS[:, 0]) + 0.5 * ROWS[:, 1] + 0.1 * _rng.standard_normal(N)
TARGETS: dict[str, Any] = {
    "classes": (NUMBERS + 0.5 * _rng.standard_normal(N) > np.median(NUMBERS)).astype(int),
    "grades": np.array([1, 2, 5])[np.digitize(NUMBERS, [-0.3, 0.9])],
    "numbers": NUMBERS,
    "counts": np.round(np.exp(NUMBERS)),
    "nothing": None,
    "view": np.column_stack([NUMBERS, ROWS[:, 2] ** 2]),
}
_letters = [list("AAAAACGT"), list("GGGGGTAC"), list("CCCCTTTT")]  # each group has letters that it prefers
STRINGS = ["".join(_rng.choice(_letters[group], 25)) for group in GROUPS]
NEW_STRINGS = ["".join(_rng.choice(_letters[group], 25)) for group in (0, 1, 2, 0, 1)]
WORDS = mc.Spectrum(2).normalized()
G = mc.Gaussian(0.2)


@dataclass(frozen=True)
class Case:
    """``make(kernel)`` makes it; ``learns`` names what of ``TARGETS`` it learns beside the samples: two "classes",
    three ordered "grades", …; ``kernels`` are the parameters that are kernels, with the way to them. ``groups``: it
    finds groups, whose numbers mean nothing. ``truth`` is its definition, where there is a direct one: a function of
    the machine, the matrix of the samples, that of new ones with them and the targets, that returns what the machine
    says of the new ones, way by way ({"predict": …}).
    """

    make: Callable[[Any], Any]
    learns: str = "nothing"
    kernels: tuple[str, ...] = ("kernel",)
    groups: bool = False
    strings: bool = False  # it learns from strings alone
    truth: Callable[[Any, Any, Any, Any], dict[str, Any]] | None = None

    def fitted(self, kernel: Any = G, X: Any = None, weights: Any = None, rows: Any = None, **options: Any) -> Any:
        """Fitted to the samples, or to those of ``rows``, with other parameters in ``options``."""
        model = self.make(clone(kernel)).set_params(**options)
        X = (STRINGS if self.strings else ROWS) if X is None else X
        y = TARGETS[self.learns]
        if rows is not None:
            X = [X[i] for i in rows] if isinstance(X, list) else X[rows]
            y = None if y is None else y[rows]
        return model.fit(X, y) if weights is None else model.fit(X, y, sample_weight=weights)

    def outputs(self, model: Any, X: Any = None) -> dict[str, Any]:
        """All that it says of new samples; of groups, who is with whom."""
        X = (NEW_STRINGS if self.strings else NEW) if X is None else X
        ways = ("decision_function", "predict_proba", "score_samples", "transform", "predict")
        if self.groups:
            labels = np.asarray(model.predict(X) if hasattr(model, "predict") else model.labels_)
            return {"together": labels[:, None] == labels}
        found = {way: getattr(model, way)(X) for way in ways if hasattr(model, way)}
        return {way: np.asarray(values) for way, values in found.items() if not isinstance(values, tuple)}


def ridge(machine: Any, K: Any, new: Any, y: Any) -> dict[str, Any]:
    """Kc + αc + b1 = y with Σ_i c_i = 0."""
    n = len(y)
    border = np.block([[K + machine.alpha * np.eye(n), np.ones((n, 1))], [np.ones((1, n)), np.zeros((1, 1))]])
    solved = np.linalg.solve(border, np.append(y, 0.0))
    return {"predict": new @ solved[:-1] + solved[-1]}


TWO = ("kernel__gaussian", "kernel__gaussian_2__kernel")  # of a kernel and its square

ESTIMATORS = {
    "SVC": Case(lambda k: mc.SVC(1.0, k, tol=1e-8), "classes"),
    "NuSVC": Case(lambda k: mc.NuSVC(0.4, k, tol=1e-8), "classes"),
    "SVR": Case(lambda k: mc.SVR(1.0, 0.05, k, tol=1e-8), "numbers"),
    "NuSVR": Case(lambda k: mc.NuSVR(0.4, 1.0, k, tol=1e-8), "numbers"),
    "MKLClassifier": Case(lambda k: mc.MKLClassifier(1.0, k + k**2, p=2.0, tol=1e-10), "classes", TWO),
    "MKLRegressor": Case(lambda k: mc.MKLRegressor(1.0, 0.05, k + k**2, p=2.0, tol=1e-10), "numbers", TWO),
    "MKLRidge": Case(lambda k: mc.MKLRidge(0.1, k + k**2, p=2.0, tol=1e-10), "numbers", TWO),
    "MKLOneClass": Case(lambda k: mc.MKLOneClass(0.3, k + k**2, p=2.0, tol=1e-10), kernels=TWO),
    "OneClassSVM": Case(lambda k: mc.OneClassSVM(0.3, k, tol=1e-8)),
    "SVDD": Case(lambda k: mc.SVDD(0.3, k, tol=1e-8)),
    "KernelRidge": Case(lambda k: mc.KernelRidge(0.1, k), "numbers", truth=ridge),
    "KernelRidgeCV": Case(lambda k: mc.KernelRidgeCV([0.1, 1.0], k), "numbers"),
    "KernelLogistic": Case(lambda k: mc.KernelLogistic(0.1, k, tol=1e-9), "classes"),
    "KernelQuantile": Case(lambda k: mc.KernelQuantile([0.2, 0.8], 0.1, k, tol=1e-8), "numbers"),
    "RepresenterMachine": Case(lambda k: mc.RepresenterMachine(Huber(0.3), 0.1, k, tol=1e-9), "numbers"),
    "KernelSGDClassifier": Case(lambda k: mc.KernelSGDClassifier(None, 0.01, k, random_state=0), "classes"),
    "KernelSGDRegressor": Case(lambda k: mc.KernelSGDRegressor(None, 0.01, k, random_state=0), "numbers"),
    "KernelRLS": Case(lambda k: mc.KernelRLS(0.1, k, 1e-6), "numbers"),
    "FeatureMachineRegressor": Case(
        lambda _: mc.FeatureMachineRegressor(kernel=mc.PowerExponential("median", 1.4), random_state=0), "numbers", ()
    ),
    "FeatureMachineClassifier": Case(
        lambda _: mc.FeatureMachineClassifier(0.1, mc.Gaussian(0.2), random_state=0), "grades", ()
    ),
    "PCA": Case(lambda _: mc.PCA(2), kernels=()),
    "KernelPCA": Case(lambda k: mc.KernelPCA(2, k)),
    "KernelPCANovelty": Case(lambda k: mc.KernelPCANovelty(3, k)),
    "KernelHebbian": Case(lambda k: mc.KernelHebbian(2, k)),
    "KMeans": Case(lambda _: mc.KMeans(3, random_state=0), kernels=(), groups=True),
    "KernelKMeans": Case(lambda k: mc.KernelKMeans(3, k, random_state=0), groups=True),
    "SpectralClustering": Case(lambda k: mc.SpectralClustering(3, k, random_state=0), groups=True),
    "GaussianMixture": Case(lambda _: mc.GaussianMixture(3, random_state=0), kernels=(), groups=True),
    "MarkovChain": Case(lambda _: mc.MarkovChain(), kernels=(), strings=True),
    "HiddenMarkovModel": Case(lambda _: mc.HiddenMarkovModel(2, tol=0.1, random_state=0), kernels=(), strings=True),
    "CCA": Case(lambda _: mc.CCA(1), "view", ()),
    "KernelCCA": Case(lambda k: mc.KernelCCA(1, k, mc.Gaussian(0.1), alpha=0.5), "view", ("kernel_x",)),
    "TemporalKernelCCA": Case(
        lambda k: mc.TemporalKernelCCA(k, mc.Gaussian(0.1), 2, alpha=0.5, n_bootstrap=0), "view", ("kernel_x",)
    ),
    "KernelSearchCV": Case(
        lambda k: mc.KernelSearchCV(mc.KernelRidge(0.1, k), {"alpha": [0.1, 1.0]}, cv=3),
        "numbers",
        ("estimator__kernel",),
    ),
    "ConformalRegressor": Case(
        lambda k: mc.ConformalRegressor(mc.KernelRidge(0.1, k), random_state=0), "numbers", ("estimator__kernel",)
    ),
}
# scikit-learn's checks with options, or with failures that have their reasons: in files of their own
CHECKED_ELSEWHERE = {
    "SVC", "NuSVC", "SVR", "NuSVR", "OneClassSVM", "SVDD", "KernelSGDClassifier", "KernelSGDRegressor", "KernelRLS",
    "FeatureMachineRegressor", "FeatureMachineClassifier", "GaussianMixture", "KernelSearchCV", "ConformalRegressor",
}  # fmt: skip
# they learn from strings, or from two views, which the checks do not have
NOT_CHECKED = {"MarkovChain", "HiddenMarkovModel", "CCA", "KernelCCA", "TemporalKernelCCA"}
OF_LOSSES = {type(case.machine(G)).__name__: case for case in LOSSES if case.machine is not None}
LEARNT = {"numbers": "numbers", "signs": "classes", "counts": "counts"}
ESTIMATORS |= {name: Case(case.machine, LEARNT[case.targets]) for name, case in OF_LOSSES.items()}  # type: ignore[arg-type]


def public_estimators() -> set[str]:
    """The names in ``mercer`` that are estimators over a kernel; one of tables has tests of its own."""
    found = {name: getattr(mc, name) for name in mc.__all__}
    return {
        name
        for name, cls in found.items()
        if isinstance(cls, type) and issubclass(cls, BaseEstimator) and not issubclass(cls, mc.Kernel | mc.TableModel)
    }
