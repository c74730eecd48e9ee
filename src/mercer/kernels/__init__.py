"""Kernels: ``base`` and ``families`` for authors; ``vectors``, ``histograms`` and ``anything`` by what they compare; ``algebra``,
``feature_space`` and ``inputs`` for kernels made from kernels; ``notation`` to write and read them."""

from importlib import import_module

_MODULES = ("vectors", "histograms", "anything", "algebra", "feature_space", "inputs")


def load() -> None:
    """Import every module of kernels, so that all classes exist."""
    for name in _MODULES:
        import_module(f"mercer.kernels.{name}")
