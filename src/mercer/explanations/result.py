"""What an explanation is: parts of an answer that add up to it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer.arrays import Array

_SHOWN = 10  # parts in a printed table


@dataclass(frozen=True, eq=False)
class Explanation:
    """f(x) = base + Σ_parts values: one answer of a model, taken apart.

    Made by ``explain``, one for each sample. The parts are training samples, terms of the kernel, columns, features or
    places; the sum is the answer to the last digits, also where the parts were sampled. Of ``by="gradient"`` alone the
    values are slopes, which add up to nothing: there ``base`` is f(x).

    Parameters
    ----------
    by : str
        What the parts are: "sample", "term", "column", "gradient", "feature", "place" or "lag".
    names : list
        What each part is called: numbers of rows, kernels as text, names of columns, words, positions.
    values : ndarray of shape (parts,) or (parts, outputs)
        The contribution of each part.
    base : float or ndarray of shape (outputs,)
        What is there without any part: the bias; for columns, the mean answer for the background.
    errors : ndarray like ``values``, or None
        Standard errors of values that were sampled; None where they are exact.
    places : list of tuple of int, or None
        Of ``by="feature"``: where in the item each feature occurs.
    labels : list or None
        Of ``by="place"``: what stands at each place: a letter, a word, the label of a vertex, an atom.

    Attributes
    ----------
    total
        base + Σ values.

    See Also
    --------
    explain : Where they come from.

    Examples
    --------
    >>> import numpy as np
    >>> import mercer as mc
    >>> e = mc.Explanation("column", ["age", "height"], np.array([0.5, -2.0]), 1.0)
    >>> e.total, e.top(1)
    (-0.5, [('height', -2.0)])
    >>> print(e)
    -0.5 = 1 + 2 parts by column
      height         -2
      age           0.5
    """

    by: str
    names: list[Any]
    values: Array
    base: float | Array
    errors: Array | None = None
    places: list[tuple[int, ...]] | None = None
    labels: list[Any] | None = None

    @property
    def total(self) -> Any:
        """The answer: base + Σ values; of a gradient, base."""
        found = self.base if self.by == "gradient" else self.base + self.values.sum(axis=0)
        return float(found) if np.ndim(found) == 0 else found

    def top(self, n: int = 10) -> list[tuple[Any, Any]]:
        """The n parts of the largest size with their values, the largest first; of several outputs, by the norm.

        Parameters
        ----------
        n : int, default=10
            How many at most.

        Returns
        -------
        list of (name, value)
        """
        return [(self.names[i], _plain(self.values[i])) for i in self._order()[:n]]

    def _order(self) -> Array:
        sizes = np.abs(self.values) if self.values.ndim == 1 else np.linalg.norm(self.values, axis=1)
        return np.argsort(-sizes, kind="stable")

    def __str__(self) -> str:
        order = self._order()
        shown = [str(self.names[i]) for i in order[:_SHOWN]]
        if self.labels is not None:
            shown = [f"{name} {self.labels[i]}" for name, i in zip(shown, order, strict=False)]
        wide = max([len(name) for name in shown], default=0)
        lines = [
            f"  {name:<{wide}}  {_row(self.values[i])}" + ("" if self.errors is None else f"  ± {_row(self.errors[i])}")
            for name, i in zip(shown, order, strict=False)
        ]
        rest = order[_SHOWN:]
        if len(rest) and self.by != "gradient":
            lines.append(f"  {f'({len(rest)} more)':<{wide}}  {_row(self.values[rest].sum(axis=0))}")
        head = (
            f"∇f where f = {_row(self.base).strip()}"
            if self.by == "gradient"
            else (f"{_row(self.total).strip()} = {_row(self.base).strip()} + {len(self.names)} parts by {self.by}")
        )
        return "\n".join([head, *lines])


def _row(values: float | Array) -> str:
    return "  ".join(f"{value:>9.4g}" for value in np.atleast_1d(values))


def _plain(value: float | Array) -> Any:
    return float(value) if np.ndim(value) == 0 else value
