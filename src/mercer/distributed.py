"""Collections of Dask: functions of their blocks, run where the blocks lie.

    total(of, *args)   Σ_k of(block_k, *args), added in the order of the blocks, not of arrival
    each(of, *args)    what each block answers, in that order
    keep(of, *args)    what each block answers, left where it is

A function is sent with small arrays, and small arrays come back. Tasks have no memory: what a worker loses is computed
again by Dask, to the same last bit. Dask is imported when a collection of its is met, and nowhere else.
"""

from __future__ import annotations

import itertools
import os
import sys
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import replace
from typing import Any

from mercer.compute import Compute
from mercer.runtime.watch import abandonable, look

_TOGETHER = 16  # answers that one task adds
_PAUSE = 0.05  # seconds between two looks at the clock
_LARGE = "100MB"  # of what is sent, from which on Dask is to warn


class ClusterLost(RuntimeError):
    """The scheduler of a Dask cluster does not answer any more."""


def is_collection(X: Any) -> bool:
    """Whether X is a Dask array, data frame, series or bag, or a list of delayed blocks."""
    if isinstance(X, list | tuple):
        return bool(X) and all(_is_delayed(block) for block in X)
    return _is_dask(X) and not _is_delayed(X)


def _is_dask(X: Any) -> bool:
    return type(X).__module__.partition(".")[0] in ("dask", "dask_expr") and hasattr(X, "__dask_graph__")


def _is_delayed(X: Any) -> bool:
    module = type(X).__module__
    return module == "dask.delayed" or (module == "distributed.client" and type(X).__name__ == "Future")


def blocks_of(X: Any) -> tuple[list[Any], list[int | None]]:
    """The blocks of a collection, each a Delayed, and how many samples they have, None where Dask does not know."""
    from dask import delayed

    if isinstance(X, list | tuple):
        return [block if hasattr(block, "dask") else delayed(_same)(block) for block in X], [None] * len(X)
    if hasattr(X, "chunks") and hasattr(X, "rechunk"):
        if X.ndim == 0:
            raise ValueError("A Dask array of no dimension holds no samples.")
        if any(len(sizes) > 1 for sizes in X.chunks[1:]):
            X = X.rechunk(dict.fromkeys(range(1, X.ndim), -1))
        sizes = [None if size != size else int(size) for size in X.chunks[0]]
        return list(X.to_delayed().ravel()), sizes
    blocks = list(X.to_delayed())
    return blocks, [None] * len(blocks)


def in_blocks_of(y: Any, sizes: Sequence[int | None], what: str) -> list[Any]:
    """Targets or weights in the blocks of the samples, whose sizes are given: those of a collection are made to agree
    where all sizes are known; an array, whose samples' sizes must be known, is cut.
    """
    if not is_collection(y):
        if len(y) != sum(size or 0 for size in sizes):
            raise ValueError(
                "Found input variables with inconsistent numbers of samples:"
                f" {[sum(size or 0 for size in sizes), len(y)]}"
            )
        stops = list(itertools.accumulate(size or 0 for size in sizes))
        rows = y.iloc if hasattr(y, "iloc") else y
        return [rows[stop - (size or 0) : stop] for stop, size in zip(stops, sizes, strict=True)]
    if hasattr(y, "rechunk") and None not in sizes and not any(size != size for size in y.chunks[0]):
        if y.shape[0] != sum(size or 0 for size in sizes):
            raise ValueError(
                f"Found input variables with inconsistent numbers of samples: {[sum(map(int, sizes)), y.shape[0]]}"  # type: ignore[arg-type]
            )
        y = y.rechunk({0: tuple(sizes)})
    blocks, _ = blocks_of(y)
    if len(blocks) != len(sizes):
        raise ValueError(
            f"X has {len(sizes)} blocks and {what} has {len(blocks)}, of sizes that Dask does not know: give both the"
            " same partitions, or arrays of known sizes (array.compute_chunk_sizes(),"
            " frame.to_dask_array(lengths=True))."
        )
    return blocks


