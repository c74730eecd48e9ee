"""One thread that computes, and what waits for it: of each page the newest request, and of it alone.

A request that is followed by a newer one is dropped at once: where it waits, between two views, and inside a solver or
a matrix, whose watch (``mercer.runtime.watch``) is told that its time is over. What does not look at the clock is left
alone soon after, and another thread takes the place of its own.
"""

from __future__ import annotations

import logging
import math
import re
import threading
import time
import warnings
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, field
from typing import Any

from mercer.compute import Compute, within
from mercer.play.limits import LEFT_AFTER, LONGEST_WORDS, MEMORY, MOST_LEFT, SECONDS, Lacking, Refused
from mercer.play.views import View, frame
from mercer.play.words import for_the_page
from mercer.runtime.watch import OutOfTime, Stopped, Watch, shared

_log = logging.getLogger("mercer.play")
_CODE = re.compile(r"\s*\[(M\d\d\d)\]\.?\s*$")
_PLACE = re.compile(r"\AAt character (\d+)")

_TOO_MUCH = (
    f"{MOST_LEFT} things that were asked for before do not stop, and are still computed: wait, or end mercer play with"
    " Ctrl-C and start it again."
)
_LOOK = 0.1  # seconds between two looks at the thread that computes

Answer = Callable[[dict[str, Any]], Iterator[View]]


@dataclass(eq=False)
class Job:
    """A request of a page, and where its frames go. ``dropped`` once there is a newer one."""

    page: Hashable
    said: dict[str, Any]
    send: Callable[[Job, bytes], None]
    seconds: float
    began: float = field(default_factory=time.perf_counter)
    dropped: bool = False
    watch: Watch | None = None
    until: float = math.inf  # when it should have ended

    def start(self) -> None:
        """Its seconds begin."""
        self.watch = Watch(self.seconds, None, False, None)
        self.until = self.watch.began + self.seconds

    def drop(self) -> None:
        """No more frames; what is computed for it ends at its next look at the clock."""
        self.dropped = True
        if self.watch is not None:
            self.watch.seconds = 0.0
            self.until = min(self.until, time.perf_counter())

    def frame(self, view: View, *, last: bool = False) -> None:
        """Send a view, unless a newer request has come."""
        if not self.dropped:
            self.send(self, frame(view, id=self.said.get("id"), last=last, seconds=time.perf_counter() - self.began))


