"""The report of a fitted machine over any kernel and any data."""

from __future__ import annotations

import platform
import time
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.model_selection import KFold, StratifiedKFold

from mercer import __version__
from mercer.annotations import Estimator, Samples, Targets
from mercer.arrays import Array
from mercer.data import Graphs, as_frame, listed, size, take
from mercer.data.molecules import Molecules
from mercer.data.notices import quietly
from mercer.estimators.scikit_checks import check_is_fitted
from mercer.explanations.explain import explain
from mercer.explanations.influence import influence
from mercer.plots.convergence import ConvergenceDisplay
from mercer.plots.drawing import BLUE, canvas, framed
from mercer.reports import examples, quality, similarity
from mercer.reports.blocks import Block, Cell, Fact, Facts, Page, Section, Table, Words
from mercer.reports.figures import MISSING, can_draw, picture, side_by_side
from mercer.reports.items import drawn_molecule, shown, written
from mercer.reports.page import Report
from mercer.troubles import coded

_FOLDS = 5
_REFITTED = 5000  # samples at most, of the folds
_EXAMPLES = 5  # samples of each kind
_INFLUENCE = 3000  # samples, up to which a matrix is factored for it


def report(
    model: Estimator, X: Samples = None, y: Targets = None, *, held_out: bool = False, names: list[str] | None = None
) -> Report:
    """What a fitted model says of itself and of data, as one HTML page.

    What the data is, the kernel as mathematics and in words, how good the answers are on rows that were not trained on,
    the matrix and its spectrum, samples that are typical, doubtful or influential, and how the fit went. Each number
    has a line that says what it means.

    Parameters
    ----------
    model : fitted estimator
        A kernel machine with labels or numbers as targets, or a ``TableModel``.
    X : collection of samples, or data frame
        What it was trained on, or other samples (``held_out=True``). A ``TableModel`` remembers what it needs: for it X
        is optional, and always other rows.
    y : array-like of shape (n,)
        Their targets.
    held_out : bool, default=False
        Whether the model has not been trained on X: then it is asked itself. Otherwise five copies of it are trained,
        each without a fifth of the samples, 5000 of them at most.
    names : list of str, optional
        Of the columns, where X is an array.

    Returns
    -------
    Report
        ``report.save("model.html")`` writes it; a notebook shows it.

    See Also
    --------
    explain : Why a model answers as it does.
    TableModel.report : The report of a model of a table.

    Examples
    --------
    >>> import mercer as mc
    >>> genes = ["ATTGCCATTG", "ATGGCCATGG", "CCTTAGGCCT", "CGTTAGGCGT"] * 5
    >>> machine = mc.SVC(kernel=mc.Spectrum(3).normalized()).fit(genes, ["a", "a", "b", "b"] * 5)
    >>> page = mc.report(machine, genes, ["a", "a", "b", "b"] * 5)
    >>> print(page)
    SVC on 20 samples: 100.0 % right, held out
    """
    if hasattr(model, "_reported"):
        return model._reported(X, y)
    check_is_fitted(model)
    if X is None or y is None:
        raise ValueError(
            coded(f"The report of a {type(model).__name__} is made from data: report(model, X, y).", "M112")
        )
    if not (is_classifier(model) or is_regressor(model)):
        raise TypeError(
            coded(
                f"A {type(model).__name__} has neither classes nor numbers to"
                " be judged by; report takes machines that have.",
                "M311",
            )
        )
    if getattr(model, "kernel_", None) is None:
        raise TypeError(
            coded(f"A {type(model).__name__} without a kernel of its own (a precomputed matrix) has no report.", "M213")
        )
    X, targets = listed(X), np.asarray(y)
    if size(X) != len(targets):
        raise ValueError(coded(f"X has {size(X)} samples and y has {len(targets)}.", "M111"))
    if targets.ndim != 1:
        raise ValueError(coded(f"y is of shape {targets.shape}: the report is of one target.", "M112"))
    began = time.perf_counter()
    with quietly():
        return _Subject(model, X, targets, held_out, names).report(began)


