"""Deadlines, progress and Ctrl-C: what every long operation asks now and then.

A *watch* is set around a fit, a search or a solver: seconds that it may take, and a listener that is told how far it
is. It belongs to the context, so that it reaches the tiles of a kernel matrix without a word in between: threads ask
``look()`` between two tasks, solvers ``report(gap=…)`` after a step, and ``abandonable(call)`` leaves a long call of
LAPACK, or of the compiler, where nobody can look, on a thread of its own.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar, copy_context
from typing import Any, TypeVar

from mercer.troubles import coded

Listener = Callable[[dict[str, Any]], Any]
Result = TypeVar("Result")

_PAUSE = 0.05  # seconds between two looks at the clock
_TELL = 0.2  # seconds between two reports of the same work


class Stopped(RuntimeError):
    """A limit was reached, or a listener wants no more.

    reason
        "max_time" or "callback".
    watch
        Whose limit it was.
    """

    reason = "callback"

    def __init__(self, watch: Watch, who: str = "The computation") -> None:
        super().__init__(coded(f"{who} was stopped by its callback{watch.doing}, before there was a result.", "M304"))
        self.watch = watch

    def __reduce__(self) -> tuple[Any, ...]:
        return _as_told, (type(self), str(self))  # a watch stays in its process

    def accepted(self) -> str:
        """The reason, where whoever set the watch takes what there is so far, and is then let come to an end; else this
        is raised again.
        """
        if not self.watch.partial:
            raise self
        self.watch.over = True
        return self.reason


class OutOfTime(Stopped, TimeoutError):
    """The seconds that were given are over."""

    reason = "max_time"

    def __init__(self, watch: Watch, who: str = "The computation") -> None:
        given = f"max_time={watch.seconds:g} s"
        RuntimeError.__init__(
            self,
            coded(
                f"{who} took more than {given}{watch.doing}: there is no result yet. Give it more time, or fewer"
                " samples.",
                "M303",
            ),
        )
        self.watch = watch


def _as_told(cls: type[Stopped], message: str) -> Stopped:
    """A stop of another process, without its watch."""
    stop = (TimeoutError if issubclass(cls, TimeoutError) else RuntimeError).__new__(cls)
    stop.args = (message,)
    return stop


class Watch:
    """Seconds and a listener for what happens inside; ``partial`` says that an unfinished answer is welcome."""

    def __init__(self, seconds: float | None, listener: Listener | None, partial: bool, outer: Watch | None) -> None:
        self.seconds, self.listener, self.partial, self.outer = seconds, listener, partial, outer
        self.began = time.perf_counter()
        self.state: dict[str, Any] = {}
        self.over = False  # what is left is to be finished, and nothing new begun
        self._next = self.began + _PAUSE
        self._told = self.began
        self._telling = threading.RLock()

    @property
    def doing(self) -> str:
        """What was going on, in words."""
        stage, share = self.state.get("stage"), self.state.get("share")
        return "" if not stage else f" ({stage}{'' if share is None else f', {share:.0%} done'})"

    def chain(self) -> Iterator[Watch]:
        """This watch and those around it."""
        watch: Watch | None = self
        while watch is not None:
            yield watch
            watch = watch.outer

    def look(self, stage: str, share: float | None) -> None:
        """The clock, and what the listener is told if it has heard nothing for a while."""
        for watch in self.chain():
            # else a part of the work that does not know how far the whole is
            if share is not None or watch.state.get("stage") != stage:
                watch.state["stage"], watch.state["share"] = stage, share
        now = time.perf_counter()
        if now < self._next:
            return
        self._next = now + _PAUSE
        self.check(now, finishing=True)
        for watch in self.chain():
            if (
                watch.listener is not None
                and not watch.over
                and now - watch._told >= _TELL
                and watch._telling.acquire(blocking=False)
            ):
                try:
                    watch.tell(now)
                finally:
                    watch._telling.release()

    def check(self, now: float, *, finishing: bool = False) -> None:
        """Raise if the time of this watch has passed, or that of one around it: then of the outermost. ``finishing``:
        not of one that is over.
        """
        open_ones = [watch for watch in self.chain() if watch.seconds is not None and not (finishing and watch.over)]
        late = [watch for watch in open_ones if watch.seconds is not None and now - watch.began > watch.seconds]
        if late:
            raise OutOfTime(late[-1])

    def say(self, **state: Any) -> None:
        """Tell the listener at once, and raise if it wants no more or the time is over."""
        now = time.perf_counter()
        self.state.update(state, stage="solver", share=None)
        with self._telling:
            self.tell(now)
        self.check(now)

    def tell(self, now: float) -> None:
        """Call the listener, which may itself fit machines, unwatched; raise if it wants no more."""
        listener, self._told = self.listener, now
        if listener is None:
            return
        token = _current.set(None)
        try:
            enough = listener({**self.state, "seconds": now - self.began})
        finally:
            _current.reset(token)
        if enough:
            raise Stopped(self)


_current: ContextVar[Watch | None] = ContextVar("mercer_watch", default=None)


def current() -> Watch | None:
    """The watch of what this thread does."""
    return _current.get()


@contextmanager
def watching(
    seconds: float | None = None, listener: Listener | None = None, *, partial: bool = False, **state: Any
) -> Iterator[Watch | None]:
    """What is done inside may take so many seconds and reports to the listener, beginning with ``state``; without
    either, nothing is watched.
    """
    if seconds is None and listener is None:
        yield None
        return
    with shared(Watch(seconds, listener, partial, _current.get())) as watch:
        assert watch is not None
        watch.state.update(state)
        yield watch


@contextmanager
def shared(watch: Watch | None) -> Iterator[Watch | None]:
    """The watch of another thread, for which this one works."""
    token = _current.set(watch)
    try:
        yield watch
    finally:
        _current.reset(token)


def unwatched() -> AbstractContextManager[Watch | None]:
    """For a short piece of work that must not be left half done."""
    return shared(None)


def look(stage: str = "kernel values", share: float | None = None) -> None:
    """Between two pieces of work: raise ``Stopped`` where a deadline has passed or a listener wants no more."""
    watch = _current.get()
    if watch is not None:
        watch.look(stage, share)


def begin() -> None:
    """Before a solver begins: raise ``Stopped`` if one before it was stopped, so that nothing new is begun."""
    watch = _current.get()
    ended = [each for each in watch.chain() if each.over] if watch is not None else []
    if ended:
        ended[-1].check(time.perf_counter())
        raise Stopped(ended[-1])


def report(**state: Any) -> None:
    """Tell who listens to this fit where its solver stands, and raise ``Stopped`` as ``look`` does; who waits for more
    than this fit hears now and then that something is done.
    """
    watch = _current.get()
    if watch is None:
        return
    for each in watch.chain():
        if each.partial:
            each.say(**state)
    watch.look("solver", None)
    watch.check(time.perf_counter())


def asked_to_stop(**state: Any) -> str:
    """``report``, for a solver that can end with what it has: the reason to do so, or nothing."""
    try:
        report(**state)
    except Stopped as stop:
        return stop.accepted()
    return ""


def abandonable(
    call: Callable[[], Result], stage: str = "factorisation", also: Callable[[], None] = lambda: None
) -> Result:
    """``call()``, on a thread that is left alone if Ctrl-C or a deadline comes first, or ``also``, asked now and then,
    raises.

    For calls that take seconds and cannot look themselves: they must release the GIL. A call that was left runs to its
    end, and nobody waits for it.
    """
    box: dict[str, Any] = {}
    done = threading.Event()
    context = copy_context()

    def work() -> None:
        try:
            box["result"] = context.run(call)
        except BaseException as error:
            box["error"] = error
        finally:
            done.set()

    threading.Thread(target=work, name="mercer-call", daemon=True).start()
    while not done.wait(_PAUSE):
        also()
        look(stage)
    if "error" in box:
        raise box["error"]
    return box["result"]
