"""One GROBID server: grobid-client-python's request layer, with limits on an answer's time and size.

Of the library, `ApiClient`'s verbs and status call are used. Its `call_api` is replaced, because it builds the whole upload
in memory, reads an answer of any size, has no limit but the time between two bytes, and opens a connection for every call;
its `GrobidClient` is left out, because it retries a 503 by calling itself again and again and returns errors as texts.
"""

from __future__ import annotations

import io
import json
import re
import secrets
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from http.cookiejar import DefaultCookiePolicy
from typing import Any, BinaryIO
from urllib.parse import urlsplit, urlunsplit

import requests
from grobid_client.client import ApiClient
from requests.adapters import HTTPAdapter
from urllib3.exceptions import HTTPError, NewConnectionError

from s2corpus.errors import TransientError, UserError
from s2corpus.grobid.answer import Options, Outcome, judge

CONNECT_SECONDS = 10.0
_BLOCK = 1 << 16


@dataclass(frozen=True, slots=True)
class Answer:
    """What one request came to."""

    outcome: Outcome
    body: bytes = b""
    unreachable: bool = False
    """no connection came about"""
    broken: bool = False
    """the server, or what stands before it, did not answer properly; False also where our side could not read the PDF"""
    detail: str = ""


class Server(ApiClient):
    """A server under its base URL (`http://host:8070`), with as many kept connections as requests may be in flight."""

    def __init__(self, url: str, *, token: str | None, connections: int, max_bytes: int) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise UserError(f"{url!r} is not a GROBID server: expected an address such as http://localhost:8070")
        super().__init__(url.rstrip("/") + "/", status_endpoint="api/isalive")
        self.name = urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2])).rstrip("/")
        self.max_bytes = max_bytes
        self.session = requests.Session()
        self.session.trust_env = False  # no proxy between us and the server, no .netrc instead of the token
        self.session.cookies.set_policy(DefaultCookiePolicy(allowed_domains=[]))  # no balancer's sticky sessions
        self.session.headers["Accept-Encoding"] = "identity"
        if token:
            self.session.headers["Authorization"] = f"Bearer {token}"
        for scheme in ("http://", "https://"):
            self.session.mount(scheme, HTTPAdapter(pool_connections=1, pool_maxsize=connections))

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
        """One request; the answer's body is read until `max_bytes` + 1 bytes or until `timeout` seconds are over.

        Raises:
            requests.RequestException: no answer, or half an answer.
        """
        limit = self.timeout if timeout is None else timeout
        end = time.monotonic() + limit
        with self.session.request(
            method,
            url,
            headers={"Accept": self.accept_type, **(headers or {})},
            params=params,
            data=data,
            files=files,
            timeout=(min(limit, CONNECT_SECONDS), limit),
            allow_redirects=False,
            stream=True,
        ) as response:
            body = bytearray()
            try:
                # read1: whatever has arrived; a read of a whole block would wait for it, a trickle at a time
                while len(body) <= self.max_bytes and (block := response.raw.read1(_BLOCK, decode_content=True)):
                    body += block
                    if time.monotonic() > end:
                        raise requests.ReadTimeout(f"no whole answer within {limit:g} s")
            except HTTPError as error:
                raise requests.ConnectionError(error) from None
            response._content = bytes(body)
        return response, response.status_code

    def process(
        self, pdf_sha1: str, open_pdf: Callable[[], BinaryIO], options: Options, *, timeout: float, max_tei_bytes: int
    ) -> Answer:
        """Send one PDF to `processFulltextDocument` and judge the answer; never raises for what comes from outside."""
        start = time.monotonic()
        try:
            pdf = open_pdf()
        except Exception as error:  # whatever the storage raises
            return Answer(Outcome.CONNECTION, detail=repr(error))
        with pdf:
            upload = _Upload(f"{pdf_sha1}.pdf", pdf, options.form())
            try:
                response, status = self.call_api(
                    "POST",
                    self.base_url + "api/processFulltextDocument",
                    data=upload,
                    headers={"Content-Type": upload.content_type},
                    timeout=timeout,
                )
            except Exception as error:
                if upload.error is not None:
                    return Answer(Outcome.CONNECTION, detail=repr(upload.error))
                if not isinstance(error, requests.RequestException):
                    raise
                unreachable = isinstance(error, requests.ConnectTimeout) or (
                    bool(error.args) and isinstance(getattr(error.args[0], "reason", None), NewConnectionError)
                )
                late = time.monotonic() - start >= timeout and not unreachable
                outcome = Outcome.TIMEOUT if late else Outcome.CONNECTION
                return Answer(outcome, unreachable=unreachable, broken=True, detail=str(error)[:200])
        outcome = judge(status, response.content, max_tei_bytes)
        detail = "" if outcome is Outcome.OK else f"HTTP {status}: {response.content[:200].decode(errors='replace')}"
        return Answer(outcome, response.content, broken=status in (502, 504), detail=detail)

    def alive(self, *, timeout: float) -> bool:
        """Whether `/api/isalive` says true."""
        try:
            response, status = self.service_status(timeout=timeout)
        except requests.RequestException:
            return False
        return status == 200 and response.content.strip().lower() == b"true"

    def identity(self, *, timeout: float) -> tuple[str, str]:
        """(extractor, version) as `/api/version` tells: JSON, or the version alone as GROBID before 0.8 says it.

        Raises:
            TransientError: it does not answer.
            UserError: it answers something else than a version.
        """
        try:
            response, status = self.get(self.base_url + "api/version", timeout=timeout)
        except requests.RequestException as error:
            raise TransientError(f"{self.name} does not answer ({type(error).__name__})") from None
        if status in (401, 403):
            raise UserError(f"{self.name} wants a token (HTTP {status}): set S2CORPUS_EXTRACTOR_TOKEN to its token")
        if status >= 500:
            raise TransientError(f"{self.name} answers HTTP {status} to /api/version")
        text = response.content.decode("utf-8", "replace").strip()
        try:
            told = json.loads(text)
        except ValueError:
            told = text
        if not isinstance(told, dict):
            told = {"version": text}
        version, extractor = str(told.get("version", "")), str(told.get("name", "grobid"))
        if status != 200 or not re.fullmatch(r"[\w.+-]{1,64}", version) or not re.fullmatch(r"[\w.-]{1,64}", extractor):
            raise UserError(
                f"{self.name} is not a GROBID server: it answers HTTP {status} {text[:80]!r} to /api/version"
            )
        return extractor, version


