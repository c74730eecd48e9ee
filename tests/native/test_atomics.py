"""Numbers shared between compiled loops on several threads."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from mercer.native.atomics import claim, count, read, write
from mercer.runtime import compiling


def _count(flags, marks):  # type: ignore[no-untyped-def]
    while True:
        k = count(flags, 0)
        if k >= len(marks):
            return
        marks[k] += 1


def _claim(flags, jobs, mine):  # type: ignore[no-untyped-def]
    for job in range(1, jobs + 1):
        if claim(flags, 0, job):
            mine[job - 1] = 1


def _copy(flags):  # type: ignore[no-untyped-def]
    write(flags, 1, read(flags, 0))


def test_every_number_is_given_once() -> None:
    loop: Any = compiling.jit(_count, cached=False)
    flags, marks = np.zeros(1, np.int64), np.zeros(200_000, np.int64)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: loop(flags, marks), range(4)))
    assert (marks == 1).all()
    assert flags[0] == len(marks) + 4


def test_a_job_is_claimed_by_one() -> None:
    loop: Any = compiling.jit(_claim, cached=False)
    flags, jobs = np.zeros(1, np.int64), 10_000
    mine = np.zeros((4, jobs), np.int64)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda k: loop(flags, jobs, mine[k]), range(4)))
    assert mine.sum(axis=0).max() == 1
    assert mine[:, 0].sum() == 1


def test_read_and_write() -> None:
    flags = np.array([7, 0], np.int64)
    compiling.jit(_copy, cached=False)(flags)
    assert flags.tolist() == [7, 7]
