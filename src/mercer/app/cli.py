"""The command line: ``mercer fit``, ``mercer predict``, ``mercer compile``, ``mercer demo``, ``mercer kernels``. Heavy
modules are imported by the command that needs them.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(
    help="Kernel methods from the command line.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


@app.callback()
def _root() -> None:
    """Kernel methods from the command line."""


@contextmanager
def _said_plainly() -> Iterator[None]:
    """What is wrong with the input, in one line and exit status 1; not a traceback."""
    from polars.exceptions import PolarsError

    try:
        yield
    except (ValueError, MemoryError, OSError, PolarsError) as error:
        typer.echo(f"mercer: {error}", err=True)
        raise typer.Exit(1) from None


_MAX_BYTES = typer.Option(
    "--max-bytes", help="How much may be read of a file after unpacking, as 8GB; an eighth of the memory if not given."
)


@app.command()
def fit(
    data: Annotated[
        Path, typer.Argument(help="A table: CSV, TSV, Parquet, svmlight, NPZ; FASTA, SMILES or SDF with data fields.")
    ],
    target: Annotated[str, typer.Option("--target", "-t", help="The column to predict.")],
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="Where to save the model; the data's name with .mercer if not given."),
    ] = None,
    seconds: Annotated[float, typer.Option("--time", min=1.0, help="Seconds to search for.")] = 60.0,
    task: Annotated[
        str | None, typer.Option(help="classification, regression, count or ordinal; as the target looks if not given.")
    ] = None,
    metric: Annotated[
        str | None,
        typer.Option(
            help="accuracy, balanced_accuracy, auc, log_loss; rmse, mae, r2, pinball:0.9. What the model is judged by."
        ),
    ] = None,
    kind: Annotated[
        list[str] | None,
        typer.Option(help="COLUMN=KIND, with numeric, nominal, date, text, sequence or molecule; may be repeated."),
    ] = None,
    drop: Annotated[list[str] | None, typer.Option(help="A column not to look at; may be repeated.")] = None,
    group: Annotated[
        str | None, typer.Option(help="A column whose equal values are never on both sides of a test.")
    ] = None,
    time_column: Annotated[
        str | None, typer.Option(help="A column of times: later rows are tested by earlier.")
    ] = None,
    weight: Annotated[str | None, typer.Option(help="A column of weights of the rows.")] = None,
    memory: Annotated[
        str | None,
        typer.Option("--memory", help="Memory that matrices may take, as 2GB; half of the machine's if not given."),
    ] = None,
    max_bytes: Annotated[str | None, _MAX_BYTES] = None,
    seed: Annotated[int, typer.Option(help="Of everything that is drawn.")] = 0,
    report: Annotated[
        bool, typer.Option("--report/--no-report", help="Write a report beside the model, an HTML page.")
    ] = True,
    json: Annotated[bool, typer.Option("--json", help="Print the summary for machines.")] = False,
) -> None:
    """Learn to predict a column of a table: finds kernels and parameters, trains, saves, and says what it learned."""
    from rich.console import Console

    from mercer.app.console import progress, show_model
    from mercer.compute import Compute
    from mercer.files.persistence import save_or_rescue
    from mercer.files.places import check_place
    from mercer.files.readers import read_table
    from mercer.tabular.job import learn

    console = Console(stderr=json)
    with _said_plainly():
        path = out or Path(f"{data.name.split('.')[0]}.mercer")
        check_place(path)  # before any work is done for it
        kinds = _pairs(kind or [])
        frame = read_table(data, max_bytes=max_bytes)
        compute = Compute(memory=memory) if memory is not None else None
        with progress(console, seconds) as state:
            model = learn(
                frame, target, seconds=seconds, task=task, metric=metric, kinds=kinds, drop=tuple(drop or ()),
                group=group, time_column=time_column, weight=weight, compute=compute, random_state=seed,
                progress=state,
            )  # fmt: skip
        saved = save_or_rescue(model, path)
        page = model.report().save(saved.with_suffix(".html")) if report else None
    if json:
        from json import dumps

        typer.echo(dumps(model.summary_ | {"saved": str(saved), "report": page and str(page)}, default=str))
    else:
        show_model(console, model.summary_)
        console.print(f"Saved as {saved}: mercer predict {saved} NEW_DATA", soft_wrap=True)
        if page is not None:
            console.print(f"Report: {page}, a page for a browser", soft_wrap=True)
    if saved != path:
        typer.echo(f"mercer: {path} could not be written; the model is in {saved}.", err=True)
        raise typer.Exit(1)


def _pairs(given: list[str]) -> dict[str, str]:
    """COLUMN=KIND, the last = between them."""
    out = {}
    for text in given:
        column, equals, kind = text.rpartition("=")
        if not equals or not column:
            raise ValueError(f"--kind {text!r}: write COLUMN=KIND, as zip=nominal.")
        out[column] = kind
    return out


@app.command()
def predict(
    model: Annotated[Path, typer.Argument(help="A model saved by mercer fit.")],
    data: Annotated[
        Path,
        typer.Argument(
            help=(
                "A table with the columns the model was trained on. Where that is one column, a text file of its values"
                " will do."
            )
        ),
    ],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="A CSV or Parquet file; printed as CSV if not given.")
    ] = None,
    probabilities: Annotated[
        bool, typer.Option("--probabilities", "-p", help="A column with the probability of each class.")
    ] = False,
    interval: Annotated[
        float | None,
        typer.Option(
            "--interval", help="A share, as 0.9: an interval, or a set of labels, that holds so many of the targets."
        ),
    ] = None,
    novelty: Annotated[
        bool, typer.Option("--novelty", help="A column that says how unlike the training rows a row is, 0 to 1.")
    ] = False,
    max_bytes: Annotated[str | None, _MAX_BYTES] = None,
) -> None:
    """Predict the target of every row of a table with a saved model; says how well, where the table has the target."""
    from mercer.files.places import TABLES, check_place
    from mercer.files.readers import write_table

    with _said_plainly():
        from mercer.app.answers import answers, judged
        from mercer.tabular.reading import load_table_model, read_for

        if out is not None:
            check_place(out, TABLES)
        trained = load_table_model(model)
        frame, note = read_for(trained, data, max_bytes)
        if note:
            typer.echo(f"mercer: {note}", err=True)
        _, extra = trained.prepared(frame)
        if extra:
            shown = ", ".join(extra[:8]) + (", …" if len(extra) > 8 else "")
            typer.echo(f"mercer: {len(extra)} columns that the model does not know were ignored: {shown}", err=True)
        text = write_table(answers(trained, frame, probabilities, interval, novelty), out)
        said = judged(trained, frame)
    if text is not None:
        typer.echo(text, nl=False)
    if said:
        typer.echo(said, err=True)


@app.command()
def report(
    model: Annotated[Path, typer.Argument(help="A model saved by mercer fit.")],
    data: Annotated[
        Path | None,
        typer.Argument(help="A table with the target, to judge by; the rows held out in the search if not given."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Where to write it; the model's name with .html if not given.")
    ] = None,
    max_bytes: Annotated[str | None, _MAX_BYTES] = None,
) -> None:
    """Write what a model says of itself as one HTML page: data, kernel, choice, quality, columns, rows to look at."""
    with _said_plainly():
        from mercer.files.places import check_place
        from mercer.tabular.reading import load_table_model, read_for

        path = out or model.with_suffix(".html")
        check_place(path)
        trained = load_table_model(model)
        frame, note = (None, "") if data is None else read_for(trained, data, max_bytes)
        if note:
            typer.echo(f"mercer: {note}", err=True)
        page = trained.report(frame)
        page.save(path)
    typer.echo(f"{page.page.first}\nWritten to {path}: open it in a browser.")


@app.command()
def demo(seconds: Annotated[float, typer.Option("--time", min=1.0, help="Seconds to search for.")] = 15.0) -> None:
    """The main job on bundled data: mercer fit on one part of a table, mercer predict on the rest."""
    from mercer.app.demo import run

    run(seconds)


@app.command("compile")
def compile_(
    kernels: Annotated[
        list[str] | None, typer.Argument(help="Kernels, as 'Gaussian() + Linear()'; the usual ones if none is given.")
    ] = None,
) -> None:
    """Compile what usual work needs into the cache, so that no fit has to: for the image of a container, or before an
    exercise.
    """
    from rich.console import Console

    from mercer.app.ahead import compile_ahead
    from mercer.app.console import compiling, show_compiled

    console = Console()
    with _said_plainly():
        try:
            with compiling(console) as report:
                done = compile_ahead(*(kernels or []), report=report)
        except KeyboardInterrupt:
            typer.echo(
                "mercer: interrupted; what is compiled is kept, and the same command goes on from there.", err=True
            )
            raise typer.Exit(130) from None
    show_compiled(console, done)


@app.command()
def kernels() -> None:
    """List every kernel: its parameters, whether it is positive semi-definite, whether it has features, and its
    formula.
    """
    from mercer.app.inventory import show

    show()


@app.command()
def versions() -> None:
    """Print versions of Mercer, its dependencies and the machine, for a bug report."""
    from mercer.app.versions import show_versions

    show_versions()


def main() -> None:
    app()


if __name__ == "__main__":
    main()
