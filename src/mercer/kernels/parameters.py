"""Parameters of kernels: declared where they stand, with their check, their symbol and whether one can differentiate by
them.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    pass


Check = Callable[[Any], str | None]


def _parameter(default: Any, check: Check, *, symbol: str | None, continuous: bool) -> Any:
    metadata = {"check": check, "symbol": symbol, "continuous": continuous}
    return (
        dataclasses.field(metadata=metadata)
        if default is dataclasses.MISSING
        else dataclasses.field(default=default, metadata=metadata)
    )


def _numbers(value: Any) -> Any:
    return np.asarray(value, np.float64) if isinstance(value, list | tuple | np.ndarray) else value


def positive(
    default: Any = dataclasses.MISSING, *, symbol: str | None = None, words: tuple[str, ...] = (),
    vector: bool = False, continuous: bool = True, infinite: bool = False,
) -> Any:  # fmt: skip
    """A number > 0 (one per column if ``vector``, ∞ if ``infinite``), or one of ``words``, which ``bind`` turns into a
    number; ``continuous`` says that the formula can be differentiated by it.
    """

    def check(value: Any) -> str | None:
        if isinstance(value, str):
            return None if value in words else f"must be a positive number{_or(words)}"
        x = _numbers(value)
        if vector and isinstance(x, np.ndarray):
            return (
                None
                if x.ndim == 1 and x.size and np.isfinite(x).all() and (x > 0).all()
                else "must be positive, one number per column"
            )
        return (
            None
            if _is_real(x) and x > 0 and (math.isfinite(x) or infinite)
            else f"must be a positive number{_or(words)}"
        )

    return _parameter(default, check, symbol=symbol, continuous=continuous)


def nonnegative(
    default: Any = dataclasses.MISSING,
    *,
    symbol: str | None = None,
    why: str = "must be a number of at least 0",
    continuous: bool = True,
) -> Any:
    """A number ≥ 0; ``continuous`` says that the formula can be differentiated by it."""
    return _parameter(
        default,
        lambda x: None if _is_real(x) and math.isfinite(x) and x >= 0 else why,
        symbol=symbol,
        continuous=continuous,
    )


def real(default: Any = dataclasses.MISSING, *, symbol: str | None = None, continuous: bool = True) -> Any:
    """Any finite number; ``continuous`` says that the formula can be differentiated by it."""
    return _parameter(
        default,
        lambda x: None if _is_real(x) and math.isfinite(x) else "must be a number",
        symbol=symbol,
        continuous=continuous,
    )


def natural(default: Any = dataclasses.MISSING, *, minimum: int = 1, maximum: int | None = None) -> Any:
    """A whole number from ``minimum`` to ``maximum``."""
    bounds = (
        f"must be a whole number from {minimum} to {maximum}"
        if maximum is not None
        else f"must be a whole number of at least {minimum}"
    )

    def check(x: Any) -> str | None:
        whole = isinstance(x, int | np.integer) and not isinstance(x, bool)
        return None if whole and x >= minimum and (maximum is None or x <= maximum) else bounds

    return _parameter(default, check, symbol=None, continuous=False)


def sample() -> Any:
    """Data, or what was computed from every item of them: str() shows its shape alone."""
    return dataclasses.field(metadata={"data": True})


def _is_real(x: Any) -> bool:
    return isinstance(x, int | float | np.integer | np.floating) and not isinstance(x, bool)


def _or(words: tuple[str, ...]) -> str:
    return "" if not words else " or " + " or ".join(repr(w) for w in words)
