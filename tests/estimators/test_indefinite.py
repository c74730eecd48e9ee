"""One rule for every estimator: a matrix that is not positive semi-definite is told of, with what was measured."""

from __future__ import annotations

import re
import warnings
from typing import Any

import numpy as np
import pytest

import mercer as mc

rng = np.random.RandomState(1)
X = rng.standard_normal((80, 3)) * 2
Y = X[:, 0] + 0.3 * rng.standard_normal(80)
LABELS = Y > 0
BAD = mc.Sigmoid(0.0, 1.0)

MACHINES = [
    mc.SVC(),
    mc.NuSVC(0.1),
    mc.SVR(),
    mc.NuSVR(),
    mc.OneClassSVM(),
    mc.SVDD(),
    mc.KernelRidge(1e-6),
    mc.KernelRidgeCV(),
    mc.KernelLogistic(),
    mc.KernelHuber(),
    mc.KernelQuantile(),
    mc.KernelPCA(2),
    mc.KernelPCANovelty(),
    mc.KernelKMeans(2),
    mc.KernelCCA(1),
]


def _said(machine: Any, kernel: Any, X: Any) -> list[str]:
    machine = (
        type(machine)(**{**machine.get_params(deep=False), "kernel": kernel}) if hasattr(machine, "kernel") else machine
    )
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            if isinstance(machine, mc.KernelCCA):
                machine.set_params(kernel_x=kernel, kernel_y=kernel).fit(X, X)
            else:
                machine.fit(X, LABELS if isinstance(machine, mc.SVC | mc.NuSVC | mc.KernelLogistic) else Y)
        except ValueError as refused:
            return [str(refused)]
    return [str(warning.message) for warning in caught]


@pytest.mark.parametrize("machine", MACHINES, ids=lambda m: type(m).__name__)
def test_every_estimator_says_so(machine: Any) -> None:
    """Of the matrix with the ridge, of the centred matrix, or of the matrix as it is: whichever the estimator needs."""
    negative = r"40 negative eigenvalues, the smallest -13\.3 where the largest is 42\.6"
    expected = {
        "KernelRidge": r"matrix plus the ridge is not positive definite: its smallest eigenvalue is -13\.3",
        "KernelLogistic": r"matrix plus the ridge is not positive definite, which shows at row \d+",
        "KernelHuber": r"matrix plus the ridge is not positive definite, which shows at row \d+",
        "KernelPCA": r"centred matrix is not positive semi-definite.*40 of its 80 eigenvalues are negative",
        "KernelPCANovelty": r"centred matrix is not positive semi-definite.*40 of its 80 eigenvalues are negative",
        "KernelCCA": r"centred matrix is not positive semi-definite.*40 of its 80 eigenvalues are negative",
    }.get(type(machine).__name__, rf"matrix is indefinite: among 80 of the samples it has {negative}")
    assert re.search(expected, " ".join(_said(machine, BAD, X)))


@pytest.mark.parametrize("machine", MACHINES, ids=lambda m: type(m).__name__)
def test_and_is_silent_where_there_is_nothing_to_say(machine: Any) -> None:
    said = " ".join(_said(machine, mc.Gaussian(0.5), X))
    assert "indefinite" not in said
    assert "negative" not in said


def test_the_measurement_is_true() -> None:
    """Of a precomputed matrix of fewer items than are looked at, the very eigenvalues."""
    K = BAD(X)
    values = np.linalg.eigvalsh(K)
    measured = (
        rf"among 80 of the samples it has {np.sum(values < -1e-9)} negative eigenvalues, the smallest {values[0]:.3g}"
    )
    with pytest.warns(UserWarning, match=measured):
        mc.SVC(kernel="precomputed").fit(K, LABELS)


def test_a_kernel_without_a_proof_that_is_one_on_these_data_is_let_pass() -> None:
    positive = np.abs(X)
    assert mc.Sigmoid(0.0, 1e-4).psd is False
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        mc.SVC(kernel=mc.Sigmoid(0.0, 1e-9)).fit(positive, LABELS)
        mc.SVC(kernel="precomputed").fit(mc.Gaussian(0.5)(X.astype(np.float32)), LABELS)
