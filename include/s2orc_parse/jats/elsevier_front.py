"""Read the front matter of an article of Elsevier's OA CC-BY corpus."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from s2orc_parse.bibliography.author import Author
from s2orc_parse.bibliography.fields import clean_issns
from s2orc_parse.bibliography.names import make_author
from s2orc_parse.jats.header import FrontMatter


def read_front(article: dict[str, Any]) -> FrontMatter | None:
    """Return the front matter of an article, or None if it has no metadata.

    All articles are open access under CC BY 4.0.
    """
    native, metadata = article.get("docId"), article.get("metadata")
    if not isinstance(metadata, dict):
        return None
    return FrontMatter(
        native_id=native if isinstance(native, str) and native.strip() else "",
        title=metadata.get("title"), authors=tuple(_authors(metadata.get("authors"))), date=metadata.get("pub_year"),
        journal=metadata.get("journal") or metadata.get("source_title"), abstract=_abstract(article.get("abstract")),
        volume=metadata.get("volume"), issue=metadata.get("issue"), pages=_pages(metadata),
        doi=metadata.get("doi"), pubmed_id=metadata.get("pmid"), issns=clean_issns(metadata.get("issn")), subjects=_subjects(metadata),
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
    """Return Scopus's areas (MEDI) and ASJC codes (2700)."""
    areas, codes = metadata.get("subjareas"), metadata.get("asjc")
    return [
        str(value)
        for values in (areas, codes)
        for value in (values if isinstance(values, list) else [values])
        if isinstance(value, str | int) and not isinstance(value, bool)
    ]


def _abstract(abstract: object) -> str:
    """Return the sentences ordered by offset, or a text unchanged."""
    if isinstance(abstract, str):
        return abstract
    sentences = abstract if isinstance(abstract, list) else []
    found = [(item.get("startOffset") or 0, item.get("sentence")) for item in sentences if isinstance(item, dict)]
    if found:
        sentences = [text for _, text in sorted(found, key=lambda pair: pair[0] if isinstance(pair[0], int) else 0)]
    return " ".join(text.strip() for text in sentences if isinstance(text, str))
