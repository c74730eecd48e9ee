"""The command line: one file, what each command takes; what it does is in modules that the command imports.

A command ends with 0; 2 where it was called wrongly, 3 where something is wrong with data or files, 4 where a solver
did not converge (the model, as far as it came, is written), 130 after Ctrl-C.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from mercer.troubles import CODE, coded

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


_USAGE, _DATA, _NOT_CONVERGED = 2, 3, 4


@contextmanager
def _said_plainly() -> Iterator[None]:
    """What is wrong with the input, in one line and an exit status that says of which kind it is; not a traceback."""
    from polars.exceptions import PolarsError

    from mercer.kernels.notation import NotationError

    try:
        yield
    except (ValueError, MemoryError, OSError, PolarsError) as error:
        _refuse(error)
        raise typer.Exit(_USAGE if isinstance(error, NotationError) else _DATA) from None


@contextmanager
def _used_rightly() -> Iterator[None]:
    """What is wrong with the flags themselves."""
    try:
        yield
    except ValueError as error:
        _refuse(error)
        raise typer.Exit(_USAGE) from None


def _refuse(error: Exception) -> None:
    """The message; a person at a terminal is also told where more is said of its code."""
    typer.echo(f"mercer: {error}", err=True)
    code = CODE.search(str(error))
    if code is not None and sys.stderr.isatty():
        typer.echo(f"(mercer help {code[1]} says more)", err=True)


def _end_unless_converged(said: list[str]) -> None:
    """End with the status for it where solvers did not converge, with what they said."""
    for one in dict.fromkeys(said):
        typer.echo(f"mercer: {one}", err=True)
    if said:
        raise typer.Exit(_NOT_CONVERGED)


_MAX_BYTES = typer.Option(
    "--max-bytes", help="How much may be read of a file after unpacking, as 8GB; an eighth of the memory if not given."
)


@app.command()
def fit(
    data: Annotated[
        Path,
        typer.Argument(help="A table: CSV, TSV, Parquet, svmlight, NPZ; FASTA, FASTQ, SMILES or SDF with data fields."),
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
        with _used_rightly():
            if report:
                check_place(_page_of(path))
            kinds = _pairs(kind or [])
            compute = Compute(memory=memory) if memory is not None else None
        frame = read_table(data, max_bytes=max_bytes)
        with progress(console, seconds) as state:
            model = learn(
                frame, target, seconds=seconds, task=task, metric=metric, kinds=kinds, drop=tuple(drop or ()),
                group=group, time_column=time_column, weight=weight, compute=compute, random_state=seed,
                progress=state,
            )  # fmt: skip
        saved = save_or_rescue(model, path)
        page = model.report().save(_page_of(saved)) if report else None
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
        raise typer.Exit(_DATA)


def _page_of(model: Path) -> Path:
    """The report beside a model."""
    if model.suffix == ".html":
        raise ValueError(
            coded(f"{model} is the name of a page: give the model another one, as {model.stem}.mercer.", "M501")
        )
    return model.with_suffix(".html")


def _pairs(given: list[str]) -> dict[str, str]:
    """COLUMN=KIND, the last = between them."""
    out = {}
    for text in given:
        column, equals, kind = text.rpartition("=")
        if not equals or not column:
            raise ValueError(coded(f"--kind {text!r}: write COLUMN=KIND, as zip=nominal.", "M205"))
        out[column] = kind
    return out


@app.command()
def predict(
    model: Annotated[Path, typer.Argument(help="A model saved by mercer fit, or a model file of libsvm.")],
    data: Annotated[
        Path,
        typer.Argument(
            help=(
                "A table with the columns the model was trained on. Where that is one column, a text file of its values"
                " will do. For a model of libsvm a svmlight file."
            )
        ),
    ],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="A CSV or Parquet file; printed as CSV if not given.")
    ] = None,
    probabilities: Annotated[
        bool, typer.Option("--probabilities", "-p", help="A column with the probability of each class.")
    ] = False,
    libsvm_b: Annotated[
        int, typer.Option("-b", min=0, max=1, help="As svm-predict has it: 1 for --probabilities.")
    ] = 0,
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
    from mercer.files.libsvm import looks_like_libsvm
    from mercer.files.places import TABLES, check_place
    from mercer.files.readers import write_table

    with _said_plainly():
        from mercer.app.answers import answers, judged
        from mercer.tabular.reading import load_table_model, read_for

        if out is not None:
            check_place(out, TABLES)
        if looks_like_libsvm(model):
            _predict_by_libsvm(model, data, out, probabilities or libsvm_b == 1, interval, novelty, max_bytes)
            return
        trained = load_table_model(model)
        frame, note = read_for(trained, data, max_bytes)
        if note:
            typer.echo(f"mercer: {note}", err=True)
        _, extra = trained.prepared(frame)
        if extra:
            shown = ", ".join(extra[:8]) + (", …" if len(extra) > 8 else "")
            typer.echo(f"mercer: {len(extra)} columns that the model does not know were ignored: {shown}", err=True)
        text = write_table(answers(trained, frame, probabilities or libsvm_b == 1, interval, novelty), out)
        said = judged(trained, frame)
    if text is not None:
        typer.echo(text, nl=False)
    if said:
        typer.echo(said, err=True)


def _predict_by_libsvm(
    model: Path,
    data: Path,
    out: Path | None,
    probabilities: bool,
    interval: float | None,
    novelty: bool,
    max_bytes: str | None,
) -> None:
    from mercer.app.libsvm_answers import libsvm_answers
    from mercer.files.readers import write_table

    with _used_rightly():
        if interval is not None or novelty:
            raise ValueError(
                coded("--interval and --novelty are for models of mercer fit; a model of libsvm has neither.", "M311")
            )
    table, said = libsvm_answers(model, data, probabilities, max_bytes)
    text = write_table(table, out)
    if text is not None:
        typer.echo(text, nl=False)
    typer.echo(said, err=True)


@app.command(
    # -h is libsvm's shrinking, and -w1, -w-1, … are no flags that could be listed
    context_settings={"ignore_unknown_options": True, "help_option_names": ["--help"]}
)
def train(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="[-wi WEIGHT]... DATA [MODEL]",
            help=(
                "A svmlight file, and where to write the model: DATA.model in this folder if not given. -w1 2.5 is the"
                " weight of class 1 in -s 0."
            ),
        ),
    ],
    svm_type: Annotated[
        int, typer.Option("-s", min=0, max=4, help="0 C-SVC, 1 nu-SVC, 2 one-class, 3 epsilon-SVR, 4 nu-SVR.")
    ] = 0,
    kernel_type: Annotated[
        int, typer.Option("-t", min=0, max=4, help="0 linear, 1 polynomial, 2 Gaussian (rbf), 3 sigmoid, 4 a matrix.")
    ] = 2,
    degree: Annotated[int, typer.Option("-d", min=1, help="Of the polynomial.")] = 3,
    gamma: Annotated[float | None, typer.Option("-g", help="gamma; 1/(the largest index) if not given.")] = None,
    coef0: Annotated[float, typer.Option("-r", help="What is added in polynomial and sigmoid.")] = 0.0,
    cost: Annotated[float, typer.Option("-c", help="C of -s 0, 3 and 4.")] = 1.0,
    nu: Annotated[float, typer.Option("-n", help="nu of -s 1, 2 and 4.")] = 0.5,
    epsilon: Annotated[float, typer.Option("-p", help="Half the width of the tube of -s 3.")] = 0.1,
    cache: Annotated[float, typer.Option("-m", help="libsvm's cache in MB; taken, and decided by itself.")] = 100.0,
    tol: Annotated[float, typer.Option("-e", help="The gap at which the solver ends.")] = 0.001,
    shrinking: Annotated[int, typer.Option("-h", min=0, max=1, help="libsvm's shrinking; taken, and not needed.")] = 1,
    probability: Annotated[int, typer.Option("-b", min=0, max=1, help="1: probabilities, of -s 0 and 1.")] = 0,
    folds: Annotated[
        int | None, typer.Option("-v", min=2, help="Cross-validate with so many folds; no model is written.")
    ] = None,
    quiet: Annotated[bool, typer.Option("-q", help="Say nothing where all is well.")] = False,
    max_bytes: Annotated[str | None, _MAX_BYTES] = None,
) -> None:
    """Train a support vector machine as svm-train does: its flags, its data, its model file."""
    with _said_plainly():
        from mercer.app.train import Flags, cross_validated, data_of, separated
        from mercer.app.train import train as trained
        from mercer.files.libsvm import written
        from mercer.files.persistence import write_whole
        from mercer.files.places import check_place
        from mercer.files.readers import read_pairs

        with _used_rightly():
            names, weights = separated(files)
            if not 1 <= len(names) <= 2:
                raise ValueError(
                    coded(f"Give DATA and, if wanted, MODEL: there are {len(names)} names of files.", "M205")
                )
            if weights and svm_type != 0:
                raise ValueError(coded("-wi, the weight of a class, is for -s 0.", "M217"))
            if probability and svm_type > 1:
                raise ValueError(coded("-b 1, probabilities of classes, is for -s 0 and 1.", "M217"))
            flags = Flags(
                svm_type, kernel_type, degree, gamma, coef0, cost, nu, epsilon, tol, bool(probability), weights
            )
        data = Path(names[0])
        path = Path(names[1]) if len(names) == 2 else Path(f"{data.name}.model")
        if folds is None:
            check_place(path)
        samples = data_of(read_pairs(data, max_bytes), flags, str(data))
        for label in weights.keys() - set(samples.y.tolist()):
            typer.echo(f"mercer: -w{label}: {data} has no class {label}.", err=True)
        if folds is not None:
            lines, said = cross_validated(samples, flags, folds)
            typer.echo("\n".join(lines))
            typer.echo("No model is written: -v estimates how good one would be.", err=True)
        else:
            found = trained(samples, flags)
            write_whole(path, written(found.model).encode("ascii"))
            said = found.warnings
            if not quiet:
                typer.echo("\n".join(found.lines))
    _end_unless_converged(said)


_KERNEL = typer.Option("--kernel", "-k", help="An expression, as 'Gaussian(0.5) + Linear()'; mercer kernels lists all.")
_TARGET = typer.Option("--target", "-t", help="The column of targets; of a svmlight file the labels, if not given.")
_DROP = typer.Option("--drop", help="A column not to look at; may be repeated.")


@app.command()
def cv(
    data: Annotated[
        Path, typer.Argument(help="A table: CSV, TSV, Parquet, svmlight, NPZ, FASTA, FASTQ, SMILES or SDF.")
    ],
    target: Annotated[str | None, _TARGET] = None,
    kernel: Annotated[str, _KERNEL] = "Gaussian()",
    machine: Annotated[
        str | None,
        typer.Option(help="svc, nusvc, logistic; svr, nusvr, ridge, huber, poisson. As the target looks if not given."),
    ] = None,
    C: Annotated[float | None, typer.Option("--C", help="Of svc, svr and nusvr.")] = None,
    alpha: Annotated[float | None, typer.Option("--alpha", help="Of ridge, logistic, huber and poisson.")] = None,
    nu: Annotated[float | None, typer.Option("--nu", help="Of nusvc and nusvr.")] = None,
    epsilon: Annotated[float | None, typer.Option("--epsilon", help="Of svr.")] = None,
    folds: Annotated[int, typer.Option("--folds", min=2, help="How many parts are left out in turn.")] = 5,
    drop: Annotated[list[str] | None, _DROP] = None,
    max_bytes: Annotated[str | None, _MAX_BYTES] = None,
    seed: Annotated[int, typer.Option(help="Of the folds.")] = 0,
    json: Annotated[bool, typer.Option("--json", help="Print the result for machines.")] = False,
) -> None:
    """Cross-validate a kernel and a machine on a table; writes no model."""
    with _said_plainly():
        from mercer.app.cross import cross_validate, in_words, machine_of, suited
        from mercer.app.samples import read_rows
        from mercer.data import DataError
        from mercer.kernels.notation import parse

        k = parse(kernel)
        parameters = {"C": C, "alpha": alpha, "nu": nu, "epsilon": epsilon}
        if machine is not None:
            with _used_rightly():
                machine_of(machine, k, parameters)
        rows = read_rows(data, target, drop or (), max_bytes, k)
        if rows.y is None:
            raise DataError(f"{data} has columns: say which is to be predicted, --target COLUMN.", "M601")
        name = machine or suited(rows.y)
        with _used_rightly():
            chosen = machine_of(name, k, parameters)
        result = cross_validate(rows, name, chosen, folds, seed)
    if json:
        from json import dumps

        typer.echo(dumps(result))
    else:
        typer.echo(in_words(result))
    _end_unless_converged(result["warnings"])


@app.command()
def check(
    data: Annotated[
        Path, typer.Argument(help="A table: CSV, TSV, Parquet, svmlight, NPZ, FASTA, FASTQ, SMILES or SDF.")
    ],
    kernel: Annotated[str, _KERNEL],
    target: Annotated[str | None, _TARGET] = None,
    drop: Annotated[list[str] | None, _DROP] = None,
    rows: Annotated[int, typer.Option("--rows", min=2, help="The most samples to look at: n³ steps.")] = 500,
    max_bytes: Annotated[str | None, _MAX_BYTES] = None,
    seed: Annotated[int, typer.Option(help="Of the samples that are looked at.")] = 0,
    json: Annotated[bool, typer.Option("--json", help="Print the result for machines.")] = False,
) -> None:
    """Say whether a kernel is valid on some data (ends with 3 where it is not), and whether its matrix is of use."""
    with _said_plainly():
        from mercer.app.samples import read_rows
        from mercer.app.validity import examined, in_words, plain
        from mercer.kernels.notation import parse

        k = parse(kernel)
        found = examined(k, read_rows(data, target, drop or (), max_bytes, k), rows, seed)
    if json:
        from json import dumps

        typer.echo(dumps(plain(found)))
    else:
        typer.echo(in_words(found))
    if not found["valid"]:
        raise typer.Exit(_DATA)


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

        with _used_rightly():
            path = out or _page_of(model)
            if path.resolve() == model.resolve():
                raise ValueError(
                    coded(f"{path} is the model itself: give the page another name, --out PAGE.html.", "M501")
                )
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


@app.command()
def play(
    data: Annotated[
        Path | None, typer.Argument(help="A table to look at, CSV, Parquet, …: two of its columns, or two components.")
    ] = None,
    columns: Annotated[
        str | None, typer.Option("--columns", help="Two columns of numbers, as A,B; all, brought to two, if not given.")
    ] = None,
    target: Annotated[
        str | None, typer.Option("--target", "-t", help="A column of at most four values: labels.")
    ] = None,
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="0: any that is free.")] = 0,
    host: Annotated[
        str, typer.Option("--host", help="Where to listen; other than this machine, others can compute here.")
    ] = "127.0.0.1",
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open the page in the browser.")] = True,
) -> None:
    """Open a page on this machine where kernels can be touched: points, sliders, and pictures computed meanwhile."""
    with _said_plainly():
        from mercer.play.program import check_installed, run

        try:
            check_installed()
            run(data, tuple((columns or "").split(",") if columns else ()), target, port, host, browser, typer.echo)
        except ImportError as error:
            _refuse(error)
            raise typer.Exit(_USAGE) from None
        except KeyboardInterrupt:
            raise typer.Exit(130) from None


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


@app.command("help")
def help_(
    code: Annotated[
        str | None, typer.Argument(help="The code that ends a message, as M101; all codes are listed if none is given.")
    ] = None,
) -> None:
    """Say what the code at the end of a message means, why it happens, and the cure."""
    from shutil import get_terminal_size

    from mercer.app.troubleshooting import entry_of, in_words, listed

    with _used_rightly():
        typer.echo(listed() if code is None else in_words(entry_of(code), min(get_terminal_size().columns, 100)))


@app.command()
def versions() -> None:
    """Print versions of Mercer, its dependencies and the machine, for a bug report."""
    from mercer.app.versions import show_versions

    show_versions()


def main() -> None:
    app()


if __name__ == "__main__":
    main()
