"""The picture of a molecule whose atoms are coloured by what they contribute."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from mercer.annotations import Estimator
from mercer.arrays import Array
from mercer.data.molecules import molecule_svg
from mercer.explanations.explain import explain
from mercer.explanations.result import Explanation
from mercer.troubles import coded

if TYPE_CHECKING:
    from rdkit import Chem

_UP, _DOWN = np.array([0.84, 0.37, 0.0]), np.array([0.0, 0.45, 0.70])  # vermilion and blue
_SIZE = 320, 220


@dataclass(eq=False)
class MoleculeDisplay:
    """A molecule whose atoms are coloured: vermilion where they push the answer up, blue where they push it down.

    Made by ``from_estimator`` or ``from_explanation``; ``plot`` draws it again, in another size. It is an SVG, drawn by
    RDKit, which notebooks show; ``save`` writes it to a file.

    Parameters
    ----------
    molecule : str or rdkit.Chem.Mol
        The molecule.
    values : ndarray of shape (n_atoms,)
        What each atom contributes.
    scale : float, optional
        The contribution that has the full colour: the same for molecules that are compared. None: the largest here.

    Attributes
    ----------
    svg_ : str
        The picture.

    See Also
    --------
    explain : Where contributions come from.

    Examples
    --------
    >>> import numpy as np
    >>> import mercer as mc
    >>> smiles = ["CCO", "CCN", "CCC", "OCC(O)C"]
    >>> ridge = mc.KernelRidge(0.1, kernel=mc.Morgan(1)).fit(smiles, [1.0, 0.0, 0.0, 2.0])
    >>> display = mc.MoleculeDisplay.from_estimator(ridge, "CCCO")
    >>> int(np.argmax(display.values)), "<svg" in display.svg_
    (3, True)
    """

    molecule: str | Chem.Mol
    values: Array
    scale: float | None = None
    svg_: str = field(init=False, repr=False)

    @classmethod
    def from_estimator(
        cls, estimator: Estimator, molecule: str | Chem.Mol, *, output: int | None = None, scale: float | None = None
    ) -> MoleculeDisplay:
        """A molecule as a machine sees it.

        Parameters
        ----------
        estimator : fitted estimator or RKHSFunction
            A machine over a kernel that says where in a molecule its features are: ``Morgan``, ``PathBag``,
            ``WeisfeilerLehman`` and what is made of them.
        molecule : str or rdkit.Chem.Mol
            The molecule.
        output : int, optional
            Which function, where there are several.
        scale : float, optional
            The contribution that has the full colour. None: the largest here.

        Returns
        -------
        MoleculeDisplay
        """
        return cls.from_explanation(explain(estimator, [molecule], "place")[0], molecule, output=output, scale=scale)

    @classmethod
    def from_explanation(
        cls,
        explanation: Explanation,
        molecule: str | Chem.Mol,
        *,
        output: int | None = None,
        scale: float | None = None,
    ) -> MoleculeDisplay:
        """A molecule by an explanation that is at hand, of ``by="place"``; parameters as in ``from_estimator``."""
        if explanation.by != "place":
            raise ValueError(
                coded(
                    f'Atoms are coloured by an explanation by="place", and this one is by "{explanation.by}".', "M311"
                )
            )
        values = explanation.values
        if values.ndim > 1:
            if output is None:
                raise ValueError(coded(f"The machine has {values.shape[1]} functions; say which: output=0, ….", "M205"))
            values = values[:, output]
        atoms = [i for i, name in enumerate(explanation.names) if name != "constant"]
        return cls(molecule, np.asarray(values[atoms]), scale).plot()

    def plot(self, size: tuple[int, int] = _SIZE) -> MoleculeDisplay:
        """Draw it.

        Parameters
        ----------
        size : (int, int), default=(320, 220)
            Width and height, in pixels.

        Returns
        -------
        MoleculeDisplay
            This one.
        """
        self.svg_ = molecule_svg(self.molecule, coloured(self.values, self.scale), size)
        return self

    def save(self, path: str | Path) -> None:
        """Write the picture to an SVG file."""
        Path(path).write_text(self.svg_, encoding="utf-8")

    def _repr_svg_(self) -> str:
        return self.svg_


def coloured(values: Array, scale: float | None = None) -> list[tuple[float, float, float]]:
    """A colour for each value: white at 0, full at ±``scale``, or at the largest."""
    largest = scale or max(float(np.abs(values).max(initial=0.0)), 1e-300)
    shares = np.clip(np.asarray(values) / largest, -1.0, 1.0)
    tints = [1.0 + abs(s) * ((_UP if s > 0 else _DOWN) - 1.0) for s in shares]
    return [(float(r), float(g), float(b)) for r, g, b in tints]
