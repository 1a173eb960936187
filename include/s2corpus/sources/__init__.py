"""Metadata sources: one adapter per source; all return the same records.

An adapter is a module with `NAME`, `KIND` and `read(stream) -> Iterator[Entry]`. `read` is a generator over a binary stream
with one entry in memory at a time. It returns each entry as a `Record`, a `Deleted` or a `Dropped` with a reason, and raises
no errors about the content. Other packages add adapters through the entry-point group `s2corpus.sources`.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import IO, TYPE_CHECKING, Protocol, cast

from s2corpus.errors import UserError
from s2corpus.sources.record import Deleted, Dropped, Entry, Record, RecordKind, RejectReason
from s2orc_parse.bibliography.author import Author

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

__all__ = [
    "Author", "Deleted", "Dropped", "Entry", "Record", "RecordKind", "RejectReason", "load_adapter", "read",
    "source_names",
]  # fmt: skip

BUILT_IN = (
    "acl", "arxiv", "crossref", "dblp", "elsevier", "jats", "jsonl", "openalex", "pubmed", "s2ag", "s2orc", "scienceparse",
    "unpaywall",
)  # fmt: skip


class Source(Protocol):
    """The interface of an adapter module."""

    NAME: str  # the source's name in record ids
    KIND: RecordKind

    def read(self, stream: IO[bytes]) -> Iterator[Entry]:
        """Yield the entries of one uncompressed stream."""
        ...


def source_names() -> list[str]:
    """Return the sorted names of all installed sources."""
    return sorted({*BUILT_IN, *_list_plugins()})


@cache
def load_adapter(name: str) -> Source:
    """Return the adapter with this name.

    Raises:
        UserError: no source has this name; the message lists the available names.
    """
    if name in BUILT_IN:
        return cast(Source, importlib.import_module(f"s2corpus.sources.{name}"))
    if (point := _list_plugins().get(name)) is not None:
        return cast(Source, point.load())
    raise UserError(f"no source is called {name!r}: expected one of {', '.join(source_names())}")


def read(name: str, file: str | Path | IO[bytes]) -> Iterator[Entry]:
    """Yield the entries of one file: a path or binary stream, uncompressed or gzip, bzip2, xz or zstd.

    A truncated or damaged file yields its readable entries, then one `Dropped(UNREADABLE_REST)`.
    """
    from s2corpus.sources.streams import open_stream, stop_at_damage  # slow; `corpus parse` does not need it

    source = load_adapter(name)
    with open_stream(file) as stream:
        yield from stop_at_damage(source.read(stream))


@cache
def _list_plugins() -> dict[str, EntryPoint]:
    from importlib.metadata import entry_points

    return {point.name: point for point in entry_points(group="s2corpus.sources")}
