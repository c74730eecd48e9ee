"""A server that is meant harm: what it refuses, and that an ordinary page is answered all the same afterwards."""

from __future__ import annotations

import http.client
import json
import logging
import re
import socket
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from websockets.exceptions import InvalidStatus

import mercer.play.server as module
from mercer.play.limits import LARGEST_MESSAGE, MOST_FAULTS, MOST_PAGES, MOST_POINTS, MOST_WAITING
from mercer.play.modes import MODES
from mercer.play.server import PAGE, Play
from mercer.runtime.watch import look

from .serving import TOKEN, WAIT, Page, Served, serving

FEW = {"mode": "classify", "data": {"family": "moons", "n": 20, "seed": 0}}
FILES = sorted(path.relative_to(PAGE).as_posix() for path in PAGE.rglob("*") if path.is_file())
TYPES = {
    "html": "text/html; charset=utf-8", "js": "text/javascript; charset=utf-8", "css": "text/css; charset=utf-8",
    "svg": "image/svg+xml",
}  # fmt: skip
NOTHING = b""


@pytest.fixture(scope="module")
def served() -> Iterator[Served]:
    with serving() as one:
        yield one
        one.assert_answers()


@pytest.fixture(autouse=True)
def _no_faults(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """Nothing of it is a fault of the server."""
    yield
    told = [one for one in caplog.get_records("call") if one.name != "websockets.client"]  # which the tests are
    faults = [one.getMessage() for one in told if one.levelno >= logging.ERROR]
    assert [words for words in faults if words != "Invalid UTF-8 sequence received from client."] == []


@pytest.fixture
def page(served: Served) -> Iterator[Page]:
    """A page that is answered at the end, whatever it has said."""
    with served.page() as one:
        yield one
        assert "done" in one.ask(state=FEW)


def assert_safe(headers: dict[str, str]) -> None:
    """Nothing of others runs in the page, and others do not see into it."""
    policy = dict(part.strip().partition(" ")[::2] for part in headers["content-security-policy"].split(";"))
    assert policy["default-src"] == policy["base-uri"] == policy["form-action"] == policy["frame-ancestors"] == "'none'"
    assert policy["script-src"] == policy["style-src"] == policy["connect-src"] == "'self'"
    assert "unsafe" not in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["cache-control"] == "no-store"
    assert headers["cross-origin-opener-policy"] == headers["cross-origin-resource-policy"] == "same-origin"
    assert "server" not in headers
    assert not [name for name in headers if name.startswith("access-control")]


# -- files -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["", *FILES])
def test_a_file_of_the_page(served: Served, name: str) -> None:
    answer = served.get(f"/{TOKEN}/{name}", origin=f"http://{served.host}")
    assert answer.status == 200
    assert answer.headers["content-type"] == TYPES[(name or "index.html").rpartition(".")[2]]
    assert answer.body == (PAGE / (name or "index.html")).read_bytes()
    assert_safe(answer.headers)


def test_nothing_of_the_page_is_inline_or_from_elsewhere() -> None:
    text = (PAGE / "index.html").read_text()
    assert re.findall(r"<script(?![^>]*\ssrc=)|<style|\sstyle=|\son\w+=|javascript:", text) == []
    for name in FILES:
        found = set(re.findall(r"(?:https?:)?//[\w-]+\.[\w.]+", (PAGE / name).read_text()))
        assert found <= {"http://www.w3.org"}, name  # the name of SVG, which nobody fetches


@pytest.mark.parametrize(
    "path",
    [
        "/", "/live", "/index.html", "//", "/wrong/", f"/{TOKEN}", f"/{TOKEN}x/", f"/{TOKEN[:-1]}/", "*", "/%C3%A9/",
        f"/x/{TOKEN}/", f"//{TOKEN}/", f"/?{TOKEN}/", f"/%00{TOKEN}/", f"/{TOKEN.upper()}/",
        "/%ff%fe/", f"/{'a' * 5000}/",
    ],
)  # fmt: skip
def test_without_the_token_there_is_nothing(served: Served, path: str) -> None:
    answer = served.get(path)
    assert (answer.status, answer.body) == (404, NOTHING)
    assert_safe(answer.headers)


@pytest.mark.parametrize(
    "path",
    [
        "../server.py", "..%2fserver.py", "%2e%2e/server.py", "%2e%2e%2fserver.py", "..\\server.py", "..%5cserver.py",
        "./index.html", "index.html/", "index.html%00", "INDEX.HTML", "//etc/passwd", "%2fetc%2fpasswd", "index.html;x",
        "file:///etc/passwd", "live/", "live", "__init__.py", "page/index.html", ".", "..", "%", "%zz", "js/../main.js",
    ],
)  # fmt: skip
def test_nothing_but_the_files_of_the_page(served: Served, path: str) -> None:
    answer = served.get(f"/{TOKEN}/{path}")
    assert (answer.status, answer.body) == (404, NOTHING)
    assert_safe(answer.headers)


@pytest.mark.parametrize(
    "headers",
    [
        {"host": None}, {"host": ""}, {"host": "example.com"}, {"host": "example.com:{port}"}, {"host": "127.0.0.1"},
        {"host": "127.0.0.1:{other}"}, {"host": "127.0.0.1:{port}x"}, {"host": "127.0.0.1:99999999"},
        {"host": "a@127.0.0.1:{port}"}, {"host": "127.0.0.1:{port}/"}, {"host": "127.0.0.1:{port}?"}, {"host": "[::1"},
        {"host": "192.168.0.1:{port}"}, {"host": "localhost.example.com:{port}"}, {"host": "127.0.0.1.:{port}"},
        {"host": ["127.0.0.1:{port}", "127.0.0.1:{port}"]}, {"origin": "null"}, {"origin": "http://example.com"},
        {"origin": "https://127.0.0.1:{port}"}, {"origin": "http://127.0.0.1:{other}"}, {"origin": "http://localhost:{port}"},
        {"origin": "http://127.0.0.1:{port}/"}, {"origin": ""}, {"origin": ["http://127.0.0.1:{port}"] * 2},
        {"origin": "http://\u00e9"},
    ],
)  # fmt: skip
def test_who_comes_by_another_name_or_from_another_page(served: Served, headers: dict[str, Any]) -> None:
    def filled(value: Any) -> Any:
        if isinstance(value, list):
            return [filled(one) for one in value]
        return value and value.format(port=served.port, other=served.port % 60000 + 1)

    answer = served.get(**{name: filled(value) for name, value in headers.items()})
    assert answer.status in (400, 404)  # a request of HTTP/1.1 has one host: without, it is none
    assert answer.status == 404 or "host" in headers
    assert answer.status == 400 or answer.body == NOTHING
    assert b"<html" not in answer.body
    assert served.get(host=f"localhost:{served.port}").status == served.get().status == 200


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE", "CONNECT", "BREW"])
def test_there_is_nothing_to_be_changed(served: Served, method: str) -> None:
    answer = served.get(method=method)
    assert (answer.status, answer.body) == (404, NOTHING)
    assert served.get(method="HEAD").status == 200


@pytest.mark.parametrize("method", ["GET", "POST"])
@pytest.mark.parametrize("size", ["content-length: 1000000000000", "transfer-encoding: chunked"])
@pytest.mark.parametrize("path", [f"/{TOKEN}/", "/", f"/{TOKEN}/live"])
def test_a_body_is_not_received(served: Served, method: str, size: str, path: str) -> None:
    with served.raw(f"{method} {path} HTTP/1.1\r\nhost: {served.host}\r\n{size}\r\n\r\n".encode()) as wire:
        with http.client.HTTPResponse(wire) as said:
            said.begin()
            assert (said.status, said.read()) == (404, NOTHING)
        assert _taken(wire) < 100
    served.assert_answers()


def _taken(wire: socket.socket, most: int = 1000) -> int:
    """Megabytes that a connection takes until it is closed."""
    for sent in range(most):
        try:
            wire.sendall(b"x" * 1_000_000)
        except OSError:
            return sent
    return most


@pytest.mark.parametrize(
    "said",
    [
        b"\0" * 1000, b"GET\r\n\r\n", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\xaa" * 500,
        b"GET / HTTP/1.1\r\nhost: a\r\nhost : b\r\n\r\n", b"GET / HTTP/1.1\r\n" + b"a: " + b"b" * 200_000,
        b"GET / HTTP/1.1\r\ncontent-length: -1\r\n\r\n", b"GET /" + b"a" * 200_000,
    ],
)  # fmt: skip
def test_what_is_not_http(served: Served, said: bytes) -> None:
    with served.raw(said) as wire:
        assert wire.recv(12).startswith(b"HTTP/1.1 40")
    served.assert_answers()


def test_who_begins_and_does_not_go_on_is_in_nobodys_way(served: Served) -> None:
    half = [served.raw(f"GET /{TOKEN}/ HTTP/1.1\r\nhost: {served.host}\r\nx-".encode()) for _ in range(60)]
    silent = [served.raw() for _ in range(60)]
    served.assert_answers()
    for wire in half + silent:
        wire.close()


# -- the live connection -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "given",
    [
        {"origin": None}, {"origin": "null"}, {"origin": "http://example.com"}, {"origin": "https://127.0.0.1"},
        {"path": "/live"}, {"path": "/wrong/live"}, {"path": f"/{TOKEN}/"}, {"path": f"/{TOKEN}/index.html"},
        {"path": f"/{TOKEN}/live/"}, {"additional_headers": {"Host": "example.com"}},
    ],
)  # fmt: skip
def test_a_connection_of_strangers_is_none(served: Served, given: dict[str, Any]) -> None:
    with pytest.raises(InvalidStatus) as caught, served.page(**given):
        pass
    assert caught.value.response.status_code in (400, 403)
    assert caught.value.response.body == b"" or caught.value.response.status_code == 400
    assert served.play.pages == 0


