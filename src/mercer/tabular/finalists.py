"""What is tried in the second round: the best kernels of the first with ridge, support vectors and learnt weights, a
learnt metric, cells of trees, grown apart or boosted, and the losses of counts and quantiles.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mercer.annotations import Estimator, Samples
from mercer.compute import Compute
from mercer.estimators.feature_machine import FeatureMachineRegressor
from mercer.estimators.representer import KernelPoisson
from mercer.estimators.ridge import KernelRidge
from mercer.estimators.svm import SVC
from mercer.estimators.svr import SVR
from mercer.kernels.vectors.radial import Laplacian
from mercer.tabular import boosting, partitions
from mercer.tabular.boosting import boosted
from mercer.tabular.encoding import Encoding, View
from mercer.tabular.families import Cells, Family, OfCells, OfKernel, OfMetric, OfWeights, in_silence
from mercer.tabular.kernels import Named, kernels_by_kind, kernels_of
from mercer.tabular.partitions import Partitions
from mercer.tabular.plan import Plan
from mercer.tabular.problem import Problem
from mercer.tabular.targets import Scale
from mercer.tabular.tried import Tried

RIDGES = tuple(np.geomspace(1e-4, 1e2, 10).tolist())
PRICES = (0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 1000.0)
WIDEST = 400  # columns of rows, up to which trees and metrics are tried
_CLASSES = 30  # beyond which no machines of every pair of them are tried
_OVER_BOOSTED = tuple(Cells(alpha, 0.0) for alpha in (0.1, 0.3, 1.0, 3.0, 10.0, 30.0))
_OVER_CELLS = tuple(Cells(alpha, smooth) for smooth in (0.0, 0.5) for alpha in (0.03, 0.1, 0.3, 1.0))
_RARE = 0.1  # share of a class, below which machines with weights of the classes are tried
_LOOKED_AT = 400  # rows that widths are measured on


@dataclass(frozen=True, eq=False)
class Finalists:
    """Families for a problem; ``encoding`` of a view, and rows ``seen`` through it, are the search's."""

    problem: Problem
    plan: Plan
    seed: int
    compute: Compute | None
    counting: bool  # whether the target is a count
    encoding: Callable[[View | None], Encoding | None]
    seen: Callable[[View | None, Samples], Any]

    def ridge(self, kernel: Named, view: View | None, settings: Sequence[float]) -> OfKernel:
        machine = KernelRidge(kernel=kernel.kernel, compute=self.compute)
        return OfKernel(_called("ridge", kernel.name, view), machine, "alpha", tuple(settings))

    def of(self, first: list[Tried], rows: int) -> list[tuple[Family, Tried]]:
        """Families of the second round, the surest first, each with the candidate whose view and kernel it takes."""
        out: list[tuple[Family, Tried]] = []
        ways: dict[tuple[str, Any], Tried] = {}
        for tried in first:
            assert tried.kernel is not None
            ways.setdefault((tried.kernel.name, tried.view), tried)
        best = list(ways.values())
        few = rows > self.plan.exact // 4  # a factor for each λ
        for tried in best[: 2 if few else 3]:
            assert tried.kernel is not None
            around = [a for a in RIDGES if abs(np.log10(a / tried.setting)) < (0.7 if few else 1.4)]
            out.append((self.ridge(tried.kernel, tried.view, around), tried))
        rows_of = next((t for t in best if self._plain(t.view)), None)
        if rows_of is not None:
            out.append((self._metric(rows_of.view), rows_of))
        pairs = len(self.problem.labels) > 2 and len(self.problem) > self.plan.support
        if self.problem.classes and len(self.problem.labels) <= _CLASSES and not pairs:
            curved = [t for t in best if t.kernel.name != "linear"]  # type: ignore[union-attr]
            for tried in curved[:2]:
                out.append((self._machine(SVC(compute=self.compute), "SVC", tried, PRICES), tried))
            if self._has_rare_class and curved:
                machine = SVC(class_weight="balanced", compute=self.compute)
                out.append((self._machine(machine, "SVC, classes weighted", curved[0], PRICES[::2]), curved[0]))
        if rows_of is not None:
            out += [(family, rows_of) for family in self._cells(rows_of.view)]
        weighted = self._weights(best[0])
        out += [] if weighted is None else [(weighted, best[0])]
        return out + self._other_losses(best[0])

    @property
    def _has_rare_class(self) -> bool:
        """Whether a machine may do well to leave out a class: where all classes are to count alike, or one is rare."""
        return self.problem.metric.name == "balanced_accuracy" or float(self.problem.priors().min()) < _RARE

    def _weights(self, best: Tried) -> OfWeights | None:
        """The sum of kernels of the kinds of columns, where there are several kinds."""
        encoding = self.encoding(best.view)
        if encoding is None or best.kernel is None:
            return None
        X = self.seen(best.view, self.problem.X[: min(len(self.problem), _LOOKED_AT)])
        kernels = in_silence(kernels_by_kind, best.kernel, X, encoding)
        around = [a for a in RIDGES if abs(np.log10(a / best.setting)) < 1.4]
        name = _called("ridge, weights of kinds", "", best.view)
        return OfWeights(name, tuple(kernels), tuple(around), self.seed, compute=self.compute) if kernels else None

    def _other_losses(self, best: Tried) -> list[tuple[Family, Tried]]:
        if self.problem.classes:
            return []
        out: list[tuple[Family, Tried]] = []
        if self.counting:
            # its predictions are counts, on no other scale
            plain = replace(best, scale=Scale(0.0, 1.0, low=0.0))
            out.append((self._machine(KernelPoisson(compute=self.compute), "Poisson", best, RIDGES[2:8]), plain))
        if self.problem.metric.level is not None:
            machine = SVR(epsilon=0.05, compute=self.compute)
            out.append((self._machine(machine, "SVR", best, (0.3, 1.0, 3.0, 10.0, 30.0)), best))
        return out

    def _machine(self, estimator: Estimator, name: str, tried: Tried, settings: Sequence[float]) -> OfKernel:
        assert tried.kernel is not None
        estimator.set_params(kernel=tried.kernel.kernel)
        support = hasattr(estimator, "C")
        learns: Any = "codes" if self.problem.classes else "numbers" if support else "y"
        name = _called(name, tried.kernel.name, tried.view)
        return OfKernel(name, estimator, "C" if support else "alpha", tuple(settings), learns, not support)

    def _plain(self, view: View | None) -> bool:
        """Whether rows of that view are numbers, and not too many of them, for metrics and trees."""
        encoding = self.encoding(view)
        return encoding is not None and not encoding.written and 1 <= len(encoding.names) <= WIDEST

    def _metric(self, view: View | None) -> OfMetric:
        encoding = self.encoding(view)
        assert encoding is not None
        labels = encoding.blocks
        machine = FeatureMachineRegressor(
            standardize=False, blocks=labels if len(set(labels)) > 1 else None, random_state=self.seed,
            compute=self.compute,
        )  # fmt: skip
        return OfMetric(_called("learnt metric", "", view), machine)

    def _cells(self, view: View | None) -> list[OfCells]:
        X = self.seen(view, self.problem.X[: min(len(self.problem), _LOOKED_AT)])
        gamma = next(k.kernel for k in kernels_of(X, self.encoding(view)) if k.name == "Laplacian" and k.width == 1)
        assert isinstance(gamma, Laplacian)
        ways = (
            ("cells of boosted trees", boosted, boosting.TREES, _OVER_BOOSTED),
            ("cells of trees", Partitions.grown, partitions.TREES, _OVER_CELLS),
        )
        found = [
            OfCells(_called(name, "", view), grow, trees, settings, float(gamma.gamma), self.seed, compute=self.compute)
            for name, grow, trees, settings in ways
        ]
        return [f.many_rows() for f in found] if len(self.problem) > self.plan.exact else found


def _called(machine: str, kernel: str, view: View | None) -> str:
    return ", ".join(part for part in (machine, kernel, "" if view is None else str(view)) if part)
