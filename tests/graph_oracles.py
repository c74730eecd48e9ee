"""Brute-force kernels on graphs, trees, nodes and generative models for the tests: the literal definitions, enumerated,
slow on purpose.

Nothing here comes from the library. Each oracle on graphs is called `name(x, z, **parameters)` with one `Plain` graph
each side, both directed or both undirected. Two labels are the same when they are `==`; such labels must have one
`repr`, by which they are put in order.
"""

import functools
import itertools
import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import expm
from scipy.sparse.csgraph import connected_components

from tests.oracles import Oracle

Matrix = NDArray[np.float64]
Tree = tuple[Any, ...]


# --- graphs
# -------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Plain:
    """(labels, edges): vertex i has labels[i] (and attributes[i]), edges[u, v] is the label of the edge from u to v
    (None: unlabelled).

    An undirected edge is stored once, as (u, v) with u ≤ v. (u, u) is a self-loop. There are no multiple edges.
    """

    labels: tuple[Any, ...]
    edges: dict[tuple[int, int], Any]
    directed: bool = False
    attributes: tuple[Any, ...] | None = None

    def __post_init__(self) -> None:
        for u, v in self.edges:
            if not (0 <= u < len(self.labels) and 0 <= v < len(self.labels)) or (u > v and not self.directed):
                raise ValueError(f"no edge of this graph: {(u, v)}")
        if self.attributes is not None and len(self.attributes) != len(self.labels):
            raise ValueError("one attribute per vertex")


def random_plain(
    rng: np.random.Generator,
    n_max: int = 6,
    n_labels: int = 3,
    n_edge_labels: int = 1,
    directed: bool = False,
    loops: bool = False,
    density: float = 0.4,
) -> Plain:
    """n uniform in 0, …, n_max; labels uniform in "A", "B", …; each possible edge there with probability `density`.

    Edge labels are None when n_edge_labels = 1, else uniform in 0, …, n_edge_labels − 1. Where loops are allowed, each
    vertex has one with probability `density`; in a directed graph (u, v) and (v, u) are two edges.
    """
    n = int(rng.integers(0, n_max + 1))
    labels = tuple(chr(ord("A") + int(rng.integers(n_labels))) for _ in range(n))
    edges: dict[tuple[int, int], Any] = {}
    for u, v in itertools.product(range(n), repeat=2):
        if (u == v and not loops) or (u > v and not directed):
            continue
        if rng.random() < density:
            edges[u, v] = None if n_edge_labels == 1 else int(rng.integers(n_edge_labels))
    return Plain(labels, edges, directed)


def _edge(u: int, v: int, directed: bool) -> tuple[int, int]:
    """(u, v) as the key of an edge: as it is if directed, else the smaller first."""
    return (u, v) if directed else (min(u, v), max(u, v))


def relabelled(g: Plain, permutation: Sequence[int]) -> Plain:
    """The isomorphic copy of g in which vertex i of g is vertex permutation[i]."""
    target = [int(i) for i in permutation]
    if sorted(target) != list(range(len(g.labels))):
        raise ValueError("not a permutation of the vertices")
    source = [target.index(i) for i in range(len(target))]
    return Plain(
        labels=tuple(g.labels[i] for i in source),
        edges={_edge(target[u], target[v], g.directed): label for (u, v), label in g.edges.items()},
        directed=g.directed,
        attributes=None if g.attributes is None else tuple(g.attributes[i] for i in source),
    )


def steps(g: Plain) -> list[tuple[int, int, Any]]:
    """[(u, v, edge label)]: u → v for a directed edge; u → v and v → u for an undirected one; u → u, once, for a
    self-loop.
    """
    found = []
    for (u, v), label in g.edges.items():
        found.append((u, v, label))
        if u != v and not g.directed:
            found.append((v, u, label))
    return found


def _ordered(items: Iterable[Any]) -> tuple[Any, ...]:
    """The multiset as a tuple, sorted by `repr`."""
    return tuple(sorted(items, key=repr))


def dot(a: Mapping[Any, int], b: Mapping[Any, int]) -> float:
    """Σ_f a_f b_f."""
    return float(sum(n * b.get(feature, 0) for feature, n in a.items()))


