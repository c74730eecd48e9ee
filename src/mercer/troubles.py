"""The code that ends a message, [M101]: what can go wrong has a name that stays when the words change.

By hundreds: data; kernels and matrices; solving; machine and memory; files; tables. A code is never given another
meaning; M100 is of data that have no code of their own. What each means, and the cure, stands once, on the pages of
``app/troubleshooting``: ``mercer help M101`` prints from them, and the documentation includes them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

CODE = re.compile(r"\[(M\d\d\d)\]")
_ENDING = re.compile(r"\.? \[M\d\d\d\](?=\.)| \[M\d\d\d\]")  # with the full stop that would stand there twice

# What scikit-learn's checks say, by the words in it; the first that is found counts.
SCIKIT_LEARN = [
    (re.compile(words), code)
    for words, code in (
        (r"is not fitted yet", "M312"),
        (r"contains? (NaN|infinity)", "M101"),
        (r"Found array with 0 sample|Found array with 0 feature", "M116"),
        (r"could not convert string|dtype.*is not numeric|not compatible with.*numeric|[Cc]omplex data", "M102"),
        (r"inconsistent numbers of samples", "M111"),
        (r"(features?|columns), but|feature names", "M104"),
        (r"[Ss]ample.?weights?", "M114"),
        (r"y should be a 1d array|Unknown label type|the target y is None|y cannot be None", "M112"),
        (r"Expected 2D array|Found array with|dim \d|Sparse data was passed|Expected sequence or array-like", "M103"),
        (r"Invalid parameter", "M204"),
    )
]


def coded(message: str, code: str) -> str:
    """The message with the code at its end; where it quotes another message, the code of that one, which knows more,
    unless that is M100.

    Examples
    --------
    >>> coded("Row 3 is missing.", "M101")
    'Row 3 is missing. [M101]'
    >>> coded("Block 2: Row 3 is missing. [M101].", "M100")
    'Block 2: Row 3 is missing. [M101]'
    """
    inner = next((found for found in CODE.findall(message) if found != "M100"), code)
    return f"{_ENDING.sub('', message).rstrip()} [{inner}]"


def code_of_scikit_learn(message: str) -> str | None:
    """The code of what one of scikit-learn's checks says; None for other words."""
    return next((code for words, code in SCIKIT_LEARN if words.search(message)), None)


@contextmanager
def coding_scikit_learn() -> Iterator[None]:
    """What scikit-learn's checks, and NumPy where it converts, say within, or within the function that this decorates,
    ends with its code.
    """
    try:
        yield
    except (TypeError, ValueError) as error:
        said = str(error)
        code = code_of_scikit_learn(said)
        if code is not None and error.args == (said,) and not CODE.search(said):
            error.args = (coded(said, code),)
        raise
