"""Base class of extractor servers: HTTP requests with limits on time and size.

Requests follow no redirects and use no proxy, .netrc or cookies.
"""

from __future__ import annotations

import re
import secrets
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from http.cookiejar import DefaultCookiePolicy
from typing import Any, BinaryIO
from urllib.parse import urlsplit, urlunsplit

import requests
from urllib3.exceptions import NewConnectionError

from s2corpus import web
from s2corpus.errors import TransientError, UserError
from s2corpus.extractors.protocol import ExtractorAnswer
from s2corpus.outcomes import ExtractOutcome

_BLOCK = 1 << 16
_PAGE = re.compile(rb"(?i)\s*<(!doctype html|html|head|body)\b")


class HttpServer:
    """A server at a base URL (`http://host:8070`), with a pool of `connections` keep-alive connections."""

    KIND = "an extractor's server"
    """the kind of server, for error messages"""

    def __init__(self, url: str, *, headers: Mapping[str, str], connections: int, max_bytes: int) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise UserError(f"{url!r} is not {self.KIND}: expected an address such as http://localhost:8070")
        self.url = url.rstrip("/")
        # The name contains no user and password.
        self.name = urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2])).rstrip("/")
        self.max_bytes = max_bytes
        self.session = web.Session(connections)
        self.session.trust_env = False  # no proxy from the environment, no .netrc that replaces the token
        # Cookies would pin all requests to one server of a load balancer.
        self.session.cookies.set_policy(DefaultCookiePolicy(allowed_domains=[]))
        self.session.headers.update({"Accept-Encoding": "identity", **headers})

    def request(self, method: str, path: str, *, timeout: float, **options: Any) -> requests.Response:
        """Send a request and read at most `max_bytes` + 1 bytes of the response within `timeout` seconds.

        `options` are the options of `web.Session.ask`.

        Raises:
            requests.RequestException: no response or an incomplete response.
        """
        url = f"{self.url}/{path.lstrip('/')}"
        return self.session.ask(method, url, seconds=timeout, max_bytes=self.max_bytes, **options)

    def read(
        self, path: str, *, timeout: float, method: str = "GET", **options: Any
    ) -> tuple[int, bytes] | ExtractorAnswer:
        """Return the status and body of a response, or an `ExtractorAnswer` that describes the failure."""
        start = time.monotonic()
        try:
            response = self.request(method, path, timeout=timeout, **options)
        except requests.RequestException as error:
            return _classify_exception(error, time.monotonic() - start >= timeout)
        if response.status_code == requests.codes.ok and _PAGE.match(response.content):
            detail = f"{self.name} answers with a page in HTML: a proxy or another program answers; check its address"
            return ExtractorAnswer(ExtractOutcome.CONNECTION, broken=True, detail=detail)
        return response.status_code, response.content

    def upload(
        self,
        path: str,
        file_sha1: str,
        open_pdf: Callable[[], BinaryIO],
        *,
        field: str,
        form: Mapping[str, str | Sequence[str]],
        timeout: float,
    ) -> tuple[int, bytes] | ExtractorAnswer:
        """Post one PDF as a multipart form, streamed; return status and body, or an `ExtractorAnswer` that describes the failure."""
        try:
            pdf = open_pdf()
        except Exception as error:  # any storage error
            return ExtractorAnswer(ExtractOutcome.LAKE, detail=str(error))
        with pdf:
            body = _Upload(field, f"{file_sha1}.pdf", pdf, form)
            headers = {"Content-Type": body.content_type}
            try:
                reply = self.read(path, timeout=timeout, method="POST", data=body, headers=headers)
            except Exception:
                if body.error is None:
                    raise
            return reply if body.error is None else ExtractorAnswer(ExtractOutcome.LAKE, detail=str(body.error))

    def get_version(self, path: str, *, timeout: float) -> tuple[int, bytes]:
        """Return the status and body of the server's version address.

        Raises:
            TransientError: the server does not respond.
            UserError: the server requires a token.
        """
        try:
            response = self.request("GET", path, timeout=timeout)
        except requests.RequestException as error:
            raise TransientError(f"{self.name} does not answer ({type(error).__name__})") from None
        status = response.status_code
        if status in (401, 403):
            raise UserError(f"{self.name} requires a token (HTTP {status}): set S2CORPUS_EXTRACTOR_TOKEN to its token")
        if status >= 500:
            raise TransientError(f"{self.name} answers HTTP {status} to {path}")
        return status, response.content


def classify_error_status(status: int, body: bytes) -> ExtractorAnswer:
    """Classify an unexpected HTTP status: busy, timeout or broken."""
    detail = f"HTTP {status}: {body[:200].decode(errors='replace')}"
    if status in (429, 503):
        return ExtractorAnswer(ExtractOutcome.BUSY, body, detail=detail)
    late = status in (408, 504)
    broken = status in (502, 504)
    return ExtractorAnswer(
        ExtractOutcome.TIMEOUT if late else ExtractOutcome.CONNECTION, body, broken=broken, detail=detail
    )


def _classify_exception(error: requests.RequestException, late: bool) -> ExtractorAnswer:
    unreachable = isinstance(error, requests.ConnectTimeout) or (
        bool(error.args) and isinstance(getattr(error.args[0], "reason", None), NewConnectionError)
    )
    outcome = ExtractOutcome.TIMEOUT if late and not unreachable else ExtractOutcome.CONNECTION
    return ExtractorAnswer(outcome, unreachable=unreachable, broken=True, detail=str(error)[:200])


class _Upload:
    """A multipart body that streams an open PDF in blocks. It has no length, so requests uses chunked encoding."""

    def __init__(self, field: str, name: str, pdf: BinaryIO, form: Mapping[str, str | Sequence[str]]) -> None:
        boundary = secrets.token_hex(16)
        fields = "".join(
            f'--{boundary}\r\nContent-Disposition: form-data; name="{key}"\r\n\r\n{value}\r\n'
            for key, values in form.items()
            for value in ([values] if isinstance(values, str) else values)
        )
        self._head = (
            f'{fields}--{boundary}\r\nContent-Disposition: form-data; name="{field}"; filename="{name}"\r\n'
            "Content-Type: application/pdf\r\n\r\n"
        ).encode()
        self._tail = f"\r\n--{boundary}--\r\n".encode()
        self._pdf = pdf
        self.content_type = f"multipart/form-data; boundary={boundary}"
        self.error: Exception | None = None
        """error of reading the PDF"""

    def __iter__(self) -> Iterator[bytes]:
        yield self._head
        try:
            while block := self._pdf.read(_BLOCK):
                yield block
        except Exception as error:
            self.error = error
            raise
        yield self._tail
