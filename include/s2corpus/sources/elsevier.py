"""Elsevier OA CC-BY corpus: JSON files, JSON lines or a tar. Open: CC BY 4.0. Ids: `elsevier:<docId>`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO, Any, cast

from s2corpus.sources.build import RawRecord
from s2corpus.sources.json_objects import load_object, parse_objects
from s2corpus.sources.record import Dropped, Entry, Record, RecordKind, RejectReason
from s2corpus.sources.streams import Peekable, is_tar
from s2corpus.sources.xml_elements import parse_documents
from s2orc_parse.jats.elsevier import read_front

NAME = "elsevier"
KIND = RecordKind.PUBLISHER


def read(stream: IO[bytes]) -> Iterator[Entry]:
    """Return the records of the articles; all are open access under CC BY 4.0."""
    head = Peekable(stream)
    if is_tar(head):
        return parse_documents(
            cast(IO[bytes], head), (".json",), lambda article, name: [build_record(article, name)], load_object
        )
    return parse_objects(cast(IO[bytes], head), build_record)


def build_record(article: dict[str, Any], where: str) -> Record | Dropped:
    """Return the record of one article."""
    native = article.get("docId")
    if not isinstance(native, str) or not native.strip():
        return Dropped(RejectReason.NO_ID, where, "no docId")
    front = read_front(article)
    if front is None:
        return Dropped(RejectReason.MALFORMED, native, "no metadata")
    return RawRecord(f"{NAME}:{native}", NAME, KIND, native, **front.as_fields()).normalize()
