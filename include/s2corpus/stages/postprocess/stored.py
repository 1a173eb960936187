"""Store parses in the content store.

A file that a converter version has converted is never converted again, in any release.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeVar

import orjson

from s2corpus.storage.content_store import ContentStore
from s2corpus.tables.parses import StoredParseRow
from s2orc_parse import tei
from s2orc_parse.parse_model import Parse, ParseKind

_BATCH_BYTES = 32 << 20
"""bytes of parses in memory before they are stored as one part"""
COLUMNS = ("outcome", "citation_style", "header", "bytes")
"""columns of stored parses that the tables of a release list"""
File = TypeVar("File")


def make_stored_row(
    sha1: str, kind: ParseKind, parse: Parse | str, header: Mapping[str, object] | None = None
) -> StoredParseRow:
    """Return a row of STORED_PARSES for a parse with the header data from the file, or for the reason of its absence."""
    if isinstance(parse, str):
        outcome, style, body = parse, None, None
    else:
        outcome, style, body = "ok", parse.citation_style, orjson.dumps(tei.to_s2orc(parse))
    return StoredParseRow(
        file_sha1=sha1, kind=kind, outcome=outcome, citation_style=style, bytes=len(body or b""), parse=body,
        header=None if header is None else orjson.dumps(header),
    )  # fmt: skip


def convert_missing(
    store: ContentStore[StoredParseRow],
    files: Mapping[str, File],
    convert: Callable[[Sequence[File]], Iterable[StoredParseRow]],
) -> dict[str, tuple[StoredParseRow, str]]:
    """Convert the files without a stored parse; return the stored row of each file, and the part that contains it.

    `files` are by SHA-1, at least one. `convert` may leave out files.
    """
    first, last = min(files), max(files)
    stored = store.known(first, last, COLUMNS)
    if missing := [file for sha1, file in files.items() if sha1 not in stored]:
        _store_in_parts(store, convert(missing))
        stored = store.known(first, last, COLUMNS)
    return stored


def _store_in_parts(store: ContentStore[StoredParseRow], rows: Iterable[StoredParseRow]) -> None:
    """Store rows as they arrive, in parts of 32 MB. If a task is killed, its stored parts are not lost."""
    batch: list[StoredParseRow] = []
    size = 0
    for row in rows:
        batch.append(row)
        size += row["bytes"]
        if size > _BATCH_BYTES:
            store.append(batch)
            batch, size = [], 0
    if batch:
        store.append(batch)
