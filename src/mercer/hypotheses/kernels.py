"""Which kernels a test looks through."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer import arrays
from mercer.annotations import Samples
from mercer.data import Vectors, in_order_of, listed, size, take
from mercer.kernels.base import Kernel
from mercer.kernels.families import squared_distances
from mercer.kernels.vectors.radial import Gaussian, Laplacian
from mercer.troubles import coded

_WIDTHS = 10
_SEEN = 500  # items whose distances are looked at


def items(V: Samples, *kernels: Any) -> Any:
    """What a test compares: a table where its kernels are of vectors, single numbers being a table of one column; else
    as it is given.
    """
    V = listed(V)
    given = [k for some in kernels for k in (some if isinstance(some, list | tuple) else [some])]
    if not all(
        k is None or isinstance(k, str) or isinstance(getattr(k, "domain", None), Vectors) for k in given
    ) or arrays.is_tensor(V):
        return V
    values = np.asarray(V) if hasattr(V, "__array__") or isinstance(V, list | tuple) else V
    if isinstance(values, np.ndarray) and values.ndim == 1 and values.dtype.kind in "fiub":
        return values.reshape(-1, 1)
    return Gaussian().domain.check(V)


def comparable(X: Samples, Y: Samples) -> Any:
    """Y with its columns in the order of those of X, where both have names."""
    names = [[str(c) for c in V.columns] for V in (X, Y) if hasattr(V, "columns")]
    if len(names) == 2 and sorted(names[0]) != sorted(names[1]):
        raise ValueError(
            coded(
                f"The samples have different columns, {', '.join(names[0])} and {', '.join(names[1])}: they cannot be"
                " compared.",
                "M104",
            )
        )
    return in_order_of(Y, X)


def kernels_of(given: Any, Z: Samples) -> list[Kernel]:
    """One kernel, several, "aggregated" or None, bound to all data of the test: what is permuted must not decide the
    kernel.
    """
    if isinstance(given, str):
        if given != "aggregated":
            raise ValueError(
                coded(
                    f"kernel={given!r}: give a kernel, a list of them, 'aggregated', or None for Gaussian('median').",
                    "M205",
                )
            )
        return [k.bind(Z) for k in _many_widths(Z)]
    found = [Gaussian("median")] if given is None else list(given) if isinstance(given, list | tuple) else [given]
    if not found:
        raise ValueError(coded("kernel=[]: give at least one.", "M205"))
    for k in found:
        if not isinstance(k, Kernel):
            raise TypeError(
                coded(
                    f"kernel={k!r}: give a kernel such as mercer.Gaussian('median'), a list of them, 'aggregated', or"
                    " None.",
                    "M203",
                )
            )
    return [k.bind(k.domain.check(Z)) for k in found]


def _many_widths(Z: Samples) -> list[Kernel]:
    """Gaussians and Laplacians whose widths go from half the least to twice the largest common distance (Schrab et al.
    2023).
    """
    domain = Gaussian().domain
    X = domain.check(Z)
    X = take(X, np.linspace(0, size(X) - 1, min(size(X), _SEEN)).astype(np.int64))
    squares = np.asarray(squared_distances(X, X))
    d = np.sqrt(np.maximum(squares[np.triu_indices(len(squares), 1)], 0.0))
    d = d[d > 0]
    if not len(d):
        raise ValueError(coded("All items are equal: there is no width to choose.", "M214"))
    low, high = float(np.quantile(d, 0.05)) / 2, float(np.quantile(d, 0.95)) * 2
    widths = np.geomspace(low, high, _WIDTHS)
    across = np.sqrt(X.shape[1])  # ℓ₁ distances are longer
    return [Gaussian(float(1 / w**2)) for w in widths] + [Laplacian(float(1 / (w * across))) for w in widths]
