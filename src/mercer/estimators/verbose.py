"""Lines for who asks for them by ``verbose``."""

from __future__ import annotations

import sys


def speak(line: str) -> None:
    """One line on the standard output; a library writes none unless asked."""
    sys.stdout.write(line + "\n")
