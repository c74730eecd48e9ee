"""What can go wrong, by the code that ends a message: [M101]. The pages say more of each, ``mercer help M101`` too."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

# By hundreds: data; kernels and matrices; solving; machine and memory; files; tables. A code is never given another
# meaning; one that ends with 00 is of what has none of its own.
TROUBLES = {
    "M100": "The data cannot be taken as samples of this kernel",
    "M101": "A value is missing or infinite",
    "M102": "A value is not a number",
    "M103": "Not a collection of samples",
    "M104": "The columns are not those the kernel or machine was made for",
    "M105": "There is no such column",
    "M106": "A value is outside of what the kernel is defined on",
    "M107": "Items of another kind than the kernel compares",
    "M108": "A letter is not in the alphabet",
    "M109": "A graph cannot be read",
    "M110": "A molecule cannot be read",
    "M111": "The numbers of samples differ",
    "M112": "The targets are not what the machine learns from",
    "M113": "There is one class only",
    "M114": "The weights of the samples are all zero, or negative",
    "M115": "Something in the data is not used",
    "M201": "The text is not a kernel",
    "M202": "The name of the kernel is scikit-learn's",
    "M203": "The value is not a kernel",
    "M204": "There is no such parameter",
    "M205": "A parameter is out of its range",
    "M206": "The kernel is not bound to data",
    "M207": "An object has norm zero",
    "M208": "The matrix is not symmetric",
    "M209": "The matrix is not positive semi-definite",
    "M210": "A value of the kernel is not finite",
    "M211": "The kernel has no derivative",
    "M212": "The kernel has no finite feature map",
    "M213": "A precomputed matrix does not hold what is asked of it",
    "M214": "The kernel is constant on these samples",
    "M301": "The solver reached a limit before it converged",
    "M302": "The solver no longer makes progress",
    "M303": "The deadline came before there was a result",
    "M304": "A callback stopped the work before there was a result",
    "M305": "ν is infeasible",
    "M306": "There is no hard margin",
    "M307": "The linear system is ill-conditioned",
    "M308": "The steps of a stream grew without bound",
    "M309": "A search has no score",
    "M310": "There are too few samples",
    "M401": "The memory budget does not suffice",
    "M402": "A package is not installed",
    "M403": "The device is not there",
    "M404": "The memory of the device is full",
    "M501": "The file or folder is not there, or cannot be used",
    "M502": "The file is not a table",
    "M503": "The file is larger than what may be read",
    "M504": "The file is not a model",
    "M505": "A function cannot be saved",
    "M506": "The file of a model names classes that are not Mercer's",
    "M507": "The other program's file has no form for this model",
    "M601": "The column to predict is not there",
    "M602": "A column that the model was trained on is not there",
    "M603": "The column to predict cannot be predicted",
    "M604": "A column cannot be of the kind that was asked for",
    "M605": "There is nothing to learn from, or nothing to hold out",
}

_CODE = re.compile(r"\[(M\d\d\d)\]")
_ENDING = re.compile(r"\.? \[M\d\d\d\](?=\.)| \[M\d\d\d\]")

# what scikit-learn's checks say, for data that pass through them
_SCIKIT_LEARN = [
    (re.compile(words), code)
    for words, code in (
        (r"contains? (NaN|infinity)", "M101"),
        (r"could not convert string|dtype.*is not numeric|Complex data", "M102"),
        (r"inconsistent numbers of samples", "M111"),
        (r"Expected 2D array|Found array with|dim \d|Sparse data was passed", "M103"),
        (r"features?, but|feature names", "M104"),
        (r"y should be a 1d array|Unknown label type|the target y is None", "M112"),
        (r"sample_weight", "M114"),
        (r"Invalid parameter", "M204"),
    )
]


def coded(message: str, code: str) -> str:
    """The message with the code at its end; where it quotes another message, that one's code, which knows more, unless
    that is of anything (00).

    Examples
    --------
    >>> coded("Row 3 is missing.", "M101")
    'Row 3 is missing. [M101]'
    >>> coded("Block 2: Row 3 is missing. [M101].", "M100")
    'Block 2: Row 3 is missing. [M101]'
    """
    inner = next((found for found in _CODE.findall(message) if found in TROUBLES and found[2:] != "00"), code)
    return f"{_ENDING.sub('', message)} [{inner}]"


@contextmanager
def coding_scikit_learn() -> Iterator[None]:
    """Gives what scikit-learn's checks say its code."""
    try:
        yield
    except (TypeError, ValueError) as error:
        said = str(error)
        code = next((code for words, code in _SCIKIT_LEARN if words.search(said)), None)
        if code is None or type(error) not in (TypeError, ValueError) or _CODE.search(said):
            raise
        raise type(error)(coded(said, code)) from None
