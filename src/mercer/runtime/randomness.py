"""Random numbers from what scikit-learn calls a random state."""

from __future__ import annotations

import numpy as np

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


def drawn_from(random_state: RandomState) -> RandomNumbers:
    """A Generator as it is, else the RandomState that scikit-learn makes of it: for what draws as scikit-learn does,
    the same numbers from the same seed. What is Mercer's own draws from ``generator``.
    """
    from sklearn.utils import check_random_state

    return random_state if isinstance(random_state, np.random.Generator) else check_random_state(random_state)


def as_seed(random_state: RandomState) -> int:
    """A whole number: the one that is given, or one that is drawn."""
    if isinstance(random_state, int | np.integer):
        return int(random_state)
    return int(generator(random_state).integers(2**31))


def for_scikit_learn(random_state: RandomState) -> int | np.random.RandomState | None:
    """What scikit-learn takes, which is no Generator: that draws a number for it."""
    return int(random_state.integers(2**31 - 1)) if isinstance(random_state, np.random.Generator) else random_state
