"""Promise: the Gram matrix of graphs and molecules at least 5 times faster than the fastest correct library (sets of
bits and vertices of one graph: as fast), and never slower than a recipe in NumPy.

One run, turn by turn. Names on the command line choose tables. Peers that are not installed are skipped; they get
their own graph objects, made before the clock starts, Mercer a list of mercer.Graph. What a peer gives is compared
first.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import graph_peers as peers
import numpy as np
from growth import drawn
from measure import QUICK, interleaved, judged, peak_memory, skipped, table
from tables import FOLDER

import mercer as mc

Task = Callable[[], Any]
SETS = ("MUTAG",) if QUICK else ("MUTAG", "PTC_MR", "ENZYMES", "NCI1")


def load(name: str, n: int | None = None) -> tuple[list[Any], list[Any]]:
    """The first n graphs of a set, for Mercer and in the peers' plain form; edge labels left out."""
    path = FOLDER / name / f"{name}.zip"
    return mc.read_tu(path, edge_labels=False)[0][:n], peers.read_tu(path)[0][:n]


def compare(
    title: str,
    kernel: Any,
    X: Any,
    others: dict[str, Task],
    rounds: int = 3,
    tolerance: float = 1e-5,
    slow: tuple[str, ...] = (),
    faster: float = 5.0,
) -> None:
    """Values first, then times; ``slow`` peers are timed once, by that first call. A library is to take ``faster``
    times as long, a recipe as long.
    """
    ours = kernel(X)
    once = {}
    for name, task in others.items():
        start = time.perf_counter()
        wanted = task()
        once[name] = time.perf_counter() - start
        if (
            wanted is not None
            and not name.endswith("(other)")
            and (error := np.abs(wanted - ours).max() / np.abs(ours).max()) > tolerance
        ):
            print(f"  {name}: values differ by {error:.1e} of the largest")
    tasks = {"mercer": partial(kernel, X), **{name: task for name, task in others.items() if name not in slow}}
    times = interleaved(tasks, rounds=rounds, warm=False)
    for name in slow:
        if name in others:
            times[name] = [once[name]] * rounds
    promised = {
        name: 1.0 if name.startswith("recipe") else faster
        for name in times
        if name != "mercer" and "(other)" not in name
    }
    table(title, times, "mercer", promised=promised)


def peer(module: str) -> bool:
    """Whether it is installed; said where it is not."""
    if not peers.has(module):
        skipped(module)
    return peers.has(module)


def wl() -> None:
    for name in SETS:
        X, P = load(name)
        others: dict[str, Task] = {"recipe: hashed labels, sparse and dense product": partial(peers.recipe_wl, P)}
        if peer("grakel"):
            others["GraKeL"] = partial(peers.grakel_wl, P, objects=peers.grakel_graphs(P))
        if peer("graphkernels"):
            others["graphkernels (C++)"] = partial(peers.graphkernels_wl, P, objects=peers.graphkernels_graphs(P))
        compare(f"WeisfeilerLehman(5), {name}, {len(X)} graphs", mc.WeisfeilerLehman(5), X, others)


def shortest() -> None:
    for name in SETS:
        X, P = load(name)
        others: dict[str, Task] = {"recipe: dense distances": partial(peers.recipe_shortest_path, P)}
        if peer("grakel"):
            others["GraKeL"] = partial(peers.grakel_shortest_path, P, objects=peers.grakel_graphs(P))
        compare(f"ShortestPath(), {name}, {len(X)} graphs", mc.ShortestPath(), X, others, rounds=2, slow=("GraKeL",))


def assignment() -> None:
    for name, n in (("MUTAG", None), ("PTC_MR", None), ("ENZYMES", None), ("NCI1", 1000)):
        X, P = load(name, n)
        others: dict[str, Task] = {"recipe: unary counts": partial(peers.recipe_optimal_assignment, P)}
        if peer("grakel"):
            others["GraKeL"] = partial(peers.grakel_optimal_assignment, P, objects=peers.grakel_graphs(P))
        compare(
            f"WLOptimalAssignment(5), {name}, {len(X)} graphs", mc.WLOptimalAssignment(5), X, others, slow=("GraKeL",)
        )


