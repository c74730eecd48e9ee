"""A kernel expression as blocks: what it is made of, where it can be turned, and the expression after a change.

A place is named as in ``get_params``: "" is the whole, "gaussian__kernel" the kernel inside its term gaussian.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any, TypeGuard

import numpy as np

from mercer.kernels.base import Kernel
from mercer.kernels.compose.composite import Composite
from mercer.kernels.compose.feature_space import Normalized
from mercer.kernels.compose.pointwise import Scaled
from mercer.kernels.compose.terms import Product, Sum, Terms
from mercer.kernels.notation import kernel_classes, parse
from mercer.kernels.parameters import Check
from mercer.play.limits import LARGEST_WHOLE, LONGEST_KERNEL, MOST_PARTS, Refused

_POWERS = 3.0  # of ten, that a slider covers on each side of 1
_LEAST, _MOST = 1e-6, 1e6  # that a slider comes to; what is beyond is typed
_DIGITS = 6  # of a number that a slider sets
_HIGHEST = 12  # to which a slider of whole numbers goes
_SEEDS = ("random_state", "seed")


def read(text: str) -> Kernel:
    """The kernel that a text describes, if it is not too large to play with."""
    if not isinstance(text, str) or not text.strip():
        raise Refused("The kernel bar is empty: write for example Gaussian(γ=2).")
    if len(text) > LONGEST_KERNEL:
        raise Refused(f"The expression has {len(text)} letters; the page takes {LONGEST_KERNEL}.")
    kernel = parse(text)
    parts = len(kernel._parts())
    if parts > MOST_PARTS:
        raise Refused(f"The expression has {parts} parts; the page takes {MOST_PARTS}.")
    for part in kernel._parts():
        _check_whole(part)
    return kernel


def _check_whole(kernel: Kernel) -> None:
    """Refuse a degree or a length of which one value of the kernel would take for ever."""
    for field in dataclasses.fields(kernel):
        value = getattr(kernel, field.name)
        if field.name in _SEEDS or "check" not in field.metadata or not _is_number(value):
            continue
        if abs(value) > LARGEST_WHOLE and _counts(field, value):
            raise Refused(
                f"{type(kernel).__name__}({field.name}={value:g}): the page takes whole numbers up to {LARGEST_WHOLE}."
            )


def tree(kernel: Kernel, numbers: Mapping[str, Any], at: str = "") -> dict[str, Any]:
    """The blocks: name, place, text, sliders and the blocks inside; ``numbers`` are what words stand for."""
    children = [tree(child, numbers, _inside(at, name)) for name, child in kernel._children()]
    return {
        "at": at, "name": type(kernel).__name__, "text": str(kernel), "terms": isinstance(kernel, Terms),
        "psd": kernel.psd,
        "around": isinstance(kernel, Composite) and not isinstance(kernel, Terms) and bool(children),
        "sliders": list(_sliders(kernel, numbers, at)), "children": children,
    }  # fmt: skip


def _inside(at: str, name: str) -> str:
    return f"{at}__{name}" if at else name


def _sliders(kernel: Kernel, numbers: Mapping[str, Any], at: str) -> Iterator[dict[str, Any]]:
    """The numbers of a kernel's own, with what a slider may make of them; of a word, as 'scale', what it stands for."""
    for field in dataclasses.fields(kernel):
        name, check = _inside(at, field.name), field.metadata.get("check")
        value = getattr(kernel, field.name)
        value = numbers.get(name) if isinstance(value, str) else value
        if check is None or not _is_number(value):
            continue
        described = {"at": name, "name": field.name, "symbol": field.metadata.get("symbol") or field.name}
        yield described | (_whole(int(value), check) if _counts(field, value) else _real(float(value), field.metadata))


def _is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, int | float | np.number) and not isinstance(value, bool) and bool(np.isfinite(value))


def _counts(field: dataclasses.Field[Any], value: float) -> bool:
    """Whether a parameter is a whole number: the degree of a polynomial, not its offset."""
    return bool(field.metadata.get("whole")) or (isinstance(value, int) and field.metadata["check"](0.5) is not None)


