"""Sets of vectors as distributions: inner products of their means in the space of a kernel."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from mercer.annotations import Items, Samples, Weights
from mercer.data import Anything, Ragged, Vectors, take
from mercer.kernels.base import Kernel, kernel
from mercer.kernels.clouds.sets import BetweenSets
from mercer.kernels.clouds.sums import SumOverPairs, mean_features, prepared_points
from mercer.kernels.compose.composite import Composite
from mercer.kernels.families import Explicit
from mercer.kernels.parameters import natural
from mercer.kernels.vectors.radial import Gaussian
from mercer.troubles import coded


@kernel
class MeanEmbedding(BetweenSets, SumOverPairs, Composite):
    """⟨μ_x, μ_z⟩, the mean of k(a, b) over points a of x and b of z: sets as distributions, by their means in the space
    of k.

    A sample is a set of vectors: a point cloud, the cells of a patient, the patches of an image, a bag of instances; in
    any order and any number. ‖μ_x − μ_z‖ is the maximum mean discrepancy, MMD. With a characteristic k (``Gaussian``,
    ``Laplacian``, ``Matern``) different distributions have different means. ``exp(2 * γ * MeanEmbedding(k))
    .normalized()`` is exp(−γ MMD²), the Gaussian kernel between distributions [2]_, with which learners are universal;
    ``normalized()`` is the cosine of two means.

    One value costs |x||z| values of k, which are summed up while they are in registers. Over a k with finitely many
    features, as ``RandomFeatures``, ``Nystrom`` and ``Linear``, a set has the mean of those of its points, and a matrix
    costs one pass over the points. An empty set has the value 0 with every other, and is told of.

    Parameters
    ----------
    points : Kernel, default=Gaussian("median")
        k, any kernel on rows of numbers. What it takes from data (γ of "median", means of columns) it takes from the
        points of all sets together. Its parameters are found by ``tune`` and ``KernelSearchCV`` as ``points__gamma``.

    See Also
    --------
    mean_embedding : μ of one sample, as a function.
    mmd_test : Whether two samples come from one distribution.
    SlicedWasserstein : By how far mass must be moved.
    Convolution : The sum over pairs of parts of any kind.

    References
    ----------
    .. [1] T. Gärtner, P. A. Flach, A. Kowalczyk and A. J. Smola. Multi-instance kernels. ICML 2002.
    .. [2] A. Christmann and I. Steinwart. Universal kernels on non-standard input spaces. NIPS 2010.
    .. [3] K. Muandet, K. Fukumizu, F. Dinuzzo and B. Schölkopf. Learning from distributions via support measure
       machines. NIPS 2012.

    Examples
    --------
    >>> import mercer as mc
    >>> clouds = [[[0.0, 0.0], [1.0, 0.0]], [[0.0, 0.0]], [[3.0, 3.0], [3.0, 4.0], [4.0, 3.0]]]
    >>> mc.MeanEmbedding(mc.Gaussian(0.5))(clouds).round(3)
    array([[0.803, 0.803, 0.   ],
           [0.803, 1.   , 0.   ],
           [0.   , 0.   , 0.685]])
    >>> between = mc.exp(2 * 0.5 * mc.MeanEmbedding(mc.Gaussian(0.5))).normalized()  # exp(−½ MMD²)
    >>> between(clouds).round(3)
    array([[1.   , 0.906, 0.475],
           [0.906, 1.   , 0.431],
           [0.475, 0.431, 1.   ]])
    """

    usage: ClassVar[str] = "MeanEmbedding(points=Gaussian('median'))"
    _same_items = False
    _mean: ClassVar[bool] = True
    points: Kernel = Gaussian("median")

    def _validate(self) -> None:
        if not isinstance(self.points.domain, Vectors | Anything):
            raise TypeError(
                coded(
                    f"{type(self).__name__}(points): points are rows of numbers, which {self.points} does not take.",
                    "M215",
                )
            )

    @property
    def psd(self) -> bool | None:  # type: ignore[override]
        return True if self.points.psd else None

    def _between_points(self) -> Kernel:
        return self.points

    def bind(self, X: Samples, weights: Weights = None) -> Kernel:
        k = bound_to_points(self.points, self.domain.check(X), weights) if self._data_driven else self.points
        # where features are the formula itself, or what is held, no derivative is lost by them
        if k.explicit and (isinstance(k, Explicit) or k._bound_to_values):
            return MeanOfFeatures(k, max(1, self.domain.check(X).values.shape[1]))
        return self if k is self.points else self._replace(points=k)

    @property
    def explicit(self) -> bool:  # type: ignore[override]
        return self.points.explicit

    def _width(self, A: Items) -> int:
        return self.points._width(A.rep)

    def _features(self, A: Items) -> Any:
        return mean_features(A.offsets, self._width(A), lambda part: self.points._features(take(A.rep, part)))


def bound_to_points(k: Kernel, X: Ragged, weights: Weights) -> Kernel:
    """A kernel of points bound to those of all sets; each counts as often as its set."""
    each = None if weights is None else np.repeat(np.asarray(weights, np.float64), X.lengths)
    return k.bind(k.domain.check(X.values), each)


@kernel
class MeanOfFeatures(BetweenSets, Composite, Explicit):
    """⟨φ(x), φ(z)⟩, φ(x) the mean of the features of the points of x."""

    _internal = True
    _same_items = False
    points: Kernel
    columns: int = natural(1)  # of the points

    @property
    def psd(self) -> bool | None:  # type: ignore[override]
        return True if self.points.psd else None

    def bind(self, X: Samples, weights: Weights = None) -> Kernel:
        return self

    def _map(self, X: Samples) -> Any:
        def features(part: slice) -> Any:
            return self.points._features(prepared_points(self.points, X.values[part]))

        one = X.values[:1] if len(X.values) else np.zeros((1, int(self.columns)))  # sets may all be empty
        width = self.points._features(prepared_points(self.points, one)).shape[1]
        return mean_features(X.offsets, width, features)
