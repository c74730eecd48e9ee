"""The budget of memory, the type of numbers and the threads, as users write them."""

from __future__ import annotations

import pytest

import mercer as mc
from mercer.compute import Compute, bounds, human, physical_memory, within


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


def test_bounds_reach_who_is_not_given_them() -> None:
    outer = Compute(memory="2GB", threads=2, dtype="float32")
    with within(outer):
        assert (bounds().budget, bounds().workers, bounds().dtype) == (2 * 10**9, 2, None)
        with within(None):
            assert bounds().memory == "2GB"
        with within(Compute(memory="1GB")):
            assert bounds().budget == 10**9
        assert bounds().memory == "2GB"
    assert bounds() == Compute()


def test_what_is_prepared_of_samples_keeps_to_the_memory_of_the_call() -> None:
    path = mc.Graph([(i, i + 1) for i in range(199)], attributes=[[0.0]] * 200)
    small = Compute(memory="1MB")
    kernel = mc.GraphHopper()
    with pytest.raises(MemoryError, match="1 MB"):
        kernel.gram([path], compute=small)
    with pytest.raises(MemoryError, match="1 MB"):
        mc.KernelRidge(kernel=kernel, compute=small).fit([path, path], [0.0, 1.0])
    assert kernel.gram([path], compute=Compute(memory="1GB")).shape == (1, 1)
