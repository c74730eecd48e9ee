"""``tune``: the gradient of the whole objective by differences, what it finds on planted data and beside scikit-learn,
limits and errors.
"""

from __future__ import annotations

import math
import time
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
from sklearn.model_selection import KFold, cross_val_score

import mercer as mc
from mercer.formula import exp
from mercer.kernels.base import kernel
from mercer.kernels.families import Pairwise, Radial
from mercer.kernels.parameters import positive
from mercer.selection.criteria import CRITERIA
from mercer.selection.objectives import Objective, OnMatrix
from mercer.selection.tuning import _sample

ARD = mc.Matern([0.8, 1.3, 2.0], nu=math.inf)
KERNELS = [
    mc.Gaussian(0.4),
    ARD,
    mc.Matern([1.5, 0.9, 1.2], nu=1.5),
    mc.Matern(1.1, nu=0.8),
    mc.RationalQuadratic([1.0, 2.0, 1.5], 0.7),
    mc.Polynomial(3, 0.7, 0.5),
    2.0 * mc.Gaussian(0.4),
    1.5 * ARD + 0.3 * mc.Linear(),
    mc.Gaussian(0.2) + mc.Gaussian(1.5),
    mc.Gaussian(0.3) * mc.RationalQuadratic(1.2, 2.0),
    mc.Laplacian(0.2).normalized(),
    mc.Polynomial(2, 1.0, 0.5).normalized() + mc.Gaussian(0.5),
    mc.Gaussian(0.5).on([0, 1]) * mc.Matern(1.4).on([2]),
]


def _data(n: int = 25, seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 3))
    return X, np.sin(2 * X[:, 0]) + 0.5 * X[:, 1] + 0.2 * rng.standard_normal(n) + 3.0


def _labels(n: int = 25, seed: int = 0) -> tuple[Any, Any]:
    X, y = _data(n, seed)
    return X, np.where(y > np.median(y), "b", "a")


def _objective(estimator: Any, X: Any, y: Any, criterion: str, weights: Any = None) -> Objective:
    X, Y, w = _sample(estimator, X, y, weights, None, np.random.default_rng(0))
    return OnMatrix(CRITERIA[criterion], estimator.kernel.bind(X, w), estimator, X, Y, w)


# -- the gradient -----------------------------------------------------------------------------------------------------


def _check_gradient(objective: Objective, h: float = 1e-5) -> None:
    theta = objective.start() + 0.1 * np.cos(np.arange(len(objective.start())))  # not where anything is special
    _, gradient = objective(theta)
    expected = np.array(
        [(objective(theta + h * e)[0] - objective(theta - h * e)[0]) / (2 * h) for e in np.eye(len(theta))]
    )
    assert np.abs(expected).max() > 1e-4
    np.testing.assert_allclose(gradient, expected, rtol=1e-6, atol=1e-6 * max(1.0, np.abs(expected).max()))


@pytest.mark.thorough
@pytest.mark.parametrize("k", KERNELS, ids=str)
@pytest.mark.parametrize("criterion", list(CRITERIA))
def test_the_gradient_of_the_whole_objective(k: Any, criterion: str) -> None:
    """d criterion/d log θ for every parameter and λ or C at once."""
    if criterion in ("radius-margin", "span"):
        X, y = _labels()
        _check_gradient(_objective(mc.SVC(2.0, k), X, y, criterion))
    else:
        X, y = _data()
        _check_gradient(_objective(mc.KernelRidge(0.2, k), X, y, criterion))


@pytest.mark.thorough
@pytest.mark.parametrize("criterion", list(CRITERIA))
def test_the_gradient_with_weights_and_without_bias(criterion: str) -> None:
    w = np.random.default_rng(3).uniform(0.2, 2.0, 25)
    X, y = _labels() if criterion in ("radius-margin", "span") else _data()
    machine = mc.SVC(2.0, 1.2 * ARD) if criterion in ("radius-margin", "span") else mc.KernelRidge(0.2, 1.2 * ARD)
    for bias in (True, False):
        _check_gradient(_objective(machine.set_params(fit_intercept=bias), X, y, criterion, w))


