"""Commands, run as a user would."""

from __future__ import annotations

import io
import json
from typing import Any

import polars as pl
from typer.testing import CliRunner

from mercer.app.cli import app

runner = CliRunner()


def run(*arguments: Any, code: int = 0) -> Any:
    """The command, which ends with this status; not with a traceback."""
    result = runner.invoke(app, [str(a) for a in arguments])
    assert result.exit_code == code, f"{result.output}\n{result.exception!r}"
    assert "Traceback" not in result.output
    if code == 3 and result.stderr:
        assert result.stderr.splitlines()[-1].startswith("mercer: ")
    return result


def fitted(*arguments: Any) -> dict[str, Any]:
    """The summary of a fit."""
    return json.loads(run("fit", *arguments, "--time", "1", "--no-report", "--json").stdout)


def table_of(text: str) -> pl.DataFrame:
    return pl.read_csv(io.StringIO(text))
