"""Pictures: one file for each display. What they show is computed elsewhere, by kernels, Grams and estimators; nothing
here is learnt, and nobody but the user asks for a picture.

A display holds computed data and draws it: ``SomeDisplay.from_…(…)`` computes and draws, ``display.plot(ax=…)`` draws
again, elsewhere. After it ``figure_`` and ``ax_`` are matplotlib's own, to be changed at will. matplotlib is imported
when something is drawn.

Of matrices: ``matrix``, ``spectrum``. Of fitted machines: ``machine``, ``novelty``, ``regression``, ``effect``,
``weights``, ``metric``; ``motif`` and ``molecule`` of their explanations. Of what they find: ``embedding``,
``clusters``, ``correlogram``. Of how good they are: ``calibration``, ``confusion``, ``residuals``. Of how they came
about: ``convergence``, ``validation``.

``samples``, ``columns``, ``matrices``, ``responses`` and ``bands`` are what displays take from data, tables, matrices
and estimators; ``drawing`` is how they look.
"""

from mercer.plots.calibration import CalibrationDisplay
from mercer.plots.clusters import ClusterDisplay
from mercer.plots.confusion import ConfusionDisplay
from mercer.plots.convergence import ConvergenceDisplay
from mercer.plots.correlogram import CorrelogramDisplay
from mercer.plots.effect import EffectDisplay
from mercer.plots.embedding import EmbeddingDisplay
from mercer.plots.machine import MachineDisplay
from mercer.plots.matrix import GramDisplay
from mercer.plots.metric import MetricDisplay
from mercer.plots.molecule import MoleculeDisplay
from mercer.plots.motif import MotifDisplay
from mercer.plots.novelty import NoveltyDisplay
from mercer.plots.regression import RegressionDisplay
from mercer.plots.residuals import ResidualDisplay
from mercer.plots.spectrum import SpectrumDisplay
from mercer.plots.validation import ValidationDisplay
from mercer.plots.weights import WeightsDisplay

__all__ = [
    "CalibrationDisplay",
    "ClusterDisplay",
    "ConfusionDisplay",
    "ConvergenceDisplay",
    "CorrelogramDisplay",
    "EffectDisplay",
    "EmbeddingDisplay",
    "GramDisplay",
    "MachineDisplay",
    "MetricDisplay",
    "MoleculeDisplay",
    "MotifDisplay",
    "NoveltyDisplay",
    "RegressionDisplay",
    "ResidualDisplay",
    "SpectrumDisplay",
    "ValidationDisplay",
    "WeightsDisplay",
]
