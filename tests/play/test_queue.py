"""What waits and what is computed: of a page the newest request wins, and nothing asked for stops the others."""

from __future__ import annotations

import logging
import re
import threading
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import mercer.play.queue as module
from mercer.compute import Compute, bounds
from mercer.kernels.notation import NotationError
from mercer.play.limits import LONGEST_WORDS, MEMORY, MOST_LEFT, Refused
from mercer.play.queue import Job, Queue, refusal
from mercer.play.views import View
from mercer.runtime.watch import Stopped, Watch, current, look
from mercer.troubles import coded

from .asked import Frame, decoded

WAIT = 60.0  # seconds until a test gives up, however busy the machine is
Answer = Callable[[dict[str, Any]], Iterator[View]]


class Page:
    """A page that asks the queue, and remembers what it was sent."""

    def __init__(self, queue: Queue) -> None:
        self.queue = queue
        self.frames: list[Frame] = []
        self.changed = threading.Condition()
        self.count = 0

    def ask(self, ask: str = "show", **said: Any) -> int:
        self.count += 1
        self.queue.put(self, {"ask": ask, "id": self.count, **said}, self.send)
        return self.count

    def send(self, job: Job, data: bytes) -> None:
        with self.changed:
            self.frames.append(decoded(data))
            self.changed.notify_all()

    def of(self, identity: int) -> list[str]:
        """The names of the views that were sent to a request."""
        return [frame.view for frame in self.frames if frame.header["id"] == identity]

    def last(self, identity: int) -> Frame:
        """Wait for the end of an answer."""

        def ended() -> Frame | None:
            return next((f for f in self.frames if f.header["id"] == identity and f.header["last"]), None)

        with self.changed:
            assert self.changed.wait_for(lambda: ended() is not None, WAIT), "no answer"
            found = ended()
        assert found is not None
        return found

    def why(self, identity: int) -> str:
        """Wait for a refusal, and read it."""
        frame = self.last(identity)
        assert frame.view == "refused"
        return str(frame.data["message"])


@pytest.fixture
def queues() -> Iterator[Callable[..., Queue]]:
    """Makes queues, which are closed at the end, when no thread of theirs may be left."""
    made: list[Queue] = []
    before = set(threading.enumerate())

    def make(answer: Answer, seconds: float = WAIT) -> Queue:
        made.append(Queue(answer, seconds))
        return made[-1]

    yield make
    for queue in made:
        queue.close()
    for thread in set(threading.enumerate()) - before:
        thread.join(WAIT)
        assert not thread.is_alive(), thread


class Gate:
    """An answer that stands still at a gate until it is opened, and does not look at the clock."""

    def __init__(self) -> None:
        self.reached, self.opened = threading.Event(), threading.Event()

    def wait(self) -> None:
        self.reached.set()
        assert self.opened.wait(WAIT)


def test_of_a_page_the_newest_request_wins(queues) -> None:
    gate, answered = Gate(), list[int]()

    def answer(said: dict[str, Any]) -> Iterator[View]:
        answered.append(said["id"])
        yield View("facts", {"of": said["id"]})
        if said["id"] == 1:
            gate.wait()
        yield View("plane", {"of": said["id"]})

    page = Page(queues(answer))
    page.ask()
    assert gate.reached.wait(WAIT)
    for _ in range(5):
        page.ask()
    gate.opened.set()
    assert page.last(6).view == "done"
    assert answered == [1, 6]
    assert page.of(1) == ["facts"]  # what was there before the second came
    assert page.of(6) == ["facts", "plane", "done"]
    assert len(page.frames) == 4


def test_what_is_dropped_ends_at_its_next_look_at_the_clock(queues) -> None:
    begun, ended = threading.Event(), threading.Event()

    def answer(said: dict[str, Any]) -> Iterator[View]:
        if said["id"] > 1:
            return
        begun.set()
        try:
            while True:
                look()
            yield
        finally:
            ended.set()

    page = Page(queues(answer))
    page.ask()
    assert begun.wait(WAIT)
    assert page.ask() == 2
    assert ended.wait(WAIT)
    assert page.last(2).view == "done"
    assert page.of(1) == []


