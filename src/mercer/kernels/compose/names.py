"""What the features of sums and products of kernels are called, from the names of those of their parts."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer.data import HashedRows, salted, tensor

Named = tuple[Any, dict[int, Any]]  # features, and what they are called by their codes, or by their columns


def beside(parts: list[Named]) -> dict[int, Any]:
    """Of features side by side."""
    found: dict[int, Any] = {}
    if len(parts) == 1:
        return parts[0][1]
    hashed, begin = any(isinstance(phi, HashedRows) for phi, _ in parts), 0
    for t, (phi, names) in enumerate(parts):
        codes = list(names)
        if hashed:
            codes = salted(np.array(codes, np.uint64), t).tolist()
        else:
            codes, begin = [begin + code for code in codes], begin + int(phi.shape[1])
        found |= zip(codes, names.values(), strict=True)
    return found


def multiplied(parts: list[Named]) -> dict[int, Any]:
    """Of the products of a feature of each part, u × v; of open sets of columns those that occur."""
    out, names = parts[0]
    for phi, others in parts[1:]:
        if isinstance(out, HashedRows) or isinstance(phi, HashedRows):
            a, b = HashedRows.of(out), HashedRows.of(phi)
            out = tensor(a, b)
            # the places of the two entries that each product is of
            left = tensor(a.valued(np.arange(len(a.keys))), b.valued(np.ones(len(b.keys)))).values.astype(np.int64)
            right = tensor(a.valued(np.ones(len(a.keys))), b.valued(np.arange(len(b.keys)))).values.astype(np.int64)
            codes, first = np.unique(out.codes, return_index=True)
            ones, twos = a.codes[left[first]].tolist(), b.codes[right[first]].tolist()
            names = {
                code: f"{names[one]} × {others[two]}" for code, one, two in zip(codes.tolist(), ones, twos, strict=True)
            }
        else:
            width = int(phi.shape[1])
            names = {i * width + j: f"{name} × {other}" for i, name in names.items() for j, other in others.items()}
            out = np.empty((0, int(out.shape[1]) * width))
    return names
