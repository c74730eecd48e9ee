"""Kernels on molecules as graphs, with what their atoms are labelled by."""

from __future__ import annotations

from typing import Any, ClassVar

from mercer.annotations import Items, Samples
from mercer.data import Domain, Graphs
from mercer.data.invariants import Invariants
from mercer.kernels.base import Kernel, kernel
from mercer.kernels.compose.inputs import Redirected
from mercer.kernels.graphs.labelled import between_graphs
from mercer.kernels.occurrences import Occurrences
from mercer.troubles import coded


@kernel
class Atoms(Redirected):
    """k of molecules whose atoms are labelled by their element and, if wanted, charge (N+), chirality (C@R) and more.

    With ``chirality`` double bonds are labelled E or Z as well. Graphs that are no molecules stay as they are.
    """

    usage: ClassVar[str] = "k.atoms(charge=False, chirality=False, invariants=())"
    method_name: ClassVar[str] = "atoms"
    kernel: Kernel
    charge: bool = False
    chirality: bool = False
    invariants: Any = ()

    def _validate(self) -> None:
        Invariants.of(self.invariants)
        if not between_graphs(self.kernel):
            raise TypeError(
                coded(
                    f"atoms(): {self.kernel} is not a kernel between graphs, as PathBag(7); fingerprints have"
                    " chirality=True themselves.",
                    "M215",
                )
            )

    def _method_arguments(self) -> tuple[Any, ...]:
        return (self.charge, self.chirality, *([self.invariants] if self.invariants != () else []))

    @property
    def domain(self) -> Domain:  # type: ignore[override]
        found = self.kernel.domain
        return Graphs(
            charge=bool(self.charge),
            chirality=bool(self.chirality),
            invariants=Invariants.of(self.invariants) if self.invariants != () else None,
            numbers=isinstance(found, Graphs) and found.numbers,
        )

    def _to_store(self, X: Samples) -> Any:
        return self.domain.to_store(X)

    def _redirect(self, X: Samples) -> Any:
        return self.domain.check(X)

    def _occurrences(self, x: Items) -> Occurrences | None:
        return self.kernel._occurrences(x)

    def _names(self, X: Samples) -> dict[int, Any]:
        assert isinstance(self.domain, Graphs)
        return self.kernel._names(self.domain.graphs(X))
