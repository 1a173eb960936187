"""A deadline covers the complete request, however slow the response is.

Redirects to other hosts are not followed.
"""

from __future__ import annotations

import contextlib
import os
import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import requests

from s2corpus import web
from s2corpus.errors import TransientError, UserError
from s2corpus.extractors.http import HttpServer
from s2corpus.storage.uris import fetch

STEPS = 400
"""number of pieces that a slow server would send, one per 0.1 s: 40 s, for a limit of 1 s"""


Talk = tuple[bytes, bytes]
"""the start of a response, and the piece that follows again and again; without a piece, the server reads the request slowly"""
TALKS: dict[str, Talk] = {
    "headers": (b"HTTP/1.1 200 OK\r\n", b"X-More: yes\r\n"),
    "status line": (b"", b"H"),
    "body": (b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n", b"x"),
    "body without length": (b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n", b"x"),
    "reading": (b"", b""),
    "tls": (b"\x16\x03\x03\x40\x00", b"\x02"),  # The header of a record of 16 KB, sent one byte at a time.
}


class Slow:
    """A server that responds piece by piece and counts its steps."""

    def __init__(self, name: str) -> None:
        self.said = 0
        self._name = name
        self._stop = threading.Event()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        start, piece = TALKS[self._name]
        line, _ = self._listener.accept()
        with line, contextlib.suppress(OSError):
            if self._name not in ("reading", "tls"):
                line.recv(1 << 16)
            line.sendall(start)
            while self._step():
                if piece:
                    line.sendall(piece)
                else:
                    line.recv(1)

    def _step(self) -> bool:
        self.said += 1
        return self.said < STEPS and not self._stop.wait(0.1)

    def close(self) -> None:
        self._stop.set()
        self._listener.close()
        self._thread.join()


@pytest.mark.parametrize("name", TALKS)
def test_deadline_covers_the_complete_request(name: str) -> None:
    server = Slow(name)
    scheme = "https" if name == "tls" else "http"
    given = bytes(64 << 20) if name == "reading" else None
    try:
        with (
            web.Session() as session,
            pytest.raises(requests.RequestException, match=r"no complete answer within 1 s|timed out"),
        ):
            session.ask("POST", f"{scheme}://127.0.0.1:{server.port}/", seconds=1.0, max_bytes=1 << 20, data=given)
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
            "/tls": f"https://127.0.0.1:{port}/list",
            **{f"/hop/{n}": f"/hop/{n - 1}" if n > 1 else "/list" for n in range(1, 7)},
        }.get(self.path)
        status = int(self.path.removeprefix("/status/")) if self.path.startswith("/status/") else 200
        self.send_response(302 if location else status)
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
        made.seen = []  # type: ignore[attr-defined]  # an attribute for the test
        made.url = f"http://127.0.0.1:{made.server_address[1]}"  # type: ignore[attr-defined]  # an attribute for the test
        thread = threading.Thread(target=made.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield made
        made.shutdown()
        thread.join()


def test_each_request_of_a_connection_has_its_own_limits(server: Any) -> None:
    with web.Session() as session:
        for max_bytes in (100, 100, 2):
            content = session.ask("GET", f"{server.url}/list", seconds=5.0, max_bytes=max_bytes).content
            assert content == b"a\t12\n" if max_bytes == 100 else len(content) <= 5


def test_redirects_and_cookies_of_an_extractor_are_refused(server: Any) -> None:
    extractor = HttpServer(server.url, headers={}, connections=1, max_bytes=100)
    assert extractor.read("away", timeout=5.0) == (302, b"a\t12\n")
    assert extractor.read("list", timeout=5.0) == (200, b"a\t12\n")
    assert server.seen == [("/away", None), ("/list", None)]


RESPONSES = {
    **dict.fromkeys((404, 410), "no such file"),
    **dict.fromkeys((201, 204, 401, 403, 407, 409, 428), "HTTP {}: only public addresses are supported"),
}
"""user errors; 408, 429 and 5xx are transient"""


@pytest.mark.parametrize("status", [200, 404, 410, 201, 204, 401, 403, 407, 409, 428, 408, 429, 499, 500, 503, 599])
def test_response_status_of_an_address(server: Any, status: int) -> None:
    uri = f"{server.url}/status/{status}"
    if status == 200:
        assert fetch(uri) == b"a\t12\n"
        return
    kind = TransientError if status in (408, 429) or status >= 500 else UserError
    with pytest.raises(kind, match=RESPONSES.get(status, "HTTP {}").format(status)) as refused:
        fetch(uri)
    assert str(refused.value).startswith(f"{uri}: ") and type(refused.value) is kind


@pytest.mark.parametrize(
    ("path", "kind", "said"),
    [
        ("/moved", None, ["/moved", "/list"]),
        ("/hop/5", None, [*(f"/hop/{n}" for n in range(5, 0, -1)), "/list"]),
        ("/hop/6", UserError, "more than 5 redirects"),
        ("/round", UserError, "more than 5 redirects"),
        ("/away", UserError, "redirects to http://localhost: give that address"),
        ("/file", UserError, "redirects to file://None: give that address"),
        ("/tls", TransientError, "SSL"),  # The test's server has no TLS.
    ],
)
def test_redirects_are_followed_on_one_host(server: Any, path: str, kind: type[Exception] | None, said: Any) -> None:
    uri = f"{server.url}{path}"
    if kind is None:
        assert fetch(uri) == b"a\t12\n"
        assert [seen for seen, _ in server.seen] == said
        return
    with pytest.raises(kind, match=said):
        fetch(uri)
    assert len(server.seen) <= 6


def test_redirect_keeps_tls_and_requests_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    """An address has 30 minutes and 1 GiB. A redirect from https to http would show the request to others."""

    def respond(_: object, method: str, uri: str, *, seconds: float, max_bytes: int) -> requests.Response:
        assert (method, seconds, max_bytes) == ("GET", 1800, 1 << 30)
        response = requests.Response()
        response.status_code, response._content = (200, b"text") if uri == "https://host/b" else (301, b"")
        response.headers["Location"] = {"https://host/a": "b", "https://host/c": "http://host/b"}.get(uri, "")
        return response

    monkeypatch.setattr(web.Session, "ask", respond)
    assert fetch("https://host/a") == b"text"
    with pytest.raises(UserError, match="redirects to http://host: give that address"):
        fetch("https://host/c")


def test_files_are_read_by_path_and_address(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, server: Any) -> None:
    (tmp_path / "a%20b c").write_bytes(b"12345")
    monkeypatch.chdir(tmp_path)
    for uri in ("a%20b c", f"{tmp_path}/a%20b c", f"file://{tmp_path}/a%2520b%20c"):
        assert fetch(uri) == b"12345"
    for uri in (f"file://{tmp_path}/a%20b c", "none", f"{tmp_path}/none", str(tmp_path)):
        with pytest.raises(UserError, match="no such file: give a path"):
            fetch(uri)
    (tmp_path / "large").touch()
    os.truncate(tmp_path / "large", (1 << 30) + 1)
    with pytest.raises(UserError, match="large: more than 1,073,741,824 bytes"):
        fetch("large")
    monkeypatch.setattr("s2corpus.storage.uris._MAX_BYTES", 5)
    address = f"{server.url}/list"
    assert fetch("a%20b c") == fetch(address).replace(b"a\t12\n", b"12345") == b"12345"
    monkeypatch.setattr("s2corpus.storage.uris._MAX_BYTES", 4)
    for uri in ("a%20b c", address):
        with pytest.raises(UserError, match="more than 4 bytes"):
            fetch(uri)
    with pytest.raises(TransientError, match=r"http://127\.0\.0\.1:9/x: "):
        fetch("http://127.0.0.1:9/x")


def test_link_local_addresses_are_refused() -> None:
    refused = ("169.254.169.254", "169.254.170.2", "fe80::1%eth0", "::ffff:169.254.169.254", "fd00:ec2::254")
    allowed = ("127.0.0.1", "10.0.0.5", "192.168.1.5", "::1", "2001:db8::1")
    assert [peer for peer in (*refused, *allowed) if web._is_link_local(peer)] == list(refused)


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
            session.ask("POST", f"http://localhost:{server.getsockname()[1]}/", seconds=5, max_bytes=10, data=b"x")
        thread.join(5)
    assert heard == [b""]
