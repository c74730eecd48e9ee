"""When the values of parameters are the same: numbers, tuples, arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer import arrays


def same_values(a: object, b: object) -> bool:
    if isinstance(a, tuple | list) and isinstance(b, tuple | list):
        return len(a) == len(b) and all(same_values(x, y) for x, y in zip(a, b, strict=True))
    if hasattr(a, "shape") or hasattr(b, "shape"):
        return bool(np.array_equal(arrays.to_numpy(_plain(a)), arrays.to_numpy(_plain(b))))
    return bool(a == b)


def _plain(x: object) -> Any:
    return x.toarray() if hasattr(x, "toarray") else x


def hashable(value: object) -> Any:
    if isinstance(value, tuple | list):
        return tuple(hashable(v) for v in value)
    if hasattr(value, "shape"):
        x = arrays.to_numpy(_plain(value))
        return x.shape, x.tobytes() if x.dtype != object else len(x)
    return value
