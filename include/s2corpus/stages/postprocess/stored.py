"""Convert the files without a stored parse, and describe stored parses in the tables of a release."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypedDict, TypeVar

import orjson

from s2corpus.storage.content_store import ContentStore
from s2corpus.tables.parses import StoredParseRow
from s2orc_parse import latex, tei
from s2orc_parse.parse_model import Parse, ParseKind

File = TypeVar("File")
Found = tuple[StoredParseRow, str | None]
"""A stored parse, and the part of the content store that contains it."""
_BATCH_BYTES = 32 << 20
"""bytes of parses in memory before they are stored as one part"""
_LISTED = ("outcome", "citation_style", "header", "bytes")
"""columns of stored parses that the tables of a release list"""
_TRANSIENT_OUTCOMES = (latex.LatexOutcome.TIMEOUT, latex.LatexOutcome.OUT_OF_MEMORY, latex.LatexOutcome.UNREADABLE)
"""outcomes that can differ on a retry; they are not stored"""


def convert_missing(
    store: ContentStore[StoredParseRow],
    files: Mapping[str, File],
    convert: Callable[[Sequence[File]], Iterable[StoredParseRow]],
) -> dict[str, Found]:
    """Convert the files without a stored parse; return the row of each file, and the part that contains it.

    `files` are by SHA-1, at least one. `convert` may leave out files. Rows are stored as they arrive, in parts of 32 MB. If a task is
    killed, its stored parts are not lost. Rows with transient outcomes are not stored: the next release converts their files again.
    """
    first, last = min(files), max(files)
    stored = store.known(first, last, _LISTED)
    missing = [file for sha1, file in files.items() if sha1 not in stored]
    unstored: dict[str, Found] = {}
    batch: list[StoredParseRow] = []
    size = 0
    for row in convert(missing):
        if row["outcome"] in _TRANSIENT_OUTCOMES:
            unstored[row["file_sha1"]] = (row, None)
            continue
        batch.append(row)
        size += row["bytes"]
        if size > _BATCH_BYTES:
            store.append(batch)
            batch, size = [], 0
    if batch:
        store.append(batch)
    if missing:
        store.merge(first, last)
    return {**(store.known(first, last, _LISTED) if missing else stored), **unstored}


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


class Parsed(TypedDict):
    """The columns that describe a parse in every table of parses."""

    outcome: str
    citation_style: str | None
    bytes: int
    stored: str | None


def describe(found: Found | None, missing: str) -> Parsed:
    """Return the columns of a parse, or the outcome `missing` without a parse."""
    if found is None:
        return Parsed(outcome=missing, citation_style=None, bytes=0, stored=None)
    row, stored = found
    return Parsed(
        outcome=row["outcome"], citation_style=row["citation_style"], bytes=row["bytes"], stored=stored
    )  # fmt: skip
