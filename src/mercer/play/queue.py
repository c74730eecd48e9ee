"""One thread that computes, and what waits for it: of each page the newest request, and of it alone.

A request that is followed by a newer one is dropped at once: where it waits, between two views, and inside a solver or
a matrix, whose watch (``mercer.runtime.watch``) is told that its time is over.
"""

from __future__ import annotations

import logging
import re
import threading
import time
import warnings
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, field
from typing import Any

from mercer.play.limits import LONGEST_WORDS, SECONDS
from mercer.play.views import View, frame
from mercer.runtime.watch import OutOfTime, Stopped, Watch, shared

_log = logging.getLogger("mercer.play")
_CODE = re.compile(r"\s*\[(M\d\d\d)\]\.?\s*$")
_PLACE = re.compile(r"\AAt character (\d+)")

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

    def drop(self) -> None:
        """No more frames; what is computed for it ends at its next look at the clock."""
        self.dropped = True
        if self.watch is not None:
            self.watch.seconds = 0.0

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
        self._thread = threading.Thread(target=self._work, name="mercer-play", daemon=True)
        self._thread.start()

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
                self._changed.wait_for(lambda: bool(self._waiting) or self._closed)
                if self._closed:
                    return
                job = self._running = self._waiting.pop(next(iter(self._waiting)))
                job.watch = Watch(job.seconds, None, False, None)
            try:
                self._answered(job)
            finally:
                with self._changed:
                    self._running = None

    def _answered(self, job: Job) -> None:
        """Send the views of a job as they come, then ``done``; or why there are none."""
        notices: list[str] = []
        try:
            with shared(job.watch), warnings.catch_warnings(record=True) as warned:
                warnings.simplefilter("always")
                for view in self._answer(job.said):
                    job.frame(view)
                    if job.dropped:
                        return
                    assert job.watch is not None
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
    words = _shortened(str(error))
    code = _CODE.search(str(error))
    if isinstance(error, ValueError | MemoryError) or (code is not None and not isinstance(error, Stopped)):
        said: dict[str, Any] = {"message": words}
        place = _PLACE.match(words)
        if code is not None:
            said["code"] = code[1]
        if place is not None:
            said["at"] = int(place[1]) - 1
        return View("refused", said)
    _log.error("A fault while a page was answered", exc_info=error)
    words = f"A fault of Mercer, not of yours: {type(error).__name__}: {words}"
    return View("refused", {"message": words, "code": "fault"})


def _shortened(words: str) -> str:
    words = _CODE.sub("", words)
    return words if len(words) <= LONGEST_WORDS else f"{words[: LONGEST_WORDS - 1]}…"
