"""What a random state gives, and gives again."""

from __future__ import annotations

import numpy as np
import pytest

import mercer as mc
from mercer.runtime.randomness import drawn_from, for_scikit_learn, generator


def test_numbers_states_and_generators() -> None:
    assert generator(3).random() == np.random.default_rng(3).random() == generator(np.int64(3)).random()
    given = np.random.default_rng(0)
    assert generator(given) is given
    one, two = (np.random.RandomState(5) for _ in range(2))
    first = generator(one).random()
    assert first == generator(two).random() != generator(one).random()
    with pytest.raises((TypeError, ValueError)):
        generator(-1)


def test_none_is_the_global_state() -> None:
    def draw() -> float:
        np.random.seed(4)  # noqa: NPY002
        return float(generator(None).random())

    assert draw() == draw() != generator(None).random()


def test_the_seed_of_numpy_makes_fits_repeat() -> None:
    X = np.random.default_rng(0).standard_normal((700, 3))

    def fitted() -> np.ndarray:
        np.random.seed(1)  # noqa: NPY002
        return np.asarray(mc.KernelPCA(2, mc.Gaussian(0.3), solver="krylov").fit_transform(X))

    np.testing.assert_array_equal(fitted(), fitted())


def test_generators_draw_as_they_are_and_a_number_for_scikit_learn() -> None:
    given = np.random.default_rng(0)
    assert drawn_from(given) is given
    assert drawn_from(3).uniform() == np.random.RandomState(3).uniform()
    assert for_scikit_learn(given) == int(np.random.default_rng(0).integers(2**31 - 1))
    assert for_scikit_learn(None) is None


def test_folds_by_a_generator() -> None:
    X = np.random.default_rng(0).standard_normal((40, 2))

    def ends() -> np.ndarray:
        machine = mc.ConformalRegressor(mc.SVR(), method="loo", folds=4, random_state=np.random.default_rng(1))
        return np.asarray(machine.fit(X, X[:, 0]).predict_interval(X[:5]))

    np.testing.assert_array_equal(ends(), ends())
