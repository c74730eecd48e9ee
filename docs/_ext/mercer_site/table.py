"""The table of the reference, read: which public name is described on which page.

It knows the library and nothing of Sphinx, so that tests can hold it to the library without a build.
"""

from __future__ import annotations

import inspect
import re
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import mercer

FILE = Path(__file__).resolve().parents[2] / "reference" / "tasks.toml"
MODULES = ("losses", "formula", "testing")  # public modules beside the names of mercer itself


@dataclass(frozen=True)
class Task:
    """One page of the reference: what one wants to do, and the names that do it."""

    group: str
    title: str
    about: str
    names: tuple[str, ...]
    modules: tuple[str, ...] = ()
    one_page: bool = False
    formulas: bool = False

    @property
    def file(self) -> str:
        return re.sub(r"[^a-z]+", "_", self.title.lower()).strip("_")

    def document(self, name: str) -> str:
        """The page on which a name of this task is described."""
        return f"reference/{self.file}" if self.one_page else f"reference/api/mercer.{name}"


@cache
def tasks() -> tuple[Task, ...]:
    read = tomllib.loads(FILE.read_text(encoding="utf-8"))["task"]
    listed = {name for entry in read for name in entry["names"]}
    for name in public_names():
        if name not in listed and (task := _at_home(thing(name), read)) is not None:
            task["names"].append(name)
    return tuple(
        Task(**{**entry, "names": tuple(entry["names"]), "modules": tuple(entry.get("modules", ()))}) for entry in read
    )


def _at_home(of: Any, tasks: list[dict[str, Any]]) -> dict[str, Any] | None:
    """The task whose modules the thing is from, the longest beginning of its module first."""
    where = f"{getattr(of, '__module__', '')}."
    homes = [(m, task) for task in tasks for m in task.get("modules", ()) if where.startswith(f"mercer.{m}.")]
    return max(homes, key=lambda home: len(home[0]))[1] if homes else None


@cache
def documents() -> dict[str, str]:
    """The page of each name, by its full name: ``mercer.losses.Squared``."""
    return {f"mercer.{name}": task.document(name) for task in tasks() for name in task.names}


def public_names() -> list[str]:
    """What the table has to hold: the names of ``mercer``, and those that its public modules define."""
    names = list(mercer.__all__)
    for module in MODULES:
        of = import_module(f"mercer.{module}")
        own = {
            n: v for n, v in vars(of).items() if getattr(v, "__module__", "").startswith(of.__name__) and n[0] != "_"
        }
        names += [f"{module}.{name}" for name, value in own.items() if getattr(mercer, name, None) is not value]
    return names


def split(name: str) -> tuple[str, str]:
    """The module from which a name is taken, and the name in it."""
    module, _, last = f"mercer.{name}".rpartition(".")
    return module, last


def thing(name: str) -> Any:
    module, last = split(name)
    return getattr(import_module(module), last)


def summary(of: Any) -> str:
    """The first paragraph of a docstring: the formula, or the promise."""
    return " ".join((inspect.getdoc(of) or "").split("\n\n")[0].split())


def is_kernel(of: Any) -> bool:
    return isinstance(of, type) and issubclass(of, mercer.Kernel) and of is not mercer.Kernel
