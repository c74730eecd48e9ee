"""Kernels on time series of which some was not seen, or not at even times."""

from __future__ import annotations

from typing import Any, ClassVar

from mercer.annotations import Samples
from mercer.data import Domain, Series, Vectors
from mercer.data.series import interpolated, resampled
from mercer.kernels.base import Kernel, kernel
from mercer.kernels.compose.inputs import Redirected
from mercer.troubles import coded

_RULES = ("fill", "drop")


def _check_times(method: str, times: object) -> None:
    if times is not None and not (isinstance(times, int) and times >= 0):
        raise ValueError(coded(f"{method}(times={times!r}): give the number of a channel from 0, or None.", "M205"))


@kernel
class Interpolated(Redirected):
    """k of series with missing values on the line between what was seen before and after."""

    usage: ClassVar[str] = "k.interpolated(unseen='fill', times=None)"
    domain: ClassVar[Domain] = Series(letters=False, missing=True)
    method_name: ClassVar[str] = "interpolated"
    kernel: Kernel
    unseen: str = "fill"
    times: int | None = None

    def _validate(self) -> None:
        if self.unseen not in _RULES:
            raise ValueError(
                coded(f"interpolated({self.unseen!r}): choose one of {', '.join(map(repr, _RULES))}.", "M205")
            )
        _check_times("interpolated", self.times)

    def _method_arguments(self) -> tuple[Any, ...]:
        return (self.unseen, self.times)

    def _redirect(self, X: Samples) -> Any:
        return interpolated(self.domain.check(X), self.times, drop=self.unseen == "drop")


@kernel
class Resampled(Redirected):
    """k of series at some even times."""

    usage: ClassVar[str] = "k.resampled(count, times=None)"
    domain: ClassVar[Domain] = Series(letters=False, missing=True)
    method_name: ClassVar[str] = "resampled"
    kernel: Kernel
    count: int
    times: int | None = None

    def _validate(self) -> None:
        if not isinstance(self.count, int) or self.count < 2:
            raise ValueError(coded(f"resampled({self.count!r}): give a whole number of at least 2.", "M205"))
        _check_times("resampled", self.times)

    def _method_arguments(self) -> tuple[Any, ...]:
        return (self.count, self.times)

    def _redirect(self, X: Samples) -> Any:
        found = resampled(self.domain.check(X), int(self.count), self.times)
        return found.values.reshape(len(found), -1) if isinstance(self.kernel.domain, Vectors) else found
