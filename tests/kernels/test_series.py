"""Kernels on time series: bands in time, soft warping, shifts, values that were not seen, forms."""

from __future__ import annotations

import datetime
import math
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import mercer as mc
from mercer.data import Series
from tests.cases import series, series_in_time
from tests.sequence_oracles import alignments

NAN = float("nan")


def logarithm(x: Any, z: Any, sigma: float, triangle: float) -> float:
    """log Σ over alignments of Π ωe/(2 − ωe) of two series of one channel, in logarithms throughout."""
    square = (x[:, None] - z[None, :]) ** 2 / (2 * sigma**2)
    omega = np.maximum(0.0, 1 - np.abs(np.arange(len(x))[:, None] - np.arange(len(z))[None, :]) / triangle)
    with np.errstate(divide="ignore"):
        local = np.log(omega) - square - np.log(2 - omega * np.exp(-square))
    last = np.full(len(z) + 1, -np.inf)
    last[0] = 0.0
    for row in local:
        onward, new = np.logaddexp(last[1:], last[:-1]), np.full(len(z) + 1, -np.inf)
        for j, log in enumerate(row):
            if log > -np.inf:
                new[j + 1] = log + np.logaddexp(onward[j], new[j])
        last = new
    return float(last[-1])


@pytest.mark.thorough
@pytest.mark.parametrize(("sigma", "triangle"), [(0.02, 9.0), (0.02, 200.0), (0.4, 3.0), (2.0, 1000.0)])
def test_long_series_within_a_triangle(sigma: float, triangle: float) -> None:
    rng = np.random.default_rng(0)
    x = np.cumsum(rng.standard_normal(150))
    X = [x, x + 0.01 * rng.standard_normal(150), x[:-2] * 1.001]  # e falls out of the range of floats beside the path
    logs = np.array([[logarithm(a, b, sigma, triangle) for b in X] for a in X])
    norms = np.diagonal(logs)
    np.testing.assert_allclose(
        mc.GlobalAlignment(sigma, triangle)(X), np.exp(logs - (norms[:, None] + norms) / 2), rtol=1e-9
    )


def test_a_wide_triangle_is_none_and_lengths_too_different_do_not_meet() -> None:
    X = series()
    np.testing.assert_allclose(mc.GlobalAlignment(1.0, 1e9)(X), mc.GlobalAlignment(1.0)(X), rtol=1e-6)
    K = mc.GlobalAlignment(1.0, 3.0)(X)
    lengths = np.array([len(x) for x in X])
    assert (K[np.abs(lengths[:, None] - lengths) >= 3] == 0).all()


def test_numbers_of_frames_are_times() -> None:
    X = series()
    timed = [np.column_stack([2.0 * np.arange(len(x)), x]) for x in X]
    np.testing.assert_allclose(
        mc.GlobalAlignment(1.0, 5.0, 0)(timed), mc.GlobalAlignment(1.0, 2.5)(X), rtol=1e-12, atol=1e-15
    )
    assert mc.GlobalAlignment("median", 5.0, 0).bind(timed).sigma == mc.GlobalAlignment().bind(X).sigma


def test_letters_within_a_triangle() -> None:
    def local(i: int, j: int) -> float:
        e = (1.0 if "ACCA"[i] == "CAAC"[j] else math.exp(-1.0)) * max(0.0, 1 - abs(i - j) / 2)
        return e / (2 - e)

    def own(i: int, j: int) -> float:
        e = (1.0 if "ACCA"[i] == "ACCA"[j] else math.exp(-1.0)) * max(0.0, 1 - abs(i - j) / 2)
        return e / (2 - e)

    x, z = "ACCA", "CAAC"
    value = mc.GlobalAlignment(1.0, 2.0)([x], [z])[0, 0]
    assert value == pytest.approx(alignments(x, z, local) / alignments(x, x, own))


def walks(seed: int, n: int = 10) -> list[Any]:
    rng = np.random.default_rng(seed)
    return [
        np.column_stack([rng.standard_normal((k, 1 + seed % 2)), np.cumsum(rng.random(k))])
        for k in rng.integers(1, 9, n)
    ]


@pytest.mark.thorough
def test_positive_semi_definite_on_many_sets() -> None:
    for seed in range(50):
        X = walks(seed)
        for kernel in (
            mc.GlobalAlignment(0.3, 2.0),
            mc.GlobalAlignment(3.0, 0.8, times=1 + seed % 2),
            mc.CrossCorrelation(20.0),
            mc.CrossCorrelation(3.0, length=20).resampled(12),
        ):
            values = np.linalg.eigvalsh(kernel(X))
            assert values[0] >= -1e-11 * values[-1], (kernel, seed)


