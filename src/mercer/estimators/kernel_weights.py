"""What machines that learn the weights of a sum of kernels share: the parts at the door, their units, and the sum that
is learnt.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import KW_ONLY
from typing import Any, ClassVar

import numpy as np

from mercer.annotations import Samples, Targets
from mercer.arrays import Array
from mercer.compute import Compute
from mercer.data.notices import warn
from mercer.estimators.checks import indefiniteness
from mercer.estimators.machine import KernelMachine
from mercer.estimators.parameters import estimator
from mercer.gram import Gram, SumGram, held_parts, is_gram
from mercer.kernels.base import Kernel
from mercer.kernels.compose.terms import Sum
from mercer.kernels.given import as_kernel
from mercer.kernels.vectors.products import Linear
from mercer.kernels.vectors.radial import Gaussian, Laplacian
from mercer.runtime.watch import unwatched
from mercer.solvers.alignment import aligned_weights
from mercer.solvers.dual import ActiveSet
from mercer.solvers.kernel_weights import InnerProblem, learn_weights
from mercer.troubles import coded

_ROUNDS = 100
_CONSTANT = 1e-12  # of its trace: a kernel of less variance than that is constant on the samples


@estimator
class WeightParameters:
    """What the machines that learn weights of kernels share."""

    kernel: Any = Linear() + Gaussian("scale") + Laplacian("scale")
    _: KW_ONLY
    p: float = 1.0
    weighting: str = "learned"
    normalize: str | None = "variance"
    tol: float = 1e-4
    max_iter: Any = None

    _described: ClassVar[dict[str, str]] = {
        "kernel": """sum of kernels, list of kernels or dict of kernels by name
        The kernels whose weights are sought: ``Linear() + Gaussian(1.0)``, its text, or a list; a dict names them.
        Default: ``Linear() + Gaussian("scale") + Laplacian("scale")``.""",
        "p": """float, default=1.0
        The weights have ‖β‖_p = 1. At p = 1 few kernels have weight, the others exactly 0; the larger p, the more even
        the weights are.""",
        "weighting": """{"learned", "average", "alignment"}, default="learned"
        "learned": the weights for which the objective of the machine is least. "average": equal ones. "alignment":
        those of the sum that is most like the kernel of the targets, in closed form.""",
        "normalize": """{"variance", "trace", None}, default="variance"
        What is made 1 for each kernel before it is weighted: the variance of the samples in its space, the mean of
        k(x, x), or nothing: then a kernel of large values needs little weight, and is preferred.""",
        "tol": """float, default=1e-4
        The relative gap between the objective and the best lower bound of it at which the weights are good enough.""",
        "max_iter": """int or None, default=None
        The most rounds, each a machine for one set of weights; None: 100.""",
    }
    _described_fitted: ClassVar[dict[str, str]] = {
        "weights_": """ndarray of shape (n_kernels,)
        β of each kernel, in the units of ``normalize``; ‖β‖_p = 1.""",
        "kernel_names_": """list of str
        What the kernels are called.""",
        "kernels_": """list of Kernel
        The kernels, bound to the training samples.""",
        "kernel_": """Kernel
        The learnt sum, an ordinary kernel; kernels of weight 0 are not in it.""",
        "objective_": """float
        The objective of the machine at these weights, as above.""",
        "gap_": """float
        The objective minus the best lower bound of it, relative to the objective; with ``weighting="average"`` or
        "alignment", how much learning the weights could gain at most.""",
        "history_": """list of dict
        Objective, gap and number of kernels with weight in each round.""",
        "n_iter_": """int
        The rounds.""",
    }


class LearnsWeights(WeightParameters, KernelMachine):
    """A machine over Σ_m β_m k_m whose weights are learnt before it."""

    _cost: Any = None  # not known

    weights_: Array
    kernels_: list[Kernel]
    kernel_names_: list[str]

    # -- the door ----------------------------------------------------------------------------------------------------

    def _named(self) -> list[tuple[str, Kernel]]:
        given = self.kernel
        if isinstance(given, Mapping):
            found = [(str(name), as_kernel(k)) for name, k in given.items()]
        elif isinstance(given, list | tuple):
            found = [(str(k), k) for k in map(as_kernel, given)]
        else:
            found = [(str(term), term) for term in as_kernel(given)._summands()]
        if not found:
            raise ValueError(coded(f"{type(self).__name__}(kernel={given!r}): give at least one kernel.", "M205"))
        return found

    @property
    def _given_kernel(self) -> Kernel:
        return Sum(tuple(k for _, k in self._named()))

    def _is_coarse(self, gram: Gram) -> bool:
        return False  # the matrix is not that of the learnt sum, nor the gap that of the machine

    def _check(self) -> None:
        super()._check()
        if self._precomputed:
            raise ValueError(
                coded(
                    f"{type(self).__name__}(kernel='precomputed'): one matrix has no weights; give several, each as"
                    " mercer.Precomputed(K), and the numbers of the samples as X.",
                    "M213",
                )
            )
        if getattr(self, "centers", None) is not None:
            raise ValueError(
                coded(
                    f"{type(self).__name__} learns weights from the matrices of all samples, without centers. Learn"
                    " them from a part, and give the kernel that was learnt, kernel_, to a machine with centers.",
                    "M217",
                )
            )
        if not (isinstance(self.p, int | float | np.number) and np.isfinite(self.p) and self.p >= 1):
            raise ValueError(coded(f"p={self.p!r}: the weights are bounded in a norm ‖β‖_p with 1 ≤ p < ∞.", "M205"))
        if self.weighting not in ("learned", "average", "alignment"):
            raise ValueError(
                coded(f"weighting={self.weighting!r}: choose 'learned', 'average' or 'alignment'.", "M205")
            )
        if self.normalize not in ("variance", "trace", None):
            raise ValueError(coded(f"normalize={self.normalize!r}: choose 'variance', 'trace' or None.", "M205"))

    def _matrix(self, X: Samples, weights: Array | None, kernel: Kernel | None = None) -> Gram:
        self.kernel_, A = (kernel or self._given_kernel)._entered(self._unpacked(X), weights)
        parts = held_parts(self.kernel_._grams(A, A, self.compute or Compute()))
        for term, part in zip(self.kernel_._summands(), parts, strict=True):
            found = None if term.psd else indefiniteness(part)
            if found is not None:
                raise ValueError(
                    coded(
                        f"{type(self).__name__}: the kernel {term} is indefinite on these samples ({found}), and the"
                        " weight of such a kernel has no best value: leave it out, or repair it,"
                        " kernel.repaired('clip').",
                        "M209",
                    )
                )
        return SumGram(parts, np.ones(len(parts)), symmetric=True)

    def _cross_matrix(self, X: Samples, items: Samples) -> Gram:
        assert self.kernel_ is not None
        bound, A, B = self.kernel_._enter(self._unpacked(X), self._unpacked(items))
        parts = bound._grams(A, B, self.compute or Compute())
        return SumGram(parts, np.ones(len(parts)))

    def _accept_new(self, X: Samples) -> Any:
        """A matrix of new items that keeps its parts apart is the sum of them with the learnt weights."""
        if is_gram(X):
            if len(X.parts) != len(self._part_weights):
                raise ValueError(
                    coded(
                        f"{type(self).__name__} weighs {len(self._part_weights)} kernels: give the matrix of new items"
                        " as the SumGram of their matrices, or the items themselves.",
                        "M213",
                    )
                )
            X = X.weighted(self._part_weights)
        return super()._accept_new(X)

    # -- weights -----------------------------------------------------------------------------------------------------

    def _inner_problem(self, gram: Gram, y: Targets, weights: Array) -> InnerProblem:
        """The problem whose objective the weights are to make least."""
        raise NotImplementedError

    def _repetitions(self, y: Targets, weights: Array) -> Array:
        """How often each sample counts, for the units of kernels as for the machine."""
        return weights

    def _target_features(self, y: Targets) -> Array:
        """Y of the kernel Y Y^T of the targets, (n, outputs)."""
        return np.asarray(y, np.float64).reshape(len(y), -1)

    def _solver(self) -> ActiveSet:
        return ActiveSet(tol=min(1e-3, 10 * self.tol), keep_on_interrupt=self.on_interrupt == "keep")

    def _learn(self, gram: Gram, y: Targets, weights: Array, X: Samples = None, **options: Any) -> None:
        parts = gram.parts
        units = self._units(gram, self._repetitions(y, weights))
        used = np.flatnonzero(units)
        total = SumGram([parts[m] for m in used], units[used], symmetric=True)
        beta = np.full(len(used), len(used) ** (-1.0 / self.p))
        if self.weighting == "alignment":
            beta = aligned_weights(total.parts, total.weights, self._target_features(y), weights)
            beta /= np.sum(beta**self.p) ** (1.0 / self.p)
        learned, machine = self.weighting == "learned", self._inner_problem(total, y, weights)
        rounds = 0 if not learned else _ROUNDS if self.max_iter is None else int(self.max_iter)
        keep = self.on_interrupt == "keep"
        # of weights that are given, what the rounds would start from is measured
        found = learn_weights(total, machine, float(self.p), self.tol, rounds, None if learned else beta, keep=keep)
        beta = found.weights if learned else beta
        self.weights_ = np.zeros(len(parts))
        self.weights_[used] = beta
        self._part_weights = self.weights_ * units
        self._name_weights()
        stopped = found.stop_reason in ("max_time", "callback")
        # the machine for the weights that there are is to be finished, whoever wants no more rounds
        with unwatched() if stopped else nullcontext():
            super()._learn(found.gram, y, weights, X, **options)
        self.gap_, self.n_iter_ = found.gap, found.n_iter
        self.objective_ = self._in_its_units(found.objective)
        self.history_ = [{**step, "objective": self._in_its_units(step["objective"])} for step in found.history]
        if learned:
            self.stop_reason_, self.converged_ = found.stop_reason, found.gap <= self.tol
            if not self.converged_:
                self._warn(found.stop_reason, found.gap, "", X)

    def _in_its_units(self, objective: float) -> float:
        """The objective as the docstring of the machine has it."""
        return objective

    def _units(self, gram: Gram, weights: Array) -> Array:
        """The factor of each part that normalises it; 0 for one that is constant, and says nothing."""
        if len(weights) < 2:
            raise ValueError(
                coded(f"{type(self).__name__}: of one sample (n_samples = 1) no weights can be learnt.", "M310")
            )
        parts, share = gram.parts, weights / weights.sum()
        traces = np.array([float(share @ np.asarray(part.diag(), np.float64)) for part in parts])
        means = gram.products(share) @ share
        variances = traces - means
        alive = variances > _CONSTANT * np.maximum(np.abs(traces), np.finfo(np.float64).tiny)
        if not alive.any():
            raise ValueError(
                coded(
                    f"{type(self).__name__}: every kernel is constant on these samples: nothing can be learnt.", "M214"
                )
            )
        if not alive.all():
            names = [name for (name, _), lives in zip(self._named(), alive, strict=False) if not lives]
            warn(
                f"{type(self).__name__}: constant on these samples, and left out with weight 0: {', '.join(names)}.",
                "M214",
            )
        size = {"variance": variances, "trace": traces, None: np.ones(len(parts))}[self.normalize]
        return np.where(alive, 1.0 / np.where(alive, size, 1.0), 0.0)

    def _name_weights(self) -> None:
        """``kernel_``: the learnt sum, an ordinary kernel; and its parts by name."""
        self.kernel_names_ = [name for name, _ in self._named()]
        if self._bound is None:  # learnt from matrices alone
            return
        self.kernels_ = list(self._bound._summands())
        terms = [k * float(w) for w, k in zip(self._part_weights, self.kernels_, strict=True) if w > 0]
        self.kernel_ = terms[0] if len(terms) == 1 else Sum(tuple(terms))

    def _learn_path(self, gram: Gram, y: Targets, weights: Array, machines: Sequence[Any], X: Samples = None) -> None:
        KernelMachine._learn_path(self, gram, y, weights, machines, X)
