"""``mercer fit`` and ``mercer predict`` on bundled data: learn from most rows of a table, predict the rest, and
compare.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import polars as pl
from rich.console import Console
from sklearn.datasets import load_breast_cancer

from mercer.app.console import progress, show_model
from mercer.files.persistence import load, save
from mercer.files.readers import read_table, write_table
from mercer.tabular.job import learn


def bundled() -> pl.DataFrame:
    """Breast cancer Wisconsin (diagnostic): 569 biopsies, ten measurements of cell nuclei and the diagnosis, some
    values missing and a category added, as tables are.
    """
    data = load_breast_cancer()
    frame = pl.DataFrame({name.replace(" ", "_"): data.data[:, j] for j, name in enumerate(data.feature_names[:10])})
    size = pl.Series("size", ["small" if r < 12 else "medium" if r < 16 else "large" for r in data.data[:, 0]])
    holes = pl.Series("texture", [None if i % 17 == 0 else v for i, v in enumerate(data.data[:, 1])])
    diagnosis = pl.Series("diagnosis", [str(data.target_names[t]) for t in data.target])
    return frame.drop("mean_texture").with_columns(holes, size, diagnosis)


def run(seconds: float, console: Console | None = None) -> None:
    """Print the demonstration."""
    console = console or Console()
    frame = bundled().sample(fraction=1.0, shuffle=True, seed=0)
    train, test = frame[:450], frame[450:]
    with tempfile.TemporaryDirectory() as folder:
        table, saved = Path(folder) / "biopsies.csv", Path(folder) / "biopsies.mercer"
        write_table(train, table)
        console.print("[bold]$ mercer fit biopsies.csv --target diagnosis[/bold]")
        with progress(console, seconds) as state:
            model = learn(read_table(table), "diagnosis", seconds=seconds, random_state=0, progress=state)
        show_model(console, model.summary_)
        save(model, saved)
        report = model.report()
        page = report.save(Path(tempfile.gettempdir()) / "biopsies.html")
        console.print("\n[bold]$ mercer predict biopsies.mercer new.csv[/bold]")
        predicted = load(saved).predict(test.drop("diagnosis"))
    right = sum(a == b for a, b in zip(predicted, test.get_column("diagnosis"), strict=True))
    console.print(f"{right} of {len(test)} diagnoses that it had not seen are right ({100 * right / len(test):.1f} %).")
    console.print("\n[bold]$ mercer report biopsies.mercer[/bold]")
    console.print(report.page.first, highlight=False)
    console.print(f"Open it in a browser: {page}", soft_wrap=True, highlight=False)