def test_the_menu_names_what_there_is(page: Page) -> None:
    found = page.ask("menu")["menu"].data
    assert [mode["name"] for mode in found["modes"]] == list(MODES)
    assert found["limits"]["points"] == MOST_POINTS
    assert found["table"] is None


def test_a_state_is_answered_as_pictures_and_as_python(page: Page) -> None:
    found = page.ask(state=FEW)
    assert list(found)[:2] == ["facts", "plane"]
    assert "import mercer" in page.ask("python", state=FEW)["python"].data["text"]
    assert "error" not in page.ask(state=FEW, brief=True)


def test_pages_beside_each_other_get_their_own_answers(served: Served) -> None:
    with served.page() as one, served.page() as other:
        for n in (12, 14, 16):
            one.say({"ask": "show", "id": n, "state": {**FEW, "data": {"family": "moons", "n": n, "seed": 0}}})
            found = other.ask(state={**FEW, "data": {"family": "rings", "n": n + 1, "seed": 0}})
            assert len(found["plane"].arrays["points"]) == n + 1
            views = []
            while "done" not in views:
                frame = one.frame()
                assert frame.header["id"] == n
                views.append(frame.view)


DEEP = '{"ask": "show", "id": 1, "state": ' + "[" * 100_000 + "]" * 100_000 + "}"
MESSAGES: dict[str, Any] = {
    "nothing": "", "no JSON": "{", "HTML": "<script>", "a list": [], "a number": 3, "null": "null", "a text": '"show"',
    "true": "true", "bytes": b"{}", "nested": DEEP, "nested objects": '{"a":' * 50_000, "digits": "9" * 100_000,
    "NaN": '{"ask": "show", "id": 1, "state": {"values": {"C": NaN}}}', "infinity": '{"ask": -Infinity}',
    "no ask": {}, "another ask": {"ask": "quit"}, "an ask of parts": {"ask": ["show"]}, "no id": {"ask": "show"},
    "a text as id": {"ask": "show", "id": "1"}, "a negative id": {"ask": "show", "id": -1},
    "a long id": {"ask": "show", "id": 2**53}, "true as id": {"ask": "show", "id": True},
    "half an id": {"ask": "python", "id": 0.5}, "a surrogate": '"\\ud800"',
}  # fmt: skip


