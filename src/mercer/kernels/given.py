"""The kernel that a user means: a value, its text, or a function."""

from __future__ import annotations

from functools import lru_cache

from mercer.kernels.anything import Function
from mercer.kernels.base import Kernel
from mercer.kernels.notation import NotationError, parse
from mercer.kernels.vectors.radial import Gaussian
from mercer.troubles import coded

PRECOMPUTED = "precomputed"
# what scikit-learn calls them
_ELSEWHERE = {
    "rbf": "Gaussian(gamma)",
    "linear": "Linear()",
    "poly": "Polynomial(degree, offset, scale)",
    "polynomial": "Polynomial(degree, offset, scale)",
    "sigmoid": "Sigmoid(offset, scale)",
    "laplacian": "Laplacian(gamma)",
    "chi2": "ChiSquared(gamma)",
    "additive_chi2": "AdditiveChiSquared()",
    "cosine": "Linear().normalized()",
}


def as_kernel(given: object, name: str = "kernel") -> Kernel:
    """The kernel for what was given as the parameter ``name``: a Kernel, None for ``Gaussian()``, a text that ``parse``
    reads, or a function f(X, Y) that returns the matrix of two collections.
    """
    if isinstance(given, Kernel):
        return given
    if given is None:
        return Gaussian()
    if isinstance(given, str):
        return _parsed(given, name)
    if callable(given) and not isinstance(given, type):
        return Function(given)
    raise TypeError(
        coded(
            f"{name}={given!r}: give a kernel such as mercer.Gaussian(), its text such as 'Gaussian() + Linear()', a"
            f" function f(X, Y) that returns the matrix, or {PRECOMPUTED!r}.",
            "M203",
        )
    )


@lru_cache(maxsize=64)
def _parsed(text: str, name: str) -> Kernel:
    if text in _ELSEWHERE:
        raise ValueError(coded(f"{name}={text!r} is scikit-learn's name: write mercer.{_ELSEWHERE[text]}.", "M202"))
    try:
        return parse(text)
    except NotationError as error:
        raise ValueError(
            coded(
                f"{name}={text!r}: {error} Give a kernel such as mercer.Gaussian(), its text, or {PRECOMPUTED!r}.",
                "M201",
            )
        ) from None
