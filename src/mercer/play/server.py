"""The server: what is served to whom. A loop that reads, checks and passes on, and never computes.

Everything is below a random token, and is for pages that this server itself has sent: a request with another name of
the machine (a foreign name that was pointed here), from another origin, or without the token gets an empty 404. So does
one that brings something: what it brings is not read.
"""

from __future__ import annotations

import asyncio
import hmac
import ipaddress
import json
import logging
from collections import deque
from collections.abc import Collection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocket, WebSocketDisconnect

from mercer.play.limits import MOST_FAULTS, MOST_PAGES, MOST_WAITING, PATIENCE, SECONDS, Refused
from mercer.play.menu import menu
from mercer.play.modes import MODES
from mercer.play.queue import Job, Queue, refusal
from mercer.play.state import Data
from mercer.play.views import View, frame

PAGE = Path(__file__).parent / "page"
_log = logging.getLogger("mercer.play")
_TYPES = {
    ".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml", ".png": "image/png", ".json": "application/json", ".woff2": "font/woff2",
    ".txt": "text/plain; charset=utf-8", ".md": "text/plain; charset=utf-8",
}  # fmt: skip
_HEADERS = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self';"
        " base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff", "referrer-policy": "no-referrer", "cache-control": "no-store",
    "cross-origin-opener-policy": "same-origin", "cross-origin-resource-policy": "same-origin",
}  # fmt: skip
_RAW_HEADERS = [(name.encode(), value.encode()) for name, value in _HEADERS.items()]


class Play:
    """What the pages of one server share: the queue, the table that was opened, and how many pages there are."""

    def __init__(self, table: Data | None = None, name: str = "", seconds: float = SECONDS) -> None:
        self.table, self.pages = table, 0
        self.menu = menu(table, name)
        self.queue = Queue(self.answer, seconds)

    def answer(self, said: dict[str, Any]) -> Any:
        """The views of a request."""
        given = said.get("state")
        if not isinstance(given, dict):
            raise Refused("The message has no state.")
        name = given.get("mode")
        if not isinstance(name, str) or name not in MODES:
            raise Refused(f"There is no mode {name!r}; there are {', '.join(MODES)}.")
        mode = MODES[name]
        state = mode.state(given, self.table)
        if said["ask"] == "python":
            return iter([View("python", {"text": mode.python(state)})])
        return mode.answers(state, brief=said.get("brief") is True)


def application(play: Play, token: str, hosts: Collection[str] = ("127.0.0.1", "localhost", "::1")) -> ASGIApp:
    """The application of ASGI: the page's files, and the live connection, below ``/token/`` and for ``hosts``."""
    files = {path.relative_to(PAGE).as_posix(): path for path in PAGE.rglob("*") if path.suffix in _TYPES}

    async def file(request: Request) -> Response:
        path = files.get(request.path_params["file"] or "index.html")
        if path is None:
            return Response(status_code=404)
        return FileResponse(path, media_type=_TYPES[path.suffix])

    async def live(websocket: WebSocket) -> None:
        await Connection(play, websocket).serve()

    return Guard(Starlette(routes=[WebSocketRoute("/live", live), Route("/{file:path}", file)]), token, hosts)


class Guard:
    """Lets through what carries the token, names this machine, and comes from its own page; adds the headers."""

    def __init__(self, app: ASGIApp, token: str, hosts: Collection[str]) -> None:
        self.app, self.hosts = app, hosts
        self.below = f"/{token}".encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return

        brings = _brings(scope)

        async def answered(message: Message) -> None:
            if message["type"] == "http.response.start":
                more = [*_RAW_HEADERS, *([(b"connection", b"close")] if brings else [])]
                message = {**message, "headers": [*message.get("headers", ()), *more]}
            await send(message)

        path = scope["path"].encode()
        below, rest = path[: len(self.below)], path[len(self.below) :]
        if brings or not (hmac.compare_digest(below, self.below) and rest[:1] == b"/" and self._ours(scope)):
            if scope["type"] == "websocket":
                await send({"type": "websocket.close", "code": 1008})
            else:
                await Response(status_code=404)(scope, receive, answered)
            return
        inside = {**scope, "path": rest.decode(), "raw_path": rest, "root_path": ""}
        await self.app(inside, receive, answered)

    def _ours(self, scope: Scope) -> bool:
        """Whether a request names this server as its host, and, where a page sent it, as the page's origin."""
        said = [(name, value) for name, value in scope["headers"] if name in (b"host", b"origin")]
        hosts, origins = ([value for name, value in said if name == wanted] for wanted in (b"host", b"origin"))
        if len(hosts) != 1 or len(origins) > 1 or not self._named(hosts[0].decode("latin-1"), scope["server"]):
            return False
        if not origins:  # a browser sends the origin of who opens a WebSocket, always
            return scope["type"] == "http"
        return hmac.compare_digest(origins[0], b"http://" + hosts[0])

    def _named(self, host: str, server: tuple[str, int | None] | None) -> bool:
        try:
            where = urlsplit(f"//{host}")
            name, port = where.hostname, where.port or 80
        except ValueError:
            return False
        if name is None or where.netloc != host or "@" in host or (server is not None and port != server[1]):
            return False
        return name in self.hosts or ("*" in self.hosts and _is_address(name))


