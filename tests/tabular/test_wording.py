"""What machines compare rows by, in words."""

from __future__ import annotations

import datetime as dt
from typing import Any

import numpy as np
import polars as pl

import mercer as mc
from mercer.tabular.encoding import Encoding, View
from mercer.tabular.families import Cells, Coded, OfCells
from mercer.tabular.kinds import clean, infer_kinds
from mercer.tabular.partitions import Partitions
from mercer.tabular.wording import kernel_in_words

rng = np.random.default_rng(0)
FRAME = pl.DataFrame({"a": rng.random(40), "b": [None, None, *rng.random(38)], "town": ["Ulm", "Bonn"] * 20})


def encoding_of(frame: pl.DataFrame) -> tuple[Encoding, Any]:
    kinds = infer_kinds(frame)
    X = clean(frame, kinds)
    encoding = Encoding.of(X, kinds, View())
    return encoding, encoding(X)


def test_numbers_and_categories() -> None:
    encoding, rows = encoding_of(FRAME)
    machine = mc.KernelRidge(kernel=mc.Laplacian(0.123456)).fit(rows, rng.random(40))
    assert kernel_in_words(machine, encoding) == (
        "Laplacian(γ=0.1235) on 2 numbers, 1 mark of gaps and 1 categorical column"
    )


def test_dates_and_texts_by_kind_and_not_by_name() -> None:
    frame = FRAME.with_columns(
        pl.Series("day", [dt.date(2020, 1, 1) + dt.timedelta(days=30 * k) for k in range(40)]),
        pl.Series("note", [f"the patient number {i} was seen and sent home" for i in range(40)]),
    )
    encoding, rows = encoding_of(frame)
    kernel = mc.BagOfWords().normalized().on("note") + mc.Gaussian(0.5).on(encoding.columns)
    said = kernel_in_words(mc.KernelRidge(kernel=kernel).fit(rows, rng.random(40)), encoding)
    assert said.endswith("on 3 numbers, 1 mark of gaps, 2 cycles of dates, 1 categorical column and 1 text column")
    assert "Gaussian(γ=0.5) of rows" in said
    assert "BagOfWords()" in said
    assert "#" not in said


def test_cells_metrics_and_entries() -> None:
    encoding, rows = encoding_of(FRAME[["a", "town"]])
    y = rng.random(40)
    of = "on 1 number and 1 categorical column"
    for smooth, beside in ((0.0, ""), (0.5, " + Laplacian")):
        machine = OfCells("cells", Partitions.grown, 7, (), 0.2, 0).fit(Cells(0.1, smooth), rows, Coded(y), None)
        assert kernel_in_words(machine, encoding) == f"cells of 7 trees{beside} {of}"
    learnt = mc.FeatureMachineRegressor(random_state=0).fit(rows, y)
    assert "with a learnt metric" in kernel_in_words(learnt, encoding)
    ridge = mc.KernelRidge(kernel=mc.Linear()).fit(rows, y)
    assert kernel_in_words(ridge, None) == "Linear() on the entries of sparse rows"


def test_long_kernels_are_cut() -> None:
    encoding, rows = encoding_of(FRAME[["a", "town"]])
    kernel = sum((mc.Gaussian(0.1 * k) for k in range(2, 40)), mc.Gaussian(0.1))
    said = kernel_in_words(mc.KernelRidge(kernel=kernel).fit(rows, rng.random(40)), encoding)
    assert "… on 1 number" in said
    assert len(said) < 220
