"""What is explained: the function of a model, the samples it is asked about, and the rows they are compared with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from mercer import arrays
from mercer.annotations import Estimator, Samples
from mercer.arrays import Array
from mercer.data import Bits, DataError, as_frame, in_order_of, listed, size, take
from mercer.functions import RKHSFunction
from mercer.kernels.columns import width
from mercer.kernels.graphs.vectorised import Described
from mercer.troubles import coded

_BACKGROUND = 50  # rows


@dataclass(frozen=True, eq=False)
class Subject:
    """``answers(rows)`` for samples X; ``f`` where it is a function in the space of a kernel."""

    X: Samples
    answers: Callable[[Any], Any]
    f: RKHSFunction | None = None
    numbers: Array | None = None  # of f's centres, among the training samples
    names: list[Any] | None = None  # of the columns
    reference: Samples = None  # rows to compare with, where none are given

    @classmethod
    def of(cls, model: Estimator, X: Samples) -> Subject:
        """Of anything that answers: a kernel machine or its function, a model with a background of its own, or an
        estimator or function of rows.
        """
        if hasattr(model, "_explained"):
            return cls(*model._explained(X))
        if hasattr(type(model), "function_"):
            accept = getattr(model, "_accept_new", listed)
            f, X = model.function_, accept(X)
            names = getattr(model, "feature_names_in_", None)
            return cls._of_function(f, X, getattr(model, "support_", None), None if names is None else list(names))
        if isinstance(model, RKHSFunction):
            return cls._of_function(model, listed(X), None, None)
        ways = ("decision_function", "predict_proba", "predict")
        found = next((getattr(model, name) for name in ways if hasattr(model, name)), model)
        if not callable(found):
            raise TypeError(
                coded(
                    f"{type(model).__name__} cannot be explained: it has no function_, decision_function,"
                    " predict_proba or predict, and is no function itself.",
                    "M311",
                )
            )
        return cls(listed(X), found)

    @classmethod
    def _of_function(cls, f: RKHSFunction, X: Samples, numbers: Array | None, names: list[Any] | None) -> Subject:
        known = numbers is not None and len(numbers) == len(f.coef) and (np.asarray(numbers) >= 0).all()
        numbers = np.asarray(numbers) if known else np.arange(len(f.coef))
        return cls(in_order_of(X, f.centers), f, f, numbers, names, f.centers)

    def by_columns(self, background: Samples) -> tuple[Subject, Samples]:
        """The same over rows of numbers, and so the background: of molecules their descriptors, where the kernel
        compares these.
        """
        if self.f is None or not isinstance(k := self.f.kernel, Described):
            return self, background
        centers = k._descriptors(self.f.centers)
        f = RKHSFunction(k._between_descriptors, centers, self.f.coef, self.f.bias)
        rows = None if background is None else k._descriptors(listed(background))
        return Subject(k._descriptors(self.X), f, f, self.numbers, k._columns, centers), rows

    @property
    def single(self) -> bool:
        """Whether there is one output by nature."""
        return self.f is None or np.ndim(self.f.coef) == 1

    def table(self) -> Any:
        """The samples as a table, checked."""
        return self._as_table(self.X)

    def background(self, given: Samples) -> Any:
        """The rows that columns are compared with, as a table: those given, or up to 50 of the samples that the model
        keeps, evenly drawn.
        """
        if given is not None:
            rows = self._as_table(in_order_of(listed(given), self.X))
            if width(rows) != width(self.table()):
                raise DataError(
                    f"The background has {width(rows)} columns, the samples have {width(self.table())}; give rows of"
                    " the same table.",
                    "M104",
                )
        elif self.reference is None:
            raise ValueError(
                coded("This model keeps no training samples: give some as background=, rows like those of X.", "M311")
            )
        else:
            n = size(self.reference)
            rows = self._as_table(
                take(self.reference, np.unique(np.linspace(0, n - 1, min(n, _BACKGROUND)).astype(int)))
            )
        if not size(rows):
            raise DataError("The background has no rows; there is nothing to compare with.", "M116")
        return rows

    def _as_table(self, X: Samples) -> Any:
        X = X if self.f is None else self.f.kernel.domain.check(X)
        if as_frame(X) is not None:
            return X
        X = X.toarray() if sparse.issparse(X) else arrays.to_numpy(X) if arrays.is_tensor(X) else X
        if isinstance(X, Bits):
            X = X.unpacked()
        elif isinstance(X, list):
            X = np.asarray(X) if self.f is None else _cells(X)
        if len(getattr(X, "shape", ())) != 2:
            raise TypeError(
                coded(
                    'by="column" explains the rows of tables, and these samples are none; ask by="sample", "place" or'
                    ' "feature".',
                    "M311",
                )
            )
        return X

    def columns(self) -> list[Any]:
        """The names of the columns, or their numbers."""
        if self.names is not None:
            return self.names
        frame = as_frame(self.X)
        return list(range(width(self.table()))) if frame is None else list(frame.columns)


def _cells(rows: list[Any]) -> Any:
    """Rows as an array of their cells, where they are as long as each other and cells are no arrays."""
    try:
        return np.array(rows, dtype=object)
    except ValueError:
        return rows
