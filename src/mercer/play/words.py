"""What the library says to who programs with it, said to who has a page: by what can be pressed there."""

from __future__ import annotations

import re

_REPAIR = "choose another kernel, or “repair” in the menu of its block"

# what is found in a message, and what is said in its place
_SAID: tuple[tuple[str, str], ...] = (
    (
        r"(?:'[^']*'|\"[^\"]*\") begins with a name that is not known: ('[^']*') is not the name of a kernel;"
        r" `mercer kernels` lists them\. Give other names in parse\(text, names\)\.?",
        r"\1 is not the name of a kernel: “Examples” has some, and a list opens while a name is typed.",
    ),
    (r"`mercer kernels` lists them\. Give other names in parse\(text, names\)\.?", "“Examples” has some."),
    (r"\w+\.__init__\(\) got an unexpected keyword argument ('\w+')", r"it has no parameter \1"),
    (r"\w+\.__init__\(\) missing \d+ required positional arguments?: (.*)", r"\1 must be said in its brackets"),
    (r"\w+\.__init__\(\) takes .* positional arguments? but .* given", "too much is said in its brackets"),
    (r"The text ('[^']*') describes an? (?:int|float), which is not a kernel\.", r"\1 is a number, and not a kernel."),
    (
        r"The kernel matrix plus the ridge is not positive definite, which shows at row \d+\. Raise alpha; if the"
        r" kernel is not positive semi-definite on these data, use kernel\.repaired\('clip'\)\.",
        f"With this kernel and this α there is no solution: turn α up, {_REPAIR}.",
    ),
    (
        r"Choose another kernel or other parameters, or repair this one: kernel\.repaired\('clip'\)",
        _REPAIR.capitalize(),
    ),
    (r"Use a kernel that is \(psd is True\), or kernel\.repaired\('clip'\)", _REPAIR.capitalize()),
    (r"Repair the kernel, kernel\.repaired\('clip'\)", _REPAIR.capitalize()),
    (r"(?:use|repair it:|repair it,|use:) (?:mercer\.)?(?:kernel|Precomputed\(K\))\.repaired\('clip'\)", _REPAIR),
    (r"\bkernel\.repaired\('clip'\)", "“repair” in the menu of its block"),
    (r"explained_variance_ratio_ is their share", "the share of the variance is theirs"),
    (
        r"Expected a 2-D array of numbers, got shape \([^)]*\) of \S+\.",
        "This kernel compares points, and here are texts: “Examples” has others.",
    ),
    (r"np\.(?:float|int)\d+\(([^()]*)\)", r"\1"),
    # places are counted from 1 on the page, and a point has no number there
    (r"Item \d+ of the molecules: ('.*') is not a SMILES string that RDKit can read", r"\1 is not a SMILES"),
    (r"Row \d+, column \d+ is", "One of the numbers is"),
    (r"\b(?:OneClassSVM|SVDD|KernelPCANovelty|SVC|SVR|KernelRidge)\([^()]*\): ", ""),
    (r"\b(?:SVC|SVR|OneClassSVM|SVDD|KernelKMeans|MKLClassifier|KernelLogistic) is defined", "This machine is defined"),
    (r"KernelPCA: the", "The"),
    # but what was written, which is quoted, stays as it was written
    (r"\balpha\b(?=(?:[^']*'[^']*')*[^']*$)", "α"),
    (r"\bgamma\b(?=(?:[^']*'[^']*')*[^']*$)", "γ"),
)  # fmt: skip
_FOUND = tuple((re.compile(found), said) for found, said in _SAID)


def for_the_page(words: str) -> str:
    """A message of the library without calls of Python, where the page has a control, by its name."""
    for found, said in _FOUND:
        words = found.sub(said, words)
    return words