# --- walks
# --------------------------------------------------------------------------------------------------------------------


def walks(g: Plain, length: int) -> list[tuple[int, ...]]:
    """All (v_0, …, v_length) with a step from each v_i to v_{i+1}."""
    found: list[tuple[int, ...]] = [(v,) for v in range(len(g.labels))]
    for _ in range(length):
        found = [(*walk, v) for walk in found for u, v, _ in steps(g) if u == walk[-1]]
    return found


def sequence(g: Plain, vertices: Sequence[int]) -> tuple[Any, ...]:
    """(label v_0, label of the edge v_0 v_1, label v_1, …, label v_l)."""
    read = [g.labels[vertices[0]]]
    for u, v in itertools.pairwise(vertices):
        read += [g.edges[_edge(u, v, g.directed)], g.labels[v]]
    return tuple(read)


def walk(x: Plain, z: Plain, length: int) -> float:
    """Σ_s n_s(x) n_s(z), n_s(x) the number of walks of exactly `length` edges in x that read s (vertex and edge labels
    in turn).
    """
    return dot(Counter(sequence(x, w) for w in walks(x, length)), Counter(sequence(z, w) for w in walks(z, length)))


def product_graph(x: Plain, z: Plain) -> Matrix:
    """A[(u, v), (u', v')] = 1 if u → u' in x and v → v' in z with one edge label, over the pairs (u, v) of vertices
    with one label.
    """
    pairs = [(u, v) for u in range(len(x.labels)) for v in range(len(z.labels)) if x.labels[u] == z.labels[v]]
    adjacency = np.zeros((len(pairs), len(pairs)))
    for u, u_next, label_x in steps(x):
        for v, v_next, label_z in steps(z):
            if (u, v) in pairs and (u_next, v_next) in pairs and label_x == label_z:
                adjacency[pairs.index((u, v)), pairs.index((u_next, v_next))] = 1.0
    return adjacency


def spectral_radius(adjacency: Matrix) -> float:
    """max |eigenvalue|, taken over the strongly connected components one by one: exactly 0 when there is no cycle."""
    if len(adjacency) == 0:
        return 0.0
    count, component = connected_components(adjacency, directed=True, connection="strong")
    blocks = [adjacency[np.ix_(component == c, component == c)] for c in range(count)]
    return max(float(np.abs(np.linalg.eigvals(block)).max()) for block in blocks)


def geometric_walk(x: Plain, z: Plain, decay: float) -> float:
    """Σ_{l≥0} decay^l walk(x, z, l) = 1ᵀ (I − decay A)^−1 1, A the product graph; ValueError unless decay ρ(A) < 1 (to
    within 1e-12).
    """
    adjacency = product_graph(x, z)
    if abs(decay) * spectral_radius(adjacency) >= 1 - 1e-12:
        raise ValueError("the series diverges")
    ones = np.ones(len(adjacency))
    return float(ones @ np.linalg.solve(np.eye(len(adjacency)) - decay * adjacency, ones))


def geometric_walk_series(x: Plain, z: Plain, decay: float, longest: int = 200) -> float:
    """Σ_{l=0..longest} decay^l 1ᵀ A^l 1, A the product graph."""
    adjacency = product_graph(x, z)
    power = np.eye(len(adjacency))
    terms = []
    for _ in range(longest + 1):
        terms.append(float(power.sum()))
        power = decay * (power @ adjacency)
    return math.fsum(terms)


# --- paths
# --------------------------------------------------------------------------------------------------------------------


def path_features(g: Plain, length: int) -> Counter[Any]:
    """n_s: how many simple paths of 0, …, length edges read s = (vertex label, edge label, vertex label, …); no vertex
    occurs twice.

    An undirected path counts once, not once from each end, and reads the smaller (by `repr`) of s and s reversed.
    """
    features: Counter[Any] = Counter()
    for edges in range(length + 1):
        for path in walks(g, edges):
            if len(set(path)) < len(path):
                continue
            read = sequence(g, path)
            if g.directed:
                features[read] += 1
            elif path[0] <= path[-1]:
                features[min(read, read[::-1], key=repr)] += 1
    return features


