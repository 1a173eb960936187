"""A TCP proxy in front of an HTTP server that can simulate failures; otherwise it forwards all data byte for byte.

The `Host` header is the client's, so that S3's signatures remain valid.
"""

import contextlib
import re
import socket
import threading
import time
from collections import Counter
from collections.abc import Callable
from enum import StrEnum
from typing import Self

_BLOCK = 1 << 16


class Mode(StrEnum):
    """The behavior of the proxy. Every change closes all open connections."""

    PASS = "pass"
    ERROR_500 = "500"
    ERROR_503 = "503"
    SLOW = "slow"  # waits a second before every block of a response
    CUT = "cut"  # breaks off a response after a thousand bytes
    REFUSE = "refuse"  # accepts no connections
    SILENT = "silent"  # accepts a connection but sends nothing


class Proxy:
    """A proxy to `127.0.0.1:<target>` on a separate port, which stays the same."""

    def __init__(self, target: int) -> None:
        self.target = target
        self.mode = Mode.PASS
        self.met: Counter[Mode] = Counter()
        """number of connections in each mode"""
        self.answered = 0
        """bytes that the server sent back, headers included"""
        self._open: set[socket.socket] = set()
        self._lock = threading.Lock()
        self._listener: socket.socket | None = None
        self.port = 0
        self._listen()

    @property
    def url(self) -> str:
        """Return the proxy's URL."""
        return f"http://127.0.0.1:{self.port}"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.turn(Mode.REFUSE)

    def turn(self, mode: Mode) -> None:
        """Switch to another mode and cut all open connections."""
        with self._lock:
            self.mode = mode
            for each in self._open:
                with contextlib.suppress(OSError):
                    each.shutdown(socket.SHUT_RDWR)
        if mode is Mode.REFUSE:
            self._close()
        elif self._listener is None:
            self._listen()

    def _listen(self) -> None:
        listener = socket.create_server(("127.0.0.1", self.port), backlog=128)
        self.port, self._listener = listener.getsockname()[1], listener
        threading.Thread(target=self._accept, args=(listener,), daemon=True).start()

    def _close(self) -> None:
        if self._listener is not None:
            with contextlib.suppress(OSError):
                self._listener.shutdown(socket.SHUT_RDWR)
            self._listener.close()
            self._listener = None

    def _accept(self, listener: socket.socket) -> None:
        while True:
            try:
                client, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        with self._lock:
            mode = self.mode
            self.met[mode] += 1
            self._open.add(client)
        try:
            match mode:
                case Mode.ERROR_500:
                    _answer(client, b"500 Internal Server Error", b"InternalError")
                case Mode.ERROR_503:
                    _answer(client, b"503 Service Unavailable", b"ServiceUnavailable")
                case Mode.SILENT:
                    while client.recv(_BLOCK):
                        pass
                case _:
                    self._pass_on(client, mode)
        except OSError:
            pass
        finally:
            with self._lock:
                self._open.discard(client)
            client.close()

    def _count(self, size: int) -> None:
        with self._lock:
            self.answered += size

    def _pass_on(self, client: socket.socket, mode: Mode) -> None:
        with socket.create_connection(("127.0.0.1", self.target)) as server:
            for each in (client, server):
                each.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            with self._lock:
                self._open.add(server)
            back = threading.Thread(target=_pump, args=(server, client, mode, self._count), daemon=True)
            back.start()
            try:
                _pump(client, server, Mode.PASS)
            finally:
                back.join()
                with self._lock:
                    self._open.discard(server)


def _pump(
    source: socket.socket, sink: socket.socket, mode: Mode, count: Callable[[int], None] = lambda size: None
) -> None:
    left = 1000 if mode is Mode.CUT else None
    with contextlib.suppress(OSError):
        while block := source.recv(_BLOCK):
            if mode is Mode.SLOW:
                time.sleep(1)
            if left is not None:
                block = block[:left]
                left -= len(block)
            count(len(block))
            sink.sendall(block)
            if left == 0:
                break
    for each in (source, sink):
        with contextlib.suppress(OSError):
            each.shutdown(socket.SHUT_RDWR)


def _answer(client: socket.socket, status: bytes, code: bytes) -> None:
    """Read one request to its end and answer with an error in S3's format."""
    seen = b""
    while b"\r\n\r\n" not in seen:
        block = client.recv(_BLOCK)
        if not block:
            return
        seen += block
    head, _, body = seen.partition(b"\r\n\r\n")
    length = re.search(rb"(?i)\r\ncontent-length: *(\d+)", head)
    waits = b"100-continue" in head.lower()
    left = int(length[1]) - len(body) if length and not waits else 0
    while left > 0 and (block := client.recv(_BLOCK)):
        left -= len(block)
    content = b"" if head.startswith(b"HEAD") else b"<Error><Code>" + code + b"</Code></Error>"
    client.sendall(
        b"HTTP/1.1 " + status + b"\r\nContent-Type: application/xml\r\nConnection: close\r\nContent-Length: "
        + str(len(content)).encode() + b"\r\n\r\n" + content
    )  # fmt: skip
