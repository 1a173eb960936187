"""DBLP: the XML dump, with the character entities of its DTD. Ids: `dblp:<key>`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO, Any

from s2corpus.sources.build import RawRecord
from s2corpus.sources.record import Dropped, Editorial, Entry, RecordKind, RejectReason
from s2corpus.sources.xml_elements import parse_xml_elements
from s2orc_parse.bibliography.author import Author
from s2orc_parse.bibliography.author_fields import add_affiliations
from s2orc_parse.bibliography.dates import join_date
from s2orc_parse.bibliography.identifiers import normalize_arxiv
from s2orc_parse.bibliography.links import doi_of_url
from s2orc_parse.bibliography.names import parse_names
from s2orc_parse.xml import extract_text

NAME = "dblp"
KIND = RecordKind.ARCHIVE
_PAPERS = ("article", "incollection", "inproceedings", "mastersthesis", "phdthesis")
_NOT_PAPERS = ("proceedings", "book", "www", "data")


def read(stream: IO[bytes]) -> Iterator[Entry]:
    """Return the records of articles, papers in proceedings and collections, and theses."""
    return parse_xml_elements(stream, (*_PAPERS, *_NOT_PAPERS), _parse, _NOT_PAPERS)


def _parse(root: Any, where: str) -> Iterator[Entry]:
    key = root.get("key")
    if not key:
        yield Dropped(RejectReason.NO_ID, where, "no key")
        return
    if key.startswith("dblpnote/"):
        yield Dropped(RejectReason.NOT_A_PAPER, key, "note of DBLP")
        return
    links = [extract_text(link) for link in root.iterfind("ee")]
    journal, volume = extract_text(root.find("journal")), extract_text(root.find("volume"))
    arxiv_id = next((found for link in links if "arxiv" in link.lower() and (found := normalize_arxiv(link))), None)
    if arxiv_id is None and journal == "CoRR":
        arxiv_id = normalize_arxiv(volume.removeprefix("abs/"))
    yield RawRecord(
        f"{NAME}:{key}", NAME, KIND, key,
        title=extract_text(root.find("title")), authors=_authors(root.findall("author")),
        date=join_date(extract_text(root.find("year")), extract_text(root.find("month"))),
        venue=extract_text(root.find("booktitle")) or extract_text(root.find("school")), journal=journal,
        volume=None if journal == "CoRR" else volume, issue=extract_text(root.find("number")), pages=extract_text(root.find("pages")),
        doi=next(filter(None, map(doi_of_url, links)), None), arxiv_id=arxiv_id,
        editorial=Editorial.WITHDRAWN if root.get("publtype") == "withdrawn" else None,
        type="preprint" if journal == "CoRR" or (root.get("publtype") or "").startswith("informal") else root.tag,
    ).normalize()  # fmt: skip


def _authors(authors: list[Any]) -> list[Author | None]:
    names = parse_names(map(extract_text, authors))
    return [add_affiliations(name, (), author.get("orcid") or "") for name, author in zip(names, authors, strict=True)]