def test_every_continuous_parameter_is_there() -> None:
    X, y = _data()
    objective = _objective(mc.KernelRidge(0.2, 1.5 * ARD + 0.3 * mc.Polynomial(2, 0.5, 0.7)), X, y, "loo")
    expected = {1.5, 0.8, 1.3, 2.0, 0.3, 0.5, 0.7}
    np.testing.assert_allclose(sorted(objective.values.values()), sorted(expected))
    np.testing.assert_allclose(np.exp(objective.start()), [*objective.values.values(), 0.2])


# -- what it finds ----------------------------------------------------------------------------------------------------


@pytest.mark.thorough
@pytest.mark.parametrize("criterion", ["loo", "gcv", "marginal likelihood", "alignment", "radius-margin", "span"])
def test_the_criterion_is_lowered_and_told_truly(criterion: str) -> None:
    """``value`` and ``start`` are the criterion of the estimators themselves, evaluated from outside; the estimator
    given is left alone.
    """
    two = criterion in ("radius-margin", "span")
    X, y = _labels(60) if two else _data(60)
    machine: Any = mc.SVC(0.5, mc.Gaussian(5.0)) if two else mc.KernelRidge(5.0, mc.Gaussian(5.0))
    before = clone(machine)
    found = mc.tune(machine, X, y, criterion, max_iter=30)
    assert repr(machine) == repr(before)

    def value(estimator: Any) -> float:
        Y = np.where(y == "b", 1.0, -1.0)[:, None] if two else y[:, None]
        ridge = 1 / (2 * estimator.C) if two else estimator.alpha
        return CRITERIA[criterion](estimator.kernel(X), Y, np.ones(60), ridge, True)[0]

    assert found.value < found.start - 0.01
    assert found.start == pytest.approx(value(machine), rel=1e-8)
    assert found.value == pytest.approx(value(found.estimator), rel=1e-7)
    assert found.value == min(found.history)
    assert found.n_evaluations == len(found.history)
    assert not hasattr(found.estimator, "dual_coef_")
    assert found.fit(X, y).score(X, y) > 0.5


@pytest.mark.thorough
def test_the_end_is_a_minimum() -> None:
    """No step of 1 % in any parameter is better."""
    X, y = _data(50)
    found = mc.tune(mc.KernelRidge(0.2, mc.Matern([1.0, 1.0, 1.0], nu=math.inf)), X, y, "marginal likelihood")
    objective = _objective(found.estimator, X, y, "marginal likelihood")
    theta = objective.start()
    assert objective(theta)[0] == pytest.approx(found.value, rel=1e-8)
    for e in np.eye(len(theta)):
        for step in (-0.01, 0.01):
            assert objective(theta + step * e)[0] > found.value - 1e-6


@pytest.mark.parametrize("criterion", ["loo", "marginal likelihood"])
@pytest.mark.thorough
def test_columns_without_relevance_get_long_length_scales(criterion: str) -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((90, 5))
    y = np.sin(2 * X[:, 1]) * np.cos(X[:, 3]) + 0.1 * rng.standard_normal(90)
    found = mc.tune(mc.KernelRidge(0.1, mc.Matern(np.ones(5), nu=math.inf)), X, y, criterion, max_iter=30)
    scales = np.asarray(found.estimator.kernel.length_scale)
    assert scales[[0, 2, 4]].min() > 4 * scales[[1, 3]].max()
    fresh = rng.standard_normal((500, 5))
    truth = np.sin(2 * fresh[:, 1]) * np.cos(fresh[:, 3])
    error, plain = (
        np.mean((m.fit(X, y).predict(fresh) - truth) ** 2)
        for m in (found.estimator, mc.KernelRidge(0.1, mc.Gaussian()))
    )
    assert error < plain / 3


