"""What all kernel estimators share: the door for data, the kernel bound to it, and the Gram matrix.

check ─▶ bind ─▶ gram ─▶ problem ─▶ solve ─▶ function
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple, Self

import numpy as np
from scipy import sparse
from sklearn.exceptions import NotFittedError

from mercer import arrays
from mercer.annotations import Index, Items, RandomState, Samples, Targets, Weights
from mercer.arrays import Array
from mercer.compute import Compute, within
from mercer.data import Blocks, Vectors, as_frame, chunks, distinct, in_order_of, listed, moderate_weights, size, take
from mercer.data.notices import one_call, quietly
from mercer.estimators.checks import check_room, checked_table, samples_to_draw, warn_if_indefinite
from mercer.estimators.parameters import WithKernels
from mercer.estimators.precomputed import check_square, symmetric
from mercer.estimators.scikit_checks import (
    assert_all_finite,
    check_consistent_length,
    check_feature_names,
    check_n_features,
    column_or_1d,
)
from mercer.estimators.spread import Door, SpreadSamples
from mercer.estimators.weights import checked
from mercer.gram import DenseGram, Gram, Landmarks, NystromGram, StackedGram, Use, held, is_gram
from mercer.kernels.anything import Function
from mercer.kernels.approximations.nystrom import Nystrom
from mercer.kernels.base import Kernel
from mercer.kernels.given import PRECOMPUTED, as_kernel
from mercer.runtime.randomness import generator
from mercer.runtime.watch import Stopped
from mercer.troubles import coded, coding_scikit_learn

_NARROW = 128  # columns
_AT_ONCE = 1024  # rows of a matrix that are looked at together


class Met(NamedTuple):
    """New items from one look at them: their matrix with those that were kept, and the items as the kernel has prepared
    them, unless there is but the matrix.
    """

    cross: Gram
    kernel: Kernel | None = None
    items: Items = None

    def own(self) -> Array:
        """k(x, x) of each."""
        if self.kernel is None:
            raise ValueError(
                coded(
                    "A precomputed matrix does not hold k(x, x) of new samples, which is needed here; give the kernel"
                    " itself.",
                    "M213",
                )
            )
        return np.asarray(arrays.to_numpy(self.kernel._own(self.items)), np.float64)


class KernelEstimator(WithKernels):
    """An estimator over a kernel: ``kernel`` is a Kernel, None for ``Gaussian()``, a function f(X, Y) that returns the
    matrix of two collections, or "precomputed" where X is the matrix itself.
    """

    kernel: Kernel | Callable[[Any, Any], Any] | str | None
    centers: int | Samples | None  # of those that can learn a sum over landmarks in the place of all samples
    random_state: RandomState
    compute: Compute | None
    kernel_: Kernel | None  # bound to the training data; None where there is but a matrix
    support_: Array  # the numbers of the training items that are kept
    _n_items: int  # how many training items there were
    _learns_kernel = False  # whether the kernel it is given is only where it starts
    _one_kernel = True  # whether ``_given_kernel`` is all there is to know of its matrix
    _needs_psd = True  # whether an indefinite matrix makes its problem another one; False where it measures that itself
    _along: str | None = None  # the parameter along which many fits cost little more than one

    # -- the door ----------------------------------------------------------------------------------------------------

    @property
    def _given_kernel(self) -> Kernel:
        return as_kernel(self.kernel)

    @property
    def _bound(self) -> Kernel | None:
        """The kernel of the training data; None where there is but a matrix."""
        return self.__dict__.get("kernel_")

    @property
    def _precomputed(self) -> bool:
        return isinstance(self.kernel, str) and self.kernel == PRECOMPUTED

    @property
    def _of_vectors(self) -> bool:
        return self._precomputed or isinstance(self._given_kernel.domain, Vectors)

    def _is_table(self, X: Samples, reset: bool) -> bool:
        """Whether X is to be checked as rows of numbers; a function of samples is given arrays checked, and anything
        else as it is.
        """
        if arrays.is_tensor(X) or self._of_vectors:
            return not arrays.is_tensor(X)
        if not isinstance(self._given_kernel, Function):
            return False
        trained_on_one = not reset and hasattr(self, "n_features_in_") and as_frame(X) is None
        return (
            trained_on_one
            or sparse.issparse(X)
            or (hasattr(X, "__array__") and as_frame(X) is None and np.asarray(X).ndim > 1)
        )

    def _accept(self, X: Samples, y: Targets = "no_validation", *, reset: bool, **options: Any) -> Any:
        """X (and y) checked: by scikit-learn's rules where it is a table of numbers, else by the kernel's domain."""
        if isinstance(X, Blocks):
            raise TypeError(
                coded(
                    f"{type(self).__name__} does not take blocks; KernelRidge, KernelLogistic, SVC and others with"
                    " centers do.",
                    "M313",
                )
            )
        if self._is_table(X, reset):
            missing = not self._precomputed and getattr(self._given_kernel.domain, "missing", False)
            found = checked_table(
                self, X, y, missing=missing, reset=reset, accept_sparse=False if self._precomputed else "csr", **options
            )
            if self._precomputed and reset:
                check_square(found[0] if isinstance(found, tuple) else found)
            return found
        X = listed(X)
        if not hasattr(X, "__len__") and not hasattr(X, "shape"):
            self._given_kernel.domain.check(X)  # says what is wrong with it
        if hasattr(X, "columns") or hasattr(X, "shape"):
            check_feature_names(self, X, reset=reset)
            if len(getattr(X, "shape", ())) == 2:
                check_n_features(self, X, reset=reset)
        if isinstance(y, str) and y == "no_validation":
            return X
        y = arrays.to_numpy(y)
        y = y if options.get("multi_output") else column_or_1d(y, warn=True)
        if size(X) != len(y):
            check_consistent_length(np.empty(size(X)), y)
        with coding_scikit_learn():
            y = y.astype(np.float64) if options.get("y_numeric") else y
        if y.dtype.kind == "f":
            assert_all_finite(y, input_name="y")
        return X, y

    def _weights(self, n: int, sample_weight: Weights) -> Array | None:
        """Weights of n samples, checked."""
        return None if sample_weight is None else np.asarray(moderate_weights(checked(sample_weight, n)))

    def _as_entered_by(self, door: KernelEstimator) -> Self:
        """Know what another estimator found at the door for the same data: the bound kernel, the columns, landmarks."""
        self.__dict__.update(
            {
                name: vars(door)[name]
                for name in ("kernel_", "n_features_in_", "feature_names_in_", "_landmarks")
                if name in vars(door)
            }
        )
        return self

    # -- the matrix --------------------------------------------------------------------------------------------------

    def _matrix(self, X: Samples, weights: Array | None, kernel: Kernel | None = None) -> Gram:
        """The square matrix of the training items, which are looked at once: also sets ``kernel_``, the kernel (None:
        the given one) bound to them. A warning where the matrix is indefinite and the estimator is only right for one
        that is not.
        """
        gram: Gram
        rule = self._landmark_rule(kernel)
        if rule is not None:
            return self._landmark_matrix(rule, X, weights)
        if self._precomputed:
            self.kernel_, gram = None, DenseGram(symmetric(X), self.compute)
        else:
            given = kernel or self._given_kernel
            check_room(given, X, self.compute or Compute())
            with within(self.compute):
                self.kernel_, A = given._entered(self._unpacked(X), weights)
            gram = self.kernel_._gram(A, A, self.compute or Compute())
        if self._needs_psd and not (self.kernel_ is not None and self.kernel_.psd):
            try:
                gram = held(gram, Use.LOOK)
            except Stopped as stop:
                if not stop.watch.partial:
                    raise
                return gram  # whoever learns from it is stopped as well, and has something to give
            warn_if_indefinite(gram, type(self).__name__)
        return gram

    def _landmark_rule(self, kernel: Kernel | None = None) -> Nystrom | None:
        """How to choose the landmarks, where f is to be a sum over those alone."""
        if not hasattr(self, "centers"):
            return None
        centers = self.centers
        if self._precomputed:
            if centers is not None:
                raise ValueError(
                    coded("centers are for a kernel; a precomputed matrix has been computed already.", "M213")
                )
            return None
        given = kernel or self._given_kernel
        if centers is None:
            return given._nystrom
        if given._nystrom is not None:
            raise ValueError(coded(f"{given} has landmarks of its own: give either those or centers.", "M217"))
        number = isinstance(centers, int | np.integer) and not isinstance(centers, bool)
        if not number and hasattr(centers, "__len__") and not isinstance(centers, str):
            return Nystrom(given, landmarks=centers)
        if not number or centers < 1:
            raise ValueError(
                coded(f"centers={centers!r}: a number of samples, at least 1, or the samples themselves.", "M205")
            )
        return Nystrom(given, int(centers))

    def _landmark_matrix(self, rule: Nystrom, X: Samples, weights: Array | None) -> Gram:
        """The matrix of the training items as landmarks see it; sets ``kernel_`` and keeps the landmarks. Of samples
        that are spread, the matrix is that of some of them.
        """
        compute = self.compute or Compute()
        given = getattr(self, "centers", None)
        random = generator(rule.random_state if given is None and self._one_kernel else self.random_state)
        rule.check_parameters()
        drawn, some = None, X  # of blocks, what the kernel takes from data, and the landmarks, are of a part of them
        with one_call():
            if isinstance(X, Blocks | SpreadSamples):
                drawn = np.sort(random.choice(len(X), samples_to_draw(X, rule.n_components, compute), replace=False))
                if isinstance(X, SpreadSamples):
                    share = X.workers.share(compute, len(X.parts))
                    taken, labels, weights, drawn = X.take(drawn, Door.of(self, share))
                    some = self._accept(taken, reset=False)
                    checked = rule.kernel.domain.check(self._unpacked(some))
                else:
                    some, checked = self._drawn_from(X, drawn, rule.kernel)
                    weights = None if weights is None else weights[drawn]
            else:
                checked = rule.kernel.domain.check(self._unpacked(X))
            found = rule._choose(checked, weights, compute, random)
        self.kernel_ = found.kernel
        among = found.among(compute)
        if self._needs_psd and not found.kernel.psd:
            warn_if_indefinite(among, type(self).__name__)
        given = found.landmarks if self._of_vectors else rule.landmarks
        with quietly():
            self._landmarks = found.kernel._to_store(
                given if found.numbers is None else take(some, found.numbers)  # of the kind that was given
            )
        if drawn is None:
            values, numbers = found.gram(compute), found.numbers
        elif isinstance(X, SpreadSamples):
            known = labels is not None and found.numbers is not None
            X.landmarks, X.labels = found.prepared, labels[found.numbers] if known else None
            values, numbers = found.gram(compute), None if found.numbers is None else drawn[found.numbers]
            return NystromGram(Landmarks.of(values, among, numbers))
        else:
            values = StackedGram(X, partial(self._block_matrix, found.kernel, found.prepared, compute))
            numbers = None if found.numbers is None else drawn[found.numbers]
        return NystromGram(Landmarks.of(held(values, Use.PRODUCTS), among, numbers))

    def _drawn_from(self, X: Blocks, drawn: Array, kernel: Kernel) -> tuple[Any, Any]:
        """Some samples of blocks, as they are and as the kernel's domain has checked them."""

        def checked(block: Samples) -> tuple[Any, Any]:
            some = self._accept(block, reset=False)
            return some, kernel.domain.check(self._unpacked(some))

        try:
            return checked(X.take(drawn))
        except (TypeError, ValueError):
            for _ in X.each(checked):
                pass  # the block that is wrong says so
            raise

    def _block_matrix(self, kernel: Kernel, landmarks: Items, compute: Compute, block: Samples) -> Gram:
        """The matrix of a block of samples with the landmarks."""
        with quietly():
            X = self._unpacked(self._accept(block, reset=False))
            return kernel._gram(kernel._prepared(kernel.domain.check(X), kernel.domain), landmarks, compute)

    def _block_own(self, kernel: Kernel, block: Samples) -> Array:
        """k(x, x) of a block of samples."""
        with quietly():
            X = self._unpacked(self._accept(block, reset=False))
            own = kernel._own(kernel._prepared(kernel.domain.check(X), kernel.domain))
            return np.asarray(arrays.to_numpy(own), np.float64)

    def _cross_matrix(self, X: Samples, items: Samples) -> Gram:
        """The matrix of new samples with training ones, of the kind that ``_matrix`` made of those."""
        assert self.kernel_ is not None
        return self.kernel_.gram(self._unpacked(X), self._unpacked(items), compute=self.compute)

    def _unpacked(self, X: Samples) -> Any:
        """A sparse table of few columns as a dense one, where that is small: the engine's inner products are then in
        registers.
        """
        small = (
            sparse.issparse(X)
            and X.shape[1] <= _NARROW
            and 16 * X.shape[0] * X.shape[1] * X.dtype.itemsize <= (self.compute or Compute()).budget
        )
        return X.toarray() if small else X

    def _some(self, X: Samples, chosen: Array) -> Any:
        """The problem of some of the samples: of a matrix, their rows and columns."""
        if is_gram(X):
            return X.sub(chosen, chosen)
        if isinstance(X, Blocks):
            return X.kept(chosen)
        return X[np.ix_(chosen, chosen)] if self._precomputed else take(X, chosen)

    def _kinds(self, gram: Gram, y: Array, X: Samples) -> tuple[Array, Array]:
        """(the first sample of each kind, the kind of each sample): samples are of one kind if they are the same in x
        and y.

        Items are the same to the last bit. Where there is but their matrix, X is None, they are if their distance K_ii
        + K_jj − 2K_ij is rounding and their rows agree, seen by three random sums of each: what was computed for equal
        items need not be equal to the last bit.
        """
        if X is not None and not self._precomputed:
            return distinct(X, y)
        diagonal, same = np.asarray(arrays.to_numpy(gram.diag())), np.empty(len(y), np.int64)
        rounding, signs = (
            float(np.finfo(gram.dtype).eps),
            np.sign(np.random.default_rng(0).standard_normal((len(y), 3))),
        )
        sums, size_of_row = np.asarray(arrays.to_numpy(gram @ signs)), np.empty(len(y))
        for some in chunks(len(y), _AT_ONCE):
            values = np.asarray(arrays.to_numpy(gram.rows(some)))
            size_of_row[some] = np.abs(values).sum(axis=1)
            own = diagonal[some, None]
            near = np.abs(own + diagonal - 2 * values) <= 16 * rounding * (np.abs(own) + np.abs(diagonal))
            apart = np.abs(sums[some, None] - sums).max(axis=2)
            near &= apart <= 16 * rounding * size_of_row[some, None]
            equal = (y[some].reshape(len(near), 1, -1) == y.reshape(1, len(y), -1)).all(axis=2)
            same[some] = np.argmax(near & equal | (np.arange(len(y)) == np.arange(len(y))[some, None]), axis=1)
        return np.unique(same, return_index=True, return_inverse=True)[1:]

    # -- what is kept, and new items ---------------------------------------------------------------------------------

    def _items(self, X: Samples, chosen: Index) -> Any:
        """Some of the training items: what is kept to predict with. Of a precomputed matrix there is nothing to
        keep.
        """
        if self.kernel_ is None:
            return np.empty((len(chosen), 0))
        with quietly():  # what the kernel does not use was told when the matrix was computed
            return self.kernel_._to_store(take(X, chosen))

    def _accept_new(self, X: Samples) -> Any:
        """New items, checked; where they are given by their matrix with the training items, that with those that were
        kept, a Gram.
        """
        if is_gram(X):
            if X.shape[1] != self._n_items:
                raise ValueError(
                    coded(
                        f"The matrix has {X.shape[1]} columns, but {type(self).__name__} was trained on {self._n_items}"
                        " items: give the matrix of the new items with all of these.",
                        "M213",
                    )
                )
            return X.sub(slice(None), self.support_)
        if not self._precomputed:
            return self._accept(X, reset=False)
        # columns for the kept items, in their order
        alone = getattr(X, "ndim", 0) == 2 and X.shape[1] == len(self.support_) != self.n_features_in_
        return DenseGram(np.asarray(X) if alone else self._accept(X, reset=False)[:, self.support_], self.compute)

    def _meet(self, X: Samples) -> Met:
        """Accepted items and those that were kept."""
        kernel = self._bound
        if kernel is None or is_gram(X):
            return Met(X)
        if not hasattr(self, "support_vectors_"):
            raise NotFittedError(
                coded(
                    f"This {type(self).__name__} has learnt from a matrix alone and keeps no samples: give new items by"
                    " their matrix with the training items.",
                    "M213",
                )
            )
        with within(self.compute):
            with one_call():
                _, A = kernel._entered(in_order_of(self._unpacked(X), self.support_vectors_))
            with quietly():  # what the kernel does not use of these was told in training
                _, B = kernel._entered(self._unpacked(self.support_vectors_))
        return Met(kernel._gram(A, B, self.compute or Compute()), kernel, A)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = not self._precomputed
        tags.input_tags.pairwise = self._precomputed
        return tags
