"""Kernels: ``base`` and ``families`` for authors; ``vectors``, ``histograms``, ``anything`` and those of sequences (``words`` … ``alignments``) by what they compare; ``algebra``,
``feature_space`` and ``inputs`` for kernels made from kernels; ``notation`` to write and read them."""

from importlib import import_module

_MODULES = (
    "vectors",
    "histograms",
    "anything",
    "words",
    "mismatches",
    "positions",
    "subsequences",
    "substrings",
    "alignments",
    "strands",
    "algebra",
    "feature_space",
    "inputs",
)


def load() -> None:
    """Import every module of kernels, so that all classes exist."""
    for name in _MODULES:
        import_module(f"mercer.kernels.{name}")