@pytest.mark.parametrize("said", MESSAGES.values(), ids=MESSAGES)
def test_messages_that_are_none(page: Page, said: Any) -> None:
    assert page.refused(said)


STATES: dict[str, tuple[Any, str]] = {
    "no state": (None, "no state"), "a list": ([FEW], "no state"), "no mode": ({}, "no mode"),
    "another mode": ({"mode": "../classify"}, "no mode"), "a mode of parts": ({"mode": {"a": 1}}, "no mode"),
    "a million of a family": ({**FEW, "data": {"family": "moons", "n": 10**6}}, f"1 to {MOST_POINTS}"),
    "too many points": ({**FEW, "data": {"points": [[0, 0, 0]] * (MOST_POINTS + 1)}}, f"{MOST_POINTS} at most"),
    "a thousand terms": ({**FEW, "kernel": "+".join(["Min()"] * 1000)}, "letters; the page takes"),
    "a thousand short terms": ({**FEW, "kernel": "2" + "+2" * 900}, "kernel"),
    "too many parts": ({**FEW, "kernel": "+".join(["Min()"] * 300)}, "parts; the page takes"),
    "nested": ({**FEW, "kernel": "(" * 1000 + "Min()" + ")" * 900}, "nested"),
    "code": ({**FEW, "kernel": "__import__('os').system('true')"}, ""),
    "a far point": ({**FEW, "data": {"points": [[1e300, 0, 0], [0, 0, 1]]}}, "farther out"),
    "a number beyond floats": ({**FEW, "data": {"points": [[10**400, 0, 0]]}}, "three numbers"),
    "bad SMILES": ({"mode": "molecules", "data": {"items": [["C1CC", 0], ["C(", 1]]}}, "SMILES"),
    "control letters": ({"mode": "words", "data": {"items": [["a\0b", 0]]}}, "cannot be shown"),
    "a file as a table": ({**FEW, "data": {"table": "/etc/passwd"}}, "No table was opened"),
}  # fmt: skip