def _brings(scope: Scope) -> bool:
    """Whether a request wants to do more than read, or brings a body, which would be received for nothing."""
    if scope["type"] != "http":
        return False
    named = dict(scope["headers"])
    sized = named.get(b"content-length", b"0").strip(b"0 ") != b""
    return scope["method"] not in ("GET", "HEAD") or sized or b"transfer-encoding" in named


def _is_address(name: str) -> bool:
    """Whether a host is named by its number: such a name cannot be pointed elsewhere."""
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


class Connection:
    """A page that is open: its messages are read and passed to the queue, frames for it wait here to be sent."""

    def __init__(self, play: Play, websocket: WebSocket) -> None:
        self.play, self.websocket = play, websocket
        self.loop = asyncio.get_running_loop()
        self.outbox: deque[tuple[Job | None, bytes]] = deque()
        self.filled = asyncio.Event()
        self.faults = 0  # messages that were none
        self.ended = False  # after it nothing is sent any more

    async def serve(self) -> None:
        await self.websocket.accept()
        if self.play.pages >= MOST_PAGES:
            await self._end(1013, f"{MOST_PAGES} pages are open already: close one of them.")
            return
        self.play.pages += 1
        sending = asyncio.create_task(self._send())
        reading = asyncio.create_task(self._read())
        try:
            await asyncio.wait({sending, reading}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            self.play.pages -= 1
            self.play.queue.leave(self)
            for task in (sending, reading):
                task.cancel()
            for result in await asyncio.gather(sending, reading, return_exceptions=True):
                if isinstance(result, Exception) and not isinstance(result, WebSocketDisconnect):
                    _log.error("A fault of a connection", exc_info=result)

    async def _end(self, code: int, words: str) -> None:
        """Close the connection, with the reason as a frame before it and in the closing one."""
        self.ended = True
        self.outbox.clear()
        try:
            async with asyncio.timeout(PATIENCE):
                await self.websocket.send_bytes(frame(View("refused", {"message": words}), id=None, last=True))
                await self.websocket.close(code, words)
        except (TimeoutError, WebSocketDisconnect, RuntimeError):
            return  # it is gone, or does not listen

    # -- to the page ---------------------------------------------------------------------------------------------------

    async def _send(self) -> None:
        """Send what waits, in its order; leave a page that does not take it."""
        while True:
            await self.filled.wait()
            while self.outbox:
                job, data = self.outbox.popleft()
                if job is not None and job.dropped:
                    continue
                try:
                    async with asyncio.timeout(PATIENCE):
                        await self.websocket.send_bytes(data)
                except TimeoutError:
                    _log.warning("A page took nothing for %g seconds, and was left.", PATIENCE)
                    return
            self.filled.clear()

    def _put(self, job: Job | None, data: bytes) -> None:
        if not self.ended and (job is None or not job.dropped):
            self.outbox.append((job, data))
            self.filled.set()

    def _say(self, view: View, identity: object = None) -> None:
        self._put(None, frame(view, id=identity, last=True))

    # -- from the page -------------------------------------------------------------------------------------------------

    async def _read(self) -> None:
        while True:
            message = await self.websocket.receive()
            if message["type"] == "websocket.disconnect":
                return
            try:
                self._asked(_said(message.get("text")))
            except Refused as error:
                self.faults += 1
                if self.faults > MOST_FAULTS:
                    await self._end(1008, "Too many messages that are none.")
                    return
                self._say(refusal(error))
            if len(self.outbox) > MOST_WAITING:
                await self._end(1008, "The page asks faster than it takes answers.")
                return

    def _asked(self, said: dict[str, Any]) -> None:
        ask, identity = said.get("ask"), said.get("id")
        if ask == "menu":
            self._say(self.play.menu, identity)
        elif ask in ("show", "python"):
            if type(identity) is not int or not 0 <= identity < 2**53:
                raise Refused("A request has an id, a whole number.")
            self._pass_on(said)
        else:
            raise Refused("A message asks for menu, show or python.")

    def _pass_on(self, said: dict[str, Any]) -> None:
        """To the queue, whose frames come back by this loop, in their order."""

        def send(job: Job, data: bytes) -> None:
            try:
                self.loop.call_soon_threadsafe(self._put, job, data)
            except RuntimeError:  # the loop is closed: the server ends
                job.drop()

        self.play.queue.put(self, said, send)


def _said(text: str | None) -> dict[str, Any]:
    """A message read: an object of JSON, of finite numbers."""
    if text is None:
        raise Refused("A message is text: an object of JSON.")

    def no_number(word: str) -> float:
        raise Refused(f"The message holds {word}, which is no number.")

    try:
        said = json.loads(text, parse_constant=no_number)
    except Refused:
        raise
    except (ValueError, RecursionError):
        raise Refused("The message is not JSON, or nested too deep.") from None
    if not isinstance(said, dict):
        raise Refused("A message is an object of JSON.")
    return said
