"""What the command line shows: kinds of columns, progress while it searches, and what was learned."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from mercer.app.ahead import Compiled
from mercer.app.ahead import Report as Step
from mercer.app.job import Report
from mercer.app.kinds import USED
from mercer.app.model import Model
from mercer.compute import human

_SHOWN = 24  # columns


def show_kinds(console: Console, summary: dict[str, Any]) -> None:
    """What each column was taken for, and why."""
    table = Table("column", "taken as", "because", box=None, pad_edge=False)
    columns = list(summary["columns"].items())
    for name, (kind, reason) in columns[:_SHOWN]:
        used = kind in USED
        table.add_row(escape(name), kind if used else f"[dim]{kind}, left out[/dim]", escape(reason))
    if len(columns) > _SHOWN:
        table.add_row("…", f"{len(columns) - _SHOWN} more", "")
    console.print(table)


@contextmanager
def progress(console: Console, seconds: float) -> Iterator[Report]:
    """A bar of the time that is left, with the best score so far; yields what the job reports to."""
    with Progress(
        TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn(), TextColumn("{task.fields[best]}"),
        console=console, transient=True, disable=not console.is_terminal,
    ) as bar:  # fmt: skip
        task = bar.add_task("reading", total=seconds, best="")

        def report(state: dict[str, Any]) -> None:
            best = state["best"]
            shown = "" if best is None else f"best {abs(best.score):.4g}"
            bar.update(
                task,
                completed=seconds - max(state["left"], 0.0),
                description=escape(f"{state['stage']} {state.get('name', '')}"),
                best=shown,
            )

        yield report


@contextmanager
def compiling(console: Console) -> Iterator[Step]:
    """A bar of what is compiled; where there is no terminal, a line for each kernel and each kind of machine."""
    with Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TimeRemainingColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    ) as bar:
        task, last = bar.add_task("compiling", total=1.0), [""]

        def report(name: str, share: float) -> None:
            bar.update(task, completed=share, description=escape(name))
            if not console.is_terminal and name != last[0]:
                console.print(f"compiling {escape(name)}", highlight=False)
            last[0] = name

        yield report


def show_compiled(console: Console, done: Compiled) -> None:
    """How much was compiled, and where it is."""
    what = f"{done.functions} functions compiled" if done.functions else "All was compiled already"
    console.print(f"{what}, {done.seconds:.0f} s; {human(done.size)} in", highlight=False)
    for folder in done.folders:
        console.print(f"  {escape(str(folder))}", highlight=False, soft_wrap=True)


def show_model(console: Console, model: Model) -> None:
    """The summary a person reads."""
    s = model.summary
    better = "accuracy" if s["metric"] == "accuracy" else "root mean squared error"
    rows = f"{s['rows']} rows" + (
        f", {s['rows_without_target']} without {escape(s['target'])} left out" if s["rows_without_target"] else ""
    )
    console.print(f"\n[bold]Target[/bold]    {escape(s['target'])}: {s['task']} ({escape(s['reason'])}); {rows}")
    show_kinds(console, s)
    console.print(
        f"\n[bold]Model[/bold]     {escape(s['model'])},"
        f" {', '.join(f'{k} = {v:.4g}' for k, v in s['parameters'].items())}"
    )
    console.print(f"[bold]Kernel[/bold]    {escape(s['kernel'])}")
    console.print(
        f"[bold]Score[/bold]     {better} {_number(s, s['score'])} by cross-validation; always the same answer:"
        f" {_number(s, s['baseline'])}"
    )
    if len(s["leaders"]) > 1:
        others = [f"{escape(name)} {_number(s, value)}" for name, value in s["leaders"].items() if name != s["model"]]
        console.print(f"[bold]Others[/bold]    {' · '.join(others[:4])}")
    matter = [(name, fall) for name, fall in s["importance"].items() if fall > 0][:8]
    if matter:
        table = Table("column", "worse without it¹", "", box=None, pad_edge=False)
        for name, fall in matter:
            table.add_row(escape(name), _number(s, fall), "▇" * max(1, round(20 * fall / matter[0][1])))
        console.print()
        console.print(table)
        console.print("¹ how much the score on training rows falls when the column is shuffled")
    for note in s["notes"]:
        console.print(f"[yellow]Note[/yellow]      {escape(note)}")
    console.print(f"[dim]{s['tried']} candidates in {s['seconds']:.1f} s[/dim]")


def _number(summary: dict[str, Any], value: float) -> str:
    return f"{100 * value:.1f} %" if summary["metric"] == "accuracy" else f"{value:.4g}"
