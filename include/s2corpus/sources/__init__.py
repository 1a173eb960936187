"""Metadata sources: one adapter per source; all return the same records.

An adapter is a module with `NAME`, `KIND` and `read(stream) -> Iterator[Entry]`. `read` is a generator over a binary stream
with one entry in memory at a time. It returns each entry as a `Record`, a `Deleted` or a `Dropped` with a reason, and raises
no errors about the content. Other packages add adapters through the entry-point group `s2corpus.sources`.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import IO, Protocol

from s2corpus.sources.record import Deleted, Dropped, Entry, Record, RecordKind, RejectReason
from s2corpus.trust import ADAPTERS
from s2orc_parse.bibliography.author import Author
from s2orc_parse.registry import Registry

__all__ = [
    "SOURCES", "Author", "Deleted", "Dropped", "Entry", "Record", "RecordKind", "RejectReason", "read",
]  # fmt: skip


class Source(Protocol):
    """The interface of an adapter module."""

    NAME: str  # the source's name in record ids
    KIND: RecordKind

    def read(self, stream: IO[bytes]) -> Iterator[Entry]:
        """Yield the entries of one uncompressed stream."""
        ...


SOURCES: Registry[Source] = Registry("s2corpus.sources", "source", ADAPTERS)
"""all installed sources"""


def read(name: str, file: str | Path | IO[bytes]) -> Iterator[Entry]:
    """Yield the entries of one file: a path or binary stream, uncompressed or gzip, bzip2, xz or zstd.

    A truncated or damaged file yields its readable entries, then one `Dropped(UNREADABLE_REST)`.
    """
    from s2corpus.sources.streams import open_stream, stop_at_damage  # slow; `corpus convert` does not need it

    source = SOURCES.load(name)
    with open_stream(file) as stream:
        yield from stop_at_damage(source.read(stream))
