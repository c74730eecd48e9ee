"""scikit-learn's constructors in front of Mercer's estimators.

An adapter translates arguments and holds the Mercer estimator they describe; every method and fitted attribute is that
estimator's own. What Mercer has no parameter for is given to it all the same, unless it is about resources alone
(``without_effect``), so that what is missing shows as an error.
"""

from __future__ import annotations

import inspect
from functools import partial
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.utils.validation import check_is_fitted

import mercer as mc

built = 0  # adapters built, and functions called, so far: a test that leaves it alone says nothing of Mercer


def count() -> None:
    global built
    built += 1


# -- arguments ---------------------------------------------------------------------------------------------------------


def scale_of(X: Any) -> float:
    """scikit-learn's gamma="scale"."""
    columns = X.shape[1]
    variance = X.multiply(X).mean() - X.mean() ** 2 if sparse.issparse(X) else np.asarray(X, np.float64).var()
    return 1.0 / (columns * float(variance)) if variance else 1.0


def kernel_of(name: Any, X: Any, gamma: Any, degree: Any, coef0: Any) -> Any:
    """Mercer's kernel for scikit-learn's name and numbers; what has no such name is left as it is."""
    if not isinstance(name, str) or name == "precomputed":
        return name
    X = X if sparse.issparse(X) else np.asarray(X)
    columns = X.shape[1] if X.ndim == 2 else 1
    number = 1.0 / columns if gamma is None or gamma == "auto" else gamma
    match name:
        case "linear":
            return mc.Linear()
        case "rbf":
            return mc.Gaussian(number)
        case "poly" | "polynomial":
            return mc.Polynomial(degree, coef0, scale_of(X) if number == "scale" else number)
        case "sigmoid":
            return mc.Sigmoid(coef0, scale_of(X) if number == "scale" else number)
        case "laplacian":
            return mc.Laplacian(number)
        case "cosine":
            return mc.Linear().normalized()
        case "chi2":
            return mc.ChiSquared(1.0 if gamma is None else gamma)
        case "additive_chi2":
            return mc.AdditiveChiSquared()
        case _:
            return name


# -- estimators --------------------------------------------------------------------------------------------------------


class Adapter(BaseEstimator):
    """scikit-learn's parameters in front of a Mercer estimator."""

    peer: ClassVar[type]
    without_effect: ClassVar[tuple[str, ...]] = ()

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        count()
        return super().__new__(cls)

    @classmethod
    def _defaults(cls) -> dict[str, Any]:
        return {name: p.default for name, p in inspect.signature(cls.__init__).parameters.items() if name != "self"}

    def _translated(self, X: Any) -> dict[str, Any]:
        """Mercer's arguments: those of the same name, unless overridden. X is None outside ``fit``."""
        known = inspect.signature(self.peer.__init__).parameters
        out = {}
        for name, default in self._defaults().items():
            value = getattr(self, name)
            usual = value is default or (np.isscalar(value) and value == default)
            if name not in self.without_effect and (name in known or not usual):
                out[name] = value
        return out

    def _mercer(self, X: Any = None) -> Any:
        """The Mercer estimator, with the parameters as they are now."""
        given = self._translated(X)
        model = self.__dict__.get("model")
        if model is None:
            count()
            model = self.__dict__["model"] = self.peer(**given)
        else:
            model.set_params(**given)
        return model

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        self._mercer(X).fit(X, y, **({} if sample_weight is None else {"sample_weight": sample_weight}))
        return self

    def _fit_and(self, name: str, X: Any, *args: Any, **options: Any) -> Any:
        return getattr(self._mercer(X), name)(X, *args, **options)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name in self._defaults() or name == "model":
            raise AttributeError(f"{type(self).__name__!r} has no attribute {name!r}")
        value = getattr(self._mercer(), name)
        return partial(self._fit_and, name) if name in ("fit_transform", "fit_predict") else value

    def __setattr__(self, name: str, value: Any) -> None:
        if name.endswith("_") and not name.startswith("_"):  # what is fitted is Mercer's
            setattr(self._mercer(), name, value)
        else:
            super().__setattr__(name, value)

    def __delattr__(self, name: str) -> None:
        if name.endswith("_") and not name.startswith("_"):
            delattr(self._mercer(), name)
        else:
            super().__delattr__(name)

    def __sklearn_is_fitted__(self) -> bool:
        try:
            check_is_fitted(self._mercer())
        except NotFittedError:
            return False
        return True

    def __sklearn_tags__(self) -> Any:
        return self._mercer().__sklearn_tags__()