@pytest.mark.thorough
def test_relevance_for_classes() -> None:
    rng = np.random.default_rng(1)
    X = rng.standard_normal((70, 4))
    y = (np.abs(X[:, 0]) > 0.7).astype(int)
    for criterion in ("radius-margin", "span"):
        found = mc.tune(mc.SVC(1.0, mc.Matern(np.ones(4), nu=math.inf)), X, y, criterion, max_iter=12)
        scales = np.asarray(found.estimator.kernel.length_scale)
        assert scales[1:].min() > 2 * scales[0], criterion


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.thorough
def test_at_least_as_likely_as_scikit_learns_gaussian_process(seed: int) -> None:
    """The same model, σ²(k + λ): both ends are judged by one independent formula, the log marginal likelihood of
    scikit-learn itself.
    """
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((80, 3))
    y = np.sin(2 * X[:, 0]) + 0.3 * X[:, 1] + 0.2 * rng.standard_normal(80)
    peer = GaussianProcessRegressor(ConstantKernel(1.0) * RBF([1.0, 1.0, 1.0], (1e-3, 1e6)) + WhiteKernel(0.1)).fit(
        X, y
    )
    constant, scales, noise = (
        peer.kernel_.k1.k1.constant_value,
        peer.kernel_.k1.k2.length_scale,
        peer.kernel_.k2.noise_level,
    )
    found = mc.tune(
        mc.KernelRidge(0.1, mc.Matern([1.0, 1.0, 1.0], nu=math.inf), fit_intercept=False), X, y, "marginal likelihood"
    )
    theirs = CRITERIA["marginal likelihood"](
        mc.Matern(scales, nu=math.inf)(X), y[:, None], np.ones(80), noise / constant, False
    )[0]
    assert theirs == pytest.approx(-peer.log_marginal_likelihood_value_, rel=1e-4)  # theirs is at its best σ², too
    assert found.value <= theirs + 1e-3
    # and Mercer's end, said in scikit-learn's words, is as likely as claimed
    K = found.estimator.kernel(X) + found.estimator.alpha * np.eye(80)
    variance = y @ np.linalg.solve(K, y) / 80
    same = variance * RBF(np.asarray(found.estimator.kernel.length_scale)) + WhiteKernel(
        variance * found.estimator.alpha
    )
    ours = GaussianProcessRegressor(same, optimizer=None, alpha=1e-14).fit(X, y).log_marginal_likelihood_value_
    assert -found.value == pytest.approx(ours, rel=1e-6)


@pytest.mark.thorough
def test_the_scale_of_a_kernel_and_the_ridge_together() -> None:
    """a·k with λ has the same machines as k with λ/a: tuning both is as good as tuning one."""
    X, y = _data(50)
    one = mc.tune(mc.KernelRidge(0.2, mc.Gaussian(1.0)), X, y, "loo")
    both = mc.tune(mc.KernelRidge(0.2, 3.0 * mc.Gaussian(1.0)), X, y, "loo")
    assert both.value == pytest.approx(one.value, abs=1e-4)


def test_names_tell_all_parameters_apart() -> None:
    """Those of the kernel and that of the estimator, also where both are called alpha."""
    X, y = _data(40)
    found = mc.tune(mc.KernelRidge(0.2, mc.RationalQuadratic(1.0, 2.0)), X, y, "loo", max_iter=10)
    assert len(found.parameters) == 3
    values = [found.estimator.kernel.length_scale, found.estimator.kernel.alpha, found.estimator.alpha]
    np.testing.assert_allclose(sorted(found.parameters.values()), sorted(values))


