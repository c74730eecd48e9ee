"""Kernels: ``base`` and ``families`` for authors; ``vectors``, ``histograms`` and ``anything`` by what they compare; of sequences ``words``,
``mismatches``, ``positions``, ``subsequences``, ``substrings``, ``alignments`` and ``strands``, on ``lanes``; ``algebra``, ``feature_space`` and
``inputs`` for kernels made from kernels; ``notation`` to write and read them."""

from importlib import import_module

_SEQUENCES = ("words", "mismatches", "positions", "subsequences", "substrings", "alignments", "strands")
_GRAPHS = ("graphs", "walks", "subgraphs", "sets")
_MODULES = ("vectors", "histograms", "anything", *_SEQUENCES, *_GRAPHS, "algebra", "feature_space", "inputs")


def load() -> None:
    """Import every module of kernels, so that all classes exist."""
    for name in _MODULES:
        import_module(f"mercer.kernels.{name}")