class Workers:
    """Who computes: the workers of a client, or Dask's default scheduler where there is none.

    Parameters
    ----------
    client : distributed.Client or None
        None: the client that Dask knows, if any.
    """

    def __init__(self, client: Any = None) -> None:
        if client is not None and not hasattr(client, "scheduler_info"):
            raise TypeError(
                f"Compute(client={client!r}): a dask.distributed.Client; of an address or a cluster,"
                " Client(address_or_cluster)."
            )
        self.client = client or _known_client()
        self._check()

    def share(self, compute: Compute, blocks: int) -> Compute:
        """What one task may take: a thread where several run in a process, and of the memory of its worker its part of
        a half.
        """
        threads, memory = compute.threads, compute.memory
        if self.client is None:
            at_once = min(max(1, blocks), _cores())
            threads = threads or max(1, _cores() // at_once)
            memory = memory or compute.budget // at_once
        else:
            each = self.client.nthreads().values()
            threads = threads or (1 if any(slots > 1 for slots in each) else None)
            limits = [
                int(worker["memory_limit"]) // (2 * max(1, int(worker["nthreads"])))
                for worker in self._info().get("workers", {}).values()
                if worker.get("memory_limit")
            ]
            memory = memory or (min(limits) if limits else None)
        return replace(compute, client=None, threads=threads, memory=memory)

    def _info(self) -> dict[str, Any]:
        try:
            found: dict[str, Any] = self.client.scheduler_info(n_workers=-1)
        except TypeError:  # of an older Dask, which tells of all
            found = self.client.scheduler_info()
        return found

    def _check(self) -> None:
        if self.client is not None and self.client.status not in ("running", "connecting", "newly-created"):
            raise ClusterLost(
                f"The Dask client is {self.client.status}: connect to a scheduler that runs, Client(address), or give"
                " no client to compute here."
            )

    def compute(self, tasks: list[Any], stage: str) -> list[Any]:
        """The results of delayed tasks; a deadline, Ctrl-C or who listens may end the wait, and then the tasks too."""
        import dask

        if self.client is None:
            return list(abandonable(lambda: dask.compute(*tasks), stage))
        from distributed import wait

        with _large_graphs():
            futures = self.client.compute(tasks)
        try:
            while not all(future.done() for future in futures) and not _failed(futures):
                look(stage)
                self._check()
                with self.client.as_current(), suppress(TimeoutError):
                    wait(futures, timeout=_PAUSE)
            failed = _failed(futures)
            if failed and failed[0].status != "error":
                self._check()
                raise ClusterLost(f"The Dask cluster gave up on {stage!r}: its scheduler or its workers were lost.")
            return list(self.client.gather(failed[:1] or futures))
        except BaseException:
            self._cancel(futures)
            raise

    def _cancel(self, futures: list[Any]) -> None:
        if self.client.status == "running":
            self.client.cancel(futures, force=True)

    def where(self, blocks: list[Any]) -> dict[Any, Sequence[str]]:
        """Which workers have which blocks, by key; of what is not computed yet, none."""
        from distributed import futures_of

        self._check()
        found: dict[Any, Sequence[str]] = self.client.who_has(futures_of(blocks))
        return found

    def keep(self, tasks: list[Any]) -> list[Any]:
        """The same tasks, whose results stay with the workers once they are computed."""
        import dask

        if self.client is None:
            return list(abandonable(lambda: dask.persist(*tasks), "reading the blocks"))
        with _large_graphs():
            return list(self.client.persist(tasks))


def _failed(futures: list[Any]) -> list[Any]:
    return [future for future in futures if future.status in ("error", "cancelled", "lost")]


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

    def held(self, value: Any, stage: str) -> Any:
        """A value that is sent once and then known to whoever needs it."""
        from dask import delayed

        return delayed(value, traverse=False, pure=False, name=f"sent for {stage}-{uuid.uuid4().hex}")

    def beside(self, value: Any, stage: str) -> list[Any]:
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


def lazily(of: Callable[[Any], Any], X: Any, example: Any) -> Any:
    """``of`` each block of a collection, as a Dask array that is computed when it is asked for, or a tuple of such;
    ``example`` is what it returns for one sample.
    """
    from dask import delayed

    blocks, sizes = blocks_of(X)
    several = isinstance(example, tuple)
    empty = tuple(map(_none_of, example)) if several else _none_of(example)
    name, number = getattr(of, "__name__", "answer"), uuid.uuid4().hex
    sent, apply = delayed(of, traverse=False, pure=False, name=f"machine-{number}"), delayed(_answer, pure=False)
    answers = [apply(sent, block, k, empty, dask_key_name=f"{name}-{number}-{k}") for k, block in enumerate(blocks)]
    if not several:
        return _joined(answers, sizes, empty)
    pick = delayed(_item, pure=False)
    return tuple(
        _joined(
            [pick(answer, i, dask_key_name=f"{name} {i}-{number}-{k}") for k, answer in enumerate(answers)], sizes, one
        )
        for i, one in enumerate(empty)
    )


def _none_of(example: Any) -> Any:
    import numpy as np

    return np.empty((0, *example.shape[1:]), example.dtype)


def _joined(answers: list[Any], sizes: list[int | None], empty: Any) -> Any:
    import dask.array as da

    rest = empty.shape[1:]
    shapes = [(float("nan") if size is None else size, *rest) for size in sizes]
    parts = [da.from_delayed(each, shape, meta=empty) for each, shape in zip(answers, shapes, strict=True)]
    return da.concatenate(parts, allow_unknown_chunksizes=True)


def computed(X: Any) -> Any:
    """All of a collection in memory, as a NumPy array."""
    import numpy as np

    parts = Workers().compute(blocks_of(X)[0], "collecting")
    return np.concatenate([np.asarray(as_block(part)) for part in parts])


def first_sample(X: Any, workers: Workers) -> Any:
    """One sample of a collection, in a collection of its own kind; None where there is none."""
    from dask import delayed

    head = delayed(_head, pure=False)
    for k, block in enumerate(blocks_of(X)[0]):
        found = workers.compute([head(block, dask_key_name=f"first sample-{uuid.uuid4().hex}-{k}")], "first sample")[0]
        if found is not None:
            return found
    return None


def _known_client() -> Any:
    """The client that Dask would use; without importing what nobody has imported, there is none."""
    import dask

    if "distributed" not in sys.modules or dask.config.get("scheduler", None) not in (
        None,
        "distributed",
        "dask.distributed",
    ):
        return None
    from distributed import get_client

    try:
        return get_client()
    except ValueError:
        return None


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def _large_graphs() -> Iterator[None]:
    """Landmarks are a part of the graph, so that a worker that is lost takes none with it."""
    import dask

    with dask.config.set({"distributed.admin.large-graph-warning-threshold": _LARGE}):
        yield


def _same(block: Any) -> Any:
    return block


def _second(_: Any, value: Any) -> Any:
    return value


def _item(answer: tuple[Any, ...], i: int) -> Any:
    return answer[i]


def as_block(block: Any) -> Any:
    """A block as a collection of samples: an iterator, as bags have them, as a list."""
    return list(block) if isinstance(block, Iterator) else block


def _call(sent: tuple[Callable[..., Any], tuple[Any, ...]], block: Any, own: tuple[Any, ...]) -> Any:
    of, args = sent
    return of(block, *own, *args)


def _added(parts: list[tuple[Any, ...] | None]) -> tuple[Any, ...] | None:
    there = [part for part in parts if part is not None]
    return tuple(sum(values[1:], start=values[0]) for values in zip(*there, strict=True)) if there else None


def _head(block: Any) -> Any:
    block = as_block(block)
    rows = block.iloc if hasattr(block, "iloc") else block
    count = block.shape[0] if hasattr(block, "shape") else len(block)
    return rows[:1] if count else None


def _answer(of: Callable[[Any], Any], block: Any, number: int, empty: Any) -> Any:
    block = as_block(block)
    if not (block.shape[0] if hasattr(block, "shape") else len(block)):
        return empty
    try:
        return of(block)
    except ValueError as error:
        raise type(error)(f"Block {number}: {error}") from None
