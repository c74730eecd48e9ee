"""What is kept of the rows by which a model was judged: answers as they were given, and some of the rows themselves."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from mercer.annotations import Samples
from mercer.arrays import Array
from mercer.tabular.members import Member

_ANSWERS = 20_000
_ROWS = 400
_HEAVY = 8


@dataclass(eq=False)
class HeldOut:
    """Targets and answers of rows that were not trained on, and the table of some of them, ``shown`` their numbers
    among the answers; ``heavy``: training rows whose own term in the sum of the machine is largest, with their targets
    and the length of the term.
    """

    y: Array
    answers: Array
    rows: pl.DataFrame | None
    shown: Array
    heavy: pl.DataFrame | None = None
    heavy_y: Array | None = None
    heavy_norms: Array | None = None

    @classmethod
    def of(cls, y: Array, answers: Array, X: Samples) -> HeldOut:
        """Of rows judged once each."""
        few = np.linspace(0, len(y) - 1, min(len(y), _ANSWERS)).astype(int)
        shown = np.linspace(0, len(few) - 1, min(len(few), _ROWS)).astype(int)
        rows = X[few[shown]] if isinstance(X, pl.DataFrame) else None
        # probabilities need few digits; numbers may be far from 0
        return cls(y[few], answers[few].astype(np.float32 if answers.ndim == 2 else np.float64), rows, shown)

    def weigh(self, member: Member, X: Samples, y: Array) -> None:
        """Remember the rows whose terms α_i k(x_i, ·) are the longest."""
        machine = member.estimator
        coef, support = getattr(machine, "_dual_coef", None), getattr(machine, "support_", None)
        if coef is None or support is None or coef.shape[1] != len(support) or not isinstance(X, pl.DataFrame):
            return
        if getattr(machine, "centers", None) is not None:  # their coefficients say nothing of single rows
            return
        norms = np.linalg.norm(coef, axis=0)  # of kernels with k(x, x) alike
        top = np.argsort(-norms, kind="stable")[:_HEAVY]
        numbers = np.asarray(support)[top]
        if len(numbers) and numbers.max() < len(y):
            self.heavy, self.heavy_y, self.heavy_norms = X[numbers], y[numbers], norms[top]
