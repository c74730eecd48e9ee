"""Random numbers from what scikit-learn calls a random state."""

from __future__ import annotations

import numpy as np

from mercer.annotations import RandomState


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
