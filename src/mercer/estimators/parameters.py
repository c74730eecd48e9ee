"""Parameters of estimators: declared as fields, and those that many share declared and documented once.

    @estimator
    class Mean(KernelEstimator):
        alpha: float = 1.0  # by position
        kernel: KernelLike = Gaussian()
        _: KW_ONLY
        compute: Compute | None = None  # by name alone

``estimator`` writes the constructor, which does nothing but keep what it is given, as scikit-learn asks, and adds what
``SHARED`` says to the Parameters of the docstring. Under Attributes, a line of names alone (``support_, dual_coef_``)
stands for what ``FITTED`` says of them.
"""

from __future__ import annotations

import dataclasses
import inspect
import textwrap
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import KW_ONLY
from typing import Any, ClassVar, Self, TypeVar, dataclass_transform

from sklearn.base import BaseEstimator, clone

from mercer.annotations import RandomState, Samples
from mercer.compute import Compute
from mercer.estimators.lazy import LazyAnswers
from mercer.kernels.base import Kernel
from mercer.kernels.given import PRECOMPUTED, as_kernel
from mercer.troubles import coding_scikit_learn

KernelLike = Kernel | Callable[[Any, Any], Any] | str | None
Progress = Callable[[dict[str, Any]], Any]
ClassWeight = Mapping[Any, float] | str | None
Class = TypeVar("Class", bound=type)

SHARED = {
    "kernel": """Kernel, str or callable, default=Gaussian()
        The kernel: a value such as ``mercer.Laplacian(0.5)``, or its text, ``"Gaussian(0.1) + Linear()"``; a function
        f(X, Y) that returns the matrix of two collections; or "precomputed", where X is the matrix itself.""",
    "centers": """int, collection of samples or None, default=None
        f is a sum over these samples alone, not over all: so many of the training samples, chosen with equal chances,
        or the samples themselves. A fit then takes passes over the data, and no n × n matrix; for other choices give
        the kernel as ``Nystrom(kernel, m, landmarks)``. None: all samples. A weight is a repetition where the samples
        are given; of a number, others may be drawn where samples are repeated.""",
    "fit_intercept": """bool, default=True
        Whether to fit the bias b, which is not penalised; without it b = 0.""",
    "uncertainty": """bool, default=False
        With ``centers``: whether fit also gathers what ``predict(return_std=True)`` needs, which takes some 4nm²
        operations. The standard deviation is then that of the deterministic training conditional: the posterior of
        functions of the centers, and for the rest of k(x, x) its prior. Without ``centers`` it needs nothing.""",
    "class_weight": """dict, "balanced" or None, default=None
        A factor for the weights of each class; "balanced" makes all classes weigh the same.""",
    "solver": """str, default="auto"
        How linear systems are solved: "auto" chooses, and ``solver_`` says what was used.""",
    "tol": """float
        The accuracy to reach, in the units of ``gap_``.""",
    "max_iter": """int or None
        The most steps of the solver; None: as many as it needs, within reason. A warning says where it was reached.""",
    "max_time": """float or None, default=None
        Seconds after which the fit ends with what it has so far, or with an error where there is nothing yet.""",
    "progress": """callable or None, default=None
        Called several times a second with a dictionary that says how far the fit is; it returns True to stop it.""",
    "on_interrupt": """{"raise", "keep"}, default="raise"
        What Ctrl-C does: raise KeyboardInterrupt, or keep the model found so far.""",
    "compute": """Compute or None, default=None
        Threads, memory, precision and device; see ``mercer.Compute``.""",
    "random_state": """int, RandomState, Generator or None, default=None
        The source of random numbers; an int gives the same result in every call.""",
    "verbose": """int, default=0
        Larger numbers print more about the progress.""",
}
FITTED = {
    "kernel_": """Kernel or None
        The kernel, what it takes from data fixed by the training samples; None where X is the matrix itself.""",
    "support_": """ndarray of shape (n_support,)
        The numbers of the training samples that are kept to predict with.""",
    "support_vectors_": """array or list of n_support samples
        These samples, of the kind that was given.""",
    "dual_coef_": """ndarray of shape (n_functions, n_support)
        The coefficients of these samples, one row for each function.""",
    "intercept_": """ndarray of shape (n_functions,)
        The constant b of each function.""",
    "coef_": """ndarray of shape (n_features_of_kernel,) or (n_functions, n_features_of_kernel)
        w of f(x) = ⟨w, φ(x)⟩ + b, for kernels with a finite feature map φ such as ``Linear()``.""",
    "function_": """RKHSFunction
        f as a function in the space of the kernel: to be evaluated, added, compared and compressed.""",
    "gap_": """float
        How far the solution is from the optimum, in the units of ``tol``; of several problems, the largest.""",
    "objective_": """float
        The value of the objective that was reached; of several problems, the sum.""",
    "converged_": """bool
        Whether ``gap_`` is at most ``tol``.""",
    "stop_reason_": """str
        Why the solver ended: "gap", "stalled", "max_iter", "max_time", "callback" or "interrupted".""",
    "n_iter_": """int
        The steps of the solver; of several problems, the sum.""",
    "solver_": """str
        How the problem was solved.""",
    "n_features_in_": """int
        The number of columns of X, where it is a table.""",
    "feature_names_in_": """ndarray of shape (n_features_in_,)
        The names of the columns of X, where they have names.""",
}


