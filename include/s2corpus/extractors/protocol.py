"""Protocols of extractor servers and of the adapters that connect them (docs/extractors.md).

The pool submits a PDF to a server with `submit`. A synchronous server, such as GROBID, returns an `ExtractorAnswer`. A background server
returns a `BackgroundTask`: the pool polls it with `poll` until it is done and then reads the answer with `fetch`.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import BinaryIO, Protocol

from s2corpus.outcomes import ExtractOutcome
from s2corpus.rules import ExtractRules
from s2orc_parse.parse_model import Parse

_NAME = re.compile(r"\w[\w.+-]{0,63}", re.ASCII)
"""names and versions become folder names in the lake and source names of records"""


@dataclass(frozen=True, slots=True)
class ExtractorIdentity:
    """The extractor, its version and its options. They are part of the key of stored answers and of the provenance of parses."""

    extractor: str
    """the name that the server reports: grobid, s2corpus-layout, docling, …"""
    version: str
    revision: str = ""
    """revision of the model, if the program's version does not determine it"""
    options_hash: str = ""
    """hash of the request options, 16 hex digits"""

    @property
    def full_version(self) -> str:
        """The version, followed by the model's revision if present: `1.18.0+a3f09c`."""
        return f"{self.version}+{self.revision}" if self.revision else self.version

    @property
    def key(self) -> dict[str, str]:
        """The identity as columns of EXTRACTIONS, in the order of the content store's folders."""
        return {"extractor": self.extractor, "version": self.full_version, "options_hash": self.options_hash}

    @property
    def valid(self) -> bool:
        """True if the name and versions are valid as folder names and source names."""
        words = (self.extractor, self.version, *([self.revision] if self.revision else []))
        return all(_NAME.fullmatch(word) for word in words)

    def __str__(self) -> str:
        return f"{self.extractor} {self.full_version}"


@dataclass(frozen=True, slots=True)
class ExtractorAnswer:
    """The result of one request about a PDF. A `gave_up` outcome causes a retry."""

    outcome: ExtractOutcome
    body: bytes = b""
    unreachable: bool = False
    """the connection could not be established"""
    broken: bool = False
    """the server or its proxy failed (not if the PDF could not be read here)"""
    lost: bool = False
    """the server does not have the task or abandoned it; the PDF is submitted again"""
    detail: str = ""


@dataclass(frozen=True, slots=True)
class BackgroundTask:
    """A PDF that a background server is processing."""

    id: str
    done: bool = False
    """the answer can be fetched"""
    wait: float = 2.0
    """seconds until the next poll"""


@dataclass(frozen=True)
class Limits:
    """Limits on time, retries and size. Times are in seconds; a wait is drawn uniformly from a pair."""

    in_flight: int = 4
    """PDFs processed at the same time, over all servers: open requests and polled tasks"""
    deadline: float = 600.0
    """limit for one PDF from its first request, including waits"""
    request: float = 200.0
    """limit for one attempt: a request, or a task from its submission"""
    tries: int = 3
    """failures of one kind (timeout, connection) per PDF, and consecutive failed polls per task"""
    busy_wait: tuple[float, float] = (5.0, 10.0)
    """wait after a 503, as GROBID recommends"""
    retry_wait: tuple[float, float] = (1.0, 3.0)
    """wait after a timeout or a broken connection"""
    failures: int = 3
    """consecutive failures after which a server is removed from the pool"""
    health_wait: tuple[float, float] = (2.0, 4.0)
    """wait between health checks of a server outside the pool"""
    outage: float = 180.0
    """time without any server after which the remaining PDFs are given up"""
    status: float = 10.0
    """limit for a status request"""
    max_tei_bytes: int = 12_000_000
    progress: float = 5.0
    """interval of progress lines in the log"""


@dataclass(frozen=True, slots=True)
class Extraction:
    """The result for one PDF: the number of attempts, the duration of the last one in seconds, and its server."""

    file_sha1: str
    outcome: ExtractOutcome
    tries: int
    seconds: float
    server: str | None
    tei: bytes | None = None
    """the answer: TEI, or the format of the extractor's adapter"""
    tei_sha1: str | None = None
    detail: str = ""
    """the cause of a failure"""


class Server(Protocol):
    """One server. Failures are returned as an `ExtractorAnswer`, not raised. `timeout` limits one request, in seconds."""

    name: str
    """address without credentials"""

    def identity(self, *, timeout: float) -> ExtractorIdentity:
        """Return the server's identity.

        Raises:
            TransientError: the server does not respond. UserError: it is no extractor of this kind.
        """

    def alive(self, *, timeout: float) -> bool:
        """Return whether the server is ready to receive PDFs."""

    def submit(
        self, file_sha1: str, open_pdf: Callable[[], BinaryIO], *, timeout: float
    ) -> ExtractorAnswer | BackgroundTask:
        """Send one PDF. Only a `BackgroundServer` returns a task."""


class BackgroundServer(Server, Protocol):
    """A server that processes PDFs in the background; its tasks are polled until they are done."""

    def poll(self, task: BackgroundTask, *, timeout: float) -> ExtractorAnswer | BackgroundTask:
        """Return the task with its current state, or an answer if the poll failed."""

    def fetch(self, task: BackgroundTask, *, timeout: float) -> ExtractorAnswer:
        """Fetch the answer of a finished task."""


class BadAnswer(Exception):
    """An answer that cannot be converted; `outcome` is `<kind>:<reason>`, as in the table `parses`."""

    def __init__(self, outcome: str) -> None:
        super().__init__(outcome)
        self.outcome = outcome


class Adapter(Protocol):
    """A module that connects an extractor: it calls the servers and converts their answers."""

    NAME: str
    """prefix of the servers' addresses: `docling+http://host:5001`"""
    CONVERTER_VERSION: str
    """version of `convert`: part of the key of every stored parse; increase it if any parse may change"""

    def form(self, rules: ExtractRules) -> Mapping[str, str]:
        """Return the options as form fields. Raises UserError for unsupported options."""

    def server(
        self, url: str, form: Mapping[str, str], *, token: str | None, connections: int, max_bytes: int
    ) -> Server:
        """Return the server at an address, with limits on parallel connections and on the bytes of an answer."""

    def convert(self, data: bytes, *, file_sha1: str, made_by: ExtractorIdentity) -> Parse:
        """Convert an answer to a parse, without side effects. Raises only BadAnswer, for any input bytes."""


def options_hash(form: Mapping[str, str]) -> str:
    """Return a hash of the form fields (16 hex digits): part of the key of stored extractions."""
    return hashlib.sha256(json.dumps(dict(form), sort_keys=True).encode()).hexdigest()[:16]
