"""Elsevier OA CC-BY corpus: JSON with docId, metadata, abstract, bib_entries and body_text (JSONL, one object a file, or a tar)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO, Any, cast

import orjson

from s2corpus.sources.build import RawRecord
from s2corpus.sources.record import Dropped, Entry, Record, RecordKind, RejectReason
from s2corpus.sources.streams import Peekable, documents, is_tar, json_objects
from s2orc_parse.jats.elsevier_front import read_front

NAME = "elsevier"
KIND = RecordKind.PUBLISHER


def read(stream: IO[bytes]) -> Iterator[Entry]:
    """Yield the records of the articles; all are open access under CC BY 4.0."""
    head = Peekable(stream)
    items: Iterator[tuple[str, dict[str, Any]] | Dropped]
    items = _members(cast(IO[bytes], head)) if is_tar(head) else json_objects(cast(IO[bytes], head))
    for item in items:
        yield item if isinstance(item, Dropped) else record_of(item[1], item[0])


def _members(stream: IO[bytes]) -> Iterator[tuple[str, dict[str, Any]] | Dropped]:
    for item in documents(stream):
        if isinstance(item, Dropped):
            yield item
        elif item[0].endswith(".json"):
            try:
                value = orjson.loads(item[1])
            except orjson.JSONDecodeError as error:
                yield Dropped(RejectReason.MALFORMED, item[0], str(error)[:200])
                continue
            yield (
                (item[0], value)
                if isinstance(value, dict)
                else Dropped(RejectReason.MALFORMED, item[0], "no JSON object")
            )


def record_of(article: dict[str, Any], where: str) -> Record | Dropped:
    """Return the record of one article."""
    native = article.get("docId")
    if not isinstance(native, str) or not native.strip():
        return Dropped(RejectReason.NO_ID, where, "no docId")
    front = read_front(article)
    if front is None:
        return Dropped(RejectReason.MALFORMED, native, "no metadata")
    return RawRecord(f"{NAME}:{native}", NAME, KIND, native, **front.as_fields()).normalize()