def test_parameters_by_name() -> None:
    X, y = _data(40)
    found = mc.tune(mc.KernelRidge(0.2, 1.5 * ARD), X, y, "loo", max_iter=5)
    expected = {"kernel__scale": found.estimator.kernel.scale} | {
        f"kernel__kernel__length_scale[{j}]": v for j, v in enumerate(found.estimator.kernel.kernel.length_scale)
    }
    assert found.parameters == pytest.approx(expected | {"alpha": found.estimator.alpha})
    machine = mc.tune(mc.SVC(2.0, mc.Gaussian(0.3)), *_labels(40), "loo", max_iter=5)
    assert machine.parameters == pytest.approx(
        {"kernel__gamma": machine.estimator.kernel.gamma, "C": machine.estimator.C}
    )


def test_data_driven_kernels_start_from_what_the_data_gives() -> None:
    X, y = _data(60)
    found = mc.tune(mc.KernelRidge(1.0), X, y)
    bound = mc.Gaussian("scale").bind(X)
    assert found.start == pytest.approx(CRITERIA["loo"](bound(X), y[:, None], np.ones(60), 1.0, True)[0], rel=1e-9)
    assert isinstance(found.estimator.kernel.gamma, float)
    assert found.estimator.kernel.gamma != bound.gamma


def test_a_centred_kernel_is_refused() -> None:
    """Its mean is computed at the parameters that are to change."""
    X, y = _data(40)
    with pytest.raises(TypeError, match="Tune the kernel inside first"):
        mc.tune(mc.KernelRidge(0.2, mc.Gaussian(2.0).centered(), fit_intercept=False), X, y - y.mean())


def test_what_is_taken_from_data_is_taken_again_when_it_is_trained() -> None:
    X, y = _data(60)
    found = mc.tune(mc.KernelRidge(0.2, mc.Gaussian(0.3).standardized()), 5 * X + 3, y)
    assert type(found.estimator.kernel).__name__ == "Standardized"
    assert found.estimator.kernel.kernel.gamma != 0.3


@pytest.mark.thorough
def test_cross_validation_agrees_that_it_is_better() -> None:
    X, y = _data(80)
    machine = mc.KernelRidge(10.0, mc.Gaussian(5.0))
    folds = KFold(5, shuffle=True, random_state=0)
    for criterion in ("loo", "gcv", "marginal likelihood"):
        after = cross_val_score(mc.tune(machine, X, y, criterion, max_iter=15).estimator, X, y, cv=folds).mean()
        assert after > cross_val_score(machine, X, y, cv=folds).mean() + 0.2


# -- restarts, samples, limits ----------------------------------------------------------------------------------------


@pytest.mark.thorough
def test_restarts_are_reproducible_and_never_worse() -> None:
    X, y = _data(40)
    machine = mc.KernelRidge(0.2, mc.Gaussian(30.0))
    once = mc.tune(machine, X, y, "marginal likelihood", max_iter=15)
    runs = [
        mc.tune(machine, X, y, "marginal likelihood", max_iter=15, restarts=3, random_state=seed) for seed in (7, 7, 8)
    ]
    assert runs[0].history == runs[1].history
    assert runs[0].parameters == runs[1].parameters
    assert runs[0].history != runs[2].history
    assert all(run.value <= once.value and len(run.history) > len(once.history) for run in runs)


def test_some_samples_may_judge() -> None:
    X, y = _data(200)
    judged: list[int] = []

    def judge(K: Any, Y: Any, w: Any, ridge: float, bias: bool) -> Any:
        judged.append(len(K))
        assert len(Y) == len(w) == len(K)
        return CRITERIA["loo"](K, Y, w, ridge, bias)

    one = mc.tune(mc.KernelRidge(0.2, mc.Gaussian(1.0)), X, y, judge, max_samples=50, max_iter=5, random_state=1)
    assert set(judged) == {50}
    again = mc.tune(mc.KernelRidge(0.2, mc.Gaussian(1.0)), X, y, "loo", max_samples=50, max_iter=5, random_state=1)
    assert one.history == again.history
    assert (
        mc.tune(mc.KernelRidge(0.2, mc.Gaussian(1.0)), X, y, max_samples=50, max_iter=5, random_state=2).start
        != one.start
    )
    judged.clear()
    mc.tune(mc.KernelRidge(0.2, mc.Gaussian(1.0)), X, y, judge, max_samples=None, max_iter=1)
    assert set(judged) == {200}


