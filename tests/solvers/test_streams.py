"""The slopes of compiled code are those of the losses."""

from __future__ import annotations

import numpy as np
import pytest

from mercer.losses import Loss, Multinomial
from mercer.solvers.gradient_steps import KINDS, slope
from mercer.solvers.streams import as_rule
from tests.loss_cases import EACH, Case

COMPILED = [(case, loss) for case, loss in EACH if type(loss) in {kind for kind, _ in KINDS}]


@pytest.mark.parametrize(("case", "loss"), COMPILED, ids=[str(loss) for _, loss in COMPILED])
def test_slopes(case: Case, loss: Loss) -> None:
    rule = as_rule(loss, 0.0, "constant", 1.0, 1, "oldest", False, False, 0)
    assert rule.loss >= 0
    rng = np.random.default_rng(0)
    f = np.concatenate([3 * rng.standard_normal(200), [0.0, 1.0, -1.0, 0.2, -0.2, 800.0, -800.0]])
    y = (
        rng.choice([-1.0, 1.0], len(f))
        if case.targets == "signs"
        else np.abs(np.round(2 * rng.standard_normal(len(f)), 1))
    )
    found = np.array([slope(rule.loss, rule.shape, a, b) for a, b in zip(y, f, strict=True)])
    ours, bend = found.T
    expected = loss.gradient(y, f)
    usual = np.isfinite(expected)  # e^800
    np.testing.assert_allclose(ours[usual], expected[usual], rtol=1e-13, atol=1e-300)
    assert np.isfinite(ours).all()
    curvature = loss.curvature(y, f)
    if curvature is not None:
        assert (bend[usual] >= curvature[usual] * (1 - 1e-12)).all()


def test_what_is_compiled_is_tested() -> None:
    assert {type(loss) for _, loss in COMPILED} | {Multinomial} == {kind for kind, _ in KINDS}
