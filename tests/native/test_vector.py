"""The vector functions against mpmath, on the whole range of floats."""

from __future__ import annotations

from typing import Any

import mpmath
import numpy as np
import pytest
from numba import njit, types
from numba.extending import intrinsic

from mercer.native.vector import Vector


def _compiled(name: str) -> Any:
    """out[i] = name(x[i]), one register at a time."""

    @intrinsic
    def apply(context, x, out, i):  # type: ignore[no-untyped-def]
        def code(target: Any, builder: Any, sig: Any, values: Any) -> Any:
            v = Vector(builder, np.dtype(str(sig.args[0].dtype)))
            source, destination = (target.make_array(sig.args[k])(target, builder, values[k]).data for k in (0, 1))
            given = v.load(builder.gep(source, [values[2]]))
            result = v.exp_scaled(v.constant(-0.7), given) if name == "exp_scaled" else getattr(v, name)(given)
            v.store(result, builder.gep(destination, [values[2]]))
            return target.get_dummy_value()

        return types.void(x, out, types.intp), code

    @njit
    def run(x, out, lanes):  # type: ignore[no-untyped-def]
        for i in range(0, len(x), lanes):
            apply(x, out, i)

    return run


def _apply(name: str, x: Any) -> Any:
    from mercer.native.vector import register_bytes

    lanes = register_bytes() // x.itemsize
    padded = np.concatenate([x, np.ones(-len(x) % lanes, x.dtype)])
    out = np.empty_like(padded)
    _compiled(name)(padded, out, lanes)
    return out[: len(x)]


def _ulps(actual: Any, exact: Any) -> float:
    """The largest distance from the exact value in units of its last place."""
    worst = 0.0
    for a, e in zip(actual, exact, strict=True):
        unit = float(np.spacing(actual.dtype.type(abs(e))))
        worst = max(worst, float(abs(mpmath.mpf(float(a)) - e) / unit))
    return worst


POINTS = {
    "exp": np.concatenate([np.linspace(-87, 88, 2001), np.linspace(-1, 1, 801), [0.0, 1e-30, -1e-10]]),
    "log": np.concatenate([np.logspace(-37, 38, 2001), np.linspace(0.5, 2.0, 1001), [1.0]]),
    "tanh": np.concatenate([np.linspace(-25, 25, 2001), np.linspace(-0.5, 0.5, 1001), np.logspace(-30, 0, 200), [0.0]]),
    "sqrt": np.logspace(-30, 30, 500),
}


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", ["exp", "log", "tanh", "sqrt"])
def test_accuracy(name: str, dtype: Any) -> None:
    x = POINTS[name].astype(dtype)
    with mpmath.workdps(40):
        exact = [getattr(mpmath, name)(mpmath.mpf(float(v))) for v in x]
        assert _ulps(_apply(name, x), exact) <= (3.0 if name == "tanh" else 2.0)


@pytest.mark.thorough
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_ends_of_the_range(dtype: Any) -> None:
    x = np.array([-np.inf, -1e4, 1e4, np.inf, np.nan], dtype)
    np.testing.assert_array_equal(_apply("exp", x), np.array([0, 0, np.inf, np.inf, np.nan], dtype))
    np.testing.assert_array_equal(_apply("tanh", x), np.array([-1, -1, 1, 1, np.nan], dtype))
    np.testing.assert_array_equal(
        _apply("log", np.array([0, -1, np.inf, np.nan], dtype)), np.array([-np.inf, np.nan, np.inf, np.nan], dtype)
    )
    tiny = np.array([np.finfo(dtype).smallest_subnormal * 3], dtype)
    np.testing.assert_allclose(_apply("log", tiny), np.log(tiny.astype(np.float64)), rtol=1e-6)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_exp_of_a_scaled_number(dtype: str) -> None:
    """exp(c x): as accurate as c x rounded once allows, and 0, infinite or NaN where it should be."""
    x = np.concatenate([np.linspace(-100, 120, 3001), np.linspace(-1, 1, 401), [0.0]]).astype(dtype)
    c = mpmath.mpf(float(np.dtype(dtype).type(-0.7)))
    exact = [mpmath.exp(c * mpmath.mpf(float(a))) for a in x]
    unit = float(np.finfo(dtype).eps)
    errors = [
        float(abs(mpmath.mpf(float(a)) - e) / e) / (unit * (2 + abs(float(v))))
        for a, e, v in zip(_apply("exp_scaled", x), exact, x, strict=True)
    ]
    assert max(errors) < 1
    ends = np.array([1e9, np.inf, -1e9, -np.inf, np.nan], dtype)
    np.testing.assert_array_equal(_apply("exp_scaled", ends), np.array([0, 0, np.inf, np.inf, np.nan], dtype))