@dataclass_transform(eq_default=False, field_specifiers=(dataclasses.field,))
def estimator(cls: Class) -> Class:
    """A class whose annotated fields are the parameters of its constructor; fields of its bases that are declared in
    this way too come with it.
    """
    dataclasses.dataclass(eq=False, repr=False, match_args=False)(cls)
    cls.__doc__ = _documented(cls)
    if getattr(cls, "set_params", None) is BaseEstimator.set_params:
        cls.set_params = coding_scikit_learn()(BaseEstimator.set_params)  # type: ignore[attr-defined, type-var]
    return cls


def _documented(cls: type) -> str | None:
    """The docstring with the parameters that it does not describe itself and ``SHARED`` does, in the order of the
    signature, and with the attributes that ``FITTED`` describes.
    """
    text = inspect.cleandoc(cls.__doc__ or "")
    head, rule, body = text.partition("\nParameters\n----------\n")
    if not rule:
        return cls.__doc__
    lines = body.split("\n")
    # up to the next section: a title that is underlined
    end = next((i for i in range(len(lines) - 1) if lines[i + 1] and set(lines[i + 1]) == {"-"}), len(lines))
    described: dict[str, list[str]] = {}
    for line in lines[:end]:
        if line and not line.startswith(" "):
            names = line.partition(" : ")[0]
            described[names] = [line]
        elif described:
            described[names].append(line)
    of = {name.strip(): entry for names, entry in described.items() for name in names.split(",")}
    ordered: list[list[str]] = []
    shared = SHARED | getattr(cls, "_described", {})
    for name in inspect.signature(cls).parameters:
        entry = of.get(name) or (_entry(name, shared) if name in shared else None)
        if entry is not None and entry not in ordered:
            ordered.append(entry)
    ordered += [entry for entry in described.values() if entry not in ordered]  # of no parameter: left to be seen
    entries = ["\n".join(entry).rstrip() for entry in ordered]
    rest = "\n".join(_expanded(lines[end:], FITTED | getattr(cls, "_described_fitted", {})))
    return head + rule + "\n".join(entries) + ("\n\n" + rest if rest else "\n")


def _expanded(lines: list[str], known: Mapping[str, str]) -> list[str]:
    """The other sections, each line of names that are ``known`` replaced by what is said of them."""
    out: list[str] = []
    for line in lines:
        names = line.split(", ")
        out += [entry for name in names for entry in _entry(name, known)] if known.keys() >= set(names) else [line]
    return out


def _entry(name: str, known: Mapping[str, str]) -> list[str]:
    """The lines of a section that describe one name."""
    first, _, rest = known[name].partition("\n")
    return [f"{name} : {first}", *textwrap.indent(textwrap.dedent(rest), "    ").split("\n")]


@estimator
class SolverParameters:
    """What machines trained by a solver share."""

    _: KW_ONLY
    tol: float = 1e-3
    max_iter: int | None = None
    max_time: float | None = None
    progress: Progress | None = None
    on_interrupt: str = "raise"
    compute: Compute | None = None


@estimator
class CenterParameters:
    """What machines share that can do with a sum over some of the samples."""

    _: KW_ONLY
    centers: int | Samples | None = None
    random_state: RandomState = None


@estimator
class LossParameters(CenterParameters, SolverParameters):
    """What machines of a loss share."""

    _: KW_ONLY
    fit_intercept: bool = True
    solver: str = "auto"
    tol: float = 1e-9

    _described: ClassVar[dict[str, str]] = {
        "solver": """{"auto", "cholesky", "woodbury", "cg"}, default="auto"
        How the systems of Newton's method are solved. ``solver_`` says what was used.""",
        "tol": """float, default=1e-9
        The fall of the objective that is still expected, as a share of it.""",
    }


class WithKernels(LazyAnswers, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """An estimator with kernels among its parameters, each a value or its text, and their parameters:
    ``kernel__gamma``.
    """

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters; with ``deep`` also those of its kernels.

        Parameters
        ----------
        deep : bool, default=True
            Whether to add ``kernel__gamma`` and the like.

        Returns
        -------
        dict
            Values by name.
        """
        params: dict[str, Any] = super().get_params(deep)
        own = [name for name in params if "__" not in name]  # None of a part says nothing of a kernel
        for name in [name for name in own if deep and _is_text(name, params[name])]:
            with suppress(ValueError):  # a text that is of no kernel is told in fit
                params |= {f"{name}__{key}": value for key, value in as_kernel(params[name]).get_params().items()}
        return params

    def set_params(self, **params: Any) -> Self:
        """Change parameters; ``kernel__gamma=0.5`` replaces the kernel by one with another γ.

        Parameters
        ----------
        **params : dict
            Values by name, as ``get_params`` has them.

        Returns
        -------
        self
        """
        for name in {key.partition("__")[0] for key in params if "__" in key} - params.keys():
            given = getattr(self, name, None)
            if isinstance(given, Kernel) or (hasattr(self, name) and _is_text(name, given)):
                setattr(self, name, clone(as_kernel(given)))  # others may have been given the same one
        with coding_scikit_learn():
            super().set_params(**params)
        return self


def _is_text(name: str, given: object) -> bool:
    """Whether a kernel is said by its text, or by None."""
    return name.startswith("kernel") and (given is None or (isinstance(given, str) and given not in _WORDS))


_WORDS = (PRECOMPUTED, "auto")
