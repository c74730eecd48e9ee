"""Shared by all tests: real data, where it is there."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings

from mercer.runtime import threads, watch

settings.register_profile("mercer", deadline=None, derandomize=True, max_examples=60)
settings.load_profile("mercer")

# Ctrl-C is sent by several tests; shells start what runs in the background with it ignored.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real data sets beside the project; tests that need it are skipped without it."""
    folder = Path(__file__).resolve().parents[2] / "shared" / "data"
    if not folder.is_dir():
        pytest.skip("the folder of real data sets is not there")
    return folder


@pytest.fixture(autouse=True)
def _the_same_random_numbers() -> None:
    """What is drawn without a random state is drawn alike in every run."""
    np.random.seed(0)  # noqa: NPY002


@pytest.fixture(autouse=True)
def _nothing_left_behind() -> Iterator[None]:
    """No test leaves a deadline, a listener or the mark of a worker to those that follow in its process."""
    yield
    assert watch.current() is None
    assert not threads.in_worker()
