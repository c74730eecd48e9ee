"""What a sample is.

A domain turns what users have (NumPy, SciPy sparse, pandas or polars, torch, lists, strings) into one internal form, or
raises an error that names the first offending row and column, what was found there, and what to do. All parsing of user
input is here.
"""

from mercer.data.bits import Bits, Sets
from mercer.data.blocks import Blocks
from mercer.data.graph_files import read_tu
from mercer.data.graph_forms import Graphs, as_graphs
from mercer.data.graph_readers import read_graphs
from mercer.data.graphs import Graph, PackedGraphs
from mercer.data.hashed_rows import HashedRows, LazyCounts, meet, numbered, repeated, salted, side_by_side, tensor
from mercer.data.objects import Anything, Domain, Nodes, Objects
from mercer.data.profiles import Profiles
from mercer.data.representations import (
    Ragged,
    Rep,
    check_weights,
    chunks,
    distinct,
    leaves,
    listed,
    moderate_weights,
    size,
    stack,
    take,
    weighted_median,
)
from mercer.data.sequences import Sequences, strands
from mercer.data.series import Series
from mercer.data.tables import DataError, as_frame, in_order_of, places, select
from mercer.data.vectors import Histograms, Vectors, check_same_width

__all__ = [
    "Anything",
    "Bits",
    "Blocks",
    "DataError",
    "Domain",
    "Graph",
    "Graphs",
    "HashedRows",
    "Histograms",
    "LazyCounts",
    "Nodes",
    "Objects",
    "PackedGraphs",
    "Profiles",
    "Ragged",
    "Rep",
    "Sequences",
    "Series",
    "Sets",
    "Vectors",
    "as_frame",
    "as_graphs",
    "check_same_width",
    "check_weights",
    "chunks",
    "distinct",
    "in_order_of",
    "leaves",
    "listed",
    "meet",
    "moderate_weights",
    "numbered",
    "places",
    "read_graphs",
    "read_tu",
    "repeated",
    "salted",
    "select",
    "side_by_side",
    "size",
    "stack",
    "strands",
    "take",
    "tensor",
    "weighted_median",
]  # fmt: skip
