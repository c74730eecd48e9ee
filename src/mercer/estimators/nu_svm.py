"""ν-support vector classification: a share of errors, ν, in place of C."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY
from typing import Any

import numpy as np

from mercer.arrays import Array
from mercer.data.notices import warn
from mercer.estimators import hulls
from mercer.estimators.machine import check_nu
from mercer.estimators.parameters import ClassWeight, KernelLike, SolverParameters, estimator
from mercer.estimators.svm import Classifier, Pair, Part, between_hulls
from mercer.estimators.weights import countable
from mercer.gram import Gram
from mercer.kernels.vectors.radial import Gaussian
from mercer.problems import DualQP, Solution
from mercer.solvers.dual import ActiveSet
from mercer.troubles import coded


@estimator
class NuSVC(Classifier, SolverParameters):
    """SVC where ν, not C, is chosen: at most a share ν of the samples are on the wrong side of their margin, at least ν
    are support vectors.

    f is the hyperplane between the nearest points of the two classes' reduced convex hulls: of the means of a class in
    which no sample counts more than 2/(νn). For ν ≤ 2 min(n₊, n₋)/n in each pair of classes there are such points; the
    smaller ν, the larger the hulls. Where they meet, w = 0 is optimal: no direction separates the classes with so few
    errors. The machine is then constant, f = ±1 for the class of more weight, 0 if they weigh the same, and a warning
    says which ν is large enough.

    Parameters
    ----------
    nu : float, default=0.5
        The share, above 0 and at most 1. ½ as in scikit-learn: large enough for classes that overlap; for classes of
        very different sizes smaller, or with ``class_weight="balanced"``, for which every ν up to 1 has its points.
    class_weight : dict, "balanced" or None, default=None
        {class: weight}, or "balanced" for classes that weigh the same: multiplies the weights of the samples, of which
        ν is a share.
    probability : bool, default=False
        Whether to provide ``predict_proba``, as in ``SVC``.
    tol : float, default=1e-3
        The gap to reach, as a share of the margin.
    max_iter : int or None, default=None
        The most steps of two variables, for each pair of classes; None: 10⁶ + 1000 n_samples.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    n_support_ : ndarray of shape (n_classes,)
        The number of support vectors of each class.
    support_, support_vectors_
    dual_coef_ : array of shape (n_classes − 1, n_support)
        As in ``SVC``, for an f that is ±1 on the margin.
    intercept_ : ndarray of shape (1,), or (n_classes (n_classes − 1)/2,) where there are more than two
        b of each pair of classes.
    objective_ : float
        Half the squared distance of the nearest points, times (νΣw/2)²; of several pairs, the sum.
    coef_, function_, gap_, converged_, stop_reason_, n_iter_, kernel_, n_features_in_, feature_names_in_

    See Also
    --------
    SVC : C in place of ν.
    NuSVR : ν for regression.

    References
    ----------
    B. Schölkopf et al., New support vector algorithms, Neural Computation 12 (2000). D. Crisp and C. Burges, A
    geometric interpretation of ν-SVM classifiers, NIPS 12 (1999).

    Examples
    --------
    >>> import mercer as mc
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> machine = mc.NuSVC(nu=0.2, kernel=mc.Gaussian(0.1)).fit(X[50:], y[50:])
    >>> margin = (2 * y[50:] - 3) * machine.decision_function(X[50:])
    >>> bool((margin < 0.999).mean() <= 0.2 <= len(machine.support_) / 100)
    True
    >>> machine.score(X[50:], y[50:])
    0.99
    """

    nu: float = 0.5
    kernel: KernelLike = Gaussian()
    _: KW_ONLY
    class_weight: ClassWeight = None
    probability: bool = False

    def _feasible(self, counts: dict[Any, float]) -> None:
        nu = check_nu(self)
        labels = list(counts)
        for k, a in enumerate(labels):
            for b in labels[k + 1 :]:
                most = 2 * min(counts[a], counts[b]) / max(counts[a] + counts[b], 1e-300)
                if nu > most * (1 + 1e-12):
                    raise ValueError(
                        coded(
                            f"NuSVC: specified nu is infeasible: nu={nu:g}, but nu ≤ {most:.3g} for classes {a!s} and"
                            f" {b!s} of this y; take a smaller nu, or class_weight='balanced'.",
                            "M305",
                        )
                    )

    def _bounds(self, weights: Array) -> Array:
        return countable(weights)  # only their ratios matter

    def _unit(self, gram: Gram) -> float:
        return hulls.kernel_size(gram)

    def _problem(self, part: Part) -> DualQP:
        return hulls.nearest_points(part.y, part.weights, self.nu * float(part.weights.sum()) / 2, part.unit)

    def _machine(self, s: Solution, problem: DualQP, part: Part, solver: ActiveSet) -> Pair:
        return between_hulls(s, problem, part, solver)

    def _check_constant(self, machines: Sequence[Pair], parts: Sequence[Part], solver: ActiveSet) -> None:
        meet = [t for t, machine in enumerate(machines) if machine.constant and machine.solution.converged]
        if not meet:
            return
        least = [hulls.least_nu(parts[t].y, parts[t].weights, parts[t].gram, solver) for t in meet]
        most = min(hulls.largest_nu(part.y, part.weights) for part in parts)
        enough = max(np.inf if nu is None else nu for nu in least)
        cure = (
            f"with nu from {enough:g} to {np.floor(1000 * most) / 1000:g} they do not" if enough <= most
            else "no nu keeps them apart; with class_weight='balanced' a larger nu, up to 1, may"
        )  # fmt: skip
        others = f" (and for {len(meet) - 1} other pairs)" if len(meet) > 1 else ""
        warn(
            f"NuSVC(nu={self.nu:g}): the reduced convex hulls of class {self._names(meet[0])} meet{others}, so w = 0 is"
            f" optimal and that machine is constant. On these data {cure}.",
            "M305",
        )
