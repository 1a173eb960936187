"""An S3 server in memory. A test can damage its answers.

It answers the requests that the lake sends, and compares ETags like S3. It needs a millisecond for a request, and its state is a
dictionary, so a test can repeat a step of a release with a fault at each request.
"""

import gzip
import hashlib
import re
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Self
from urllib.parse import parse_qs, unquote, urlsplit
from xml.sax.saxutils import escape

_sleep = time.sleep
"""The real function: tests replace it, so that clients repeat requests without waiting."""
HTML = b"<html><body><p>Please log in</p></body></html>"


@dataclass
class Answer:
    """An answer to a request: the status, the body and the headers."""

    status: int
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)

    @classmethod
    def error(cls, status: int, code: str) -> Self:
        """Return an error of S3."""
        return cls(status, f"<Error><Code>{code}</Code><Message>words</Message></Error>".encode())


@dataclass(frozen=True)
class Request:
    """A request: method, key (empty for a listing), body, and the lines that send it, where they are known."""

    method: str
    key: str
    body: bytes
    site: str = ""

    @property
    def kind(self) -> tuple[str, str, str]:
        """Return method, folder and sender."""
        return self.method, self.key.partition("/")[0], self.site


PAGE = Answer(200, HTML, {"Content-Type": "text/html", "ETag": '"653a1b2c-3a"'})
"""the login page of a proxy, with the ETag of a web server"""
Fault = Callable[["Handler", Answer], Answer] | Answer
"""Changes the answer to a request that was executed, or raises `Lost` to close the connection without one. An `Answer` is given
instead of executing the request."""


class Lost(Exception):
    """The answer is lost."""


class Store:
    """Objects of the bucket `corpus`; `fault` changes the answers to requests with the header `x-fault`, or that `meets` selects."""

    def __init__(self) -> None:
        self.objects: dict[str, bytes] = {}
        self.uploads: dict[str, dict[int, bytes]] = {}
        """parts by number of uploads that are not complete"""
        self.fault: Fault | None = None
        self.meets: Callable[[Request], bool] = lambda request: False
        self.spoiled = 0
        """number of requests that met a fault"""
        self.lock = threading.Lock()
        self.port = 0

    def spoil(self, fault: Fault, key: str, times: int, method: str = "GET") -> None:
        """Damage the next answers to a method for a key."""
        left = times

        def meets(request: Request) -> bool:
            nonlocal left
            is_met = (request.method, request.key) == (method, key) and left > 0
            left -= is_met
            return is_met

        self.fault, self.meets = fault, meets

    def answer(self, request: Request, query: dict[str, list[str]], headers: dict[str, str]) -> Answer:
        """Execute a request."""
        if not request.key:
            return self._list(query)
        current = self.objects.get(request.key)
        etag = None if current is None else f'"{hashlib.md5(current).hexdigest()}"'
        if "uploads" in query or "uploadId" in query:
            return self._answer_multipart(request, query)
        match request.method:
            case "PUT":
                if ("if-none-match" in headers and etag) or headers.get("if-match", etag) != etag:
                    return Answer.error(412, "PreconditionFailed")
                self.objects[request.key] = request.body
                return Answer(200, headers={"ETag": f'"{hashlib.md5(request.body).hexdigest()}"'})
            case "DELETE":
                self.objects.pop(request.key, None)
                return Answer(204)
        if current is None or etag is None:
            return Answer.error(404, "NoSuchKey")
        if headers.get("if-match", etag) != etag:
            return Answer.error(412, "PreconditionFailed")
        found = Answer(200, current, {"ETag": etag, "Last-Modified": "Wed, 21 Oct 2026 07:28:00 GMT"})
        if span := re.fullmatch(r"bytes=(\d*)-(\d+)", headers.get("range", "")):
            end = len(current) - 1
            first, last = (int(span[1]), min(int(span[2]), end)) if span[1] else (max(0, end + 1 - int(span[2])), end)
            if first > last:
                return Answer.error(416, "InvalidRange")
            found.headers["Content-Range"] = f"bytes {first}-{last}/{len(current)}"
            found.status, found.body = 206, current[first : last + 1]
        return found

    def _answer_multipart(self, request: Request, query: dict[str, list[str]]) -> Answer:
        """Begin an upload, store a part, or join the parts."""
        if "uploads" in query:
            upload = str(len(self.uploads))
            self.uploads[upload] = {}
            return Answer(200, f"<Result><UploadId>{upload}</UploadId></Result>".encode())
        parts = self.uploads.get(query["uploadId"][0])
        if parts is None:
            return Answer.error(404, "NoSuchUpload")
        if request.method == "PUT":
            parts[int(query["partNumber"][0])] = request.body
            return Answer(200, headers={"ETag": f'"{hashlib.md5(request.body).hexdigest()}"'})
        listed = re.findall(r"<ETag>(?:&quot;|\")?([^<&\"]+)", request.body.decode())
        if listed != [hashlib.md5(parts[number]).hexdigest() for number in sorted(parts)]:
            return Answer.error(400, "InvalidPart")
        self.objects[request.key] = b"".join(parts[number] for number in sorted(parts))
        del self.uploads[query["uploadId"][0]]
        return Answer(200, b"<Result><ETag>etag-2</ETag></Result>")

    def _list(self, query: dict[str, list[str]]) -> Answer:
        prefix, delimiter = query.get("prefix", [""])[0], query.get("delimiter", [""])[0]
        keys, folders = [], set()
        for key in sorted(self.objects):
            if key.startswith(prefix):
                head, found, _ = key[len(prefix) :].partition(delimiter) if delimiter else ("", "", "")
                if found:
                    folders.add(prefix + head + found)
                else:
                    keys.append(key)
        contents = "".join(
            f"<Contents><Key>{escape(key)}</Key><Size>{len(self.objects[key])}</Size></Contents>" for key in keys
        )
        prefixes = "".join(
            f"<CommonPrefixes><Prefix>{escape(folder)}</Prefix></CommonPrefixes>" for folder in sorted(folders)
        )
        body = f"<ListBucketResult><IsTruncated>false</IsTruncated>{contents}{prefixes}</ListBucketResult>"
        return Answer(200, body.encode())


