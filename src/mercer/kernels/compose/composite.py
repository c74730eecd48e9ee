"""Kernels made of kernels: how the parts look at the data."""

from __future__ import annotations

from typing import Any, ClassVar

from mercer.annotations import Samples
from mercer.data import Anything, Domain, Vectors
from mercer.kernels.base import Kernel


class Composite(Kernel):
    """A kernel made of kernels. Of parts that are all of one domain it is of that domain, which checks the data for all
    of them; of parts that are all of vectors, of vectors; else each part checks the data for itself.
    """

    usage: ClassVar[str] = ""  # how one writes it, for the inventory
    # whether it is written around another kernel, by whose name it goes in a sum: k.normalized(), 2 * k
    around: ClassVar[bool] = False

    @property
    def domain(self) -> Domain:  # type: ignore[override]
        domains = [child.domain for _, child in self._children() if not child._blind]
        if domains and all(domain == domains[0] for domain in domains):
            return domains[0]
        vectors = [domain for domain in domains if isinstance(domain, Vectors)]
        return (
            Vectors(missing=all(domain.missing for domain in vectors))
            if vectors and len(vectors) == len(domains)
            else Anything()
        )

    @property
    def _rotation_invariant(self) -> bool:  # type: ignore[override]
        return all(child._rotation_invariant for _, child in self._children())

    def _enter_part(self, part: Kernel, X: Samples) -> Any:
        """Data that this kernel's domain has checked, as a part of it prepares them."""
        return part._prepared(X, self.domain)


class OfOne(Composite):
    """A kernel made of one other, which prepares the items."""

    kernel: Kernel

    def _prepare(self, X: Samples) -> Any:
        return self._enter_part(self.kernel, X)

    def _pull_back(self, X: Samples, gradients: Any) -> Any:
        return self.kernel._pulled_back(X, gradients)
