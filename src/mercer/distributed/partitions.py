"""Functions of blocks, run where the blocks lie.

    total(of, *args)   Σ_k of(block_k, *args), added in the order of the blocks, not of arrival
    each(of, *args)    what each block answers, in that order
    keep(of, *args)    what each block answers, left where it is

A function is sent with small arrays, and small arrays come back. Tasks have no memory: what a worker loses is computed
again by Dask, to the same last bit.
"""

from __future__ import annotations

import itertools
import uuid
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from mercer.distributed.workers import Workers

_TOGETHER = 16  # answers that one task adds


class Partitions:
    """Blocks that stay with the workers, and what is asked of all of them.

    Parameters
    ----------
    workers : Workers
        Who computes.
    blocks : list of Delayed
        One task for each block.
    """

    def __init__(self, workers: Workers, blocks: list[Any]) -> None:
        self.workers, self.blocks = workers, blocks

    @classmethod
    def made(cls, workers: Workers, stage: str, of: Callable[..., Any], *columns: Sequence[Any]) -> Partitions:
        """Blocks made of others, number by number: ``of(a_k, b_k, …)``. Workers of a client keep them; else they are
        made anew whenever they are asked for, unless ``kept``.
        """
        from dask import delayed

        make, number = delayed(of, pure=False), uuid.uuid4().hex
        tasks = [
            make(*each, dask_key_name=f"{stage}-{number}-{k}") for k, each in enumerate(zip(*columns, strict=True))
        ]
        return cls(workers, tasks if workers.client is None else workers.keep(tasks))

    def kept(self) -> Partitions:
        """The same blocks, in memory from now on."""
        return Partitions(self.workers, self.workers.keep(self.blocks))

    def __len__(self) -> int:
        return len(self.blocks)

    def _tasks(self, stage: str, of: Callable[..., Any], args: tuple[Any, ...], own: Sequence[Any] | None) -> list[Any]:
        from dask import delayed

        call, number = delayed(_call, pure=False), uuid.uuid4().hex
        sent = self.held((of, args), stage)
        each = [()] * len(self.blocks) if own is None else own
        tasks = []
        for k, (block, mine, place) in enumerate(zip(self.blocks, each, self._places(), strict=True)):
            with place:
                tasks.append(call(sent, block, mine, dask_key_name=f"{stage}-{number}-{k}"))
        return tasks

    def _places(self) -> list[AbstractContextManager[Any]]:
        """For each block a context whose tasks go to the workers that have the block, as long as these are there."""
        import dask

        client = self.workers.client
        where = {} if client is None else self.workers.where(self.blocks)
        return [
            dask.annotate(workers=list(holders), allow_other_workers=True)
            if (holders := where.get(getattr(block, "key", None)))
            else nullcontext()
            for block in self.blocks
        ]

    def held(self, value: object, stage: str) -> Any:
        """A value that is sent once and then known to whoever needs it."""
        from dask import delayed

        return delayed(value, traverse=False, pure=False, name=f"sent for {stage}-{uuid.uuid4().hex}")

    def beside(self, value: object, stage: str) -> list[Any]:
        """A value for each block, at hand where the block is: sent to each worker once, however many passes there are.

        Were it one task's result, Dask would drop the copies that other workers have as soon as no task waits for them.
        """
        if self.workers.client is None:
            return self.workers.keep([self.held(value, stage)]) * len(self.blocks)
        return self.keep(stage, _second, value).blocks

    def each(self, stage: str, of: Callable[..., Any], *args: Any, own: Sequence[Any] | None = None) -> list[Any]:
        """``of(block, *args)`` of each, in order; with ``own``, also its own further arguments, a tuple for each."""
        return self.workers.compute(self._tasks(stage, of, args, own), stage)

    def total(
        self, stage: str, of: Callable[..., tuple[Any, ...] | None], *args: Any, own: Sequence[Any] | None = None
    ) -> tuple[Any, ...]:
        """Σ of what ``of(block, *own, *args)`` returns, a tuple of arrays or None, always added in the same order."""
        from dask import delayed

        add, tasks = delayed(_added, pure=False), self._tasks(stage, of, args, own)
        number = uuid.uuid4().hex
        for level in itertools.count():
            if len(tasks) == 1 and level:
                break
            tasks = [
                add(tasks[k : k + _TOGETHER], dask_key_name=f"sum of {stage}-{number}-{level}-{k}")
                for k in range(0, len(tasks), _TOGETHER)
            ]
        found: tuple[Any, ...] = self.workers.compute(tasks, stage)[0]
        return found

    def keep(self, stage: str, of: Callable[..., Any], *args: Any, own: Sequence[Any] | None = None) -> Partitions:
        """What ``of(block, *args)`` returns, as blocks that stay with the workers."""
        return Partitions(self.workers, self.workers.keep(self._tasks(stage, of, args, own)))


def _second(_: object, value: Any) -> Any:
    return value


def _call(sent: tuple[Callable[..., Any], tuple[Any, ...]], block: Any, own: tuple[Any, ...]) -> Any:
    of, args = sent
    return of(block, *own, *args)


def _added(parts: list[tuple[Any, ...] | None]) -> tuple[Any, ...] | None:
    there = [part for part in parts if part is not None]
    return tuple(sum(values[1:], start=values[0]) for values in zip(*there, strict=True)) if there else None