class Queue:
    """Requests that wait, and the thread that answers them; ``answer`` gives the views of one."""

    def __init__(self, answer: Answer, seconds: float = SECONDS) -> None:
        self._answer, self._seconds = answer, seconds
        self._waiting: dict[Hashable, Job] = {}  # by page and kind, in the order in which they are answered
        self._running: Job | None = None
        self._closed = False
        self._changed = threading.Condition()
        self._left: list[threading.Thread] = []
        self._thread = self._begun()
        threading.Thread(target=self._look, name="mercer-play-clock", daemon=True).start()

    def _begun(self) -> threading.Thread:
        thread = threading.Thread(target=self._work, name="mercer-play", daemon=True)
        self._thread = thread
        thread.start()
        return thread

    def put(self, page: Hashable, said: dict[str, Any], send: Callable[[Job, bytes], None]) -> None:
        """Ask for an answer, in the place of what the same page has asked of the same kind; ``send`` is called by the
        thread that computes.
        """
        key, job = (page, said["ask"]), Job(page, said, send, self._seconds)
        with self._changed:
            if self._running is not None and (self._running.page, self._running.said["ask"]) == key:
                self._running.drop()
            if key in self._waiting:
                self._waiting[key].drop()
            self._waiting[key] = job  # it keeps the turn of the older one
            self._changed.notify()

    def leave(self, page: Hashable) -> None:
        """A page is gone: nothing more is computed for it."""
        with self._changed:
            for key in [key for key, job in self._waiting.items() if job.page == page]:
                self._waiting.pop(key).drop()
            if self._running is not None and self._running.page == page:
                self._running.drop()

    def close(self) -> None:
        """Drop everything; the thread ends, and nobody waits for it."""
        with self._changed:
            self._closed = True
            for job in (*self._waiting.values(), *([self._running] if self._running else [])):
                job.drop()
            self._waiting.clear()
            self._changed.notify()

    def join(self, seconds: float) -> bool:
        """Whether the thread has ended, after so many seconds at most."""
        self._thread.join(seconds)
        return not self._thread.is_alive()

    def _work(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: bool(self._waiting) or self._closed or self._is_left())
                if self._closed or self._is_left():
                    return
                job = self._running = self._waiting.pop(next(iter(self._waiting)))
                job.start()
            try:
                self._answered(job)
            except Exception:
                _log.exception("A fault while a page was told something")
            finally:
                with self._changed:
                    if self._running is job:
                        self._running = None

    def _is_left(self) -> bool:
        """Whether another thread has taken the place of this one."""
        return threading.current_thread() is not self._thread

    def _look(self) -> None:
        """Now and then: whether the thread that computes still listens."""
        while not self._closed:
            time.sleep(_LOOK)
            with self._changed:
                job = self._running
                late = job is not None and time.perf_counter() > job.until + LEFT_AFTER
                self._left = [thread for thread in self._left if thread.is_alive()]
                if job is None or job.watch is None or not late or self._closed:
                    continue
                if len(self._left) < MOST_LEFT:
                    _log.warning("What was asked for does not stop, and was left: %.200s", job.said.get("state"))
                    self._left.append(self._thread)
                    self._running = None
                    self._begun()
                    refused, why = [job], refusal(OutOfTime(job.watch), self._seconds)
                else:
                    refused, why = [job, *self._waiting.values()], refusal(Refused(_TOO_MUCH))
                    self._waiting.clear()
            for one in refused:
                one.frame(why, last=True)
                one.drop()

    def _answered(self, job: Job) -> None:
        """Send the views of a job as they come, then ``done``; or why there are none."""
        notices: list[str] = []
        try:
            with within(Compute(memory=MEMORY)), shared(job.watch), warnings.catch_warnings(record=True) as warned:
                warnings.simplefilter("always")
                for view in self._answer(job.said):
                    job.frame(view)
                    if job.dropped:
                        return
                    if job.watch is not None:
                        job.watch.check(time.perf_counter())
            notices = list(dict.fromkeys(_shortened(str(one.message)) for one in warned))
        except Exception as error:
            if not job.dropped:
                job.frame(refusal(error, self._seconds), last=True)
        else:
            job.frame(View("done", {"notices": notices}), last=True)


def refusal(error: Exception, seconds: float = SECONDS) -> View:
    """An error as words for the page: what was asked for and cannot be, or a fault of Mercer, which is logged."""
    if isinstance(error, OutOfTime):
        words = f"This takes more than {seconds:g} seconds: take fewer points, or a kernel that costs less."
        return View("refused", {"message": words, "code": "M303"})
    error = _in_words(error)
    words = _shortened(str(error))
    code = _CODE.search(str(error))
    if isinstance(error, ValueError | MemoryError) or (code is not None and not isinstance(error, Stopped)):
        said: dict[str, Any] = {"message": words}
        place = _PLACE.match(words)
        if code is not None:
            said["code"] = code[1]
        if place is not None:
            said["at"] = int(place[1]) - 1
        if isinstance(error, Lacking):
            said |= {"lacking": True} | ({} if error.facts is None else {"facts": error.facts})
        return View("refused", said)
    _log.error("A fault while a page was answered", exc_info=error)
    words = f"A fault of Mercer, not of yours: {type(error).__name__}: {words}"
    return View("refused", {"message": words, "code": "fault"})


def _in_words(error: Exception) -> Exception:
    """The same said of this page, where what was raised speaks of memory or of numbers alone."""
    coded = _CODE.search(str(error)) is not None
    if isinstance(error, MemoryError) and not coded:
        return Refused("This takes more memory than there is: take a smaller kernel, or fewer points.", "M401")
    if isinstance(error, OverflowError) and not coded:
        return Refused("The numbers of this kernel are too large to compute with: take smaller parameters.", "M205")
    if isinstance(error, RecursionError):
        return Refused("This is nested too deep to compute: take a shorter expression, or shorter items.")
    return error


def _shortened(words: str) -> str:
    words = for_the_page(_CODE.sub("", words))
    return words if len(words) <= LONGEST_WORDS else f"{words[: LONGEST_WORDS - 1]}…"
