"""Collections of Dask: functions of their blocks, run where the blocks lie.

collections   what a collection is, and its blocks
workers       who computes: a client's workers, or Dask's default scheduler
partitions    blocks that stay with the workers: sums over them, and what each answers
answers       a function of each block as a Dask array, computed when it is asked for

Dask is imported here, when a collection of its is met, and nowhere else.
"""

from mercer.distributed.answers import computed, first_sample, lazily
from mercer.distributed.collections import as_block, blocks_of, in_blocks_of, is_collection
from mercer.distributed.partitions import Partitions
from mercer.distributed.workers import ClusterLost, Workers

__all__ = [
    "ClusterLost",
    "Partitions",
    "Workers",
    "as_block",
    "blocks_of",
    "computed",
    "first_sample",
    "in_blocks_of",
    "is_collection",
    "lazily",
]
