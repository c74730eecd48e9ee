"""Threads: one pool over independent tasks, BLAS held to one thread meanwhile; whole after a fork."""

from __future__ import annotations

import atexit
import ctypes
import os
import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager, nullcontext, suppress
from functools import cache
from typing import Any, ClassVar, Generic, Self, TypeVar, overload
from weakref import WeakSet

from mercer.runtime import watch
from mercer.runtime.watch import Result

Value = TypeVar("Value")


@cache
def default_workers() -> int:
    """The cores this process may use, or ``OMP_NUM_THREADS`` when that is smaller."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    # what joblib sets in its workers, so that nested parallelism does not explode
    wish = os.environ.get("OMP_NUM_THREADS", "")
    return min(cores, int(wish)) if wish.isdigit() and int(wish) > 0 else cores


@cache
def _pool(workers: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(workers, thread_name_prefix="mercer")


class _SingleThreadedBlas:
    """Holds BLAS to one thread while anyone is inside; the last one out restores it.

    threadpoolctl's own context manager restores what it found, so two overlapping users could leave BLAS at one thread
    for good.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._inside = 0
        self._mine = threading.local()  # how many times this thread is inside
        self._libraries: list[Any] | None = None
        self._before: list[int | None] = []  # the threads of each library, to be restored; None where it does not say

    @contextmanager
    def __call__(self) -> Iterator[None]:
        self.enter()
        self._mine.count = getattr(self._mine, "count", 0) + 1
        try:
            yield
        finally:
            self._mine.count -= 1
            self.leave()

    def enter(self) -> None:
        with self._lock:
            if self._inside == 0:
                if self._libraries is None:  # 0.8 ms to find, so find them once
                    from threadpoolctl import ThreadpoolController

                    self._libraries = ThreadpoolController().select(user_api="blas").lib_controllers
                _release_control()
                self._before = [library.get_num_threads() for library in self._libraries]
                self._set([1] * len(self._before))
            self._inside += 1

    def leave(self) -> None:
        with self._lock:
            self._inside -= 1
            if self._inside == 0:
                self._restore()

    def _restore(self) -> None:
        _release_control()
        self._set(self._before)
        _release_control()

    def _set(self, counts: Sequence[int | None]) -> None:
        for library, count, before in zip(self._libraries or [], counts, self._before, strict=True):
            if before is not None and before != 1:
                library.set_num_threads(count)

    def only_this_thread(self) -> None:
        """After a fork: the others inside are not there any more, nor is whoever held the lock."""
        before, self._inside, self._lock = self._inside, getattr(self._mine, "count", 0), threading.Lock()
        if before and not self._inside:
            self._restore()


def _release_control() -> None:
    """threadpoolctl 3.8 lets one thread alone set OpenBLAS, the first that did; here the first one in and the last one
    out are often two.
    """
    from threadpoolctl import OpenBLASController

    if hasattr(OpenBLASController, "clear_controlling_thread"):
        OpenBLASController.clear_controlling_thread(force=True)


single_threaded_blas = _SingleThreadedBlas()
# rows of a matrix whose factorisation is over before a second thread is awake, or stuck if that has to wait for a core
_SMALL = 600


def single_threaded_if_small(n: int) -> Any:
    """A context with BLAS on one thread for matrices of n rows, where n is small; it is as it was for large ones."""
    return single_threaded_blas() if n < _SMALL else nullcontext()


_in_worker = threading.local()


class Interrupted(KeyboardInterrupt):
    """Another thread of the same work has failed or was interrupted: its error is the one to tell."""


def in_worker() -> bool:
    """Whether this thread is at a task of the pool."""
    return getattr(_in_worker, "yes", False)


class ForkSafeLock:
    """A re-entrant lock that is open in a forked child: whoever held it there was another thread, and is not there any
    more.
    """

    _all: ClassVar[WeakSet[ForkSafeLock]] = WeakSet()

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._all.add(self)

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        self._lock.release()


def _after_fork_in_child() -> None:
    """A forked child has this thread alone: the pool's threads, those inside BLAS, and who held a lock are not
    there.
    """
    for each in ForkSafeLock._all:
        each._lock = threading.RLock()
    _pool.cache_clear()
    _in_worker.__dict__.clear()
    _left.clear()
    single_threaded_blas.only_this_thread()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork_in_child)


