"""Parameters that are checked alike wherever they stand."""

from __future__ import annotations

from typing import Any

import numpy as np


def check_whole(machine: Any, *names: str, least: int = 1) -> None:
    """Raise where one of the parameters is not a whole number of at least ``least``."""
    for name in names:
        value = getattr(machine, name)
        if isinstance(value, bool) or not (isinstance(value, int | np.integer) and value >= least):
            raise ValueError(f"{type(machine).__name__}({name}={value!r}): give a whole number of at least {least}.")
