"""What a page may ask for: beyond it a request is refused in words, before any work is done."""

from __future__ import annotations

from typing import Any

from mercer.troubles import coded

MOST_POINTS = 10_000
MOST_CLASSES = 4
MOST_ITEMS = 200  # words, molecules
LONGEST_ITEM = 500  # letters
LONGEST_KERNEL = 2000  # letters of an expression
MOST_PARTS = 64  # kernels in an expression
LARGEST_WHOLE = 4096  # degree, depth, length or number of features in an expression
LARGEST_MESSAGE = 1_000_000  # bytes
MOST_FAULTS = 50  # messages of a connection that cannot be read
MOST_WAITING = 200  # frames that wait for a page
MOST_PAGES = 8  # connections at a time
SECONDS = 20.0  # for one picture
LEFT_AFTER = 1.5  # seconds until what does not look at the clock is left alone
MOST_LEFT = 3  # threads that were left alone
PATIENCE = 10.0  # seconds until a page that takes no more is left
MEMORY = "1GB"
FAR = 1e6  # no coordinate is farther out
LONGEST_WORDS = 600  # letters of a message to the page


class Refused(ValueError):
    """What a page asked for cannot be answered; the message says why, and goes to the page as it is."""

    def __init__(self, message: str, code: str = "M407") -> None:
        super().__init__(coded(message, code))


class Lacking(Refused):
    """There are no samples, or too few of them for a machine: nothing that was drawn before is of these samples.
    ``facts`` are what is known of the kernel all the same.
    """

    facts: dict[str, Any] | None = None
