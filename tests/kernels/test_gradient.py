"""∂K/∂log θ of every kernel, against central differences."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import mercer as mc
from tests.cases import CASES, Case, real

NOT_DIFFERENTIABLE = [c for c in CASES if str(c.kernel).startswith(("Projected", "AtLandmarks", "Nystrom"))]


def _nudged(kernel: mc.Kernel, name: str, factor: float) -> mc.Kernel:
    from sklearn.base import clone

    copy = clone(kernel)
    if name.endswith("]"):
        key, _, index = name[:-1].partition("[")
        values = [float(v) for v in copy.get_params()[key]]
        values[int(index)] *= factor
        return copy.set_params(**{key: values})
    return copy.set_params(**{name: copy.get_params()[name] * factor})


@pytest.mark.parametrize("case", [c for c in CASES if c not in NOT_DIFFERENTIABLE], ids=str)
def test_against_differences(case: Case) -> None:
    X, h = case.data(), 1e-5
    gradients = case.kernel.gradient(X, X[:8])
    for name, gram in gradients.items():
        if "CenteredAt" in repr(case.kernel):  # a bound mean follows the parameter too: rebind
            base = case.kernel.kernel
            plus, minus = (
                _nudged(base, name.removeprefix("kernel__"), np.exp(s * h)).centered().bind(case.kernel.reference)
                for s in (1, -1)
            )
        else:
            plus, minus = (_nudged(case.kernel, name, np.exp(s * h)) for s in (1, -1))
        expected = (plus(X, X[:8]) - minus(X, X[:8])) / (2 * h)
        scale = max(np.abs(expected).max(), 1.0)
        np.testing.assert_allclose(gram.dense(), expected, rtol=1e-6, atol=1e-8 * scale, err_msg=name)
        square = case.kernel.gradient(X)[name]
        np.testing.assert_allclose(square.dense()[:, :8], expected, rtol=1e-6, atol=1e-8 * scale, err_msg=name)
        np.testing.assert_allclose(square @ np.ones(len(X)), square.dense().sum(1), rtol=1e-9, atol=1e-9 * scale)


def test_names_are_those_of_get_params() -> None:
    kernel: Any = 2 * mc.Gaussian(0.3) + mc.Matern([1.0, 2.0, 3.0, 4.0], 1.5).normalized() * mc.Polynomial(3)
    names = list(kernel.gradient(real()))
    assert "gaussian__scale" in names
    assert "gaussian__kernel__gamma" in names
    assert "product__polynomial__offset" in names
    assert "product__matern__kernel__length_scale[2]" in names
    params = kernel.get_params()
    assert all(name.split("[")[0] in params for name in names)


def test_no_parameters_no_gradient() -> None:
    assert mc.Linear().gradient(real()) == {}
    assert mc.Anova(2).gradient(real()) == {}


def test_an_unbound_parameter_is_bound_first() -> None:
    X = real()
    np.testing.assert_array_equal(
        mc.Gaussian().gradient(X)["gamma"].dense(), mc.Gaussian().bind(X).gradient(X)["gamma"].dense()
    )


@pytest.mark.parametrize("case", NOT_DIFFERENTIABLE, ids=str)
def test_what_has_no_gradient_says_so(case: Case) -> None:
    with pytest.raises(NotImplementedError, match=r"depends on .* parameters through (eigenvectors|the inverse)"):
        case.kernel.gradient(case.data())


def test_at_zero_the_log_derivative_is_zero() -> None:
    assert (mc.Polynomial(2, 0.0).gradient(real())["offset"].dense() == 0).all()