def test_soft_warping_is_not_positive_semi_definite() -> None:
    X = [[2.0, 1.0], [1.0], [2.0, 2.0, 2.0], [0.0], [2.0], [0.0, 0.0, 0.0]]
    k = mc.SoftDTW(0.3, 0.1)
    assert k.psd is False
    assert np.linalg.eigvalsh(k(X))[0] < -0.1
    assert np.linalg.eigvalsh(k.repaired().bind(X)(X))[0] > -1e-12


@pytest.mark.thorough
def test_soft_warping_comes_to_the_best_alignment() -> None:
    def warped(x: Any, z: Any) -> float:
        best = np.full((len(x) + 1, len(z) + 1), np.inf)
        best[0, 0] = 0.0
        for i, a in enumerate(x):
            for j, b in enumerate(z):
                step = min(best[i, j], best[i, j + 1], best[i + 1, j])
                best[i + 1, j + 1] = step + float(np.sum((a - b) ** 2))
        return float(best[-1, -1])

    X = series()
    wanted = [[math.exp(-0.3 * warped(x, z)) for z in X] for x in X]
    np.testing.assert_allclose(mc.SoftDTW(1e-3, 0.3)(X), wanted, atol=0.01)
    assert np.isfinite(mc.SoftDTW(1e-6)([np.zeros(800), np.full(900, 50.0)])).all()


def test_a_shifted_series_is_the_same_to_correlation() -> None:
    rng = np.random.default_rng(1)
    X = [rng.standard_normal((24, 2)) for _ in range(6)]
    Y = [5.0 + 3.0 * np.roll(x, 1 + i, axis=0) for i, x in enumerate(X)]
    k = mc.CrossCorrelation(4.0)
    np.testing.assert_allclose(k(X, Y), k(X), rtol=1e-10)
    constant = k([np.ones((24, 2)), X[0]])
    np.testing.assert_allclose(constant[0], 24.0)


def test_correlation_with_shorter_and_longer_series() -> None:
    short, long = np.arange(5.0), np.arange(9.0)
    k = mc.CrossCorrelation(2.0).bind([long, short])
    assert k.length == 9
    padded = np.append(short - short.mean(), np.zeros(4))
    np.testing.assert_allclose(k([long], [short]), k([long], [padded]), rtol=1e-12)
    with pytest.raises(mc.DataError, match=r"Item 1 .* has 10 frames, more than the length=9.*resampled"):
        k([short, np.arange(10.0)])
    np.testing.assert_array_equal(k([[]], [short]), [[9.0]])


def test_gaps_are_filled_on_the_line_between() -> None:
    k, seen = mc.GlobalAlignment(1.0), [1.0, 2.0, 3.0, 4.0, 4.0]
    gaps = [1.0, NAN, 3.0, 4.0, NAN]
    assert k.interpolated()([gaps], [seen])[0, 0] == pytest.approx(1.0)
    assert k.interpolated("drop")([gaps], [[1.0, 3.0, 4.0]])[0, 0] == pytest.approx(1.0)
    uneven = np.array([[0.0, 0.0], [1.0, NAN], [4.0, 8.0]])
    filled = np.array([[0.0, 0.0], [1.0, 2.0], [4.0, 8.0]])
    np.testing.assert_allclose(k.interpolated(times=0)([uneven], [filled]), 1.0)
    partly = np.array([[NAN, 1.0], [NAN, NAN], [2.0, 5.0]])
    np.testing.assert_allclose(k.interpolated("drop")([partly], [[[2.0, 1.0], [2.0, 5.0]]]), 1.0)


def test_resampled_series_are_of_one_length() -> None:
    line, k = [0.0, 1.0, 2.0, 3.0, 4.0], mc.Gaussian(0.5).resampled(3)
    assert k([line], [[0.0, 2.0, 4.0]])[0, 0] == pytest.approx(1.0)
    assert k([line], [[0.0, NAN, NAN, 4.0]])[0, 0] == pytest.approx(1.0)
    timed = np.array([[0.0, 0.0], [1.0, 10.0], [10.0, 10.0]])
    wanted = math.exp(-0.5 * (0.0 + 0.0 + 0.0))
    assert mc.Gaussian(0.5).resampled(3, 0)([timed], [[[0.0, 0.0], [5.0, 10.0], [10.0, 10.0]]])[0, 0] == wanted