def test_requests_of_another_page_and_of_another_kind_are_answered_too_each_in_its_turn(queues) -> None:
    gate, answered = Gate(), list[tuple[str, int]]()

    def answer(said: dict[str, Any]) -> Iterator[View]:
        answered.append((said["page"], said["id"]))
        if len(answered) == 1:
            gate.wait()
        yield View("facts")

    queue = queues(answer)
    first, second = Page(queue), Page(queue)
    first.ask(page="first")
    assert gate.reached.wait(WAIT)
    second.ask(page="second")
    first.ask("python", page="first")
    second.ask(page="second")  # in the turn of the one before
    gate.opened.set()
    assert first.last(1).view == first.last(2).view == second.last(2).view == "done"
    assert answered == [("first", 1), ("second", 2), ("first", 2)]
    assert second.of(1) == []


def test_what_takes_too_long_is_told_so(queues) -> None:
    def answer(said: dict[str, Any]) -> Iterator[View]:
        yield View("facts")
        while said["id"] == 1:
            look()

    page = Page(queues(answer, 0.02))
    page.ask()
    assert "more than 0.02 seconds: take fewer points" in page.why(1)
    assert page.last(1).data["code"] == "M303"
    page.ask()
    assert page.last(2).view == "done"


def test_what_has_no_time_left_between_two_views_is_told_so(queues) -> None:
    def answer(_: dict[str, Any]) -> Iterator[View]:
        yield View("facts")
        watch = current()
        assert watch is not None
        watch.began -= 10 * WAIT  # so long that took
        yield View("plane")
        yield View("matrix")

    page = Page(queues(answer))
    page.ask()
    assert "more than" in page.why(1)
    assert page.of(1) == ["facts", "plane", "refused"]


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """What does not stop is left soon."""
    monkeypatch.setattr(module, "LEFT_AFTER", 0.02)
    monkeypatch.setattr(module, "_LOOK", 0.005)


def _stubborn(gates: dict[int, Gate]) -> Answer:
    """An answer that stands at the gate of its number, where there is one."""

    def answer(said: dict[str, Any]) -> Iterator[View]:
        if said["id"] in gates:
            gates[said["id"]].wait()
        yield View("facts", {"of": said["id"]})

    return answer


def test_what_does_not_stop_is_left_alone(queues, impatient, caplog: pytest.LogCaptureFixture) -> None:
    gate = Gate()
    page = Page(queues(_stubborn({1: gate}), 0.02))
    page.ask(state={"mode": "classify"})
    assert "takes more than 0.02 seconds" in page.why(1)
    assert "does not stop, and was left: {'mode': 'classify'}" in caplog.text
    page.ask()
    assert page.last(2).view == "done"
    gate.opened.set()  # what it says now, nobody hears
    page.ask()
    assert page.last(3).view == "done"
    assert page.of(1) == ["refused"]


def test_what_was_dropped_and_does_not_stop_is_left_without_a_word(queues, impatient) -> None:
    gate = Gate()
    page = Page(queues(_stubborn({1: gate})))
    page.ask()
    assert gate.reached.wait(WAIT)
    page.ask()
    assert page.last(2).view == "done"
    gate.opened.set()
    assert page.of(1) == []


def test_what_is_left_too_often_is_refused_until_some_of_it_ends(queues, impatient) -> None:
    gates = {i: Gate() for i in range(1, MOST_LEFT + 2)}
    queue = queues(_stubborn(gates), 0.02)
    page, other = Page(queue), Page(queue)
    for i in range(1, MOST_LEFT + 1):
        page.ask()
        assert "takes more than" in page.why(i)
    page.ask()
    assert gates[MOST_LEFT + 1].reached.wait(WAIT)
    waiting = other.ask()
    assert f"{MOST_LEFT} things that were asked for before do not stop" in page.why(MOST_LEFT + 1)
    assert f"{MOST_LEFT} things" in other.why(waiting)
    for gate in gates.values():
        gate.opened.set()
    while True:  # until the threads have seen it
        page.ask()
        if page.last(page.count).view == "done":
            break
    assert all(page.of(i) == ["refused"] for i in gates)


def test_a_page_that_is_gone_is_not_computed_for(queues) -> None:
    gate, answered = Gate(), list[int]()

    def answer(said: dict[str, Any]) -> Iterator[View]:
        answered.append(said["id"])
        gate.wait()
        yield View("facts")

    queue = queues(answer)
    gone, other = Page(queue), Page(queue)
    other.count = 10
    gone.ask()
    assert gate.reached.wait(WAIT)
    gone.ask("python")
    other.ask()
    queue.leave(gone)
    gate.opened.set()
    assert other.last(11).view == "done"
    assert answered == [1, 11]
    assert gone.frames == []


