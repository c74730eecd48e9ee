"""What the data has and a kernel does not use: told once for each call, with the cure."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

from mercer.troubles import coded


class IgnoredWarning(UserWarning):
    """Something in the data is not used; the message says what, and what to write so that it is used, or that this is
    meant.

    Warned once for each call and thing: charges and chirality of molecules, attributes and weights of graphs, letter
    cases of DNA. It is a ``UserWarning``; turn it into an error with ``warnings.simplefilter("error",
    mercer.IgnoredWarning)``.

    Examples
    --------
    >>> import warnings
    >>> import mercer as mc
    >>> with warnings.catch_warnings(record=True) as told:
    ...     warnings.simplefilter("always")
    ...     _ = mc.ShortestPath()([mc.Graph([(0, 1)], attributes=[[0.5], [1.5]])])
    >>> told[0].category.__name__, str(told[0].message)[:76]
    ('IgnoredWarning', 'The vertices of the graphs have attributes (numbers), which this kernel does')
    """


@dataclass
class _Call:
    lost: dict[str, str] = field(default_factory=dict)
    used: set[str] = field(default_factory=set)


_CALL: ContextVar[_Call | None] = ContextVar("mercer_call", default=None)


@contextmanager
def one_call() -> Iterator[None]:
    """What is lost within is told at its end, each thing once, and not at all if a part of the kernel has used it."""
    if _CALL.get() is not None:
        yield
        return
    call = _Call()
    token = _CALL.set(call)
    try:
        yield
    finally:
        _CALL.reset(token)
    for what, message in call.lost.items():
        if what not in call.used:
            _tell(message)


@contextmanager
def quietly() -> Iterator[None]:
    """Nothing is told: what is looked at here will be looked at again."""
    token = _CALL.set(_Call())
    try:
        yield
    finally:
        _CALL.reset(token)


def lost(what: str, message: str) -> None:
    """``what`` is in the data and not used."""
    call = _CALL.get()
    if call is None:
        _tell(message)
    else:
        call.lost.setdefault(what, message)


def used(what: str) -> None:
    """``what`` is used, whoever else may pass it by."""
    call = _CALL.get()
    if call is not None:
        call.used.add(what)


def _tell(message: str) -> None:
    warn(message, "M115", IgnoredWarning)


_INSIDE = {"mercer", "sklearn", "contextlib"}  # where a user's line is not looked for


def warn(message: str, code: str, category: type[Warning] = UserWarning) -> None:
    """A warning with its code, at the line of the user's that led to it."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_globals.get("__name__", "").split(".")[0] in _INSIDE:
        frame, level = frame.f_back, level + 1
    warnings.warn(coded(message, code), category, stacklevel=level)