@pytest.mark.parametrize(
    ("kernel", "items", "said"),
    [
        (mc.GlobalAlignment(1.0), [[1.0], [1.0, NAN]], r"Item 1 .* time 1; .*kernel\.interpolated\(\)"),
        (mc.GlobalAlignment(1.0).interpolated(), [[1.0, math.inf]], "Item 0 .* not finite at time 1"),
        (mc.GlobalAlignment(1.0).interpolated(), [[1.0], [NAN, NAN]], "Item 1 .* no value at all in channel 0; drop"),
        (mc.GlobalAlignment(1.0).interpolated(times=1), [[1.0, NAN]], "times=1: the series have 1 channels"),
        (mc.GlobalAlignment(1.0).interpolated(times=0), [[[NAN, 1.0]]], r"no time \(channel 0\) in frame 0"),
        (mc.Signature().resampled(4, 0), [[[1.0, 1.0], [1.0, 2.0]]], r"does not go on in time .* after frame 0; sort"),
        (
            mc.GlobalAlignment(1.0, 2.0, 0),
            [[[0.0, 1.0]], [[0.0, 1], [2.0, 3], [1.0, 0]]],
            r"Item 1 .* after frame 1; sort",
        ),
        (mc.Signature().resampled(4), [[1.0], []], "Item 1 .* empty"),
        (mc.Signature().interpolated(), ["ACGT"], "Item 0 .* letters"),
        (mc.GlobalAlignment(1.0, 2.0, 2), [np.ones((3, 2))], r"times=2: the series have 2 channels"),
        (mc.GlobalAlignment(1.0, 2.0, 0), ["ACGT"], r"times=0: the series have 1 channels"),
    ],
)
def test_errors_name_the_series_and_the_cure(kernel: mc.Kernel, items: Any, said: str) -> None:
    with pytest.raises(mc.DataError, match=said):
        kernel(items)


@pytest.mark.parametrize(
    "make",
    [
        lambda: mc.GlobalAlignment(1.0, 0.0),
        lambda: mc.GlobalAlignment(1.0, times=0),
        lambda: mc.SoftDTW(0.0),
        lambda: mc.CrossCorrelation(1.0, "shortest"),
        lambda: mc.CrossCorrelation(701.0),
        lambda: mc.Signature().interpolated("guess"),
        lambda: mc.Signature().interpolated(times=-1),
        lambda: mc.Signature().resampled(1),
    ],
)
def test_parameters_out_of_range(make: Any) -> None:
    with pytest.raises(ValueError, match="\\("):
        make()


KERNELS = [
    mc.GlobalAlignment(1.0, 3.0),
    mc.SoftDTW(),
    mc.CrossCorrelation(),
    mc.Signature(mc.Gaussian(1.0)),
    mc.TruncatedSignature(2),
]


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_series_in_every_form(kernel: mc.Kernel) -> None:
    cube = np.random.default_rng(2).standard_normal((5, 6, 1))
    K = kernel(cube)
    lists = cube[:, :, 0].tolist()
    for form in (list(cube), cube[:, :, 0], lists, pd.Series(lists), pl.Series(lists), pl.DataFrame({"x": lists})):
        np.testing.assert_array_equal(kernel(form), K)
    wide = np.random.default_rng(3).standard_normal((4, 6, 3))
    np.testing.assert_array_equal(kernel(pl.Series(wide.tolist())), kernel(wide))
    table = pl.DataFrame({"x": lists, "age": range(5)})
    np.testing.assert_array_equal(kernel.on("x")(table), K)


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_missing_values_of_columns(kernel: mc.Kernel) -> None:
    rows = [[1.0, None, 3.0], [2.0, 2.0, 1.0]]
    wanted = kernel.bind([[1.0, 2.0, 3.0], [2.0, 2.0, 1.0]])([[1.0, 2.0, 3.0], [2.0, 2.0, 1.0]])
    for form in (rows, pl.Series(rows), pd.Series(rows)):
        np.testing.assert_allclose(kernel.interpolated()(form), wanted)


@pytest.mark.thorough
def test_machines_over_series_with_gaps_are_saved_and_loaded(tmp_path: Path) -> None:
    X, y = series_in_time(), np.arange(23) % 2
    for kernel in (mc.GlobalAlignment("median", 3.0, 2).interpolated("drop", 2), mc.CrossCorrelation().resampled(8, 2)):
        machine = mc.SVC(kernel=kernel).fit(X, y)
        mc.save(machine, tmp_path / "m.skops")
        again = mc.load(tmp_path / "m.skops")
        np.testing.assert_array_equal(again.decision_function(X), machine.decision_function(X))


def test_a_channel_that_does_not_change_has_no_say_in_correlations() -> None:
    waves = [np.sin(np.arange(20.0) + i) for i in range(3)]
    beside = [np.column_stack([x, np.full(20, 1e13)]) for x in waves]
    k = mc.CrossCorrelation(2.0)
    np.testing.assert_allclose(k(beside), k(waves), rtol=1e-10)
    np.testing.assert_allclose(k([1e300 * x for x in waves]), k(waves), rtol=1e-10)


