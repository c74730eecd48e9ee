"""Kernels as text, and back.

``str(k)`` is mathematics, 2·Gaussian(γ=0.5) + Linear(); ``repr(k)`` is Python, 2 * Gaussian(gamma=0.5) + Linear().
``parse`` reads both, and never evaluates code: ``kernels.reading`` knows kernels, numbers, lists, strings, + · ^ and
the methods of kernels.

What a text cannot hold stands in it by a name: a function by its own, a long array, a network or a fitted model by a
description in angle brackets, <array 50 × 50>. ``names_of(k)`` says what each stands for, so that ``parse(str(k),
names_of(k)) == k``, and so for repr.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from mercer.arrays import Array
from mercer.troubles import coded

if TYPE_CHECKING:
    from mercer.kernels.base import Kernel

SUM, PRODUCT, ATOM = 1, 2, 3
_RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
_MOST_ENTRIES = 1000
_QUOTED = re.compile(r"'(?:\\.|[^'\\])*+'" + r'|"(?:\\.|[^"\\])*+"' + r"|<[^<>]*+>")


class NotationError(ValueError):
    """A text that is not a kernel; the message shows the place, what was found there, and the cure.

    It is a ``ValueError``, raised by ``parse``.

    Examples
    --------
    >>> import mercer as mc
    >>> try:
    ...     mc.parse("Gaussian(γ=0.5) +")
    ... except mc.NotationError as error:
    ...     print(str(error).partition(". ")[0])
    At character 18: 'Gaussian(γ=0.5) +' is not a kernel expression: it ends too early
    """

    def __init__(self, message: str, code: str = "M201") -> None:
        super().__init__(coded(message, code))


# -- writing ----------------------------------------------------------------------------------------------------------


def call(k: Kernel, *, mathematics: bool) -> str:
    """Name(parameter=value, …), with the parameters that are not the default."""
    parts = []
    for f in dataclasses.fields(k):
        value = getattr(k, f.name)
        if f.default is not dataclasses.MISSING and _is_default(value, f.default):
            continue
        name = (mathematics and f.metadata.get("symbol")) or f.name
        parts.append(f"{name}={_shown(value, bool(f.metadata.get('data')), mathematics=mathematics)}")
    return f"{type(k).__name__}({', '.join(parts)})"


def method(k: Kernel, name: str, *arguments: object, mathematics: bool) -> str:
    """kernel.name(arguments)."""
    text = atom(str(k) if mathematics else repr(k))
    return f"{text}.{name}({', '.join(literal(a, mathematics=mathematics) for a in arguments)})"


def _is_default(value: object, default: object) -> bool:
    return type(value) is type(default) and not hasattr(value, "shape") and bool(value == default)


def literal(value: object, *, mathematics: bool) -> str:
    """A parameter's value as text that ``parse`` reads: what is no text by its name or, in angle brackets, a
    description.
    """
    from mercer.kernels.base import Kernel

    if isinstance(value, Kernel):
        return str(value) if mathematics else repr(value)
    if isinstance(value, bool | np.bool | str) or value is None:
        return repr(bool(value) if isinstance(value, np.bool) else value)
    if isinstance(value, float | np.floating | int | np.integer):
        return number(value)
    if isinstance(value, np.ndarray) and _is_short(value):
        return literal(value.tolist(), mathematics=mathematics)
    if isinstance(value, list | tuple):
        return f"[{', '.join(literal(v, mathematics=mathematics) for v in value)}]"
    return _described(value)


def _shown(value: object, data: bool, *, mathematics: bool) -> str:
    """A parameter: of data, in mathematics, the description alone."""
    return _described(value) if data and mathematics else literal(value, mathematics=mathematics)


def _is_short(value: Array) -> bool:
    return bool(value.size <= _MOST_ENTRIES and value.dtype.kind in "fiubUO")


def _described(value: object) -> str:
    """The name of a function; for what has none, a description of the value in angle brackets."""
    from mercer.kernels.base import Kernel

    if callable(value) and not isinstance(value, Kernel):
        name = getattr(value, "__name__", type(value).__name__)
        return name if name.isidentifier() else f"<{_without_brackets(name)}>"
    if hasattr(value, "shape"):
        kind = "array" if isinstance(value, np.ndarray) else type(value).__name__
        return f"<{kind} {' × '.join(map(str, value.shape))}>"
    if isinstance(value, list | tuple):
        return f"<{type(value).__name__} of {len(value)}>"
    return f"<{_without_brackets(' '.join(repr(value).split()))}>"


def _without_brackets(text: str) -> str:
    return text.replace("<", "").replace(">", "")


def names_of(k: Kernel) -> dict[str, Any]:
    """What stands in ``str(k)`` and ``repr(k)`` by a name or description: functions, long arrays, networks, models.

    Parameters
    ----------
    k : Kernel
        Any kernel.

    Returns
    -------
    dict of str to object
        For ``parse(str(k), names_of(k))``; empty where the text says everything.
    """
    found: dict[str, Any] = {}
    for name, value in _unwritten(k):
        if name in found and not _same(found[name], value):
            raise NotationError(
                f"Two parts of the kernel are both written {name}, and differ: its text does not say which is meant.",
                "M201",
            )
        found[name] = value
    return found


def _unwritten(value: object, *, data: bool = False) -> Iterator[tuple[str, Any]]:
    """Each value below this one that a text does not hold, by how it is written there."""
    from mercer.kernels.base import Kernel

    if isinstance(value, Kernel):
        for f in dataclasses.fields(value):
            yield from _unwritten(getattr(value, f.name), data=bool(f.metadata.get("data")))
        return
    text = literal(value, mathematics=False)
    if data or text == _described(value):
        yield _described(value), value
    if isinstance(value, list | tuple):
        for part in value:
            yield from _unwritten(part)


def _same(a: object, b: object) -> bool:
    from mercer.kernels.equality import same_values

    return a is b or same_values(a, b)


def number(value: float | np.integer[Any] | np.floating[Any]) -> str:
    """The shortest text that reads back as the same number."""
    return str(int(value)) if isinstance(value, int | np.integer) else repr(float(value))


def join(operator: str, parts: list[str], level: int) -> str:
    return operator.join(p if _level(p) >= level else f"({p})" for p in parts)


def atom(text: str) -> str:
    return text if _level(text) == ATOM else f"({text})"


def _level(text: str) -> int:
    """How tightly the outermost operator of a text binds."""
    depth, level = 0, ATOM
    text = _QUOTED.sub(lambda found: "_" * len(found[0]), text)
    for position, character in enumerate(text):
        depth += (character in "([") - (character in ")]")
        if depth == 0:
            if character == "+" and text[position - 1] == " ":
                return SUM
            if character in "·*⁰¹²³⁴⁵⁶⁷⁸⁹":
                level = PRODUCT
    return level


def superscript(n: int) -> str:
    return str(n).translate(_RAISED)


# -- reading ----------------------------------------------------------------------------------------------------------


def parse(text: str, names: Mapping[str, Any] | None = None) -> Kernel:
    """The kernel that a text describes, as written by ``str(k)`` or ``repr(k)``.

    No code is evaluated. A text may have a million characters, and calls, brackets, methods and powers may stand 64
    deep in each other; the time it takes is proportional to its length.

    Parameters
    ----------
    text : str
        A kernel expression, such as ``"2·Gaussian(γ=0.5) + Linear()"``: kernels by name, numbers, lists, strings, + · *
        / ^ and the methods of kernels.
    names : mapping of str to object, optional
        What names other than kernels stand for: functions given to ``map`` or ``Outer``, and what a text shows by a
        description in angle brackets only (long arrays, networks, models). ``mercer.kernels.notation.names_of(k)`` has
        those of a kernel.

    Returns
    -------
    Kernel
        The kernel; ``parse(str(k), names_of(k)) == k``.

    Raises
    ------
    NotationError
        A ``ValueError``: for whatever keeps the text from being a kernel, with the place.

    Examples
    --------
    >>> import mercer as mc
    >>> k = mc.parse("2·Gaussian(γ=0.5) + Linear().on('age')")
    >>> k
    2 * Gaussian(gamma=0.5) + Linear().on('age')
    >>> k == mc.parse(str(k))
    True
    """
    from mercer.kernels.reading import Reader

    return Reader(text, names or {}).kernel()


def kernel_classes() -> dict[str, type[Kernel]]:
    """Every kernel class that can be made, by name: Mercer's and those the user has defined."""
    import mercer.kernels  # so that all of Mercer's exist
    from mercer.kernels.base import Kernel

    mercer.kernels.load()
    found: dict[str, type[Kernel]] = {}
    queue: list[type[Kernel]] = [Kernel]
    while queue:
        for cls in queue.pop().__subclasses__():
            queue.append(cls)
            if "__dataclass_fields__" in cls.__dict__:
                found[cls.__name__] = cls
    return dict(sorted(found.items()))
