"""What a member compares rows by, in words: the kernel by kinds of columns, and not by their names."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

from mercer.annotations import Estimator
from mercer.reports.similarity import in_digits
from mercer.tabular.encoding import Encoding
from mercer.tabular.families import CellMachine

_LONGEST = 160  # letters


def kernel_in_words(machine: Estimator, encoding: Encoding | None) -> str:
    """As "Laplacian(γ=0.1) on 192 numbers and 3 categories"."""
    if isinstance(machine, CellMachine):
        beside = " + Laplacian" if machine.smooth else ""
        return f"cells of {len(machine.partitions.roots)} trees{beside} on {_columns(encoding)}"
    kernel = getattr(machine, "kernel_", None)
    if hasattr(machine, "metric_"):
        form = "a weight for each column" if machine.metric_.ndim == 1 else "a matrix"
        return f"{type(_inside(kernel)).__name__} with a learnt metric ({form}) on {_columns(encoding)}"
    text = str(kernel)
    for name in [] if encoding is None else encoding.columns:
        text = text.replace(f"'{name}'", "#")
    text = re.sub(r"\.on\(\[#(, #)*\]\)", " of rows", text).replace("1.0·", "")
    text = re.sub(r"WeightedWords\([^)]*\)", "BagOfWords()", text).replace(" + Constant(c=0.01)", "")
    text = in_digits(text)
    text = text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
    return f"{text} on {_columns(encoding)}"


def _inside(kernel: object) -> Any:
    """The kernel in shifts and metrics."""
    while hasattr(kernel, "kernel"):
        kernel = kernel.kernel
    return kernel


def _columns(encoding: Encoding | None) -> str:
    if encoding is None:
        return "the entries of sparse rows"
    counts = {
        "number": len(encoding.numbers), "mark of gaps": len(encoding.marked), "cycle of dates": len(encoding.cycles),
        "categorical column": len(encoding.categories),
    }  # fmt: skip
    counts |= Counter(f"{kind} column" for kind in encoding.written.values())
    said = [f"{count} {_several(word) if count > 1 else word}" for word, count in counts.items() if count]
    return said[0] if len(said) == 1 else f"{', '.join(said[:-1])} and {said[-1]}"


def _several(word: str) -> str:
    first, _, rest = word.partition(" of ")
    return f"{first}s of {rest}" if rest else f"{word}s"
