"""The budget of memory, the type of numbers and the threads, as users write them."""

from __future__ import annotations

import pytest

from mercer.compute import Compute, human, physical_memory


@pytest.mark.parametrize(
    ("text", "size"),
    [("500MB", 500 * 10**6), ("2GB", 2 * 10**9), ("1.5GiB", 3 * 2**29), ("64 KiB", 65536), ("10", 10), (7, 7)],
)
def test_memory_is_read_as_people_write_it(text: str, size: int) -> None:
    assert Compute(memory=text).budget == size


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"memory": "lots"}, "not a size"),
        ({"memory": 0}, "positive"),
        ({"dtype": "int32"}, "float32"),
        ({"dtype": "float16"}, "float32"),
        ({"threads": 0}, "at least 1"),
    ],
)
def test_bad_compute(options: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Compute(**options)  # type: ignore[arg-type]


def test_default_budget_is_half_the_memory() -> None:
    assert Compute().budget == physical_memory() // 2
    assert human(1.6e9) == "1.6 GB"
