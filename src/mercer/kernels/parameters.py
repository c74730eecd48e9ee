"""Parameters of kernels: declared where they stand, with their check, their symbol and whether one can differentiate by
them.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from mercer.annotations import Symbol
from mercer.troubles import coded

Check = Callable[[Any], str | None]


def _parameter(
    default: object, check: Check, *, symbol: str | None, continuous: bool, maximum: float | None = None,
    whole: bool = False,
) -> Any:  # fmt: skip
    metadata = {"check": check, "symbol": symbol, "continuous": continuous, "maximum": maximum, "whole": whole}
    return (
        dataclasses.field(metadata=metadata)
        if default is dataclasses.MISSING
        else dataclasses.field(default=default, metadata=metadata)
    )


def _numbers(value: object) -> Any:
    return np.asarray(value, np.float64) if isinstance(value, list | tuple | np.ndarray) else value


def positive(
    default: object = dataclasses.MISSING, *, symbol: str | None = None, words: tuple[str, ...] = (),
    vector: bool = False, continuous: bool = True, infinite: bool = False, maximum: float | None = None,
) -> Any:  # fmt: skip
    """A parameter that is a number > 0.

    Parameters
    ----------
    default : float, str or array-like, optional
        The default; without it the parameter must be given.
    symbol : str, optional
        What ``str(kernel)`` writes in place of the name, such as γ; ``parse`` reads it.
    words : tuple of str, default=()
        Words that are allowed too, which ``bind`` turns into a number.
    vector : bool, default=False
        Whether one number for each column is allowed too.
    continuous : bool, default=True
        Whether the formula can be differentiated by it.
    infinite : bool, default=False
        Whether ∞ is allowed.
    maximum : float, optional
        The largest number allowed, beyond which ``tune`` does not search.

    Returns
    -------
    dataclasses.Field
        For the body of a class under ``@kernel``: ``gamma: float = positive(1.0, symbol="γ")``.
    """

    most = math.inf if maximum is None else maximum
    wanted = f"must be a positive number{'' if maximum is None else f' of at most {maximum:g}'}{_or(words)}"

    def check(value: object) -> str | None:
        if isinstance(value, str):
            return None if value in words else wanted
        x = _numbers(value)
        if vector and isinstance(x, np.ndarray):
            fine = x.ndim == 1 and x.size and np.isfinite(x).all() and (x > 0).all() and (x <= most).all()
            return None if fine else "must be positive, one number per column"
        return None if _is_real(x) and 0 < x <= most and (math.isfinite(x) or infinite) else wanted

    return _parameter(default, check, symbol=symbol, continuous=continuous, maximum=maximum)


def nonnegative(
    default: object = dataclasses.MISSING,
    *,
    symbol: str | None = None,
    why: str = "must be a number of at least 0",
    continuous: bool = True,
) -> Any:
    """A parameter that is a number ≥ 0; ``default``, ``symbol`` and ``continuous`` as for ``positive``.

    ``why`` is what the error says of a number below 0.
    """
    return _parameter(
        default,
        lambda x: None if _is_real(x) and math.isfinite(x) and x >= 0 else why,
        symbol=symbol,
        continuous=continuous,
    )


def real(default: object = dataclasses.MISSING, *, symbol: str | None = None, continuous: bool = True) -> Any:
    """A parameter that is any finite number; ``default``, ``symbol`` and ``continuous`` as for ``positive``."""
    return _parameter(
        default,
        lambda x: None if _is_real(x) and math.isfinite(x) else "must be a number",
        symbol=symbol,
        continuous=continuous,
    )


def natural(default: object = dataclasses.MISSING, *, minimum: int = 1, maximum: int | None = None) -> Any:
    """A parameter that is an integer from ``minimum`` to ``maximum``; it is not differentiated by."""
    bounds = (
        f"must be a whole number from {minimum} to {maximum}"
        if maximum is not None
        else f"must be a whole number of at least {minimum}"
    )

    def check(x: Symbol) -> str | None:
        whole = isinstance(x, int | np.integer) and not isinstance(x, bool)
        return None if whole and x >= minimum and (maximum is None or x <= maximum) else bounds

    return _parameter(default, check, symbol=None, continuous=False, whole=True)


def sample() -> Any:
    """Data, or what was computed from every item of them: str() shows its shape alone."""
    return dataclasses.field(metadata={"data": True})


def _is_real(x: object) -> bool:
    return isinstance(x, int | float | np.integer | np.floating) and not isinstance(x, bool)


def _or(words: tuple[str, ...]) -> str:
    return "" if not words else " or " + " or ".join(repr(w) for w in words)


def check_psd_matrix(A: ArrayLike, of: str, name: str) -> None:
    """Raise ValueError unless A is square, finite, symmetric and positive semi-definite, naming what is wrong."""
    A = np.asarray(A, np.float64)
    if A.ndim != 2 or A.shape[0] != A.shape[1] or not np.isfinite(A).all():
        raise ValueError(
            coded(f"{of}({name}): {name} must be a square matrix of finite numbers, got shape {A.shape}.", "M205")
        )
    if not np.allclose(A, A.T, rtol=1e-10, atol=1e-12 * max(1.0, float(np.abs(A).max()))):
        i, j = np.unravel_index(np.argmax(np.abs(A - A.T)), A.shape)
        raise ValueError(
            coded(
                f"{of}({name}): {name} is not symmetric, {name}[{i}, {j}] = {A[i, j]:g} but {name}[{j}, {i}] ="
                f" {A[j, i]:g}; use ({name} + {name}.T)/2.",
                "M208",
            )
        )
    smallest, largest = np.linalg.eigvalsh(A)[[0, -1]]
    if smallest < -1e-10 * max(abs(largest), 1e-300):
        raise ValueError(
            coded(
                f"{of}({name}): {name} has the negative eigenvalue {smallest:.3g}, so x^T {name} x can be negative; use"
                f" {name} @ {name}.T.",
                "M209",
            )
        )
