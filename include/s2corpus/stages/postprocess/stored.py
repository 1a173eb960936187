"""Store parses in the content store.

A file that a converter version has converted is never converted again, in any release.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import orjson

from s2corpus.storage.content_store import ContentStore
from s2corpus.tables.parses import StoredParseRow
from s2orc_parse import tei
from s2orc_parse.parse_model import Parse, ParseKind

_BATCH_BYTES = 32 << 20
"""bytes of parses in memory before they are stored as one part"""


def none(sha1: str, kind: ParseKind, outcome: str) -> StoredParseRow:
    """Return a row of STORED_PARSES for a file without a parse, with the reason as `outcome`."""
    return StoredParseRow(
        file_sha1=sha1, kind=kind, outcome=outcome, citation_style=None, bytes=0, parse=None, header=None
    )


def ok(sha1: str, kind: ParseKind, parse: Parse, header: Mapping[str, object] | None = None) -> StoredParseRow:
    """Return a row of STORED_PARSES for a parse, with the header data from the file."""
    body = orjson.dumps(tei.to_s2orc(parse))
    return StoredParseRow(
        file_sha1=sha1,
        kind=kind,
        outcome="ok",
        citation_style=parse.citation_style,
        bytes=len(body),
        parse=body,
        header=None if header is None else orjson.dumps(header),
    )


def keep(store: ContentStore[StoredParseRow], rows: Iterable[StoredParseRow]) -> None:
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
