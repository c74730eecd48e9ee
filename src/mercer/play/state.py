"""What a page shows, as it says it: read once, with every limit, before any work is done."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mercer.annotations import Samples
from mercer.arrays import Array
from mercer.kernels.base import Kernel
from mercer.play import blocks
from mercer.play.limits import FAR, LONGEST_ITEM, MOST_CLASSES, MOST_ITEMS, MOST_POINTS, Lacking, Refused
from mercer.play.samples import draw

if TYPE_CHECKING:
    from mercer.play.modes.base import Dial


@dataclass(frozen=True)
class Data:
    """The samples: points with labels, or texts with labels; ``written`` gives the lines of Python that make X and
    y.
    """

    X: Samples
    y: Array
    written: Callable[[], str]

    def __len__(self) -> int:
        return len(self.y)


@dataclass(frozen=True)
class State:
    """A mode, its learner with its parameters, a kernel, the samples; ``pair`` are two samples that are looked at."""

    mode: str
    learner: str
    kernel: Kernel
    values: dict[str, float]
    data: Data
    pair: tuple[int, int] = (0, 1)
    brief: bool = False  # while a slider moves


def kernel_of(given: dict[str, Any], default: str) -> Kernel:
    """The kernel of the bar, after the change that was made to it, if any."""
    kernel = blocks.read(given.get("kernel", default))
    change = given.get("edit")
    if change is None:
        return kernel
    if not isinstance(change, dict):
        raise Refused("A change of the kernel is said by its place and what it is.")
    return blocks.changed(kernel, change)


def number(value: object) -> float | None:
    """A finite number, or None where it is none, or too large to compute with."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < 1e300:
        return None
    return value


def learner_of(given: object, learners: dict[str, Any]) -> str:
    """The name of a learner of the mode; its first where none is named."""
    if given is None:
        return next(iter(learners))
    if not isinstance(given, str) or given not in learners:
        raise Refused(f"There is no learner {given!r} here; there are {', '.join(learners)}.")
    return given


def values_of(given: object, dials: tuple[Dial, ...]) -> dict[str, float]:
    """The parameters of a learner: numbers within their bounds; the default where one is not given."""
    if not isinstance(given, dict | None):
        raise Refused("The parameters of a learner are names with numbers.")
    found: dict[str, float] = {}
    for dial in dials:
        said = (given or {}).get(dial.name, dial.value)
        value = number(said)
        if value is None:
            raise Refused(f"{dial.label}: a number is needed, not {said!r}.")
        if not dial.low <= value <= dial.high:
            raise Refused(f"{dial.label} is {value:g}: it goes from {dial.low:g} to {dial.high:g}.")
        found[dial.name] = round(value) if dial.whole else float(value)
    return found


def pair_of(given: Any, n: int) -> tuple[int, int]:
    """Two of n samples; the first two where none are named, or one of them is there no more."""
    chosen = isinstance(given, list) and len(given) == 2 and all(type(i) is int and 0 <= i < n for i in given)
    return (given[0], given[1]) if chosen else (0, min(1, n - 1))


def data_of(given: object, *, items: bool, table: Data | None = None) -> Data:
    """Samples as a page gives them: a family of points, points, texts, or the table that was opened."""
    if not isinstance(given, dict):
        raise Refused("There are no samples: draw a family of points, or add some.")
    if items:
        return _items(given.get("items"))
    if given.get("table"):
        if table is None:
            raise Refused("No table was opened: start with `mercer play TABLE`.")
        return table
    if "family" in given:
        return _family(given["family"], given.get("n", 300), given.get("seed", 0))
    return _points(given.get("points"))


def _family(family: object, n: object, seed: object) -> Data:
    if type(n) is not int or type(seed) is not int or not 0 <= seed < 2**32:
        raise Refused("The number of points and the seed are whole numbers, the seed from 0 on.")
    X, y = draw(str(family), n, seed)
    return Data(X, y, lambda: f"from mercer.play.samples import draw\n\nX, y = draw({family!r}, n={n}, seed={seed})")


def _points(given: object) -> Data:
    if not isinstance(given, list) or not given:
        raise Lacking("There are no points: click into the plane to add some.")
    if len(given) > MOST_POINTS:
        raise Refused(f"{len(given)} points: a page shows {MOST_POINTS} at most.")
    try:
        P = np.array(given, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise Refused("A point is three numbers: two coordinates and a label.") from None
    if P.ndim != 2 or P.shape[1] != 3:
        raise Refused("A point is three numbers: two coordinates and a label.")
    if not np.isfinite(P).all() or np.abs(P[:, :2]).max() > FAR:
        raise Refused(f"A point is not finite, or farther out than {FAR:g}.")
    labels = P[:, 2]
    if (labels != np.round(labels)).any() or labels.min() < 0 or labels.max() >= MOST_CLASSES:
        raise Refused(f"Labels are 0 to {MOST_CLASSES - 1}.")

    def written() -> str:
        rows = ",\n    ".join(repr([float(a), float(b), int(c)]) for a, b, c in P)
        return f"\nP = np.array([\n    {rows},\n])\nX, y = P[:, :2], P[:, 2].astype(int)"

    return Data(P[:, :2].copy(), labels.astype(int), written)


def _items(given: object) -> Data:
    if not isinstance(given, list) or not given:
        raise Lacking("There is nothing to compare: write one item in a line.")
    if len(given) > MOST_ITEMS:
        raise Refused(f"{len(given)} items: a page compares {MOST_ITEMS} at most.")
    texts: list[str] = []
    labels: list[int] = []
    for entry in given:
        if not (isinstance(entry, list) and len(entry) == 2 and isinstance(entry[0], str)):
            raise Refused("An item is a text and a label.")
        text, label = entry
        if number(label) is None or label not in range(MOST_CLASSES):
            raise Refused(f"Labels are 0 to {MOST_CLASSES - 1}.")
        if not 0 < len(text) <= LONGEST_ITEM:
            raise Refused(f"An item has 1 to {LONGEST_ITEM} letters, not {len(text)}.")
        if not text.isprintable():
            raise Refused(f"{text!r} has letters that cannot be shown.")
        texts.append(text)
        labels.append(int(label))
    return Data(texts, np.array(labels), lambda: f"\nX = {texts!r}\ny = np.array({labels!r})")