def _path_counts(g: Plain, length: int, counts: bool) -> Counter[Any]:
    """n_s, or 1[n_s > 0] when not `counts`."""
    return Counter({s: n if counts else 1 for s, n in path_features(g, length).items()})


def path_bag(x: Plain, z: Plain, length: int, counts: bool = False) -> float:
    """Σ_s n_s(x) n_s(z) over the label sequences s of simple paths of at most `length` edges; 1[n_s > 0] in place of
    n_s when not `counts`.
    """
    return dot(_path_counts(x, length, counts), _path_counts(z, length, counts))


def path_tanimoto(x: Plain, z: Plain, length: int, counts: bool = False) -> float:
    """k(x, z)/(k(x, x) + k(z, z) − k(x, z)), k = path_bag; 0 when both graphs are empty."""
    k = path_bag(x, z, length, counts)
    denominator = path_bag(x, x, length, counts) + path_bag(z, z, length, counts) - k
    return k / denominator if denominator else 0.0


def path_minmax(x: Plain, z: Plain, length: int, counts: bool = True) -> float:
    """Σ_s min(n_s(x), n_s(z)) / Σ_s max(n_s(x), n_s(z)), n_s as in path_bag; 0 when both graphs are empty."""
    of_x, of_z = _path_counts(x, length, counts), _path_counts(z, length, counts)
    sequences = set(of_x) | set(of_z)
    largest = sum(max(of_x[s], of_z[s]) for s in sequences)
    return sum(min(of_x[s], of_z[s]) for s in sequences) / largest if largest else 0.0


# --- histograms, shortest paths
# -----------------------------------------------------------------------------------------------


def vertex_histogram(x: Plain, z: Plain) -> float:
    """Σ_a n_a(x) n_a(z), n_a the number of vertices with the label a."""
    return dot(Counter(x.labels), Counter(z.labels))


def edge_histogram(x: Plain, z: Plain) -> float:
    """Σ_b n_b(x) n_b(z), n_b the number of edges (loops too) with the edge label b, whatever the labels of their
    ends.
    """
    return dot(Counter(x.edges.values()), Counter(z.edges.values()))


def edge_ends_histogram(x: Plain, z: Plain) -> float:
    """Σ n(x) n(z), n the number of edges (loops too) with ({label u, label v}, edge label); (label u, label v, edge
    label) if directed.
    """

    def counts(g: Plain) -> Counter[Any]:
        ends = {(u, v): (g.labels[u], g.labels[v]) for u, v in g.edges}
        return Counter((ends[e] if g.directed else _ordered(ends[e]), label) for e, label in g.edges.items())

    return dot(counts(x), counts(z))


def distances(g: Plain) -> dict[tuple[int, int], int]:
    """{(u, v): the least number of edges of a walk from u to v}, u = v too, for the pairs that have one."""
    found = {(v, v): 0 for v in range(len(g.labels))}
    for hops in range(1, len(g.labels)):
        ahead = {(s, v) for (s, u), d in found.items() if d == hops - 1 for a, v, _ in steps(g) if a == u}
        found.update({pair: hops for pair in ahead if pair not in found})
    return found


def shortest_path(x: Plain, z: Plain) -> float:
    """Σ n(x) n(z), n the number of unordered pairs u ≠ v at a finite distance d (in edges) with ({label u, label v},
    d).

    Directed: of ordered pairs with (label u, label v, d). Edge labels and loops play no part.
    """

    def counts(g: Plain) -> Counter[Any]:
        features: Counter[Any] = Counter()
        for (u, v), d in distances(g).items():
            ends = (g.labels[u], g.labels[v])
            if (g.directed and u != v) or u < v:
                features[ends if g.directed else _ordered(ends), d] += 1
        return features

    return dot(counts(x), counts(z))


# --- Weisfeiler–Lehman
# --------------------------------------------------------------------------------------------------------


