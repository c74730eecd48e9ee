"""What a kernel says of itself, as the rows of a table: asked of the class and of the kernel that its page shows."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from typing import Any

import mercer as mc
from mercer_site import samples, table


def shown(name: str) -> mc.Kernel:
    """The kernel of this class in what the page shows: that one itself, or a part of it."""
    cls = table.thing(name)

    def within(k: mc.Kernel) -> Iterator[mc.Kernel]:
        yield k
        for _, part in k._children():
            yield from within(part)

    return next(k for k in within(samples.kernel_of(name)) if type(k) is cls)


def rows(name: str) -> list[tuple[str, str]]:
    """What stands on the left, and on the right as reStructuredText."""
    k, X = shown(name), samples.samples_of(name)
    return [
        ("Samples", _samples(k)),
        ("Positive semi-definite", _psd(k)),
        ("Finite features", _features(k, X)),
        ("Derivative", _derivative(k, X)),
        ("Cost", _cost(name)),
        ("In text", f"``{k}``" if len(str(k)) < 120 else ""),
    ]


def _samples(k: mc.Kernel) -> str:
    domain: Any = k.domain
    said = re.split(r"[.:;](?:\s|$)|, checked", " ".join((inspect.getdoc(type(domain)) or "").split()))[0]
    limits = []
    if getattr(domain, "columns", None) is not None:
        limits.append(f"{domain.columns} column")
    if getattr(domain, "minimum", None) is not None and "non-negative" not in said:
        limits.append(f"entries of at least {domain.minimum:g}")
    if getattr(domain, "below", None) is not None:
        limits.append(f"below {domain.below:g}")
    return ", ".join([said, *limits]) + "."


def _psd(k: mc.Kernel) -> str:
    if isinstance(inspect.getattr_static(type(k), "psd"), property):
        said = {True: "proved for", False: "not for all data with", None: "not known of"}[k.psd]
        return f"Depends on its parameters or parts: {said} the kernel shown."
    return {
        True: "Yes, for all data: proved.",
        False: "No: there are data for which the matrix is indefinite.",
        None: "Not known.",
    }[k.psd]


def _features(k: mc.Kernel, X: Any) -> str:
    if not k.explicit:
        return "No."
    try:
        names = k.feature_names(X[:3])
    except TypeError:
        return "Yes, without names."
    few = ", ".join(f"``{_short(str(name))}``" for name in names[:3])
    return f"Yes, with names: {few}{', …' if len(names) > 3 else ''}"


def _short(text: str) -> str:
    return text if len(text) <= 40 else text[:39] + "…"


def _derivative(k: mc.Kernel, X: Any) -> str:
    try:
        by = sorted(k.gradient(X))
    except (ValueError, TypeError, NotImplementedError):
        by = []
    if by:
        return "By " + ", ".join(f"``{name}``" for name in by) + ": exact, from the formula."
    return "None." if k._continuous("") else "None: there is no continuous parameter."


def _cost(name: str) -> str:
    """What the docstring says after "Cost", else what the table of samples says, else the sentence with O(…)."""
    text = " ".join((inspect.getdoc(table.thing(name)) or "").split("\nParameters\n")[0].split())
    sentences = re.split(r"(?<=\.) (?=[A-Z`]|O\()", text)
    for sentence in sentences:
        if found := re.match(r"Cost( per pair(?: of graphs)?)?: (.+)", sentence):
            said = f"{found[1].strip()}: {found[2]}" if found[1] else found[2]
            return said[0].upper() + said[1:]
    if cost := samples.how(name).cost:
        return cost
    return next((s for s in sentences if "O(" in s), "")
