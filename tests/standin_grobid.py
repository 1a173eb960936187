"""A stand-in for a GROBID server that can simulate every fault of a real server, its proxy or its network.

Use `with StandIn(faults=…) as server:`. The server answers each uploaded PDF by the SHA-1 of its bytes: with the
recorded TEI of that name if available, otherwise with a small TEI that contains the SHA-1.
"""

from __future__ import annotations

import hashlib
import json
import re
import socket
import struct
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from tests.http_server import read_body

TEI = (
    '<?xml version="1.0" encoding="UTF-8"?>\n<TEI xmlns="http://www.tei-c.org/ns/1.0"><teiHeader><fileDesc><titleStmt>'
    "<title>{}</title></titleStmt></fileDesc></teiHeader><text><body><p>Text.</p></body></text></TEI>\n"
)
FINAL = ("BAD_INPUT_DATA", "NO_BLOCKS", "TOO_MANY_BLOCKS", "TOO_MANY_TOKENS", "PDFALTO_CONVERSION_FAILURE")


@dataclass(frozen=True)
class Upload:
    """One request: the PDF's SHA-1, and the number of uploads of this PDF, which starts at 1."""

    sha1: str
    times: int


Fault = str | None
"""The fault to simulate, or None.

Faults: `busy`, `hang`, `drop` (no answer), `truncate` (half the announced body), `stall` (half the body, then silence),
`trickle` (a byte now and then), `chunked` (correct, but in chunks), `unended` (chunks without their end), `half` (half
a TEI, announced as complete), `huge`, `no_content`, a status (`502`), or a GROBID code (`NO_BLOCKS`).
"""


