"""A candidate that was tried: what it is, and its values on rows that it was not trained on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from mercer.arrays import Array
from mercer.tabular.calibration import Calibration
from mercer.tabular.encoding import View
from mercer.tabular.families import Family
from mercer.tabular.kernels import Named
from mercer.tabular.targets import Scale


@dataclass(frozen=True, eq=False)
class Tried:
    """A setting of a family, on a view and a scale of the target, and its values on rows it was not trained on."""

    family: Family
    setting: Any
    view: View | None
    scale: Scale | None
    values: Array
    finish: Calibration | Scale
    loss: float
    kernel: Named | None = None

    @property
    def name(self) -> str:
        return self.family.name
