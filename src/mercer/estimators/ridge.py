"""Kernel ridge regression: one file, with a bias, many outputs, weights, missing labels, and how sure it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, replace
from typing import Any, ClassVar

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.exceptions import ConvergenceWarning

from mercer import arrays
from mercer.annotations import Index, Samples, Targets
from mercer.arrays import Array
from mercer.compute import Compute
from mercer.data.notices import warn
from mercer.estimators.base import Met
from mercer.estimators.machine import ManyOutputs, Supervised, Weighted
from mercer.estimators.parameters import CenterParameters, KernelLike, Progress, estimator
from mercer.estimators.scikit_checks import check_is_fitted
from mercer.estimators.spread import SpreadPasses, SpreadSamples
from mercer.gram import Gram, Landmarks, NystromGram, Outline, Use, Work, held, outlined
from mercer.kernels.base import Kernel
from mercer.kernels.vectors.radial import Gaussian
from mercer.native.linalg import NotPositive, eigenvalues
from mercer.problems import LinearSolution, LinearSystem
from mercer.solvers import inverses, landmarks, spectral
from mercer.solvers.dual import Tried
from mercer.solvers.inverses import choose
from mercer.solvers.linear import ConjugateGradients
from mercer.solvers.posterior import LandmarkPosterior, Posterior
from mercer.solvers.spectral import Eigendecomposition, decompose
from mercer.solvers.spread import Spread
from mercer.solvers.spread_ridge import solve_spread
from mercer.troubles import coded

_SOLVERS = ("auto", "cholesky", "woodbury", "cg", "eigen")
_SEVERAL = 8  # different λ, from which one decomposition is cheaper than a factor for each


class Ridge(ManyOutputs, RegressorMixin, Supervised, Weighted):  # type: ignore[misc]
    """What ridge machines share: targets with gaps, and prediction with its uncertainty."""

    max_time = None
    on_interrupt = "raise"
    fit_intercept: bool
    _targets: ClassVar[dict[str, bool]] = {"y_numeric": True, "multi_output": True}

    @property
    def _one(self) -> bool:
        return bool(self._single)

    def _matrix(self, X: Samples, weights: Array | None, kernel: Kernel | None = None) -> Gram:
        """Of X on the device to compute on: what is computed there then stays there, but what a kernel takes from data
        is kept here.
        """
        device = self.compute.device if self.compute is not None else None
        if device is not None and isinstance(X, np.ndarray) and not self._precomputed:
            given = kernel or self._given_kernel
            kernel, X = given.bind(given.domain.check(X), weights), arrays.to_device(X, device)
        return super()._matrix(X, weights, kernel)

    def predict(self, X: Samples, return_std: bool = False, include_noise: bool = False) -> Any:
        """f(x) for each sample; with ``return_std`` also how sure it is of that.

        The ridge is the posterior mean of a Gaussian process: f ~ b + GP(0, σ²k), y_i = f(x_i) + noise of variance
        σ²λ/w_i. Its only unknown, σ², is estimated from the training data (``signal_variance_``), so that standard
        deviations are in the units of y and follow its scale.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or n_samples items
            New samples; with ``kernel="precomputed"`` their matrix with the training samples.
        return_std : bool, default=False
            Whether to return (mean, std); the first such call factors the matrix, in float64.
        include_noise : bool, default=False
            False: the standard deviation of f(x). True: that of a new y at x, √(σ²(v(x) + λ)).

        Returns
        -------
        mean : ndarray of shape (n_samples,), or (n_samples, n_outputs) where y had columns
            f(x).
        std : ndarray of the same shape
            Only with ``return_std``.

        Raises
        ------
        ValueError
            With ``return_std``: of a precomputed matrix or a compressed machine, which lack what it follows from, and
            for alpha = 0.
        """
        if not return_std:
            values = self._values(X)
            return values[:, 0] if self._single else values
        check_is_fitted(self)
        posterior = self.__dict__.get("_landmark_posterior")
        if self._compressed and posterior is None:
            raise ValueError(
                coded(
                    "A compressed machine no longer holds the samples that its uncertainty follows from; ask that of"
                    " all samples. A machine with centers gathers it in fit where uncertainty=True.",
                    "M311",
                )
            )
        if any(ridge == 0 for ridge, _ in self._parts):
            raise ValueError(
                coded("alpha = 0 is a process without noise, whose uncertainty may not exist; give alpha > 0.", "M307")
            )
        new = self._meet(self._accept_new(X))
        if posterior is None:
            variances = self._variances(new, include_noise)
        else:
            own = new.own()
            found = {ridge: posterior.variance(new.cross, own, ridge) for ridge in posterior.factors}
            variances = [found[ridge] + include_noise * ridge for ridge, _ in self._parts]
        std = np.sqrt(np.column_stack(variances) * self.signal_variance_)
        values = np.asarray(new.cross @ self._dual_coef.T) + self.intercept_
        return (values[:, 0], std[:, 0]) if self._single else (values, std)

    def _variances(self, new: Met, noise: bool) -> list[Array]:
        """Of each output at new items, where σ² is 1."""
        diagonal = new.own()
        columns: list[Array] = []
        for t, (ridge, used) in enumerate(self._parts):
            if t and self._parts[t - 1][0] == ridge and self._parts[t - 1][1] is used:
                columns.append(columns[-1])
                continue
            posterior, rows = self._posterior(ridge, used), slice(None) if used is None else used
            if posterior.features is not None and new.kernel is not None:
                variance = posterior.of_features(new.kernel._features(new.items))
            else:
                variance = posterior.variance(new.cross.sub(slice(None), rows), diagonal)
            columns.append(variance + ridge if noise else variance)
        return columns

    def _posterior(self, ridge: float, used: Array | None) -> Posterior:
        known = self.__dict__.setdefault("_posteriors", {})
        key = (ridge, None if used is None else used.tobytes())
        if key not in known:
            assert self.kernel_ is not None
            gram = self.kernel_.gram(self._unpacked(self.support_vectors_), compute=self.compute)
            weights = self._sample_weight if used is None else self._sample_weight[used]
            known[key] = Posterior.of(
                gram if used is None else gram.sub(used, used), weights, ridge, self.fit_intercept
            )
        return known[key]

    def _measured(self, Y: Array, A: Array, values: Array, w: Array, ridge: float) -> tuple[Array, float]:
        """b, and the residual of the system, of coefficients A with K A = ``values``; at λ = 0 what is left is what no
        f can reach.
        """
        centre = np.average(Y, axis=0, weights=w) if self.fit_intercept else np.zeros(Y.shape[1])
        left = (Y - centre) - values - ridge * A / w[:, None]
        b = np.average(left, axis=0, weights=w) if self.fit_intercept else np.zeros(Y.shape[1])
        if ridge == 0:
            return centre + b, 0.0
        size = np.maximum(np.linalg.norm(Y - centre, axis=0), 1e-14 * np.linalg.norm(Y, axis=0) + 1e-300)
        return centre + b, float(np.max(np.linalg.norm(left - b, axis=0) / size, initial=0.0))

    def _explain(self, weights: Array, gram: Gram, ridge: float) -> None:
        if gram.landmarks() is not None:
            warn(
                f"{type(self).__name__} reached a residual of {self.gap_:.2g} after {self.n_iter_} passes, tol"
                f" {self.tol:g}. Raise max_iter={self.max_iter}, alpha={ridge:g} or tol.",
                "M301",
                ConvergenceWarning,
            )
            return
        largest = float(np.sum(weights * arrays.to_numpy(gram.diag())))
        warn(
            f"{type(self).__name__} reached a residual of {self.gap_:.2g} by {self.solver_!r}, tol {self.tol:g}: the"
            f" matrix plus alpha={ridge:g} is ill-conditioned (its largest eigenvalue is up to {largest:.2g}). Raise"
            f" alpha to {1e-12 * largest:.1g} or more, or raise tol.",
            "M307",
            ConvergenceWarning,
        )

    def __getstate__(self) -> Any:
        return {name: value for name, value in super().__getstate__().items() if name != "_posteriors"}

    def _finish(self, y: Array, coef: Array, bias: Array, weights: Array) -> None:
        self._keep(coef, every=True)
        self.intercept_, self._sample_weight, self._single = bias, weights, y.ndim == 1
        Y = y.reshape(len(y), -1)
        known = ~np.isnan(Y)
        # (y − b)^T (K + λW^−1)^−1 (y − b) over what is left of the samples: restricted maximum likelihood
        square = np.sum(np.where(known, Y - bias, 0.0) * coef, axis=0)
        total = weights @ known
        # of weights so small that they are less than one sample together, a mean weight is left
        least = np.maximum(total / np.maximum(known.sum(axis=0), 1), np.finfo(np.float64).tiny)
        left = np.maximum(total - self.fit_intercept, least)
        self.signal_variance_ = np.maximum(square / left, 0.0)
        self.__dict__.pop("_posteriors", None)


@estimator
class KernelRidge(Ridge, CenterParameters):
    """min Σ_i w_i (y_i − f(x_i))² + λ‖f‖², f = Σ_i α_i k(·, x_i) + b: (K + λW^−1)α + b1 = y, 1^T α = 0.

    Adding a constant to y adds it to the predictions. The residual of the system is computed in float64 and reported,
    whatever solved it. y may have several columns, in which NaN is a label that is missing: each output is then fitted
    to the samples that have one.

    Parameters
    ----------
    alpha : float or array-like of shape (n_outputs,), default=1.0
        λ ≥ 0, or one for each output: the variance of the noise over that of the signal, σ². 0 is least squares of
        minimum norm.
    solver : {"auto", "cholesky", "woodbury", "cg", "eigen"}, default="auto"
        "cholesky" (n³/3; one copy of the matrix, in float32 from n = 2048 with float64 refinement), "woodbury"
        (explicit kernels: np²), "cg" (conjugate gradients with a rank-1000 preconditioner; the matrix is never stored),
        "eigen", or "auto": passes over the data where there are ``centers``; woodbury where there are fewer features
        than samples; cholesky up to n = 20 000 if it fits in memory; else cg. ``solver_`` says which.
    tol : float, default=1e-8
        The residual of the system to reach, as a share of y; ``gap_`` is the one reached. With ``centers`` these are
        normal equations, in which rounding may leave 1e-7.
    max_iter : int, default=500
        The most steps of conjugate gradients.

    Attributes
    ----------
    dual_coef_ : ndarray of shape (n_outputs, n_support)
        α, one row for each output; every training sample has one.
    intercept_ : ndarray of shape (n_outputs,)
        b of each output.
    signal_variance_ : ndarray of shape (n_outputs,)
        σ² of the Gaussian process whose posterior mean this is, (y − b)ᵀ(K + λW⁻¹)⁻¹(y − b)/(Σw − 1): the noise then
        has variance σ²λ.
    gap_ : float
        The residual of the system as a share of y; of several outputs, the largest.
    support_, support_vectors_, coef_, function_, converged_, stop_reason_, n_iter_, solver_, kernel_, n_features_in_
    feature_names_in_

    Warns
    -----
    ConvergenceWarning
        Where the residual is above ``tol``, or the matrix plus λ is not positive definite, with the cure.

    See Also
    --------
    KernelRidgeCV : λ and the kernel by exact leave-one-out.
    SVR : Errors up to ε are free; few samples are kept.
    KernelHuber : Squared errors that outliers do not bend.
    tune : The kernel's parameters and λ by the gradient of a criterion.

    References
    ----------
    C. E. Rasmussen and C. K. I. Williams, Gaussian Processes for Machine Learning (2006), chapter 2.

    Examples
    --------
    >>> import numpy as np
    >>> import mercer as mc
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-3, 3, (100, 1))
    >>> y = np.sin(X[:, 0]) + 0.1 * rng.standard_normal(100)
    >>> ridge = mc.KernelRidge(alpha=0.1, kernel=mc.Gaussian(0.5)).fit(X, y)
    >>> round(ridge.score(X, y), 2)
    0.98
    >>> mean, std = ridge.predict([[1.5], [9.0]], return_std=True)
    >>> round(float(mean[0]), 1), bool(std[1] > 5 * std[0])  # far from the data it is not sure
    (0.9, True)
    """

    alpha: Any = 1.0
    kernel: KernelLike = Gaussian()
    _: KW_ONLY
    fit_intercept: bool = True
    uncertainty: bool = False
    solver: str = "auto"
    tol: float = 1e-8
    max_iter: int = 500
    progress: Progress | None = None
    compute: Compute | None = None

    def _accept_training(self, X: Samples, y: Targets) -> tuple[Any, Array]:
        """X, and y as (n,) or (n, outputs) float64. NaN among several outputs is a label that is missing; alone it is
        an error.
        """
        found = np.asarray(y)
        given = found.astype(np.float64) if found.ndim == 2 and found.shape[1] > 1 else np.zeros((0, 1))
        gaps = np.isnan(given)
        if not gaps.any():
            return super()._accept_training(X, y)
        _check_labels(given)
        X, y = super()._accept_training(X, np.where(gaps, 0.0, given))
        return X, np.where(gaps, np.nan, y)

    @property
    def _residual(self) -> float:
        """The residual of the system to reach."""
        return self.tol

    def _check(self) -> None:
        super()._check()
        if self.solver not in _SOLVERS:
            raise ValueError(coded(f"solver={self.solver!r}: choose one of {', '.join(map(repr, _SOLVERS))}.", "M205"))

    def _learn(self, gram: Gram, y: Array, weights: Array, X: Samples = None) -> None:
        Y = y.reshape(len(y), -1)
        _check_labels(Y)
        ridges = self._ridges(Y.shape[1])
        self.__dict__.pop("_landmark_posterior", None)
        gram = held(gram, Use.AGAIN)
        coef, bias = np.zeros(Y.shape), np.zeros(Y.shape[1])
        self.n_iter_, self.gap_, self.solver_, self.stop_reason_ = 0, 0.0, "", "gap"
        self._parts: list[Any] = [None] * Y.shape[1]
        by_passes = gram.landmarks() is not None and self.solver == "auto" and ridges.min() > 0
        solve = self._solve_on_landmarks if by_passes else self._solve
        for used, outputs in _by_labels(Y):
            rows = slice(None) if used is None else used
            part = gram if used is None else gram.sub(used, used)
            solve(part, Y[rows][:, outputs], weights[rows], ridges[outputs], outputs, coef, bias, rows)
            for t in outputs:
                self._parts[t] = (float(ridges[t]), used)
        self._finish(y, coef, bias, weights)
        self.converged_ = self.gap_ <= self._residual or self.stop_reason_ == "gap"
        self.stop_reason_ = "gap" if self.converged_ else self.stop_reason_
        if self.stop_reason_ in ("stalled", "max_iter"):
            self._explain(weights, gram, float(ridges.min()))

    def _learn_spread(self, passes: SpreadPasses, samples: SpreadSamples, marks: Landmarks) -> None:
        if self.uncertainty:
            raise ValueError(
                coded("uncertainty=True is for samples in memory; of a Dask collection, give some of them.", "M313")
            )
        self._learn_outputs(passes, samples.outputs, marks)

    def _learn_outputs(self, passes: SpreadPasses, outputs: int | None, marks: Landmarks) -> None:
        """From so many columns of targets, None: a vector."""
        ridges = self._ridges(outputs or 1)
        if not ridges.min() > 0:
            raise ValueError(coded("alpha = 0 is for samples in memory; of a Dask collection, give alpha > 0.", "M313"))
        solver = ConjugateGradients(self._residual, self.max_iter or 500)
        budget = marks.values.compute.budget
        found = solve_spread(Spread(passes, marks.factor), ridges, self.fit_intercept, solver, budget)
        self._of_landmarks, self.intercept_, self._single = found.of_landmarks, found.bias, outputs is None
        self._parts = [(float(ridge), None) for ridge in ridges]
        left = np.maximum(passes.weight - self.fit_intercept, passes.weight / passes.count)
        self.signal_variance_ = np.maximum(found.square / ridges / left, 0.0)
        for name in ("_posteriors", "_landmark_posterior", "_sample_weight"):
            self.__dict__.pop(name, None)
        self.n_iter_, self.gap_, self.solver_ = found.n_iter, found.residual, "landmarks"
        self.converged_, self.stop_reason_ = found.stop_reason == "gap", found.stop_reason
        if self.stop_reason_ in ("stalled", "max_iter"):
            self._explain(np.zeros(0), NystromGram(marks), float(ridges.min()))

    _along = "alpha"
    _needs_psd = False  # λ may make up for negative eigenvalues; it warns where it does not

    def _learn_path(self, gram: Gram, y: Targets, weights: Array, machines: Sequence[Any], X: Samples = None) -> None:
        """One decomposition for all λ, where there are enough to pay for it; over landmarks, the same passes."""
        Y = y.reshape(len(y), -1)
        for machine in machines:
            machine._check()
        ridges = np.stack([machine._ridges(Y.shape[1]) for machine in machines])
        if gram.landmarks() is not None and self.solver == "auto" and ridges.min() > 0 and not np.isnan(Y).any():
            self._learn_path_on_landmarks(gram, y, weights, machines, ridges)
            return
        scalar = all(np.ndim(machine.alpha) == 0 and machine.alpha > 0 for machine in machines)
        if len(machines) < _SEVERAL or not scalar or self.solver not in ("auto", "eigen") or np.isnan(y).any():
            super()._learn_path(gram, y, weights, machines, X)
            return
        try:
            decomposition = decompose(gram, weights, self.fit_intercept)
            coefs = decomposition.coefficients(Y, [machine.alpha for machine in machines])
        except NotPositive:
            super()._learn_path(gram, y, weights, machines, X)
            return
        values = np.split(arrays.to_numpy(gram.astype(np.float64) @ np.hstack(list(coefs))), len(machines), axis=1)
        for machine, coef, value in zip(machines, coefs, values, strict=True):
            bias, residual = self._measured(Y, coef, value, weights, float(machine.alpha))
            machine._finish(y, coef, bias, weights)
            machine._parts = [(float(machine.alpha), None)] * Y.shape[1]
            machine.n_iter_, machine.gap_, machine.solver_, machine.converged_ = (
                1,
                residual,
                "eigen",
                residual <= machine.tol,
            )
            machine.stop_reason_ = "gap" if machine.converged_ else "stalled"

    def _learn_path_on_landmarks(
        self, gram: Gram, y: Array, weights: Array, machines: Sequence[Any], ridges: Array
    ) -> None:
        """All λ and outputs are columns of one system."""
        Y = y.reshape(len(y), -1)
        solver = ConjugateGradients(self._residual, self.max_iter or 500)
        with self._watching():
            found = solver.solve(
                LinearSystem(np.tile(Y, len(machines)), weights, ridges.ravel(), self.fit_intercept), gram
            )
        assert found.of_landmarks is not None
        parts = (np.split(values, len(machines), axis=-1) for values in (found.coef, found.bias, found.of_landmarks))
        for machine, own, coef, bias, of_landmarks in zip(machines, ridges, *parts, strict=True):
            machine._finish(y, coef, bias, weights)
            machine._of_landmarks, machine._parts = of_landmarks, [(float(ridge), None) for ridge in own]
            machine.n_iter_, machine.gap_, machine.solver_ = found.n_iter, found.residual, found.solver
            machine.converged_ = machine.gap_ <= machine._residual
            machine.stop_reason_ = "gap" if machine.converged_ else found.stop_reason
        if found.stop_reason in ("stalled", "max_iter"):
            machines[0]._explain(weights, gram, float(ridges.min()))

    def _cost(self, outline: Outline, y: Array, tried: Tried | None = None) -> Work:
        outputs = 1 if np.ndim(y) == 1 else np.shape(y)[1]
        different = len(np.unique(self._ridges(outputs)))
        if outline.landmarks() is not None and self.solver == "auto":
            return landmarks.outlook(outline, self._residual, outputs, different)
        matrix, made = outlined(outline, Use.AGAIN)
        if self.solver == "eigen" or different >= _SEVERAL:
            found = replace(spectral.outlook(matrix), solver="eigen").beside(seconds=matrix.product(outputs))
        else:
            found = inverses.outlook(matrix, self.solver, different)
        found = replace(found, plan=f"ridge by {found.plan}")
        return found.beside(made.memory + 8.0 * 10 * outline.shape[0] * outputs, made.seconds)

    def _cost_along(self, outline: Outline, y: Array, count: int, tried: Tried | None = None) -> Work:
        """Of ``_learn_path`` for so many λ."""
        if count < _SEVERAL or self.solver not in ("auto", "eigen"):
            return self._cost(outline, y, tried).times(count)
        found = spectral.outlook(outline, tridiagonal=True)
        return found.beside(seconds=outline.product(count) + count * outline.speed.reading(2 * outline.bytes()))

    def _ridges(self, outputs: int) -> Array:
        known = np.asarray(self.alpha).dtype.kind in "fiu"
        alpha = np.asarray(self.alpha, np.float64) if known and np.ndim(self.alpha) <= 1 else np.array(np.nan)
        if alpha.ndim == 1 and alpha.shape != (outputs,):
            raise ValueError(
                coded(
                    f"KernelRidge(alpha={self.alpha!r}): one number, or one for each of the {outputs} outputs.", "M205"
                )
            )
        if not (np.isfinite(alpha).all() and (alpha >= 0).all()):
            raise ValueError(coded(f"KernelRidge(alpha={self.alpha!r}): alpha must be a number of at least 0.", "M205"))
        return np.broadcast_to(alpha, (outputs,))

    def _solve(
        self, gram: Gram, Y: Array, w: Array, ridges: Array, outputs: Array, coef: Array, bias: Array, rows: Index
    ) -> None:
        """Fill in the columns ``outputs`` of the coefficients: one factor for each different λ, or one decomposition
        for many.
        """
        different = np.unique(ridges)
        decomposition = (
            Eigendecomposition.of(gram, w, self.fit_intercept)
            if self.solver == "eigen" or len(different) >= _SEVERAL
            else None
        )
        inverse = choose(gram, self.solver) if decomposition is None and different[-1] > 0 else None
        for ridge in different:
            mine = ridges == ridge
            if ridge > 0 and inverse is not None:
                solver = ConjugateGradients(self._residual, self.max_iter or 500, solver=self.solver)
                try:
                    found = solver.solve(LinearSystem(Y[:, mine], w, float(ridge), self.fit_intercept), gram, inverse)
                except NotPositive:
                    self._say_indefinite(gram)
                    inverse = None
            if ridge == 0 or inverse is None:
                decomposition = decomposition or Eigendecomposition.of(gram, w, self.fit_intercept)
                found = self._by_eigenvalues(decomposition, gram, Y[:, mine], w, float(ridge))
            full = np.zeros((len(coef), int(mine.sum())))
            full[rows] = found.coef
            coef[:, outputs[mine]], bias[outputs[mine]] = full, found.bias
            self.n_iter_ += found.n_iter
            if found.residual >= self.gap_:
                self.gap_, self.stop_reason_ = found.residual, found.stop_reason
            self.solver_ = found.solver

    def _solve_on_landmarks(
        self, gram: Gram, Y: Array, w: Array, ridges: Array, outputs: Array, coef: Array, bias: Array, rows: Index
    ) -> None:
        """The same over functions of the landmarks: all outputs and λ in the same passes."""
        solver = ConjugateGradients(self._residual, self.max_iter or 500)
        found = solver.solve(LinearSystem(Y, w, ridges, self.fit_intercept), gram)
        assert found.of_landmarks is not None
        full = np.zeros((len(coef), Y.shape[1]))
        full[rows] = found.coef
        coef[:, outputs], bias[outputs] = full, found.bias
        if "_of_landmarks" not in self.__dict__:
            self._of_landmarks = np.zeros((len(found.of_landmarks), coef.shape[1]))
        self._of_landmarks[:, outputs] = found.of_landmarks
        marks = gram.landmarks()
        if self.uncertainty and marks is not None:
            if len(outputs) < coef.shape[1]:
                raise ValueError(coded("uncertainty=True with centers is for labels that all samples have.", "M217"))
            self._landmark_posterior = LandmarkPosterior.of(marks, w, ridges, self.fit_intercept)
        self.n_iter_ += found.n_iter
        self.solver_ = found.solver
        if found.residual >= self.gap_:
            self.gap_, self.stop_reason_ = found.residual, found.stop_reason

    def _by_eigenvalues(
        self, decomposition: Eigendecomposition, gram: Gram, Y: Array, w: Array, ridge: float
    ) -> LinearSolution:
        A = decomposition.coefficients(Y, [ridge])[0]
        b, residual = self._measured(Y, A, arrays.to_numpy(gram.astype(np.float64) @ A), w, ridge)
        return LinearSolution(A, b, residual, 1, "eigen", "gap" if residual <= self._residual else "stalled")

    def _say_indefinite(self, gram: Gram) -> None:
        smallest = (
            float(eigenvalues(arrays.to_numpy(gram.astype(np.float64).dense()))[0])
            if gram.shape[0] <= 3000
            else float("nan")
        )
        seen = (
            f"its smallest eigenvalue is {smallest:.3g}" if smallest == smallest else "its Cholesky factorisation fails"
        )
        warn(
            f"The kernel matrix plus the ridge is not positive definite: {seen}, alpha {self.alpha}. The kernel is not"
            " positive semi-definite on these data, and the solution is a saddle point, not a minimum: raise alpha"
            " above that, or use kernel.repaired('clip').",
            "M209",
            ConvergenceWarning,
        )


def _check_labels(Y: Array) -> None:
    empty = np.isnan(Y).all(axis=0)
    if empty.any():
        raise ValueError(coded(f"Output {int(np.argmax(empty))} of y has no label at all.", "M112"))


def _by_labels(Y: Array) -> list[tuple[Array | None, Array]]:
    """Outputs with the same labels missing, together: (samples that have labels, outputs); None for all samples."""
    gaps = np.isnan(Y)
    if not gaps.any():
        return [(None, np.arange(Y.shape[1]))]
    patterns: dict[bytes, list[int]] = {}
    for t in range(Y.shape[1]):
        patterns.setdefault(gaps[:, t].tobytes(), []).append(t)
    return [
        (None if not gaps[:, ts[0]].any() else np.flatnonzero(~gaps[:, ts[0]]), np.array(ts))
        for ts in patterns.values()
    ]
