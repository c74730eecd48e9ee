"""Contributions of features, and of the places they cover, in strings, texts, graphs and molecules.

k(x, x_i) is shared among the occurrences of features in x. A kernel with features φ gives each occurrence of a feature
its part of φ(x) times φ(x_i). A sum has the occurrences of all its terms; a product of D factors gives 1/D of its value
to each of them, shared as the factor's own; and a kernel around one other (scaled, normalised, Tanimoto's, a power, …)
shares as the one inside, in proportion, pair by pair. What has no occurrence in x (a constant, a value where the kernel
inside is 0) is a part of its own, called "constant". A place has an even share of each occurrence that covers it.

f = Σ_i α_i k(·, x_i) needs no shares pair by pair: the weights α_i go down the kernel, from the outside in, and are
multiplied there by what the outside makes of the inside.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from mercer import arrays
from mercer.annotations import Samples
from mercer.arrays import Array
from mercer.data import HashedRows, Ragged, stack, take
from mercer.explanations.result import Explanation
from mercer.functions import RKHSFunction
from mercer.kernels.base import Kernel
from mercer.kernels.occurrences import stretches
from mercer.runtime import watch
from mercer.troubles import coded

CONSTANT = "constant"


class Shares(NamedTuple):
    """The contributions of the features of one kernel, and the occurrences among which they are shared: occurrence o
    is of the feature ``of[o]``.
    """

    source: Leaf
    codes: Array
    values: Array  # (features, outputs)
    of: Array
    places: Ragged


class NoPlaces(TypeError):
    """A kernel that does not say where its features come from."""


class Part:
    """A kernel, or one that it is made of, between samples and centres."""

    def shares(self, i: int, weights: Array) -> Iterator[Shares | Array]:
        """Those of Σ_j weights_j k(x_i, c_j), weights (centres, outputs); what no feature has as (outputs,) alone."""
        raise NotImplementedError


@dataclass(frozen=True, eq=False)
class Leaf(Part):
    """A kernel with features whose occurrences are known."""

    kernel: Kernel
    raw: Samples  # the samples as they are
    items: Samples  # checked
    features: HashedRows
    columns: sparse.csc_array  # the features of the centres, one column for each code
    codes: Array  # those codes, in order

    @classmethod
    def of(cls, k: Kernel, X: Samples, centers: Samples) -> Leaf:
        items = k.domain.check(X)
        matrix, codes = HashedRows.of(k._features(k._prepared(k.domain.check(centers), k.domain))).tocsr()
        return cls(k, X, items, HashedRows.of(k._features(k._prepared(items, k.domain))), matrix.tocsc(), codes)

    def shares(self, i: int, weights: Array) -> Iterator[Shares | Array]:
        own = slice(*self.features.offsets[i : i + 2])
        codes, amounts = self.features.codes[own], self.features.values[own]
        place = np.minimum(np.searchsorted(self.codes, codes), max(0, len(self.codes) - 1))
        known = self.codes[place] == codes if len(self.codes) else np.zeros(len(codes), bool)
        codes, worth = codes[known], amounts[known, None] * (self.columns[:, place[known]].T @ weights)
        order = np.argsort(codes)
        codes, worth = codes[order], worth[order]
        found = self.kernel._occurrences(take(self.items, slice(i, i + 1)))
        assert found is not None
        of = np.searchsorted(codes, found.codes)
        there = np.append(codes, codes[:1])[np.minimum(of, len(codes))] == found.codes if len(codes) else of < 0
        of, places = of[there], found.places.take(np.flatnonzero(there))
        # a feature that nobody says the places of is of the whole item
        nowhere = np.setdiff1d(np.arange(len(codes)), of)
        if len(nowhere):
            whole = stretches(np.zeros(len(nowhere), np.int64), np.full(len(nowhere), found.size))
            of, places = np.concatenate([of, nowhere]), stack(places, whole)
        yield Shares(self, codes, worth, of, places)

    def names(self, i: int) -> dict[int, Any]:
        try:
            return self.kernel._names(take(self.raw, slice(i, i + 1)))
        except (TypeError, NotImplementedError):
            return {}


@dataclass(frozen=True, eq=False)
class Blind(Part):
    """A kernel that does not look at the samples."""

    values: Array

    def shares(self, i: int, weights: Array) -> Iterator[Shares | Array]:
        yield self.values[i] @ weights


@dataclass(frozen=True, eq=False)
class Added(Part):
    """A sum."""

    terms: list[Part]

    def shares(self, i: int, weights: Array) -> Iterator[Shares | Array]:
        for term in self.terms:
            yield from term.shares(i, weights)


@dataclass(frozen=True, eq=False)
class Around(Part):
    """A kernel around one or several others, which have even parts of it."""

    values: Array
    inside: list[tuple[Part, Array]]

    def shares(self, i: int, weights: Array) -> Iterator[Shares | Array]:
        share = 1.0 / len(self.inside)
        for part, values in self.inside:
            there = values[i] != 0
            ratio = np.where(there, self.values[i] / np.where(there, values[i], 1.0), 0.0)
            yield from part.shares(i, share * ratio[:, None] * weights)
            if not there.all():
                yield share * np.where(there, 0.0, self.values[i]) @ weights


def part_of(k: Kernel, X: Samples, centers: Samples) -> Part:
    """The parts of a kernel that is bound; ``NoPlaces`` where one of them does not know its occurrences."""
    if k._blind:
        return Blind(_values(k, X, centers))
    listed = k._listed()
    if listed.explicit and listed._occurrences(take(listed.domain.check(X), slice(0, 1))) is not None:
        return Leaf.of(listed, X, centers)
    if len(k._summands()) > 1:
        return Added([part_of(term, X, centers) for term in k._summands()])
    inside = [child for _, child in k._children()]
    if not inside or not k._same_items:
        raise NoPlaces(
            coded(
                f"{k} does not say where in an item its features are, so that its values cannot be shared among"
                " places; ask"
                ' by="sample".',
                "M311",
            )
        )
    return Around(_values(k, X, centers), [(part_of(c, X, centers), _values(c, X, centers)) for c in inside])


def _values(k: Kernel, X: Samples, centers: Samples) -> Array:
    return np.asarray(arrays.to_numpy(k.gram(X, centers).dense()), np.float64)


def has_places(k: Kernel, X: Samples) -> bool:
    """Whether answers can be shared among the places of these samples."""
    try:
        one = take(X, slice(0, 1))
        return bool(len(k.domain.labels(one) or [])) and part_of(k, one, one) is not None
    except (NoPlaces, TypeError):
        return False


def by_feature(f: RKHSFunction, X: Samples) -> list[Explanation]:
    """The contribution of each feature that x and a centre have in common."""
    out = []
    for i, (found, rest) in enumerate(_shares(f, X)):
        names: list[Any] = []
        places: list[tuple[int, ...]] = []
        for shares in found:
            known, noun = shares.source.names(i), type(shares.source.kernel).__name__
            names += [known.get(code, f"{noun} {code:x}") for code in shares.codes.tolist()]
            covered: list[set[int]] = [set() for _ in shares.codes]
            for feature, each in zip(shares.of.tolist(), shares.places, strict=True):
                covered[feature].update(each.tolist())
            places += [tuple(sorted(each)) for each in covered]
        values = [shares.values for shares in found]
        if rest.any():
            names, places, values = [*names, CONSTANT], [*places, ()], [*values, rest[None]]
        together = np.concatenate([np.zeros((0, _outputs(f))), *values])
        out.append(Explanation("feature", names, _shaped(f, together), base_of(f), None, places))
    return out


def by_place(f: RKHSFunction, X: Samples) -> list[Explanation]:
    """The contribution of each place of x: its share of every occurrence of a feature that covers it."""
    labels = f.kernel.domain.labels(X)
    if labels is None:
        raise NoPlaces(coded(f'The items that {f.kernel} compares have no places; ask by="sample".', "M311"))
    out = []
    for own, (found, rest) in zip(labels, _shares(f, X), strict=True):
        values, names = np.zeros((len(own), _outputs(f))), list[Any](range(len(own)))
        for shares in found:
            often, wide = np.bincount(shares.of, minlength=len(shares.codes)), shares.places.lengths
            each = shares.values[shares.of] / (often[shares.of] * np.maximum(wide, 1))[:, None]
            np.add.at(values, shares.places.values, np.repeat(each, wide, axis=0))
            rest = rest + each[wide == 0].sum(axis=0)
        if rest.any() or not names:
            values, names, own = np.vstack([values, rest]), [*names, CONSTANT], [*own, ""]
        out.append(Explanation("place", names, _shaped(f, values), base_of(f), None, None, own))
    return out


def _shares(f: RKHSFunction, X: Samples) -> Iterator[tuple[list[Shares], Array]]:
    """Of each sample, the shares of the function's features, and what belongs to none."""
    part = part_of(f.kernel, X, f.centers)
    weights = np.asarray(arrays.to_numpy(f.coef), np.float64).reshape(len(f.coef), -1)
    for i in range(len(X)):
        watch.look()
        found = list(part.shares(i, weights))
        rest = [each for each in found if not isinstance(each, Shares)]
        yield [each for each in found if isinstance(each, Shares)], np.sum([np.zeros(weights.shape[1]), *rest], axis=0)


def _outputs(f: RKHSFunction) -> int:
    return 1 if np.ndim(f.coef) == 1 else int(f.coef.shape[1])


def _shaped(f: RKHSFunction, values: Array) -> Array:
    return values.reshape(-1) if np.ndim(f.coef) == 1 else values.reshape(-1, _outputs(f))


def base_of(f: RKHSFunction) -> Any:
    found = np.broadcast_to(np.asarray(f.bias, np.float64), np.shape(f.coef)[1:]).copy()
    return float(found) if found.ndim == 0 else found
