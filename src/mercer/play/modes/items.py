"""Words and molecules: what is compared has no coordinates, but a matrix, a map, and parts that two items share."""

from __future__ import annotations

from typing import Any, ClassVar, cast

import numpy as np
from scipy import sparse

from mercer.compute import Compute, within
from mercer.estimators.kernel_pca import KernelPCA
from mercer.kernels.base import Kernel
from mercer.play.modes.base import Learner, Mode, Pictures, Trace
from mercer.play.state import State
from mercer.play.views import View
from mercer.troubles import CODE

_SHARED = 12  # parts that are shown
_WIDEST = "8MB"  # of features of two items
# the matrix of a constant kernel has none
_ALIGNMENT = "mc.alignment(K, (y[:, None] == y).astype(float)) if np.ptp(K) > 1e-12 * np.abs(K).max() else np.nan"


class OfItems(Mode):
    """Items, a line each."""

    shows = "items"
    given: ClassVar[tuple[tuple[str, int], ...]]  # the items that the page begins with

    @property
    def start(self) -> dict[str, Any]:
        return {"items": [list(item) for item in self.given]}

    numbers = (
        ("k of the two that are chosen", "K[i, j]"),
        ("their distance ‖φ(x) − φ(z)‖", "np.sqrt(max(K[i, i] + K[j, j] - 2 * K[i, j], 0.0))"),
        ("smallest eigenvalue", "np.linalg.eigvalsh(K)[0]"),
    )

    def shown(self, state: State) -> tuple[tuple[str, str], ...]:
        if len(np.unique(state.data.y)) < 2:
            return self.numbers
        return (*self.numbers, ("alignment with the labels", _ALIGNMENT))

    def lines(self, state: State) -> list[str]:
        i, j = state.pair
        return ["K = kernel.bind(X).gram(X).dense().astype(float)", f"i, j = {i}, {j}"]

    def pictures(self, state: State, trace: Trace) -> Pictures:
        X, y, (i, j) = state.data.X, state.data.y, state.pair
        kernel = state.kernel.bind(X)
        K = np.asarray(kernel.gram(X).dense(), np.float64)
        data = {"numbers": self.measured(state, K=K, i=i, j=j, y=y), "items": X, "pair": [i, j]}
        arrays = {"labels": np.asarray(y), "places": _map(kernel, X, K)}
        yield View("items", data | self.drawn(X), arrays)
        yield View("shared", {"pair": [i, j], **_shared(kernel, [X[i], X[j]])})
        return None

    def drawn(self, X: list[str]) -> dict[str, Any]:
        """Pictures of the items, where there are any."""
        return {}


def _map(kernel: Kernel, X: list[str], K: np.ndarray) -> np.ndarray:
    """Two principal components in the space of the kernel; a line where there are none."""
    if len(X) < 3 or np.ptp(K) <= 1e-12 * np.abs(K).max():
        return np.column_stack([np.arange(len(X), dtype=float), np.zeros(len(X))])
    Z = np.asarray(KernelPCA(2, kernel, random_state=0).fit_transform(X), np.float64)
    # a component has no sign of its own: one is chosen, so that the same items lie at the same places
    Z = Z * np.where(Z[np.abs(Z).argmax(axis=0), np.arange(Z.shape[1])] < 0, -1.0, 1.0)
    return np.hstack([Z, np.zeros((len(X), max(0, 2 - Z.shape[1])))])


def _shared(kernel: Kernel, two: list[str]) -> dict[str, Any]:
    """The features that add most to k(x, z), by name: of the kernel, or of the first part that has any."""
    part = next((part for part in kernel._parts() if part.explicit), None)
    if part is None:
        return {"why": "This kernel has no list of features: its values are all that is known."}
    try:
        with within(Compute(memory=_WIDEST)):
            F, names = part.features(two), part.feature_names(two)
    except (MemoryError, OverflowError):
        return {"why": f"The features of {part} are too many to list."}
    except (TypeError, ValueError, NotImplementedError) as error:
        return {"why": CODE.sub("", str(error)).rstrip()}
    F = np.asarray(cast("Any", F).toarray() if sparse.issparse(F) else F, np.float64)
    product = F[0] * F[1]
    best = np.argsort(-np.abs(product), kind="stable")[:_SHARED]
    rows = [
        {"name": str(names[f]), "first": F[0, f], "second": F[1, f], "product": product[f]}
        for f in best
        if product[f] != 0
    ]
    return {"of": str(part), "rows": rows, "count": int(np.count_nonzero(product))}


class Words(OfItems):
    name, title = "words", "Words"
    question = "Which strings are alike, and by which pieces?"
    learners: ClassVar[dict[str, Learner]] = {"compare": Learner("Compare", ())}
    # endings of English nouns, of verbs, and of adjectives
    given = (
        ("education", 0), ("relation", 0), ("creation", 0), ("nation", 0),
        ("creating", 1), ("relating", 1), ("learning", 1), ("earning", 1),
        ("creative", 2), ("relative", 2), ("native", 2), ("talkative", 2),
    )  # fmt: skip
    domains = ("Sequences", "Texts", "Anything")
    kernel = "Spectrum(k=2).normalized()"
    suggested = (
        "Spectrum(k=2).normalized()", "Spectrum(k=3).normalized()", "Gappy(g=4, k=2).normalized()",
        "Subsequence(length=2).normalized()", "Mismatch(k=3, m=1).normalized()", "Substring().normalized()",
        "LocalAlignment()", "Spectrum(k=1).normalized() + Spectrum(k=3).normalized()",
    )  # fmt: skip


class Molecules(OfItems):
    name, title = "molecules", "Molecules"
    question = "Which molecules are alike, and by which fragments? One SMILES in a line."
    learners: ClassVar[dict[str, Learner]] = {"compare": Learner("Compare", ())}
    # alcohols, carboxylic acids, and derivatives of benzene
    given = (
        ("CO", 0), ("CCO", 0), ("CCCO", 0), ("CC(C)O", 0),
        ("OC=O", 1), ("CC(=O)O", 1), ("CCC(=O)O", 1), ("CCCC(=O)O", 1),
        ("Cc1ccccc1", 2), ("Oc1ccccc1", 2), ("Nc1ccccc1", 2), ("CC(=O)Oc1ccccc1C(=O)O", 2),
    )  # fmt: skip
    domains = ("Molecules", "Graphs", "Sets", "Anything")
    kernel = "Tanimoto(Morgan(radius=2))"
    suggested = (
        "Tanimoto(Morgan(radius=2))", "WeisfeilerLehman(depth=2).normalized()", "Tanimoto(PathBag(5))",
        "ShortestPath().normalized()", "Tanimoto(TopologicalPaths())", "VertexHistogram().normalized()",
    )  # fmt: skip

    def drawn(self, X: list[str]) -> dict[str, Any]:
        from mercer.play.drawings import drawings

        return {"drawings": drawings(tuple(X))}