@pytest.mark.parametrize(("state", "words"), STATES.values(), ids=STATES)
def test_states_that_are_none(page: Page, state: Any, words: str) -> None:
    if words == "SMILES":
        pytest.importorskip("rdkit")
    for ask in ("python", "show") if words != "SMILES" else ("show",):
        found = page.ask(ask, state=state)
        why = found["refused"].data
        assert why.get("code") != "fault", why
        assert re.search(words, why["message"]), why
        assert "plane" not in found


@pytest.mark.thorough
def test_a_million_points_do_not_fit_into_a_message(served: Served) -> None:
    said = json.dumps({"ask": "show", "id": 1, "state": {**FEW, "data": {"points": [[0, 0, 0]] * 1_000_000}}})
    assert len(said) > LARGEST_MESSAGE
    with served.page() as page:
        why = page.left(lambda: page.say(said))
    assert why is None or why.code == 1009
    served.assert_answers()


def test_nor_do_they_in_pieces(served: Served) -> None:
    with served.page() as page:
        why = page.left(lambda: page.wire.send(["x" * (LARGEST_MESSAGE // 3)] * 4))
    assert why is None or why.code == 1009
    served.assert_answers()


def test_bytes_that_are_no_text(served: Served) -> None:
    with served.page() as page:
        why = page.left(lambda: page.wire.send(b"\xff\xfe{", text=True))
    assert why is None or why.code == 1007
    served.assert_answers()


def test_who_says_nothing_that_can_be_read_is_left(served: Served) -> None:
    with served.page() as page:
        for _ in range(MOST_FAULTS):
            page.refused("{")
        assert "Too many messages" in page.refused("{")
        why = page.left(lambda: None)
    assert why is not None
    assert why.code == 1008
    served.assert_answers()


def test_pages_have_a_number(served: Served) -> None:
    pages = [served.page() for _ in range(MOST_PAGES)]
    opened = [one.__enter__() for one in pages]
    for page in opened:
        page.ask("menu")
    with served.page() as page:
        assert f"{MOST_PAGES} pages are open already" in page.frame().data["message"]
        why = page.left(lambda: None)
    assert why is not None
    assert why.code == 1013
    assert "close one" in why.reason
    assert "done" in opened[0].ask(state=FEW)
    for one in pages:
        one.__exit__(None, None, None)
    _until(lambda: served.play.pages == 0)
    served.assert_answers()


def _until(seen: Any) -> None:
    """Wait until something is seen, which is soon."""
    looked = threading.Event()
    for _ in range(int(WAIT / 0.01)):
        if seen():
            return
        looked.wait(0.01)
    raise AssertionError("it was not seen")


def _deaf(served: Served) -> socket.socket:
    """A page that is open, and never reads: its hand is shaken, and then it looks away."""
    wire = socket.socket()
    wire.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    wire.settimeout(WAIT)
    wire.connect(("127.0.0.1", served.port))
    wire.sendall(
        f"GET /{TOKEN}/live HTTP/1.1\r\nhost: {served.host}\r\norigin: http://{served.host}\r\nupgrade: websocket\r\n"
        f"connection: Upgrade\r\nsec-websocket-version: 13\r\nsec-websocket-key: {'A' * 22}==\r\n\r\n".encode()
    )
    assert wire.recv(12) == b"HTTP/1.1 101"
    _until(lambda: served.play.pages == 1)
    return wire


def _masked(said: dict[str, Any]) -> bytes:
    """A short message as a frame of a client, with a mask of zeros."""
    text = json.dumps(said).encode()
    assert len(text) < 126
    return bytes([0x81, 0x80 | len(text), 0, 0, 0, 0]) + text


def test_who_asks_and_never_reads_is_left_and_keeps_nobody_waiting(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(module, "PATIENCE", 0.2)
    with serving(send_buffer=8192) as served, _deaf(served) as wire:
        wire.sendall(_masked({"ask": "menu"}) * (MOST_WAITING // 4))
        served.assert_answers()
        _until(lambda: served.play.pages == 0)
        assert "took nothing for 0.2 seconds" in caplog.text
        served.assert_answers()


def test_who_asks_faster_than_it_reads_is_left(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(module, "MOST_WAITING", 20)
    monkeypatch.setattr(module, "PATIENCE", 0.2)
    with serving(send_buffer=8192) as served, _deaf(served) as wire:
        wire.sendall(_masked({"ask": "menu"}) * 300)
        _until(lambda: served.play.pages == 0)
        assert "took nothing" not in caplog.text
        served.assert_answers()


def test_a_page_that_goes_while_it_is_computed_for_is_forgotten() -> None:
    asked, ended = threading.Event(), threading.Event()

    class Slow(Play):
        def answer(self, said: dict[str, Any]) -> Any:
            if said["state"] != "slow":
                return super().answer(said)
            asked.set()
            return self.slow()

        def slow(self) -> Any:
            try:
                while True:
                    look()
                yield
            finally:
                ended.set()

    with serving(Slow()) as served:
        with served.page() as page:
            page.say({"ask": "show", "id": 1, "state": "slow"})
            assert asked.wait(WAIT)
        assert ended.wait(WAIT)
        served.assert_answers()


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8)
    | st.sampled_from(["moons", "classify", "words", "SVC", "Gaussian(γ=2)", "+", "Linear()", "points", "Sum"]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(
        ["family", "n", "seed", "points", "items", "table", "at", "what", "value", "kernel", "C"]), inner, max_size=4),
    max_leaves=12,
)  # fmt: skip
STATED = st.fixed_dictionaries(
    {"mode": st.sampled_from(list(MODES))},
    optional=dict.fromkeys(("learner", "kernel", "edit", "values", "data", "pair", "brief"), JSON),
)


@pytest.mark.thorough
@settings(max_examples=150)
@given(state=STATED)
def test_whatever_is_said_is_taken_or_refused_in_words(state: dict[str, Any]) -> None:
    try:
        MODES[state["mode"]].state(state)
    except ValueError as error:
        said = str(error)
        assert said
        assert len(said) < 5000
