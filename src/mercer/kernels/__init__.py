"""Kernels: ``base`` and ``families`` for authors; ``vectors``, ``histograms`` and ``anything`` by what they compare; of
sequences ``words``, ``mismatches``, ``positions``, ``subsequences``, ``substrings``, ``alignments`` and ``strands``, on
``lanes``; of graphs ``graphs``, ``walks``, ``subgraphs`` and ``propagation``; ``fingerprints`` and ``atoms`` of
molecules, ``nodes`` of one graph, ``trees``, ``sets``; ``generative`` from models; ``algebra``, ``feature_space``,
``inputs`` and ``convolution`` for kernels made from kernels; ``notation`` to write and read them.
"""

from importlib import import_module

_SEQUENCES = ("words", "mismatches", "positions", "subsequences", "substrings", "alignments", "strands")
_GRAPHS = ("graphs", "walks", "subgraphs", "propagation", "fingerprints", "atoms", "nodes")
_MODULES = (
    "vectors", "histograms", "anything", *_SEQUENCES, *_GRAPHS, "trees", "sets", "generative", "convolution",
    "algebra", "feature_space", "inputs",
)  # fmt: skip


def load() -> None:
    """Import every module of kernels, so that all classes exist."""
    for name in _MODULES:
        import_module(f"mercer.kernels.{name}")