# ---------------------------------------------------------------------------------------------------------------------
# Instants, and the order of axes
# ---------------------------------------------------------------------------------------------------------------------


def test_times_without_a_triangle_say_what_is_missing() -> None:
    with pytest.raises(ValueError, match=r"times=0.*triangle is None; give triangle=T"):
        mc.GlobalAlignment(times=0)


DAYS = [datetime.date(1970, 1, 1), datetime.date(1970, 1, 2), datetime.date(1970, 1, 4)]
STAMPS = [datetime.datetime(1970, 1, day.day) for day in DAYS]
VALUES = [0.0, 1.0, 0.5]


@pytest.mark.parametrize(
    "item",
    [
        pl.DataFrame({"t": DAYS, "v": VALUES}),
        *(
            pl.DataFrame({"t": STAMPS, "v": VALUES}, {"t": pl.Datetime(unit), "v": float})
            for unit in ("ms", "us", "ns")
        ),
        pl.DataFrame({"t": STAMPS, "v": VALUES}, {"t": pl.Datetime("us", "UTC"), "v": float}),
        pl.DataFrame({"t": [t - STAMPS[0] for t in STAMPS], "v": VALUES}),
        pd.DataFrame({"t": STAMPS, "v": VALUES}),
        pd.DataFrame({"t": pd.to_datetime(STAMPS).tz_localize("UTC"), "v": VALUES}),
        pd.DataFrame({"t": DAYS, "v": VALUES}),
        np.array([[t, v] for t, v in zip(STAMPS, VALUES, strict=True)], object),
        [[t, v] for t, v in zip(DAYS, VALUES, strict=True)],
    ],
)
def test_instants_of_all_kinds_are_seconds(item: Any) -> None:
    found = Series().check([item])
    np.testing.assert_array_equal(found.values, np.column_stack([np.array([0.0, 1.0, 3.0]) * 86400, VALUES]))


@pytest.mark.parametrize("unit", ["D", "s", "ms", "ns"])
def test_arrays_of_instants_are_seconds(unit: str) -> None:
    stamps = np.array(STAMPS, f"datetime64[{unit}]")
    np.testing.assert_array_equal(Series().check([stamps]).values[:, 0], [0.0, 86400.0, 3 * 86400.0])
    np.testing.assert_array_equal(Series().check([stamps - stamps[0]]).values[:, 0], [0.0, 86400.0, 3 * 86400.0])


@pytest.mark.parametrize(("shape", "told"), [((4, 1, 30), 1), ((4, 3, 40), 1), ((4, 30, 1), 0), ((4, 6, 9), 0)])
def test_arrays_with_time_as_the_last_axis_are_told_of_once(shape: tuple[int, ...], told: int) -> None:
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        mc.GlobalAlignment(1.0)(np.random.default_rng(0).random(shape))
    assert len(found) == told
    assert all(w.category is mc.IgnoredWarning and "X.transpose(0, 2, 1)" in str(w.message) for w in found)


def test_numbers_that_cannot_be_tuned_are_named() -> None:
    X = np.random.default_rng(0).random((8, 5))
    report = mc.check_kernel(mc.CrossCorrelation(), X)
    assert report.not_tuned == ("gamma",)
    assert "tune leaves gamma as it is" in report.verdict
    graphs = [mc.Graph([(0, 1)], attributes=row[:2]) for row in X]
    k = mc.GraphHopper(mc.Gaussian(0.1))
    assert mc.check_kernel(k, graphs).not_tuned == ("vertices__gamma",)
    assert mc.tune(mc.KernelRidge(kernel=k), graphs, X[:, 0]).untouched == ("kernel__vertices__gamma",)
    assert (
        mc.check_kernel(mc.Gaussian(0.1), X).not_tuned == mc.check_kernel(mc.Spectrum(2), ["ab", "ba"]).not_tuned == ()
    )


def test_machines_have_no_parameters_of_kernels_that_are_not_there() -> None:
    names = [name for name in mc.SVC(kernel=mc.Spectrum(3)).get_params() if name.startswith("kernel__")]
    assert sorted(names) == ["kernel__k", "kernel__k_min", "kernel__weights"]


def test_thresholds_are_printed_by_name() -> None:
    assert str(mc.Profile(threshold=3.0)) == "Profile(threshold=3.0)"
    assert "half_life=9.0" in str(mc.EstimatedGappy(7, 5, 3, half_life=9.0))
