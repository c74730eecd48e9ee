"""The list of kernels, printed from the code."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from mercer.kernels.base import Kernel
from mercer.kernels.compose.composite import Composite
from mercer.kernels.notation import kernel_classes


@dataclasses.dataclass(frozen=True)
class Entry:
    """One kernel: name and parameters as one writes them, formula as it is documented."""

    call: str
    formula: str
    psd: str
    features: str


def entries(*, composites: bool) -> Iterator[Entry]:
    """The kernels of Mercer, or (``composites``) the ways to make kernels from kernels."""
    for cls in kernel_classes().values():
        if not cls.__module__.startswith("mercer.") or issubclass(cls, Composite) != composites:
            continue
        written = cls.usage if issubclass(cls, Composite) else "" if cls._internal else _signature(cls)
        if written:
            yield Entry(written, _formula(cls), _word(cls.psd), _word(cls.explicit))


def _formula(cls: type[Kernel]) -> str:
    """The docstring up to its first full stop followed by two spaces, or its first line."""
    return (cls.__doc__ or "").strip().split("\n")[0].split(".  ")[0].rstrip(".")


def _signature(cls: type[Kernel]) -> str:
    fields = dataclasses.fields(cls)
    arguments = (f.name if f.default is dataclasses.MISSING else f"{f.name}={f.default!r}" for f in fields)
    return f"{cls.__name__}({', '.join(arguments)})"


def _word(value: property | bool | None) -> str:
    """A property belongs to the instance: what it is depends on the parameters or the parts."""
    return "depends" if isinstance(value, property) else {True: "yes", False: "no", None: "unknown"}[value]


def show(console: Console | None = None) -> None:
    """Print both lists."""
    console = console or Console()
    for title, composites in (("Kernels", False), ("Kernels from kernels", True)):
        table = Table(
            "kernel", "k(x, z)", "PSD", "features", title=title, title_justify="left", box=None, pad_edge=False
        )
        for e in entries(composites=composites):
            table.add_row(escape(e.call), escape(e.formula), e.psd, e.features)
        console.print(table)
        console.print()
