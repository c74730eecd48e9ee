"""The functions that formulas of kernels are written with."""

from __future__ import annotations

import numpy as np
import pytest

from mercer import formula
from mercer.formula import sqdist


@pytest.mark.torch
def test_functions_agree_between_numpy_and_torch() -> None:
    torch = pytest.importorskip("torch")
    x = np.linspace(0.1, 0.9, 7)
    for name in ("exp", "log", "sqrt", "tanh", "arcsin", "absolute"):
        f = getattr(formula, name)
        np.testing.assert_allclose(f(torch.from_numpy(x)).numpy(), f(x), rtol=1e-15)
    for name in ("minimum", "maximum"):
        f = getattr(formula, name)
        np.testing.assert_allclose(f(torch.from_numpy(x), 0.5).numpy(), f(x, 0.5))


def test_reductions_are_for_formulas() -> None:
    with pytest.raises(TypeError, match="part of a kernel's formula"):
        sqdist(np.zeros((2, 2)), np.zeros((2, 2)))