class Machine(Adapter):
    """The support vector family: a kernel by name; max_iter = −1 for no limit."""

    without_effect = ("gamma", "degree", "coef0", "shrinking", "cache_size", "verbose", "random_state")

    def _translated(self, X: Any) -> dict[str, Any]:
        out = super()._translated(X)
        del out["kernel"]
        if X is not None or self.kernel == "precomputed":
            out["kernel"] = kernel_of(self.kernel, X, self.gamma, self.degree, self.coef0)
        if self.max_iter == -1:
            out["max_iter"] = None
        return out


class Classifier(Machine):
    # of several classes, Mercer's ``decision_function`` is one score for each, and the largest is predicted
    without_effect = (*Machine.without_effect, "decision_function_shape", "break_ties")

    def _translated(self, X: Any) -> dict[str, Any]:
        out = super()._translated(X)
        if self.probability == "deprecated":
            out["probability"] = False
        return out

    def decision_function(self, X: Any) -> Any:
        model = self._mercer()
        several = len(getattr(model, "classes_", ())) > 2
        return model.function_(X) if self.decision_function_shape == "ovo" and several else model.decision_function(X)


class SVC(Classifier):
    peer = mc.SVC

    def __init__(
        self, *, C=1.0, kernel="rbf", degree=3, gamma="scale", coef0=0.0, shrinking=True, probability="deprecated",
        tol=0.001, cache_size=200, class_weight=None, verbose=False, max_iter=-1, decision_function_shape="ovr",
        break_ties=False, random_state=None,
    ):  # fmt: skip
        self.C, self.kernel, self.degree, self.gamma, self.coef0, self.shrinking = (
            C,
            kernel,
            degree,
            gamma,
            coef0,
            shrinking,
        )
        self.probability, self.tol, self.cache_size, self.class_weight, self.verbose = (
            probability,
            tol,
            cache_size,
            class_weight,
            verbose,
        )
        self.max_iter, self.decision_function_shape, self.break_ties, self.random_state = (
            max_iter,
            decision_function_shape,
            break_ties,
            random_state,
        )


class NuSVC(Classifier):
    peer = mc.NuSVC

    def __init__(
        self, *, nu=0.5, kernel="rbf", degree=3, gamma="scale", coef0=0.0, shrinking=True, probability="deprecated",
        tol=0.001, cache_size=200, class_weight=None, verbose=False, max_iter=-1, decision_function_shape="ovr",
        break_ties=False, random_state=None,
    ):  # fmt: skip
        self.nu, self.kernel, self.degree, self.gamma, self.coef0, self.shrinking = (
            nu,
            kernel,
            degree,
            gamma,
            coef0,
            shrinking,
        )
        self.probability, self.tol, self.cache_size, self.class_weight, self.verbose = (
            probability,
            tol,
            cache_size,
            class_weight,
            verbose,
        )
        self.max_iter, self.decision_function_shape, self.break_ties, self.random_state = (
            max_iter,
            decision_function_shape,
            break_ties,
            random_state,
        )


