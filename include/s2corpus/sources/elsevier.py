"""Elsevier OA CC-BY corpus: JSON with docId, metadata, abstract, bib_entries and body_text (JSONL, one object a file, or a tar)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO, Any, cast

import orjson

from s2corpus.sources.build import build
from s2corpus.sources.names import make_author
from s2corpus.sources.record import Author, Dropped, Entry, Kind, Reason, Record
from s2corpus.sources.streams import Peekable, documents, is_tar, json_objects

NAME = "elsevier"
KIND = Kind.PUBLISHER


def read(stream: IO[bytes]) -> Iterator[Entry]:
    """Records of the articles; all are open access under CC BY 4.0."""
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
                yield Dropped(Reason.MALFORMED, item[0], str(error)[:200])
                continue
            yield (item[0], value) if isinstance(value, dict) else Dropped(Reason.MALFORMED, item[0], "no JSON object")


def record_of(article: dict[str, Any], where: str) -> Record | Dropped:
    """The record of one article."""
    native, metadata = article.get("docId"), article.get("metadata")
    if not isinstance(native, str) or not native.strip():
        return Dropped(Reason.NO_ID, where, "no docId")
    if not isinstance(metadata, dict):
        return Dropped(Reason.MALFORMED, native, "no metadata")
    return build(
        f"{NAME}:{native}", NAME, KIND, native,
        title=metadata.get("title"), authors=_authors(metadata.get("authors")), date=metadata.get("pub_year"),
        journal=metadata.get("journal") or metadata.get("source_title"), abstract=_abstract(article.get("abstract")),
        volume=metadata.get("volume"), issue=metadata.get("issue"), pages=_pages(metadata),
        doi=metadata.get("doi"), pubmed_id=metadata.get("pmid"), subjects=_subjects(metadata),
        licence="CC-BY-4.0", open_access=True,
    )  # fmt: skip


def _pages(metadata: dict[str, Any]) -> str:
    first, last = (str(metadata.get(key) or "") for key in ("firstpage", "lastpage"))
    return f"{first}-{last}" if first and last and first != last else first


def _authors(authors: object) -> Iterator[Author | None]:
    for author in authors if isinstance(authors, list) else ():
        if isinstance(author, dict):
            first, initial, last, suffix = (
                str(author.get(key) or "") for key in ("first", "initial", "last", "suffix")
            )
            yield make_author(first or initial, last, suffix)


def _subjects(metadata: dict[str, Any]) -> list[str]:
    """Scopus's areas (MEDI) and ASJC codes (2700)."""
    areas, codes = metadata.get("subjareas"), metadata.get("asjc")
    return [
        str(value)
        for values in (areas, codes)
        for value in (values if isinstance(values, list) else [values])
        if isinstance(value, str | int) and not isinstance(value, bool)
    ]


def _abstract(abstract: object) -> str:
    """Sentences in order of their offsets, or the text as it is."""
    if isinstance(abstract, str):
        return abstract
    sentences = abstract if isinstance(abstract, list) else []
    found = [(item.get("startOffset") or 0, item.get("sentence")) for item in sentences if isinstance(item, dict)]
    if found:
        sentences = [text for _, text in sorted(found, key=lambda pair: pair[0] if isinstance(pair[0], int) else 0)]
    return " ".join(text.strip() for text in sentences if isinstance(text, str))
