"""A deadline covers the complete request, however slow the response is.

Redirects to other hosts are not followed.
"""

import contextlib
import socket
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import requests

from s2corpus import web
from s2corpus.errors import TransientError, UserError
from s2corpus.extractors.http import HttpServer
from s2corpus.storage.uris import fetch
from tests.http_server import Answer, Request, Server

STEPS = 400
"""number of pieces that a slow server would send, one per 0.1 s: 40 s, for a limit of 1 s"""


TALKS = {
    "headers": (b"HTTP/1.1 200 OK\r\n", b"X-More: yes\r\n"),
    "body": (b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n", b"x"),
    "reading": (b"", b""),
    "tls": (b"\x16\x03\x03\x40\x00", b"\x02"),  # The header of a record of 16 KB, sent one byte at a time.
}
"""the start of a response, and the piece that follows again and again; without a piece, the server reads the request slowly"""


@contextlib.contextmanager
def slow_server(name: str) -> Iterator[tuple[int, list[float]]]:
    """Yield the port of a server that responds piece by piece, and the times of its pieces."""
    times: list[float] = []
    stop = threading.Event()
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        start, piece = TALKS[name]
        line, _ = listener.accept()
        with line, contextlib.suppress(OSError):
            if name not in ("reading", "tls"):
                line.recv(1 << 16)
            line.sendall(start)
            while len(times) < STEPS and not stop.wait(0.1):
                times.append(time.monotonic())
                if piece:
                    line.sendall(piece)
                else:
                    line.recv(1)

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield listener.getsockname()[1], times
    finally:
        stop.set()
        listener.close()
        thread.join()


@pytest.mark.parametrize("name", TALKS)
def test_deadline_covers_the_complete_request(name: str) -> None:
    scheme = "https" if name == "tls" else "http"
    given = bytes(64 << 20) if name == "reading" else None
    with slow_server(name) as (port, times), web.Session() as session:
        with pytest.raises(requests.RequestException, match=r"no complete answer within 1 s|timed out"):
            session.ask("POST", f"{scheme}://127.0.0.1:{port}/", seconds=1.0, max_bytes=1 << 20, data=given)
        assert len(times) < STEPS / 2, "it was cut while the server still talked"


@dataclass
class Redirecting(Server):
    """A server that redirects some paths; `seen` has path and cookie of each request."""

    seen: list[tuple[str, str | None]] = field(default_factory=list)

    def answer(self, request: Request) -> Answer:
        self.seen.append((request.path, request.headers.get("Cookie")))
        port = self.url.rpartition(":")[2]
        location = {
            "/away": f"http://localhost:{port}/list", "/round": "/round", "/file": "file:///etc/passwd",
            "/tls": f"https://127.0.0.1:{port}/list", **{f"/hop/{n}": f"/hop/{n - 1}" if n > 1 else "/list" for n in range(1, 7)},
        }.get(request.path)  # fmt: skip
        status = int(request.path.removeprefix("/status/")) if request.path.startswith("/status/") else 200
        headers = {"Set-Cookie": "who=you; Path=/", **({"Location": location} if location else {})}
        return 302 if location else status, b"a\t12\n", headers


@pytest.fixture
def server() -> Iterator[Redirecting]:
    with Redirecting() as made:
        yield made


def test_redirects_and_cookies_of_an_extractor_are_refused(server: Any) -> None:
    extractor = HttpServer(server.url, headers={}, connections=1, max_bytes=100)
    assert extractor.read("away", timeout=5.0) == (302, b"a\t12\n")
    assert extractor.read("list", timeout=5.0) == (200, b"a\t12\n")
    assert server.seen == [("/away", None), ("/list", None)]


@pytest.mark.parametrize(
    ("statuses", "kind", "said"),
    [
        ((404, 410), UserError, "no such file"),
        ((201, 204, 401, 403, 407, 409, 428), UserError, "only public addresses are supported"),
        ((408, 429, 500, 503, 599), TransientError, "HTTP "),
    ],
)
def test_response_status_of_an_address(server: Any, statuses: Sequence[int], kind: type[Exception], said: str) -> None:
    for status in statuses:
        uri = f"{server.url}/status/{status}"
        with pytest.raises(kind, match=said) as refused:
            fetch(uri)
        assert str(refused.value).startswith(f"{uri}: ") and type(refused.value) is kind


@pytest.mark.parametrize(
    ("path", "kind", "said"),
    [
        ("/hop/6", UserError, "more than 5 redirects"),
        ("/round", UserError, "more than 5 redirects"),
        ("/away", UserError, "redirects to http://localhost: give that address"),
        ("/file", UserError, "redirects to file://None: give that address"),
        ("/tls", TransientError, "SSL"),  # The test's server has no TLS.
    ],
)
def test_redirects_are_followed_on_one_host(server: Any, path: str, kind: type[Exception], said: str) -> None:
    with pytest.raises(kind, match=said):
        fetch(f"{server.url}{path}")
    assert len(server.seen) <= 6
    assert fetch(f"{server.url}/hop/5") == b"a\t12\n"
    assert [seen for seen, _ in server.seen[-6:]] == [*(f"/hop/{n}" for n in range(5, 0, -1)), "/list"]


def test_redirect_keeps_tls_and_requests_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    """An address has 30 minutes and 1 GiB. A redirect from https to http would show the request to others."""

    def respond(_: object, method: str, uri: str, *, seconds: float, max_bytes: int) -> requests.Response:
        assert (method, seconds, max_bytes) == ("GET", 1800, 1 << 30)
        response = requests.Response()
        response.status_code = 301
        response.headers["Location"] = "http://host/b"
        return response

    monkeypatch.setattr(web.Session, "ask", respond)
    with pytest.raises(UserError, match="redirects to http://host: give that address"):
        fetch("https://host/a")


def test_files_are_read_by_path_and_address(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, server: Any) -> None:
    (tmp_path / "a%20b c").write_bytes(b"12345")
    monkeypatch.chdir(tmp_path)
    for uri in ("a%20b c", f"{tmp_path}/a%20b c", f"file://{tmp_path}/a%2520b%20c"):
        assert fetch(uri) == b"12345"
    for uri in (f"file://{tmp_path}/a%20b c", "none", str(tmp_path)):
        with pytest.raises(UserError, match="no such file: give a path"):
            fetch(uri)
    for limit, expected in ((5, nullcontext()), (4, pytest.raises(UserError, match="more than 4 bytes"))):
        monkeypatch.setattr("s2corpus.storage.uris._MAX_BYTES", limit)
        for uri in ("a%20b c", f"{server.url}/list"):
            with expected:
                assert len(fetch(uri)) == 5
    with pytest.raises(TransientError, match=r"http://127\.0\.0\.1:9/x: "):
        fetch("http://127.0.0.1:9/x")


def test_link_local_addresses_are_refused() -> None:
    refused = ("169.254.169.254", "169.254.170.2", "fe80::1%eth0", "::ffff:169.254.169.254", "fd00:ec2::254")
    allowed = ("127.0.0.1", "10.0.0.5", "192.168.1.5", "::1", "2001:db8::1")
    assert [peer for peer in (*refused, *allowed) if web._is_link_local(peer)] == list(refused)


def test_request_to_metadata_service_is_not_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    # The name leads to this server, and its address counts as the address of the metadata service.
    monkeypatch.setattr(web, "_is_link_local", lambda peer: peer == "127.0.0.1")
    with socket.create_server(("127.0.0.1", 0)) as server, ThreadPoolExecutor(1) as pool:
        heard = pool.submit(lambda: server.accept()[0].recv(1))
        with web.Session() as session, pytest.raises(requests.ConnectionError):
            session.ask("POST", f"http://localhost:{server.getsockname()[1]}/", seconds=5, max_bytes=10, data=b"x")
        assert heard.result(5) == b""