def test_weights() -> None:
    """Weight 0 is not there; weight c for all is λ/c."""
    X, y = _data(60)
    w = np.r_[np.ones(40), np.zeros(20)]
    machine = mc.KernelRidge(0.2, mc.Gaussian(1.0))
    assert mc.tune(machine, X, y, sample_weight=w, max_iter=5).history == pytest.approx(
        mc.tune(machine, X[:40], y[:40], max_iter=5).history
    )
    heavy = mc.tune(machine, X, y, sample_weight=np.full(60, 4.0), max_iter=1).start
    assert heavy == pytest.approx(mc.tune(mc.KernelRidge(0.05, mc.Gaussian(1.0)), X, y, max_iter=1).start, rel=1e-9)


def test_progress_sees_and_stops() -> None:
    X, y = _data(60)
    seen: list[dict[str, Any]] = []

    def watch(state: dict[str, Any]) -> bool:
        seen.append(state)
        return len(seen) == 4

    found = mc.tune(mc.KernelRidge(0.2, mc.Gaussian(5.0)), X, y, progress=watch, restarts=5)
    assert [s["evaluations"] for s in seen] == [1, 2, 3, 4]
    assert [s["value"] for s in seen] == found.history
    assert found.n_evaluations == 4
    assert found.value == min(s["value"] for s in seen)


@pytest.mark.thorough
def test_the_limit_of_time_leaves_the_best_so_far() -> None:
    X, y = _data(300)
    start = time.perf_counter()
    found = mc.tune(mc.KernelRidge(0.2, mc.Matern(np.ones(3), nu=math.inf)), X, y, max_time=2.0, restarts=10**6)
    assert time.perf_counter() - start < 30  # a promise about time: a million restarts would take days
    assert found.n_evaluations >= 1
    assert found.value <= found.start


# -- targets ----------------------------------------------------------------------------------------------------------


def test_classes_are_coded_as_signs() -> None:
    X, y = _labels(50)
    k = mc.Gaussian(0.5)
    signs = np.where(y == "b", 1.0, -1.0)[:, None]
    assert mc.tune(mc.SVC(2.0, k), X, y, max_iter=1).start == pytest.approx(
        CRITERIA["loo"](k(X), signs, np.ones(50), 0.25, True)[0], rel=1e-9
    )
    several = np.array(["a", "b", "c"])[np.arange(50) % 3]
    coded = np.where(several[:, None] == np.array(["a", "b", "c"]), 1.0, -1.0)
    for criterion in ("loo", "alignment", "marginal likelihood"):
        start = mc.tune(mc.KernelLogistic(0.3, k), X, several, criterion, max_iter=1).start
        assert start == pytest.approx(CRITERIA[criterion](k(X), coded, np.ones(50), 0.3, True)[0], rel=1e-9)
    found = mc.tune(mc.SVC(1.0, mc.Gaussian(20.0)), X, y, max_iter=20)
    assert cross_val_score(found.estimator, X, y).mean() > cross_val_score(mc.SVC(1.0, mc.Gaussian(20.0)), X, y).mean()


def test_several_outputs() -> None:
    X, y = _data(50)
    Y = np.column_stack([y, X[:, 2] ** 2])
    k = mc.Gaussian(0.5)
    found = mc.tune(mc.KernelRidge(0.3, k), X, Y)
    assert found.start == pytest.approx(CRITERIA["loo"](k(X), Y, np.ones(50), 0.3, True)[0], rel=1e-9)
    assert found.value < found.start


@kernel
class Letters(Pairwise):
    """How many letters two words share: no parameter."""

    def _pair(self, a: Any, b: Any) -> float:
        return float(len(set(a) & set(b)))


