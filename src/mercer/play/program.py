"""``mercer play``: the server on this machine, its address, and the browser; until Ctrl-C."""

from __future__ import annotations

import errno
import ipaddress
import logging
import os
import secrets
import socket
import sys
import threading
import webbrowser
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

from mercer.play.limits import LARGEST_MESSAGE
from mercer.play.samples import of_table
from mercer.play.state import Data
from mercer.troubles import coded

if TYPE_CHECKING:
    from starlette.types import ASGIApp

_GRACE = 0.4  # seconds after Ctrl-C until the process ends, whatever is still computed
_NEEDED = ("starlette", "uvicorn", "websockets")


def check_installed() -> None:
    """Raise ImportError where the packages of the extra ``play`` are not there."""
    absent = [name for name in _NEEDED if find_spec(name) is None]
    if absent:
        words = f"mercer play needs {' and '.join(absent)}, not installed here: pip install 'mercer[play]'."
        raise ImportError(coded(words, "M402"))


def run(
    data: Path | None,
    columns: tuple[str, ...],
    target: str | None,
    port: int,
    host: str,
    browser: bool,
    say: Callable[[str], None],
) -> None:
    """Serve until Ctrl-C, which raises KeyboardInterrupt; ``say`` is told the address and what is to be known."""
    check_installed()
    table = None if data is None else _table(data, columns, target)
    listening = _listening(host, port)
    from mercer.play.server import Play, application

    port = listening.getsockname()[1]
    token = secrets.token_urlsafe(24)
    play = Play(table, "" if data is None else data.name)
    address = f"http://{_shown_host(host)}:{port}/{token}/"
    say(f"{address}\nThe page is there until Ctrl-C.")
    if not is_loopback(host):
        say(
            f"Warning: --host {host} lets other machines reach this page and compute on this one; nothing is encrypted."
            " Whoever has the address can do so. Without --host it is for this machine alone."
        )
    opened = threading.Timer(0.3, webbrowser.open, [address])
    opened.daemon = True
    if browser:
        opened.start()
    server(application(play, token, _hosts(host)), play.queue.close).run([listening])


def _table(path: Path, columns: tuple[str, ...], target: str | None) -> Data:
    X, y = of_table(path, columns, target)
    call = f"of_table({str(path)!r}, columns={columns!r}, target={target!r})"
    return Data(X, y, lambda: f"from mercer.play.samples import of_table\n\nX, y = {call}")


def is_loopback(host: str) -> bool:
    """Whether a host is this machine, and nothing that others reach."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _hosts(host: str) -> set[str]:
    """The names by which pages may ask: of an address that stands for all, every number and this machine's name."""
    known = {"127.0.0.1", "localhost", "::1", host}
    return known | {"*", socket.gethostname().lower()} if host in ("0.0.0.0", "::") else known


def _shown_host(host: str) -> str:
    if host in ("0.0.0.0", "::"):
        return socket.gethostname()
    return f"[{host}]" if ":" in host else host


def _listening(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family)
    except OSError as error:
        words = f"{host}:{port} cannot be listened at: {error.strerror or error}."
        if error.errno == errno.EADDRINUSE:
            words = f"Port {port} of {host} is taken: give another, or --port 0 for any that is free."
        raise OSError(coded(words, "M406")) from None


def server(app: ASGIApp, dropped: Callable[[], None]) -> Any:
    """The loop, to be run on a socket; at Ctrl-C what is computed is dropped, and the process ends soon, also if
    something cannot be stopped.
    """
    import uvicorn

    class Server(uvicorn.Server):
        def handle_exit(self, sig: int, frame: FrameType | None) -> None:
            dropped()
            ended = threading.Timer(_GRACE, _end, [128 + sig])
            ended.daemon = True
            ended.start()
            self.force_exit = True
            super().handle_exit(sig, frame)

    logging.getLogger("mercer.play").setLevel(logging.INFO)
    return Server(
        uvicorn.Config(
            app, log_level="error", access_log=False, server_header=False, date_header=False, lifespan="off",
            ws_max_size=LARGEST_MESSAGE, ws_per_message_deflate=False, timeout_keep_alive=5,
        )
    )  # fmt: skip


def _end(status: int) -> None:
    """The end, without waiting for a call of LAPACK or the compiler on another thread."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)
