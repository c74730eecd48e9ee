"""All of a fit, or nothing of it."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

Method = TypeVar("Method", bound=Callable[..., Any])


def all_or_nothing(fit: Method) -> Method:
    """A ``fit`` that fails or is interrupted leaves the estimator as it was: no mixture of two models."""

    @functools.wraps(fit)
    def fitted(self: Any, *args: Any, **kwargs: Any) -> Any:
        before = dict(self.__dict__)
        try:
            return fit(self, *args, **kwargs)
        except BaseException:
            self.__dict__.clear()
            self.__dict__.update(before)
            raise

    return fitted  # type: ignore[return-value]
