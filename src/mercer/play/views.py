"""What is sent to a page: named pictures of numbers, each one binary frame; and the two that every mode has.

A frame is the length of a header in four bytes, the header as JSON, and the arrays that it describes, one after
another from multiples of eight bytes on.
"""

from __future__ import annotations

import json
import math
import struct
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mercer.annotations import Samples
from mercer.arrays import Array
from mercer.compute import Compute
from mercer.geometry import dimension_of_spectrum
from mercer.kernels.base import Kernel
from mercer.play.limits import MEMORY
from mercer.runtime.threads import single_threaded_if_small

MATRIX_ROWS = 240  # of the picture of a matrix; its eigenvalues are those of the same rows
_EIGENVALUES = 60
_LOWEST = 20  # of them are negative ones, at most, where there are more than can be drawn
_ROUNDING = 1e-9  # of the largest: what is nearer to zero has no sign


@dataclass(frozen=True)
class View:
    """A picture: its name, what is said of it, and its numbers."""

    name: str
    data: dict[str, Any] = field(default_factory=dict)
    arrays: dict[str, Array] = field(default_factory=dict)


def frame(view: View, **header: Any) -> bytes:
    """A view as bytes; ``header`` is said beside it."""
    places, pieces, at = [], [], 0
    for name, array in view.arrays.items():
        kept = np.ascontiguousarray(array, dtype=_sent(array))
        places.append({"name": name, "dtype": kept.dtype.name, "shape": list(kept.shape), "at": at})
        piece = kept.tobytes()
        pieces.append(piece + bytes(-len(piece) % 8))
        at += len(pieces[-1])
    said = json.dumps(
        _finite({**header, "view": view.name, "data": view.data, "arrays": places}), ensure_ascii=False, allow_nan=False
    ).encode(errors="replace")
    said += b" " * (-(len(said) + 4) % 8)
    return struct.pack("<I", len(said)) + said + b"".join(pieces)


def _sent(array: Array) -> Any:
    kind = np.asarray(array).dtype
    return kind if kind in (np.uint8, np.int32) else np.int32 if kind.kind in "iub" else np.float32


def _finite(value: object) -> Any:
    """JSON has no word for NaN and infinity: they become null."""
    if isinstance(value, dict):
        return {str(k): _finite(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(v) for v in value]
    if isinstance(value, np.generic):
        value = value.item()
    return None if isinstance(value, float) and not math.isfinite(value) else value


# -- the matrix, and its eigenvalues -----------------------------------------------------------------------------------


def some_rows(n: int) -> Array:
    """At most MATRIX_ROWS of n rows, in their order: the same for the same n."""
    return np.sort(np.random.default_rng(0).permutation(n)[:MATRIX_ROWS])


def matrix_views(
    kernel: Kernel, X: Samples, n: int, groups: Array, ridge: float | None, *, learnt: bool = False
) -> list[View]:
    """The matrix of at most MATRIX_ROWS samples, rows by group and within it beside what they are like, and its
    eigenvalues with the effective dimension Σ λ_i/(λ_i + ridge): the largest, and where there are negative ones the
    smallest too. ``learnt``: whether the kernel is not that of the bar, but one that was learnt.
    """
    rows = some_rows(n)
    part = X[rows] if isinstance(X, np.ndarray) else [X[i] for i in rows]
    K = np.asarray(kernel.gram(part, compute=Compute(memory=MEMORY)).dense(), np.float64)
    with single_threaded_if_small(len(K)):
        values = np.linalg.eigvalsh(K)
        order = _ordered(K, np.asarray(groups)[rows])
    K = K[np.ix_(order, order)]
    low, high = float(K.min()), float(K.max())
    shades = np.round(255 * (K - low) / (high - low if high > low else 1.0)).astype(np.uint8)
    of = {"of": len(rows), "n": n, "learnt": learnt}
    negative = int(np.sum(values < -_ROUNDING * np.abs(values).max()))
    spectrum: dict[str, Any] = {
        **of, "smallest": float(values[0]), "trace": float(np.trace(K)), "ridge": ridge, "negative": negative,
    }  # fmt: skip
    last = min(negative, _LOWEST) if len(values) > _EIGENVALUES else 0
    falling = values[::-1]
    drawn = {"values": falling[: _EIGENVALUES - last], "lowest": falling[len(values) - last :]}
    if ridge is not None:
        spectrum["effective"] = dimension_of_spectrum(np.maximum(values, 0.0), ridge)
    return [
        View("matrix", {**of, "low": low, "high": high}, {"shades": shades, "rows": rows[order]}),
        View("spectrum", spectrum, drawn),
    ]


def _ordered(K: Array, groups: Array) -> Array:
    """Rows by group, and within it along the Fiedler vector of the graph whose weights are K − min K: what is alike
    stands together.
    """
    along = np.zeros(len(K))
    for group in np.unique(groups):
        rows = np.flatnonzero(groups == group)
        if len(rows) > 2:
            W = K[np.ix_(rows, rows)] - K.min()
            root = np.sqrt(np.maximum(W.sum(axis=1), 1e-300))
            second = np.linalg.eigh(W / root / root[:, None])[1][:, -2] / root
            along[rows] = second * np.sign(second[np.abs(second).argmax()])
    return np.lexsort((along, groups))
