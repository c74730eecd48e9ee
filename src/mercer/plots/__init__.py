"""Pictures: one file for each display. What they show is computed elsewhere, by kernels, Grams and estimators; nothing
here is learnt, and nobody but the user asks for a picture.

A display holds computed data and draws it: ``SomeDisplay.from_…(…)`` computes and draws, ``display.plot(ax=…)`` draws
again, elsewhere. After it ``figure_`` and ``ax_`` are matplotlib's own, to be changed at will. matplotlib is imported
when something is drawn.

``matrix``, ``metric``, ``embedding``, ``correlogram``, ``novelty``, ``clusters``, ``motif`` and ``molecule`` are the
displays; ``samples`` is what they take from data, ``drawing`` how they look. Molecules are drawn by RDKit, as SVG.
"""

from mercer.plots.clusters import ClusterDisplay
from mercer.plots.correlogram import CorrelogramDisplay
from mercer.plots.embedding import EmbeddingDisplay
from mercer.plots.matrix import GramDisplay
from mercer.plots.metric import MetricDisplay
from mercer.plots.molecule import MoleculeDisplay
from mercer.plots.motif import MotifDisplay
from mercer.plots.novelty import NoveltyDisplay

__all__ = [
    "ClusterDisplay",
    "CorrelogramDisplay",
    "EmbeddingDisplay",
    "GramDisplay",
    "MetricDisplay",
    "MoleculeDisplay",
    "MotifDisplay",
    "NoveltyDisplay",
]
