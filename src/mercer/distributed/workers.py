"""Who computes: the workers of a client, or Dask's default scheduler."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from mercer.compute import Compute
from mercer.runtime.watch import abandonable, look
from mercer.troubles import coded

if TYPE_CHECKING:
    from distributed import Client

_PAUSE = 0.05  # seconds between two looks at the clock
_LARGE = "100MB"  # of what is sent, from which on Dask is to warn


class ClusterLost(RuntimeError):
    """The scheduler of a Dask cluster does not answer any more."""


class Workers:
    """Who computes: the workers of a client, or Dask's default scheduler where there is none.

    Parameters
    ----------
    client : distributed.Client or None
        None: the client that Dask knows, if any.
    """

    def __init__(self, client: Client | None = None) -> None:
        if client is not None and not hasattr(client, "scheduler_info"):
            raise TypeError(
                coded(
                    f"Compute(client={client!r}): a dask.distributed.Client; of an address or a cluster,"
                    " Client(address_or_cluster).",
                    "M205",
                )
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
                coded(
                    f"The Dask client is {self.client.status}: connect to a scheduler that runs, Client(address), or"
                    " give no client to compute here.",
                    "M405",
                )
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
                raise ClusterLost(
                    coded(f"The Dask cluster gave up on {stage!r}: its scheduler or its workers were lost.", "M405")
                )
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
