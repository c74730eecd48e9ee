"""What training data alone says about new data: bounds and estimates of the error of a trained machine, each with its
inequality.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mercer import arrays
from mercer.annotations import Estimator, Samples, Targets, Weights
from mercer.arrays import Array
from mercer.data import size
from mercer.estimators.machine import SupportVectorMachine
from mercer.estimators.multiclass import class_weights
from mercer.estimators.probability import leave_one_out
from mercer.gram import DenseGram, Gram
from mercer.native.linalg import eigenvalues
from mercer.selection.criteria import radius_margin
from mercer.troubles import coded


def rademacher_bound(margins: Array, norm: float, trace: float, delta: float = 0.05, rho: float = 1.0) -> float:
    """P(y f(x) ≤ 0) ≤ (1/n) Σ_i min(1, max(0, 1 − m_i/ρ)) + 2Λ√(tr K)/(ρn) + 3√(log(2/δ_Λ)/2n), with probability at
    least 1 − δ over the sample, for all f with any norm at once.

    Λ is ‖f‖ rounded up to a power of 2, 2^k, and δ_Λ = δ/(j(j + 1)) with j = 2|k| + 1 + [k > 0] (Bartlett & Mendelson
    2002; the union over Λ costs a log log).

    Parameters
    ----------
    margins : ndarray of shape (n,)
        m_i = y_i f(x_i), without bias.
    norm : float
        ‖f‖.
    trace : float
        tr K of the samples.
    delta : float, default=0.05
        δ.
    rho : float, default=1.0
        The margin ρ, chosen before the data are seen.

    Returns
    -------
    float
        The right side; it says nothing where it is above 1.
    """
    n = len(margins)
    k = int(np.ceil(np.log2(max(norm, 1e-300))))
    j = 2 * abs(k) + 1 + int(k > 0)
    confidence = delta / (j * (j + 1))
    empirical = float(np.mean(np.clip(1 - margins / rho, 0.0, 1.0)))
    return (
        empirical
        + 2 * 2.0**k * float(np.sqrt(trace)) / (rho * n)
        + 3 * float(np.sqrt(np.log(2 / confidence) / (2 * n)))
    )


def vc_dimension(radius2: float, margin: float, dimensions: float) -> float:
    """h ≤ min(⌈R²/ρ²⌉, d) + 1: the VC dimension of hyperplanes that separate points in a ball of radius R with margin ρ
    (Vapnik 1998).
    """
    return min(float(np.ceil(radius2 / margin**2)), dimensions) + 1


@dataclass(frozen=True)
class Generalisation:
    """What is known about the error of a machine for two classes on new data; ``print`` shows it as a table.

    Attributes
    ----------
    training_error : float
        The share of its own samples that it gets wrong: a lower guide, no bound.
    support_share : float
        #SV/n: the leave-one-out error is at most that, and in expectation the error of n − 1 samples too (Luntz &
        Brailovsky 1969).
    span_error : float
        The share of samples with y_i f_i ≤ α_i S_i²: the leave-one-out error itself if taking one away leaves the set
        of support vectors (Vapnik & Chapelle 2000).
    radius_margin : float
        R²‖f‖²/n of the machine with squared slacks at the same C: its leave-one-out error is at most four times that,
        the span of a support vector being at most the diameter 2R (Vapnik & Chapelle 2000); the estimate is usually
        taken without the four.
    rademacher : float
        ``rademacher_bound`` with the bias as a coefficient of one more, constant, feature: holds with probability 1 −
        δ. Often above 1, and then says nothing.
    effective_dimension : float
        Σ λ_i/(λ_i + 1/(2C)) of the matrix: how many directions are used.
    delta : float
        δ.
    """

    training_error: float
    support_share: float
    span_error: float
    radius_margin: float
    rademacher: float
    effective_dimension: float
    delta: float

    def __str__(self) -> str:
        rows = [
            ("training error", self.training_error, ""), ("leave-one-out error (span)", self.span_error, "estimate"),
            ("support vectors/n", self.support_share, "leave-one-out error is at most this"),
            ("radius–margin", self.radius_margin, "leave-one-out error of squared slacks is at most four times this"),
            ("Rademacher", self.rademacher, f"error is at most this with probability {1 - self.delta:g}"),
        ]  # fmt: skip
        lines = [f"{name:<28} {value:8.4f}  {note}" for name, value, note in rows]
        return "\n".join([*lines, f"{'effective dimension':<28} {self.effective_dimension:8.1f}"])


def generalisation(
    machine: Estimator, X: Samples, y: Targets, delta: float = 0.05, sample_weight: Weights = None
) -> Generalisation:
    """Bounds and estimates of the error on new data, for a fitted SVC of two classes and the data it was trained on.

    Parameters
    ----------
    machine : SVC
        Fitted, of two classes.
    X : collection of samples
        All that the machine was trained on; for ``kernel="precomputed"`` the square matrix.
    y : array of shape (n,)
        Their labels.
    delta : float, default=0.05
        The Rademacher bound holds with probability 1 − δ.
    sample_weight : array of shape (n,), optional
        The weights it was trained with.

    Returns
    -------
    Generalisation
        Training error, estimates of the leave-one-out error, and bounds; each attribute says which inequality it is.

    Raises
    ------
    TypeError
        If the machine is not a fitted SVC of two classes.
    ValueError
        If X and y differ in length, or are not what the machine was trained on.

    See Also
    --------
    nested_scores : The error by cross-validation.

    Notes
    -----
    Costs n³ in time, n² in memory.

    References
    ----------
    Vapnik, V. and Chapelle, O. (2000). Bounds on error expectation for support vector machines. Neural Computation 12.

    Bartlett, P. and Mendelson, S. (2002). Rademacher and Gaussian complexities: risk bounds and structural results.
    Journal of Machine Learning Research 3.

    Examples
    --------
    >>> import numpy as np
    >>> import mercer as mc
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], 40)
    >>> X = rng.standard_normal((80, 2)) + 2.5 * y[:, None]
    >>> found = mc.generalisation(mc.SVC(kernel=mc.Gaussian(0.2)).fit(X, y), X, y)
    >>> round(found.training_error, 3), round(found.span_error, 3), round(found.support_share, 3)
    (0.062, 0.062, 0.312)
    """
    if not is_svc_of_two_classes(machine):
        raise TypeError(coded("generalisation is for a fitted SVC of two classes.", "M311"))
    if not 0 < delta < 1:
        raise ValueError(coded(f"delta={delta!r}: a probability between 0 and 1.", "M205"))
    if size(X) != len(y):
        raise ValueError(coded(f"X has {size(X)} samples and y has {len(y)}.", "M111"))
    if len(machine.support_) and int(machine.support_.max()) >= len(y):
        raise ValueError(
            coded(
                f"The machine was trained on more than these {len(y)} samples; give the data it was trained on.", "M111"
            )
        )
    found = spanned(machine, X, y, sample_weight)
    K, signs, values = found.K, found.signs, found.values
    n, bias = len(signs), float(machine.intercept_[0])
    constant = float(np.mean(np.diagonal(K))) or 1.0  # of k = 0, any constant carries the intercept
    norm = float(np.sqrt(max(float(found.coef @ K @ found.coef), 0.0) + bias**2 / constant))
    spectrum = np.maximum(eigenvalues(K), 0.0)
    ridge = 1 / (2 * machine.C)
    return Generalisation(
        training_error=float(np.mean(signs * values <= 0)), support_share=len(machine.support_) / n,
        span_error=float(np.mean(signs * found.left <= 0)),
        radius_margin=float(np.exp(radius_margin(K, signs[:, None], np.ones(n), ridge, machine.fit_intercept)[0])) / n,
        rademacher=rademacher_bound(signs * values, norm, float(np.trace(K)) + n * constant, delta),
        effective_dimension=float(np.sum(spectrum / (spectrum + ridge))), delta=delta,
    )  # fmt: skip


def is_svc_of_two_classes(machine: Estimator) -> bool:
    """Whether a machine is a support vector machine that was fitted to two classes, at a price C."""
    of_two = len(getattr(machine, "classes_", ())) == 2
    return isinstance(machine, SupportVectorMachine) and of_two and hasattr(machine, "C")


@dataclass(frozen=True, eq=False)
class Spanned:
    """Of an SVC of two classes and its samples: their matrix, signs, coefficients, and values with and without each
    sample itself, by the span.
    """

    K: Array
    signs: Array
    coef: Array
    values: Array
    left: Array


def spanned(machine: Estimator, X: Samples, y: Targets, sample_weight: Weights = None) -> Spanned:
    """The span estimate of each sample's value when it is left out."""
    signs = np.where(np.asarray(y) == machine.classes_[1], 1.0, -1.0)
    w = np.ones(len(signs)) if sample_weight is None else np.asarray(sample_weight, np.float64)
    counts = {label: float(w[signs == s].sum()) for label, s in zip(machine.classes_, (-1.0, 1.0), strict=True)}
    prices = (
        machine.C
        * w
        * class_weights(machine.class_weight if hasattr(machine, "class_weight") else None, counts)[
            (signs > 0).astype(int)
        ]
    )
    items = machine._accept(X, reset=False)
    gram: Gram = (
        DenseGram(items)
        if machine.kernel_ is None
        else machine.kernel_.gram(machine._unpacked(items), compute=machine.compute)
    )
    K = np.asarray(arrays.to_numpy(gram.astype(np.float64).dense()))
    coef = np.zeros(len(signs))
    coef[machine.support_] = machine._dual_coef[0]
    values = K @ coef + float(machine.intercept_[0])
    free = (np.abs(coef) > 1e-9 * prices) & (np.abs(coef) < prices * (1 - 1e-9))
    return Spanned(K, signs, coef, values, leave_one_out(gram, values, coef, free))
