"""Images, as sets of patches; and sets of vectors by the words of a vocabulary that was learnt."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.base import clone

from mercer.annotations import Estimator, Items, Samples, Weights
from mercer.arrays import Array
from mercer.data import Anything, DataError, Domain, Ragged, Vectors, check_weights, chunks
from mercer.data.clouds import PointSets
from mercer.data.images import check_patches, patches
from mercer.formula import dot, sqnorm
from mercer.gram import Counts
from mercer.kernels.base import Kernel, kernel
from mercer.kernels.clouds.sets import BetweenSets
from mercer.kernels.compose.composite import Composite
from mercer.kernels.compose.inputs import Redirected
from mercer.kernels.compose.terms import _tensor
from mercer.kernels.families import squared_distances
from mercer.kernels.parameters import sample
from mercer.kernels.vectors.histograms import ChiSquared
from mercer.troubles import coded

_POINTS = 50_000  # that a vocabulary is learnt from
_TOGETHER = 2**20  # distances that are held


@kernel
class Patches(Redirected):
    """k of images, each the set of its patches of size × size pixels."""

    usage: ClassVar[str] = "k.patches(size, stride=1)"
    method_name: ClassVar[str] = "patches"
    domain: ClassVar[Domain] = Anything()
    kernel: Kernel
    size: int
    stride: int = 1

    def _validate(self) -> None:
        check_patches(self.size, self.stride)
        if not isinstance(self.kernel.domain, PointSets | Anything):
            raise TypeError(
                coded(f"patches(): {self.kernel} is not a kernel between sets of vectors, as MeanEmbedding().", "M215")
            )

    def _method_arguments(self) -> tuple[Any, ...]:
        return (self.size, self.stride)

    def _redirect(self, X: Samples) -> Any:
        return patches(X, int(self.size), int(self.stride))


@kernel
class VisualWords(BetweenSets, Composite):
    """k(h_x, h_z), h_x the share of each word among the points of x: a bag of visual words.

    A sample is a set of vectors, as the patches of an image (``.patches(size, stride)``) or descriptors of your own.
    The words are the means of clusters of the points of all sets that the kernel is bound to, and a point is the word
    that it is nearest to. k is any kernel of histograms; where it has features, as ``Hellinger``, or a
    ``HomogeneousMap`` of it, so has this one. As valid as k.

    Parameters
    ----------
    vocabulary : clusterer
        Not fitted: ``KMeans(100, random_state=0)``, or another with ``fit(X, sample_weight=…)`` and
        ``cluster_centers_``. A clone of it is fitted to at most 50 000 of the points, drawn with a fixed seed; each
        counts as often as its set.
    kernel : Kernel, default=ChiSquared()
        k, of histograms whose entries add up to 1. An empty set has none, and the value 0 with every other.

    See Also
    --------
    MeanEmbedding : Sets of vectors without a vocabulary.
    BagOfWords : Words of texts.

    References
    ----------
    .. [1] G. Csurka, C. Dance, L. Fan, J. Willamowski and C. Bray. Visual categorization with bags of keypoints. ECCV
       workshop, 2004.
    .. [2] J. Zhang, M. Marszałek, S. Lazebnik and C. Schmid. Local features and kernels for classification of texture
       and object categories. IJCV 73, 2007.

    Examples
    --------
    >>> import mercer as mc
    >>> k = mc.VisualWords(mc.KMeans(2, random_state=0), mc.HistogramIntersection())
    >>> k([[0.0, 0.1, 5.0], [5.0, 5.1, 4.9], [0.0, 0.2, 0.1]]).round(3)
    array([[1.   , 0.333, 0.667],
           [0.333, 1.   , 0.   ],
           [0.667, 0.   , 1.   ]])
    """

    usage: ClassVar[str] = "VisualWords(vocabulary, kernel=ChiSquared())"
    _same_items = False
    vocabulary: Estimator
    kernel: Kernel = ChiSquared()

    def _validate(self) -> None:
        if not callable(getattr(self.vocabulary, "fit", None)):
            raise TypeError(
                coded(
                    f"VisualWords(vocabulary): a {type(self.vocabulary).__name__} cannot be fitted; give a clusterer,"
                    " as KMeans(100).",
                    "M205",
                )
            )
        if not isinstance(self.kernel.domain, Vectors):
            raise TypeError(
                coded(f"VisualWords(kernel): {self.kernel} is not a kernel of histograms, as ChiSquared().", "M215")
            )

    def _value(self) -> dict[str, Any]:
        # the clusterer by its parameters: a clone of it is fitted, whatever it has learnt
        found, vocabulary = super()._value(), self.vocabulary
        if hasattr(vocabulary, "get_params"):
            found["vocabulary"] = (type(vocabulary), *sorted(vocabulary.get_params(deep=False).items()))
        return found

    @property
    def _data_driven(self) -> bool:
        return True

    @property
    def psd(self) -> bool | None:  # type: ignore[override]
        return True if self.kernel.psd else None

    @property
    def explicit(self) -> bool:  # type: ignore[override]
        return self.kernel.explicit

    def bind(self, X: Samples, weights: Weights = None) -> Kernel:
        X = self.domain.check(X)
        w = np.repeat(check_weights(len(X), weights), X.lengths)
        some = np.flatnonzero(w)
        if not len(some):
            raise DataError("There are no points: the words of a vocabulary have nothing to follow.", "M116")
        if len(some) > _POINTS:
            some = np.sort(np.random.default_rng(0).choice(some, _POINTS, replace=False))
        fitted = clone(self.vocabulary).fit(X.values[some], sample_weight=w[some])
        return InWords(self.kernel, np.asarray(fitted.cluster_centers_, np.float64)).bind(X, weights)


@kernel
class InWords(Redirected):
    """k of the shares of words among the points of a set, a point being the word that it is nearest to."""

    method_name: ClassVar[str] = "in_words"
    domain: ClassVar[Domain] = PointSets()
    kernel: Kernel
    words: Array = sample()

    def _method_arguments(self) -> tuple[Any, ...]:
        return (self.words,)

    def _to_store(self, X: Samples) -> Any:
        return self.domain.to_store(X)

    def _prepare(self, X: Ragged) -> Any:
        # 1 for each set, 0 for an empty one: k of a histogram without entries need not be 0
        return super()._prepare(X), (X.lengths > 0)[:, None].astype(np.float64)

    def _block(self, A: Items, B: Items) -> Any:
        return self.kernel._pairs(A[0], B[0]) * dot(A[1], B[1])

    def _diag(self, A: Items) -> Any:
        return self.kernel._selfs(A[0]) * sqnorm(A[1])

    def _width(self, A: Items) -> int:
        return self.kernel._width(A[0])

    def _features(self, A: Items) -> Any:
        return _tensor([self.kernel._features(A[0]), A[1]])

    def _counts(self, A: Items) -> Counts | None:
        return None

    def _redirect(self, X: Samples) -> Array:
        X, words = self.domain.check(X), np.asarray(self.words)
        if len(X.values) and X.values.shape[1] != words.shape[1]:
            raise DataError(
                f"The points of set {int(np.argmax(X.lengths > 0))} have {X.values.shape[1]} numbers, those of the sets"
                f" that the words were learnt from {words.shape[1]}; all points must have the same.",
                "M104",
            )
        nearest = np.empty(len(X.values), np.int64)
        for part in chunks(len(nearest), max(1, _TOGETHER // len(words))):
            nearest[part] = np.argmin(squared_distances(X.values[part], words), axis=1)
        places = np.repeat(np.arange(len(X)), X.lengths) * len(words) + nearest
        counts = np.bincount(places, minlength=len(X) * len(words)).reshape(len(X), len(words))
        return counts / np.maximum(X.lengths, 1)[:, None]
