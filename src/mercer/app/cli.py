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
    data: Annotated[Path, typer.Argument(help="A table: CSV, TSV, Parquet, svmlight or NPZ.")],
    target: Annotated[str, typer.Option("--target", "-t", help="The column to predict.")],
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="Where to save the model; the data's name with .mercer if not given."),
    ] = None,
    seconds: Annotated[float, typer.Option("--time", min=1.0, help="Seconds to search for.")] = 60.0,
    memory: Annotated[
        str | None,
        typer.Option("--memory", help="Memory that matrices may take, as 2GB; half of the machine's if not given."),
    ] = None,
    max_bytes: Annotated[str | None, _MAX_BYTES] = None,
    seed: Annotated[int, typer.Option(help="Of everything that is drawn.")] = 0,
    json: Annotated[bool, typer.Option("--json", help="Print the summary for machines.")] = False,
) -> None:
    """Learn to predict a column of a table: finds kernel and parameters, trains, saves, and says what it learned."""
    from rich.console import Console

    from mercer.app.console import progress, show_model
    from mercer.app.job import learn
    from mercer.compute import Compute
    from mercer.files.persistence import save
    from mercer.files.places import check_place
    from mercer.files.readers import read_table

    console = Console(stderr=json)
    with _said_plainly():
        path = out or Path(f"{data.name.split('.')[0]}.mercer")
        check_place(path)  # before any work is done for it
        frame = read_table(data, max_bytes=max_bytes)
        compute = Compute(memory=memory) if memory is not None else None
        with progress(console, seconds) as report:
            model = learn(frame, target, seconds=seconds, compute=compute, random_state=seed, report=report)
        save(model, path)
    if json:
        from json import dumps

        typer.echo(dumps(model.summary | {"saved": str(path)}, default=str))
        return
    show_model(console, model)
    console.print(f"Saved as {path}: mercer predict {path} NEW_DATA")


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
    max_bytes: Annotated[str | None, _MAX_BYTES] = None,
) -> None:
    """Predict the target of every row of a table with a saved model."""
    from mercer.files.persistence import load
    from mercer.files.places import TABLES, check_place
    from mercer.files.readers import write_table

    with _said_plainly():
        import polars as pl

        from mercer.app.model import Model, read_for

        if out is not None:
            check_place(out, TABLES)
        trained = load(model)
        if not isinstance(trained, Model):
            raise ValueError(
                f"{model} holds a {type(trained).__name__}, not a model of mercer fit; load it in Python:"
                f" mercer.load({str(model)!r})."
            )
        frame, note = read_for(trained, data, max_bytes)
        if note:
            typer.echo(f"mercer: {note}", err=True)
        _, extra = trained.prepared(frame)
        if extra:
            shown = ", ".join(extra[:8]) + (", …" if len(extra) > 8 else "")
            typer.echo(f"mercer: {len(extra)} columns that the model does not know were ignored: {shown}", err=True)
        values = trained.predict(frame)
        if trained.task.name == "classification":
            result = pl.DataFrame({trained.target: pl.Series(list(values), strict=False)})
        else:
            result = pl.DataFrame({trained.target: values})
        text = write_table(result, out)
    if text is not None:
        typer.echo(text, nl=False)


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
