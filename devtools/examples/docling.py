"""docling-serve as an extractor: it converts PDFs in the background and returns docling's JSON documents.

A package registers this module in its `pyproject.toml` under `[project.entry-points."s2corpus.extractors"]` as `docling
= "devtools.examples.docling"`.
`GROBID_URL=docling+http://host:5001` then selects its servers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, BinaryIO
from urllib.parse import quote

import orjson
import requests

from s2corpus.errors import UserError
from s2corpus.extractors import BackgroundTask, BadAnswer, ExtractorAnswer, ExtractorIdentity
from s2corpus.extractors.http import HttpServer, classify_error_status
from s2corpus.extractors.outline import VERSION, build_parse
from s2corpus.outcomes import ExtractOutcome
from s2corpus.spec import ExtractRules
from s2orc_parse.parse_model import Parse

NAME = "docling"
CONVERTER_VERSION = f"1.{VERSION}"
WAIT = 1.0
"""seconds between two polls"""
_OPTIONS = {"do_ocr": "false", "pdf_backend": "dlparse_v4", "table_mode": "accurate"}
"""options of docling-serve that a spec may set, with their defaults"""
_LABELS = {"title": "title", "section_header": "heading", "text": "text", "paragraph": "text", "list_item": "text"}


def form(asked: ExtractRules) -> dict[str, str]:
    """Return the form fields of `/v1/convert/file/async`; raise UserError for an unknown option."""
    if unknown := sorted({*asked.options} - {*_OPTIONS}):
        raise UserError(f"extract.options: {unknown[0]!r} given; docling has {', '.join(sorted(_OPTIONS))}")
    return {"to_formats": "json", "image_export_mode": "placeholder", **_OPTIONS, **asked.options}


def server(url: str, form: Mapping[str, str], *, token: str | None, connections: int, max_bytes: int) -> Server:
    """Return the server with this base URL."""
    headers = {"X-Api-Key": token} if token else {}
    return Server(url, form, headers=headers, connections=connections, max_bytes=max_bytes)


class Server(HttpServer):
    """A docling-serve server (`http://host:5001`)."""

    KIND = "a docling-serve"

    def __init__(self, url: str, form: Mapping[str, str], **limits: Any) -> None:
        super().__init__(url, **limits)
        self.form = form

    def identity(self, *, timeout: float) -> ExtractorIdentity:
        """Return the server's version. docling's own version is the revision, because it determines the models."""
        status, body = self.get_version("/version", timeout=timeout)
        told = _object(body)
        if status != 200 or not told.get("docling-serve"):
            raise UserError(f"{self.name} is not a docling-serve: it answers HTTP {status} {body[:80]!r} to /version")
        return ExtractorIdentity(NAME, str(told["docling-serve"]), revision=f"docling-{told.get('docling')}")

    def alive(self, *, timeout: float) -> bool:
        """Return whether `/health` answers with status 200."""
        try:
            return self.request("GET", "/health", timeout=timeout).status_code == 200
        except requests.RequestException:
            return False

    def submit(
        self, file_sha1: str, open_pdf: Callable[[], BinaryIO], *, timeout: float
    ) -> ExtractorAnswer | BackgroundTask:
        """Upload one PDF; return the task that converts it."""
        path = "/v1/convert/file/async"
        reply = self.upload(path, file_sha1, open_pdf, field="files", form=self.form, timeout=timeout)
        if isinstance(reply, ExtractorAnswer):
            return reply
        status, body = reply
        task = _object(body).get("task_id")
        return BackgroundTask(str(task), wait=WAIT) if status == 200 and task else classify_error_status(status, body)

    def poll(self, task: BackgroundTask, *, timeout: float) -> ExtractorAnswer | BackgroundTask:
        """Poll a task: pending, started, success or failure."""
        reply = self._read(f"/v1/status/poll/{quote(task.id, safe='')}", timeout)
        if isinstance(reply, ExtractorAnswer):
            return reply
        match _object(reply).get("task_status"):
            case "success":
                return BackgroundTask(task.id, done=True)
            case "failure":
                return ExtractorAnswer(ExtractOutcome.NOT_CONVERTED, detail=reply[:200].decode(errors="replace"))
        return BackgroundTask(task.id, wait=WAIT)

    def fetch(self, task: BackgroundTask, *, timeout: float) -> ExtractorAnswer:
        """Return the converted document as JSON."""
        reply = self._read(f"/v1/result/{quote(task.id, safe='')}", timeout)
        if isinstance(reply, ExtractorAnswer):
            return reply
        if len(reply) > self.max_bytes:
            return ExtractorAnswer(ExtractOutcome.BAD_ANSWER, detail="too large")
        result = _object(reply)
        if result.get("status") == "failure":
            return ExtractorAnswer(ExtractOutcome.NOT_CONVERTED, detail=reply[:200].decode(errors="replace"))
        document = result.get("document")
        content = document.get("json_content") if isinstance(document, dict) else None
        if not isinstance(content, dict):
            return ExtractorAnswer(ExtractOutcome.BAD_ANSWER, detail="no json_content")
        return ExtractorAnswer(ExtractOutcome.OK, orjson.dumps(content))

    def _read(self, path: str, timeout: float) -> ExtractorAnswer | bytes:
        """Return the body of a response with status 200, or the answer that another response means."""
        reply = self.read(path, timeout=timeout)
        if isinstance(reply, ExtractorAnswer):
            return reply
        status, body = reply
        if status == 404:  # The server was restarted.
            return ExtractorAnswer(ExtractOutcome.CONNECTION, lost=True, detail="the task is not known")
        return body if status == 200 else classify_error_status(status, body)


def convert(data: bytes, *, file_sha1: str, made_by: ExtractorIdentity) -> Parse:
    """Convert one DoclingDocument to a parse. Running heads are excluded."""
    document = _object(data)
    if document.get("schema_name") != "DoclingDocument" or not isinstance(document.get("texts"), list):
        raise BadAnswer("bad_answer:not_a_docling_document")
    items = [
        (_LABELS[label], item["text"])
        for item in document["texts"]
        if isinstance(item, dict) and isinstance(item.get("text"), str) and item.get("content_layer", "body") == "body"
        if (label := str(item.get("label"))) in _LABELS
    ]
    return build_parse(items, data, file_sha1=file_sha1, made_by=made_by, converter_version=CONVERTER_VERSION)


def _object(body: bytes) -> dict[str, Any]:
    """Parse a JSON object; return an empty dictionary for anything else."""
    try:
        found = orjson.loads(body)
    except orjson.JSONDecodeError:
        return {}
    return found if isinstance(found, dict) else {}