@dataclass(kw_only=True, eq=False)
class StandIn:
    """The server on 127.0.0.1. `faults` returns the fault of each upload; `uploads` and `answered` (final answers only) count by SHA-1."""

    faults: Callable[[Upload], Fault] = lambda _: None
    tei: Path | None = None
    slots: int = 64
    latency: float = 0.0
    queue_wait: float = 0.0
    version: Any = field(default_factory=lambda: {"version": "0.8.2", "revision": "stand-in"})
    token: str | None = None
    ready: bool | None = None
    """answer of `/api/health`, which exists since GROBID 0.9"""
    healthy: bool = True
    port: int = 0
    requests: int = 0
    uploads: Counter[str] = field(default_factory=Counter)
    answered: Counter[str] = field(default_factory=Counter)
    forms: list[dict[str, str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.engines = threading.BoundedSemaphore(self.slots)
        self.lock = threading.Lock()
        self._server: _Http | None = None

    @property
    def url(self) -> str:
        """Return the service's URL."""
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> StandIn:
        """Start to listen; after `stop`, use the same port again."""
        self._server = _Http(("127.0.0.1", self.port), self)
        self.port = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        return self

    def stop(self) -> None:
        """Simulate a crash: stop listening and break every open connection."""
        if self._server is not None:
            server, self._server = self._server, None
            server.shutdown()
            server.server_close()
            server.break_connections()

    def __enter__(self) -> StandIn:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    def recorded(self, sha1: str) -> bytes:
        """Return the TEI of a PDF."""
        if self.tei is not None and (path := self.tei / f"{sha1}.tei.xml").is_file():
            return path.read_bytes()
        return TEI.format(sha1).encode()


class _Http(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256

    def __init__(self, address: tuple[str, int], owner: StandIn) -> None:
        self.owner = owner
        self.open: set[socket.socket] = set()
        super().__init__(address, _Handler)

    def break_connections(self) -> None:
        for connection in list(self.open):
            with suppress(OSError):
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                connection.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request: Any, client_address: Any) -> None:
        pass


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Http

    def setup(self) -> None:
        super().setup()
        self.server.open.add(self.connection)

    def finish(self) -> None:
        self.server.open.discard(self.connection)
        with suppress(OSError):
            super().finish()

    def log_message(self, *_: Any) -> None:
        pass

    def do_GET(self) -> None:
        owner = self.server.owner
        if not self._allowed():
            return
        if self.path.startswith("/api/isalive"):
            self._answer(200, b"true" if owner.healthy else b"false")
        elif self.path.startswith("/api/health") and owner.ready is not None:
            told = {"initialized": owner.ready, "ready": owner.ready, "models": {"totalFailed": int(not owner.ready)}}
            self._answer(200, json.dumps(told).encode())
        elif self.path.startswith("/api/version"):
            version = owner.version
            self._answer(200, (version if isinstance(version, str) else json.dumps(version)).encode())
        else:
            self._answer(404, b"not found")

    def do_POST(self) -> None:
        owner = self.server.owner
        body = read_body(self)
        if not self._allowed():
            return
        form = read_form(self.headers["Content-Type"], body)
        sha1 = hashlib.sha1(form.pop("input")).hexdigest()
        with owner.lock:
            owner.requests += 1
            owner.uploads[sha1] += 1
            owner.forms.append({key: value.decode() for key, value in form.items()})
            upload = Upload(sha1, owner.uploads[sha1])
        fault = owner.faults(upload)
        if fault == "busy" or not owner.engines.acquire(
            timeout=owner.queue_wait or None, blocking=owner.queue_wait > 0
        ):
            return self._answer(503, b"all engines are busy")
        try:
            self._work(sha1, fault)
        finally:
            owner.engines.release()

    def _work(self, sha1: str, fault: Fault) -> None:
        owner = self.server.owner
        if fault == "hang":
            return self._hang()
        time.sleep(owner.latency)
        tei = owner.recorded(sha1)
        if fault in ("drop", "truncate", "stall", "trickle", "unended"):
            self.close_connection = True
        match fault:
            case None:
                self._answer(200, tei, sha1=sha1)
            case "half":
                self._answer(200, tei[: len(tei) // 2], sha1=sha1)
            case "huge":
                self._answer(200, tei.replace(b"Text.", b"Text. " * 2_500_000), sha1=sha1)
            case "drop":
                pass
            case "truncate" | "stall":
                self._answer(200, tei[: len(tei) // 2], announced=len(tei))
                if fault == "stall":
                    self._hang()
            case "trickle":
                self._answer(200, b"", announced=len(tei))
                with suppress(OSError):
                    for byte in tei:
                        self.wfile.write(bytes([byte]))
                        time.sleep(0.05)
            case "chunked" | "unended":
                self.send_response(200)
                self.send_header("Transfer-Encoding", "chunked")
                self.end_headers()
                for start in range(0, len(tei), 100):
                    self.wfile.write(b"%x\r\n%b\r\n" % (len(tei[start : start + 100]), tei[start : start + 100]))
                if fault == "chunked":
                    self.wfile.write(b"0\r\n\r\n")
            case "no_content":
                self._answer(204, b"", sha1=sha1)
            case code:
                status = int(code) if code.isdigit() else 500
                self._answer(status, f"[{code}] conversion failed".encode(), sha1=sha1 if code in FINAL else None)

    def _hang(self) -> None:
        """Send nothing until the client disconnects or the server stops."""
        self.close_connection = True
        self.connection.settimeout(120)
        with suppress(OSError):
            self.connection.recv(1)

    def _allowed(self) -> bool:
        token = self.server.owner.token
        if token is not None and self.headers.get("Authorization") != f"Bearer {token}":
            self._answer(401, b"a token is needed")
            return False
        return True

    def _answer(self, status: int, body: bytes, *, announced: int | None = None, sha1: str | None = None) -> None:
        """Send a response; count it as answered if `sha1` is given."""
        self.send_response(status)
        if status != 204:
            self.send_header("Content-Length", str(len(body) if announced is None else announced))
        self.end_headers()
        self.wfile.write(body)
        self.wfile.flush()
        if sha1 is not None:
            with self.server.owner.lock:
                self.server.owner.answered[sha1] += 1


def read_form(content_type: str, body: bytes) -> dict[str, bytes]:
    """Return the fields of a multipart form; values of a repeated field are joined by commas."""
    match = re.search(r'boundary="?([^";]+)', content_type)
    assert match is not None, content_type
    form: dict[str, bytes] = {}
    for part in body.split(b"--" + match[1].encode())[1:-1]:
        head, _, content = part.partition(b"\r\n\r\n")
        name = re.search(rb'name="([^"]*)"', head)
        assert name is not None, head
        key = name[1].decode()
        form[key] = form[key] + b"," + content[:-2] if key in form else content[:-2]
    return form