class SVR(Machine):
    peer = mc.SVR

    def __init__(
        self, *, kernel="rbf", degree=3, gamma="scale", coef0=0.0, tol=0.001, C=1.0, epsilon=0.1, shrinking=True,
        cache_size=200, verbose=False, max_iter=-1,
    ):  # fmt: skip
        self.kernel, self.degree, self.gamma, self.coef0, self.tol, self.C = kernel, degree, gamma, coef0, tol, C
        self.epsilon, self.shrinking, self.cache_size, self.verbose, self.max_iter = (
            epsilon,
            shrinking,
            cache_size,
            verbose,
            max_iter,
        )


class NuSVR(Machine):
    peer = mc.NuSVR

    def __init__(
        self, *, nu=0.5, C=1.0, kernel="rbf", degree=3, gamma="scale", coef0=0.0, shrinking=True, tol=0.001,
        cache_size=200, verbose=False, max_iter=-1,
    ):  # fmt: skip
        self.nu, self.C, self.kernel, self.degree, self.gamma, self.coef0 = nu, C, kernel, degree, gamma, coef0
        self.shrinking, self.tol, self.cache_size, self.verbose, self.max_iter = (
            shrinking,
            tol,
            cache_size,
            verbose,
            max_iter,
        )


class OneClassSVM(Machine):
    peer = mc.OneClassSVM

    def __init__(
        self, *, kernel="rbf", degree=3, gamma="scale", coef0=0.0, tol=0.001, nu=0.5, shrinking=True, cache_size=200,
        verbose=False, max_iter=-1,
    ):  # fmt: skip
        self.kernel, self.degree, self.gamma, self.coef0, self.tol, self.nu = kernel, degree, gamma, coef0, tol, nu
        self.shrinking, self.cache_size, self.verbose, self.max_iter = shrinking, cache_size, verbose, max_iter


def with_pairs(name: Any, X: Any, gamma: Any, degree: Any, coef0: Any, parameters: Any) -> Any:
    """The kernel, of ``kernel_of``, where a function is one of two rows."""
    if callable(name):
        return partial(pairwise_kernels, metric=name, **(parameters or {}))
    return kernel_of(name, X, gamma, degree, coef0)


class KernelRidge(Adapter):
    peer = mc.KernelRidge
    without_effect = ("gamma", "degree", "coef0", "kernel_params")

    def __init__(self, alpha=1, *, kernel="linear", gamma=None, degree=3, coef0=1, kernel_params=None):
        self.alpha, self.kernel, self.gamma, self.degree, self.coef0, self.kernel_params = (
            alpha,
            kernel,
            gamma,
            degree,
            coef0,
            kernel_params,
        )

    def _translated(self, X: Any) -> dict[str, Any]:
        out = super()._translated(X) | {"fit_intercept": False}
        del out["kernel"]
        if X is not None or self.kernel == "precomputed":
            out["kernel"] = with_pairs(self.kernel, X, self.gamma, self.degree, self.coef0, self.kernel_params)
        return out


class KernelPCA(Adapter):
    peer = mc.KernelPCA
    without_effect = (
        "gamma", "degree", "coef0", "kernel_params", "alpha", "fit_inverse_transform", "eigen_solver", "tol",
        "max_iter", "iterated_power", "copy_X", "n_jobs",
    )  # fmt: skip
    _solvers: ClassVar[dict[str, str]] = {"dense": "exact", "arpack": "lanczos", "randomized": "krylov"}

    def __init__(
        self, n_components=None, *, kernel="linear", gamma=None, degree=3, coef0=1, kernel_params=None, alpha=1.0,
        fit_inverse_transform=False, eigen_solver="auto", tol=0, max_iter=None, iterated_power="auto",
        remove_zero_eig=False, random_state=None, copy_X=True, n_jobs=None,
    ):  # fmt: skip
        self.n_components, self.kernel, self.gamma, self.degree, self.coef0 = n_components, kernel, gamma, degree, coef0
        self.kernel_params, self.alpha, self.fit_inverse_transform, self.eigen_solver = (
            kernel_params,
            alpha,
            fit_inverse_transform,
            eigen_solver,
        )
        self.tol, self.max_iter, self.iterated_power, self.remove_zero_eig = (
            tol,
            max_iter,
            iterated_power,
            remove_zero_eig,
        )
        self.random_state, self.copy_X, self.n_jobs = random_state, copy_X, n_jobs

    def _translated(self, X: Any) -> dict[str, Any]:
        out = super()._translated(X) | {
            "solver": self._solvers.get(self.eigen_solver, self.eigen_solver),
            "tol": self.tol or None,
        }
        del out["kernel"]
        if X is not None or self.kernel == "precomputed":
            out["kernel"] = with_pairs(self.kernel, X, self.gamma, self.degree, self.coef0, self.kernel_params)
        if self.fit_inverse_transform:
            out |= {"pre_image": "ridge", "alpha": self.alpha}
        return out


