"""What arguments are, in words: names for annotations where no static type says it."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

Samples: TypeAlias = Any
"""n samples as a user has them: rows of a NumPy array, SciPy sparse matrix, torch tensor, pandas or polars table; a
list of strings, graphs, molecules or of anything else that the domain of the kernel takes.
"""

Items: TypeAlias = Any
"""n samples as a kernel has prepared them (``mercer.data.representations``): an array, a CSR matrix, a ``Ragged``,
``HashedRows``, a list, or a tuple of these; or the symbols that stand for them while a formula is recorded."""

Symbol: TypeAlias = Any
"""A number or an array of numbers; or the symbol that stands for it while a formula is recorded."""

Targets: TypeAlias = Any
"""Labels or numbers, one for each sample, or one row of them: whatever NumPy makes an array of."""

Weights: TypeAlias = Any
"""Sample weights: None, or one number of at least 0 for each sample, which counts as that many repetitions."""

Index: TypeAlias = Any
"""Some of n items: a slice, or an array of positions."""

RandomState: TypeAlias = int | np.random.RandomState | np.random.Generator | None
"""What random numbers are drawn by: as scikit-learn takes it, or a Generator."""

RandomNumbers: TypeAlias = np.random.RandomState | np.random.Generator
"""What they are drawn from (``mercer.runtime.randomness``)."""

Estimator: TypeAlias = Any
"""An estimator: scikit-learn's contract, whoever wrote it."""

Axes: TypeAlias = Any
"""``matplotlib.axes.Axes``, or None for new ones."""
