"""Parameters declared as fields: the constructor, scikit-learn's way with it, and the docstring."""

from __future__ import annotations

import inspect
from dataclasses import KW_ONLY

import pytest
from sklearn.base import BaseEstimator, clone

import mercer as mc
from mercer.estimators.parameters import SHARED, SolverParameters, estimator


@estimator
class Small(BaseEstimator, SolverParameters):  # type: ignore[misc]
    """A machine.

    Parameters
    ----------
    alpha : float, default=1.0
        λ.

    Examples
    --------
    None.
    """

    alpha: float = 1.0
    _: KW_ONLY
    solver: str = "auto"


def test_the_constructor_keeps_what_it_is_given() -> None:
    machine = Small(2.0, tol=0.5)
    assert machine.get_params() == {
        "alpha": 2.0, "solver": "auto", "tol": 0.5, "max_iter": None, "max_time": None, "progress": None,
        "on_interrupt": "raise", "compute": None,
    }  # fmt: skip
    assert clone(machine).get_params() == machine.get_params()
    assert repr(machine) == "Small(alpha=2.0, tol=0.5)"
    assert machine != Small(2.0, tol=0.5)  # as scikit-learn's estimators are
    with pytest.raises(TypeError, match="positional"):
        Small(2.0, "cg")  # type: ignore[misc]


def test_shared_parameters_are_described_once() -> None:
    text = inspect.getdoc(Small)
    assert text is not None
    section = text.split("Parameters\n----------\n")[1].split("Examples\n")[0]
    for name in inspect.signature(Small).parameters:
        assert section.count(f"\n{name} : ") + section.startswith(f"{name} : ") == 1, name
    described = [line.split(" : ")[0] for line in section.split("\n") if " : " in line and not line.startswith(" ")]
    assert described == list(inspect.signature(Small).parameters)
    assert SHARED["solver"].split("\n")[1].strip() in section
    assert text.endswith("Examples\n--------\nNone.")


def test_a_shared_default_kernel_is_not_changed() -> None:
    for machine, name in ((mc.SVC(), "kernel"), (mc.KernelCCA(), "kernel_x"), (mc.TemporalKernelCCA(), "kernel_y")):
        machine.set_params(**{f"{name}__gamma": 3.0})
        assert getattr(machine, name) == mc.Gaussian(3.0)
        assert getattr(type(machine)(), name) == mc.Gaussian()
    k = mc.Laplacian(1.0)
    mc.SVC(kernel=k).set_params(kernel__gamma=2.0)
    assert k == mc.Laplacian(1.0)


def test_fitted_attributes_are_described_once() -> None:
    @estimator
    class Fitted(BaseEstimator):  # type: ignore[misc]
        """A machine.

        Parameters
        ----------
        alpha : float
            λ.

        Attributes
        ----------
        own_ : int
            Its own.
        gap_, n_iter_
        """

        alpha: float = 1.0

    section = str(inspect.getdoc(Fitted)).split("Attributes\n----------\n")[1]
    assert section.startswith("own_ : int\n    Its own.\ngap_ : float\n    How far")
    assert section.endswith("n_iter_ : int\n    The steps of the solver; of several problems, the sum.")
    for name in ("SVC", "KernelRidge", "KernelPCA", "KernelKMeans"):
        assert "\nkernel_ : Kernel or None\n" in getattr(mc, name).__doc__, name