def walks() -> None:
    for name, n in (("MUTAG", None), ("NCI1", 100)):
        X, P = load(name, n)
        for length in (4, 10):
            others: dict[str, Task] = {"recipe: batched products": partial(peers.recipe_walk, P, length)}
            if peer("graphkernels") and length == 4:
                others["graphkernels (C++)"] = partial(
                    peers.graphkernels_walk, P, length, objects=peers.graphkernels_graphs(P)
                )
            compare(
                f"Walk({length}), {name}, {len(X)} graphs", mc.Walk(length), X, others, slow=("graphkernels (C++)",)
            )
        others = {"recipe: fixed point": partial(peers.recipe_geometric_walk, P, 0.05)}
        if peer("graphkernels"):
            others["graphkernels (C++), fixed point"] = partial(
                peers.graphkernels_geometric_walk, P, 0.05, objects=peers.graphkernels_graphs(P)
            )
        slow = ("graphkernels (C++), fixed point",)
        compare(f"GeometricWalk(0.05), {name}, {len(X)} graphs", mc.GeometricWalk(0.05), X, others, slow=slow)


def graphlets() -> None:
    for name, n in (("MUTAG", None), ("NCI1", 1000)):
        X, P = load(name, n)
        bare = [mc.Graph(g.edges, n_vertices=g.n_vertices) for g in X]
        others: dict[str, Task] = {}
        if peer("grakel"):
            others["GraKeL, 3 vertices, no labels"] = partial(
                peers.grakel_graphlet, P, 3, objects=peers.grakel_graphs(P)
            )
        compare(
            f"Graphlet(3) without labels, {name}, {len(X)} graphs", mc.Graphlet(3), bare, others, slow=tuple(others)
        )
        compare(f"Graphlet(4) with labels, {name}, {len(X)} graphs", mc.Graphlet(4), X, {})
        others = {}
        if peer("grakel"):
            others["GraKeL propagation (other)"] = partial(peers.grakel_propagation, P, objects=peers.grakel_graphs(P))
        compare(f"Propagation(5), {name}, {len(X)} graphs", mc.Propagation(5, 0.01), X, others, slow=tuple(others))


def pathbags() -> None:
    for name, n in (("MUTAG", None), ("NCI1", 100), ("NCI1", None)):
        X, P = load(name, n)
        others: dict[str, Task] = {}
        if peer("gklearn") and len(X) < 1000:
            others["gklearn, trie"] = partial(peers.gklearn_paths, P, 5, objects=peers.gklearn_graphs(P))
        compare(
            f"Tanimoto(PathBag(5)), {name}, {len(X)} graphs", mc.Tanimoto(mc.PathBag(5)), X, others, slow=tuple(others)
        )


def tanimoto() -> None:
    rng = np.random.default_rng(0)
    bits = (rng.random((5000, 2048)) < 0.03).astype(np.uint8)
    others: dict[str, Task] = {"recipe: float32 GEMM": partial(peers.recipe_tanimoto, bits)}
    for module, peer in (
        ("numkong", "numkong_symmetric"),
        ("numkong", "numkong_cdist"),
        ("simsimd", "simsimd_cdist"),
        ("skfp", "skfp_tanimoto"),
    ):
        if peer(module):
            others[peer] = partial(getattr(peers, peer), bits)
    compare("Tanimoto(), 5000 sets of 2048 bits", mc.Tanimoto(), bits.astype(bool), others, rounds=5, faster=1.0)
    counts = rng.poisson(0.1, (1000, 512))
    if peer("rdkit"):
        others = {
            "rdkit": partial(peers.rdkit_minmax, counts, objects=peers.rdkit_counts(counts)),
            "recipe": partial(peers.recipe_minmax, counts),
        }
        compare("MinMax(Linear()), 1000 bags of 512", mc.MinMax(mc.Linear()), counts.astype(float), others)


def nodes() -> None:
    rng = np.random.default_rng(0)
    u, v = rng.integers(0, 2000, (2, 4000))
    W = np.zeros((2000, 2000))
    W[u, v] = W[v, u] = 1.0
    np.fill_diagonal(W, 0.0)
    ids = np.arange(2000)
    compare(  # a new kernel each time, so that nothing is left from the time before
        "Diffusion(W, 0.5), 2000 vertices, the whole matrix",
        lambda i: mc.Diffusion(W, 0.5)(i),
        ids,
        {
            "recipe: eigh": partial(peers.recipe_diffusion, W, 0.5),
            **({"pygsp, Chebyshev": partial(peers.pygsp_diffusion, W, 0.5)} if peer("pygsp") else {}),
        },
        faster=1.0,
    )
    compare(
        "the same, another β on the same graph",
        _next_diffusion(W),
        ids,
        {"recipe: eigh": partial(peers.recipe_diffusion, W, 0.5)},
    )
    few = ids[:50]
    compare("50 columns of it, by Chebyshev", lambda i: _columns(W, i), few, {})


