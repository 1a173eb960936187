"""A web server in this process: a function of the test answers each request."""

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import NamedTuple


class Request(NamedTuple):
    """A request."""

    method: str
    path: str
    headers: Message
    body: bytes


@contextmanager
def serve(answer: Callable[[Request], tuple[int, bytes, Mapping[str, str]]]) -> Iterator[str]:
    """Yield the URL of a server on 127.0.0.1; `answer` returns status, body and headers."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def respond(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            status, content, headers = answer(Request(self.command, self.path, self.headers, body))
            self.send_response(status)
            for name, value in {"Content-Length": str(len(content)), **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(b"" if self.command == "HEAD" else content)

        do_GET = do_PUT = do_HEAD = do_DELETE = do_POST = respond

        def log_message(self, *_: object) -> None:
            """Log nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
