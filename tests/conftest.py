"""Shared by all tests: real data, where it is there."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("mercer", deadline=None, derandomize=True, max_examples=60)
settings.load_profile("mercer")


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real data sets beside the project; tests that need it are skipped without it."""
    folder = Path(__file__).resolve().parents[2] / "shared" / "data"
    if not folder.is_dir():
        pytest.skip("the folder of real data sets is not there")
    return folder
