"""A kernel is a value: one file, the hooks that authors write and the final methods that users call.

It has parameters and no state: never fitted in place, never caching, equal to any kernel of the same class and
parameters. An author writes hooks (``_block`` and, where it pays, ``_prepare``, ``_diag``, ``_features``, ``bind``);
users call the final methods.
"""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar, dataclass_transform

import numpy as np
from sklearn.base import BaseEstimator

from mercer import arrays
from mercer.annotations import Items, Samples, Weights
from mercer.arrays import Array
from mercer.compute import Compute, bounds, within
from mercer.data import (
    Anything,
    DataError,
    Domain,
    HashedRows,
    LazyCounts,
    check_same_width,
    chunks,
    in_order_of,
    leaves,
    size,
    take,
)
from mercer.data.notices import one_call
from mercer.formula import recorded
from mercer.gram import (
    Counts,
    CountsGram,
    Gram,
    KernelGram,
    LowRankGram,
    NoGradient,
    common_dtype,
    item_gradients,
    item_values,
    parameter_symbol,
)
from mercer.troubles import coded, coding_scikit_learn

if TYPE_CHECKING:
    from mercer.kernels.columns import ColumnTerm
    from mercer.kernels.compose.pointwise import Power, Scaled
    from mercer.kernels.occurrences import Occurrences
from mercer.kernels.equality import hashable, same_values
from mercer.kernels.of_columns import OfColumns
from mercer.kernels.of_sequences import OfSequences
from mercer.kernels.parameters import _is_real, natural, nonnegative, positive, real, sample

T = TypeVar("T", bound=type)


@dataclass_transform(field_specifiers=(positive, nonnegative, real, natural, sample))
def kernel(cls: T) -> T:
    """Class decorator: the annotated fields are the parameters, in order, of the constructor."""
    made: Any = dataclasses.dataclass(eq=False, repr=False)(cls)
    fields = dataclasses.fields(made)
    made._checks = [(f.name, f.metadata["check"]) for f in fields if f.metadata.get("check") is not None]
    made._kernel_fields = [f.name for f in fields if f.type in ("Kernel", Kernel)]
    return made