def test_a_kernel_without_parameters_still_has_its_ridge() -> None:
    rng = np.random.default_rng(0)
    words = ["".join(rng.choice(list("abcdefgh"), 5)) for _ in range(40)]
    y = np.array([float("a" in w) + 2.0 * ("b" in w) for w in words]) + 0.1 * rng.standard_normal(40)
    found = mc.tune(mc.KernelRidge(50.0, Letters()), words, y)
    assert set(found.parameters) == {"alpha"}
    assert found.value < found.start
    assert found.fit(words, y).score(words, y) > 0.9


# -- errors -----------------------------------------------------------------------------------------------------------


def test_errors() -> None:
    X, y = _data(30)
    with pytest.raises(TypeError, match="precomputed"):
        mc.tune(mc.KernelRidge(kernel="precomputed"), mc.Gaussian(1.0)(X), y)
    with pytest.raises(TypeError, match="Mercer"):
        mc.tune(GaussianProcessRegressor(), X, y)
    with pytest.raises(ValueError, match=r"criterion='magic'.*'loo'.*'span'"):
        mc.tune(mc.KernelRidge(), X, y, "magic")
    with pytest.raises(ValueError, match="nothing to tune"):
        mc.tune(mc.NuSVC(0.3, mc.Linear()), *_labels(30))
    with pytest.raises(ValueError, match="two classes"):
        mc.tune(mc.SVC(), X, np.arange(30) % 3, "span")


def test_a_matrix_that_is_not_positive_anywhere_is_said_to_be() -> None:
    """An indefinite kernel with a small ridge has no leave-one-out error to speak of: an error in words, not of
    unpacking.
    """
    X, y = _data(40)
    with pytest.raises(ValueError, match=r"positive|finite"):
        mc.tune(mc.KernelRidge(1e-6, mc.Sigmoid(-1.0, 1.0)), X, y, max_iter=3)


def test_targets_of_another_length() -> None:
    X, y = _data(30)
    with pytest.raises(ValueError, match=r"inconsistent|samples"):
        mc.tune(mc.KernelRidge(0.2, mc.Gaussian(0.5)), X, y[:-3])


def test_one_class_is_refused_in_words() -> None:
    X, _ = _data(30)
    for criterion in ("span", "loo"):
        with pytest.raises(ValueError, match="class"):
            mc.tune(mc.SVC(1.0, mc.Gaussian(0.5)), X, np.zeros(30), criterion)


def test_a_constant_target_is_refused_in_words() -> None:
    """Every kernel predicts it without error: there is nothing to tune by."""
    X, _ = _data(30)
    with pytest.raises(ValueError, match=r"constant|same|finite"):
        mc.tune(mc.KernelRidge(0.2, mc.Gaussian(0.5)), X, np.ones(30))


@kernel
class Bounded(Radial):
    """exp(−γ‖x − z‖²) for γ of at most ½."""

    gamma: float = positive(0.1, symbol="γ", maximum=0.5)

    def _profile(self, d2: Any) -> Any:
        return exp(-self.gamma * d2)


