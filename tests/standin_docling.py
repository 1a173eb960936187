"""A stand-in for docling-serve: a real HTTP server that converts in the background and can simulate docling-serve's
faults.

Use `with StandIn(document_of, faults=…) as server:`. Its API is docling-serve's: `POST /v1/convert/file/async`, `GET
/v1/status/poll/{task_id}`, `GET /v1/result/{task_id}`, `/health`, `/version`; the key is in `X-Api-Key`.
"""

from __future__ import annotations

import hashlib
import json
import threading
import time
import uuid
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.standin_grobid import read_body, read_form

Document = dict[str, Any]


def document(*texts: tuple[str, str]) -> Document:
    """Return a DoclingDocument with the given (label, text) pairs."""
    return {
        "schema_name": "DoclingDocument",
        "version": "1.8.0",
        "name": "paper",
        "body": {"self_ref": "#/body", "children": [{"$ref": f"#/texts/{n}"} for n in range(len(texts))]},
        "texts": [
            {
                "self_ref": f"#/texts/{n}",
                "parent": {"$ref": "#/body"},
                "children": [],
                "content_layer": "furniture" if label == "page_header" else "body",
                "label": label,
                "prov": [],
                "orig": text,
                "text": text,
            }
            for n, (label, text) in enumerate(texts)
        ],
        "tables": [],
        "pictures": [],
    }


SMALL = document(("title", "A small paper"), ("text", "Ada Lovelace"), ("section_header", "1 Words"), ("text", "Some."))


@dataclass
class Work:
    """One conversion task."""

    sha1: str
    data: bytes
    fault: str | None
    ready: float
    polls: int = 0
    result: bytes | None = None
    lock: threading.Lock = field(default_factory=threading.Lock)


class StandIn:
    """The server on 127.0.0.1. `faults` returns the fault of each submission, given its SHA-1 and the number of its
    submissions.

    Faults: `busy` (503), `500`, `lost` (the task is forgotten), `failure`, `never` (never done), `hang` (a poll is not
    answered), `polls 500` (one poll returns 500), and for the result `huge`, `redirect`, `garbage`, `no_document`.
    """

    def __init__(
        self,
        convert: Callable[[bytes], Document] = lambda pdf: SMALL,
        *,
        faults: Callable[[str, int], str | None] = lambda sha1, times: None,
        seconds: float = 0.02,
        version: str = "1.18.0",
        docling: str = "2.60.0",
        key: str | None = None,
        room: int = 1000,
        huge: int = 13_000_000,
    ) -> None:
        self.convert, self.faults, self.seconds = convert, faults, seconds
        self.version, self.docling, self.key = version, docling, key
        self.room, self.huge = room, huge
        self.tasks: dict[str, Work] = {}
        self.submitted: Counter[str] = Counter()
        self.fetched: Counter[str] = Counter()
        self.statuses: Counter[int] = Counter()
        self.forms: list[dict[str, str]] = []
        self.polls = 0
        self.most_open = 0
        self.elsewhere = 0
        self.lock = threading.Lock()

    def __enter__(self) -> StandIn:
        handler = type("Handler", (_Handler,), {"owner": self})
        self.http = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.http.daemon_threads = True
        threading.Thread(target=self.http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.http.shutdown()
        self.http.server_close()

    @property
    def url(self) -> str:
        return f"docling+http://127.0.0.1:{self.http.server_address[1]}"


class _Handler(BaseHTTPRequestHandler):
    owner: StandIn
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: Any) -> None:
        pass

    def do_POST(self) -> None:
        body = read_body(self)
        if not self._allowed():
            return
        fields = read_form(self.headers["Content-Type"], body)
        pdf = fields.pop("files")
        form = {name: value.decode() for name, value in fields.items()}
        sha1 = hashlib.sha1(pdf).hexdigest()
        owner = self.owner
        with owner.lock:
            owner.submitted[sha1] += 1
            owner.forms.append(form)
            fault = owner.faults(sha1, owner.submitted[sha1])
            open_ = sum(work.result is None and work.fault != "lost" for work in owner.tasks.values())
            if fault == "busy" or open_ >= owner.room:
                self._json(503, {"detail": "busy"})
                return
            if fault == "500":
                self._json(500, {"detail": "out of memory"})
                return
            task = str(uuid.uuid4())
            owner.tasks[task] = Work(sha1, pdf, fault, time.monotonic() + owner.seconds)
            owner.most_open = max(owner.most_open, open_ + 1)
        self._json(200, {"task_id": task, "task_type": "convert", "task_status": "pending", "task_position": 1})

    def do_GET(self) -> None:
        owner = self.owner
        if self.path == "/health":
            self._json(200, {"status": "ok"})
        elif self.path == "/version":
            self._json(200, {"docling-serve": owner.version, "docling": owner.docling, "docling-core": "2.48.0"})
        elif self.path == "/elsewhere":
            owner.elsewhere += 1
            self._json(200, {"document": {"json_content": SMALL}, "status": "success"})
        elif self._allowed():
            _, _, kind, *_rest = self.path.split("/")
            work = owner.tasks.get(self.path.rsplit("/", 1)[1])
            if work is None or work.fault == "lost":
                self._json(404, {"detail": "Task not found."})
            elif kind == "status":
                self._poll(work)
            else:
                self._result(work)

    def _poll(self, work: Work) -> None:
        owner = self.owner
        with owner.lock:
            owner.polls += 1
            work.polls += 1
        if work.fault == "hang":
            self.close_connection = True
            self.connection.settimeout(60)
            with suppress(OSError):
                self.connection.recv(1)
            return
        if work.fault == "polls 500" and work.polls == 1:
            self._json(500, {"detail": "redis is unavailable"})
            return
        status = "started"
        if work.fault == "failure":
            status = "failure"
        elif work.fault != "never" and time.monotonic() >= work.ready:
            status = "success"
            with work.lock:
                if work.result is None:
                    found = {"filename": "x.pdf", "json_content": owner.convert(work.data)}
                    work.result = json.dumps({"document": found, "status": "success", "errors": []}).encode()
        self._json(200, {"task_id": "-", "task_type": "convert", "task_status": status})

    def _result(self, work: Work) -> None:
        owner = self.owner
        with owner.lock:
            owner.fetched[work.sha1] += 1
        match work.fault:
            case "redirect":
                self._answer(302, b"", [("Location", "/elsewhere")])
            case "garbage":
                self._answer(200, b'{"document": {"json_content": {"schema', [])
            case "no_document":
                self._json(200, {"document": {"md_content": "# Paper"}, "status": "success"})
            case "huge":
                self._answer(200, b" " * owner.huge + (work.result or b""), [])
            case _:
                self._answer(200, work.result or b"{}", [])

    def _allowed(self) -> bool:
        if self.owner.key is None or self.headers.get("X-Api-Key") == self.owner.key:
            return True
        self._json(401, {"detail": "Api key is required."})
        return False

    def _json(self, status: int, content: Any) -> None:
        self._answer(status, json.dumps(content).encode(), [("Content-Type", "application/json")])

    def _answer(self, status: int, body: bytes, headers: list[tuple[str, str]]) -> None:
        self.owner.statuses[status] += 1
        with suppress(OSError):
            self.send_response(status)
            for name, value in headers:
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)
