"""Directions of the largest variance in the space of a kernel: what KernelPCA and KernelPCANovelty share."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from mercer import arrays
from mercer.annotations import RandomState, Samples, Targets
from mercer.arrays import Array
from mercer.data.notices import warn
from mercer.estimators.components import component_count, share_of_variance
from mercer.estimators.machine import Unsupervised
from mercer.estimators.weights import NEGLIGIBLE, relative
from mercer.gram import Gram, Outline, Use, Work, held, outlined
from mercer.native.linalg import signs
from mercer.problems import Eigen, EigenSolution
from mercer.solvers import eigen
from mercer.solvers.eigen import SOLVERS, Negatives, negatives, solve_eigen
from mercer.troubles import coded

if TYPE_CHECKING:
    from mercer.solvers.dual import Tried

_FIRST = 32  # components that are tried first, where a share of the variance is wanted


class Components(Unsupervised):
    """f_l = Σ_i α_il (φ(x_i) − μ), orthonormal directions of the largest variance: the centred matrix is UΛU^T and α_l
    = u_l/√λ_l.

    Since Σ_i α_il = 0, f_l(x) is Σ_i α_il k(x, x_i) + b_l: the means of new items cancel and those of training are the
    constant b_l.
    """

    n_components: float | None
    solver: str
    random_state: RandomState
    _needs_psd = False  # it counts the negative eigenvalues itself
    _negligible = NEGLIGIBLE

    def _check(self) -> None:
        super()._check()
        if self.solver not in SOLVERS:
            raise ValueError(coded(f"solver={self.solver!r}: choose one of {', '.join(map(repr, SOLVERS))}.", "M205"))

    def _learn(self, gram: Gram, y: Targets, weights: Array, X: Samples = None) -> None:
        """Sets what ``_values`` needs."""
        n = gram.shape[0]
        if n < 2:
            raise ValueError(
                coded(
                    f"{type(self).__name__} needs at least two samples of positive weight (n_samples={n}): one has no"
                    " variance.",
                    "M310",
                )
            )
        gram = held(gram, Use.AGAIN)
        weights, scale = relative(weights)
        s, below = self._solve(gram, weights)
        positive = s.values > self._rounding(gram, weights, s)
        if self.n_components is None:
            s, positive = _some(s, int(positive.sum())), positive[positive]
        if not positive.any():
            if s.trace < -1e-10 * abs(float(np.max(np.abs(s.means)))):
                raise ValueError(
                    coded(
                        "The centred matrix has no positive eigenvalue: it is negative, not that of a kernel.", "M209"
                    )
                )
            explicit = self._bound is None or self._bound.explicit
            cure = "." if explicit else "; change its parameters (a Gaussian with a tiny γ makes all samples equal)."
            raise ValueError(
                coded(f"The kernel is the same for all {n} samples, constant: they have no directions{cure}", "M214")
            )
        # those of scores, which repetitions do not change
        vectors = s.vectors * signs(s.vectors / np.sqrt(weights)[:, None])
        roots = np.sqrt(np.where(positive, s.values, 1.0))
        coef = np.sqrt(weights)[:, None] * vectors * np.where(positive, 1 / roots, 0.0)
        self._keep(coef, every=True)
        self.intercept_ = -(s.means @ coef)
        values = np.where(positive, s.values, 0.0)
        self.eigenvalues_, self.eigenvectors_ = scale * values, vectors
        self.solver_, self.n_iter_, self.n_components_ = s.solver, s.n_iter, len(s.values)
        self.explained_variance_ = values / weights.sum()
        self.explained_variance_ratio_ = values / max(s.trace + below.mass, float(values.sum()))
        self.n_negative_, self.negative_share_ = (
            below.count,
            below.mass / (below.mass + max(s.trace + below.mass, float(values.sum()))),
        )
        self._weights_kept, self._weight_scale, self._means = weights, scale, s.means
        if below.count:
            self._warn_of_negatives(n, below)

    @property
    def _called(self) -> str:
        return type(self).__name__

    def _warn_of_negatives(self, n: int, below: Negatives) -> None:
        """Say what was found, what is done about it, and the cure."""
        least = "" if below.every else "at least "
        cure = (
            "Clip them to 0 first"
            if self._bound is None
            else "Use a kernel that is (psd is True), or kernel.repaired('clip')"
        )
        warn(
            f"{self._called}: the centred matrix is not positive semi-definite, so it is of no kernel:"
            f" {least}{below.count} of its {n} eigenvalues are negative, and make up {least}{self.negative_share_:.2g}"
            " of the sum of all their absolute values. Components are of positive eigenvalues alone, and"
            f" explained_variance_ratio_ is their share of the sum of these. {cure}.",
            "M209",
        )

    def _rounding(self, gram: Gram, weights: Array, s: EigenSolution) -> float:
        """Eigenvalues up to this are 0. Those from features are squares of singular values, and already without
        such.
        """
        if gram.features() is not None and s.solver == "exact":
            return 0.0
        # what rounding is a part of
        whole = float(weights @ np.abs(np.asarray(arrays.to_numpy(gram.diag()), np.float64)))
        return float(np.finfo(gram.dtype).eps) * max(whole, len(weights) * float(s.values.max(initial=0.0)))

    def _below(self, gram: Gram, weights: Array, s: EigenSolution) -> Negatives:
        """The negative eigenvalues, which the matrix of a kernel has not: looked for unless that is known."""
        if gram.features(at_most=np.inf) is not None or (self._bound is not None and self._bound.psd):
            return Negatives()
        part = 1e-10 if gram.dtype == np.float64 else 1e-5  # as precise as matrices are written down
        floor = max(self._rounding(gram, weights, s), part * float(s.values.max(initial=0.0)))
        return negatives(Eigen(1, weights), gram, floor) if s.spectrum is None else Negatives.among(s.spectrum, floor)

    def _solve(self, gram: Gram, weights: Array) -> tuple[EigenSolution, Negatives]:
        n = gram.shape[0]
        options: dict[str, Any] = {"random_state": self.random_state}
        if self.tol is not None:
            options["tol"] = self.tol
        count = component_count(self.n_components, np.iinfo(np.int64).max, "")
        if count is not None or self.n_components is None:
            s = solve_eigen(Eigen(n if count is None else min(count, n), weights), gram, self.solver, **options)
            kept, below = len(s.values), self._below(gram, weights, s)
            if count is not None and kept < count:
                s, kept = _padded(s, count), count
        else:
            kept, tried, known = n, _FIRST, None
            while True:  # a share of the variance: more until it is reached
                s = solve_eigen(Eigen(min(tried, n), weights), gram, self.solver, **options)
                below = known = known or self._below(gram, weights, s)
                total = s.trace + below.mass
                positive = s.values[s.values > 0]
                if positive.sum() >= self.n_components * total * (1 - 1e-12) or tried >= n or len(positive) < tried:
                    kept = share_of_variance(positive, total, self.n_components)
                    break
                tried *= 4
        if s.residual > 10 * max(self.tol or 0.0, 1e-5 if gram.dtype == np.float32 else 1e-8):
            warn(
                f"{type(self).__name__}: the {s.solver} solver stopped after {s.n_iter} steps with a residual of"
                f" {s.residual:.2g} of the largest eigenvalue: the last eigenvalues asked for are too near to each"
                " other. Ask for fewer components, or use solver='exact'.",
                "M301",
                ConvergenceWarning,
            )
        return _some(s, kept), below

    def _cost(self, outline: Outline, y: Targets = None, tried: Tried | None = None) -> Work:
        n = outline.shape[0]
        matrix, made = outlined(outline, Use.AGAIN)
        count = component_count(self.n_components, np.iinfo(np.int64).max, "")
        # of a share of the variance, as many as are tried first
        wanted = min(n, _FIRST if self.n_components is not None else n) if count is None else min(count, n)
        found = eigen.outlook(matrix, wanted, self.solver)
        kept = 8.0 * 4 * n * wanted  # eigenvectors, these with their signs, coefficients
        whole = max(found.memory, 8.0 * n * wanted + kept) if found.solver == "exact" else found.memory + kept
        return replace(found.beside(seconds=made.seconds), memory=whole + made.memory)

    def _training_scores(self) -> Array:
        """f_l(x_i) = √λ_l u_il/√w_i."""
        w = self._weights_kept  # not eigenvalues_, which are as small or large as the weights
        scores: Array = self.eigenvectors_ * np.sqrt(self.explained_variance_ * w.sum()) / np.sqrt(w)[:, None]
        return scores

    def _centred_norms(self, diagonal: Array, inner: Array) -> Array:
        """‖φ(x) − μ‖² from k(x, x) and ⟨φ(x), μ⟩."""
        mean = float(self._weights_kept @ self._means) / float(self._weights_kept.sum())
        return np.asarray(diagonal, np.float64) - 2 * inner + mean


def _some(s: EigenSolution, kept: int) -> EigenSolution:
    return EigenSolution(
        s.values[:kept], s.vectors[:, :kept], s.means, s.trace, s.residual, s.n_iter, s.solver, s.spectrum
    )


def _padded(s: EigenSolution, count: int) -> EigenSolution:
    """With eigenvalues 0 for components that the matrix does not have."""
    more = count - len(s.values)
    vectors = np.concatenate([s.vectors, np.zeros((len(s.vectors), more))], axis=1)
    return EigenSolution(
        np.concatenate([s.values, np.zeros(more)]),
        vectors,
        s.means,
        s.trace,
        s.residual,
        s.n_iter,
        s.solver,
        s.spectrum,
    )