class PCA(Adapter):
    peer = mc.PCA
    without_effect = ("copy", "svd_solver", "tol", "iterated_power", "n_oversamples", "power_iteration_normalizer")

    def __init__(
        self, n_components=None, *, copy=True, whiten=False, svd_solver="auto", tol=0.0, iterated_power="auto",
        n_oversamples=10, power_iteration_normalizer="auto", random_state=None,
    ):  # fmt: skip
        self.n_components, self.copy, self.whiten, self.svd_solver, self.tol = (
            n_components,
            copy,
            whiten,
            svd_solver,
            tol,
        )
        self.iterated_power, self.n_oversamples, self.power_iteration_normalizer = (
            iterated_power,
            n_oversamples,
            power_iteration_normalizer,
        )
        self.random_state = random_state


class KMeans(Adapter):
    peer = mc.KMeans
    without_effect = ("copy_x", "algorithm")

    def __init__(
        self, n_clusters=8, *, init="k-means++", n_init="auto", max_iter=300, tol=1e-4, verbose=0, random_state=None,
        copy_x=True, algorithm="lloyd",
    ):  # fmt: skip
        self.n_clusters, self.init, self.n_init, self.max_iter, self.tol = n_clusters, init, n_init, max_iter, tol
        self.verbose, self.random_state, self.copy_x, self.algorithm = verbose, random_state, copy_x, algorithm


class SpectralClustering(Adapter):
    peer = mc.SpectralClustering
    without_effect = (
        "eigen_solver",
        "gamma",
        "affinity",
        "eigen_tol",
        "assign_labels",
        "degree",
        "coef0",
        "kernel_params",
        "n_jobs",
        "verbose",
    )
    _roundings: ClassVar[dict[str, str]] = {"cluster_qr": "qr"}

    def __init__(
        self, n_clusters=8, *, eigen_solver=None, n_components=None, random_state=None, n_init=10, gamma=1.0,
        affinity="rbf", n_neighbors=10, eigen_tol="auto", assign_labels="kmeans", degree=3, coef0=1,
        kernel_params=None, n_jobs=None, verbose=False,
    ):  # fmt: skip
        self.n_clusters, self.eigen_solver, self.n_components, self.random_state = (
            n_clusters,
            eigen_solver,
            n_components,
            random_state,
        )
        self.n_init, self.gamma, self.affinity, self.n_neighbors, self.eigen_tol = (
            n_init,
            gamma,
            affinity,
            n_neighbors,
            eigen_tol,
        )
        self.assign_labels, self.degree, self.coef0, self.kernel_params = assign_labels, degree, coef0, kernel_params
        self.n_jobs, self.verbose = n_jobs, verbose

    def _translated(self, X: Any) -> dict[str, Any]:
        out = super()._translated(X) | {"rounding": self._roundings.get(self.assign_labels, self.assign_labels)}
        if isinstance(self.affinity, str) and self.affinity.endswith("nearest_neighbors"):
            out["affinity"] = self.affinity
        elif X is not None or self.affinity == "precomputed":
            out["kernel"] = with_pairs(self.affinity, X, self.gamma, self.degree, self.coef0, self.kernel_params)
        return out


