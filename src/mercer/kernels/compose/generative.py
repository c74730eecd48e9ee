"""Kernels from models of the data: how two samples would change the parameters."""

from __future__ import annotations

from copy import deepcopy
from typing import Any, ClassVar, Self

import numpy as np
from scipy.linalg import eigh

from mercer.annotations import Samples, Weights
from mercer.arrays import Array
from mercer.data import Anything, DataError, Domain, check_weights, listed, size
from mercer.kernels.base import Kernel, kernel
from mercer.kernels.families import Explicit
from mercer.kernels.parameters import sample
from mercer.troubles import coded


@kernel
class Fisher(Kernel):
    """u(x)ᵀ F⁻¹ u(z), u(x) = ∇_θ log p_θ(x): the Fisher kernel of a fitted model of the data.

    u(x), the score, says how the sample x would change the parameters θ of the model, and F is the mean of u uᵀ over
    the data that the kernel is bound to. Two samples are alike when they would change the model in the same way. The
    bound kernel has a finite feature map, as many columns as the model has parameters. ``Fisher(model,
    diagonal=True).rooted().normalized()`` is the improved Fisher vector [2]_.

    Parameters
    ----------
    model : object with ``score_vectors(X)``
        A fitted ``GaussianMixture``, ``MarkovChain``, ``HiddenMarkovModel``, or your own; ``score_vectors``
        returns one row for each sample.
    diagonal : bool, default=False
        Use the diagonal of F alone, which is cheaper and more stable where there are many parameters. Otherwise F⁻¹ is
        the pseudo-inverse of the whole matrix.

    References
    ----------
    .. [1] T. Jaakkola and D. Haussler. Exploiting generative models in discriminative classifiers. NIPS 1999.
    .. [2] F. Perronnin, J. Sánchez and T. Mensink. Improving the Fisher kernel for large-scale image classification.
       ECCV
       2010.

    Examples
    --------
    >>> import mercer as mc
    >>> class Normal:  # the score of a normal distribution with mean 1 and variance 1, by its mean
    ...     def score_vectors(self, X):
    ...         return [[row[0] - 1.0] for row in X]
    >>> mc.Fisher(Normal())([[0.0], [2.0], [3.0]])
    array([[ 0.5, -0.5, -1. ],
           [-0.5,  0.5,  1. ],
           [-1. ,  1. ,  2. ]])
    """

    domain: ClassVar[Domain] = Anything()
    model: Any
    diagonal: bool = False
    _data_driven = True

    def _validate(self) -> None:
        if not callable(getattr(self.model, "score_vectors", None)):
            raise TypeError(
                coded(
                    f"Fisher(model): a {type(self.model).__name__} has no score_vectors(X); give a fitted model that"
                    " has.",
                    "M205",
                )
            )

    def __sklearn_clone__(self) -> Self:
        return self._replace(model=deepcopy(self.model))  # with its fit: a clone without it would be another kernel

    def bind(self, X: Samples, weights: Weights = None) -> Kernel:
        U = scores(self.model, X)
        w = check_weights(len(U), weights)
        if self.diagonal:
            information = (w @ (U * U)) / w.sum()
            return FisherScores(
                self.model, np.where(information > 0, 1.0 / np.sqrt(np.where(information > 0, information, 1.0)), 0.0)
            )
        values, vectors = eigh((U.T * (w / w.sum())) @ U)
        kept = values > len(values) * np.finfo(np.float64).eps * max(float(values.max(initial=0.0)), 0.0)
        return FisherScores(self.model, vectors[:, kept] / np.sqrt(values[kept]))


def scores(model: Any, X: Samples) -> Any:
    """The score vectors of a model, checked: one row of finite numbers for each sample."""
    items = listed(X)
    U = np.asarray(model.score_vectors(items), np.float64)
    if U.ndim != 2 or len(U) != size(items):
        raise DataError(
            f"score_vectors must give one row for each of the {size(items)} samples, got an array of shape {U.shape}.",
            "M216",
        )
    if not np.isfinite(U).all():
        raise DataError(
            f"The score of row {int(np.argmax(~np.isfinite(U).all(1)))} is not finite: the model gives that sample"
            " probability 0.",
            "M210",
        )
    return U


@kernel
class FisherScores(Explicit):
    """⟨φ, φ⟩ with φ(x) = u(x)·whitening: scores in which the information is the identity."""

    _internal = True

    domain: ClassVar[Domain] = Anything()
    model: Any
    whitening: Array = sample()

    def __sklearn_clone__(self) -> Self:
        return self._replace(model=deepcopy(self.model))

    def _map(self, X: Samples) -> Any:
        U = scores(self.model, X)
        return U * self.whitening if np.ndim(self.whitening) == 1 else U @ self.whitening
