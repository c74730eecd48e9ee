"""Kernels, by what they compare: ``vectors``, ``sequences``, ``graphs`` (molecules, trees, sets and the vertices of one
graph too), ``clouds`` (sets of vectors) and ``anything``; ``compose`` makes kernels from kernels, ``approximations``
finitely many features of them.

``base``, ``parameters``, ``families`` and ``scaled`` are for authors, ``notation`` and ``reading`` write kernels and
read them. A kernel knows data and nothing of learning; how its formula is computed is for the engine to say.
"""

from importlib import import_module
from pkgutil import walk_packages


def load() -> None:
    """Import every module of kernels, so that all classes exist."""
    for module in walk_packages(__path__, "mercer.kernels."):
        import_module(module.name)
