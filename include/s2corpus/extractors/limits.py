"""Limits of a pool, and its result for each PDF."""

from __future__ import annotations

from dataclasses import dataclass

from s2corpus.extractors.protocol import ExtractOutcome


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