class _Upload:
    """A multipart body over an open PDF, read in blocks: never in memory as a whole.

    Its length is 0 (which requests sends as chunks) where the stream cannot say its own, as one from S3.
    """

    def __init__(self, name: str, pdf: BinaryIO, form: dict[str, str]) -> None:
        boundary = secrets.token_hex(16)
        fields = "".join(
            f'--{boundary}\r\nContent-Disposition: form-data; name="{key}"\r\n\r\n{value}\r\n'
            for key, value in form.items()
        )
        head = (
            f'{fields}--{boundary}\r\nContent-Disposition: form-data; name="input"; filename="{name}"\r\n'
            "Content-Type: application/pdf\r\n\r\n"
        )
        tail = f"\r\n--{boundary}--\r\n"
        size = 0
        if sized := pdf.seekable():
            size = pdf.seek(0, io.SEEK_END)
            pdf.seek(0)
        self.content_type = f"multipart/form-data; boundary={boundary}"
        self.error: Exception | None = None
        self._parts: list[BinaryIO] = [io.BytesIO(head.encode()), pdf, io.BytesIO(tail.encode())]
        self._length = len(head.encode()) + size + len(tail) if sized else 0

    def __len__(self) -> int:
        return self._length

    def __bool__(self) -> bool:
        return True  # requests drops what is false

    def __iter__(self) -> Iterator[bytes]:
        return iter(lambda: self.read(_BLOCK), b"")

    def read(self, size: int = -1) -> bytes:
        """The next block."""
        while self._parts:
            try:
                block = self._parts[0].read(size if size >= 0 else _BLOCK)
            except Exception as error:
                self.error = error
                raise
            if block:
                return block
            self._parts.pop(0)
        return b""
