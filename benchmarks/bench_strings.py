"""Promise: the Gram matrix of strings at least 5 times faster than the fastest correct library, and never slower than a
recipe in NumPy; norms ≤ 3× the time of the matrix.

One run, turn by turn, two threads each where a peer has threads. Names on the command line choose tables. Peers that
are not installed are skipped.
"""

from __future__ import annotations

import gzip
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import string_peers as peers
from measure import QUICK, interleaved, judged, peak_memory, promise, sized, skipped, table
from tables import FOLDER

import mercer as mc

Task = Callable[[], Any]


def fasta(folder: str, name: str, n: int | None = None) -> list[str]:
    path = FOLDER / folder / f"{name}.fasta.gz"
    if not path.exists():
        return []
    with gzip.open(path, "rt") as file:
        return [line.upper() for line in file.read().split()[1::2]][:n]


def compare(
    title: str, kernel: Any, X: Any, others: dict[str, Task], normalised: tuple[str, ...] = (), rounds: int = 3
) -> None:
    """Values first, then times."""
    ours = kernel(X)
    root = np.sqrt(np.maximum(np.diagonal(ours), 1e-300))
    for name, task in others.items():
        if name.endswith("(more)"):
            continue
        wanted = ours / root[:, None] / root if name in normalised else ours
        error = np.abs(task() - wanted).max() / np.abs(wanted).max()
        if error > 1e-4:
            print(f"  {name}: values differ by {error:.1e} of the largest")
    # values have warmed them up
    times = interleaved({"mercer": partial(kernel, X), **others}, rounds=rounds, warm=rounds > 2)
    # a recipe is what one writes in NumPy or scikit-learn; what a library gives beyond what is asked for is no peer
    recipes = ("recipe", "CountVectorizer")
    promised = {name: 1.0 if name.startswith(recipes) else 5.0 for name in others if not name.endswith("(more)")}
    table(title, times, "mercer", promised=promised)


def peer(module: str) -> bool:
    """Whether it is installed; said where it is not."""
    if not peers.has(module):
        skipped(module)
    return peers.has(module)


def spectrum() -> None:
    for name, X, alphabet in (
        ("2000 DNA strings of 300–1000 letters", peers.random_dna(sized(2000), 300, 1000), peers.DNA),
        ("2000 SCOP proteins", fasta("FastSK_protein_SCOP", "1.1.train", 2000), peers.PROTEIN),
    ):
        for k in (3, 5, 8, 12) if X else ():
            dense = alphabet == peers.DNA and k <= 5
            others: dict[str, Task] = {
                "CountVectorizer + sparse product": partial(peers.count_vectorizer, X, k, dense=False)
            }
            if len(alphabet) ** k < 10**8:
                others["recipe: codes, CSR product"] = partial(peers.recipe_sparse, X, k, alphabet)
            if dense:
                others = {
                    "recipe: bincount, float32 GEMM": partial(peers.recipe_dense, X, k),
                    "CountVectorizer + dense GEMM": partial(peers.count_vectorizer, X, k, dense=True),
                }
            if len(min(X, key=len)) >= k and peer("fastsk"):
                others["FastSK (m = 0)"] = partial(peers.fastsk, X, k, 0)
            compare(f"Spectrum({k}), {name}", mc.Spectrum(k), X, others, ("FastSK (m = 0)",), rounds=9 if dense else 3)


def mismatch() -> None:
    X = peers.random_dna(sized(2000), 300, 1000)
    for k, m in ((5, 1), (8, 1), (6, 2)):
        others: dict[str, Task] = {}
        if m == 1 and k == 5:
            others["recipe: sums over axes, float32 GEMM"] = partial(peers.recipe_mismatch, X, k)
        compare(f"Mismatch({k}, {m}), 2000 DNA strings of 300–1000 letters", mc.Mismatch(k, m, "ACGT"), X, others)
    short = peers.random_dna(100, 100, 100)
    for k, m in ((5, 1), (6, 2)) if peer("strkernel") else ():
        compare(f"Mismatch({k}, {m}), 100 DNA strings of 100 letters", mc.Mismatch(k, m, "ACGT"), short,
                {"strkernel, trie": partial(peers.strkernel_mismatch, short, k, m)}, rounds=2)  # fmt: skip


def gapped() -> None:
    ep300 = fasta("FastSK_DNA", "EP300.train")
    cases = [
        ("EP300, 2000 strings of 100", ep300, 7, 3, True),
        ("EP300", ep300, 8, 2, False),
        ("EP300", ep300, 10, 4, False),
        ("EP300", ep300, 13, 7, False),
        ("SCOP, 2000 proteins", fasta("FastSK_protein_SCOP", "1.1.train", 2000), 6, 2, False),
        ("SCOP, 2000 proteins", fasta("FastSK_protein_SCOP", "1.1.train", 2000), 8, 4, False),
        ("2000 DNA strings of 300–1000 letters", peers.random_dna(sized(2000), 300, 1000), 7, 3, True),
    ]
    for name, X, g, m, recipe in cases:
        if not X:
            continue
        X = [x for x in X if len(x) >= g]
        others: dict[str, Task] = {}
        if recipe:
            others["recipe: bincount and GEMM for each choice"] = partial(peers.recipe_gapped, X, g, m)
        if not (len(X[0]) > 250 and g == 7) and peer("fastsk"):
            others["FastSK, exact"] = partial(peers.fastsk, X, g, m)
        compare(f"Gappy({g}, {g - m}), {name}", mc.Gappy(g, g - m), X, others, ("FastSK, exact",), rounds=2)


