"""Kernel ridge regression whose λ and kernel are chosen by leave-one-out, from one decomposition."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, replace
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.model_selection import ParameterGrid

from mercer import arrays
from mercer.annotations import Samples
from mercer.arrays import Array
from mercer.compute import Compute, human
from mercer.estimators.parameters import KernelLike, Progress, estimator
from mercer.estimators.ridge import KernelRidge, Ridge
from mercer.gram import Gram, Outline, Use, Work, held, is_gram, outlined
from mercer.kernels.base import Kernel
from mercer.kernels.vectors.radial import Gaussian
from mercer.native.linalg import NotPositive
from mercer.runtime.watch import asked_to_stop
from mercer.solvers import spectral
from mercer.solvers.dual import Tried
from mercer.solvers.spectral import Decomposition, Eigendecomposition, decompose, grid
from mercer.troubles import coded

# (score, kernel, matrix, decomposition, λs, their scores) of the best kernel so far
_Best = tuple[float, Kernel | None, Gram, Decomposition, Array, Array]


@estimator
class KernelRidgeCV(Ridge):
    """Kernel ridge regression with λ, and the kernel, chosen by exact leave-one-out.

    For each kernel one eigendecomposition gives all λ: coefficients, the n leave-one-out residuals (closed form, no
    refitting; a sample is left out with all its weight and all that are the same in x and y, the kernel stays bound as
    it is), generalised cross-validation and marginal likelihood. Memory: three matrices.

    Parameters
    ----------
    alphas : array-like or None, default=None
        The λ > 0 to try; None: 20 over the range that matters for the kernel.
    kernel : Kernel, str, callable, or a list of these, default=Gaussian()
        A kernel as for ``KernelRidge``, or a list of kernels to choose from; "precomputed" where X is the matrix.
    kernel_grid : dict, list of dict or None, default=None
        Values of the kernel's parameters to try, as for ``ParameterGrid``: {"gamma": [0.1, 1.0]}.
    criterion : {"loo", "gcv", "marginal likelihood"}, default="loo"
        "loo" (mean squared leave-one-out residual), "gcv", or "marginal likelihood" (of y ~ N(b, σ²(K + λW^−1)) at its
        best σ).
    alpha_per_target : bool, default=False
        Whether each output gets its own λ; the kernel is common.

    Attributes
    ----------
    alpha_ : float, or ndarray of shape (n_outputs,) with ``alpha_per_target``
        The λ that was chosen.
    kernel_ : Kernel or None
        The kernel that was chosen, bound to the training data; None where X is the matrix itself.
    best_score_ : float
        The criterion there, larger is better: minus a mean square, or a log-likelihood; the mean over outputs.
    scores_ : ndarray of shape (n_kernels, n_alphas, n_outputs)
        The criterion of each candidate; a list of arrays where kernels have different numbers of λ.
    loo_predictions_, loo_residuals_ : ndarray of shape (n_samples,), or (n_samples, n_outputs) where y had columns
        What is predicted for each sample that has weight without it, and what y exceeds that by.
    dual_coef_ : ndarray of shape (n_outputs, n_support)
        Coefficients, one row for each output.
    support_ : ndarray of shape (n_support,)
        The numbers of the training samples, of those that are the same in x and y the first alone.
    intercept_ : ndarray of shape (n_outputs,)
        b of each output.
    signal_variance_ : ndarray of shape (n_outputs,)
        σ² of the Gaussian process, as in ``KernelRidge``.
    gap_ : float
        The residual of the system as a share of y; of several outputs, the largest.
    converged_ : bool
        Whether ``gap_`` is at most 1e-8.
    support_vectors_, coef_, function_, n_iter_, solver_, n_features_in_, feature_names_in_

    See Also
    --------
    KernelRidge : One λ and one kernel, of any number of samples.
    KernelSearchCV : Any estimator over any grid, by folds.

    Examples
    --------
    >>> import mercer as mc
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> kernels = [mc.Linear(), mc.Gaussian(10.0), mc.Gaussian(100.0)]
    >>> ridge = mc.KernelRidgeCV(kernel=kernels).fit(X[:200], y[:200])
    >>> print(ridge.kernel_, round(ridge.alpha_, 2), round(ridge.score(X[200:], y[200:]), 2))
    Gaussian(γ=10.0) 0.6 0.52
    >>> ridge.scores_.shape
    (3, 20, 1)
    """

    alphas: ArrayLike | None = None
    kernel: KernelLike = Gaussian()
    _: KW_ONLY
    kernel_grid: Mapping[str, Sequence[Any]] | Sequence[Mapping[str, Sequence[Any]]] | None = None
    criterion: str = "loo"
    alpha_per_target: bool = False
    fit_intercept: bool = True
    progress: Progress | None = None
    compute: Compute | None = None

    _CRITERIA = ("loo", "gcv", "marginal likelihood")

    tol, max_iter = 1e-8, None
    _one_kernel = False

    def _check(self) -> None:
        super()._check()
        if self.criterion not in self._CRITERIA:
            raise ValueError(
                coded(f"criterion={self.criterion!r}: choose one of {', '.join(map(repr, self._CRITERIA))}.", "M205")
            )

    def _matrix(self, X: Samples, weights: Array | None, kernel: Kernel | None = None) -> Any:
        """Those of all kernels, one after the other; ``kernel_`` is that of the last one."""
        return (
            super()._matrix(X, weights)
            if self._precomputed
            else (super(KernelRidgeCV, self)._matrix(X, weights, kernel) for kernel in self._candidates())
        )

    def _learn(self, gram: Any, y: Array, weights: Array, X: Samples = None) -> None:
        """``gram``: a matrix, or one after the other those to choose from."""
        grams = iter([gram] if is_gram(gram) else gram)
        gram = next(grams)
        # equal samples are one of their weights together: the solution is the same, and none is predicted from its own
        # copy
        first, kinds = self._kinds(gram, y, X)
        if len(first) < 2:
            raise ValueError(
                coded(
                    "Leaving one out of one sample leaves nothing: KernelRidgeCV needs n_samples of at least 2.", "M310"
                )
            )
        some, y, weights = first if len(first) < len(kinds) else None, y[first], np.bincount(kinds, weights=weights)
        self._choose(y, self._tried(chain([gram], grams), some, y.reshape(len(y), -1), weights), weights, kinds)
        self.support_ = first[self.support_]

    def _tried(self, grams: Iterable[Gram], some: Array | None, Y: Array, weights: Array) -> Any:
        """The best of the kernels with all that belongs to it, from the matrices of ``some`` samples; sets ``scores_``,
        of each.
        """
        best: _Best | None = None
        scores, count = [], len(self._candidates())
        for k, gram in enumerate(grams):
            gram = gram if some is None else gram.sub(some, some)
            self._check_memory(gram)
            gram = held(gram, Use.AGAIN)
            alphas = self._alphas(gram)
            spectrum, score = self._decomposed(gram, Y, weights, alphas)
            scores.append(score)
            total = score.max(axis=0).sum() if self.alpha_per_target else score.sum(axis=1).max()
            if best is None or total > best[0]:
                best = (total, self._bound, gram, spectrum, alphas, score)
            if asked_to_stop(kernel=str(self._bound), done=k + 1, of=count, score=float(best[0]) / Y.shape[1]):
                break
        self.scores_ = np.array(scores) if len({s.shape for s in scores}) == 1 else scores
        return best

    @property
    def _given_kernel(self) -> Kernel:
        kernel: Kernel = self._candidates()[0]
        return kernel

    def _candidates(self) -> list[Any]:
        kernels = (
            list(self.kernel)
            if isinstance(self.kernel, Sequence) and not isinstance(self.kernel, str)
            else [self.kernel]
        )
        if not kernels:
            raise ValueError(coded("kernel=[]: give at least one kernel.", "M205"))
        if self._precomputed:
            return [None]
        probe = KernelRidge()
        out = []
        for kernel in kernels:
            probe.kernel = kernel
            given = probe._given_kernel
            out += (
                [given._replace().set_params(**values) for values in ParameterGrid(self.kernel_grid)]
                if self.kernel_grid
                else [given]
            )
        return out

    def _alphas(self, gram: Gram) -> Array:
        if self.alphas is None:
            return grid(gram)
        alphas = np.atleast_1d(np.asarray(self.alphas, np.float64))
        if alphas.ndim != 1 or not len(alphas) or not (np.isfinite(alphas).all() and (alphas > 0).all()):
            raise ValueError(coded(f"KernelRidgeCV(alphas={self.alphas!r}): give positive numbers.", "M205"))
        return alphas

    def _cost(self, outline: Outline, y: Array, tried: Tried | None = None) -> Work:
        matrix, made = outlined(outline, Use.AGAIN)
        found = spectral.outlook(matrix, tridiagonal=True)
        alphas = 20 if self.alphas is None else np.size(self.alphas)
        n, kernels, outputs = outline.shape[0], len(self._candidates()), 1 if np.ndim(y) == 1 else np.shape(y)[1]
        size = 8.0 * n**2 if outline.features() is None else 0.0
        # Uᵀ for all λ at once, in the cache; then coefficients, and products of those that are best
        seconds = found.seconds + made.seconds + 2 * alphas * n**2 * 1e-9 + 5e-6 * n + outline.speed.reading(4 * size)
        kept = size + made.memory if kernels > 1 else 0.0
        refused = "leave-one-out holds five matrices" if self._needed(matrix) > outline.compute.budget else ""
        return replace(
            found,
            memory=found.memory + made.memory + kept + 8.0 * 2 * n * alphas * outputs,
            seconds=kernels * seconds + outline.product(outputs),
            plan=f"ridge for {alphas} λ by {found.plan}" + (f", for {kernels} kernels" if kernels > 1 else ""),
            solver="eigen",
            refused=refused,
        )

    @staticmethod
    def _needed(gram: Gram) -> int:
        """Bytes: a matrix, its decomposition, room to make it, and the best before."""
        return 5 * 8 * gram.shape[0] ** 2 if gram.features() is None else 0

    @classmethod
    def _check_memory(cls, gram: Gram) -> None:
        need = cls._needed(gram)
        if need > gram.compute.budget:
            raise MemoryError(
                coded(
                    f"Leave-one-out for all λ of {gram.shape[0]} samples takes {human(need)}, the memory budget is"
                    f" {human(gram.compute.budget)}: use KernelSearchCV over KernelRidge, fewer samples, or"
                    f" Compute(memory='{human(1.1 * need).replace(' ', '')}').",
                    "M401",
                )
            )

    def _decomposed(self, gram: Gram, Y: Array, weights: Array, alphas: Array) -> tuple[Decomposition, Array]:
        """The decomposition, and scores; by eigenvalues where the matrix is indefinite, or too nearly singular for the
        quicker form.
        """
        try:
            found = decompose(gram, weights, self.fit_intercept)
            return found, self._score(found, Y, weights, alphas)
        except NotPositive:
            found = Eigendecomposition.of(gram, weights, self.fit_intercept)
            return found, self._score(found, Y, weights, alphas)

    def _score(self, spectrum: Decomposition, Y: Array, weights: Array, alphas: Array) -> Array:
        """Larger is better: (λs, outputs)."""
        if self.criterion == "gcv":
            return -spectrum.generalised(Y, alphas) / weights.sum() * len(Y)
        if self.criterion == "marginal likelihood":
            return spectrum.likelihood(Y, alphas)
        return -np.einsum("lim,i->lm", spectrum.leave_one_out(Y, alphas) ** 2, weights) / weights.sum()

    def _choose(self, y: Array, best: _Best, weights: Array, kinds: Array) -> None:
        _, self.kernel_, gram, spectrum, alphas, score = best
        Y = y.reshape(len(y), -1)
        chosen = score.argmax(axis=0) if self.alpha_per_target else np.full(Y.shape[1], score.sum(axis=1).argmax())
        coef, loo = np.empty(Y.shape), np.empty(Y.shape)
        for c in np.unique(chosen):
            mine = chosen == c
            coef[:, mine] = spectrum.coefficients(Y[:, mine], alphas[c])[0]
            loo[:, mine] = coef[:, mine] / spectrum.diagonal(alphas[c])[0][:, None]
        self.alpha_ = alphas[chosen] if self.alpha_per_target and y.ndim > 1 else float(alphas[chosen[0]])
        self.best_score_ = float(np.mean(score[chosen, np.arange(Y.shape[1])]))
        self.loo_residuals_ = (loo[:, 0] if y.ndim == 1 else loo)[kinds]
        self.loo_predictions_ = y[kinds] - self.loo_residuals_
        self.n_iter_, self.solver_ = 1, "eigen"
        self._parts = [(float(alphas[c]), None) for c in chosen]
        bias, residual = np.zeros(Y.shape[1]), 0.0
        values = arrays.to_numpy(gram.astype(np.float64) @ coef)
        for t, c in enumerate(chosen):
            mine = slice(t, t + 1)
            bias[mine], left = self._measured(Y[:, mine], coef[:, mine], values[:, mine], weights, float(alphas[c]))
            residual = max(residual, left)
        self.gap_, self.converged_ = residual, residual <= self.tol
        self._finish(y, coef, bias, weights)
        if not self.converged_:
            self._explain(weights, gram, float(np.min(alphas[chosen])))