class Kernel(OfColumns, OfSequences, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """k(x, z), a similarity that is an inner product in some space: the base class of all kernels.

    ``k(X, Y)`` is the matrix of values, ``k.gram(X, Y)`` the same matrix computed when needed. Kernels add, multiply
    and compose to kernels: ``k1 + k2``, ``k1 * k2``, ``2 * k``, ``k ** 3``, and the methods below. A kernel is a value:
    it has parameters and no state, equals any kernel of the same class and parameters, and is never fitted in place;
    what depends on data is fixed by ``bind``, which returns a new kernel. How to write one: docs/add_a_kernel.md.

    Attributes
    ----------
    domain : Domain
        What a sample is: vectors, sequences, graphs, …
    psd : bool or None
        Whether the kernel is positive semi-definite: True is proven, False says that there are data for which it is
        not, None that nobody knows.
    explicit : bool
        Whether there is a finite feature map, which ``features`` computes.

    See Also
    --------
    Gram : The matrix that ``gram`` returns.
    check_kernel : Whether a kernel is valid on your data.
    parse : A kernel from text.

    Examples
    --------
    >>> import mercer as mc
    >>> k = 2 * mc.Gaussian(gamma=0.5) + mc.Linear().on([0])
    >>> print(k)
    2·Gaussian(γ=0.5) + Linear().on([0])
    >>> k([[0.0, 1.0], [1.0, 1.0]]).round(3)
    array([[2.   , 1.213],
           [1.213, 3.   ]])
    >>> k.psd, k.explicit, sorted(k.get_params())[:2]
    (True, False, ['gaussian', 'gaussian__kernel'])
    """

    domain: ClassVar[Domain] = Anything()
    psd: bool | None = True  # True, False (there are data for which it is not), None (unknown)
    explicit: bool = False
    _nystrom: Any = None  # itself where it is Nyström's approximation of another: machines then learn from landmarks
    _blind: bool = False  # whether it does not look at the samples
    _same_items: bool = True  # whether the kernels that it is made of see the samples as they are
    _has_width: bool = False  # whether ``_widened`` changes it
    _rotation_invariant: bool = False  # whether k(Qx, Qz) = k(x, z) for every rotation Q of the columns
    _checks: ClassVar[list[tuple[str, Callable[[Any], str | None]]]] = []  # of parameters, by name
    _kernel_fields: ClassVar[list[str]] = []  # the parameters that are kernels
    _internal: ClassVar[bool] = False  # made by ``bind`` of another kernel, and not for users to write
    _integer_features: bool = False  # whether all features are whole numbers
    _over_columns: str | None = None  # "sum" or "product", where k is that of its values on each column alone
    _cure: ClassVar[str] = "Scale the data or the kernel's parameters"  # where a value is not finite
    # whether it holds something computed from the values of the kernel inside, at its parameters then
    _bound_to_values: bool = False

    # -- hooks for authors -------------------------------------------------------------------------------------------

    def _prepare(self, X: Samples) -> Any:
        """Work done once per item; a representation with one row per item in every leaf."""
        return X

    def _block(self, A: Items, B: Items) -> Any:
        """k between prepared items: a formula in mercer.formula's functions, or NumPy on the items themselves."""
        raise NotImplementedError(
            coded(f"{type(self).__name__} must define _block(A, B), or the method of its family.", "M216")
        )

    def _diag(self, A: Items) -> Any:
        """k(x, x) for each prepared item. Overridden where it is cheaper than a block of one."""
        pairs = [np.asarray(self._block(take(A, i), take(A, i))) for i in chunks(size(A), 1)]
        wrong = next((pair.shape for pair in pairs if pair.size != 1), None)
        if wrong is not None:
            raise ValueError(
                coded(
                    f"{type(self).__name__}._block returned an array of shape {wrong} for 1 × 1 items; it must be of"
                    " shape (1, 1).",
                    "M216",
                )
            )
        return np.array([float(pair.reshape(())) for pair in pairs])

    def _features(self, A: Items) -> Any:
        """φ(x) for each prepared item, with k(x, z) = ⟨φ(x), φ(z)⟩; array or CSR."""
        raise NotImplementedError

    def _counts(self, A: Items) -> Counts | None:
        """The same as whole numbers, where they are that but for scales and a factor for each row: they then need a
        third of the memory.
        """
        return None

    def _width(self, A: Items) -> int:
        """How many numbers a row of ``_features`` would hold."""
        raise NotImplementedError

    def _pull_back(self, X: Samples, gradients: Any) -> Any:
        """Gradients by the samples, (items, outputs, columns), from those by the leaves of ``_prepare``; None is 0."""
        if type(self)._prepare is not Kernel._prepare:
            raise NoGradient(
                coded(f"{self} has no gradient by its samples: {type(self).__name__} does not define one.", "M211")
            )
        return gradients

    def _pulled_back(self, X: Samples, gradients: Any) -> Any:
        return None if all(g is None for g in leaves(gradients)) else self._pull_back(X, gradients)

    def _widened(self, factor: float) -> Kernel:
        """The same kernel of distances that are ``factor`` times as long, where it has a width, and is bound."""
        return self

    def _listed(self) -> Kernel:
        """The same kernel with its features listed, where it has finitely many and finds its values without them."""
        return self._with_children(lambda child: child._listed())

    def _balanced(self) -> Kernel:
        """A kernel g(x) k(x, z) g(z), g > 0, with the same normalised values, whose own are less likely to be beyond
        what a float holds.
        """
        return self

    def _to_store(self, X: Samples) -> Any:
        """Samples in a form that a fitted model can keep, and a file hold."""
        return self.domain.to_store(X)

    def _on_column(self, j: int) -> Kernel:
        """k of column j alone, where it is a sum or a product over columns."""
        return self

    def _column_terms(self, X: Samples, Y: Samples) -> list[ColumnTerm] | None:
        """k(X, Y) as Σ_t c_t Π_j κ_tj(x_j, y_j) over the columns of two tables; None: not known."""
        from mercer.kernels.columns import alike

        return alike(self, X, Y)

    def _occurrences(self, x: Items) -> Occurrences | None:
        """Where the features of one checked item come from, a collection of one; None: not known."""
        return None

    def _validate(self) -> None:
        """Raise if parameters that are each valid do not fit together."""

    def set_params(self, **params: Any) -> Self:
        with coding_scikit_learn():
            super().set_params(**params)
        return self

    def bind(self, X: Samples, weights: Weights = None) -> Kernel:
        """The kernel with its data-driven parts ("scale", means, landmarks) fixed by X; itself where there are none.

        ``fit`` of an estimator and ``gram`` do this by themselves; bind a kernel to use it with the same numbers on
        other data.

        Parameters
        ----------
        X : collection of samples
            The data, in any form that the kernel's domain accepts.
        weights : array-like of shape (n,), optional
            A weight counts as that many repetitions of the sample.

        Returns
        -------
        Kernel
            A new kernel, without words such as "scale" in its parameters.
        """
        return self._with_children(lambda child: child.bind(X, weights))

    @property
    def _notation(self) -> str:
        """The kernel as mathematics, for str()."""
        from mercer.kernels import notation

        return notation.call(self, mathematics=True)

    @property
    def _python(self) -> str:
        """The kernel as Python, for repr()."""
        from mercer.kernels import notation

        return notation.call(self, mathematics=False)

    # -- final: values -----------------------------------------------------------------------------------------------

    def __call__(self, X: Samples, Y: Samples = None) -> Array:
        """The matrix k(x_i, y_j), or the number k(x, y) for two single vectors.

        Parameters
        ----------
        X, Y : collection of samples, or one vector each
            Without Y the matrix is k(X, X).

        Returns
        -------
        ndarray of shape (len(X), len(Y)), or float
            The values; a tensor on its device where X is one. ``gram`` avoids the matrix where it would be large.

        Raises
        ------
        DataError
            When a sample is not what the kernel compares; the message names the row and the cure.
        FloatingPointError
            When a value is not finite; the message names the pair.
        """
        pair = self.domain.pair(X, Y) if Y is not None else None
        if pair is None:
            return self.gram(X, Y).dense()
        if self._data_driven:
            raise DataError(
                f"{self} is fixed by data, and a single pair is none: bind it first, kernel.bind(X).", "M206"
            )
        return self.gram(*pair).dense()[0, 0]

    def gram(self, X: Samples, Y: Samples = None, compute: Compute | None = None) -> Gram:
        """The lazy matrix K(X, Y), K(X, X) without Y; values are computed when they are asked for.

        Parameters
        ----------
        X, Y : collection of samples
            Rows and columns. A kernel that is not bound is bound to Y, or to X without Y.
        compute : Compute, optional
            Device, precision, memory and threads.

        Returns
        -------
        Gram
            The matrix: ``gram @ v``, ``gram.rows(i)``, ``gram.diag()``, ``gram.dense()``, …
        """
        with within(compute):
            k, A, B = self._enter(X, Y)
        return k._gram(A, B, compute or Compute())

    def _summands(self) -> tuple[Kernel, ...]:
        """The kernels that this one is the sum of: itself alone, unless it is a sum."""
        return (self,)

    def _grams(self, A: Items, B: Items, compute: Compute) -> list[Gram]:
        """The matrix of each summand."""
        return [self._gram(A, B, compute)]

    def _gram(self, A: Items, B: Items, compute: Compute) -> Gram:
        same = B is A
        # between two sets the features of an open set of columns cost less than pairs, unless there are many of each
        few = self.explicit and not same and self._width(A) <= _entries(A)
        if not self.explicit or not (few or self._width(A) < min(size(A), size(B))):
            return KernelGram.of(self, A, B, compute)
        gram: Gram
        dtype = common_dtype((A, B), compute)
        counts = self._counts(A)
        others = counts if same else self._counts(B)
        if counts is not None and counts.terms and others is not None:
            apart = same and any(isinstance(leaf, LazyCounts) for leaf in leaves(A))
            symmetric = KernelGram.of(self, A, A, compute) if apart else None
            # in float64, since counts serve every precision
            diagonal = partial(item_values, self._diag, A, np.float64) if same else None
            gram = CountsGram(counts, others, compute, dtype, diagonal=diagonal, symmetric=symmetric)
        else:
            left = self._features(A)
            right = left if same else self._features(B)
            check_same_width(left, right)
            gram = LowRankGram(left, right, compute, item_values(self._diag, A, dtype) if same else None)
        gram.name = str(self)
        return gram

    def diag(self, X: Samples) -> Array:
        """k(x_i, x_i) for each sample, without the matrix."""
        k, A = self._entered(X)
        return k._own(A)

    def _own(self, A: Items) -> Array:
        """The same of prepared items."""
        values = item_values(self._diag, A, common_dtype(A, Compute()))
        if not arrays.all_finite(values):
            i = int(np.argmin(np.isfinite(arrays.to_numpy(values))))
            raise FloatingPointError(
                coded(f"The kernel {self} gives {float(values[i])} for the pair ({i}, {i}). {self._cure}.", "M210")
            )
        return values if any(arrays.is_tensor(x) for x in leaves(A)) else arrays.to_numpy(values)

    def features(self, X: Samples) -> Array:
        """φ(x_i), with k(x, z) = ⟨φ(x), φ(z)⟩; only for kernels with ``explicit``.

        Returns
        -------
        ndarray or csr_array of shape (n, n_features)
            One row for each sample. Where the columns are an open set (words of strings), they are those that occur in
            X: ``feature_names(X)`` says which.

        Raises
        ------
        TypeError
            When the kernel has no finite feature map.
        MemoryError
            When the features would not fit into memory; use values instead.
        """
        phi = self._embedded(X)
        return phi.tocsr()[0] if isinstance(phi, HashedRows) else phi

    def feature_names(self, X: Samples) -> list[Any]:
        """What the columns of ``features(X)`` stand for, as a list; only for kernels on an open set of columns.

        Words for ``Spectrum``, paths such as C-C=O for ``PathBag``; a kernel whose features have no names raises
        ``TypeError``.
        """
        X = X if hasattr(X, "__len__") else list(X)
        with one_call():
            names, phi = self._listed()._names(X), self._embedded(X)
        return [names[int(c)] for c in (phi.tocsr()[1] if isinstance(phi, HashedRows) else range(phi.shape[1]))]

    def _names(self, X: Samples) -> dict[int, Any]:
        """What the codes stand for that occur in the data."""
        raise TypeError(coded(f"The features of {self} have no names.", "M212"))

    def _embedded(self, X: Samples) -> Any:
        """φ(x_i) as an array, a CSR matrix or ``HashedRows``."""
        k, A = self._listed()._entered(X)
        if not k.explicit:
            raise TypeError(
                coded(f"{self} has no finite feature map; approximate it, or use its values: k(X), k.gram(X).", "M212")
            )
        need = k._width(A) * size(A) * 8
        if need > bounds().budget:
            raise MemoryError(
                coded(
                    f"{self} has {k._width(A)} features: {need / 1e9:.3g} GB for {size(A)} rows. Use its values"
                    " instead: k.gram(X).",
                    "M401",
                )
            )
        return k._features(A)

    def gradient(self, X: Samples, Y: Samples = None, compute: Compute | None = None) -> dict[str, Gram]:
        """∂K/∂log θ for each continuous parameter θ, as lazy matrices.

        The derivative is taken of the formula itself. At θ = 0 the value is 0 = θ·∂K/∂θ.

        Parameters
        ----------
        X, Y : collection of samples
            As for ``gram``.
        compute : Compute, optional
            Device, precision, memory and threads.

        Returns
        -------
        dict of str to Gram
            By the names of ``get_params``, ``name[j]`` for the entries of a vector.
        """
        with within(compute):
            k, A, B = self._enter(X, Y)
        grams: dict[str, Gram] = dict(KernelGram.gradients(k, k._symbolic(""), A, B, compute or Compute()))
        return grams

    def _combined_gradient(self, X: Samples, Y: Samples, coef: Array, compute: Compute | None = None) -> Array:
        """∇_x Σ_j c_j k(x, y_j) for each x, (items, outputs, columns)."""
        with one_call():
            B = self._prepared(self.domain.check(Y), self.domain)
            X = self.domain.check(in_order_of(X, Y))
            A = self._prepared(X, self.domain)
        found = self._pulled_back(X, item_gradients(self, A, B, coef, compute or Compute())) if size(X) else None
        return arrays.zeros((size(X), coef.shape[1], X.shape[1]), np.float64, X) if found is None else found

    def without_derivative(self, X: Samples) -> tuple[list[str], str]:
        """The continuous parameters that ``gradient(X)`` does not reach, and why.

        Returns
        -------
        names : list of str
            Empty for a formula that was recorded.
        why : str
            The reason and the cure; empty where nothing is missing.
        """
        k = self.bind(self.domain.check(X))
        names = k._continuous("")
        try:
            reached = (
                {name.split("[")[0] for name in k.gradient(take(k.domain.check(X), slice(0, 2)))} if names else set()
            )
        except (ValueError, NotImplementedError) as error:
            return names, str(error)
        missing = [name for name in names if name not in reached]
        why = (
            "the formula is computed by NumPy or by the kernel itself, where it could be recorded: write it in the"
            " functions of mercer.formula (exp, sqrt, …), or declare the parameter with continuous=False"
        )
        return missing, why if missing else ""

    def _maxima(self, prefix: str = "") -> dict[str, float]:
        """The largest value of each parameter that has one, named as in ``get_params``."""
        mine = {f.name: f.metadata.get("maximum") for f in dataclasses.fields(self)}
        found = {prefix + name: float(most) for name, most in mine.items() if most is not None}
        for part, child in self._children():
            found |= child._maxima(f"{prefix}{part}__")
        return found

    def _continuous(self, prefix: str) -> list[str]:
        """The numbers among the parameters that are said to be differentiable, named as in ``get_params``."""
        mine = [
            f.name
            for f in dataclasses.fields(self)
            if f.metadata.get("continuous") and not isinstance(getattr(self, f.name), str)
        ]
        return [prefix + name for name in mine] + [
            name for part, child in self._children() for name in child._continuous(f"{prefix}{part}__")
        ]

    def _numbers(self, prefix: str = "") -> list[str]:
        """The numbers among the parameters that might have any value between two others, named as in ``get_params``;
        those of ``_continuous`` have a derivative.
        """
        mine = [
            f.name
            for f in dataclasses.fields(self)
            if (not f.metadata.get("whole") if "continuous" in f.metadata else str(f.type).startswith("float"))
            and isinstance(getattr(self, f.name), int | float | np.number | np.ndarray | list | tuple)
        ]
        return [prefix + name for name in mine] + [
            name for part, child in self._children() for name in child._numbers(f"{prefix}{part}__")
        ]

    def _not_tuned(self) -> list[str]:
        """The numbers that are said to have no derivative: ``tune`` leaves them as they are."""
        tuned = set(self._continuous(""))
        return [name for name in self._numbers() if name not in tuned]

    def _pairs(self, A: Items, B: Items) -> Any:
        """``_block`` as a part of another kernel's formula."""
        return recorded(self._block, A, B)

    def _selfs(self, A: Items) -> Any:
        """``_diag`` as a part of another kernel's formula."""
        return recorded(self._diag, A)

    def _enter(self, X: Samples, Y: Samples) -> tuple[Kernel, Any, Any]:
        """The door for two sets: the kernel bound to the second and both sides prepared (B is A without Y)."""
        if Y is None or Y is X:
            k, A = self._entered(X)
            return k, A, A
        with one_call():
            X = self.domain.check(in_order_of(X, Y))
            k, B = self._entered(Y)
            return k, k._prepared(X, self.domain), B

    def _entered(self, X: Samples, weights: Weights = None) -> tuple[Kernel, Any]:
        """The door for one set: parameters and data checked once; the kernel bound to it, and its items prepared."""
        self.check_parameters()
        with one_call():
            X = self.domain.check(X)
            k = self.bind(X, weights)
            return k, k._prepared(X, self.domain)

    def _prepared(self, X: Samples, checked_by: Domain) -> Any:
        """Items that a domain has checked, prepared: not checked again where that is one's own."""
        return self._prepare(X if self.domain == checked_by else self.domain.check(X))

    # -- final: algebra ----------------------------------------------------------------------------------------------

    def __add__(self, other: object) -> Kernel:
        from mercer.kernels.compose.algebra import add

        return add(self, other)

    def __radd__(self, other: object) -> Kernel:
        from mercer.kernels.compose.algebra import add

        return self if _is_real(other) and other == 0 else add(other, self)

    def __mul__(self, other: object) -> Kernel:
        from mercer.kernels.compose.algebra import multiply

        return multiply(self, other)

    def __rmul__(self, other: object) -> Scaled:
        from mercer.kernels.compose.algebra import multiply
        from mercer.kernels.compose.pointwise import Scaled

        product = multiply(self, other)
        assert isinstance(product, Scaled)  # a kernel on the left would have used its own __mul__
        return product

    def __truediv__(self, other: object) -> Kernel:
        from mercer.kernels.compose.algebra import multiply, reciprocal

        return multiply(self, reciprocal(other))

    def __pow__(self, exponent: int) -> Power:
        from mercer.kernels.compose.pointwise import Power

        return Power(self, exponent)

    def __sub__(self, other: object) -> Kernel:
        raise TypeError(
            coded(
                "The difference of two kernels is not a kernel: it need not be positive semi-definite. "
                "Use mercer.Precomputed(K).repaired('clip') on the matrix if you must.",
                "M203",
            )
        )

    def __neg__(self) -> Kernel:
        raise TypeError(coded("−k is not a kernel: k(x, x) would be negative. Scales must be at least 0.", "M203"))

    def normalized(self) -> Kernel:
        """k(x, z)/√(k(x, x) k(z, z)): the cosine in feature space.

        Exactly 1 on the diagonal, and 0, with a warning, for an object with k(x, x) = 0 (an empty string, a zero row).
        Large objects (long strings, large graphs) no longer have large values. Where k could exceed what a float holds
        (exp(k), powers, substrings, walks), the normalised values are computed another way, and right.
        """
        from mercer.kernels.compose.feature_space import Normalized

        return Normalized(self)

    def centered(self) -> Kernel:
        """⟨φ(x) − μ, φ(z) − μ⟩, μ the mean of φ over the data given to ``bind``; a new sample costs a value for each of
        them.
        """
        from mercer.kernels.compose.feature_space import Centered

        return Centered(self)

    def rooted(self) -> Kernel:
        """⟨ψ(x), ψ(z)⟩, ψ = sign(φ)·√|φ| of the features φ: large counts weigh less; for kernels with ``explicit``."""
        from mercer.kernels.compose.feature_space import Rooted

        return Rooted(self)

    def repaired(self, how: str = "clip") -> Kernel:
        """A positive semi-definite kernel near an indefinite similarity, made from its eigenvalues on the data given to
        ``bind``.

        Parameters
        ----------
        how : {"clip", "flip", "shift"}, default="clip"
            "clip" sets negative eigenvalues to 0 (the nearest positive semi-definite matrix), "flip" takes their
            absolute values, "shift" adds −λ_min to the similarity of each object with itself. For new samples, clip and
            flip project onto the eigenvectors kept, shift adds its constant where x = z. The similarity must be
            symmetric.
        """
        from mercer.kernels.compose.feature_space import Repaired

        return Repaired(self, how)

    def map(self, function: Callable[[Any], Any]) -> Kernel:
        """k(f(x), f(z)), as valid as k.

        Parameters
        ----------
        function : callable
            f takes a collection of samples and returns one of the same length.
        """
        from mercer.kernels.compose.inputs import Mapped

        return Mapped(self, function)

    def atoms(self, charge: bool = False, chirality: bool = False, invariants: Any = ()) -> Kernel:
        """k of molecules whose atoms are labelled by element and, if wanted, by more; k is a kernel between graphs.

        Parameters
        ----------
        charge : bool, default=False
            Whether labels tell charges, N+.
        chirality : bool, default=False
            Whether labels tell chirality, C@R, and those of double bonds E and Z.
        invariants : str, callable, or list of them, default=()
            What else labels tell: "isotope", "hydrogens", "aromatic", "ring", … as for ``Morgan``.
        """
        from mercer.kernels.graphs.atoms import Atoms

        return Atoms(self, charge, chirality, invariants)

    # -- final: a value ----------------------------------------------------------------------------------------------

    def __post_init__(self) -> None:
        self.check_parameters()

    def check_parameters(self) -> None:
        """Raise ValueError if a parameter is out of range, naming it.

        Runs when a kernel is made and, since ``set_params`` can change it, when it is used.
        """
        for name, check in self._checks:
            complaint = check(getattr(self, name))
            if complaint is not None:
                raise ValueError(
                    coded(f"{type(self).__name__}({name}={getattr(self, name)!r}): {name} {complaint}.", "M205")
                )
        for part in [getattr(self, name) for name in self._kernel_fields] + [child for _, child in self._children()]:
            if not isinstance(part, Kernel):
                raise TypeError(coded(f"{type(self).__name__} is made of kernels, got {part!r}.", "M203"))
        self._validate()

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        mine, theirs = self._value(), other._value()
        return all(same_values(mine[name], theirs[name]) for name in mine)

    def __hash__(self) -> int:
        return hash((type(self), tuple(hashable(v) for v in self._value().values())))

    def _value(self) -> dict[str, Any]:
        """What makes it the value that it is: kernels of one class with the same are equal."""
        found: dict[str, Any] = self.get_params(deep=False)
        return found

    def __repr__(self, N_CHAR_MAX: int = 0) -> str:
        return self._python

    def __str__(self) -> str:
        return self._notation

    # -- parts -------------------------------------------------------------------------------------------------------

    def _children(self) -> Iterator[tuple[str, Kernel]]:
        """The kernels this one is made of, by parameter name."""
        for f in dataclasses.fields(self):
            value = getattr(self, f.name)
            if isinstance(value, Kernel):
                yield f.name, value

    def _parts(self) -> list[Kernel]:
        """This kernel and all that it is made of."""
        return [self] + [part for _, child in self._children() for part in child._parts()]

    def _with_children(self, change: Callable[[Kernel], Kernel]) -> Self:
        """This kernel with each part changed; itself where nothing changes."""
        changed = {name: new for name, child in self._children() if (new := change(child)) is not child}
        return self._replace(**changed) if changed else self

    def _replace(self, **changes: Any) -> Self:
        other = copy.copy(self)
        for name, value in changes.items():
            setattr(other, name, value)
        return other

    def _symbolic(self, prefix: str) -> Self:
        """This kernel with a symbol for every continuous parameter, named as in ``get_params``."""
        changes: dict[str, Any] = {}
        for f in dataclasses.fields(self):
            value = getattr(self, f.name)
            if f.metadata.get("continuous") and not isinstance(value, str):
                changes[f.name] = parameter_symbol(prefix + f.name, value)
        changes |= {name: child._symbolic(f"{prefix}{name}__") for name, child in self._children()}
        return self._replace(**changes, _with_numbers=self)

    @property
    def _data_driven(self) -> bool:
        """Whether ``bind`` has something to fix."""
        return any(child._data_driven for _, child in self._children())


def _entries(A: Items) -> int:
    """Entries of a row of features over an open set of columns, on average, and one for each part beside them; 0 where
    there are none.
    """
    found = [leaf.per_row if isinstance(leaf, HashedRows) else None for leaf in leaves(A)]
    return sum(1 if each is None else each for each in found) if any(each is not None for each in found) else 0
