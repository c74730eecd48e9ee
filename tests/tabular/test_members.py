"""Averages of members, how wide intervals are, and how near rows are to those of training."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

import mercer as mc
from mercer.tabular.calibration import Calibration
from mercer.tabular.encoding import Encoding, View
from mercer.tabular.kinds import clean, infer_kinds
from mercer.tabular.members import Member, Nearness, Noise, average
from mercer.tabular.targets import Scale


def frame_of(X: Any) -> pl.DataFrame:
    return pl.DataFrame(X, schema=[f"x{j}" for j in range(X.shape[1])])


def encoding_of(frame: pl.DataFrame) -> Encoding:
    kinds = infer_kinds(frame)
    return Encoding.of(clean(frame, kinds), kinds, View())


def simulated(n: int, seed: int) -> tuple[pl.DataFrame, Any, Any]:
    """Rows, errors whose size goes from 0.1 to 2 with the first column, and that size."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (n, 2))
    size = 0.1 + 1.9 * (X[:, 0] + 1) / 2
    return frame_of(X), size * rng.standard_normal(n), size


# -- noise -------------------------------------------------------------------------------------------------------------


@pytest.mark.thorough
@pytest.mark.parametrize("coverage", [0.5, 0.8, 0.95])
def test_intervals_hold_their_share_where_noise_is_small_and_where_it_is_large(coverage: float) -> None:
    train, errors, _ = simulated(800, 0)
    noise = Noise.of(errors, train, encoding_of(train))
    new, later, size = simulated(4000, 1)
    widths = noise.widths(new, coverage)
    inside = np.abs(later) <= widths
    assert inside.mean() == pytest.approx(coverage, abs=0.05)
    for part in (size < 0.6, (size >= 0.6) & (size < 1.4), size >= 1.4):
        assert inside[part].mean() == pytest.approx(coverage, abs=0.1)
    assert np.corrcoef(widths, size)[0, 1] > 0.9


def test_one_width_where_the_columns_do_not_tell() -> None:
    rng = np.random.default_rng(0)
    train = frame_of(rng.standard_normal((400, 2)))
    noise = Noise.of(rng.standard_normal(400), train, encoding_of(train))
    widths = noise.widths(frame_of(rng.standard_normal((500, 2))), 0.9)
    assert np.ptp(widths) == 0
    assert widths[0] == pytest.approx(1.645, abs=0.2)  # of the normal distribution


def test_few_errors_are_ranks_among_themselves() -> None:
    """Of 19 errors the 18th is the bound of 90 %: ⌈20 · 0.9⌉."""
    errors = np.random.default_rng(0).permutation(np.arange(1.0, 20.0)) * np.where(np.arange(19) % 2, 1, -1)
    noise = Noise.of(errors, None, None)
    rows = np.zeros((3, 1))
    assert noise.widths(rows, 0.9).tolist() == [18.0] * 3
    assert noise.widths(rows, 0.95).tolist() == [19.0] * 3
    with pytest.raises(ValueError, match="needs errors of at least 33 samples"):
        noise.widths(rows, 0.97)


# -- nearness ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", [mc.Gaussian(0.2), mc.Laplacian(0.2)])
def test_an_outlier_is_new_and_a_training_row_is_not(kernel: Any) -> None:
    rng = np.random.default_rng(0)
    train = frame_of(rng.standard_normal((300, 2)))
    encoding = encoding_of(train)
    machine = mc.KernelRidge(kernel=kernel).fit(encoding(train), rng.standard_normal(300))
    nearness = Nearness.of(machine, encoding, train, rng)
    assert nearness(frame_of(np.array([[9.0, -9.0], [30.0, 30.0]]))).min() > 0.99
    assert nearness(train[:50]).max() == 0.0  # nearest to itself
    usual = nearness(frame_of(rng.standard_normal((1000, 2))))
    assert usual.mean() == pytest.approx(0.5, abs=0.1)
    assert nearness(train[:0]).shape == (0,)


def test_distances_are_those_of_the_kernel() -> None:
    rng = np.random.default_rng(0)
    train = frame_of(rng.standard_normal((30, 2)))
    encoding = encoding_of(train)
    rows = encoding(train)
    machine = mc.KernelRidge(kernel=mc.Gaussian(0.2)).fit(rows, rng.standard_normal(30))
    nearness = Nearness.of(machine, encoding, train, rng)
    d2 = 2 - 2 * np.exp(-0.2 * ((rows[:, None] - rows) ** 2).sum(axis=2))
    np.fill_diagonal(d2, np.inf)
    np.testing.assert_allclose(nearness.distances, np.sort(d2.min(axis=1)), atol=1e-9)


def test_a_machine_without_a_kernel_is_held_against_distances() -> None:
    """Cells know no distance: the rows themselves do."""
    rng = np.random.default_rng(0)
    train = frame_of(rng.standard_normal((100, 2)))
    nearness = Nearness.of(object(), encoding_of(train), train, rng)
    assert nearness(frame_of(np.array([[9.0, -9.0]])))[0] > 0.99
    assert nearness(train[:5]).max() == 0.0


# -- averages ----------------------------------------------------------------------------------------------------------


def test_an_average_is_the_weighted_sum_of_its_members(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    frame = frame_of(rng.standard_normal((70, 2)))
    encoding = encoding_of(frame)
    rows = encoding(frame)
    y = np.exp(rows[:, 0])
    scales = [Scale.of(y), Scale.of(y, logarithm=True)]
    machines = [mc.KernelRidge(0.1, mc.Gaussian(0.3)).fit(rows, scale.to(y)) for scale in scales]
    members = [Member("m", w, encoding, m, s) for w, m, s in zip((0.3, 0.7), machines, scales, strict=True)]
    first = np.maximum(machines[0].predict(rows) * scales[0].spread + scales[0].mean, scales[0].low)
    second = np.exp(machines[1].predict(rows) * scales[1].spread + scales[1].mean)
    np.testing.assert_allclose(average(members, frame), 0.3 * first + 0.7 * second)
    whole = average(members, frame)
    monkeypatch.setattr("mercer.tabular.members._BLOCK", 16)
    np.testing.assert_allclose(average(members, frame), whole)


def test_a_member_of_classes_gives_probabilities() -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 2))
    codes = np.digitize(X[:, 0], [-0.5, 0.5])
    machine = mc.SVC(kernel=mc.Gaussian(0.5)).fit(X, codes)
    scores = machine.decision_function(X)
    calibration = Calibration.of(scores, codes, 3)
    found = Member("m", 1.0, None, machine, calibration).answers(X)
    np.testing.assert_allclose(found, calibration(scores))
    assert (found.argmax(axis=1) == codes).mean() > 0.8
