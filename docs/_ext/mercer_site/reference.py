"""The pages of the reference, written from the table and the docstrings before Sphinx reads them."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import mercer
from mercer.app.inventory import entries
from mercer_site import facts, samples, table
from mercer_site.docstrings import escaped, made_rest
from mercer_site.table import Task

_BASES = ("Kernel", "Gram", "losses.Loss")  # whose pages describe the methods of all that derive from them
_DESCRIBED_ONCE = {"psd", "explicit", "domain", "check_parameters"}  # of kernels: in the table of facts


def write(app: Any) -> None:
    """All pages; a file whose text is the same is left alone, so that Sphinx does not read it again."""
    folder = Path(app.srcdir) / "reference"
    pages = {folder / "index.rst": _index()}
    for task in table.tasks():
        pages[folder / f"{task.file}.rst"] = _task(task)
        if not task.one_page:
            pages |= {folder / "api" / f"mercer.{name}.rst": _page(name, task) for name in task.names}
    (folder / "api").mkdir(parents=True, exist_ok=True)
    for path in {*folder.glob("*.rst"), *folder.glob("api/*.rst")} - set(pages):
        path.unlink()
    for path, text in pages.items():
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


def _heading(text: str, line: str) -> str:
    return f"{text}\n{line * len(text)}\n"


def _index() -> str:
    parts = [_heading("Reference", "="), "Every public name, by what one wants to do.\n"]
    for group in dict.fromkeys(task.group for task in table.tasks()):
        parts.append(_heading(group, "-"))
        tasks = [task for task in table.tasks() if task.group == group]
        for task in tasks:
            names = " · ".join(_link(name) for name in task.names[:40])
            parts.append(f":doc:`{task.title} <{task.file}>`\n    {names}\n")
        listed = "\n".join(f"   {task.file}" for task in tasks)
        parts.append(f".. toctree::\n   :hidden:\n\n{listed}\n")
    return "\n".join(parts)


def _link(name: str) -> str:
    return f":py:obj:`~mercer.{name}`"


def _task(task: Task) -> str:
    parts = [_heading(task.title, "="), _about(task.about) + "\n"]
    rows = [f"   * - {_link(name)}\n     - {_cell(table.summary(table.thing(name)))}" for name in task.names]
    parts.append(
        ".. list-table::\n   :widths: auto\n   :class: names\n   :header-rows: 1\n\n   * - Name\n     - What it is\n"
        + "\n".join(rows)
        + "\n"
    )
    if task.formulas:
        parts += [_heading("Ways to make kernels from kernels", "-"), _ways()]
    if task.one_page:
        parts += [_described(name) for name in task.names]
    else:
        listed = "\n".join(f"   {table.split(name)[1]} <api/mercer.{name}>" for name in task.names)
        parts.append(f".. toctree::\n   :hidden:\n\n{listed}\n")
    return "\n".join(parts)


def _about(text: str) -> str:
    return escaped(text.replace("`", "``"))


def _cell(text: str) -> str:
    return escaped(text) or " "


def _ways() -> str:
    rows = [
        f"   * - ``{entry.call}``\n     - {_cell(entry.formula)}\n     - {entry.psd}\n     - {entry.features}"
        for entry in entries(composites=True)
    ]
    head = "   * - Written\n     - k(x, z)\n     - Positive semi-definite\n     - Finite features"
    return ".. list-table::\n   :widths: auto\n   :header-rows: 1\n\n" + "\n".join([head, *rows]) + "\n"


def _described(name: str) -> str:
    of = table.thing(name)
    module, last = table.split(name)
    if isinstance(of, type) and issubclass(of, BaseException):
        kind = "exception"
    else:
        kind = "class" if isinstance(of, type) else "function"
    return f".. currentmodule:: {module}\n\n.. auto{kind}:: {last}\n"


def _page(name: str, task: Task) -> str:
    of = table.thing(name)
    last = table.split(name)[1]
    parts = [_heading(last, "="), _described(name)]
    if isinstance(of, type) and not issubclass(of, BaseException):
        own, inherited, foreign = _members(of)
        if own:
            parts.append(_heading("Methods and properties", "-"))
            parts += [f".. auto{kind}:: {last}.{member}\n" for member, kind in own]
        if inherited or foreign:
            parts.append(_heading("Inherited", "-"))
        for base, members in inherited.items():
            links = ", ".join(f":py:obj:`{m} <mercer.{base}.{m}>`" for m in members)
            parts.append(f"From {_link(base)}: {links}.\n")
        if foreign:
            parts.append("From scikit-learn: " + ", ".join(f"``{m}``" for m in foreign) + ".\n")
    if "See Also" not in (inspect.getdoc(of) or ""):
        kin = [n for n in task.names if n != name][:6]
        if kin:
            lines = "\n".join(f"   {_link(n)}: {_cell(table.summary(table.thing(n)))}\n" for n in kin)
            parts.append(f".. seealso::\n\n{lines}")
    return "\n".join(parts)


def _members(cls: type) -> tuple[list[tuple[str, str]], dict[str, list[str]], list[str]]:
    """Members that the page describes, with their kind; those described with a base; those of scikit-learn."""
    own, inherited, foreign = [], {}, []
    bases = [name for name in _BASES if issubclass(cls, table.thing(name)) and cls is not table.thing(name)]
    elsewhere = {member: base for base in bases for member, _ in _members(table.thing(base))[0]}
    for member in sorted({m for base in cls.__mro__ for m in vars(base) if not m.startswith("_")}):
        owners = [base for base in cls.__mro__ if _function(vars(base).get(member))]
        function = _function(vars(owners[0])[member]) if owners else None
        if function is None or (issubclass(cls, mercer.Kernel) and member in _DESCRIBED_ONCE):
            continue
        functions = [_function(vars(base)[member]) for base in owners]
        origin = next((f.__module__ for f in functions if f.__doc__), "")  # whose docstring it is
        if not origin.startswith("mercer."):
            if origin.startswith("sklearn."):
                foreign.append(member)
        elif member in elsewhere and (owners[0] is not cls or not function.__doc__):
            inherited.setdefault(elsewhere[member], []).append(member)
        else:
            own.append((member, "property" if _is_property(vars(owners[0])[member]) else "method"))
    return own, inherited, foreign


def _is_property(static: Any) -> bool:
    return hasattr(static, "fget") or hasattr(static, "compute")


def _function(static: Any) -> Any:
    """The function behind a method or property; None for anything else."""
    for attribute in ("fget", "__func__", "compute", "fn"):
        static = getattr(static, attribute, None) or static
    return static if inspect.isfunction(static) else None


def before_numpydoc(app: Any, what: str, name: str, of: Any, options: Any, lines: list[str]) -> None:
    lines[:] = made_rest(lines)


def after_numpydoc(app: Any, what: str, name: str, of: Any, options: Any, lines: list[str]) -> None:
    """A kernel's facts and picture, between its formula and the text."""
    short = name.removeprefix("mercer.")
    shown = samples.shown(short) if what == "class" else None
    if shown is None:
        return
    end = next((i for i, line in enumerate(lines) if i and not line.strip() and lines[i - 1].strip()), len(lines))
    rows = "\n".join(f"   * - {left}\n     - {escaped(right)}" for left, right in facts.rows(short) if right)
    table_of = f".. list-table::\n   :stub-columns: 1\n   :widths: 24 76\n   :class: facts\n\n{rows}\n"
    said = escaped(samples.said_of(short).removesuffix("."))
    pictures = "\n".join(
        f".. figure:: /reference/pictures/{short}-{mode}.svg\n   :class: only-{mode}\n   :figclass: only-{mode}\n"
        f"   :alt: The matrix of {short} as a picture\n\n   ``{shown.kernel}`` on {said[0].lower() + said[1:]}.\n"
        for mode in ("light", "dark")
    )
    lines[end:end] = ["", *table_of.split("\n"), "", *pictures.split("\n"), ""]