def refined(g: Plain) -> Plain:
    """g with each label replaced by (label, multiset of (edge label, label of the neighbour)), nested tuples and all.

    Directed: (label, multiset over the successors, multiset over the predecessors). A vertex with a self-loop is its
    own neighbour, once; directed, its own successor and its own predecessor.
    """

    def label(v: int) -> Any:
        after = _ordered((edge, g.labels[b]) for a, b, edge in steps(g) if a == v)
        before = _ordered((edge, g.labels[a]) for a, b, edge in steps(g) if b == v)
        return (g.labels[v], after, before) if g.directed else (g.labels[v], after)

    return Plain(tuple(label(v) for v in range(len(g.labels))), g.edges, g.directed, g.attributes)


def refinements(g: Plain, depth: int) -> list[Plain]:
    """[g, refined(g), refined(refined(g)), …], depth + 1 graphs."""
    found = [g]
    for _ in range(depth):
        found.append(refined(found[-1]))
    return found


def weisfeiler_lehman(x: Plain, z: Plain, depth: int, base: str = "vertex") -> float:
    """Σ_{i=0..depth} k(x_i, z_i), x_i = x refined i times.

    k is the vertex histogram ("vertex"), the histogram of edge labels alone, which refinement leaves as it is ("edge"),
    that of edges with the labels of their ends ("edge_ends"), the shortest-path kernel ("shortest_path"), or walks of
    two edges ("walk").
    """
    kernels = {
        "vertex": vertex_histogram,
        "edge": edge_histogram,
        "edge_ends": edge_ends_histogram,
        "shortest_path": shortest_path,
        "walk": lambda u, v: walk(u, v, 2),
    }
    return math.fsum(kernels[base](u, v) for u, v in zip(refinements(x, depth), refinements(z, depth), strict=True))


def wl_optimal_assignment(x: Plain, z: Plain, depth: int) -> float:
    """Σ_{i=0..depth} Σ_c min(n_c(x_i), n_c(z_i)), n_c the number of vertices with the label c, x_i = x refined i
    times.
    """
    pairs = zip(refinements(x, depth), refinements(z, depth), strict=True)
    return float(sum((Counter(u.labels) & Counter(v.labels)).total() for u, v in pairs))


def wl_optimal_assignment_by_bijections(x: Plain, z: Plain, depth: int) -> float:
    """max_π Σ_u s(u, π(u)), s(u, v) = #{i = 0..depth: u in x_i and v in z_i have one label}; the smaller graph is
    filled up with s = 0.
    """
    n = max(len(x.labels), len(z.labels))
    s = np.zeros((n, n), dtype=int)
    for x_i, z_i in zip(refinements(x, depth), refinements(z, depth), strict=True):
        for (u, label_x), (v, label_z) in itertools.product(enumerate(x_i.labels), enumerate(z_i.labels)):
            s[u, v] += label_x == label_z
    return float(max(sum(int(s[u, v]) for u, v in enumerate(image)) for image in itertools.permutations(range(n))))


# --- subgraphs
# ----------------------------------------------------------------------------------------------------------------


def is_connected(vertices: Sequence[int], edges: Iterable[tuple[int, int]]) -> bool:
    """Whether there is one component, the directions of the edges disregarded; no vertices are not connected."""
    listed = list(edges)
    reached = set(vertices[:1])
    for _ in vertices:
        reached |= {b for u, v in listed for a, b in ((u, v), (v, u)) if a in reached}
    return len(vertices) > 0 and reached == set(vertices)


def canonical(g: Plain, vertices: Sequence[int], edges: Iterable[tuple[int, int]]) -> Hashable:
    """min over all orders of the vertices of (labels in that order, sorted (place of u, place of v, edge label)),
    compared by `repr`.
    """
    listed = list(edges)

    def form(order: tuple[int, ...]) -> tuple[Any, ...]:
        place = {v: i for i, v in enumerate(order)}
        written = ((*_edge(place[u], place[v], g.directed), g.edges[u, v]) for u, v in listed)
        return tuple(g.labels[v] for v in order), _ordered(written)

    return min((form(order) for order in itertools.permutations(vertices)), key=repr)


def graphlet_features(g: Plain, size: int) -> Counter[Any]:
    """n_F: the number of sets of `size` vertices whose induced subgraph (loops too) is (weakly) connected and
    isomorphic to F.
    """
    features: Counter[Any] = Counter()
    for vertices in itertools.combinations(range(len(g.labels)), size):
        edges = [(u, v) for u, v in g.edges if u in vertices and v in vertices]
        if is_connected(vertices, edges):
            features[canonical(g, vertices, edges)] += 1
    return features


