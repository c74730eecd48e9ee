"""What a page may ask for: beyond it a request is refused in words, before any work is done."""

from __future__ import annotations

MOST_POINTS = 10_000
MOST_CLASSES = 4
MOST_ITEMS = 200  # words, molecules
LONGEST_ITEM = 500  # letters
LONGEST_KERNEL = 2000  # letters of an expression
MOST_PARTS = 64  # kernels in an expression
LARGEST_MESSAGE = 1_000_000  # bytes
MOST_FAULTS = 50  # messages of a connection that cannot be read
MOST_WAITING = 200  # frames that wait for a page
MOST_PAGES = 8  # connections at a time
SECONDS = 20.0  # for one picture
PATIENCE = 10.0  # seconds until a page that takes no more is left
MEMORY = "1GB"
FAR = 1e6  # no coordinate is farther out
LONGEST_WORDS = 600  # letters of a message to the page


class Refused(ValueError):
    """What a page asked for cannot be answered; the message says why, and goes to the page as it is."""
