"""``mercer check``: whether a kernel is one on some data, and whether its matrix is of use."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mercer import arrays
from mercer.app.samples import Rows
from mercer.arrays import Array
from mercer.data import take
from mercer.kernels.base import Kernel
from mercer.native.linalg import eigenvalues
from mercer.testing import check_kernel

_DIAGONAL, _CONSTANT = 0.01, 0.99  # a mean cosine beyond which a matrix says little
_UNEVEN = 100.0  # ratio of the largest norm to the smallest
_ILL = 1e12  # a condition number


def examined(kernel: Kernel, rows: Rows, most: int, seed: int) -> dict[str, Any]:
    """What ``check_kernel`` says, on at most so many rows, and what the eigenvalues and cosines of the matrix are."""
    n = len(rows)
    chosen = np.arange(n) if n <= most else np.sort(np.random.default_rng(seed).choice(n, most, replace=False))
    X = rows.X if n <= most else take(rows.X, chosen)
    report = check_kernel(kernel, X)
    found: dict[str, Any] = {
        "kernel": repr(kernel), "samples": n, "examined": len(chosen), "valid": bool(report), "finite": report.finite,
        "symmetric": report.symmetric, "cauchy_schwarz": report.cauchy_schwarz, "proof": kernel.psd,
        "verdict": report.verdict, "without_derivative": list(report.without_derivative),
    }  # fmt: skip
    if report.finite and report.symmetric:
        found |= _measured(np.array(arrays.to_numpy(kernel.bind(X)(X)), np.float64))
    found["suggestions"] = _suggestions(found)
    return found


def _measured(K: Array) -> dict[str, Any]:
    """Eigenvalues, condition, and how alike two different samples are."""
    values, own = eigenvalues(K.copy()), np.diagonal(K)
    largest = float(np.abs(values).max(initial=0.0))
    rounding = len(K) * np.finfo(np.float64).eps * largest
    positive = np.maximum(values, 0.0)
    share = positive / positive.sum() if positive.sum() else positive
    norms = np.sqrt(np.maximum(own, 0.0))
    scale = np.where(norms > 0, norms, np.inf)
    cosines = np.abs(K / scale[:, None] / scale)
    off = (float(cosines.sum()) - float(np.trace(cosines))) / max(1, len(K) * (len(K) - 1))
    return {
        "smallest_eigenvalue": float(values[0]),
        "largest_eigenvalue": float(values[-1]),
        "negative_eigenvalues": int(np.sum(values < -rounding)),
        "rank": int(np.sum(np.abs(values) > rounding)),
        "effective_rank": float(np.exp(-np.sum(share[share > 0] * np.log(share[share > 0])))),
        "condition": float(values[-1] / values[0]) if values[0] > rounding else None,
        "mean_cosine": off,
        "norms": [float(norms.min()), float(norms.max())],
    }


def _suggestions(found: dict[str, Any]) -> list[str]:
    """What to do about what was found."""
    if not found["finite"]:
        return ["Values are not finite: scale the columns (kernel.standardized()) or the kernel's parameters."]
    if not found["symmetric"]:
        return ["k(x, z) and k(z, x) differ: mend the formula, or average the two."]
    said = []
    if not found["valid"]:
        said.append("Not positive semi-definite here: repair it, kernel.repaired('clip'), or choose another kernel.")
    if found["mean_cosine"] < _DIAGONAL and found["examined"] > 2:
        said.append(
            "The matrix is nearly diagonal: every sample is like itself alone, and nothing can be learnt from others."
            " Widen the kernel (a smaller gamma, a larger length_scale), or standardise the columns."
        )
    if found["mean_cosine"] > _CONSTANT:
        said.append(
            "The matrix is nearly constant: all samples look the same. Narrow the kernel (a larger gamma, a smaller"
            " length_scale), or take kernel.centered()."
        )
    low, high = found["norms"]
    if low == 0 and high > 0:
        said.append("Some samples have k(x, x) = 0: they are like nothing; look at them.")
    elif high > _UNEVEN * low:
        said.append(
            f"k(x, x) differs by a factor of {(high / low) ** 2:.1g}: large samples decide; kernel.normalized() makes"
            " them alike."
        )
    if found["valid"] and (found["condition"] is None or found["condition"] > _ILL):
        said.append(
            "The matrix is singular to rounding, as smooth kernels and copies make it: machines need a ridge (alpha, or"
            " a finite C), and an inverse without one is noise."
        )
    return said


def in_words(found: dict[str, Any]) -> str:
    """The same for a person."""
    lines = [found["verdict"], f"examined           {found['examined']} of {found['samples']} samples"]
    if "rank" in found:
        condition = found["condition"]
        lines += [
            f"eigenvalues        {found['smallest_eigenvalue']:.3g} to {found['largest_eigenvalue']:.3g},"
            f" {found['negative_eigenvalues']} of them negative",
            f"condition          {'infinite to rounding' if condition is None else format(condition, '.3g')}",
            f"rank               {found['rank']}; as many as {found['effective_rank']:.1f} equal eigenvalues",
            f"mean cosine        {found['mean_cosine']:.3g} between two samples (0: diagonal, 1: constant)",
            f"norms              {found['norms'][0]:.3g} to {found['norms'][1]:.3g}",
        ]
    return "\n".join(lines + [f"- {one}" for one in found["suggestions"]])


def plain(found: dict[str, Any]) -> dict[str, Any]:
    """The same for machines: JSON has no NaN and no infinity."""
    return {k: None if isinstance(v, float) and not math.isfinite(v) else v for k, v in found.items()}
