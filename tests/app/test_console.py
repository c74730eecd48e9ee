"""Progress, on a terminal and in a file."""

from __future__ import annotations

import io
from types import SimpleNamespace
from typing import Any

import pytest
from rich.console import Console

from mercer.app.console import progress, show_kinds


def reported(console: Console, *states: dict[str, Any]) -> None:
    with progress(console, 60.0) as report:
        for state in states:
            report({"stage": "search", "name": "", "left": 50.0, "best": None, "tried": 0} | state)


def test_lines_where_there_is_no_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [0.0]
    monkeypatch.setattr("mercer.app.console.time", SimpleNamespace(monotonic=lambda: clock[0]))
    out = io.StringIO()
    console = Console(file=out, width=100)
    with progress(console, 60.0) as report:
        for second in range(13):
            clock[0] = float(second)
            best = SimpleNamespace(name="ridge, [odd]") if second > 6 else None
            report({"stage": "search", "name": "ridge", "left": 60.0 - second, "best": best, "tried": second})
    assert [line.strip() for line in out.getvalue().splitlines()] == [
        "5 s: search ridge;", "10 s: search ridge; best: ridge, [odd]"
    ]  # fmt: skip


def test_a_bar_on_a_terminal() -> None:
    out = io.StringIO()
    reported(
        Console(file=out, force_terminal=True, width=120), {"name": "SVC, Gaussian"},
        {"name": "SVC, Gaussian", "best": SimpleNamespace(name="ridge, Laplacian"), "left": -3.0},
    )  # fmt: skip
    assert "search SVC, Gaussian" in out.getvalue()
    assert "best: ridge, Laplacian" in out.getvalue()


def test_names_are_not_markup() -> None:
    out = io.StringIO()
    columns = {"[bold]x": ["numeric", "numbers"], "old": ["constant", "always 1, left out"]}
    show_kinds(Console(file=out, width=100), {"columns": columns | {f"x{j}": ["numeric", ""] for j in range(20)}})
    assert "[bold]x" in out.getvalue()
    assert "constant, left out" in out.getvalue()
    assert "8 more" in out.getvalue()
