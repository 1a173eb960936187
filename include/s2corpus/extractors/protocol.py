"""What the pool asks of an extractor's servers, and what an extractor's adapter offers (docs/extractors.md).

A server is asked to `submit` a PDF. One that answers at once, as GROBID does, gives the `Answer`; one that works on it in the
background gives a `Task`, which the pool asks for with `poll` until it is done, and then takes its answer with `fetch`.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import BinaryIO, Protocol

from s2corpus.rules.extract import Extract
from s2orc_parse.parse_model import Parse

_NAME = re.compile(r"\w[\w.+-]{0,63}", re.ASCII)
"""names and versions are folders of the lake and the source of records"""


class Outcome(StrEnum):
    """How a PDF's extraction ended. What is not final is tried again in the next release."""

    OK = "ok"
    NO_CONTENT = "no_content"
    BAD_TEI = "bad_tei"
    BAD_ANSWER = "bad_answer"
    BAD_INPUT_DATA = "failed:BAD_INPUT_DATA"
    NO_BLOCKS = "failed:NO_BLOCKS"
    TOO_MANY_BLOCKS = "failed:TOO_MANY_BLOCKS"
    TOO_MANY_TOKENS = "failed:TOO_MANY_TOKENS"
    PDFALTO_CONVERSION_FAILURE = "failed:PDFALTO_CONVERSION_FAILURE"
    NOT_CONVERTED = "failed:NOT_CONVERTED"
    BUSY = "gave_up:busy"
    TIMEOUT = "gave_up:timeout"
    CONNECTION = "gave_up:connection"

    @property
    def final(self) -> bool:
        """Whether this is the extractor's last word about the PDF."""
        return not self.startswith("gave_up:")


@dataclass(frozen=True, slots=True)
class Identity:
    """Who extracts: what decides an answer beside the PDF. It is in the key of what is kept, and in the provenance of parses."""

    extractor: str
    """the name that the server gives itself: grobid, s2corpus-layout, docling, …"""
    version: str
    revision: str = ""
    """of its model, where the version of the program does not fix it"""
    options_hash: str = ""
    """16 hex digits over what is asked for"""

    @property
    def full_version(self) -> str:
        """The version, with the model's revision where there is one: `1.18.0+a3f09c`."""
        return f"{self.version}+{self.revision}" if self.revision else self.version

    @property
    def key(self) -> dict[str, str]:
        """The columns of EXTRACTIONS that name it, in the order of the folders of the content store."""
        return {"extractor": self.extractor, "version": self.full_version, "options_hash": self.options_hash}

    @property
    def valid(self) -> bool:
        """Whether its name and versions may be folders of the lake and a source of records."""
        words = (self.extractor, self.version, *([self.revision] if self.revision else []))
        return all(_NAME.fullmatch(word) for word in words)

    def __str__(self) -> str:
        return f"{self.extractor} {self.full_version}"


@dataclass(frozen=True, slots=True)
class Answer:
    """What asking about one PDF came to. A `gave_up` outcome stands for another try."""

    outcome: Outcome
    body: bytes = b""
    unreachable: bool = False
    """no connection came about"""
    broken: bool = False
    """the server, or what stands before it, did not answer properly; False also where our side could not read the PDF"""
    lost: bool = False
    """of a task: the server does not know it, or gave up on it; it is submitted again"""
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Task:
    """A PDF that a server has taken and works on."""

    id: str
    done: bool = False
    """whether its answer may be fetched"""
    wait: float = 2.0
    """seconds until it is worth asking again"""


class Server(Protocol):
    """One server. It never raises for what comes from outside: that is an `Answer`. `timeout` is in seconds, of one request."""

    name: str
    """its address, without a password"""

    def identity(self, *, timeout: float) -> Identity:
        """Who it is. Raises TransientError where it does not answer, UserError where it is something else."""

    def alive(self, *, timeout: float) -> bool:
        """Whether it may be sent PDFs."""

    def submit(self, file_sha1: str, open_pdf: Callable[[], BinaryIO], *, timeout: float) -> Answer | Task:
        """Send one PDF. Only a `BackgroundServer` gives a task."""


class BackgroundServer(Server, Protocol):
    """A server that works on PDFs in the background: its tasks are asked for until they are done."""

    def poll(self, task: Task, *, timeout: float) -> Answer | Task:
        """Ask how a task is."""

    def fetch(self, task: Task, *, timeout: float) -> Answer:
        """Take the answer of a task that is done."""


class BadAnswer(Exception):
    """An answer that gives no parse; `outcome` is `<what>:<reason>`, as the table of parses has it."""

    def __init__(self, outcome: str) -> None:
        super().__init__(outcome)
        self.outcome = outcome


class Adapter(Protocol):
    """What a module offers that connects an extractor: how its servers are asked, and what its answers become."""

    NAME: str
    """in front of its servers' addresses: `docling+http://host:5001`"""
    CONVERTER_VERSION: str
    """of `convert`: part of the key of every stored parse; raised when any parse may come out different"""

    def form(self, asked: Extract) -> Mapping[str, str]:
        """What is asked for, as form fields. Raises UserError for options that it does not have."""

    def server(
        self, url: str, form: Mapping[str, str], *, token: str | None, connections: int, max_bytes: int
    ) -> Server:
        """A server by its address, for so many requests at once, with answers of so many bytes."""

    def convert(self, data: bytes, *, file_sha1: str, made_by: Identity) -> Parse:
        """The parse of an answer. Pure. Raises BadAnswer, and nothing else, whatever the bytes are."""


def options_hash(form: Mapping[str, str]) -> str:
    """16 hex digits over what is asked for: part of the key under which an extraction is kept."""
    return hashlib.sha256(json.dumps(dict(form), sort_keys=True).encode()).hexdigest()[:16]
