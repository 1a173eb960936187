"""Extractors: the protocol, the pool of servers, and the GROBID adapter (SPEC §2; docs/extractors.md)."""

from s2corpus.extractors.pool import Pool
from s2corpus.extractors.protocol import (
    Adapter,
    BackgroundServer,
    BackgroundTask,
    BadAnswer,
    Extraction,
    ExtractorAnswer,
    ExtractorIdentity,
    Limits,
    Server,
)
from s2corpus.extractors.registry import EXTRACTORS
from s2corpus.outcomes import ExtractOutcome

__all__ = [
    "EXTRACTORS",
    "Adapter",
    "BackgroundServer",
    "BackgroundTask",
    "BadAnswer",
    "ExtractOutcome",
    "Extraction",
    "ExtractorAnswer",
    "ExtractorIdentity",
    "Limits",
    "Pool",
    "Server",
]  # fmt: skip