class GaussianMixture(Adapter):
    peer = mc.GaussianMixture
    without_effect = ("verbose", "verbose_interval")

    def __init__(
        self, n_components=1, *, covariance_type="full", tol=1e-3, reg_covar=1e-6, max_iter=100, n_init=1,
        init_params="kmeans", weights_init=None, means_init=None, precisions_init=None, random_state=None,
        warm_start=False, verbose=0, verbose_interval=10,
    ):  # fmt: skip
        self.n_components, self.covariance_type, self.tol, self.reg_covar, self.max_iter = (
            n_components,
            covariance_type,
            tol,
            reg_covar,
            max_iter,
        )
        self.n_init, self.init_params, self.weights_init, self.means_init = (
            n_init,
            init_params,
            weights_init,
            means_init,
        )
        self.precisions_init, self.random_state, self.warm_start = precisions_init, random_state, warm_start
        self.verbose, self.verbose_interval = verbose, verbose_interval


class CCA(Adapter):
    peer = mc.CCA
    without_effect = ("scale", "max_iter", "tol", "copy")  # correlation has no units; there are no iterations

    def __init__(self, n_components=2, *, scale=True, max_iter=500, tol=1e-6, copy=True):
        self.n_components, self.scale, self.max_iter, self.tol, self.copy = n_components, scale, max_iter, tol, copy

    def predict(self, X, copy=True):
        return self._mercer().predict(X)

    def transform(self, X, y=None, copy=True):
        return self._mercer().transform(X, y)


# -- functions ---------------------------------------------------------------------------------------------------------


def k_means(X: Any, n_clusters: int, *, sample_weight: Any = None, return_n_iter: bool = False, **options: Any) -> Any:
    model = KMeans(n_clusters, **options).fit(X, sample_weight=sample_weight)
    found = (model.cluster_centers_, model.labels_, model.inertia_)
    return (*found, model.n_iter_) if return_n_iter else found


def spectral_clustering(affinity: Any, *, n_clusters: int = 8, **options: Any) -> Any:
    return SpectralClustering(n_clusters, affinity="precomputed", **options).fit(affinity).labels_


def _matrix(name: str, X: Any, Y: Any, gamma: Any = None, degree: Any = 3, coef0: Any = 1) -> Any:
    count()
    return kernel_of(name, X, gamma, degree, coef0)(X, Y)


def linear_kernel(X, Y=None, dense_output=True):
    return _matrix("linear", X, Y)


def cosine_similarity(X, Y=None, dense_output=True):
    return _matrix("cosine", X, Y)


def rbf_kernel(X, Y=None, gamma=None):
    return _matrix("rbf", X, Y, gamma)


def laplacian_kernel(X, Y=None, gamma=None):
    return _matrix("laplacian", X, Y, gamma)


def polynomial_kernel(X, Y=None, degree=3, gamma=None, coef0=1):
    return _matrix("poly", X, Y, gamma, degree, coef0)


def sigmoid_kernel(X, Y=None, gamma=None, coef0=1):
    return _matrix("sigmoid", X, Y, gamma, 3, coef0)


def chi2_kernel(X, Y=None, gamma=1.0):
    return _matrix("chi2", X, Y, gamma)


def additive_chi2_kernel(X, Y=None):
    return _matrix("additive_chi2", X, Y)


PAIRWISE_KERNEL_FUNCTIONS = {
    "additive_chi2": additive_chi2_kernel,
    "chi2": chi2_kernel,
    "cosine": cosine_similarity,
    "laplacian": laplacian_kernel,
    "linear": linear_kernel,
    "poly": polynomial_kernel,
    "polynomial": polynomial_kernel,
    "rbf": rbf_kernel,
    "sigmoid": sigmoid_kernel,
}