class Server(ThreadingHTTPServer):
    """A server with its store."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, store: Store) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.store = store

    def handle_error(self, request: object, client_address: object) -> None:
        """Print nothing: faults break connections."""


class Handler(BaseHTTPRequestHandler):
    """Answers one connection."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: Server

    def respond(self) -> None:
        """Read a request, execute it, and send the answer, which a fault may change."""
        store, headers = self.server.store, {name.lower(): value for name, value in self.headers.items()}
        address = urlsplit(self.path)
        body = self.rfile.read(int(headers.get("content-length") or 0))
        if headers.get("content-encoding") == "aws-chunked":
            body = _join_chunks(body)
        request = Request(self.command, unquote(address.path.removeprefix("/corpus")).removeprefix("/"), body)
        with store.lock:
            fault = store.fault if store.fault and ("x-fault" in headers or store.meets(request)) else None
            store.spoiled += fault is not None
            answer = (
                fault
                if isinstance(fault, Answer)
                else store.answer(request, parse_qs(address.query, keep_blank_values=True), headers)
            )
        if callable(fault):
            try:
                answer = fault(self, answer)
            except Lost:
                self.close_connection = True
                return
        headers = {"Content-Length": str(len(answer.body)), **answer.headers}
        head = f"HTTP/1.1 {answer.status} words\r\n" + "".join(
            f"{name}: {value}\r\n" for name, value in headers.items()
        )
        # One packet: a second one would wait for the acknowledgment of the first.
        self.wfile.write(head.encode() + b"\r\n" + (b"" if self.command == "HEAD" else answer.body))

    do_GET = do_POST = do_PUT = do_HEAD = do_DELETE = respond

    def log_message(self, *_: object) -> None:
        """Log nothing."""


def _join_chunks(body: bytes) -> bytes:
    """Return the content of a body in the encoding `aws-chunked`."""
    content = b""
    while size := int(body.partition(b"\r\n")[0].partition(b";")[0], 16):
        start = body.index(b"\r\n") + 2
        content += body[start : start + size]
        body = body[start + size + 2 :]
    return content


@contextmanager
def s3_store() -> Iterator[Store]:
    """Serve an empty store on a port of this machine."""
    store = Store()
    with Server(store) as server:
        store.port = server.server_port
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        try:
            yield store
        finally:
            server.shutdown()


def cut(handler: Handler, answer: Answer) -> Answer:
    """Announce all bytes, send half of them and close the connection. Without a body, send a part of the header."""
    handler.close_connection = True
    if handler.command == "HEAD" or not answer.body:
        handler.wfile.write(f"HTTP/1.1 {answer.status} words\r\nContent-".encode())
        raise Lost
    size = str(len(answer.body))
    return Answer(
        answer.status,
        answer.body[: len(answer.body) // 2],
        answer.headers | {"Content-Length": size, "Connection": "close"},
    )


def reset(handler: Handler, answer: Answer) -> Answer:
    """Send half of the body, then reset the connection."""
    handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    return cut(handler, answer)


def replace_all(handler: Handler, answer: Answer) -> Answer:
    """Execute the request; answer with the login page of a proxy."""
    return PAGE


def replace_body(handler: Handler, answer: Answer) -> Answer:
    """Replace only the body, and leave the headers of S3."""
    return Answer(answer.status, HTML, answer.headers)


def pad(handler: Handler, answer: Answer) -> Answer:
    """Replace the end of the body by zeros: the length is right."""
    size = len(answer.body)
    return Answer(answer.status, answer.body[: size // 2].ljust(size, b"\0"), answer.headers)


def compress(handler: Handler, answer: Answer) -> Answer:
    """Answer with a compressed page, as some proxies do."""
    return Answer(200, gzip.compress(HTML), {"Content-Encoding": "gzip", "Content-Type": "text/html"})


def compress_body(handler: Handler, answer: Answer) -> Answer:
    """Compress the object itself."""
    return Answer(answer.status, gzip.compress(answer.body), answer.headers | {"Content-Encoding": "gzip"})


def lose(handler: Handler, answer: Answer) -> Answer:
    """Close the connection without an answer, after the request was executed."""
    raise Lost


def stall(handler: Handler, answer: Answer) -> Answer:
    """Answer later than the client waits."""
    _sleep(0.5)
    raise Lost
