"""Letters get the same numbers by a table as by a search."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mercer.kernels.sequences import letters

SIDES: dict[str, Any] = {
    "bytes": np.array([0, 3, 200, 3, 255, 7], np.uint8),
    "characters": np.array([0, 66, 0x1F600, 66, 9], np.int32),
    "tokens": np.array([5, -3, 2**62, 0, 5], np.int64),
    "none": np.array([], np.uint8),
    "none, wide": np.array([], np.int64),
    "nothing": np.zeros(4, np.int64),
}


@pytest.mark.parametrize("values", SIDES.values(), ids=SIDES)
def test_the_letters_that_occur(values: Any) -> None:
    wanted = sorted(set(values.tolist()) - {0})
    assert letters.letters_of(values).tolist() == wanted
    other = np.array([1, 66, 300], np.int64)
    assert letters.letters_of(values, other).tolist() == sorted({*wanted, 1, 66, 300})


@pytest.mark.parametrize("values", SIDES.values(), ids=SIDES)
@pytest.mark.parametrize("known", [[], [66], [-3, 3, 66], [7, 9, 0x1F600, 2**62]], ids=str)
def test_their_numbers(values: Any, known: list[int]) -> None:
    found = letters.numbered_letters(values, np.array(known, np.int64), 1, 0, np.int64)
    assert found.tolist() == [1 + known.index(v) if v in known else 0 for v in values.tolist()]
    found = letters.numbered_letters(values, np.array(known, np.int64), 0, len(known), np.uint8)
    assert found.dtype == np.uint8
    assert found.tolist() == [known.index(v) if v in known else len(known) for v in values.tolist()]


def test_only_codes_of_characters_are_small() -> None:
    assert [letters.is_small(values) for values in SIDES.values()] == [True, True, False, True, True, True]
