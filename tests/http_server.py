"""A web server in this process: a function of the test answers each request, or the files of a folder do."""

import json
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from email.message import Message
from functools import partial
from http.server import BaseHTTPRequestHandler, SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple, Self

Answer = tuple[int, bytes, Mapping[str, str]]
"""status, body and headers"""


class Request(NamedTuple):
    """A request."""

    method: str
    path: str
    headers: Message
    body: bytes


@contextmanager
def serve(answer: Callable[[Request], Answer]) -> Iterator[str]:
    """Yield the URL of a server on 127.0.0.1 with these answers."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def respond(self) -> None:
            status, content, headers = answer(Request(self.command, self.path, self.headers, read_body(self)))
            with suppress(OSError):  # The client is gone.
                self.send_response(status)
                for name, value in {"Content-Length": str(len(content)), **headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(b"" if self.command == "HEAD" else content)

        do_GET = do_PUT = do_HEAD = do_DELETE = do_POST = respond

        def log_message(self, *_: object) -> None:
            """Log nothing."""

    with run_server(Handler) as url:
        yield url


@contextmanager
def serve_folder(folder: Path, kind: type[SimpleHTTPRequestHandler] = SimpleHTTPRequestHandler) -> Iterator[str]:
    """Yield the URL of a server for the files of a folder."""
    quiet = type("Quiet", (kind,), {"log_message": lambda *_: None})
    with run_server(partial(quiet, directory=str(folder))) as url:
        yield url


@contextmanager
def run_server(handler: Callable[..., BaseHTTPRequestHandler]) -> Iterator[str]:
    """Run a server on a free port; yield its URL."""
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


class Server(ABC):
    """A server with a state: `with` starts it and sets its `url`."""

    url = ""

    @abstractmethod
    def answer(self, request: Request) -> Answer:
        """Return the answer to a request."""

    def __enter__(self) -> Self:
        self._serving = serve(self.answer)
        self.url = self._serving.__enter__()
        return self

    def __exit__(self, *raised: Any) -> None:
        self._serving.__exit__(*raised)


def answer_json(value: object, status: int = 200) -> Answer:
    """Return an answer with a JSON value."""
    return status, json.dumps(value).encode(), {"Content-Type": "application/json"}


def read_body(request: BaseHTTPRequestHandler) -> bytes:
    """Read the body of a request, which may be chunked."""
    if request.headers.get("Transfer-Encoding") != "chunked":
        return request.rfile.read(int(request.headers.get("Content-Length") or 0))
    body = bytearray()
    while size := int(request.rfile.readline(), 16):
        body += request.rfile.read(size)
        request.rfile.readline()
    request.rfile.readline()
    return bytes(body)
