"""What a training row changed: the machine without it, in closed form.

A ridge is linear in y, so that f − f₋ᵢ = e_i h_i with e_i = α_i/P_ii and h_i = Σ_j P_ij k(x_j, ·) + q_i, exactly
(``selection.left_out``). A smooth loss is near its minimum a ridge of other weights and targets, those of Newton's
method: its step from the whole machine to the one without the row is that ridge's. A support vector machine has the
span estimate: the weight of a row is taken over by the free support vectors, ‖f − f₋ᵢ‖ = |α_i| S_i.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mercer import arrays
from mercer.annotations import Estimator, Samples, Targets, Weights
from mercer.arrays import Array
from mercer.data import size
from mercer.estimators.multiclass import class_weights
from mercer.losses import Loss
from mercer.selection.bounds import is_svc_of_two_classes, spanned
from mercer.selection.criteria import Projected
from mercer.selection.left_out import has_closed_form
from mercer.troubles import coded

_FLAT = 1e-8  # of the largest curvature: what stands for none, as in the solver


@dataclass(frozen=True, eq=False)
class Influence:
    """What leaving out each training row would change.

    Made by ``influence``. f₋ᵢ is the machine trained without row i, with the kernel as the whole machine had it.

    Parameters
    ----------
    left_out : ndarray of shape (n,) or (n, outputs)
        f₋ᵢ(x_i): what a row gets from a machine that has not seen it.
    norms : ndarray of shape (n,) or (n, outputs)
        ‖f − f₋ᵢ‖ in the space of the kernel, without the bias.
    changes : ndarray of shape (n, n) or (n, n, outputs), or None
        changes[j, i] = f(x_j) − f₋ᵢ(x_j): what row i does to the answer for row j. None for support vector machines,
        of which the span tells less.
    exact : bool
        Whether this is what refitting gives, or an estimate of it.

    See Also
    --------
    influence : Where it comes from.
    explain : What each training sample contributes to one answer.

    Examples
    --------
    >>> import numpy as np
    >>> import mercer as mc
    >>> mc.Influence(np.array([0.1, 0.2]), np.array([1.0, 3.0]), None, True).top(1)
    [(1, 3.0)]
    """

    left_out: Array
    norms: Array
    changes: Array | None
    exact: bool

    def top(self, n: int = 10) -> list[tuple[int, float]]:
        """The n rows of the largest ‖f − f₋ᵢ‖ with it, the largest first; of several outputs, of all together.

        Parameters
        ----------
        n : int, default=10
            How many at most.

        Returns
        -------
        list of (row, norm)
        """
        sizes = self.norms if self.norms.ndim == 1 else np.linalg.norm(self.norms, axis=1)
        return [(int(i), float(sizes[i])) for i in np.argsort(-sizes, kind="stable")[:n]]


def influence(model: Estimator, X: Samples, y: Targets, sample_weight: Weights = None) -> Influence:
    """What leaving out each training row would change, without refitting.

    Exact for ``KernelRidge``; one Newton step for machines with a smooth loss (``KernelLogistic`` of two classes,
    ``KernelPoisson``, ``KernelHuber``, ``KernelExpectile``, ``RepresenterMachine``); the span estimate for ``SVC`` of
    two classes, where a row that is no support vector changes nothing. Cost: an n × n matrix and one factorisation of
    it.

    Parameters
    ----------
    model : fitted estimator
        The machine.
    X : collection of samples
        All that it was trained on, in the same order.
    y : array-like of shape (n,) or (n, outputs)
        Their targets.
    sample_weight : array-like of shape (n,), optional
        The weights it was trained with.

    Returns
    -------
    Influence
        ``left_out``, ``norms``, ``changes`` and ``top(n)``.

    Raises
    ------
    TypeError
        Of a machine without a closed form.

    See Also
    --------
    explain : Why the machine answers as it does.
    generalisation : What the span says of the error.

    References
    ----------
    R. D. Cook, Detection of influential observation in linear regression, Technometrics 19 (1977).

    Examples
    --------
    >>> import numpy as np
    >>> import mercer as mc
    >>> X = np.linspace(0, 6, 40)[:, None]
    >>> y = np.sin(X[:, 0])
    >>> y[10] += 2.0  # an error in the data
    >>> ridge = mc.KernelRidge(0.1, kernel=mc.Gaussian(0.5)).fit(X, y)
    >>> found = mc.influence(ridge, X, y)
    >>> found.top(1)[0][0], found.exact
    (10, True)
    """
    targets = np.asarray(y)
    if size(X) != len(targets):
        raise ValueError(coded(f"X has {size(X)} samples and y has {len(targets)}.", "M111"))
    if len(getattr(model, "support_", ())) and int(model.support_.max()) >= len(targets):
        raise ValueError(
            coded(f"The machine was trained on more than these {len(targets)} samples; give all of them.", "M111")
        )
    w = np.ones(len(targets)) if sample_weight is None else np.asarray(sample_weight, np.float64)
    if has_closed_form(model):
        if np.isnan(targets.astype(np.float64)).any():
            raise TypeError(coded("influence is for targets without gaps.", "M101"))
        return _of_ridge(model, X, targets.astype(np.float64), w, w, exact=True)
    if is_svc_of_two_classes(model):
        return _of_span(model, X, targets, sample_weight)
    losses = getattr(model, "_trained", None)
    if losses is None or len(losses) != 1 or model.kernel_ is None or getattr(model, "_compressed", False):
        raise TypeError(
            coded(
                f"{type(model).__name__} has no closed form of what a row changes; KernelRidge, machines with one"
                " smooth loss and SVC of two classes have.",
                "M311",
            )
        )
    return _of_loss(model, X, targets, w, losses[0])


def _matrix(model: Estimator, X: Samples) -> Array:
    items = model._unpacked(model._accept(X, reset=False))
    gram = model.kernel_.gram(items, compute=model.compute).astype(np.float64)
    return np.asarray(arrays.to_numpy(gram.dense()))


def _of_ridge(model: Estimator, X: Samples, y: Array, w: Array, given: Array, *, exact: bool) -> Influence:
    """Of min Σ_i w_i (y_i − f(x_i))² + λ‖f‖²; rows whose ``given`` weight is 0 are not there."""
    used, n, Y = np.flatnonzero(given > 0), len(y), y.reshape(len(y), -1)
    K = _matrix(model, X)
    whole = Projected.of(K[np.ix_(used, used)], Y[used], w[used], float(model.alpha), model.fit_intercept)
    e = whole.leave_one_out()
    h = K[:, used] @ whole.P + whole.of_bias  # of every row by those that count
    norms, changes = np.zeros(Y.shape), np.zeros((n, n, Y.shape[1]))
    size2 = np.einsum("ij,ij->j", whole.P, K[np.ix_(used, used)] @ whole.P)
    norms[used] = np.abs(e) * np.sqrt(np.maximum(size2, 0.0))[:, None]
    changes[:, used] = h[:, :, None] * e
    left = _answers(model, X).reshape(n, -1) - changes[np.arange(n), np.arange(n)]
    return Influence(_like(y, left), _like(y, norms), _like(y, changes), exact)


def _of_loss(model: Estimator, X: Samples, y: Array, w: Array, loss: Loss) -> Influence:
    """The ridge of Newton's method: weights w ℓ″/2 and targets f − ℓ′/ℓ″."""
    f = _answers(model, X)
    if f.ndim > 1:
        raise TypeError(
            coded("influence is for one function; of several classes, look at each against the rest.", "M311")
        )
    if hasattr(model, "classes_"):
        codes = (y == model.classes_[1]).astype(int)
        counts = dict(zip(model.classes_, np.bincount(codes, w, 2).tolist(), strict=True))
        y, w = np.where(codes == 1, 1.0, -1.0), w * class_weights(model.class_weight, counts)[codes]
    curvature = loss.curvature(np.asarray(y, np.float64), f)
    if curvature is None:
        raise TypeError(
            coded(f"{loss} has no curvature, and so no Newton step; refit the machine without the row.", "M211")
        )
    bent = np.maximum(curvature, _FLAT * max(float(np.max(curvature)), 1e-300))
    working = f - loss.gradient(np.asarray(y, np.float64), f) / bent
    return _of_ridge(model, X, working, w * bent / 2, w, exact=False)


def _of_span(model: Estimator, X: Samples, y: Array, sample_weight: Weights) -> Influence:
    found = spanned(model, X, y, sample_weight)
    # coef_i S_i² = f(x_i) − f₋ᵢ(x_i), and the norm is |coef_i| S_i
    return Influence(found.left, np.sqrt(np.abs(found.coef * (found.values - found.left))), None, False)


def _answers(model: Estimator, X: Samples) -> Array:
    return np.asarray(arrays.to_numpy(model.function_(model._accept_new(X))), np.float64)


def _like(y: Array, values: Array) -> Array:
    """Without the axis of outputs where there is one by nature."""
    return values[..., 0] if y.ndim == 1 else values
