"""JATS: article XML of publishers and PMC, one file per article or a tar. Open if its license is Creative Commons. A preprint, by its
type or the DOI of its server, counts as archive. Ids: `jats:<doi>`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO, Any

from s2corpus.sources.build import RawRecord
from s2corpus.sources.editorial import read_jats_notices
from s2corpus.sources.preprints import is_preprint_doi
from s2corpus.sources.record import Dropped, Entry, Record, RecordKind, RejectReason
from s2corpus.sources.xml_elements import parse_documents
from s2orc_parse.bibliography.identifiers import normalize_doi, plain
from s2orc_parse.jats.front import read_front

NAME = "jats"
KIND = RecordKind.PUBLISHER


def read(stream: IO[bytes]) -> Iterator[Entry]:
    """Return the records of the articles' front matter."""
    return parse_documents(stream, (".xml", ".nxml"), _parse)


def _parse(root: Any, name: str) -> list[Entry]:
    tag = str(root.tag).rpartition("}")[2]
    articles = [root] if tag == "article" else [a for a in root.iter("{*}article") if a.find("{*}front") is not None]
    if not articles:
        return [Dropped(RejectReason.MALFORMED, name, f"expected <article>, got <{tag}>")]
    return [build_record(article, name) for article in articles]


def build_record(article: Any, where: str) -> Record | Dropped:
    """Return the record of one `article` element."""
    front = read_front(article)
    if front is None:
        return Dropped(RejectReason.MALFORMED, where, "no article-meta")
    if not front.native_id:
        return Dropped(RejectReason.NO_ID, where, "no article-id")
    is_preprint = article.get("article-type") == "preprint" or is_preprint_doi(normalize_doi(plain(front.doi)) or "")
    editorial, notices = read_jats_notices(article.find("{*}front/{*}article-meta"))
    return RawRecord(
        f"{NAME}:{front.native_id.lower()}", NAME, RecordKind.ARCHIVE if is_preprint else KIND, front.native_id,
        **front.as_fields(), editorial=editorial, notices=notices, type="preprint" if is_preprint else article.get("article-type"),
    ).normalize()  # fmt: skip