def subsequence() -> None:
    X = peers.random_dna(200, 100, 100)
    others: dict[str, Task] = {}
    if peers.has("strkernels"):
        others["strkernels, lengths 1 … 3 (more)"] = partial(peers.strkernels_subsequence, X, 3, 0.5)
    compare("Subsequence(3, 0.5), 200 strings of 100 letters", mc.Subsequence(3, 0.5), X, others)
    path = FOLDER / "Reuters21578_top10" / "modapte_top10.jsonl.gz"
    if path.exists():
        import json

        with gzip.open(path, "rt") as file:
            documents = [json.loads(next(file)) for _ in range(500)]
        words = [
            " ".join("".join(c if c.isalpha() else " " for c in _text(d).lower() if c.isascii()).split())
            for d in documents
        ]
        few = words[:20]
        others = (
            {"strkernels, 20 documents (more)": partial(peers.strkernels_subsequence, few, 3, 0.5)}
            if peers.has("strkernels")
            else {}
        )
        compare(
            f"Subsequence(3, 0.5), 500 Reuters documents of {int(np.mean([len(w) for w in words]))} letters",
            mc.Subsequence(3, 0.5),
            words,
            others,
            rounds=2,
        )


def _text(document: dict[str, Any]) -> str:
    return max((v for v in document.values() if isinstance(v, str)), key=len)


def alignment() -> None:
    rng = np.random.default_rng(0)
    sets: dict[str, Any] = {"200 walks of length 100": np.cumsum(rng.standard_normal((200, 100)), axis=1) / 10}
    for name in ("GunPoint", "OSULeaf", "BasicMotions"):
        path = FOLDER / "ucr_small" / f"{name}.npz"
        if path.exists():
            with np.load(path) as z:
                sets[name] = z["X_train"].astype(np.float64)
    for name, X in sets.items():
        Z = X.transpose(0, 2, 1) if X.ndim == 3 and X.shape[1] < X.shape[2] else X
        others: dict[str, Task] = (
            {"tslearn cdist_gak": partial(peers.tslearn_alignment, Z, 3.0)} if peer("tslearn") else {}
        )
        compare(f"GlobalAlignment(3), {name} {Z.shape}", mc.GlobalAlignment(3.0), Z, others)


def memory() -> None:
    for what in (
        "mc.Spectrum(8)",
        "mc.Gappy(7, 4)",
        "mc.Gappy(10, 6)",
        "mc.Mismatch(8, 1, 'ACGT')",
        "mc.Subsequence(3, 0.5)",
    ):
        code = f"""
import mercer as mc
from benchmarks.string_peers import random_dna
X = random_dna(2000, 90, 110)
k = {what}
k(X[:200])
work = lambda: k(X)
"""
        print(
            f"  {what}, 2000 strings of 100 letters: peak {peak_memory(code) / 1e6:.0f} MB, of which the matrix is"
            " 32 MB"
        )
    if fasta("FastSK_protein_SCOP", "1.1.train", 1):
        code = """
import sys
sys.path.insert(0, "benchmarks")
import mercer as mc
from bench_strings import fasta
X = fasta("FastSK_protein_SCOP", "1.1.train", 2000)
k = mc.Gappy(8, 4)
k(X[:200])
work = lambda: k(X)
"""
        print(
            f"  mc.Gappy(8, 4), 2000 SCOP proteins: peak {peak_memory(code) / 1e6:.0f} MB, of which the matrix is 32 MB"
        )


def norms() -> None:
    X = peers.random_dna(64, 60, 60)
    for kernel in (mc.Mismatch(7, 1, "ACGT"), mc.Gappy(12, 6), mc.Substring(), mc.LocalAlignment()):
        times = interleaved({"matrix": partial(kernel, X), "norms": partial(kernel.diag, X)}, rounds=5)
        ratio = min(times["norms"]) / min(times["matrix"])
        promise(f"{kernel}, 64 strings of 60 letters, time of norms over that of the matrix", ratio, at_most=3.0)


TABLES = {
    "spectrum": spectrum,
    "mismatch": mismatch,
    "gapped": gapped,
    "subsequence": subsequence,
    "alignment": alignment,
    "memory": memory,
    "norms": norms,
}


def main() -> None:
    for chosen in sys.argv[1:] or (["mismatch", "norms"] if QUICK else TABLES):
        TABLES[chosen]()


if __name__ == "__main__":
    judged(main)