def _next_diffusion(W: Any) -> Any:
    k = mc.Diffusion(W, 0.4)
    k([0])
    return lambda i: k._replace(beta=0.5)(i)


def _columns(W: Any, ids: Any) -> Any:
    return mc.Diffusion(W, 0.5)._columns(np.asarray(ids))


def memory() -> None:
    for what in (
        "mc.WeisfeilerLehman(5)",
        "mc.ShortestPath()",
        "mc.Tanimoto(mc.PathBag(5))",
        "mc.Graphlet(4)",
        "mc.WLOptimalAssignment(5)",
    ):
        code = f"""
import mercer as mc
X, _ = mc.read_tu({str(FOLDER / "NCI1" / "NCI1.zip")!r}, edge_labels=False)
k = {what}
k(X[:200])
work = lambda: k(X)
"""
        print(
            f"  {what}, NCI1: peak {peak_memory(code) / 1e6:.0f} MB, of which the matrix is {4110**2 * 8 / 1e6:.0f} MB",
            flush=True,
        )


def growth() -> None:
    """Seconds of features against the number of graphs, and of a pair against the size of graphs; a picture in
    docs/.
    """
    rng = np.random.default_rng(0)
    kernels = [
        mc.WeisfeilerLehman(5),
        mc.ShortestPath(),
        mc.PathBag(5),
        mc.Graphlet(4),
        mc.WLOptimalAssignment(5),
        mc.Walk(4),
    ]
    rows: dict[str, dict[str, list[tuple[int, float]]]] = {"graphs": {}, "vertices": {}}
    for kernel in kernels:
        for n in (100, 300, 1000, 3000, 10_000, 30_000):
            if isinstance(kernel, mc.Walk) and n > 1000:
                continue
            X = [random_graph(rng, 30) for _ in range(n)]
            rows["graphs"].setdefault(str(kernel), []).append((n, _seconds(kernel, X)))
        for n in (30, 100, 300, 1000, 3000):
            if n > 300 and isinstance(kernel, mc.Walk):
                continue
            X = [random_graph(rng, n) for _ in range(20)]
            rows["vertices"].setdefault(str(kernel), []).append((n, _seconds(kernel, X)))
    for what, curves in rows.items():
        print(
            f"\nseconds against the number of {what} ({'30 vertices each' if what == 'graphs' else '20 graphs'}), and"
            " the slope of the last two"
        )
        for name, points in curves.items():
            (a, s), (b, t) = points[-2:]
            print(
                f"  {name:<32}"
                + "".join(f" {n}: {t:.4f}" for n, t in points)
                + f"   slope {np.log(t / s) / np.log(b / a):.2f}"
            )
    if not QUICK:
        drawn("graph_growth", {f"number of {what}": curves for what, curves in rows.items()}, columns=3)


def random_graph(rng: Any, n: int) -> Any:
    """A tree with a tenth more edges, as molecules are; five labels."""
    tree = [(int(rng.integers(max(0, v - 4), v)), v) for v in range(1, n)]
    more = (
        [
            (int(u), int(u) + int(d))
            for u, d in zip(rng.integers(0, n - 6, n // 10), rng.integers(2, 6, n // 10), strict=True)
        ]
        if n > 6
        else []
    )
    return mc.Graph(sorted(set(tree + more)), rng.integers(0, 5, n))


def _seconds(kernel: Any, X: Any) -> float:
    work = kernel if isinstance(kernel, mc.Walk) else lambda x: kernel._prepare(kernel.domain.check(x))
    work(X[:2])
    best = np.inf
    for _ in range(3):
        start = time.perf_counter()
        work(X)
        best = min(best, time.perf_counter() - start)
    return best


TABLES = {
    "wl": wl, "shortest": shortest, "assignment": assignment, "walks": walks, "graphlets": graphlets,
    "pathbags": pathbags, "tanimoto": tanimoto, "nodes": nodes, "memory": memory, "growth": growth,
}  # fmt: skip


def main() -> None:
    for chosen in sys.argv[1:] or (["wl"] if QUICK else TABLES):
        TABLES[chosen]()


if __name__ == "__main__":
    judged(main)