class _Subject:
    """A machine, its samples, and its answers for samples that it, or a copy of it, was not trained on."""

    def __init__(self, model: Estimator, X: Samples, y: Array, held_out: bool, names: list[str] | None) -> None:
        self.model, self.X, self.y, self.held = model, X, y, held_out
        known = getattr(model, "feature_names_in_", None)
        self.names = names if names is not None else None if known is None else [str(name) for name in known]
        self.classes = is_classifier(model)
        self.labels = np.unique(y) if not held_out or not self.classes else np.asarray(model.classes_)
        self._check_classes()
        self.rows, self.how = self._rows()
        self.truth = y[self.rows]
        self.codes = np.searchsorted(self.labels, self.truth) if self.classes else None
        self.predicted, self.P, self.scores = self._answers()

    def _check_classes(self) -> None:
        if not self.classes:
            return
        unknown = [str(label) for label in np.unique(self.y) if label not in self.labels]
        if unknown:
            raise ValueError(
                coded(f"y has labels that the machine does not know: {', '.join(unknown[:5])}. Leave them out.", "M314")
            )
        labels, counts = np.unique(self.y, return_counts=True)
        if not self.held and counts.min() < 2:
            raise ValueError(
                coded(
                    f"The class {labels[counts.argmin()]} has one sample, which cannot be both trained on and judged"
                    " by: leave it out, or give other samples with held_out=True.",
                    "M310",
                )
            )

    def _rows(self) -> tuple[Array, str]:
        n = len(self.y)
        if self.held:
            return np.arange(n), f"{n} samples that the machine has not seen"
        few = np.sort(np.random.default_rng(0).permutation(n)[:_REFITTED])
        part = f"{len(few)} of {n} samples" if len(few) < n else f"all {n} samples"
        return few, f"{part}, each answered by a copy of the machine that was trained without its fifth"

    def _answers(self) -> tuple[Array, Array | None, Array | None]:
        """Predictions, probabilities, and how sure each is: the decision function, or 0 where there is none."""
        some, n = take(self.X, self.rows), len(self.rows)
        parts = [(None, np.arange(n))] if self.held else self._folds()
        predicted = np.empty(n, dtype=self.labels.dtype if self.classes else np.float64)
        P = np.zeros((n, len(self.labels))) if self.classes and hasattr(self.model, "predict_proba") else None
        scores = np.zeros(n) if self.classes else None
        for train, test in parts:
            machine = self.model if train is None else clone(self.model).fit(take(some, train), self.truth[train])
            rows = take(some, test)
            predicted[test] = machine.predict(rows)
            if P is not None:
                P[np.ix_(test, np.searchsorted(self.labels, machine.classes_))] = machine.predict_proba(rows)
            if scores is not None and hasattr(machine, "decision_function"):
                scores[test] = _margin(np.asarray(machine.decision_function(rows)))
        return predicted, P, scores

    def _folds(self) -> list[tuple[Any, Array]]:
        folds: StratifiedKFold | KFold
        if self.classes:
            several = max(2, min(_FOLDS, int(np.unique(self.truth, return_counts=True)[1].min())))
            folds = StratifiedKFold(several, shuffle=True, random_state=0)
        else:
            folds = KFold(min(_FOLDS, len(self.rows)), shuffle=True, random_state=0)
        return list(folds.split(np.zeros(len(self.rows)), self.truth))

    def report(self, began: float) -> Report:
        name = type(self.model).__name__
        good = self._quality()
        head = good.blocks[0]
        assert isinstance(head, Facts)
        sections = [self._data(), good, self._kernel(), self._samples(), self._fit()]
        first = (
            f"Look first at “{good.title}”: {head.facts[0].name.lower()}"
            f" {head.facts[0].value}; then at the samples that it is least"
            " sure of."
        )
        page = Page(
            f"{name} on {len(self.y)} samples",
            first,
            head.facts[:3],
            sections,
            f"Made by Mercer {__version__} in {time.perf_counter() - began:.1f} s.",
            () if can_draw() else (MISSING,),
        )
        value = head.facts[0].value.split(" ±")[0]
        said = f"{value} right" if self.classes else f"RMSE {value}"
        return Report(page, f"{name} on {len(self.y)} samples: {said}, held out")

    def _data(self) -> Section:
        first = next(iter(take(self.X, slice(0, 1))), None) if not hasattr(self.X, "shape") else None
        kind = type(self.model.kernel_.domain).__name__.lower()
        facts = [Fact("Samples", str(len(self.y)), f"Of the kind that the kernel compares: {kind}.")]
        if hasattr(self.X, "shape") and len(self.X.shape) == 2:
            facts.append(Fact("Columns", str(self.X.shape[1]), "Numbers that describe each sample."))
        elif isinstance(first, str):
            lengths = [len(item) for item in listed(self.X)]
            facts.append(
                Fact(
                    "Letters",
                    f"{min(lengths)} to {max(lengths)}",
                    f"The lengths of the strings; {np.median(lengths):.0f} in the middle.",
                )
            )
        blocks: list[Block] = []
        if self.classes:
            counts = np.bincount(np.searchsorted(self.labels, self.y), minlength=len(self.labels))
            facts.append(
                Fact(
                    "Classes",
                    str(len(self.labels)),
                    f"The smallest has {counts.min()} samples, the largest {counts.max()}.",
                )
            )
        else:
            low, high = float(self.y.min()), float(self.y.max())
            facts.append(
                Fact(
                    "Target",
                    f"{low:.4g} to {high:.4g}",
                    f"Its mean is {self.y.mean():.4g}, its standard deviation {self.y.std():.4g}.",
                )
            )
            blocks += side_by_side(picture(lambda: Histogram(self.y), "How the target is distributed."))
        return Section("What the data is", "What the machine was given.", [Facts(facts), *blocks])

    def _quality(self) -> Section:
        if self.codes is None:
            return quality.of_numbers(self.truth.astype(np.float64), self.predicted, self.how)
        predicted = np.searchsorted(self.labels, self.predicted)
        return quality.of_classes(self.codes, self.P, predicted, list(self.labels), self.how)

    def _kernel(self) -> Section:
        names = np.array([str(label) for label in self.labels], dtype=object) if self.classes else None
        y = self.codes if self.classes else self.truth.astype(np.float64) - float(np.mean(self.truth))
        alpha = getattr(self.model, "alpha_", getattr(self.model, "alpha", None))
        alpha = float(alpha) if isinstance(alpha, int | float | np.floating) else None
        kernel = self.model.kernel_
        found = similarity.section(kernel, take(self.X, self.rows), y, names, alpha)
        words = [Words(said) for said in similarity.formulas(kernel)]
        return replace(found, blocks=[found.blocks[0], *words, *found.blocks[1:]])

    def _samples(self) -> Section:
        if self.codes is not None:
            assert self.scores is not None
            right = self.predicted == self.truth
            sure = self.scores if self.P is None else np.sort(self.P, axis=1)[:, -1]
            groups = examples.of_classes(right, sure)
        else:
            groups = examples.of_numbers(self.truth, self.predicted)
        blocks: list[Block] = []
        head = ["sample", "what it is", "is", "taken for", *(["probability"] if self.P is not None else [])]
        speaks = "what speaks for the answer and against it" if self.classes else "what raises the number and lowers it"
        colours = "" if hasattr(self.X, "shape") else f" Orange and blue, where the kernel tells: {speaks}."
        for title, rows in groups.items():
            if len(rows):
                caption = f"The {title}: answers of machines that had not seen them.{colours}"
                blocks.append(Table(caption, head, [self._example(int(r)) for r in rows], (0,)))
        blocks += self._influential()
        return Section(
            "Samples to look at",
            "Those that are most typical, those that it doubts or mistakes, and those that change the machine most.",
            blocks,
        )

    def _example(self, row: int) -> list[Cell]:
        number = int(self.rows[row])
        out: list[Cell] = [str(number), self._cell(number), _said(self.truth[row]), _said(self.predicted[row])]
        if self.P is not None:
            out.append(f"{self.P[row].max():.3f}")
        return out

    def _cell(self, number: int) -> Cell:
        item = take(self.X, slice(number, number + 1))
        values = self._contributions(item)
        if as_frame(item) is not None:
            columns = [str(name) for name in item.columns]
            row = item.to_numpy()[0]
            if row.dtype == object:
                return ", ".join(f"{name} = {written(value)}" for name, value in zip(columns, row, strict=True))
            return shown(row, values, columns)
        one = item[0] if not hasattr(item, "toarray") else item.toarray()[0]
        if isinstance(one, str) and isinstance(self.model.kernel_.domain, Graphs | Molecules):
            return drawn_molecule(one, values)
        return shown(one, values, self.names)

    def _contributions(self, item: Samples) -> Array | None:
        """Of each place or column, where the kernel tells: to the number, or for the class that is predicted."""
        try:
            found = explain(self.model, item, random_state=0, n_permutations=4)[0]
        except (TypeError, ValueError, MemoryError):
            return None
        if found.by not in ("place", "column"):
            return None
        values = np.asarray(found.values, np.float64)
        if self.classes:
            place = int(np.flatnonzero(np.asarray(self.model.classes_) == self.model.predict(item)[0])[0])
            if values.ndim == 2 and values.shape[1] != len(self.model.classes_):
                return None  # functions of pairs of classes
            values = values[:, place] if values.ndim == 2 else values if place else -values
        elif values.ndim == 2:
            values = values[:, 0]
        return values[[i for i, name in enumerate(found.names) if name != "constant"]]

    def _influential(self) -> list[Block]:
        if self.held or len(self.y) > _INFLUENCE:
            return []
        try:
            found = influence(self.model, self.X, self.y)
        except (TypeError, ValueError, ArithmeticError):
            return []
        rows = [
            [str(i), self._cell(i), _said(self.y[i]), f"{norm:.3g}"] for i, norm in found.top(_EXAMPLES) if norm > 0
        ]
        how = "in closed form" if found.exact else "an estimate"
        caption = (
            "The most influential: by how much the function of the"
            f" machine would change without the sample, ‖f − f₋ᵢ‖ ({how})."
        )
        return [Table(caption, ["sample", "what it is", "is", "change"], rows, (0, 3))] if rows else []

    def _fit(self) -> Section:
        model, facts = self.model, []
        reason = getattr(model, "stop_reason_", None)
        if reason is not None:
            good = (
                "It has converged."
                if getattr(model, "converged_", True)
                else "It has not converged: give it more time, or scale the data."
            )
            facts.append(Fact("Ended by", str(reason), good))
        for name, title, meaning in (
            ("n_iter_", "Steps", "Of the solver."),
            (
                "gap_",
                "Gap",
                "How far the objective can be from its best value, relative to it; below the tolerance it is solved.",
            ),
            ("n_support_", "Samples that count", "The answer is a sum over these alone (of each class)."),
        ):
            value = getattr(model, name, None)
            if value is not None:
                facts.append(Fact(title, _said(value), meaning))
        parameters = ", ".join(
            f"{k}={v!r}"
            for k, v in model.get_params(deep=False).items()
            if k in ("C", "alpha", "nu", "epsilon", "class_weight", "centers") and v is not None
        )
        blocks: list[Block] = [Facts(facts)] if facts else []
        blocks.append(
            Words(
                f"Parameters: {parameters or 'as they come'}. Machine:"
                f" {platform.machine()}, Python {platform.python_version()}."
            )
        )
        blocks += side_by_side(picture(lambda: ConvergenceDisplay.from_estimator(model), "The course of the solver."))
        return Section("How the fit went", "Whether the solver ended where it should, and what it found.", blocks)


class Histogram:
    """The picture of how numbers are distributed."""

    def __init__(self, y: Array) -> None:
        ax, self.figure_ = canvas(None)
        ax.hist(y, bins="auto" if len(y) < 5000 else 60, color=BLUE)
        framed(ax, ("target", "samples"), "")


def _margin(scores: Array) -> Array:
    """How far the first class is before the second."""
    if scores.ndim == 1:
        return np.abs(scores)
    ordered = np.sort(scores, axis=1)
    return ordered[:, -1] - ordered[:, -2]


def _said(value: object) -> str:
    if isinstance(value, float | np.floating):
        return f"{value:.4g}"
    if isinstance(value, np.ndarray):
        return ", ".join(_said(v) for v in value.ravel()[:8]) + (", …" if value.size > 8 else "")
    return str(value)
