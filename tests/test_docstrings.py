"""Every public name has a docstring one can work from, and the examples in it are true."""

from __future__ import annotations

import doctest
import inspect
import re
from dataclasses import is_dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import mercer as mc

SOURCE = Path(__file__).resolve().parents[1] / "src"

_SECTION = re.compile(r"^(\w[\w ]*)\n-{3,}\n", re.MULTILINE)
_ENTRY = re.compile(r"^(\S.*?)(?: : .*)?$", re.MULTILINE)


def _sections(thing: Any) -> dict[str, str]:
    """The text of each section of a docstring, by its title."""
    parts = _SECTION.split(inspect.getdoc(thing) or "")
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def _entries(section: str) -> set[str]:
    """The names that a section such as Parameters describes: ``X, Y : type`` are two."""
    return {name.strip().lstrip("*") for m in _ENTRY.finditer(section) for name in m[1].split(",")}


def _parameters(thing: Any) -> list[str]:
    if isinstance(thing, type) and issubclass(thing, BaseException):
        return []  # the text of the message
    return [name for name in inspect.signature(thing).parameters if name != "self"]


def _own(thing: Any) -> bool:
    """Whether a class or function is Mercer's, and not Python's or scikit-learn's."""
    return str(getattr(thing, "__module__", None)).startswith("mercer")


def _function(member: Any) -> Any:
    """The function behind a method or property; None for anything else."""
    for attribute in ("fget", "__func__", "compute"):
        member = getattr(member, attribute, None) or member
    return member if inspect.isfunction(member) else None


def _is_described(cls: type, name: str) -> bool:
    """Whether a member, or one that it overrides, has a docstring, or a class lists it under Attributes."""
    return any(
        getattr(_function(vars(base).get(name)), "__doc__", None)
        or (_own(base) and name in _entries(_sections(base).get("Attributes", "")))
        for base in cls.__mro__
    )


def _undocumented_members(cls: type) -> list[str]:
    """The public methods and properties of a class, Mercer's own, that nothing says anything of."""
    members = {
        name
        for base in cls.__mro__
        if _own(base)
        for name, member in vars(base).items()
        if not name.startswith("_") and _own(_function(member))
    }
    return sorted(name for name in members if not _is_described(cls, name))


def _missing(name: str) -> list[str]:
    """What the documentation of a public name lacks."""
    thing = getattr(mc, name)
    # the docstring of a dataclass that has none is its signature
    if not thing.__doc__ or (isinstance(thing, type) and thing.__doc__.startswith(f"{name}(")):
        return ["a docstring"]
    sections, parameters = _sections(thing), _parameters(thing)
    # the fields of a result are its attributes, and nobody but Mercer constructs one
    described = _entries(sections.get("Parameters", sections.get("Attributes", "") if is_dataclass(thing) else ""))
    lacking = [f"the parameter {p!r} under Parameters" for p in parameters if p not in described]
    lacking += [f"the parameter {p!r}, which is described, in its signature" for p in described - set(parameters)]
    returns = not isinstance(thing, type) and inspect.signature(thing).return_annotation not in (None, "None")
    if returns and "Returns" not in sections:
        lacking.append("a section Returns")
    if ">>> " not in sections.get("Examples", ""):
        lacking.append("a section Examples with a line >>>")
    if isinstance(thing, type):
        lacking += [f"a docstring of {name}.{member}" for member in _undocumented_members(thing)]
    return lacking


@pytest.mark.parametrize("name", sorted(mc.__all__))
def test_public_name_is_documented(name: str) -> None:
    missing = _missing(name)
    assert not missing, f"mercer.{name} lacks {'; '.join(missing)}"


def _with_examples() -> list[str]:
    """The modules in whose text there are examples; the others need not be imported."""
    files = [path for path in sorted(SOURCE.rglob("*.py")) if ">>> " in path.read_text(encoding="utf-8")]
    return [".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__") for path in files]


LONG = ("mercer.tabular.job", "mercer.tabular.model")  # learn from tables


@pytest.mark.parametrize(
    "module", [pytest.param(m, marks=pytest.mark.thorough) if m in LONG else m for m in _with_examples()]
)
def test_examples_in_docstrings(module: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    if module.endswith(("fingerprints", "plots.molecule")):
        pytest.importorskip("rdkit")
    result = doctest.testmod(import_module(module))
    assert result.attempted
    assert not result.failed, "an example shows something else than it gives: the report stands above"


def test_a_docstring_that_lacks_something_is_found() -> None:
    """The tests above can fail."""

    def halved(x: float, times: int = 1) -> float:
        """x/2.

        Parameters
        ----------
        x : float
            A number.
        """
        return x / 2**times

    sections = _sections(halved)
    assert _entries(sections["Parameters"]) == {"x"}
    assert _parameters(halved) == ["x", "times"]
    assert "Returns" not in sections

    class Bare(mc.Kernel):
        @property
        def psd(self) -> bool | None:  # described where Kernel's attributes are
            return None

        def shrunk(self) -> None:
            pass

        def bind(self, X: Any, weights: Any = None) -> Any:  # Kernel's docstring
            return self

    Bare.__module__ = Bare.shrunk.__module__ = Bare.psd.fget.__module__ = Bare.bind.__module__ = "mercer.bare"  # type: ignore[attr-defined]
    assert _undocumented_members(Bare) == ["shrunk"]
