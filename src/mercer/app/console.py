"""What the command line shows: kinds of columns, progress while it searches, and what was learned."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from mercer.app.ahead import Compiled
from mercer.app.ahead import Report as Step
from mercer.compute import human
from mercer.tabular.kinds import USED
from mercer.tabular.metrics import metric_of
from mercer.tabular.search import Report

_SHOWN = 14  # columns
_SCORES, _LEADERS, _MATTER, _NOTES = 6, 5, 6, 4
_EVERY = 5.0  # seconds between two lines where there is no terminal


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
    """A bar of the time that is left, with the best candidate so far; where there is no terminal, a line every five
    seconds. Yields what the job reports to.
    """
    with Progress(
        TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn(), TextColumn("{task.fields[best]}"),
        console=console, transient=True, disable=not console.is_terminal,
    ) as bar:  # fmt: skip
        task, last = bar.add_task("reading", total=seconds, best=""), [time.monotonic()]

        def report(state: dict[str, Any]) -> None:
            best = "" if state["best"] is None else f"best: {state['best'].name}"
            doing = f"{state['stage']} {state.get('name', '')}".strip()
            if console.is_terminal:
                done = seconds - max(state["left"], 0.0)
                bar.update(task, completed=done, description=escape(doing), best=escape(best))
            elif time.monotonic() - last[0] >= _EVERY:
                last[0] = time.monotonic()
                console.print(f"{seconds - state['left']:.0f} s: {escape(doing)}; {escape(best)}", highlight=False)

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


def show_model(console: Console, s: dict[str, Any]) -> None:
    """The summary a person reads, at most one screen of it."""
    show = metric_of(s["task"], s["metric"]).shown
    rows = f"{s['rows']} rows" + (
        f", {s['rows_without_target']} without {escape(s['target'])} left out" if s["rows_without_target"] else ""
    )
    console.print(f"\n[bold]Target[/bold]    {escape(s['target'])}: {s['task']} ({escape(s['reason'])}); {rows}")
    show_kinds(console, s)
    console.print()
    for number, member in enumerate(s["members"]):
        share = f"{100 * member['weight']:.0f} % " if len(s["members"]) > 1 else ""
        label = "[bold]Model[/bold]     " if not number else "          "
        console.print(f"{label}{share}{escape(member['machine'])}, {escape(member['kernel'])}", highlight=False)
    console.print(
        f"[bold]Score[/bold]     {s['metric_in_words']} {show(s['score'])} ± {show(s['standard_error'])}"
        f" {escape(s['measured'])}; always the same answer: {show(s['baseline'])}",
        highlight=False,
    )
    others = [f"{escape(name)} {value:.4g}" for name, value in s["scores"].items() if name != s["metric"]]
    console.print(f"          {' · '.join(others[:_SCORES])}", highlight=False)
    if len(s["leaders"]) > 1:
        shown = [f"{escape(name)} {show(value)}" for name, value in list(s["leaders"].items())[:_LEADERS]]
        console.print(f"[bold]Alone[/bold]     {' · '.join(shown)}", highlight=False)
    matter = [(name, fall) for name, fall in s["importance"].items() if fall > 0][:_MATTER]
    if matter:
        table = Table("column", "share of the loss¹", "", box=None, pad_edge=False)
        whole = sum(fall for _, fall in matter)
        for name, fall in matter:
            bar = "▇" * max(1, round(20 * fall / matter[0][1]))
            table.add_row(escape(name), f"{100 * fall / whole:.0f} %", bar)
        console.print()
        console.print(table)
        console.print("¹ by which it grows, on rows that were not trained on, when the column is shuffled")
    for note in s["notes"][:_NOTES]:
        console.print(f"[yellow]Note[/yellow]      {escape(note)}")
    if len(s["notes"]) > _NOTES:
        console.print(f"          … and {len(s['notes']) - _NOTES} notes more in the model (--json)")
    console.print(f"[bold]Next[/bold]      {escape(s['next'])}")
    console.print(f"[dim]{s['tried']} candidates. {s['ended']}[/dim]", highlight=False)