def graphlet(x: Plain, z: Plain, size: int) -> float:
    """Σ_F n_F(x) n_F(z), n_F the number of induced, (weakly) connected subgraphs with exactly `size` vertices
    isomorphic to F.

    An isomorphism keeps vertex labels, edge labels, directions and loops.
    """
    return dot(graphlet_features(x, size), graphlet_features(z, size))


def subgraph_features(g: Plain, max_size: int) -> Counter[Any]:
    """n_F: the number of pairs (1..max_size vertices, some of the edges and loops among them), (weakly) connected,
    isomorphic to F.
    """
    features: Counter[Any] = Counter()
    for size in range(1, max_size + 1):
        for vertices in itertools.combinations(range(len(g.labels)), size):
            among = [(u, v) for u, v in g.edges if u in vertices and v in vertices]
            for edges in itertools.chain.from_iterable(itertools.combinations(among, r) for r in range(len(among) + 1)):
                if is_connected(vertices, edges):
                    features[canonical(g, vertices, edges)] += 1
    return features


def subgraph(x: Plain, z: Plain, max_size: int) -> float:
    """Σ_F n_F(x) n_F(z), n_F the number of (weakly) connected subgraphs, induced or not, of 1..max_size vertices
    isomorphic to F.

    An isomorphism keeps vertex labels, edge labels, directions and loops.
    """
    return dot(subgraph_features(x, max_size), subgraph_features(z, max_size))


# --- trees
# --------------------------------------------------------------------------------------------------------------------


def nodes(tree: Tree) -> Iterator[Tree]:
    """All nodes of ("label", child, child, …), each with everything under it; a leaf is ("label",)."""
    yield tree
    for child in tree[1:]:
        yield from nodes(child)


def productions(tree: Tree) -> int:
    """The number of nodes that have children."""
    return sum(1 for node in nodes(tree) if len(node) > 1)


def fragments(node: Tree) -> list[Tree]:
    """All fragments rooted at the node: it with all its children, each child that has children either cut to ("label",)
    or a fragment of its own.

    A leaf is the root of none. A child that is cut reads the same as a leaf with that label.
    """
    if len(node) == 1:
        return []
    choices = [[(child[0],), *fragments(child)] for child in node[1:]]
    return [(node[0], *chosen) for chosen in itertools.product(*choices)]


def subset_tree(x: Tree, z: Tree, decay: float) -> float:
    """Σ decay^{number of productions of f} over the pairs (f of x, f of z) of equal fragments, one occurrence each;
    children are ordered.
    """
    of_x, of_z = ([f for node in nodes(tree) for f in fragments(node)] for tree in (x, z))
    return math.fsum(decay ** productions(f) for f in of_x for other in of_z if f == other)


def subtree(x: Tree, z: Tree, decay: float) -> float:
    """Σ decay^{number of productions of f} over the pairs of equal complete fragments: nodes that are no leaves, with
    everything under them.
    """
    of_x, of_z = ([node for node in nodes(tree) if len(node) > 1] for tree in (x, z))
    return math.fsum(decay ** productions(f) for f in of_x for other in of_z if f == other)


# --- nodes of one graph
# -------------------------------------------------------------------------------------------------------


def laplacian(W: ArrayLike) -> Matrix:
    """L = D − W, D the diagonal matrix of the row sums of the symmetric W."""
    weights = np.array(W, dtype=np.float64)
    return np.diag(weights.sum(axis=1)) - weights


def normalized_laplacian(W: ArrayLike) -> Matrix:
    """L_sym = I − D^−1/2 W D^−1/2; the row and column of a vertex of degree 0 are 0."""
    weights = np.array(W, dtype=np.float64)
    degrees = weights.sum(axis=1)
    value = np.zeros_like(weights)
    for i, j in itertools.product(range(len(weights)), repeat=2):
        if degrees[i] > 0 and degrees[j] > 0:
            value[i, j] = (i == j) - weights[i, j] / math.sqrt(degrees[i] * degrees[j])
    return value


