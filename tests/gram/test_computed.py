"""The matrix of a formula: what is recorded once, and what is recorded anew."""

from __future__ import annotations

from typing import Any

import numpy as np

import mercer as mc
from mercer.kernels.base import kernel
from mercer.kernels.families import Radial


def test_a_formula_that_is_known_follows_the_parameters() -> None:
    """Formulas of plain kernels are recorded once: other parameters, other numbers of the same value, another class."""
    X = np.random.default_rng(3).standard_normal((12, 3))
    d2 = ((X[:, None] - X) ** 2).sum(-1)
    k = mc.Gaussian(0.5)
    for gamma in (0.5, 0.25, 0.5):
        k.set_params(gamma=gamma)
        np.testing.assert_allclose(k(X), np.exp(-gamma * d2), rtol=1e-12)
    np.testing.assert_allclose(mc.Gaussian(1)(X), np.exp(-d2), rtol=1e-12)

    @kernel
    class Local(Radial):
        power: float = 1.0

        def _profile(self, d2: Any) -> Any:
            return np.power(1 + d2, -self.power)  # NumPy: a function that is kept as it is

    first, second = Local(1.0), Local(1.0)
    first(X)
    first.set_params(power=2.0)
    np.testing.assert_allclose(second(X), 1 / (1 + d2), rtol=1e-12)
    np.testing.assert_allclose(first(X), (1 + d2) ** -2.0, rtol=1e-12)
