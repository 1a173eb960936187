"""GROBID's REST API, and that of every extractor that answers as it does: it answers at once, in TEI.

Of grobid-client-python, `ApiClient`'s verbs and status call are used. Its `call_api` is replaced, because it builds the whole upload
in memory, reads an answer of any size, has no limit but the time between two bytes, and opens a connection for every call;
its `GrobidClient` is left out, because it retries a 503 by calling itself again and again and returns errors as texts.
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
from s2corpus.extractors.http import HttpServer, refusal
from s2corpus.extractors.protocol import Answer, BadAnswer, Identity, Outcome
from s2corpus.rules.extract import Extract
from s2orc_parse import tei
from s2orc_parse.parse_model import Parse

NAME = "grobid"
CONVERTER_VERSION = tei.CONVERTER_VERSION
TEI_ROOT = "{http://www.tei-c.org/ns/1.0}TEI"
_PERMANENT = {
    outcome.removeprefix("failed:"): outcome
    for outcome in (
        Outcome.BAD_INPUT_DATA,
        Outcome.NO_BLOCKS,
        Outcome.TOO_MANY_BLOCKS,
        Outcome.TOO_MANY_TOKENS,
        Outcome.PDFALTO_CONVERSION_FAILURE,
    )
}
_CODE = re.compile(rb"\b(" + b"|".join(code.encode() for code in [*_PERMANENT, "TIMEOUT"]) + rb")\b")
_CODE_WITHIN = 4096


def form(asked: Extract) -> dict[str, str]:
    """The form fields of `processFulltextDocument`: every one is sent, so that a server's own defaults decide nothing."""
    if asked.options:
        raise UserError(
            f"extract.options: {dict(asked.options)!r} given; what GROBID is asked for has fields of its own"
        )
    return {
        "consolidateHeader": str(asked.consolidate_header),
        "consolidateCitations": str(asked.consolidate_citations),
        "includeRawCitations": str(int(asked.include_raw_citations)),
        "segmentSentences": str(int(asked.segment_sentences)),
        # the embedded extractor's own; left out where it is off, so that what was extracted before stays known
        **({"ocr": "1"} if asked.ocr == "scans" else {}),
    }


def server(url: str, form: Mapping[str, str], *, token: str | None, connections: int, max_bytes: int) -> Server:
    """A server by its base URL."""
    return Server(url, form, token=token, connections=connections, max_bytes=max_bytes)


def convert(data: bytes, *, file_sha1: str, made_by: Identity) -> Parse:
    """The parse of a TEI. Raises BadAnswer."""
    try:
        return tei.convert(
            data, file_sha1=file_sha1, made_by=(made_by.extractor, made_by.full_version, made_by.options_hash)
        )
    except tei.BadTei as error:
        raise BadAnswer(f"bad_tei:{error.reason}") from None


class Server(HttpServer, ApiClient):
    """A server under its base URL (`http://host:8070`)."""

    KIND = "a GROBID server"

    def __init__(
        self, url: str, form: Mapping[str, str], *, token: str | None, connections: int, max_bytes: int
    ) -> None:
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        HttpServer.__init__(self, url, headers=headers, connections=connections, max_bytes=max_bytes)
        ApiClient.__init__(self, url.rstrip("/") + "/", status_endpoint="api/isalive")
        self.form = form

    def call_api(
        self,
        method: str,
        url: str,
        headers: dict[str, str] | None = None,
        params: dict[str, str] | None = None,
        data: Any = None,
        files: dict[Any, Any] | None = None,
        timeout: float | None = None,
    ) -> tuple[requests.Response, int]:
        """One request of the library's verbs, within our limits."""
        response = self.ask(
            method,
            url.removeprefix(self.base_url),
            timeout=self.timeout if timeout is None else timeout,
            headers={"Accept": self.accept_type, **(headers or {})},
            params=params,
            data=data,
            files=files,
        )
        return response, response.status_code

    def submit(self, file_sha1: str, open_pdf: Callable[[], BinaryIO], *, timeout: float) -> Answer:
        """Send one PDF to `processFulltextDocument` and judge the answer."""
        reply = self.upload(
            "api/processFulltextDocument", file_sha1, open_pdf, field="input", form=self.form, timeout=timeout
        )
        return reply if isinstance(reply, Answer) else judge(*reply, self.max_bytes)

    def alive(self, *, timeout: float) -> bool:
        """Whether `/api/health` says that it is ready (GROBID since 0.9), or `/api/isalive` says true where the former does not say."""
        try:
            health, _ = self.call_api("GET", f"{self.base_url}api/health", timeout=timeout)
            with suppress(ValueError):
                told = json.loads(health.content)
                if isinstance(told, dict) and isinstance(told.get("ready"), bool):
                    return bool(told["ready"])
            response, status = self.service_status(timeout=timeout)
        except requests.RequestException:
            return False
        return status == 200 and response.content.strip().lower() == b"true"

    def identity(self, *, timeout: float) -> Identity:
        """Who `/api/version` says it is: JSON, or the version alone as GROBID before 0.8 has it.

        Raises:
            TransientError: it does not answer.
            UserError: it answers something else than a version.
        """
        status, body = self.version_answer("/api/version", timeout=timeout)
        text = body.decode("utf-8", "replace").strip()
        try:
            told = json.loads(text)
        except ValueError:
            told = text
        if not isinstance(told, dict):
            told = {"version": text}
        identity = Identity(str(told.get("name", NAME)), str(told.get("version", "")))
        if status != 200 or not identity.valid:
            raise UserError(
                f"{self.name} is not a GROBID server: it answers HTTP {status} {text[:80]!r} to /api/version"
            )
        return identity


def judge(status: int, body: bytes, max_tei_bytes: int) -> Answer:
    """What an HTTP answer says about its PDF.

    `body` may be cut after `max_tei_bytes` + 1 bytes: longer is `bad_tei`. Only the five codes that are the PDF's own
    fault are final; GROBID's other ones (TAGGING_ERROR, PARSING_ERROR, GENERAL, TIMEOUT), and what a proxy or a dying
    server says, may be different next time.
    """
    if status == 200:
        fine = len(body) <= max_tei_bytes and is_tei(body)
        return Answer(Outcome.OK if fine else Outcome.BAD_TEI, body)
    if status == 204:
        return Answer(Outcome.NO_CONTENT)
    answer = refusal(status, body)
    if answer.outcome is not Outcome.BUSY and status >= 400 and (found := _CODE.search(body[:_CODE_WITHIN])):
        outcome = _PERMANENT.get(found[1].decode(), Outcome.TIMEOUT)
        return Answer(outcome, body, broken=answer.broken, detail=answer.detail)
    return answer


def is_tei(body: bytes) -> bool:
    """Whether a document is well-formed XML with the TEI root and no document type: GROBID writes none, bombs need one."""
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False)
    try:
        root = etree.fromstring(body, parser)
    except (etree.XMLSyntaxError, ValueError):
        return False
    return root.tag == TEI_ROOT and root.getroottree().docinfo.internalDTD is None
