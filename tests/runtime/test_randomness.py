"""What a random state gives, and gives again."""

from __future__ import annotations

import numpy as np
import pytest

import mercer as mc
from mercer.runtime.randomness import generator


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
