"""Trained members of an average, from a table in form to answers, and what is known of how sure they are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer.annotations import Estimator, Samples
from mercer.arrays import Array
from mercer.data import chunks
from mercer.estimators.ridge_cv import KernelRidgeCV
from mercer.kernels.base import Kernel
from mercer.kernels.vectors.radial import Gaussian
from mercer.selection.ranks import check_enough, rank
from mercer.tabular.calibration import Calibration
from mercer.tabular.encoding import Encoding
from mercer.tabular.families import in_silence, values
from mercer.tabular.targets import Scale

_BLOCK = 20_000  # rows that are answered at a time
_NOISE_ROWS = 1500
_TELLS = 0.02  # share of the variance of log |error| that x must explain
_NEAREST = 1000  # training rows that new ones are held against


@dataclass(eq=False)
class Member:
    """A machine with what it needs to read a table, and what makes answers of its values; ``weight`` in the average."""

    name: str
    weight: float
    encoding: Encoding | None
    machine: Estimator
    finish: Calibration | Scale  # a Calibration of classes, or a Scale of numbers

    @property
    def estimator(self) -> Any:
        """What was solved for: the machine itself, or the ridge over the cells of trees."""
        return getattr(self.machine, "ridge", self.machine)

    def answers(self, X: Samples) -> Array:
        """Probabilities, (n, classes), or numbers, (n,)."""
        rows = X if self.encoding is None else self.encoding(X)
        found = in_silence(values, self.machine, rows)
        if hasattr(self.finish, "back"):
            return np.asarray(self.finish.back(found.reshape(len(found), -1)[:, 0]))
        return np.asarray(self.finish(found))


def average(members: list[Member], X: Samples) -> Array:
    """Σ β_c p_c(x), in blocks of rows."""
    n = X.shape[0]
    parts = [np.asarray(sum(m.weight * m.answers(X[rows]) for m in members)) for rows in chunks(n, _BLOCK)]
    return np.concatenate(parts)


@dataclass(eq=False)
class Noise:
    """|y − f(x)| of rows that f was not trained on: ``errors`` as multiples of s(x), sorted; s is 1 where x does not
    tell.
    """

    errors: Array
    encoding: Encoding | None = None
    machine: KernelRidgeCV | None = None

    @classmethod
    def of(cls, errors: Array, X: Samples, encoding: Encoding | None) -> Noise:
        """log |error| is learnt by a ridge, whose leave-one-out values scale the errors: as x says it, and not the
        error itself.
        """
        e = np.abs(errors)
        if encoding is None or encoding.written or len(e) < 200:
            return cls(np.sort(e))
        logs = np.log(e + 0.01 * max(float(np.median(e)), 1e-300))
        few = np.linspace(0, len(e) - 1, min(len(e), _NOISE_ROWS)).astype(int)
        ridge = KernelRidgeCV(np.geomspace(0.1, 300, 8), Gaussian("median"))
        rows = encoding(X[few])
        in_silence(ridge.fit, rows, logs[few])
        explained = 1 - np.mean(ridge.loo_residuals_**2) / max(float(np.var(logs[few])), 1e-300)
        if explained < _TELLS:
            return cls(np.sort(e))
        return cls(np.sort(e[few] / np.exp(ridge.loo_predictions_)), encoding, ridge)

    def widths(self, X: Samples, coverage: float) -> Array:
        """Half the width of intervals that hold so large a share of new rows."""
        check_enough(len(self.errors), coverage)
        place = rank(len(self.errors), coverage) - 1
        scale = np.ones(X.shape[0]) if self.machine is None else np.exp(self.machine.predict(self.encoding(X)))  # type: ignore[misc]
        return np.asarray(self.errors[place] * scale)


@dataclass(eq=False)
class Nearness:
    """How far from its nearest training row a row is, as a rank among the training rows themselves: 0.99 says that 99 %
    of them are nearer to another one.
    """

    kernel: Kernel
    encoding: Encoding | None
    rows: Samples
    distances: Array

    @classmethod
    def of(cls, machine: Estimator, encoding: Encoding | None, X: Samples, random: np.random.Generator) -> Nearness:
        few = np.sort(random.permutation(X.shape[0])[:_NEAREST])
        rows = X[few] if encoding is None else encoding(X[few])
        # cells know no distance
        kernel = getattr(machine, "kernel_", None) or Gaussian("median").bind(rows)
        found = cls(kernel, encoding, rows, np.empty(0))
        D = found._distances(rows)
        np.fill_diagonal(D, np.inf)
        found.distances = np.sort(D.min(axis=1))
        return found

    def _distances(self, rows: Samples) -> Array:
        k = self.kernel
        cross = np.asarray(in_silence(k, rows, self.rows), np.float64)
        own, theirs = (np.asarray(in_silence(k.diag, A), np.float64) for A in (rows, self.rows))
        return np.maximum(own[:, None] + theirs - 2 * cross, 0.0)

    def __call__(self, X: Samples) -> Array:
        out = []
        for part in chunks(X.shape[0], _BLOCK // 10):
            rows = X[part] if self.encoding is None else self.encoding(X[part])
            nearest = self._distances(rows).min(axis=1)
            out.append(np.searchsorted(self.distances, nearest, side="left") / len(self.distances))
        return np.concatenate(out) if out else np.empty(0)
