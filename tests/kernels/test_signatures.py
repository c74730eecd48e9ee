"""Signature kernels: tensors listed, limits, invariances, range, and what finite differences are not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mercer as mc
from tests.sequence_oracles import path


def tensors(x: Any, levels: int, order: int) -> list[Any]:
    """The product of Σ_{p ≤ order} δ^p/p! over the increments, level by level up to ``levels``."""
    d = x.shape[1]
    found = [np.ones(1), *(np.zeros(d**n) for n in range(1, levels + 1))]
    for step in np.diff(x, axis=0):
        powers = [np.ones(1)]
        for p in range(1, order + 1):
            powers.append(np.outer(powers[-1], step).ravel() / p)
        found = [
            sum(np.outer(found[n - p], powers[p]).ravel() for p in range(min(n, order) + 1)) for n in range(levels + 1)
        ]
    return found


def inner(a: list[Any], b: list[Any]) -> float:
    return float(sum(u @ v for u, v in zip(a, b, strict=True)))


def walks(n: int, channels: int, seed: int = 0, longest: int = 5) -> list[Any]:
    rng = np.random.default_rng(seed)
    return [rng.standard_normal((k, channels)) for k in rng.integers(1, longest + 1, n)]


def finite_differences(x: Any, z: Any) -> float:
    """The second-order scheme of Salvi et al. (2021) for ∂²u/∂s∂t = ⟨ẋ, ż⟩u."""
    d = np.diff(x, axis=0) @ np.diff(z, axis=0).T
    u = np.ones((len(x), len(z)))
    for i in range(len(d)):
        for j in range(d.shape[1]):
            p = d[i, j]
            u[i + 1, j + 1] = (u[i + 1, j] + u[i, j + 1]) * (1 + p / 2 + p * p / 12) - u[i, j] * (1 - p * p / 12)
    return float(u[-1, -1])


def test_the_value_is_an_inner_product_of_tensors() -> None:
    X = walks(6, 2)
    phi = [tensors(np.array(path(x, 0.7)), 8, 2) for x in X]
    wanted = [[inner(a, b) for b in phi] for a in phi]
    np.testing.assert_allclose(mc.Signature(scale=0.7, time=0.0)(X), wanted, rtol=1e-12)
    phi = [tensors(np.array(path(x, 0.7, 0.5, True)), 3, 1) for x in X]
    wanted = [[inner(a, b) for b in phi] for a in phi]
    np.testing.assert_allclose(mc.TruncatedSignature(3, scale=0.7, time=0.5, basepoint=True)(X), wanted, rtol=1e-11)


def test_finer_steps_come_to_the_signature_of_the_path() -> None:
    X = walks(5, 2, seed=1)
    phi = [tensors(0.3 * x, 10, 10) for x in X]
    wanted = np.array([[inner(a, b) for b in phi] for a in phi])
    errors = [np.abs(mc.Signature(scale=0.3, time=0.0, refine=r)(X) - wanted).max() for r in range(5)]
    assert errors[4] < 1e-3
    assert errors[4] < errors[3] / 3.5 < errors[2] / 10  # towards a quarter for each halving


@pytest.mark.parametrize("frames", [mc.Linear(), mc.Gaussian(0.5)], ids=str)
def test_positive_semi_definite_on_many_sets(frames: mc.Kernel) -> None:
    for seed in range(50):
        X = walks(12, 1 + seed % 3, seed, longest=8)
        for kernel in (mc.Signature(frames, 1.5), mc.TruncatedSignature(4, frames, 1.5)):
            values = np.linalg.eigvalsh(kernel(X))
            assert values[0] >= -1e-12 * values[-1], (kernel, seed)


def test_finite_differences_are_not_positive_semi_definite() -> None:
    x, z = np.array([[0.0], [10.0]]), np.array([[0.0], [5.0], [10.0]])
    K = np.array([[finite_differences(a, b) for b in (x, z)] for a in (x, z)])
    assert np.linalg.eigvalsh(K)[0] < 0
    assert np.linalg.eigvalsh(mc.Signature(scale=1.0, time=0.0)([x, z]))[0] > 0


def test_speed_and_place_of_a_path_do_not_matter() -> None:
    x, z = walks(2, 3, seed=2, longest=7)
    k = mc.Signature(scale=0.5, time=0.0)
    stopped = np.repeat(z, [1, 3, 1, 2, 1][: len(z)] + [1] * max(0, len(z) - 5), axis=0)
    np.testing.assert_allclose(k([x], [z, stopped, z + 5.0]), np.full((1, 3), k([x], [z])[0, 0]), rtol=1e-12)
    timed = mc.Signature(scale=0.5, basepoint=True)
    assert np.unique(timed([x], [z, stopped, z + 5.0]).round(9)).size == 3


def test_there_and_back_is_nowhere() -> None:
    z = np.linspace(0, 1, 20)[:, None] * [1.0, 2.0]
    back = np.concatenate([z, z[::-1]])
    k = mc.Signature(scale=1.0, time=0.0, refine=4)
    np.testing.assert_allclose(k([z], [back]), 1.0, atol=1e-4)


def test_one_frame_or_none_stands_still() -> None:
    X = [np.empty((0, 2)), np.ones((1, 2)), *walks(4, 2)]
    for kernel in (mc.Signature(time=0.0), mc.TruncatedSignature(time=0.0), mc.Signature(mc.Gaussian(1.0), 1.0, 0.0)):
        K = kernel(X)
        assert (K[:2] == 1).all()
        assert (K[:, :2] == 1).all()
    assert mc.Signature()([[]], [[]]).tolist() == [[1.0]]


@pytest.mark.thorough
def test_long_paths_do_not_overflow() -> None:
    t = np.linspace(0, 1, 500)[:, None]
    X = [t * 2000.0, t * 1900.0, t * -300.0]  # k(x, x) = I_0(4000) is about 10^1735
    K = mc.Signature(scale=1.0, time=0.0, refine=3).normalized()(X)
    np.testing.assert_array_equal(np.diagonal(K), 1.0)
    assert 0 < K[0, 1] < 1
    assert abs(K[0, 2]) < 1e-100
    with pytest.raises(FloatingPointError, match="pair"):
        mc.Signature(scale=1.0, time=0.0)(X)


def test_a_path_lost_in_rounding_is_an_error() -> None:
    t = np.linspace(0, 1, 200)[:, None]
    with pytest.raises(FloatingPointError, match=r"item 1 is at least 1.*smaller scale"):
        mc.Signature(scale=1.0, time=0.0).normalized()([t, 100 * np.concatenate([t, t[::-1]])])


def test_the_median_scale_makes_paths_of_length_one() -> None:
    X = walks(7, 2, seed=3, longest=9)
    lengths = [np.linalg.norm(np.diff(x, axis=0), axis=1).sum() for x in X]
    assert mc.Signature().bind(X).scale == pytest.approx(1 / np.median(lengths))
    assert mc.TruncatedSignature().bind(X, [0, 0, 0, 1, 0, 0, 0]).scale == pytest.approx(1 / lengths[3])
    assert mc.Signature().bind([[1.0], []]).scale == 1.0
    bound = mc.Signature(mc.Gaussian("median")).bind(X)
    assert bound.frames.gamma > 0


def test_a_long_series_is_taken_up_where_it_was_left(monkeypatch: pytest.MonkeyPatch) -> None:
    from mercer.kernels.sequences import lanes

    rng = np.random.default_rng(4)
    X = [np.cumsum(rng.standard_normal((k, 2)), axis=0) for k in (0, 1, 90, 70, 40)]
    kernels = [mc.Signature(mc.Gaussian(0.1)), mc.Signature(refine=1), mc.TruncatedSignature()]
    wanted = [k(X) for k in kernels]
    monkeypatch.setattr(lanes, "_CELLS", 3000)
    for k, K in zip(kernels, wanted, strict=True):
        np.testing.assert_allclose(k(X), K, rtol=1e-13)


def test_errors_name_the_item_and_the_cure() -> None:
    k = mc.Signature()
    with pytest.raises(mc.DataError, match="Item 1 of the series is of letters"):
        k(["", "ACGT"])
    with pytest.raises(mc.DataError, match=r"Item 1 of the series is not finite at time 1.*kernel\.interpolated"):
        k([[1.0, 2.0], [1.0, float("nan")]])
    with pytest.raises(mc.DataError, match="series of X have 2 channels, those of Y have 1"):
        k([np.ones((3, 2))], [np.ones(3)])
    with pytest.raises(ValueError, match=r"compared by Linear\(\) or by Gaussian"):
        mc.Signature(mc.Laplacian(1.0))
    with pytest.raises(ValueError, match="refine must be a whole number"):
        mc.Signature(refine=-1)


@pytest.mark.thorough
def test_a_machine_over_them_is_saved_and_loaded(tmp_path: Path) -> None:
    X, y = walks(30, 2, seed=5, longest=9), np.arange(30) % 2
    for kernel in (mc.Signature(mc.Gaussian("scale"), refine=1).normalized(), mc.TruncatedSignature(3)):
        machine = mc.SVC(kernel=kernel).fit(X, y)
        mc.save(machine, tmp_path / "m.skops")
        again = mc.load(tmp_path / "m.skops")
        np.testing.assert_array_equal(again.decision_function(X), machine.decision_function(X))


def test_what_rounding_has_taken_is_no_value() -> None:
    there_and_back = np.r_[np.linspace(0, 1, 200), np.linspace(1, 0, 200)]
    k = mc.Signature(scale=1.0, time=0.0)
    np.testing.assert_allclose(k([5 * there_and_back]), 1.0, atol=1e-6)
    for length in (20.0, 40.0):
        with pytest.raises(FloatingPointError, match="far and comes back"):
            k([length / 2 * there_and_back])
