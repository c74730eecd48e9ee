"""Reports of machines over any data."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold, cross_val_predict

import mercer as mc
from mercer.reports.blocks import Facts

GENES = ["ATTGCCATTG", "ATGGCCATGG", "CCTTAGGCCT", "CGTTAGGCGT", "ATTGCCATGG"] * 5


def value(report: mc.Report, title: str, name: str) -> str:
    section = next(s for s in report.page.sections if s.title == title)
    return next(f.value for b in section.blocks if isinstance(b, Facts) for f in b.facts if f.name == name)


def rings(n: int = 120) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 3))
    return X, np.where(X[:, 0] ** 2 + X[:, 1] ** 2 + 0.3 * rng.standard_normal(n) > 1.5, "far", "near")


@pytest.mark.thorough
def test_quality_is_that_of_machines_that_had_not_seen_the_sample() -> None:
    X, y = rings()
    machine = mc.SVC(C=100.0, kernel=mc.Gaussian(3.0)).fit(X, y)
    report = mc.report(machine, X, y)
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    expected = np.mean(cross_val_predict(clone(machine), X, y, cv=folds) == y)
    assert expected < machine.score(X, y) - 0.05
    assert value(report, "How good it is", "Right").startswith(f"{100 * expected:.1f} %")
    held = mc.report(machine, X, y, held_out=True)
    assert value(held, "How good it is", "Right").startswith(f"{100 * machine.score(X, y):.1f} %")


@pytest.mark.thorough
def test_kinds_of_data() -> None:
    X, y = rings(60)
    graphs = [mc.Graph([(0, 1), (1, 2), (0, 2)], ["C", "C", "O"]), mc.Graph([(0, 1), (1, 2)], ["C", "O", "C"])] * 10
    cases: list[tuple[Any, Any, Any, str]] = [
        (mc.SVC(kernel=mc.Gaussian("median")), X, y, "x0 ="),
        (mc.KernelRidge(0.1, mc.Gaussian("median")), X, X[:, 0], "influential"),
        (mc.KernelLogistic(kernel=mc.Gaussian("median")), X, y, "Brier"),
        (mc.SVC(kernel=mc.Spectrum(2).normalized()), GENES, list("aabba") * 5, 'class="up'),
        (mc.SVC(kernel=mc.WeisfeilerLehman(1).normalized()), graphs, [0, 1] * 10, "<circle"),
    ]
    for machine, items, targets, sign in cases:
        found = mc.report(machine.fit(items, targets), items, targets)
        assert sign in found.html, machine
        assert len(found.html) < 2e6
        assert len(found.page.sections) == 5


def test_what_has_no_report() -> None:
    X, y = rings(40)
    with pytest.raises(ValueError, match=r"report\(model, X, y\)"):
        mc.report(mc.SVC().fit(X, y))
    with pytest.raises(ValueError, match="40 samples and y has 39"):
        mc.report(mc.SVC().fit(X, y), X, y[:39])
    with pytest.raises(TypeError, match="neither classes nor numbers"):
        mc.report(mc.KernelKMeans(2).fit(X), X, y)
    with pytest.raises(TypeError, match="precomputed"):
        mc.report(mc.SVC(kernel="precomputed").fit(mc.Linear()(X), y), mc.Linear()(X), y)


@pytest.mark.thorough
def test_data_frames_and_colours_of_the_answer() -> None:
    import pandas as pd

    X, y = rings(60)
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    assert "a = " in mc.report(mc.SVC(kernel=mc.Gaussian("median")).fit(frame, y), frame, y).html
    machine = mc.SVC(kernel=mc.Spectrum(2).normalized()).fit(["AAAA", "TTTT"] * 6, ["a", "t"] * 6)
    for word in ("AAAA", "TTTT"):  # of either class, its own letters speak for it
        found = mc.report(machine, [word] * 4, [machine.predict([word])[0]] * 4, held_out=True).html
        assert 'class="up' in found
        assert 'class="down' not in found


def test_classes_that_cannot_be_judged() -> None:
    X, y = rings(40)
    machine = mc.SVC().fit(X, y)
    with pytest.raises(ValueError, match="does not know: apart"):
        mc.report(machine, X, np.where(np.arange(40) < 3, "apart", y), held_out=True)
    single = np.where(np.arange(40) == 0, "apart", y)
    with pytest.raises(ValueError, match="class apart has one sample"):
        mc.report(mc.SVC().fit(X, single), X, single)
