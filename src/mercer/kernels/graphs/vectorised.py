"""Kernels on vectors, applied to numbers that describe molecules and structures as wholes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from mercer.annotations import Samples, Weights
from mercer.arrays import Array
from mercer.data import DataError, Domain, check_weights
from mercer.data.descriptors import DESCRIPTORS, described
from mercer.data.molecules import Molecules
from mercer.data.structures import Structures, coulomb_matrix
from mercer.gram import NoGradient
from mercer.kernels import notation
from mercer.kernels.base import Kernel, kernel
from mercer.kernels.compose.inputs import Redirected, Shifted, mean_and_deviation
from mercer.kernels.parameters import sample
from mercer.kernels.vectors.products import Linear
from mercer.kernels.vectors.radial import Gaussian, Laplacian
from mercer.troubles import coded


class Vectorised(Redirected):
    """k of vectors that are computed from samples: leaves ``_redirect(X)`` and ``_columns`` to write."""

    around: ClassVar[bool] = False

    @property
    def _columns(self) -> list[str]:
        """What the columns of the vectors are called."""
        raise NotImplementedError

    def _to_store(self, X: Samples) -> Any:
        return self.domain.to_store(X)

    def _names(self, X: Samples) -> dict[int, Any]:
        return dict(enumerate(self._columns)) if isinstance(self.kernel, Linear) else super()._names(X)

    def _redirect_back(self, X: Samples, gradients: Array) -> Array:
        raise NoGradient(
            coded(
                f"{self} compares samples that are no rows of numbers: a function over it has no gradient by them. Ask"
                ' explain by="sample".',
                "M211",
            )
        )

    @property
    def _notation(self) -> str:
        return notation.call(self, mathematics=True)

    @property
    def _python(self) -> str:
        return notation.call(self, mathematics=False)


@kernel
class Descriptors(Vectorised):
    """k(d(x), d(z)) of descriptors d of molecules: weight, log P, polar surface, rings, …, each standardised.

    Molecules are SMILES strings or RDKit objects. Descriptors are brought to mean 0 and variance 1 over the data that
    the kernel is bound to, so that one width suits them all. In a sum it brings what a molecule is as a whole beside
    the neighbourhoods that fingerprints see: ``Descriptors() + Tanimoto(Morgan())``. Positive semi-definite where k is.
    Cost: RDKit's, about a millisecond a molecule for the default list.

    Parameters
    ----------
    kernel : Kernel, default=Gaussian("scale")
        A kernel of vectors.
    names : list of str, optional
        Names of RDKit's descriptors (``rdkit.Chem.Descriptors.descList``), and "FormalCharge". None: the fifteen that
        ``mercer fit`` uses.

    See Also
    --------
    Morgan : Neighbourhoods of atoms.
    Coulomb : Atoms in space.

    Examples
    --------
    >>> import mercer as mc
    >>> X = ["CCO", "CCCO", "c1ccccc1", "CC(=O)O"]
    >>> mc.Descriptors(mc.Gaussian(0.05), ["MolWt", "TPSA", "RingCount"])(X).round(2)
    array([[1.  , 0.93, 0.46, 0.85],
           [0.93, 1.  , 0.6 , 0.92],
           [0.46, 0.6 , 1.  , 0.45],
           [0.85, 0.92, 0.45, 1.  ]])
    >>> k = mc.Descriptors() + mc.Tanimoto(mc.Morgan())
    >>> mc.KernelRidge(kernel=k).fit(X, [1.0, 2.0, 3.0, 4.0]).predict(["CCO"]).shape
    (1,)
    """

    usage: ClassVar[str] = 'Descriptors(kernel=Gaussian("scale"), names=None)'
    domain: ClassVar[Domain] = Molecules()
    kernel: Kernel = Gaussian("scale")
    names: Sequence[str] | None = None

    @property
    def _data_driven(self) -> bool:
        return True

    @property
    def _columns(self) -> list[str]:
        return list(DESCRIPTORS if self.names is None else self.names)

    def _validate(self) -> None:
        names = self.names
        if names is not None and (isinstance(names, str) or not names or not all(isinstance(n, str) for n in names)):
            raise TypeError(
                coded(f"Descriptors(names={names!r}): names are a list of strings, or None for the usual ones.", "M205")
            )

    def bind(self, X: Samples, weights: Weights = None) -> Kernel:
        vectors = described(self.domain.check(X), self._columns)
        mean, spread = mean_and_deviation(vectors, check_weights(len(vectors), weights))
        rows = self.kernel.domain.check((vectors - mean) / spread)
        return Described(self.kernel.bind(rows, weights), np.stack([mean, spread]), self.names)


@kernel
class Described(Vectorised):
    """The same bound to data, by whose ``moments``, means and deviations, descriptors are standardised."""

    _internal: ClassVar[bool] = True
    domain: ClassVar[Domain] = Molecules()
    kernel: Kernel
    moments: Array = sample()
    names: Sequence[str] | None = None

    @property
    def _columns(self) -> list[str]:
        return list(DESCRIPTORS if self.names is None else self.names)

    def _descriptors(self, X: Samples) -> Array:
        """As they are, of which ``_between_descriptors`` is the kernel."""
        return described(self.domain.check(X), self._columns)

    @property
    def _between_descriptors(self) -> Kernel:
        return Shifted(self.kernel, *self.moments)

    def _redirect(self, X: Samples) -> Any:
        mean, spread = np.asarray(self.moments)
        return (self._descriptors(X) - mean) / spread


_FORMS = ("spectrum", "sorted")


@kernel
class Coulomb(Vectorised):
    """k of Coulomb matrices, Z_i Z_j/‖r_i − r_j‖ off the diagonal and ½ Z_i^2.4 on it, as vectors: atoms in space.

    With ``form`` "spectrum" the vector holds the eigenvalues, the largest in absolute value first; with "sorted" the
    matrix with its rows and columns in the order of the norms of its rows, the largest first, and each entry once, off
    the diagonal times √2. Either is the same when a structure is moved, turned or its atoms are listed in another order
    (of "sorted", rows of one norm apart); zeros fill up smaller structures. It is the same for mirror images as well,
    and different structures may have one spectrum. Positive semi-definite where k is. Cost: atoms³ a structure.

    Structures are pairs (elements, positions), xyz texts, ASE's ``Atoms``, or RDKit molecules with a conformer.
    Positions are taken in the units that they have: ångström and bohr give other values.

    Parameters
    ----------
    kernel : Kernel, default=Laplacian("scale")
        A kernel of vectors.
    form : {"spectrum", "sorted"}, default="spectrum"
        What is compared.
    size : int, optional
        The most atoms that a structure may have. None: as many as the largest has in the data that the kernel is bound
        to.

    See Also
    --------
    Descriptors : Numbers that need no positions.

    References
    ----------
    .. [1] M. Rupp, A. Tkatchenko, K.-R. Müller and O. A. von Lilienfeld. Fast and accurate modeling of molecular
       atomization energies with machine learning. Physical Review Letters 108, 2012.

    Examples
    --------
    >>> import mercer as mc
    >>> water = (["O", "H", "H"], [[0.0, 0.0, 0.12], [0.0, 0.76, -0.48], [0.0, -0.76, -0.48]])
    >>> stretched = (["O", "H", "H"], [[0.0, 0.0, 0.12], [0.0, 0.95, -0.48], [0.0, -0.95, -0.48]])
    >>> mc.Coulomb(mc.Laplacian(0.1))([water, stretched]).round(3)
    array([[1.   , 0.911],
           [0.911, 1.   ]])
    """

    usage: ClassVar[str] = 'Coulomb(kernel=Laplacian("scale"), form="spectrum", size=None)'
    domain: ClassVar[Domain] = Structures()
    kernel: Kernel = Laplacian("scale")
    form: str = "spectrum"
    size: int | None = None

    def _validate(self) -> None:
        if self.form not in _FORMS:
            raise ValueError(
                coded(f"Coulomb(form={self.form!r}): choose one of {', '.join(map(repr, _FORMS))}.", "M205")
            )
        if self.size is not None and not (isinstance(self.size, int | np.integer) and self.size >= 1):
            raise ValueError(
                coded(f"Coulomb(size={self.size!r}): size must be a whole number of at least 1, or None.", "M205")
            )

    @property
    def _data_driven(self) -> bool:
        return self.size is None or super()._data_driven

    @property
    def _columns(self) -> list[str]:
        n = int(self.size or 0)
        if self.form == "spectrum":
            return [f"eigenvalue {i + 1}" for i in range(n)]
        return [f"entry {i + 1}, {j + 1}" for i in range(n) for j in range(i, n)]

    def bind(self, X: Samples, weights: Weights = None) -> Kernel:
        if not self._data_driven:
            return self
        structures = self.domain.check(X)
        sized = self._replace(size=self.size or max((len(z) for z, _ in structures), default=1) or 1)
        return sized._replace(kernel=sized.kernel.bind(sized._redirect(structures), weights))

    def _redirect(self, X: Samples) -> Any:
        size = int(self.size or 0)
        rows = np.arange(size)
        upper = np.triu_indices(size)
        out = np.zeros((len(X), size if self.form == "spectrum" else len(upper[0])))
        for i, (elements, positions) in enumerate(self.domain.check(X)):
            n = len(elements)
            if n > size:
                raise DataError(
                    f"Item {i} of the structures has {n} atoms, more than the {size} that the kernel has room for; give"
                    f" the most that there will be: Coulomb(size={n}).",
                    "M106",
                )
            try:
                matrix = coulomb_matrix(elements, positions)
            except DataError as error:
                raise DataError(f"Item {i} of the structures: {error}.") from None
            if self.form == "spectrum":
                out[i, :n] = _by_size(np.linalg.eigvalsh(matrix))
            else:
                order = np.argsort(-np.linalg.norm(matrix, axis=1), kind="stable")
                whole = np.zeros((size, size))
                whole[:n, :n] = matrix[np.ix_(order, order)]
                out[i] = (whole * np.where(rows[:, None] == rows, 1.0, np.sqrt(2.0)))[upper]
        return out


def _by_size(values: Array) -> Array:
    return values[np.argsort(-np.abs(values), kind="stable")]
