"""The report of a model of a table: what its summary and the rows held out say, as a page."""

from __future__ import annotations

import time
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from mercer.arrays import Array
from mercer.data import DataError
from mercer.data.notices import quietly
from mercer.files.svmlight import SparseTable
from mercer.plots.effect import EffectDisplay
from mercer.reports import examples, quality, similarity
from mercer.reports.blocks import Block, Cell, Fact, Facts, Formula, Page, Picture, Section, Share, Table, Words
from mercer.reports.figures import MISSING, can_draw, picture, side_by_side
from mercer.reports.items import drawn_molecule, letters, written
from mercer.reports.machines import Histogram
from mercer.reports.page import Report
from mercer.tabular.families import in_silence
from mercer.tabular.held_out import HeldOut
from mercer.tabular.intake import as_targets, filtered, is_present, target_column
from mercer.tabular.kinds import USED
from mercer.tabular.members import Member
from mercer.tabular.metrics import metric_of
from mercer.tabular.problem import decided
from mercer.tabular.summary import told
from mercer.tabular.wording import kernel_in_words

if TYPE_CHECKING:
    from mercer.tabular.model import TableModel

_COLUMNS = 60  # of the table, that are listed
_EFFECTS = 6  # columns whose effect is drawn
_ASKED = 100  # rows that effects are drawn of
_SHOWN = 6  # columns of an example


def reported(model: TableModel, table: pl.DataFrame | SparseTable | None) -> Report:
    """The page of a fitted ``TableModel``, judged by the rows of a table with the target, or by those held out."""
    began = time.perf_counter()
    with quietly():
        if table is None:
            how = "the answers by which it was chosen, from machines that had not seen the row"
            how += "; probabilities are calibrated on the same rows" if model.labels_ else ""
            how += "; all rows count alike here, though the score above is weighted" if model.weight else ""
            if not hasattr(model, "judged_"):
                raise DataError(
                    "The model was saved by an older version, without rows to judge by: give a table.", "M605"
                )
            found = _Findings(model, model.judged_, how, None)
        else:
            found = _of_table(model, table)
        return Report(found.page(began), told(model.summary_))


def _of_table(model: TableModel, table: pl.DataFrame | SparseTable) -> _Findings:
    """Judged by the rows whose target is there, and known."""
    column = target_column(table, model.target)
    truth = as_targets(column, model.task_, model.labels_)[0] if model.labels_ else None
    known = is_present(column).to_numpy() & (True if truth is None else truth >= 0)
    if not known.any():
        raise DataError(f"No row has a {model.target} that the model knows: there is nothing to judge by.", "M605")
    rows = filtered(table, known)
    y = as_targets(target_column(rows, model.target), model.task_, model.labels_)[0]
    if model.labels_:
        answers, ends = model.predict_proba(rows), None
    else:
        answers, ends = model._answers(rows) - model.shift_, None
        with suppress(ValueError):  # of fewer errors than intervals need
            ends = model.predict_interval(rows)
    held = HeldOut.of(y, answers, model.prepared(rows)[0])
    few = np.linspace(0, len(y) - 1, len(held.y)).astype(int)
    left = int((is_present(column).to_numpy() & ~known).sum())
    how = f"{len(y)} rows of another table" + (f"; {left} more are of classes that it does not know" if left else "")
    return _Findings(model, held, how, None if ends is None else ends[few])


