"""Random numbers from what scikit-learn calls a random state."""

from __future__ import annotations

import numpy as np
from sklearn.utils import check_random_state

from mercer.annotations import RandomNumbers, RandomState


def generator(random_state: RandomState) -> np.random.Generator:
    """A generator: that of a number, of a RandomState or Generator as it stands now; None: of NumPy's global state, so
    that ``np.random.seed`` makes a result repeat, as it does scikit-learn's.
    """
    if isinstance(random_state, np.random.Generator):
        return random_state
    if random_state is None:
        return np.random.default_rng(int(np.random.randint(2**31 - 1)))  # noqa: NPY002
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(int(random_state.randint(2**31 - 1)))
    return np.random.default_rng(random_state)


def numbers(random_state: RandomState) -> RandomNumbers:
    """What is drawn from: a Generator as it is, else what scikit-learn makes of it, which draws the same numbers."""
    return random_state if isinstance(random_state, np.random.Generator) else check_random_state(random_state)


def for_scikit_learn(random_state: RandomState) -> int | np.random.RandomState | None:
    """What scikit-learn takes, which is no Generator: that draws a number for it."""
    return int(random_state.integers(2**31 - 1)) if isinstance(random_state, np.random.Generator) else random_state