def test_a_queue_that_is_closed_ends_and_says_nothing_more(queues) -> None:
    gate = Gate()

    def answer(_: dict[str, Any]) -> Iterator[View]:
        gate.wait()
        look()
        yield View("facts")

    queue = queues(answer)
    page = Page(queue)
    page.ask()
    assert gate.reached.wait(WAIT)
    page.ask("python")
    assert not queue.join(0.01)
    queue.close()
    gate.opened.set()
    assert queue.join(WAIT)
    page.ask()
    assert page.frames == []


def test_a_queue_without_work_ends_when_it_is_closed(queues) -> None:
    queue = queues(lambda _: iter([]))
    queue.close()
    assert queue.join(WAIT)


def test_work_is_watched_and_within_the_memory_of_the_page(queues) -> None:
    found: dict[str, Any] = {}

    def answer(_: dict[str, Any]) -> Iterator[View]:
        found["watch"], found["memory"] = current(), bounds().memory
        yield View("facts")

    page = Page(queues(answer, 7.0))
    page.last(page.ask())
    assert found["watch"].seconds == 7.0
    assert found["memory"] == Compute(memory=MEMORY).memory


def test_warnings_are_told_once_at_the_end(queues) -> None:
    def answer(_: dict[str, Any]) -> Iterator[View]:
        for words in ("It is long.", "It is wide.", "It is long."):
            warnings.warn(coded(words, "M205"), UserWarning, stacklevel=1)
        yield View("facts")
        warnings.warn("x" * 10_000, UserWarning, stacklevel=1)

    page = Page(queues(answer))
    notices = page.last(page.ask()).data["notices"]
    assert notices[:2] == ["It is long.", "It is wide."]
    assert len(notices) == 3
    assert len(notices[2]) == LONGEST_WORDS
    assert page.last(page.ask()).data["notices"] == notices  # and again when it is asked again


def test_after_a_fault_others_are_answered(queues, caplog: pytest.LogCaptureFixture) -> None:
    def answer(said: dict[str, Any]) -> Iterator[View]:
        yield View("facts")
        if said["id"] == 1:
            raise KeyError("a fault")

    page = Page(queues(answer))
    assert "A fault of Mercer, not of yours: KeyError: 'a fault'" in page.why(page.ask())
    assert page.last(1).data["code"] == "fault"
    assert "A fault while a page was answered" in caplog.text
    assert page.last(page.ask()).view == "done"


def test_a_page_that_cannot_be_told_is_no_harm_to_others(queues, caplog: pytest.LogCaptureFixture) -> None:
    queue = queues(lambda _: iter([View("facts")]))

    def fails(job: Job, data: bytes) -> None:
        raise OSError("gone")

    queue.put("gone", {"ask": "show", "id": 1}, fails)
    page = Page(queue)
    assert page.last(page.ask()).view == "done"
    assert "A fault while a page was told something" in caplog.text


@pytest.mark.parametrize(
    ("error", "words", "code", "at"),
    [
        (Refused("There are no points."), r"^There are no points\.$", "M407", None),
        (ValueError("A bad value"), "^A bad value$", None, None),
        (NotationError("At character 3: a name is needed."), "^At character 3: a name", "M201", 2),
        (ValueError(coded("It is not finite.", "M101")), r"^It is not finite\.$", "M101", None),
        (RuntimeError(coded("It cannot be.", "M205")), r"^It cannot be\.$", "M205", None),
        (MemoryError(), "more memory than there is", "M401", None),
        (MemoryError(coded("It takes 9 GB.", "M401")), r"^It takes 9 GB\.$", "M401", None),
        (OverflowError("int too large"), "numbers of this kernel are too large", "M205", None),
        (RecursionError(), "nested too deep", "M407", None),
        (ValueError("x" * 10_000), "^x{599}…$", None, None),
        (TypeError("bad operand"), "^A fault of Mercer, not of yours: TypeError: bad operand$", "fault", None),
        (Stopped(Watch(1.0, None, False, None)), "^A fault of Mercer", "fault", None),
        (module.OutOfTime(Watch(1.0, None, False, None)), "^This takes more than 20 seconds", "M303", None),
    ],
)  # fmt: skip
def test_errors_in_words(error: Exception, words: str, code: str | None, at: int | None, caplog: Any) -> None:
    caplog.set_level(logging.CRITICAL, "mercer.play")
    said = refusal(error).data
    assert re.search(words, said["message"])
    assert said.get("code") == code
    assert said.get("at") == at
    assert len(said["message"]) <= LONGEST_WORDS + 60
