"""Where to compute, how precisely, in how much memory and on how many threads; and memory that is used again."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import DTypeLike

from mercer.arrays import Array, empty
from mercer.runtime.threads import default_workers, in_worker
from mercer.troubles import coded

if TYPE_CHECKING:
    from distributed import Client

_UNITS = {"B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12, "KIB": 2**10, "MIB": 2**20, "GIB": 2**30}


@dataclass(frozen=True, kw_only=True)
class Compute:
    """Where and within what bounds to compute; ``None`` follows the data.

    Every estimator and ``kernel.gram`` take one. It is immutable, and its arguments are given by name.

    Parameters
    ----------
    device : str, optional
        ``"cpu"``, ``"cuda"``, ``"cuda:1"``; all but the CPU need torch. None: where the data is.
    dtype : {"float32", "float64", "tf32"}, optional
        ``"tf32"`` is float32 with three-digit inner products on a GPU that has them. None: float32 data stays float32,
        everything else is float64.
    memory : int or str, optional
        The most that one operation may allocate (result and workspace, not your data): bytes, or ``"2GB"``. None: half
        of the physical memory of the machine (or of its container).
    threads : int, optional
        None: the cores this process may use, or ``OMP_NUM_THREADS`` when that is smaller. Results do not depend on it.
    client : distributed.Client, optional
        Whose workers compute what is asked of Dask collections. None: the client that Dask knows, else its default
        scheduler. It is not part of a saved machine.

    Examples
    --------
    >>> import mercer as mc
    >>> compute = mc.Compute(dtype="float32", memory="1GB", threads=2)
    >>> compute.budget, compute.workers
    (1000000000, 2)
    >>> mc.Gaussian(0.5).gram([[0.0], [1.0]], compute=compute)
    <KernelGram 2 × 2 float32>
    """

    device: str | None = None
    dtype: str | None = None
    memory: int | str | None = None
    threads: int | None = None
    client: Client | None = None

    def __post_init__(self) -> None:
        if self.dtype not in (None, "tf32") and str(np.dtype(self.dtype)) not in ("float32", "float64"):
            raise ValueError(
                coded(
                    f"Compute(dtype={self.dtype!r}): kernels are computed in 'float32' or 'float64' ('tf32' on a GPU).",
                    "M205",
                )
            )
        if self.threads is not None and (not isinstance(self.threads, int) or self.threads < 1):
            raise ValueError(
                coded(
                    f"Compute(threads={self.threads!r}): give a whole number of at least 1, or None for all cores.",
                    "M205",
                )
            )
        if self.budget <= 0:
            raise ValueError(coded(f"Compute(memory={self.memory!r}): the budget must be positive.", "M205"))

    def __deepcopy__(self, memo: dict[int, Any]) -> Compute:
        return self  # nothing of it changes, and a client cannot be copied

    def __reduce__(self) -> tuple[Any, ...]:
        return _compute, (self.device, self.dtype, self.memory, self.threads)

    @property
    def budget(self) -> int:
        """The memory budget in bytes, whichever way ``memory`` was given."""
        if self.memory is None:
            return physical_memory() // 2
        if isinstance(self.memory, str):
            return _bytes(self.memory)
        return int(self.memory)

    @property
    def workers(self) -> int:
        """The number of threads that compute: ``threads``, or what this process may use."""
        return self.threads or default_workers()


_UNDER_WAY: ContextVar[Compute | None] = ContextVar("bounds", default=None)


@contextmanager
def within(compute: Compute | None) -> Iterator[None]:
    """What is done inside keeps to the memory and the threads of ``compute``, also where nobody hands it on, as in the
    hooks of kernels that look at the samples; None changes nothing.
    """
    if not isinstance(compute, Compute):  # None, or what the fit will refuse
        yield
        return
    before = _UNDER_WAY.set(Compute(memory=compute.memory, threads=compute.threads))
    try:
        yield
    finally:
        _UNDER_WAY.reset(before)


def bounds() -> Compute:
    """Memory and threads of the call that is under way; precision and device are those of the data.

    Examples
    --------
    >>> from mercer.compute import Compute, bounds, within
    >>> with within(Compute(memory="50MB", threads=1)):
    ...     bounds()
    Compute(device=None, dtype=None, memory='50MB', threads=1, client=None)
    """
    return _UNDER_WAY.get() or Compute()


def _compute(device: str | None, dtype: str | None, memory: int | str | None, threads: int | None) -> Compute:
    return Compute(device=device, dtype=dtype, memory=memory, threads=threads)


def _bytes(text: str) -> int:
    digits = text.strip().upper().rstrip("BIKMGT").strip()
    unit = text.strip().upper()[len(digits) :].strip() or "B"
    try:
        return int(float(digits) * _UNITS[unit])
    except (ValueError, KeyError):
        raise ValueError(
            coded(f"memory={text!r} is not a size: write bytes as a number, or '500MB', '2GB', '1.5GiB'.", "M205")
        ) from None


@cache
def physical_memory() -> int:
    """Bytes of memory this process may hope for: the machine's, or its container's limit when that is smaller."""
    try:
        total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # no sysconf on Windows: be modest
        total = 8 * 2**30
    try:
        with open("/sys/fs/cgroup/memory.max") as limit:
            total = min(total, int(limit.read()))
    except (OSError, ValueError):
        pass
    return total


def peak_bytes() -> int | None:
    """The most memory that the process has held so far; None where the system does not say."""
    try:
        import resource
    except ImportError:  # Windows
        return None
    unit = 1 if sys.platform == "darwin" else 1024
    return unit * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def human(size: float) -> str:
    """A number of bytes as people say it: 1.6 GB."""
    for unit in ("B", "kB", "MB", "GB"):
        if size < 1000:
            return f"{size:.3g} {unit}"
        size /= 1000
    return f"{size:.3g} TB"


_kept_workspace = threading.local()
_WORKSPACE_SHARE = 64  # of the machine's memory, one part of so many is kept
_WORKSPACE_OF_HELPER = 128 * 2**20


def workspace(count: int, dtype: DTypeLike) -> Array:
    """An aligned array of ``count`` values, of memory that this thread has used before if some was put aside with
    ``release_workspace``.

    Memory the process has never touched costs more than the kernel values written to it. Who takes it has it alone,
    also where a callback starts the same work again.
    """
    size = count * np.dtype(dtype).itemsize
    kept = _kept_workspace.__dict__.pop("bytes", None)
    if kept is None or kept.size < size:
        kept = empty((size,), np.uint8)
    return kept[:size].view(dtype)


def release_workspace(room: Array) -> None:
    """Keep a workspace of up to a 64th of the machine's memory for this thread's next; threads of a pool, which are
    many, keep less.
    """
    if room.nbytes <= (_WORKSPACE_OF_HELPER if in_worker() else physical_memory() // _WORKSPACE_SHARE):
        _kept_workspace.bytes = room.view(np.uint8)
