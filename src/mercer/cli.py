"""The command line: ``mercer demo``, ``mercer kernels``. Heavy modules are imported by the command that needs them."""

from __future__ import annotations

import typer

app = typer.Typer(help="Kernel methods from the command line.", no_args_is_help=True, add_completion=False, rich_markup_mode=None)


@app.callback()
def _root() -> None:
    """Kernel methods from the command line."""


@app.command()
def demo(
    rows: int = typer.Option(569, min=50, help="How many rows of the data to use."),
    kernel: str = typer.Option("2·Gaussian(γ='median') + Linear().normalized()", help="A kernel expression."),
) -> None:
    """Build a kernel on real data, check it, and look at what it sees."""
    from mercer.demo import run

    try:
        run(rows, kernel)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None


@app.command()
def kernels() -> None:
    """List every kernel: its parameters, whether it is positive semi-definite, whether it has features, and its formula."""
    from mercer.inventory import show

    show()


@app.command()
def versions() -> None:
    """Print versions of Mercer, its dependencies and the machine, for a bug report."""
    from mercer.versions import show_versions

    show_versions()


def main() -> None:
    app()


if __name__ == "__main__":
    main()
