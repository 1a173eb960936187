"""A deadline covers the complete request, however slow the response is.

Redirects to other hosts are not followed.
"""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
import requests

from s2corpus import web
from s2corpus.errors import TransientError, UserError
from s2corpus.extractors.http import HttpServer
from s2corpus.storage.uris import fetch

STEPS = 400
"""number of pieces that a slow server would send, one per 0.1 s: 40 s, for a limit of 1 s"""


class Slow:
    """A server that responds by a given function and counts its steps."""

    def __init__(self, talk: Callable[[socket.socket, Callable[[], bool]], None]) -> None:
        self.said = 0
        self._talk = talk
        self._stop = threading.Event()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        line, _ = self._listener.accept()
        with line, contextlib.suppress(OSError):
            self._talk(line, self._step)

    def _step(self) -> bool:
        self.said += 1
        return self.said < STEPS and not self._stop.wait(0.1)

    def close(self) -> None:
        self._stop.set()
        self._listener.close()
        self._thread.join()


def headers(line: socket.socket, step: Callable[[], bool]) -> None:
    line.recv(1 << 16)
    line.sendall(b"HTTP/1.1 200 OK\r\n")
    while step():
        line.sendall(b"X-More: yes\r\n")


def status_line(line: socket.socket, step: Callable[[], bool]) -> None:
    line.recv(1 << 16)
    while step():
        line.sendall(b"H")


def body(line: socket.socket, step: Callable[[], bool]) -> None:
    line.recv(1 << 16)
    line.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
    while step():
        line.sendall(b"x")


def body_without_length(line: socket.socket, step: Callable[[], bool]) -> None:
    line.recv(1 << 16)
    line.sendall(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n")
    while step():
        line.sendall(b"x")


def reading(line: socket.socket, step: Callable[[], bool]) -> None:
    while step():
        line.recv(1)


def tls(line: socket.socket, step: Callable[[], bool]) -> None:
    line.sendall(b"\x16\x03\x03\x40\x00")  # The header of a record of 16 KB, sent one byte at a time.
    while step():
        line.sendall(b"\x02")


@pytest.mark.parametrize("talk", [headers, status_line, body, body_without_length, reading, tls])
def test_a_slow_server_has_its_seconds_and_no_more(talk: Callable[[socket.socket, Callable[[], bool]], None]) -> None:
    server = Slow(talk)
    scheme = "https" if talk is tls else "http"
    given = bytes(64 << 20) if talk is reading else None
    try:
        with (
            web.Session() as session,
            pytest.raises(requests.RequestException, match=r"no complete answer within 1 s|timed out"),
        ):
            web.ask(session, "POST", f"{scheme}://127.0.0.1:{server.port}/", seconds=1.0, max_bytes=1 << 20, data=given)
        assert server.said < STEPS / 2, "it was cut while the server still talked"
    finally:
        server.close()


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        server: Any = self.server
        server.seen.append((self.path, self.headers.get("Cookie")))
        port = server.server_address[1]
        location = {
            "/moved": "/list",
            "/away": f"http://localhost:{port}/list",
            "/round": "/round",
            "/file": "file:///etc/passwd",
        }.get(self.path)
        self.send_response(302 if location else {"/gone": 404, "/secret": 403, "/down": 503}.get(self.path, 200))
        if location:
            self.send_header("Location", location)
        self.send_header("Set-Cookie", "who=you; Path=/")
        self.send_header("Content-Length", "5")
        self.end_headers()
        self.wfile.write(b"a\t12\n")

    def log_message(self, *_: object) -> None:
        """Log nothing."""


@pytest.fixture
def server() -> Iterator[Any]:
    with ThreadingHTTPServer(("127.0.0.1", 0), _Handler) as made:
        made.seen = []  # type: ignore[attr-defined]
        thread = threading.Thread(target=made.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield made
        made.shutdown()
        thread.join()


def test_a_connection_is_kept_and_its_next_request_has_a_deadline_of_its_own(server: Any) -> None:
    with web.Session() as session:
        for _ in range(3):
            url = f"http://127.0.0.1:{server.server_address[1]}/list"
            assert web.ask(session, "GET", url, seconds=5.0, max_bytes=100).content == b"a\t12\n"


def test_an_answer_is_read_to_its_limit_only(server: Any) -> None:
    with web.Session() as session:
        url = f"http://127.0.0.1:{server.server_address[1]}/list"
        assert len(web.ask(session, "GET", url, seconds=5.0, max_bytes=2).content) <= 5


def test_an_extractors_redirects_and_cookies_are_refused(server: Any) -> None:
    extractor = HttpServer(f"http://127.0.0.1:{server.server_address[1]}", headers={}, connections=1, max_bytes=100)
    assert extractor.read("away", timeout=5.0) == (302, b"a\t12\n")
    assert extractor.read("list", timeout=5.0) == (200, b"a\t12\n")
    assert server.seen == [("/away", None), ("/list", None)]


def test_a_list_of_words_may_move_on_its_host(server: Any) -> None:
    assert fetch(f"http://127.0.0.1:{server.server_address[1]}/moved") == b"a\t12\n"
    assert [path for path, _ in server.seen] == ["/moved", "/list"]


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("/away", "redirects to http://localhost, which is another host"),
        ("/file", "redirects to file://None, which is another host"),
        ("/round", "more than 5 redirects"),
        ("/gone", "no such file"),
        ("/secret", "HTTP 403"),
    ],
)
def test_what_is_not_read_is_a_sentence(server: Any, path: str, said: str) -> None:
    with pytest.raises(UserError, match=said):
        fetch(f"http://127.0.0.1:{server.server_address[1]}{path}")
    assert {seen for seen, _ in server.seen} == {path}


def test_a_server_that_is_down_may_be_asked_again(server: Any) -> None:
    with pytest.raises(TransientError, match="HTTP 503"):
        fetch(f"http://127.0.0.1:{server.server_address[1]}/down")


@pytest.mark.parametrize(
    ("peer", "refused"),
    [
        ("169.254.169.254", True),
        ("169.254.170.2", True),
        ("fe80::1%eth0", True),
        ("::ffff:169.254.169.254", True),
        ("fd00:ec2::254", True),
        ("127.0.0.1", False),
        ("10.0.0.5", False),
        ("192.168.1.5", False),
        ("::1", False),
        ("2001:db8::1", False),
    ],
)
def test_link_local_addresses_are_refused(peer: str, refused: bool) -> None:
    assert web._is_link_local(peer) is refused


def test_request_to_metadata_service_is_not_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    heard: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as server:

        def listen() -> None:
            with contextlib.suppress(OSError):
                line, _ = server.accept()
                with line:
                    heard.append(line.recv(1))

        thread = threading.Thread(target=listen, daemon=True)
        thread.start()
        # The name leads to this server, and its address counts as the address of the metadata service.
        monkeypatch.setattr(web, "_is_link_local", lambda peer: peer == "127.0.0.1")
        with web.Session() as session, pytest.raises(requests.ConnectionError):
            web.ask(session, "POST", f"http://localhost:{server.getsockname()[1]}/", seconds=5, max_bytes=10, data=b"x")
        thread.join(5)
    assert heard == [b""]
