"""What feature machines share: their parameters, the metric learnt at the door, and the ridge that follows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy import sparse

from mercer import arrays
from mercer.annotations import RandomState, Samples, Targets
from mercer.arrays import Array
from mercer.compute import Compute
from mercer.data import Vectors, distinct, take
from mercer.estimators.feature_metric import Candidate, Race, Trial
from mercer.estimators.machine import KernelMachine
from mercer.estimators.parameters import Progress, estimator
from mercer.estimators.ridge import KernelRidge
from mercer.estimators.spread import Door, SpreadPasses, SpreadSamples
from mercer.gram import Gram, Landmarks
from mercer.kernels.approximations.nystrom import Nystrom
from mercer.kernels.base import Kernel
from mercer.kernels.compose.inputs import Shifted, mean_and_deviation
from mercer.kernels.given import PRECOMPUTED, as_kernel
from mercer.kernels.vectors.radial import PowerExponential, PowerLaplacian
from mercer.runtime.randomness import generator
from mercer.runtime.watch import Stopped, asked_to_stop
from mercer.troubles import coded

_ROUNDS = 100  # where nobody says
_POOL, _POOL_OF_EACH = 40_000, 4  # samples, and times ``max_samples``: of more, so many are looked at
_WIDEST_FULL = 1000  # columns up to which M is a matrix where nobody says
_CANDIDATES = (
    Candidate(PowerExponential("median", 1.4), diagonal=False, start=(2, -2)),
    Candidate(PowerLaplacian("median", 1.5), diagonal=True, start=(0, -1)),
    Candidate(PowerExponential("median", 1.0), diagonal=False, start=(2, -2)),
    Candidate(PowerLaplacian("median", 1.0), diagonal=True, start=(0, -1)),
    Candidate(PowerExponential("median", 2.0), diagonal=False, start=(1, -2)),
)


@estimator
class MetricParameters:
    """What feature machines share."""

    alpha: float | None = None
    kernel: Any = "auto"
    _: KW_ONLY
    metric: str = "auto"
    blocks: Sequence[Any] | Array | None = None
    standardize: bool = True
    max_samples: int | None = 2000
    centers: int | Samples | None = None
    validation_fraction: float = 0.2
    fit_intercept: bool = True
    tol: float = 1e-5
    max_iter: int = 5
    max_time: float | None = None
    progress: Progress | None = None
    on_interrupt: str = "raise"
    random_state: RandomState = None
    compute: Compute | None = None

    _described: ClassVar[dict[str, str]] = {
        "alpha": """float or None, default=None
        λ > 0 of the ridge; None: that of the least error held out.""",
        "kernel": """Kernel, list of kernels or "auto", default="auto"
        The kernel whose metric is learnt: one with a gradient by its samples (of distances, inner products, sums over
        columns). A width that is a word ("median", "scale") is chosen where it is the kernel's own; a number, and what
        is in a part of a composed kernel, is kept. Of several kernels the best is taken.
        "auto": ``PowerExponential`` of the powers 1, 1.4 and 2, and, column by column, ``PowerLaplacian`` of 1 and
        1.5.""",
        "metric": """{"auto", "full", "diagonal"}, default="auto"
        Whether M is a matrix, or a weight for each column. "auto": a matrix for kernels that rotations do not change,
        up to 1000 columns; of the kernels of ``kernel="auto"``, what is best.""",
        "blocks": """array-like of shape (n_features,) or None, default=None
        A label for each column: columns of different labels have 0 in M. The columns that a category was coded to,
        one-hot, are a block of their own. None: one block.""",
        "standardize": """bool, default=True
        Whether columns are brought to mean 0 and variance 1 first; a constant column is only centred.""",
        "centers": """int, collection of samples or None, default=None
        f is a sum over so many of the samples, drawn with equal chances, or over these; the metric is learnt from
        ``max_samples`` in any case. For 10⁵ samples and more.""",
        "max_samples": """int or None, default=2000
        The most samples that M is learnt from, drawn at random; f is always that of all samples. None: all. Where there
        are more than 40 000, what columns are standardised by is measured on as many, too.""",
        "validation_fraction": """float, default=0.2
        The share of the samples, at most 2000, that is held out to choose by; f is then fitted to them too.""",
        "tol": """float, default=1e-5
        The residual of the system of f to reach, as a share of y.""",
        "max_iter": """int, default=5
        The most rounds; 0 leaves M the identity, and only chooses λ, the width and the kernel. None: 100.""",
    }
    _described_fitted: ClassVar[dict[str, str]] = {
        "metric_": """ndarray of shape (n_features, n_features) or (n_features,)
        M, of columns that are standardised where ``standardize`` says so; its largest diagonal entry is 1.""",
        "importances_": """ndarray of shape (n_features,)
        The diagonal of M, of sum 1: how much f changes with each column, squared and on average. All alike where
        ``best_round_`` is 0: no metric was better than none.""",
        "kernel_": """Kernel
        k_M with its width and what the columns are standardised by: an ordinary kernel.""",
        "alpha_": """float
        λ.""",
        "best_round_": """int
        The round that M is of; 0 is the identity.""",
        "validation_error_": """float
        The mean squared error held out, as a share of the variance there, when M was chosen.""",
        "history_": """list of dict
        Of each round that was tried: kernel, diagonal, round, power (of M; 0: M = I), width (log₂ of it over what its
        word says), alpha, samples it learnt from, error. All kernels first, on few samples; then the best of them.""",
        "n_iter_": """int
        The rounds that were run, of all kernels, those with M = I among them.""",
    }


class LearnsMetric(MetricParameters, KernelMachine):
    """A ridge machine over k_M whose metric is learnt before it."""

    metric_: Array
    _one_kernel = False
    _learns_kernel = True

    @property
    def _precomputed(self) -> bool:
        return False  # a matrix has no columns

    @property
    def _given_kernel(self) -> Kernel:
        """For the door: rows of numbers."""
        return self._candidates(1)[0].kernel

    def _coded(self, y: Targets, weights: Array) -> tuple[Array, Array]:
        """Targets as numbers, (n, outputs), and the weights of samples of these targets."""
        raise NotImplementedError

    def _check(self) -> None:
        super()._check()
        if self.metric not in ("auto", "full", "diagonal"):
            raise ValueError(coded(f"metric={self.metric!r}: choose 'auto', 'full' or 'diagonal'.", "M205"))
        if self.alpha is not None:
            self._positive("alpha")
        for candidate in self._candidates(1):
            domain = candidate.kernel.domain
            if not isinstance(domain, Vectors) or domain.missing:
                raise ValueError(
                    coded(
                        f"{type(self).__name__}(kernel={self.kernel!r}): a metric is learnt of kernels that compare"
                        " whole rows of numbers; choose columns, and fill in what is missing, before.",
                        "M205",
                    )
                )
        if not (isinstance(self.validation_fraction, int | float) and 0 < self.validation_fraction < 1):
            raise ValueError(
                coded(
                    f"validation_fraction={self.validation_fraction!r}: a share of the samples, above 0 and below 1.",
                    "M205",
                )
            )
        if self.max_samples is not None and not (
            isinstance(self.max_samples, int | np.integer) and self.max_samples >= 2
        ):
            raise ValueError(coded(f"max_samples={self.max_samples!r}: at least 2, or None for all.", "M205"))

    def _candidates(self, columns: int) -> list[Candidate]:
        given = self.kernel
        if isinstance(given, str) and given == "auto":
            wanted = {"full": False, "diagonal": True}.get(self.metric)
            candidates = [candidate for candidate in _CANDIDATES if wanted is None or candidate.diagonal == wanted]
            if wanted is None and columns > _WIDEST_FULL:
                candidates = [candidate for candidate in candidates if candidate.diagonal]
            return candidates
        if isinstance(given, str) and given == PRECOMPUTED:
            raise ValueError(
                coded(f"{type(self).__name__}: a precomputed matrix has no columns, and no metric of them.", "M213")
            )
        kernels = [as_kernel(k) for k in (given if isinstance(given, list | tuple) else [given])]
        if not kernels:
            raise ValueError(coded(f"{type(self).__name__}(kernel={given!r}): give at least one kernel.", "M205"))
        known = {str(candidate.kernel): candidate.start for candidate in _CANDIDATES}
        return [
            Candidate(
                k,
                self.metric == "diagonal"
                or (self.metric == "auto" and (columns > _WIDEST_FULL or not k._rotation_invariant)),
                known.get(str(k), (1, -1)),
            )
            for k in kernels
        ]

    def _learned_kernel(self, X: Samples, y: Targets, weights: Array) -> Kernel:
        Y, weights = self._coded(y, weights)
        if len(Y) < 2:
            raise ValueError(
                coded(f"{type(self).__name__}: of one sample (n_samples = 1) no metric can be learnt.", "M310")
            )
        random = generator(self.random_state)
        pool = self._pool(len(Y), random)
        drawn = X if pool is None else take(X, pool)
        dense = drawn.toarray() if sparse.issparse(drawn) else arrays.to_numpy(drawn)
        Y, weights = (Y, weights) if pool is None else (Y[pool], weights[pool])
        first, kinds = distinct(dense, Y)
        w = np.bincount(kinds, weights=weights)
        table = np.asarray(dense[first], np.float64)
        mean, spread = np.zeros(table.shape[1]), np.ones(table.shape[1])
        if self.standardize:
            mean, spread = mean_and_deviation(table, w)
        compute, unit = self.compute or Compute(), float(w.mean())
        seen, units = (table - mean) / spread, self._units(Y[first], w)
        # a constant in y is the bias's alone: taken out first, it costs no digits
        centre = np.average(Y[first], axis=0, weights=w) if self.fit_intercept else np.zeros(Y.shape[1])
        order = _ordered(seen, Y[first])
        first, seen = first[order], seen[order]
        race = Race(
            arrays.to_device(seen, compute.device), (Y[first] - centre) / units, w[order] / unit,
            self._candidates(table.shape[1]), None if self.alpha is None else float(self.alpha) / unit,
            _ROUNDS if self.max_iter is None else int(self.max_iter), self.max_samples, self.validation_fraction,
            self.fit_intercept, random, compute, self._heard, self._blocks(table.shape[1]),
        )  # fmt: skip
        trial, reason = (race.nothing(), "done") if len(first) < 2 else self._raced(race)
        rows = first if pool is None else pool[first]
        self._learnt = _Learnt(race, trial, reason, rows, centre, units, unit, mean, spread)
        self._publish(self._learnt, trial)
        return self._kernel_of(self._learnt, trial)

    def _spread_rule(self, samples: SpreadSamples) -> Nystrom:
        """Of a Dask collection: the metric is learnt from some of its samples, f from all of them, by centers."""
        if self.centers is None:
            raise ValueError(
                coded(
                    f"{type(self).__name__} learns from a Dask collection as a sum over some of the samples: give"
                    " centers, such as centers=2000.",
                    "M313",
                )
            )
        n, compute = len(samples), self.compute or Compute()
        pool = min(n, max(_POOL, _POOL_OF_EACH * (self.max_samples or 0)))
        drawn = np.sort(generator(self.random_state).choice(n, pool, replace=False))
        X, y, weights, _ = samples.take(drawn, Door.of(self, samples.workers.share(compute, len(samples.parts))))
        kernel = self._learned_kernel(X, y[:, 0] if np.ndim(y) == 2 and y.shape[1] == 1 else y, weights)
        rule = self._landmark_rule(kernel)
        assert rule is not None
        return rule

    def _spread_targets(self, passes: SpreadPasses, samples: SpreadSamples) -> tuple[SpreadPasses, int | None]:
        """Targets as numbers where the samples are, and how many columns they have."""
        return passes, samples.outputs

    def _learn_spread(self, passes: SpreadPasses, samples: SpreadSamples, marks: Landmarks) -> None:
        del self._learnt
        passes, outputs = self._spread_targets(passes, samples)
        ridge = KernelRidge(self.alpha_, fit_intercept=self.fit_intercept, tol=self.tol, compute=self.compute)
        ridge._learn_outputs(passes, outputs, marks)
        for name in ("_of_landmarks", "intercept_", "_single", "_parts", "signal_variance_", "gap_", "solver_"):
            setattr(self, name, getattr(ridge, name))
        self.converged_, self.stop_reason_ = ridge.converged_, ridge.stop_reason_

    def _pool(self, n: int, random: np.random.Generator) -> Array | None:
        """Of many samples, those that the metric is learnt from are drawn among some: what is done with all of them
        wants several copies. None: all.
        """
        if self.max_samples is None or n <= max(_POOL, _POOL_OF_EACH * self.max_samples):
            return None
        return np.sort(random.permutation(n)[: max(_POOL, _POOL_OF_EACH * self.max_samples)])

    def _units(self, Y: Array, weights: Array) -> Array:
        """What the outputs are divided by, so that all count alike: their deviations."""
        return np.ones(Y.shape[1])

    def _kernel_of(self, learnt: _Learnt, trial: Trial) -> Kernel:
        kernel = trial.kernel.metric(learnt.race.metric(trial))
        return Shifted(kernel, learnt.mean, learnt.spread) if self.standardize else kernel

    def _blocks(self, columns: int) -> Array | None:
        if self.blocks is None:
            return None
        labels = np.asarray(self.blocks)
        if labels.shape != (columns,):
            raise ValueError(
                coded(f"blocks has shape {labels.shape}; give one label for each of the {columns} columns.", "M205")
            )
        return np.unique(labels, return_inverse=True)[1]

    def _heard(self, told: dict[str, Any]) -> None:
        reason = asked_to_stop(gap=told["error"], n_iter=told["round"], **told)
        if reason:
            raise _Enough(reason)

    def _raced(self, race: Race) -> tuple[Trial, str]:
        """The best trial, and why it is the best so far and no more."""
        try:
            return race.run(), "done"
        except _Enough as enough:
            reason = enough.reason
        except Stopped as stop:
            reason = stop.accepted()
        except KeyboardInterrupt:
            if self.on_interrupt != "keep" or race.so_far() is None:
                raise
            reason = "interrupted"
        return race.so_far() or race.nothing(), reason

    def _publish(self, learnt: _Learnt, trial: Trial) -> None:
        self.metric_ = learnt.race.metric(trial)
        diagonal = self.metric_ if self.metric_.ndim == 1 else np.diagonal(self.metric_)
        self.importances_ = diagonal / diagonal.sum()
        found = 10.0 ** trial.steps[-1].log_alpha * learnt.unit
        self.alpha_ = float(self.alpha) if self.alpha is not None else float(f"{found:.12g}")
        self.best_round_, self.validation_error_ = len(trial.steps) - 1, trial.error
        self.history_ = [{**step, "alpha": step["alpha"] * learnt.unit} for step in learnt.race.history]
        self.n_iter_ = len(self.history_)

    def _fit_ridge(self, gram: Gram, Y: Array, weights: Array, X: Samples) -> Array | None:
        """f of all samples; where somebody wants no more, that of the best round so far, and which samples it is of."""
        learnt = self.__dict__.pop("_learnt", None)
        if learnt is None:
            raise ValueError(
                coded(f"{type(self).__name__} learns a metric of columns, which a matrix alone does not have.", "M213")
            )
        reason = learnt.reason
        if reason == "done":
            ridge = KernelRidge(self.alpha_, fit_intercept=self.fit_intercept, tol=self.tol, compute=self.compute)
            try:
                ridge._learned(gram, Y, weights, X)
            except Stopped as stop:
                reason = stop.accepted()
            except KeyboardInterrupt:
                if self.on_interrupt != "keep":
                    raise
                reason = "interrupted"
        if reason == "done":
            self._keep(ridge._dual_coef.T, every=True)
            if "_of_landmarks" in ridge.__dict__:
                self._of_landmarks = ridge._of_landmarks
            self.intercept_, self.gap_, self.solver_ = ridge.intercept_, ridge.gap_, ridge.solver_
            self.converged_, self.stop_reason_ = ridge.converged_, ridge.stop_reason_
            return None
        trial = learnt.race.so_far() or learnt.trial
        self._publish(learnt, trial)
        self.kernel_ = self._kernel_of(learnt, trial)
        rows = learnt.first[trial.rows]
        full = np.zeros((gram.shape[0], trial.coef.shape[1]))
        full[rows] = trial.coef * learnt.units
        self._keep(full, every=True)
        self.intercept_, self.solver_ = learnt.centre + trial.bias * learnt.units, "cholesky"
        self.gap_, self.converged_, self.stop_reason_ = np.inf, False, reason
        cause = f"f is that of {len(rows)} samples, of the best of {self.n_iter_} rounds"
        self._warn(reason, self.gap_, cause if self.n_iter_ else "no round had ended, f is the mean of y", X)
        return np.sort(rows)


class _Learnt(NamedTuple):
    """What the race left: the trial that stands and why it ended, the samples that were in it, and their units."""

    race: Race
    trial: Trial
    reason: str
    first: Array
    centre: Array
    units: Array
    unit: float
    mean: Array
    spread: Array


def _ordered(seen: Array, Y: Array) -> Array:
    """Samples by their targets, then by their distance from the mean: what is drawn at random then depends neither on
    their order nor, but for ties, on what the columns are called or how the space is turned.
    """
    norms = np.einsum("ij,ij->i", seen, seen)
    return np.lexsort(np.vstack([seen.T, np.round(norms / max(float(norms.max()), 1e-300), 9), Y.T]))


class _Enough(Exception):
    """The listener wants no more rounds."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason
