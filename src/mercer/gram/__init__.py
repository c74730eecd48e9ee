"""The matrix K(X, Y), where kernels and solvers meet.

``contract`` is what every such matrix can be asked; ``computed``, ``stored``, ``factored``, ``nystrom``, ``counts``,
``wrapped``, ``summed`` and ``stacked`` are its kinds; ``gradients`` has the derivatives by the items; ``landmarks``
chooses the rows that stand for all; ``policy`` decides which kind pays for which use; ``outline`` is a matrix before
there is one; ``validity`` asks whether a matrix of numbers can be one. Nothing here knows a kernel or a learner, and
nobody outside asks of which kind a matrix is.
"""

from mercer.gram.computed import KernelGram, common_dtype, departures, item_values, parameter_symbol, recorded_values
from mercer.gram.contract import Cost, Gram, as_index, is_gram
from mercer.gram.counts import Counts, CountsGram
from mercer.gram.factored import Features, LowRankGram
from mercer.gram.gradients import NoGradient, item_gradients, pair_gradients, parameter_slopes
from mercer.gram.landmarks import CHOICES, pivoted_cholesky, uniform
from mercer.gram.nystrom import Landmarks, NystromGram, root_of
from mercer.gram.outline import Outline, Sample, Work, largest_sample
from mercer.gram.policy import Form, Use, borrowed, form, held, held_parts, outlined
from mercer.gram.stacked import StackedGram
from mercer.gram.stored import DenseGram, SparseGram, as_gram
from mercer.gram.summed import SumGram
from mercer.gram.wrapped import CachedGram, MixedGram, WeightedGram

__all__ = [
    "CHOICES",
    "CachedGram",
    "Cost",
    "Counts",
    "CountsGram",
    "DenseGram",
    "Features",
    "Form",
    "Gram",
    "KernelGram",
    "Landmarks",
    "LowRankGram",
    "MixedGram",
    "NoGradient",
    "NystromGram",
    "Outline",
    "Sample",
    "SparseGram",
    "StackedGram",
    "SumGram",
    "Use",
    "WeightedGram",
    "Work",
    "as_gram",
    "as_index",
    "borrowed",
    "common_dtype",
    "departures",
    "form",
    "held",
    "held_parts",
    "is_gram",
    "item_gradients",
    "item_values",
    "largest_sample",
    "outlined",
    "pair_gradients",
    "parameter_slopes",
    "parameter_symbol",
    "pivoted_cholesky",
    "recorded_values",
    "root_of",
    "uniform",
]
