"""What a kernel makes of samples: its matrix, its spectrum, and how alike samples of one class are."""

from __future__ import annotations

import re

import numpy as np

from mercer import arrays
from mercer.annotations import Samples
from mercer.arrays import Array
from mercer.data import size, take
from mercer.geometry import alignment, effective_dimension
from mercer.kernels.base import Kernel
from mercer.plots.matrix import GramDisplay
from mercer.reports.blocks import Block, Fact, Facts, Formula, Section
from mercer.reports.figures import picture, side_by_side

_NUMBER = re.compile(r"\d+\.\d{4,}(e-?\d+)?")
_LONGEST = 300  # letters of a kernel as it is written
MOST = 300  # samples whose matrix is looked at


def formulas(kernel: Kernel) -> list[str]:
    """Of each kernel inside: its name, and the first line of what is documented of it, its formula."""
    found: dict[str, str] = {}

    def walk(k: Kernel) -> None:
        parts = [part for _, part in k._children()]
        for part in parts:
            walk(part)
        if not parts:
            first = (type(k).__doc__ or "").strip().split("\n\n")[0].replace("\n", " ")
            found.setdefault(type(k).__name__, " ".join(first.replace("``", "").split()))

    walk(kernel)
    return [f"{name}: {text}" for name, text in found.items()]


def proof(kernel: Kernel) -> str:
    """Whether it is valid, in words."""
    if kernel.psd:
        return "positive semi-definite, which follows from how it is made"
    return (
        "not known to be valid for all data" if kernel.psd is None else "not valid: some data give negative eigenvalues"
    )


def in_digits(text: str) -> str:
    """Text with its numbers in four digits."""
    return _NUMBER.sub(lambda found: f"{float(found[0]):.4g}", text)


def in_short(kernel: Kernel, words: str = "") -> str:
    """The kernel as it is written, or in words where that is long."""
    text = in_digits(str(kernel))
    return text if len(text) <= _LONGEST else words or f"{text[:_LONGEST]}…"


def section(
    kernel: Kernel, items: Samples, y: Array | None, names: Array | None, alpha: float | None, words: str = ""
) -> Section:
    """Of at most ``MOST`` items, evenly drawn; y are codes of classes where these have ``names``, else numbers.
    ``words`` stand for a kernel that takes too long to write.
    """
    few = np.linspace(0, size(items) - 1, min(size(items), MOST)).astype(int)
    some = take(items, few)
    K = np.asarray(arrays.to_numpy(kernel.gram(some).dense()), np.float64)
    off = K[~np.eye(len(K), dtype=bool)]
    facts = [
        Fact(
            "Similarity of two samples",
            f"{float(off.mean()):.3g}",
            f"The mean of k(x, z) over pairs; of a sample"
            f" with itself it is {float(np.diagonal(K).mean()):.3g}. Where both are alike, or the first is near 0"
            " for all pairs, the kernel tells little.",
        )
    ]
    target = None if y is None else y[few]
    if target is not None and len(np.unique(target)) > 1:
        if names is not None:
            same = target[:, None] == target
            apart = ~np.eye(len(K), dtype=bool)
            facts.append(
                Fact(
                    "Within and between classes",
                    f"{K[same & apart].mean():.3g} and {K[~same].mean():.3g}",
                    "Mean similarities of two samples of one class, and of different ones.",
                )
            )
            L = same * 1.0
        else:
            L = np.outer(target, target)
        facts.append(
            Fact(
                "Alignment",
                f"{alignment(K, L):.3f}",
                "How alike the matrix is to that of the targets, both centred; 1 is the same, 0 has nothing in common.",
            )
        )
    if alpha is not None and alpha > 0:
        facts.append(
            Fact(
                "Effective dimension",
                f"{effective_dimension(K, alpha):.1f}",
                f"How many of {len(K)} directions"
                f" the penalty α = {alpha:.3g} leaves free: near {len(K)}, the"
                " machine can follow every sample.",
            )
        )
    labels = None if names is None or target is None else names[target]
    blocks: list[Block] = [Formula(in_short(kernel, words), f"It is {proof(kernel)}."), Facts(facts)]
    blocks += side_by_side(
        picture(
            lambda: GramDisplay.from_matrix(K, labels, n_clusters=None if labels is not None else 4),
            "Every sample with every other, bright where they are alike,"
            " ordered by class or cluster; and the eigenvalues of the"
            " matrix: where they fall fast, few directions matter.",
            wide=True,
        )
    )
    return Section(
        "What it compares by", f"The kernel k(x, z) says how alike two samples are; here on {len(K)} of them.", blocks
    )