@pytest.mark.thorough
def test_a_parameter_is_sought_within_its_bounds() -> None:
    """At a γ beyond the bound the criterion is smaller still, as the same kernel without a bound shows."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, (60, 1))
    y = np.sin(6 * X[:, 0])
    free = mc.tune(mc.KernelRidge(1e-3, mc.Gaussian(0.1)), X, y, restarts=1, random_state=0)
    assert free.parameters["kernel__gamma"] > 0.6
    for k, least in ((Bounded(), 0.45), (Bounded() + mc.Constant(1.0), 0.1)):
        found = mc.tune(mc.KernelRidge(1e-3, k), X, y, restarts=1, random_state=0)
        (near,) = (value for key, value in found.parameters.items() if key.endswith("gamma"))
        assert least < near <= 0.5
    with pytest.raises(ValueError, match=r"gamma must be a positive number of at most 0\.5"):
        Bounded(0.6)


# -- metrics ----------------------------------------------------------------------------------------------------------


def _metrics() -> list[Any]:
    rng = np.random.default_rng(5)
    A, low = rng.standard_normal((3, 3)), rng.standard_normal((3, 1))
    M, low = A @ A.T / 3, low @ low.T
    return [
        mc.Gaussian(0.3).metric(M),
        mc.Gaussian(0.3).metric(low),
        mc.PowerExponential(2.0, 1.4).metric([1.0, 0.5, 0.0]),
        mc.PowerLaplacian(0.3, 1.5).metric(M),  # which rotations change: M^½ is the symmetric root
        mc.Polynomial(2).metric(M).normalized(),
        mc.Matern([1.0, 2.0, 1.0], 2.5).metric(M) + 0.1 * mc.Linear().metric(low),
        mc.Gaussian(0.3).metric(M[:2, :2]).on([0, 2]) * mc.Gaussian(0.1),
    ]


@pytest.mark.thorough
@pytest.mark.parametrize("k", _metrics(), ids=lambda k: str(k)[:24])
@pytest.mark.parametrize(
    "criterion",
    [
        "loo",
        pytest.param("marginal likelihood", marks=pytest.mark.slow),
        pytest.param("alignment", marks=pytest.mark.slow),
    ],
)
def test_the_gradient_by_a_metric(k: Any, criterion: str) -> None:
    X = np.random.default_rng(1).standard_normal((25, 3))
    y = np.sin(X[:, 0] + X[:, 1]) + 0.2 * X[:, 2]
    _check_gradient(_objective(mc.KernelRidge(0.2, k), X, y, criterion))


@pytest.mark.thorough
def test_a_metric_is_tuned_in_the_form_it_has() -> None:
    rng = np.random.default_rng(0)
    X, T = rng.standard_normal((120, 4)), rng.standard_normal((200, 4))
    f, noise = (lambda A: np.sin(1.5 * (A[:, 0] + A[:, 1]))), 0.1 * rng.standard_normal(120)
    found = {}
    thin = np.array([[1.0], [0.5], [0.2], [0.1]])
    for name, M in (("full", np.eye(4)), ("weights", np.ones(4)), ("one", thin @ thin.T)):
        found[name] = mc.tune(mc.KernelRidge(0.1, mc.Gaussian(0.3).metric(M)), X, f(X) + noise, max_iter=60)
        assert found[name].value < found[name].start - 0.5
    full, weights, one = (each.estimator.kernel.M for each in found.values())
    np.testing.assert_array_equal(found["full"].parameters["kernel__M"], full)
    direction = np.linalg.eigh(full)[1][:, -1]
    np.testing.assert_allclose(np.abs(direction[:2]), np.sqrt(0.5), atol=0.05)  # x₀ + x₁
    assert found["full"].value < found["weights"].value
    assert weights.shape == (4,)
    assert (weights[:2].min() > 10 * weights[2:]).all()
    assert np.linalg.matrix_rank(one, tol=1e-8) == 1
    assert found["one"].fit(X, f(X) + noise).score(T, f(T)) > 0.97
    start = mc.KernelRidge(0.1, mc.Gaussian(0.3).metric(np.eye(4)))
    again = [mc.tune(start, X, f(X) + noise, max_iter=5, restarts=1, random_state=0).value for _ in range(2)]
    assert again[0] == again[1]


def test_a_metric_of_a_kernel_without_a_gradient_stays() -> None:
    X = np.random.default_rng(0).standard_normal((20, 2))
    k = mc.AllSubsets().metric(np.eye(2))
    with pytest.warns(UserWarning, match="leaves the metric"):
        found = mc.tune(mc.KernelRidge(0.1, k), X, X[:, 0], max_iter=3)
    np.testing.assert_array_equal(found.estimator.kernel.M, np.eye(2))
