"""Adapter for GROBID's REST API and compatible servers, which return TEI synchronously.

The client is grobid-client-python's `ApiClient` with another `call_api`: the library's buffers uploads in memory, reads responses of
any size, limits only the time between two bytes, and opens a connection for every call. `GrobidClient` is not used, because it
retries a 503 by unbounded recursion and returns errors as text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, BinaryIO

import requests
from grobid_client.client import ApiClient
from lxml import etree

from s2corpus.errors import UserError
from s2corpus.extractors.http import HttpServer, classify_error_status
from s2corpus.extractors.protocol import BadAnswer, ExtractorAnswer, ExtractorIdentity, ExtractOutcome
from s2corpus.rules import ExtractRules
from s2orc_parse import tei
from s2orc_parse.parse_model import Parse

NAME = "grobid"
CONVERTER_VERSION = tei.CONVERTER_VERSION
TEI_ROOT = "{http://www.tei-c.org/ns/1.0}TEI"
_PERMANENT_CODES = {
    outcome.removeprefix("failed:"): outcome
    for outcome in (
        ExtractOutcome.BAD_INPUT_DATA,
        ExtractOutcome.NO_BLOCKS,
        ExtractOutcome.TOO_MANY_BLOCKS,
        ExtractOutcome.TOO_MANY_TOKENS,
        ExtractOutcome.PDFALTO_CONVERSION_FAILURE,
    )
}
_ERROR_CODE = re.compile(rb"\b(" + b"|".join(code.encode() for code in [*_PERMANENT_CODES, "TIMEOUT"]) + rb")\b")
_SEARCHED_BYTES = 4096


def form(rules: ExtractRules) -> dict[str, str]:
    """Return all form fields of `processFulltextDocument`, so that the server's defaults have no effect."""
    if rules.options:
        raise UserError(
            f"extract.options: expected no options, found {dict(rules.options)!r}: set GROBID's parameters in the other fields of `extract`"
        )
    return {
        "consolidateHeader": str(rules.consolidate_header),
        "consolidateCitations": str(rules.consolidate_citations),
        "includeRawCitations": str(int(rules.include_raw_citations)),
        "segmentSentences": str(int(rules.segment_sentences)),
        # Omit `ocr` when off: keys of stored extractions remain valid.
        **({"ocr": "1"} if rules.ocr == "scans" else {}),
    }


def convert(data: bytes, *, file_sha1: str, made_by: ExtractorIdentity) -> Parse:
    """Convert a TEI to a parse. Raises BadAnswer."""
    try:
        made = (made_by.extractor, made_by.full_version, made_by.options_hash)
        return tei.convert(data, file_sha1=file_sha1, made_by=made)
    except tei.BadTei as error:
        raise BadAnswer(f"bad_tei:{error.reason}") from None


class GrobidServer(HttpServer, ApiClient):
    """A GROBID server at a base URL (`http://host:8070`)."""

    KIND = "a GROBID server"

    def __init__(
        self, url: str, form: Mapping[str, str], *, token: str | None, connections: int, max_bytes: int
    ) -> None:
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        HttpServer.__init__(self, url, headers=headers, connections=connections, max_bytes=max_bytes)
        ApiClient.__init__(self, url.rstrip("/") + "/", status_endpoint="api/isalive")
        self.form = form

    # `options` covers the library's keyword arguments, which its verbs only pass on.
    def call_api(self, method: str, url: str, **options: Any) -> tuple[requests.Response, int]:  # type: ignore[override]
        """Send a request for the library's verbs, with limits on time and size."""
        options = {"timeout": self.timeout, "headers": {"Accept": self.accept_type}, **options}
        response = self.request(method, url.removeprefix(self.base_url), **options)
        return response, response.status_code

    def submit(self, file_sha1: str, open_pdf: Callable[[], BinaryIO], *, timeout: float) -> ExtractorAnswer:
        """Send one PDF to `processFulltextDocument` and classify the response."""
        reply = self.upload(
            "api/processFulltextDocument", file_sha1, open_pdf, field="input", form=self.form, timeout=timeout
        )
        return reply if isinstance(reply, ExtractorAnswer) else classify_response(*reply, self.max_bytes)

    def alive(self, *, timeout: float) -> bool:
        """Return whether `/api/health` reports ready (GROBID ≥ 0.9), or `/api/isalive` returns true on older servers."""
        try:
            health, _ = self.get(f"{self.base_url}api/health", timeout=timeout)
            with suppress(ValueError):
                answer = json.loads(health.content)
                if isinstance(answer, dict) and isinstance(answer.get("ready"), bool):
                    return bool(answer["ready"])
            response, status = self.service_status(timeout=timeout)
        except requests.RequestException:
            return False
        return status == 200 and response.content.strip().lower() == b"true"

    def identity(self, *, timeout: float) -> ExtractorIdentity:
        """Return the identity from `/api/version`: JSON, or plain text from GROBID before 0.8.

        Raises:
            TransientError: the server does not respond.
            UserError: the response contains no version.
        """
        status, body = self.get_version("/api/version", timeout=timeout)
        text = body.decode("utf-8", "replace").strip()
        try:
            answer = json.loads(text)
        except ValueError:
            answer = text
        if not isinstance(answer, dict):
            answer = {"version": text}
        identity = ExtractorIdentity(str(answer.get("name", NAME)), str(answer.get("version", "")))
        if status != 200 or not identity.valid:
            raise UserError(
                f"{self.name} is not a GROBID server: it answers HTTP {status} {text[:80]!r} to /api/version"
            )
        return identity


server = GrobidServer  # the adapter's function


def classify_response(status: int, body: bytes, max_tei_bytes: int) -> ExtractorAnswer:
    """Classify an HTTP response about a PDF.

    A `body` of more than `max_tei_bytes` is `bad_tei`; the caller may truncate the body to `max_tei_bytes` + 1. Only the five codes
    that the PDF itself causes are final. GROBID's other codes (TAGGING_ERROR, PARSING_ERROR, GENERAL, TIMEOUT) and proxy errors are
    retried.
    """
    if status == 200:
        fine = len(body) <= max_tei_bytes and is_tei(body)
        return ExtractorAnswer(ExtractOutcome.OK if fine else ExtractOutcome.BAD_TEI, body)
    if status == 204:
        return ExtractorAnswer(ExtractOutcome.NO_CONTENT)
    answer = classify_error_status(status, body)
    code = _ERROR_CODE.search(body[:_SEARCHED_BYTES]) if status >= 400 else None
    if answer.outcome is ExtractOutcome.BUSY or code is None:
        return answer
    outcome = _PERMANENT_CODES.get(code[1].decode(), ExtractOutcome.TIMEOUT)
    return ExtractorAnswer(outcome, body, broken=answer.broken, detail=answer.detail)


def is_tei(body: bytes) -> bool:
    """Return whether a document is well-formed XML with the TEI root and without a DTD (TEI needs none; entity bombs do)."""
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False)
    try:
        root = etree.fromstring(body, parser)
    except (etree.XMLSyntaxError, ValueError):
        return False
    return root.tag == TEI_ROOT and root.getroottree().docinfo.internalDTD is None
