"""Losses ℓ(y, f), what an error costs: each is a formula and its slope.

A loss has its value, its gradient in f and, where there is one, its curvature. A loss that is made of straight lines
has no curvature; it says instead which quadratic programme its dual is. A user's own loss is a subclass with ``value``
and ``gradient``; with ``curvature`` it is solved by Newton's method, with ``prox`` (for corners) by splitting, and
otherwise by L-BFGS (docs/add_a_loss.md). No solver lives here.
"""

from mercer.losses import of_labels, of_numbers
from mercer.losses.contract import Loss
from mercer.losses.of_labels import *  # noqa: F403
from mercer.losses.of_numbers import *  # noqa: F403

__all__ = ["Loss", *of_labels.__all__, *of_numbers.__all__]
