from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import mercer as mc
from mercer.kernels.notation import kernel_classes
from tests.cases import CASES, Case, doubled, inner_products, row_norm


@pytest.mark.parametrize(
    ("kernel", "mathematics", "python"),
    [
        (2 * mc.Gaussian(0.5) + mc.Linear(), "2·Gaussian(γ=0.5) + Linear()", "2 * Gaussian(gamma=0.5) + Linear()"),
        ((mc.Gaussian(0.5) + mc.Linear()) * mc.Min(), "(Gaussian(γ=0.5) + Linear())·Min()", "(Gaussian(gamma=0.5) + Linear()) * Min()"),
        ((mc.Linear() + 1) ** 3, "(Linear() + Constant(c=1))³", "(Linear() + Constant(c=1)) ** 3"),
        ((mc.Linear() ** 12) ** 2, "(Linear()¹²)²", "(Linear() ** 12) ** 2"),
        (mc.exp(mc.Linear()).normalized(), "exp(Linear()).normalized()", "exp(Linear()).normalized()"),
        ((2 * mc.Linear()).normalized(), "(2·Linear()).normalized()", "(2 * Linear()).normalized()"),
        (mc.Matern([1.0, 2.0], 2.5), "Matern(ℓ=[1.0, 2.0], ν=2.5)", "Matern(length_scale=[1.0, 2.0], nu=2.5)"),
        (mc.Gaussian(), "Gaussian()", "Gaussian()"),
        (mc.Gaussian("median").on(["age", "dose"]), "Gaussian(γ='median').on(['age', 'dose'])", "Gaussian(gamma='median').on(['age', 'dose'])"),
        (mc.polynomial(mc.Linear(), [1, 2.5]), "polynomial(Linear(), [1, 2.5])", "polynomial(Linear(), [1, 2.5])"),
    ],
)
def test_as_written(kernel: Any, mathematics: str, python: str) -> None:
    assert str(kernel) == mathematics
    assert repr(kernel) == python
    assert mc.parse(mathematics) == kernel
    assert mc.parse(python) == kernel


@pytest.mark.parametrize("case", CASES, ids=str)
def test_both_forms_parse_back(case: Case) -> None:
    names = {"doubled": doubled, "inner_products": inner_products, "row_norm": row_norm}
    assert mc.parse(repr(case.kernel), names) == case.kernel
    if type(case.kernel).__name__ not in ("CenteredAt", "Projected"):  # bound to data: the mathematics leaves the data out
        assert mc.parse(str(case.kernel), names) == case.kernel


def test_numbers_are_exact() -> None:
    k = mc.Gaussian(0.1 + 0.2)
    assert mc.parse(str(k)).get_params() == k.get_params()


@pytest.mark.parametrize("text", ["Gaussian(γ=0.5) ** 2", "Gaussian(gamma=0.5)^2", "Gaussian(0.5)²"])
def test_powers_in_three_ways(text: str) -> None:
    assert mc.parse(text) == mc.Gaussian(0.5) ** 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("Gaussian(", "not a kernel expression"),
        ("Gausian()", "'Gausian' is not the name of a kernel"),
        ("__import__('os').system('true')", "has no place in a kernel expression"),
        ("Linear().__class__", "has no place"),
        ("Linear().gram([[1]])", "has no place"),
        ("[k for k in ()]", "has no place"),
        ("9**9**9", "between kernels"),
        ("3", "not a kernel"),
        ("Linear() - Linear()", r"\+, ·, / and powers"),
        ("lambda: 0", "has no place"),
        ("Linear().map(f)", "'f' is not the name"),
    ],
)
def test_nothing_is_evaluated(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        mc.parse(text)


def test_wrong_parameters_raise_as_python_would() -> None:
    with pytest.raises(TypeError, match="sigma"):
        mc.parse("Gaussian(sigma=1)")


def test_long_arrays_are_shown_by_shape() -> None:
    assert repr(mc.Precomputed(np.eye(50))) == "Precomputed(K=<array 50 × 50>)"
    with pytest.raises(ValueError, match="not a kernel expression"):
        mc.parse(repr(mc.Precomputed(np.eye(50))))


def test_users_kernels_parse_too() -> None:
    from mercer.kernels.base import kernel
    from mercer.kernels.families import Radial

    @kernel
    class Tent(Radial):
        """A kernel of this test."""

        width: float = 1.0

    assert mc.parse("2·Tent(width=3.0)") == 2 * Tent(3.0)
    assert "Tent" in kernel_classes()