class _Findings:
    def __init__(self, model: TableModel, held: HeldOut, how: str, interval: Array | None) -> None:
        self.model, self.held, self.how, self.interval = model, held, how, interval
        self.s: dict[str, Any] = model.summary_
        self.classes = bool(model.labels_)
        self.names = np.array([str(label) for label in model.labels_], dtype=object) if self.classes else None
        self.main: Member = max(model.members_, key=lambda m: m.weight)
        self.matter = [name for name, grown in self.s["importance"].items() if grown > 0]

    def page(self, began: float) -> Page:
        s, show = self.s, metric_of(self.s["task"], self.s["metric"]).shown
        score = f"{show(s['score'])} ± {show(s['standard_error'])}"
        facts = [
            Fact(
                s["metric_in_words"].capitalize(),
                score,
                f"{s['measured'].capitalize()}. Always the same answer: {show(s['baseline'])}.",
            ),
            Fact("Rows", str(s["rows"]), "All of them were trained on in the end."),
            Fact(
                "What matters most",
                ", ".join(self.matter[:2]) or "–",
                "The columns without which the error grows most, on rows that were not trained on.",
            ),
        ]
        worst = "the classes that are found least" if self.classes else "where errors are largest"
        first = f"Look first at the score, {score}, then at {worst}" + (
            f", and whether it makes sense that {self.matter[0]} matters most." if len(self.matter) > 1 else "."
        )
        sections = [
            self._data(),
            self._model(),
            self._choice(),
            self._quality(),
            *self._matrix(),
            *self._columns(),
            *self._rows(),
            self._run(),
            self._next(),
        ]
        made = f"Made by Mercer {s['mercer']} in {time.perf_counter() - began:.1f} s, with nothing from elsewhere."
        return Page(f"{s['target']}: {s['task']}", first, facts, sections, made, () if can_draw() else (MISSING,))

    def _data(self) -> Section:
        s = self.s
        columns = list(s["columns"].items())
        used = sum(kind in USED for _, (kind, _) in columns)
        facts = [
            Fact(
                "Rows",
                str(s["rows"]),
                f"{s['rows_without_target']} more had no {s['target']}, and were left out."
                if s["rows_without_target"]
                else f"Each has a {s['target']}.",
            ),
            Fact(
                "Columns", f"{used} of {len(columns)}", "Those that are looked at; the table says why others are not."
            ),
            Fact("Target", s["task"], s["reason"].capitalize() + "."),
        ]
        rows: list[list[Cell]] = [
            [name, kind if kind in USED else f"{kind}, left out", reason] for name, (kind, reason) in columns[:_COLUMNS]
        ]
        if len(columns) > _COLUMNS:
            rows.append([f"{len(columns) - _COLUMNS} more", "", ""])
        blocks: list[Block] = [
            Facts(facts),
            Table("What each column was taken for, and why.", ["column", "taken as", "because"], rows),
        ]
        if self.classes:
            assert self.names is not None
            counts = np.bincount(self.held.y.astype(int), minlength=len(self.names)) / max(len(self.held.y), 1)
            order = np.argsort(-counts, kind="stable")[:30]
            shares: list[list[Cell]] = [
                [str(self.names[k]), Share(quality.percent(counts[k]), float(counts[k]))] for k in order
            ]
            blocks.append(
                Table(f"The classes of {s['target']} among the rows it is judged by.", ["class", "share"], shares)
            )
        else:
            blocks += side_by_side(picture(partial(Histogram, self.held.y), f"How {s['target']} is distributed."))
        blocks += [Words(note) for note in s["notes"]]
        return Section("What the data is", "How the table was read.", blocks)

    def _model(self) -> Section:
        blocks: list[Block] = []
        for member, said in zip(self.model.members_, self.s["members"], strict=True):
            text = similarity.in_short(member.estimator.kernel_, said["kernel"])
            share = f"{quality.percent(member.weight)} of the answer: " if len(self.model.members_) > 1 else ""
            blocks.append(Formula(f"k(x, z) = {text}", f"{share}{said['machine']}; {said['kernel']}."))
        formulas = dict.fromkeys(
            f for member in self.model.members_ for f in similarity.formulas(member.estimator.kernel_)
        )
        blocks += [Words(f) for f in formulas]
        lead = "A sum over training rows, f(x) = Σ αᵢ k(x, xᵢ) + b: what is like a row gets an answer like its."
        return Section("What the model is", lead, blocks)

    def _choice(self) -> Section:
        s, show = self.s, metric_of(self.s["task"], self.s["metric"]).shown
        values = np.array(list(s["leaders"].values()), np.float64)
        spread = float(np.ptp(values)) or 1.0
        greater = metric_of(s["task"], s["metric"]).greater
        good = (values - values.min()) / spread if greater else (values.max() - values) / spread
        rows: list[list[Cell]] = [
            [name, Share(show(v), 0.1 + 0.9 * float(g))]
            for (name, v), g in zip(s["leaders"].items(), good, strict=True)
        ]
        blocks: list[Block] = [
            Table(
                f"The best setting of each kind of machine, alone, by {s['metric_in_words']}; a longer bar is better.",
                ["candidate", "score held out"],
                rows,
            ),
            Words(
                f"{s['tried']} candidates were tried. {s['ended']} The model"
                " is"
                f" {'an average of ' + str(len(s['members'])) if len(s['members']) > 1 else 'one'}"
                " of them."
            ),
        ]
        return Section("How it was chosen", "Candidates were compared on rows that they were not trained on.", blocks)

    def _quality(self) -> Section:
        y, answers = self.held.y, self.held.answers.astype(np.float64)
        if not self.classes:
            return quality.of_numbers(y, answers + self.model.shift_, self.how, self.interval)
        P = answers / answers.sum(axis=1, keepdims=True)
        predicted = decided(P, self.model.metric_, self.model.priors_)
        return quality.of_classes(y.astype(int), P, predicted, self.model.labels_, self.how)

    def _matrix(self) -> list[Section]:
        if self.held.rows is None:
            return []
        rows = self.held.rows if self.main.encoding is None else self.main.encoding(self.held.rows)
        items = self.main.machine.seen(rows) if hasattr(self.main.machine, "seen") else rows
        y = self.held.y[self.held.shown]
        y = y.astype(int) if self.classes else y - y.mean()
        machine = self.main.estimator
        alpha = getattr(machine, "alpha_", getattr(machine, "alpha", None))
        try:
            words = kernel_in_words(self.main.machine, self.main.encoding)
            return [in_silence(similarity.section, self.main.estimator.kernel_, items, y, self.names, alpha, words)]
        except (ValueError, ArithmeticError, MemoryError):
            return []

    def _columns(self) -> list[Section]:
        if not self.matter:
            return []
        total = sum(self.s["importance"][name] for name in self.matter)
        shares = [self.s["importance"][name] / total for name in self.matter[:30]]
        rows: list[list[Cell]] = [
            [name, Share(quality.percent(x), x / shares[0])] for name, x in zip(self.matter, shares, strict=False)
        ]
        blocks: list[Block] = [
            Table(
                "By how much the loss grows, on rows that were not trained"
                " on, when the values of a column are shuffled; as shares of"
                " the sum.",
                ["column", "share"],
                rows,
            )
        ]
        blocks += side_by_side(*self._effects())
        return [Section("What matters", "Which columns the answers follow, and how.", blocks)]

    def _effects(self) -> list[list[Picture]]:
        """How the answer changes with each of the columns that matter most."""
        rows = self.held.rows
        if rows is None:
            return []
        known = [name for name in self.matter if name in rows.columns]
        drawn = [name for name in known if self.model.kinds_[name].name in ("numeric", "nominal")][:_EFFECTS]
        target, of = None, "the number predicted"
        if self.names is not None:
            place = 1 if len(self.names) == 2 else int(np.bincount(self.held.y.astype(int)).argmax())
            target, of = self.model.classes_[place], f"the probability of {self.names[place]}"
        few = rows[np.linspace(0, rows.height - 1, min(_ASKED, rows.height)).astype(int)]

        def draw(name: str) -> Any:
            return EffectDisplay.from_estimator(self.model, few, name, target=target, resolution=20)

        said = "How {of} changes with {name}: on average, and for single rows."
        return [picture(partial(draw, name), said.format(of=of, name=name)) for name in drawn]

    def _rows(self) -> list[Section]:
        held = self.held
        if held.rows is None:
            return []
        y, answers = held.y[held.shown], held.answers[held.shown].astype(np.float64)
        if self.classes:
            codes, sure = y.astype(int), answers.max(axis=1)
            right = decided(answers, self.model.metric_, self.model.priors_) == codes
            groups = examples.of_classes(right, sure)
        else:
            groups = examples.of_numbers(y, answers + self.model.shift_)
        columns = ([name for name in self.matter if name in held.rows.columns] or list(held.rows.columns))[:_SHOWN]
        head = [*columns, f"{self.s['target']} is", "predicted", *(["probability"] if self.classes else [])]
        blocks: list[Block] = []
        for title, rows in groups.items():
            if len(rows):
                cells = [
                    [*self._cells(held.rows, int(r), columns), self._said(y[r]), *self._answer(answers[r])]
                    for r in rows
                ]
                blocks.append(Table(f"The {title}, by answers of machines that had not seen them.", head, cells))
        if held.heavy is not None and held.heavy_y is not None and held.heavy_norms is not None:
            cells = [
                [*self._cells(held.heavy, i, columns), self._said(held.heavy_y[i]), f"{held.heavy_norms[i]:.3g}"]
                for i in range(len(held.heavy_y))
            ]
            blocks.append(
                Table(
                    "The training rows with the largest coefficients |αᵢ| in the"
                    " sum: those that the others contradict most. Are their"
                    " targets right?",
                    [*columns, f"{self.s['target']} is", "coefficient"],
                    cells,
                )
            )
        return [Section("Rows to look at", "Single rows say what scores do not.", blocks)]

    def _cells(self, frame: pl.DataFrame, row: int, columns: list[str]) -> list[Cell]:
        out: list[Cell] = []
        for name in columns:
            value, kind = frame.get_column(name)[row], self.model.kinds_[name].name
            out.append(
                drawn_molecule(value)
                if kind == "molecule" and value
                else letters(value)
                if kind == "sequence" and value
                else written(value)
            )
        return out

    def _said(self, value: float) -> str:
        return str(self.names[int(value)]) if self.names is not None else f"{value:.5g}"

    def _answer(self, answers: Array) -> list[Cell]:
        if self.names is None:
            return [f"{float(answers) + self.model.shift_:.5g}"]
        k = int(decided(answers[None], self.model.metric_, self.model.priors_)[0])
        return [str(self.names[k]), f"{answers[k]:.3f}"]

    def _run(self) -> Section:
        rows: list[list[Cell]] = []
        for member in self.model.members_:
            machine = member.estimator
            rows.append(
                [
                    member.name,
                    str(getattr(machine, "stop_reason_", "–")),
                    str(getattr(machine, "n_iter_", "–")),
                    written(getattr(machine, "gap_", None)),
                    str(len(machine.support_)) if hasattr(machine, "support_") else "all",
                ]
            )
        head = ["machine", "ended by", "steps", "gap", "rows in the sum"]
        facts = [Fact("Time", f"{self.s['seconds']:.1f} s", self.s["ended"])]
        peak = self.s.get("peak_bytes")
        if peak:
            facts.append(
                Fact("Memory", f"{peak / 1e9:.2f} GB", "The most that the process has held, the table among it.")
            )
        blocks: list[Block] = [
            Facts(facts),
            Table(
                "How each machine of the average was solved; the gap is how"
                " far it can be from the best, relative to it.",
                head,
                rows,
                (2, 3, 4),
            ),
        ]
        return Section("How the fit went", "Whether it ended where it should.", blocks)

    def _next(self) -> Section:
        return Section("What to try next", "From what was measured here.", [Words(self.s["next"].capitalize())])
