"""A stand-in for docling-serve: a real HTTP server that converts in the background and can simulate its faults."""

from __future__ import annotations

import hashlib
import threading
import time
import uuid
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

from tests.http_server import Answer, Request, Server, answer_json
from tests.standin_grobid import read_form

TEXTS = [("title", "A small paper"), ("text", "Ada Lovelace"), ("section_header", "1 Words"), ("text", "Some.")]
SMALL: dict[str, Any] = {
    "schema_name": "DoclingDocument", "version": "1.8.0", "name": "paper",
    "texts": [{"content_layer": "body", "label": label, "text": text} for label, text in TEXTS],
}  # fmt: skip
FIXED = {
    "/health": {"status": "ok"}, "/version": {"docling-serve": "1.18.0", "docling": "2.60.0", "docling-core": "2.48.0"},
    "/elsewhere": {"document": {"json_content": SMALL}, "status": "success"},
}  # fmt: skip


@dataclass
class Work:
    """One conversion task."""

    fault: str | None
    ready: float
    polls: int = 0


class StandIn(Server):
    """The server. `faults` returns the fault of each submission, given its SHA-1 and the number of its submissions.

    Faults: `lost` (the task is forgotten), `failure`, `never` (never done), `hang` (a poll is not answered), `polls 500`
    (one poll returns 500), and for the result `huge`, `redirect`, `garbage`.
    """

    def __init__(self, faults: Callable[[str, int], str | None] = lambda sha1, times: None) -> None:
        self.faults = faults
        self.tasks: dict[str, Work] = {}
        self.submitted: Counter[str] = Counter()
        self.elsewhere = 0
        self.lock, self.stopped = threading.Lock(), threading.Event()

    def __enter__(self) -> Self:
        super().__enter__()
        self.url = f"docling+{self.url}"  # as a pool takes it
        return self

    def __exit__(self, *raised: Any) -> None:
        self.stopped.set()
        super().__exit__(*raised)

    def answer(self, request: Request) -> Answer:
        """Answer as docling-serve does."""
        if request.method == "POST":
            return self._submit(read_form(request.headers["Content-Type"], request.body)["files"])
        if request.path in FIXED:
            self.elsewhere += request.path == "/elsewhere"
            return answer_json(FIXED[request.path])
        work = self.tasks.get(request.path.rsplit("/", 1)[1])
        if work is None or work.fault == "lost":
            return answer_json({"detail": "Task not found."}, 404)
        return self._poll(work) if request.path.startswith("/v1/status/") else _give_result(work)

    def _submit(self, pdf: bytes) -> Answer:
        sha1, task = hashlib.sha1(pdf).hexdigest(), str(uuid.uuid4())
        with self.lock:
            self.submitted[sha1] += 1
            self.tasks[task] = Work(self.faults(sha1, self.submitted[sha1]), time.monotonic() + 0.02)
        return answer_json({"task_id": task, "task_type": "convert", "task_status": "pending", "task_position": 1})

    def _poll(self, work: Work) -> Answer:
        work.polls += 1
        if work.fault == "hang":
            self.stopped.wait(60)
        if work.fault == "polls 500" and work.polls == 1:
            return answer_json({"detail": "redis is unavailable"}, 500)
        is_done = work.fault != "never" and time.monotonic() >= work.ready
        status = "failure" if work.fault == "failure" else "success" if is_done else "started"
        return answer_json({"task_id": "-", "task_type": "convert", "task_status": status})


def _give_result(work: Work) -> Answer:
    match work.fault:
        case "redirect":
            return 302, b"", {"Location": "/elsewhere"}
        case "garbage":
            return 200, b'{"document": {"json_content": {"schema', {}
        case "huge":
            return 200, b" " * 13_000_000, {}
    return answer_json({"document": {"filename": "x.pdf", "json_content": SMALL}, "status": "success", "errors": []})
