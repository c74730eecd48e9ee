from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mercer.engine.expression import (
    Untraceable,
    leaf,
    log_derivative,
    number,
    parameter,
    parameter_names,
    symbolic,
    trace,
    transposed,
    walk,
)
from mercer.formula import (  # fmt: skip
    absolute,
    arccos,
    arcsin,
    arctan,
    cos,
    cosh,
    dot,
    exp,
    expm1,
    fold,
    log,
    log1p,
    maximum,
    minimum,
    power,
    sin,
    sinh,
    sqdist,
    sqrt,
    square,
    tan,
    tanh,
    where,
)

ROW, COL = leaf("row", 0), leaf("col", 0)


def evaluate(node: Any, theta: float) -> float:
    """A scalar formula of the parameter t, by recursion: an evaluator of its own."""
    args = [evaluate(a, theta) for a in node.args]
    match node.op:
        case "number":
            return float(node.data)
        case "parameter":
            return theta
        case "where":
            return args[1] if args[0] else args[2]
        case _:
            return float(getattr(np, node.op)(*args))


FORMULAS = [
    lambda t: exp(-2.0 * t),
    lambda t: log(1.0 + t) * t,
    lambda t: sqrt(t) / (1.0 + t * t),
    lambda t: tanh(t - 0.5) ** 3,
    lambda t: (1.0 + t) ** (-1.7),
    lambda t: (1.0 + t) ** t,
    lambda t: 2.0**t,
    lambda t: absolute(t - 3.0) - (-t),
    lambda t: minimum(t, 2.0 * t) + maximum(t * t, 0.1),
    lambda t: where(t > 0.1, exp(t), t),
    lambda t: 1.0 / (3.0 - t) - t / 7.0,
    lambda t: sin(3.0 * t) * cos(t * t) + tan(t),
    lambda t: arcsin(t / 2.0) * arccos(t * t) + arctan(5.0 * t),
    lambda t: sinh(t) / cosh(2.0 * t),
    lambda t: expm1(-t) * log1p(t * t),
    lambda t: square(sin(t)) + power(t, 2.3) + power(t, 3),
]


@pytest.mark.parametrize("formula", FORMULAS)
def test_log_derivative_against_differences(formula: Any) -> None:
    theta, h = 0.7, 1e-6
    node = formula(parameter("t", theta))
    slope = (evaluate(node, theta * np.exp(h)) - evaluate(node, theta * np.exp(-h))) / (2 * h)
    np.testing.assert_allclose(evaluate(log_derivative(node, "t"), theta), slope, rtol=1e-8)
    assert evaluate(log_derivative(node, "other"), theta) == 0


def test_derivative_of_a_root_at_zero_is_finite() -> None:
    node = sqrt(parameter("t", 2.0) * 0.0 + number(0.0) * 1.0)
    assert evaluate(log_derivative(node, "t"), 2.0) == 0


def test_equal_formulas_are_one_node() -> None:
    x = dot(ROW, COL)
    assert exp(x) == exp(dot(ROW, COL))
    assert len(walk(exp(x) + exp(dot(ROW, COL)))) == 5  # two leaves, dot, exp, sum


def test_identities_keep_formulas_short() -> None:
    x = dot(ROW, COL)
    assert 1.0 * x + 0.0 == x
    assert 0.0 * x == number(0)
    assert x / 1 - 0 == x
    assert [n.op for n in walk(x**5)].count("multiply") == 3  # by repeated squaring


@pytest.mark.parametrize(
    "misuse",
    [lambda x: bool(x), lambda x: len(x), lambda x: x[0], lambda x: np.exp(x), lambda x: float(x), lambda x: x.shape],
)
def test_what_only_numbers_can_do(misuse: Any) -> None:
    with pytest.raises(TypeError):
        misuse(ROW)


def test_numpy_scalars_on_the_left() -> None:
    assert (np.float64(2.0) * ROW).op == "multiply"


def test_untraceable_code_becomes_opaque() -> None:
    def block(A: Any, B: Any) -> Any:
        return np.exp(A[0] @ B[0].T)

    assert trace(block, (ROW,), (COL,)).op == "opaque"
    with pytest.raises(ZeroDivisionError):  # a mistake is a mistake, not a reason to go on
        trace(lambda A, B: 1 / 0, ROW, COL)


def test_a_leaf_that_occurs_twice_is_listed_once() -> None:
    x = np.zeros(3)
    symbols, found = symbolic((x, (x, np.ones(3))), "row")
    assert len(found) == 2
    assert symbols[0] == symbols[1][0]


def test_transposition_is_an_involution() -> None:
    formula = exp(-sqdist(ROW, COL)) * leaf("row", 1) + leaf("col", 2)
    assert transposed(formula) != formula
    assert transposed(transposed(formula)) == formula


def test_parameters_belong_to_the_profile() -> None:
    with pytest.raises(ValueError, match="_profile"):
        fold(lambda s, x, z: (s[0] + parameter("t", 1.0) * x,), (0.0,), ROW, COL)
    with pytest.raises(Untraceable):
        dot(ROW, ROW)


def test_parameter_names_in_order() -> None:
    formula = parameter("b", 1.0) * exp(parameter("a", 1.0) * dot(ROW, COL)) + parameter("b", 1.0)
    assert parameter_names(formula) == ["b", "a"]


def test_the_slope_of_an_arc_at_its_end_is_finite() -> None:
    for arc in (arcsin, arccos):
        assert evaluate(log_derivative(arc(parameter("t", 1.0)), "t"), 1.0) == 0
