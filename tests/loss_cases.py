"""The case table of losses: every one once, with its literal definition, and the machine that is named after it. A new
loss, with its machine, is one entry here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any

import mpmath
import numpy as np

import mercer as mc
from mercer.losses import (
    EpsilonInsensitive,
    Expectile,
    Hinge,
    Huber,
    Logistic,
    Loss,
    Perceptron,
    Pinball,
    Poisson,
    Squared,
    SquaredHinge,
)

NAN, INFINITY = float("nan"), float("inf")


@dataclass(frozen=True)
class Case:
    """A loss at some parameters, ordinary and extreme.

    ``value`` is its definition: a function of y, f and the loss's own parameters by name, in the numbers of mpmath.
    ``targets`` are numbers, signs or counts. ``kinks`` are the f at which it is not smooth. ``refused`` are values of
    its first parameter that it refuses, with the words ``because``. ``machine(kernel)`` is its public estimator.
    """

    losses: list[Loss]
    value: Callable[..., Any]
    targets: str = "numbers"
    kinks: Callable[..., tuple[Any, ...]] = lambda y, **_: ()
    refused: tuple[Any, ...] = ()
    because: str = ""
    machine: Callable[[Any], Any] | None = None

    def drawn(self, n: int, rng: np.random.Generator) -> Any:
        """Targets that the loss is of."""
        if self.targets == "signs":
            return rng.choice([-1.0, 1.0], n)
        return rng.poisson(2.0, n).astype(float) if self.targets == "counts" else 2 * rng.standard_normal(n)

    def target(self, y: float) -> float:
        """A number as a target."""
        return {"signs": float(np.copysign(1.0, y)), "counts": abs(y)}.get(self.targets, y)


def parameters(loss: Loss) -> dict[str, Any]:
    return {field.name: getattr(loss, field.name) for field in fields(loss)}  # type: ignore[arg-type]


def _above(r: Any) -> Any:
    return max(mpmath.mpf(0), r)


def _at_target(y: Any, **_: Any) -> tuple[Any, ...]:
    return (y,)


LOSSES = [
    Case([Squared()], lambda y, f: (y - f) ** 2),
    Case(
        [Huber(0.7), Huber(1.35)],
        lambda y, f, delta: (y - f) ** 2 / 2 if abs(y - f) <= delta else delta * (abs(y - f) - mpmath.mpf(delta) / 2),
        kinks=lambda y, delta: (y - delta, y + delta),
        refused=(0.0, -1.0, NAN),
        because="positive",
        machine=lambda k: mc.KernelHuber(0.1, 0.3, k, tol=1e-9),
    ),
    Case(
        [Expectile(0.1), Expectile(0.5), Expectile(0.8)],
        lambda y, f, tau: abs(tau - (1 if y < f else 0)) * (y - f) ** 2,
        kinks=_at_target,
        refused=(0.0, 1.0),
        because="between 0 and 1",
        machine=lambda k: mc.KernelExpectile(0.1, 0.7, k, tol=1e-9),
    ),
    Case(
        [Pinball(0.3), Pinball(0.9)],
        lambda y, f, tau: tau * (y - f) if y >= f else (tau - 1) * (y - f),
        kinks=_at_target,
        refused=(1.5, -0.1),
        because="between 0 and 1",
    ),
    Case(
        [EpsilonInsensitive(0.2), EpsilonInsensitive(0.0)],
        lambda y, f, epsilon: _above(abs(y - f) - epsilon),
        kinks=lambda y, epsilon: (y - epsilon, y + epsilon),
        refused=(-0.1, INFINITY, "a"),
        because="at least 0",
    ),
    Case(
        [Poisson()],
        lambda y, f: mpmath.exp(f) - y * f,
        "counts",
        machine=lambda k: mc.KernelPoisson(0.1, k, tol=1e-9),
    ),
    Case([Logistic()], lambda y, f: mpmath.log1p(mpmath.exp(-y * f)), "signs"),
    Case([Hinge()], lambda y, f: _above(1 - y * f), "signs", kinks=lambda y: (y,)),
    Case([SquaredHinge()], lambda y, f: _above(1 - y * f) ** 2, "signs", kinks=lambda y: (y,)),
    Case([Perceptron()], lambda y, f: _above(-y * f), "signs", kinks=lambda y: (0 * y,)),
]  # fmt: skip
EACH = [(case, loss) for case in LOSSES for loss in case.losses]
OF_NUMBERS = [loss for case, loss in EACH if case.targets == "numbers"]
