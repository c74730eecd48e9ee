"""A server in this process, as ``mercer play`` runs it, and what asks it: pages, strangers, and those who mean harm."""

from __future__ import annotations

import http.client
import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from websockets.exceptions import ConnectionClosed
from websockets.frames import Close
from websockets.sync.client import ClientConnection, connect

from mercer.play.program import server
from mercer.play.server import Play, application

from .asked import Frame, decoded

TOKEN = "the-token"
WAIT = 60.0  # seconds until a test gives up, however busy the machine is


@dataclass
class Answer:
    """An answer of HTTP."""

    status: int
    headers: dict[str, str]
    body: bytes


class Page:
    """A page without a browser: what it says, and the frames that come back."""

    def __init__(self, wire: ClientConnection) -> None:
        self.wire = wire
        self.count = 0

    def say(self, said: Any) -> None:
        self.wire.send(said if isinstance(said, str | bytes) else json.dumps(said))

    def frame(self) -> Frame:
        said = self.wire.recv(WAIT)
        assert isinstance(said, bytes)
        return decoded(said)

    def ask(self, ask: str = "show", **given: Any) -> dict[str, Frame]:
        """All views of an answer by name."""
        self.count += 1
        self.say({"ask": ask, "id": self.count, **given})
        found: dict[str, Frame] = {}
        while not found or not found[next(reversed(found))].header["last"]:
            frame = self.frame()
            assert frame.header["id"] == self.count
            found[frame.view] = frame
        return found

    def left(self, say: Callable[[], Any]) -> Close | None:
        """What the server says when it leaves a page that says this; None where it had no time to."""
        try:
            say()
            while True:
                self.frame()
        except ConnectionClosed as closed:
            return closed.rcvd

    def refused(self, said: Any) -> str:
        """Say what is to be refused; why it was."""
        self.say(said)
        frame = self.frame()
        assert frame.view == "refused"
        assert frame.header["last"]
        assert frame.data.get("code") != "fault"
        return str(frame.data["message"])


class Served:
    """A server that runs, and the ways to ask it."""

    def __init__(self, play: Play, port: int) -> None:
        self.play, self.port = play, port
        self.host = f"127.0.0.1:{port}"

    def get(self, path: str = f"/{TOKEN}/", method: str = "GET", **headers: Any) -> Answer:
        """The answer to a request; a header may be None, which leaves it out, or a list, which says it twice."""
        asked = http.client.HTTPConnection("127.0.0.1", self.port, timeout=WAIT)
        try:
            asked.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
            for name, value in {"host": self.host, **headers}.items():
                for one in value if isinstance(value, list) else [] if value is None else [value]:
                    asked.putheader(name, one)
            asked.endheaders()
            said = asked.getresponse()
            return Answer(said.status, {name.lower(): value for name, value in said.getheaders()}, said.read())
        finally:
            asked.close()

    def raw(self, said: bytes = b"") -> socket.socket:
        """A connection on which bytes were said."""
        made = socket.create_connection(("127.0.0.1", self.port), timeout=WAIT)
        made.sendall(said)
        return made

    @contextmanager
    def page(self, path: str = f"/{TOKEN}/live", origin: str | None = "", **given: Any) -> Iterator[Page]:
        """A page that is open; ``origin`` is the server's own where none is said, None for none."""
        address = f"ws://{self.host}{path}"
        said = f"http://{self.host}" if origin == "" else origin
        with connect(address, origin=said, open_timeout=WAIT, max_size=None, compression=None, **given) as wire:  # type: ignore[arg-type]
            yield Page(wire)

    def assert_answers(self) -> None:
        """An ordinary page is still answered."""
        assert self.get().status == 200
        with self.page() as page:
            found = page.ask(state={"mode": "classify", "data": {"family": "moons", "n": 20, "seed": 0}})
        assert {"facts", "plane", "matrix", "done"} <= set(found)


@contextmanager
def serving(play: Play | None = None, send_buffer: int | None = None, **given: Any) -> Iterator[Served]:
    """A server that runs in a thread of this process; ``send_buffer``: bytes that it can send to who does not read."""
    play = play or Play(**given)
    listening = socket.create_server(("127.0.0.1", 0))
    if send_buffer is not None:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, send_buffer)
    loop = server(application(play, TOKEN), play.queue.close)
    thread = threading.Thread(target=loop.run, args=([listening],), daemon=True)
    thread.start()
    try:
        yield Served(play, listening.getsockname()[1])
    finally:
        loop.should_exit = True
        thread.join(WAIT)
        play.queue.close()
        assert play.queue.join(WAIT)
        listening.close()
        assert not thread.is_alive()
