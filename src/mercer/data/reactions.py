"""Reactions: what is there before, what helps, and what is there after."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from mercer.annotations import Samples
from mercer.data.objects import Domain
from mercer.data.representations import Rep
from mercer.data.sequences import is_missing, items_of
from mercer.data.tables import DataError, shown

SIDES = ("reactants", "agents", "products")


@dataclass(frozen=True)
class Reactions(Domain):
    """Reaction SMILES, "A.B>C>D" or "A.B>>D"; pairs (reactants, products) and triples with agents between them, of
    SMILES; RDKit's reactions. The internal form is a list of triples of SMILES, each side one text.
    """

    def check(self, X: Samples) -> Rep:
        if isinstance(X, str) or hasattr(X, "GetReactants"):
            raise DataError("Expected a collection of reactions, got one; put it in a list: [reaction].", "M103")
        return [_sides(i, item) for i, item in enumerate(items_of(X, "reactions"))]

    def labels(self, X: Samples) -> list[list[Any]] | None:
        """The atoms of the reactants, of the agents and of the products, in this order."""
        from mercer.data.molecules import Molecules

        return [[atom for side in Molecules().labels(list(sides)) or [] for atom in side] for sides in self.check(X)]

    def to_store(self, X: Samples) -> Any:
        return [">".join(sides) for sides in self.check(X)]


def _sides(i: int, item: object) -> tuple[str, str, str]:
    if is_missing(item):
        raise DataError(f"Item {i} of the reactions is missing ({item}); drop it.", "M101")
    if hasattr(item, "GetReactants"):
        from mercer.data.molecules import reaction_smiles

        item = reaction_smiles(item)
    if isinstance(item, str):
        # what follows after a blank is an extension, |...|, or a name
        parts = (item.split() or [""])[0].split(">")
        if len(parts) != 3:
            raise DataError(
                f"Item {i} of the reactions is {shown(item)}, with {len(parts) - 1} signs >; write reactants>agents>"
                "products, as in CCO.CC(=O)O>>CC(=O)OCC, where there may be no agents.",
                "M107",
            )
    elif isinstance(item, tuple | list) and len(item) in (2, 3) and all(isinstance(side, str) for side in item):
        parts = [item[0], "", item[1]] if len(item) == 2 else list(item)
    else:
        raise DataError(
            f"Item {i} of the reactions is {shown(item)}; give reaction SMILES, reactants>agents>products, or pairs"
            " (reactants, products) of SMILES.",
            "M107",
        )
    reactants, agents, products = parts
    return reactants, agents, products
