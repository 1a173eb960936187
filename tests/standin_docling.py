"""A stand-in for docling-serve: a real HTTP server that converts in the background and can simulate its faults."""

from __future__ import annotations

import hashlib
import json
import threading
import time
import uuid
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.standin_grobid import read_body, read_form

TEXTS = [("title", "A small paper"), ("text", "Ada Lovelace"), ("section_header", "1 Words"), ("text", "Some.")]
SMALL: dict[str, Any] = {
    "schema_name": "DoclingDocument", "version": "1.8.0", "name": "paper",
    "texts": [{"content_layer": "body", "label": label, "text": text} for label, text in TEXTS],
}  # fmt: skip


@dataclass
class Work:
    """One conversion task."""

    fault: str | None
    ready: float
    polls: int = 0


class StandIn:
    """The server on 127.0.0.1. `faults` returns the fault of each submission, given its SHA-1 and the number of its
    submissions.

    Faults: `lost` (the task is forgotten), `failure`, `never` (never done), `hang` (a poll is not answered), `polls 500`
    (one poll returns 500), and for the result `huge`, `redirect`, `garbage`.
    """

    def __init__(self, faults: Callable[[str, int], str | None] = lambda sha1, times: None) -> None:
        self.faults = faults
        self.tasks: dict[str, Work] = {}
        self.submitted: Counter[str] = Counter()
        self.elsewhere = 0
        self.lock = threading.Lock()

    def __enter__(self) -> StandIn:
        self.http = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"owner": self}))
        threading.Thread(target=self.http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.http.shutdown()
        self.http.server_close()

    @property
    def url(self) -> str:
        """Return the service's URL as a pool takes it."""
        return f"docling+http://127.0.0.1:{self.http.server_address[1]}"


class _Handler(BaseHTTPRequestHandler):
    owner: StandIn
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: Any) -> None:
        pass

    def do_POST(self) -> None:
        pdf = read_form(self.headers["Content-Type"], read_body(self))["files"]
        sha1 = hashlib.sha1(pdf).hexdigest()
        owner, task = self.owner, str(uuid.uuid4())
        with owner.lock:
            owner.submitted[sha1] += 1
            owner.tasks[task] = Work(owner.faults(sha1, owner.submitted[sha1]), time.monotonic() + 0.02)
        self._answer(200, {"task_id": task, "task_type": "convert", "task_status": "pending", "task_position": 1})

    def do_GET(self) -> None:
        owner = self.owner
        if self.path == "/health":
            self._answer(200, {"status": "ok"})
        elif self.path == "/version":
            self._answer(200, {"docling-serve": "1.18.0", "docling": "2.60.0", "docling-core": "2.48.0"})
        elif self.path == "/elsewhere":
            owner.elsewhere += 1
            self._answer(200, {"document": {"json_content": SMALL}, "status": "success"})
        else:
            work = owner.tasks.get(self.path.rsplit("/", 1)[1])
            if work is None or work.fault == "lost":
                self._answer(404, {"detail": "Task not found."})
            elif self.path.startswith("/v1/status/"):
                self._poll(work)
            else:
                self._result(work)

    def _poll(self, work: Work) -> None:
        work.polls += 1
        if work.fault == "hang":
            self.close_connection = True
            self.connection.settimeout(60)
            with suppress(OSError):
                self.connection.recv(1)
        elif work.fault == "polls 500" and work.polls == 1:
            self._answer(500, {"detail": "redis is unavailable"})
        else:
            is_done = work.fault != "never" and time.monotonic() >= work.ready
            status = "failure" if work.fault == "failure" else "success" if is_done else "started"
            self._answer(200, {"task_id": "-", "task_type": "convert", "task_status": status})

    def _result(self, work: Work) -> None:
        match work.fault:
            case "redirect":
                self._answer(302, b"", location="/elsewhere")
            case "garbage":
                self._answer(200, b'{"document": {"json_content": {"schema')
            case "huge":
                self._answer(200, b" " * 13_000_000)
            case _:
                found = {"filename": "x.pdf", "json_content": SMALL}
                self._answer(200, {"document": found, "status": "success", "errors": []})

    def _answer(self, status: int, content: dict[str, Any] | bytes, *, location: str = "") -> None:
        body = content if isinstance(content, bytes) else json.dumps(content).encode()
        with suppress(OSError):
            self.send_response(status)
            if location:
                self.send_header("Location", location)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)