def _whole(value: int, check: Check) -> dict[str, Any]:
    allowed = [i for i in range(_HIGHEST + 1) if check(i) is None]
    low, high = min([*allowed[:1], value]), max([*allowed[-1:], value])
    return {"value": value, "low": low, "high": high, "log": False, "step": 1}


def _real(value: float, said: Mapping[str, Any]) -> dict[str, Any]:
    """A slider around a value; ``least`` and ``most`` are as far as it may be widened."""
    check = said["check"]
    if value > 0 and check(0.0) is not None:
        most = min(_MOST, said.get("maximum") or math.inf)
        low = min(max(min(10**-_POWERS, value / 10), _LEAST), value)
        high = max(min(max(10**_POWERS, 10 * value), most), value)
        limits = {"least": min(_LEAST, low), "most": max(most, high)}
        return {"value": value, "low": low, "high": high, "log": True, "step": 0, **limits}
    size = max(2.0, 2 * abs(value))
    bounded = check(1.0001) is not None
    high = 1.0 if bounded else size
    # what is below zero is seldom meant: where it is allowed, it is typed, and then there is a slider for it
    limits = {"least": 0.0 if value >= 0 else -max(_MOST, size), "most": 1.0 if bounded else max(_MOST, size)}
    return {"value": value, "low": 0.0 if value >= 0 else -size, "high": high, "log": False, "step": 0, **limits}


# -- changes -----------------------------------------------------------------------------------------------------------


def changed(kernel: Kernel, change: dict[str, Any]) -> Kernel:
    """The kernel after a change at a place: ``what`` is set, add, multiply, scale, normalise, centre, repair,
    replace or remove.
    """
    at, what = str(change.get("at", "")), str(change.get("what", ""))
    if what == "set":
        place, _, name = at.rpartition("__")
        value = change.get("value")
        if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < 1e300:
            raise Refused(f"{at} was to become {value!r}: a number is needed.")
        return _flat(_at(kernel, place, lambda k: _with_value(k, name, value)))
    if what == "remove":
        return _flat(_without(kernel, at))
    if what not in _MADE:
        raise Refused(f"{what!r} is not a change; there are set, remove, {', '.join(_MADE)}.")
    return _flat(_at(kernel, at, lambda k: _MADE[what](k, change)))


def _with_value(kernel: Kernel, name: str, value: float) -> Kernel:
    field = next((f for f in dataclasses.fields(kernel) if f.name == name), None)
    if field is None or "check" not in field.metadata:
        raise Refused(f"{type(kernel).__name__} has no parameter {name!r}.")
    whole = _counts(field, getattr(kernel, name))
    new = round(value) if whole else float(f"{value:.{_DIGITS}g}")  # a slider has no more places than a text shows
    complaint = field.metadata["check"](new)
    if complaint is not None:
        raise Refused(f"{type(kernel).__name__}({name}={new:g}): {name} {complaint}.")
    return kernel._replace(**{name: new})


def _other(change: dict[str, Any]) -> Kernel:
    return read(change.get("kernel", "Linear()"))


_MADE: dict[str, Callable[[Kernel, dict[str, Any]], Kernel]] = {
    "add": lambda k, change: k + _other(change),
    "multiply": lambda k, change: k * _other(change),
    "replace": lambda _, change: _other(change),
    "scale": lambda k, _: Scaled(2.0, k),
    "normalise": lambda k, _: k.normalized(),
    "centre": lambda k, _: k.centered(),
    "repair": lambda k, _: k.repaired(),
}


def _at(kernel: Kernel, at: str, change: Callable[[Kernel], Kernel]) -> Kernel:
    """The kernel with the part at a place changed."""
    if not at:
        return change(kernel)
    for name, child in kernel._children():
        if at == name or at.startswith(f"{name}__"):
            return kernel._replace(**{name: _at(child, at[len(name) + 2 :], change)})
    raise Refused(f"{kernel} has no part called {at!r}.")


