"""What a pool is allowed, and what it gives for each PDF."""

from __future__ import annotations

from dataclasses import dataclass

from s2corpus.extractors.protocol import Outcome


@dataclass(frozen=True)
class Limits:
    """How long and how much; times in seconds, pairs are ranges from which a wait is drawn evenly."""

    in_flight: int = 4
    """PDFs that servers work on at once, over all servers: requests open, and tasks that are polled"""
    deadline: float = 600.0
    """of one PDF, from its first request, waits included"""
    request: float = 200.0
    """of one try: one request, or a task from its submission on"""
    tries: int = 3
    """failures of one kind (timeout, connection) after which a PDF is given up; failed polls in a row after which a task is lost"""
    busy_wait: tuple[float, float] = (5.0, 10.0)
    """after a 503, as GROBID asks for"""
    retry_wait: tuple[float, float] = (1.0, 3.0)
    """after a timeout or a broken connection"""
    failures: int = 3
    """failures in a row, nothing answered in between, after which a server is taken out"""
    health_wait: tuple[float, float] = (2.0, 4.0)
    """between looks at a server that is out"""
    outage: float = 180.0
    """without any server for so long, what is left is given up"""
    status: float = 10.0
    """of asking how a server or a task is"""
    max_tei_bytes: int = 12_000_000
    progress: float = 5.0
    """between lines in the log"""


@dataclass(frozen=True, slots=True)
class Extraction:
    """What became of one PDF: `tries` requests were made, the last took `seconds`, and `server` had it."""

    file_sha1: str
    outcome: Outcome
    tries: int
    seconds: float
    server: str | None
    tei: bytes | None = None
    """the answer: TEI, or what its extractor's adapter reads"""
    tei_sha1: str | None = None
