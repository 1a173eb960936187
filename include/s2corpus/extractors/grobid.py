"""Adapter for GROBID's REST API and compatible servers, which return TEI synchronously."""

from __future__ import annotations

import errno
import json
import re
import shutil
import tempfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import BinaryIO

from lxml import etree

from s2corpus.errors import UserError
from s2corpus.extractors.http import HttpServer, classify_error_status
from s2corpus.extractors.protocol import BadAnswer, ExtractorAnswer, ExtractorIdentity
from s2corpus.outcomes import ExtractOutcome
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
OPTIONS = {
    "consolidateHeader": "[0-3]", "consolidateCitations": "[0-2]", "includeRawCitations": "[01]", "segmentSentences": "[01]",
    "teiCoordinates": r"[A-Za-z]+(,[A-Za-z]+)*",
}  # fmt: skip
"""parameter of GROBID (`extract.options`) → pattern of its values"""
DEFAULTS = {"consolidateHeader": "0", "consolidateCitations": "0", "includeRawCitations": "1", "segmentSentences": "0"}
_SEARCHED_BYTES = 4096
_START, _END = re.compile(rb"<(\w+:)?TEI\b"), re.compile(rb"</(\w+:)?TEI\s*>\s*\Z")
"""tags of the first and the last bytes of a complete TEI"""


def form(rules: ExtractRules) -> dict[str, str]:
    """Return the form fields of `processFulltextDocument`: all that have a default, so that the server's defaults have no effect.

    Raises:
        UserError: an option is not a parameter of GROBID that changes a TEI, or has an impossible value.
    """
    for name, value in rules.options.items():
        if not re.fullmatch(OPTIONS.get(name, "(?!)"), value):
            known = ", ".join(f"{option} ({values})" for option, values in OPTIONS.items())
            raise UserError(f"extract.options: {name}: {value!r} given; expected {known}")
    # Omit `ocr` when off: keys of stored extractions remain valid.
    return DEFAULTS | rules.options | ({"ocr": "1"} if rules.ocr == "scans" else {})


def convert(data: bytes, *, file_sha1: str, made_by: ExtractorIdentity) -> Parse:
    """Convert a TEI to a parse. Raises BadAnswer."""
    try:
        made = (made_by.extractor, made_by.full_version, made_by.options_hash)
        return tei.convert(data, file_sha1=file_sha1, made_by=made)
    except tei.BadTei as error:
        raise BadAnswer(f"bad_tei:{error.outcome}") from None


class GrobidServer(HttpServer):
    """A GROBID server at a base URL (`http://host:8070`)."""

    KIND = "a GROBID server"

    def __init__(
        self, url: str, form: Mapping[str, str], *, token: str | None, connections: int, max_bytes: int
    ) -> None:
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        HttpServer.__init__(self, url, headers=headers, connections=connections, max_bytes=max_bytes)
        from s2corpus.extractors.grobid_client import Client  # slow (0.6 s); only requests need it

        self.client = Client(self, form)

    def submit(self, file_sha1: str, open_pdf: Callable[[], BinaryIO], *, timeout: float) -> ExtractorAnswer:
        """Send one PDF to `processFulltextDocument` and classify the response."""
        with tempfile.NamedTemporaryFile(suffix=".pdf") as file:  # The library reads only a path without buffering it.
            try:
                with open_pdf() as pdf:
                    shutil.copyfileobj(pdf, file)
                file.flush()
            except Exception as error:  # any storage error
                if getattr(error, "errno", None) in (errno.ENOSPC, errno.EDQUOT):
                    raise  # This machine's disk is full.
                return ExtractorAnswer(ExtractOutcome.LAKE, detail=str(error))
            reply = self.client.request(file_sha1, file.name, timeout)
        return reply if isinstance(reply, ExtractorAnswer) else classify_response(*reply, self.max_bytes)

    def alive(self, *, timeout: float) -> bool:
        """Return whether `/api/health` reports ready (GROBID ≥ 0.9), or `/api/isalive` returns true on older servers."""
        health = self.read("api/health", timeout=timeout)
        if isinstance(health, ExtractorAnswer):
            return False
        with suppress(ValueError):
            answer = json.loads(health[1])
            if isinstance(answer, dict) and isinstance(answer.get("ready"), bool):
                return bool(answer["ready"])
        reply = self.read("api/isalive", timeout=timeout)
        return not isinstance(reply, ExtractorAnswer) and (reply[0], reply[1].strip().lower()) == (200, b"true")

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
    that the PDF itself causes are final. GROBID's other codes (TAGGING_ERROR, PARSING_ERROR, GENERAL, TIMEOUT), proxy errors, and
    answers without the tags that begin and end a TEI are retried.
    """
    if status == 200:
        if len(body) > max_tei_bytes:
            return ExtractorAnswer(ExtractOutcome.BAD_TEI, body)
        if is_tei(body):
            return ExtractorAnswer(ExtractOutcome.OK, body)
        letters = body.replace(b"\0", b"")  # UTF-16
        if _START.search(letters[:_SEARCHED_BYTES]) and _END.search(letters[-_SEARCHED_BYTES:]):
            return ExtractorAnswer(ExtractOutcome.BAD_TEI, body)
        detail = (
            f"the answer is cut or not from GROBID: its {len(body)} bytes do not begin with <TEI> and end with </TEI>"
        )
        return ExtractorAnswer(ExtractOutcome.CONNECTION, body, detail=detail)
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