def _without(kernel: Kernel, at: str) -> Kernel:
    """The kernel without the term at a place, or without what is written around the kernel there."""
    if not at:
        inside = [child for _, child in kernel._children()]
        if len(inside) != 1:
            raise Refused("Nothing would be left: replace the kernel by another.")
        return inside[0]
    parent, _, name = at.rpartition("__")
    holder = _part(kernel, parent)
    terms = dict(holder._children())
    if isinstance(holder, Terms) and name in terms:
        left = tuple(child for n, child in terms.items() if n != name)
        if not left:
            raise Refused("Nothing would be left: replace the kernel by another.")
        return _at(kernel, parent, lambda k: left[0] if len(left) == 1 else k._replace(terms=left))
    part = _part(kernel, at)
    inside = [child for _, child in part._children()]
    if len(inside) == 1:
        return _at(kernel, at, lambda _: inside[0])
    return _at(kernel, parent, lambda _: part)


def _part(kernel: Kernel, at: str) -> Kernel:
    found: list[Kernel] = []
    _at(kernel, at, lambda k: found.append(k) or k)  # type: ignore[func-returns-value]
    return found[0]


def _flat(kernel: Kernel) -> Kernel:
    """Sums in sums as one sum: as the text of the expression is read."""
    return read(str(kernel))


# -- what is said of it ------------------------------------------------------------------------------------------------


def facts(kernel: Kernel, bound: Kernel | None = None) -> dict[str, Any]:
    """Text, blocks, formula, and what is proved of a kernel; ``bound`` is the same with numbers in place of words."""
    known = kernel if bound is None else bound
    numbers = known.get_params()
    return {
        "kernel": str(kernel), "python": repr(kernel), "tree": tree(kernel, numbers), "formula": _formula(kernel),
        "psd": kernel.psd, "proof": _proof(kernel), "features": bool(known.explicit),
    }  # fmt: skip


def _formula(kernel: Kernel) -> str:
    """Each kernel that the expression is made of, and its formula."""
    named = {type(part): None for part in kernel._parts() if not isinstance(part, Composite)}
    return "; ".join(f"{cls.__name__}: {_first_sentence(cls)}" for cls in named)


def _first_sentence(cls: type[Kernel]) -> str:
    return (cls.__doc__ or "").strip().split("\n")[0].split(".  ")[0].rstrip(".").replace("``", "")


def _proof(kernel: Kernel) -> str:
    """Why a kernel is positive semi-definite, or is not, in one sentence."""
    if kernel.psd:
        rules: dict[type[Kernel], str] = {
            Sum: "sums of kernels are kernels", Product: "products of kernels are kernels (Schur)",
            Scaled: "a positive multiple of a kernel is one", Normalized: "k(x, z)/√(k(x, x) k(z, z)) is one",
        }  # fmt: skip
        used = [words for cls, words in rules.items() if any(isinstance(part, cls) for part in kernel._parts())]
        return "Positive semi-definite for all data" + (": " + ", ".join(used) if used else "") + "."
    if kernel.psd is False:
        return "Not a kernel: there are data for which its matrix has negative eigenvalues."
    return "Not known to be positive semi-definite: look at the smallest eigenvalue."


@cache
def names(domains: tuple[str, ...], also: tuple[str, ...] = ()) -> tuple[dict[str, str], ...]:
    """The kernels that may be written for kinds of data, as one writes them, for completion: those that need nothing
    said, and the texts ``also``.
    """
    found = {}
    for name, cls in kernel_classes().items():
        if not cls.__module__.startswith("mercer.") or cls._internal or issubclass(cls, Composite):
            continue
        try:
            made = cls()
        except TypeError:  # a parameter has to be said
            continue
        if type(made.domain).__name__ in domains:
            found[name] = {"name": name, "text": str(made), "formula": _first_sentence(cls)}
    for text in also:
        for part in parse(text)._parts():
            if not isinstance(part, Composite):
                cls = type(part)
                found.setdefault(
                    cls.__name__, {"name": cls.__name__, "text": str(part), "formula": _first_sentence(cls)}
                )
    return tuple(found[name] for name in sorted(found))