def diffusion(W: ArrayLike, beta: float) -> Matrix:
    """exp(−β L), L = D − W."""
    return np.asarray(expm(-beta * laplacian(W)), dtype=np.float64)


def exponential_diffusion(B: ArrayLike, lam: float) -> Matrix:
    """exp(λ B) = Σ_{l≥0} λ^l B^l / l!."""
    return np.asarray(expm(lam * np.array(B, dtype=np.float64)), dtype=np.float64)


def regularized_laplacian(W: ArrayLike, sigma: float) -> Matrix:
    """(I + σ² L)^−1, L = D − W."""
    L = laplacian(W)
    return np.asarray(np.linalg.inv(np.eye(len(L)) + sigma**2 * L), dtype=np.float64)


def p_step_walk(W: ArrayLike, a: float, p: int) -> Matrix:
    """(a I − L_sym)^p, multiplied out p times."""
    L = normalized_laplacian(W)
    return functools.reduce(np.matmul, [a * np.eye(len(L)) - L] * p, np.eye(len(L)))


def commute_time(W: ArrayLike) -> Matrix:
    """L^+, the pseudo-inverse of L = D − W."""
    return np.asarray(np.linalg.pinv(laplacian(W), rcond=1e-12, hermitian=True), dtype=np.float64)


# --- generative models
# --------------------------------------------------------------------------------------------------------


def _log_sum_exp(values: Sequence[float]) -> float:
    """log Σ exp(v), the largest value taken out."""
    top = max(values)
    return top + math.log(math.fsum(math.exp(v - top) for v in values))


def gaussian_mixture_log_density(
    x: Sequence[float],
    weights_logits: Sequence[float],
    means: Sequence[Sequence[float]],
    variances: Sequence[Sequence[float]],
) -> float:
    """log Σ_c w_c Π_d (2π v_cd)^−1/2 exp(−(x_d − m_cd)²/(2 v_cd)), w = softmax(logits of the first k − 1 components,
    0).
    """
    logits = [*(float(a) for a in weights_logits), 0.0]
    normaliser = _log_sum_exp(logits)
    terms = []
    for logit, mean, variance in zip(logits, means, variances, strict=True):
        parts = [
            -0.5 * math.log(2 * math.pi * float(v)) - (float(a) - float(m)) ** 2 / (2 * float(v))
            for a, m, v in zip(x, mean, variance, strict=True)
        ]
        terms.append(logit - normaliser + math.fsum(parts))
    return _log_sum_exp(terms)


def markov_chain_log_probability(tokens: Sequence[Any], initial: Any, transition: Any) -> float:
    """log initial[t_1] + Σ_i log transition[t_i][t_{i+1}]; −∞ when one of them is 0; 0 when there are no tokens."""
    factors = [float(initial[t]) for t in tokens[:1]] + [float(transition[a][b]) for a, b in itertools.pairwise(tokens)]
    return math.fsum(math.log(p) for p in factors) if all(p > 0 for p in factors) else -math.inf


def numerical_score(log_density: Callable[[Matrix], float], theta: ArrayLike, step: float = 1e-6) -> Matrix:
    """((f(θ + h e_i) − f(θ − h e_i))/(2h))_i, f the log density as a function of the vector θ, h the step."""
    point = np.array(theta, dtype=np.float64)
    score = np.zeros_like(point)
    for i in range(len(point)):
        shift = np.zeros_like(point)
        shift[i] = step
        score[i] = (log_density(point + shift) - log_density(point - shift)) / (2 * step)
    return score


# --- convolution
# --------------------------------------------------------------------------------------------------------------


def convolution(x: Any, z: Any, decompose: Callable[[Any], Iterable[Sequence[Any]]], parts: Sequence[Oracle]) -> float:
    """Σ over the decompositions (x_1, …, x_D) of x and (z_1, …, z_D) of z of Π_d k_d(x_d, z_d)."""
    of_x, of_z = list(decompose(x)), list(decompose(z))
    return math.fsum(math.prod(k(a, b) for k, a, b in zip(parts, u, v, strict=True)) for u in of_x for v in of_z)