def run_tasks(
    task: Callable[[Any], None], tasks: Iterable[Any], workers: int, *, blas: bool = True, stage: str = "kernel values"
) -> None:
    """Run ``task(t)`` for each t, on ``workers`` threads, BLAS on one thread each; not ``blas``: none of them calls it,
    and it is left alone.

    The tasks are independent and write to disjoint places, so the result does not depend on ``workers``. An error,
    Ctrl-C or a deadline stops every worker after the task it is at; long tasks ask ``stopping()`` now and then. A task
    that itself calls ``run_tasks`` runs its own tasks in place: waiting for a place in the pool from inside the pool
    would never end. ``stage`` says what is done to who listens (``mercer.runtime.watch``).
    """
    waiting, held = list(tasks), single_threaded_blas if blas else nullcontext
    count = len(waiting)
    if not count:
        return
    if workers == 1 or count < 2 or in_worker():
        with held():
            for k, t in enumerate(waiting):
                if stopping():
                    raise Interrupted
                task(t)
                watch.look(stage, (k + 1) / count)
        return
    queue, lock, stop, watched = iter(enumerate(waiting)), threading.Lock(), threading.Event(), watch.current()

    def work() -> None:
        _in_worker.yes, _in_worker.stop = True, stop
        try:
            with watch.shared(watched):
                while not stop.is_set():
                    with lock:
                        try:
                            k, t = next(queue)
                        except StopIteration:
                            return
                    task(t)
                    watch.look(stage, (k + 1) / count)
        except BaseException:
            stop.set()
            raise
        finally:
            _in_worker.yes, _in_worker.stop = False, None

    with held():
        # this thread works too: it is awake, the others may take as long to wake up as a small task takes
        helpers = [_pool(workers).submit(work) for _ in range(workers - 1)]
        try:
            work()
        except Interrupted:
            pass  # a helper's error follows
        except BaseException:
            stop.set()
            raise
        finally:
            wait(helpers)
        errors = [error for helper in helpers if (error := helper.exception()) is not None]
        if errors:
            raise next((error for error in errors if not isinstance(error, Interrupted)), errors[0])


@contextmanager
def assistant(work: Callable[[], None], stop: Callable[[], None], workers: int) -> Iterator[None]:
    """``work`` on another thread while the body runs, where there is one to spare; ``stop`` makes it end, whatever ends
    the body.
    """
    if workers < 2 or in_worker():
        yield
        return
    helper = _pool(workers).submit(work)
    try:
        yield
    finally:
        late: KeyboardInterrupt | None = None
        while True:  # Ctrl-C may come between any two instructions, and a thread that watches must still be told
            try:
                stop()
                helper.result()
                break
            except KeyboardInterrupt as signal:
                late = signal
        if late is not None:
            raise late


def run_loops(task: Callable[[Any], None], items: Iterable[Any]) -> None:
    """``run_tasks`` for compiled loops, which call no BLAS."""
    run_tasks(task, items, default_workers(), blas=False)


def stopping() -> bool:
    """Whether the pool this thread works for has been told to stop: long tasks ask now and then."""
    stop = getattr(_in_worker, "stop", None)
    return stop is not None and stop.is_set()


def abandonable(call: Callable[[], Result], stage: str = "factorisation") -> Result:
    """``watch.abandonable``, also left where the pool this thread works for has been told to stop.

    A call that is left goes on with BLAS on one thread: it takes one core from what comes after, and a process that
    ends need not wait for it.
    """
    turn, state = threading.Lock(), {"done": False, "thread": 0, "left": False}

    def work() -> Result:
        with turn:
            state["thread"] = threading.get_ident()
            if state["left"]:
                _left[state["thread"]] = stage
        try:
            return call()
        finally:
            with turn:
                state["done"] = True
                if state["left"]:
                    _left.pop(state["thread"], None)
                    single_threaded_blas.leave()

    def look() -> None:
        if stopping():
            raise Interrupted

    try:
        return watch.abandonable(work, stage, look)
    except BaseException:
        with turn:
            if not state["done"]:
                state["left"] = True
                if state["thread"]:
                    _left[state["thread"]] = stage
                single_threaded_blas.enter()
        raise


_left: dict[int, str] = {}  # threads with a call that nobody waits for, and what they do
COMPILING = "compiling"
_COMPILED = 60.0  # seconds by which a function is compiled


def _halt_what_was_left() -> None:
    """Before the process ends: threads in a call that nobody waits for stand still, since libraries unload while it
    would still read their memory.

    A handler in C, libc's own ``pause``, is all that such a thread can be made to run. The compiler is waited for: it
    is soon done, and where it stood still it might hold the lock of the memory that the process gives back.
    """
    end = time.monotonic() + _COMPILED
    while COMPILING in _left.values() and time.monotonic() < end:
        time.sleep(0.02)
    if not _left or not hasattr(signal, "pthread_kill") or not hasattr(signal, "SIGRTMAX"):
        return
    libc = ctypes.CDLL(None)
    libc.signal.argtypes, libc.signal.restype = [ctypes.c_int, ctypes.c_void_p], ctypes.c_void_p
    number = int(signal.SIGRTMAX) - 2
    libc.signal(number, ctypes.cast(libc.pause, ctypes.c_void_p))
    for thread in list(_left):
        with suppress(ProcessLookupError):
            signal.pthread_kill(thread, number)
    time.sleep(0.05)  # until they do


atexit.register(_halt_what_was_left)


class cached_property(Generic[Value]):
    """A property computed when it is first asked for, and kept. Python's own held one lock for all objects of a class
    until 3.12: two threads of the pool could wait for each other, and a forked child for a thread that is not there.
    Two threads may compute the same value here.
    """

    def __init__(self, compute: Callable[[Any], Value]) -> None:
        self.compute, self.name, self.__doc__ = compute, compute.__name__, compute.__doc__

    @overload
    def __get__(self, obj: None, owner: type | None = None) -> Self: ...

    @overload
    def __get__(self, obj: object, owner: type | None = None) -> Value: ...

    def __get__(self, obj: object, owner: type | None = None) -> Any:
        if obj is None:
            return self
        value = obj.__dict__[self.name] = self.compute(obj)  # found there before this is asked again
        return value
