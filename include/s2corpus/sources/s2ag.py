"""Semantic Scholar Academic Graph: papers of the datasets and of the API, JSON lines. The same source as `s2orc`. Ids: `s2:<id>`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO, Any

from s2corpus.sources.build import RawRecord
from s2corpus.sources.json_objects import parse_objects
from s2corpus.sources.json_values import read_id, read_object, read_objects
from s2corpus.sources.record import Dropped, Entry, RecordKind, RejectReason
from s2orc_parse.bibliography.names import parse_names

NAME = "s2"
KIND = RecordKind.ARCHIVE


def read(stream: IO[bytes]) -> Iterator[Entry]:
    """Return the records of the papers, by corpus id."""
    return parse_objects(stream, _parse)


def _lower_keys(value: dict[str, Any]) -> dict[str, Any]:
    """Return an object with keys in lower case, as in the datasets; the API uses camel case."""
    return {key.lower(): item for key, item in value.items()}


def _parse(paper: dict[str, Any], where: str) -> Entry:
    paper = _lower_keys(paper)
    ids = _lower_keys(read_object(paper.get("externalids")))
    native = read_id(paper.get("corpusid") or ids.get("corpusid"))
    if native is None:
        return Dropped(RejectReason.NO_ID, where, "no corpusid")
    journal = read_object(paper.get("journal"))
    fields = [field.get("category") for field in read_objects(paper.get("s2fieldsofstudy"))]
    licenses = (
        read_object(paper.get(key)).get("license") for key in ("openaccesspdf", "openaccessinfo")
    )  # API, datasets
    return RawRecord(
        f"{NAME}:{native}", NAME, KIND, native,
        title=paper.get("title"),
        authors=parse_names(str(author.get("name") or "") for author in read_objects(paper.get("authors"))),
        date=paper.get("publicationdate") or paper.get("year"), venue=paper.get("venue"),
        journal=journal.get("name"), volume=journal.get("volume"), pages=journal.get("pages"), abstract=paper.get("abstract"),
        doi=ids.get("doi"), arxiv_id=ids.get("arxiv"), pubmed_id=ids.get("pubmed"), pmc_id=ids.get("pubmedcentral"),
        acl_id=ids.get("acl"), mag_id=ids.get("mag"), subjects=fields or paper.get("fieldsofstudy"),
        license=next(filter(None, licenses), None), open_access=paper.get("isopenaccess"), document=paper.get("publicationtypes"),
    ).normalize()  # fmt: skip
