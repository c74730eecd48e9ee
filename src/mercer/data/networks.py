"""One graph whose vertices are the samples. It owns what is computed from it once: Laplacians, spectra."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from weakref import finalize

import numpy as np
from scipy import sparse

from mercer.annotations import Index, Samples
from mercer.arrays import Array
from mercer.data.network_forms import weights_and_names
from mercer.data.objects import Domain, Nodes
from mercer.data.representations import Rep
from mercer.data.sequences import items_of
from mercer.data.tables import DataError, shown
from mercer.native.linalg import eigh
from mercer.runtime import threads

_CLOSE = 1e-10


@dataclass(frozen=True, eq=False, repr=False)
class Network:
    """A weighted undirected graph whose vertices are the samples, for the kernels between them.

    It is a value: two networks with the same weights and names are equal. What is computed from it (spectra, some
    columns) is kept as long as it lives, so give several kernels the same network.

    Parameters
    ----------
    W : matrix, graph, list or dict
        The graph: its symmetric matrix of weights, dense or sparse; a networkx or igraph graph (weights are the edge
        attribute ``weight``, 1 without; directed ones must be the same both ways); a ``mercer.Graph``; a list, or a
        table, of edges (u, v) or (u, v, weight) between vertices of any names; a dictionary of neighbours.
    names : sequence, optional
        The names of the vertices, in order. None: those that the graph has, or 0 … n − 1.
    signed : bool, default=False
        Whether weights may be negative.

    Raises
    ------
    DataError
        When the weights are not square, finite, symmetric and (unless ``signed``) at least 0.

    See Also
    --------
    Diffusion, RegularizedLaplacian, PStepWalk, CommuteTime : Kernels between its vertices.
    Graph : A graph that is one sample among others.

    Examples
    --------
    >>> import mercer as mc
    >>> network = mc.Network([("Ann", "Bob"), ("Bob", "Cid", 2.0)])
    >>> network.names, network.W.toarray().tolist()
    (['Ann', 'Bob', 'Cid'], [[0.0, 1.0, 0.0], [1.0, 0.0, 2.0], [0.0, 2.0, 0.0]])
    >>> mc.Diffusion(network, 0.5)(["Ann"], ["Bob", "Cid"]).round(3)
    array([[0.229, 0.103]])
    """

    W: Any
    names: Array | Sequence[Any] | None = None
    signed: bool = False

    def __post_init__(self) -> None:
        given, names = weights_and_names(self.W, self.names)
        W = sparse.csr_array(given).astype(np.float64)
        if W.shape[0] != W.shape[1]:
            raise DataError(f"The weights of a graph are a square matrix, got shape {W.shape}.", "M109")
        if not np.isfinite(W.data).all():
            raise DataError("The weights of a graph must be finite numbers.", "M101")
        if W.nnz and abs(W - W.T).max() > _CLOSE * max(1.0, abs(W).max()):
            raise DataError(
                "The weights of a graph must be symmetric: these kernels are for undirected graphs. Use (W + W.T) / 2"
                " if that is meant.",
                "M109",
            )
        if not self.signed and W.nnz and W.data.min() < 0:
            raise DataError(f"The weights of a graph must be at least 0, got {W.data.min():g}.", "M109")
        if names is not None and (len(names) != W.shape[0] or len(set(names)) != len(names)):
            raise DataError(f"There are {W.shape[0]} vertices; give as many names, each once.", "M109")
        object.__setattr__(self, "W", sparse.csr_array((W + W.T) / 2))
        object.__setattr__(self, "names", names)

    @classmethod
    def of(cls, graph: object, *, signed: bool = False) -> Network:
        """A network as it is; anything else that ``Network`` takes as one.

        Parameters
        ----------
        graph : Network, or what ``Network`` takes
            The graph.
        signed : bool, default=False
            Whether weights may be negative.

        Returns
        -------
        Network
            The network.
        """
        if isinstance(graph, Network):
            return graph if signed or not graph.signed else cls(graph.W, graph.names)
        return cls(graph, signed=signed)

    def __len__(self) -> int:
        return int(self.W.shape[0])

    def __repr__(self) -> str:
        return f"<network of {len(self)} vertices and {sparse.triu(self.W).nnz} edges>"

    def __deepcopy__(self, memo: Mapping[int, Any]) -> Network:
        return self  # a value

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Network):
            return NotImplemented
        return self is other or (
            self.names == other.names and self.W.shape == other.W.shape and (self.W != other.W).nnz == 0
        )

    def __hash__(self) -> int:
        return hash((self.W.shape, self.W.nnz, float(self.W.sum())))

    def operator(self, which: str) -> Any:
        """A matrix of the graph, in CSR form.

        Parameters
        ----------
        which : {"weights", "laplacian", "normalized"}
            W, D − W, or I − D^−½WD^−½ (0 in the rows of isolated vertices).

        Returns
        -------
        csr_array of shape (n, n)
            The matrix.
        """
        if which == "weights":
            return self.W
        degree = np.asarray(self.W.sum(axis=1)).ravel()
        if which == "laplacian":
            return sparse.csr_array(sparse.diags_array(degree) - self.W)
        root = np.where(degree > 0, 1.0 / np.sqrt(np.where(degree > 0, degree, 1.0)), 0.0)
        return sparse.csr_array(
            sparse.diags_array((degree > 0).astype(float))
            - sparse.diags_array(root) @ self.W @ sparse.diags_array(root)
        )

    def _made(self) -> dict[str, Any]:
        if id(self) not in _MADE:
            _MADE[id(self)] = {}
            finalize(self, _MADE.pop, id(self), None)
        return _MADE[id(self)]

    def spectrum(self, which: str) -> tuple[Any, Any]:
        """Eigenvalues and eigenvectors of an operator, computed once and kept.

        Parameters
        ----------
        which : {"weights", "laplacian", "normalized"}
            The operator.

        Returns
        -------
        values : ndarray of shape (n,)
            In ascending order.
        vectors : ndarray of shape (n, n)
            One in each column.
        """
        kept = self._made()
        if which not in kept:
            kept[which] = eigh(self.operator(which).toarray())
        found: tuple[Any, Any] = kept[which]
        return found

    def columns(self, key: str, ids: Array, make: Callable[[Array], Array], room: int) -> tuple[Any, Any]:
        """Columns of a kernel matrix that ``make`` computes for vertices, kept for the last ``key``.

        Parameters
        ----------
        key : str
            Which matrix they are of.
        ids : ndarray of int
            The vertices whose columns are asked for.
        make : callable
            Given vertices, returns their columns.
        room : int
            How many columns may be kept.

        Returns
        -------
        values : ndarray of shape (n, n_kept)
            The columns.
        place : ndarray of int
            Which of them are those of ``ids``.
        """
        with _LOCK:
            kept: Columns | None = self._made().get("columns")
            if kept is None or kept.key != key:
                kept = Columns(key, np.full(len(self), -1), np.empty((len(self), 0)))
            missing = np.unique(ids[kept.place[ids] < 0])
            if len(missing):
                values = kept.values if kept.values.shape[1] + len(missing) <= room else np.empty((len(self), 0))
                place = kept.place.copy() if values.shape[1] else np.full(len(self), -1)
                missing = np.unique(ids[place[ids] < 0])
                place[missing] = values.shape[1] + np.arange(len(missing))
                kept = Columns(key, place, np.concatenate([values, make(missing)], axis=1))
            if not threads.stopping():  # else they may be unfinished
                self._made()["columns"] = kept
            return kept.values, kept.place[ids]


@dataclass(frozen=True, eq=False)
class Columns:
    """Columns of one kernel matrix: ``values[:, place[v]]`` is that of vertex v, if ``place[v]`` ≥ 0."""

    key: str
    place: Array
    values: Array


_LOCK = threads.ForkSafeLock()
_MADE: dict[int, dict[str, Any]] = {}  # by the identity of the network, as long as it lives


@dataclass(frozen=True, eq=False)
class VertexIds:
    """Vertices by their numbers in the network, whatever their names."""

    ids: Array

    @property
    def shape(self) -> tuple[int]:
        return (len(self.ids),)

    def __len__(self) -> int:
        return len(self.ids)

    def __getitem__(self, rows: Index) -> VertexIds:
        return VertexIds(self.ids[rows])


@dataclass(frozen=True)
class Vertices(Domain):
    """The vertices of one network, by name, or by number where they have no names. The internal form is
    ``VertexIds``.
    """

    network: Network

    def check(self, X: Samples) -> Rep:
        names = self.network.names
        if isinstance(X, VertexIds):
            return X
        if names is None:
            return VertexIds(Nodes(len(self.network)).check(X))
        number = {name: k for k, name in enumerate(names)}
        items = [item.item() if isinstance(item, np.generic) else item for item in items_of(X, "vertices")]
        lost = next((i for i, item in enumerate(items) if item not in number), None)
        if lost is not None:
            raise DataError(
                f"Row {lost} is {shown(items[lost])}, which is not the name of a vertex of the graph.", "M109"
            )
        return VertexIds(np.array([number[item] for item in items], np.int64))
