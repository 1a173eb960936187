"""Semantic Scholar Academic Graph: papers of the datasets and of the API (JSONL)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO, Any

from s2corpus.sources.build import RawRecord
from s2corpus.sources.record import Dropped, Entry, RecordKind, RejectReason
from s2corpus.sources.streams import json_objects
from s2orc_parse.bibliography.names import parse_names

NAME = "s2"
KIND = RecordKind.ARCHIVE


def read(stream: IO[bytes]) -> Iterator[Entry]:
    """Yield the records of the papers, by corpus id; the datasets write keys in lower case, the API in camel case."""
    for item in json_objects(stream):
        yield (
            item
            if isinstance(item, Dropped)
            else _entry({key.lower(): value for key, value in item[1].items()}, item[0])
        )


def _entry(paper: dict[str, Any], where: str) -> Entry:
    external = paper.get("externalids")
    ids = {key.lower(): value for key, value in external.items()} if isinstance(external, dict) else {}
    native = paper.get("corpusid") or ids.get("corpusid")
    if not isinstance(native, int | str) or isinstance(native, bool) or not str(native).strip():
        return Dropped(RejectReason.NO_ID, where, "no corpusid")
    journal, authors = paper.get("journal"), paper.get("authors")
    journal = journal if isinstance(journal, dict) else {}
    fields = paper.get("s2fieldsofstudy")
    found = [field.get("category") for field in fields if isinstance(field, dict)] if isinstance(fields, list) else []
    pdf = paper.get("openaccesspdf")
    return RawRecord(
        f"{NAME}:{native}", NAME, KIND, str(native),
        title=paper.get("title"),
        authors=parse_names(str(a.get("name") or "") for a in authors if isinstance(a, dict)) if isinstance(authors, list) else [],
        date=paper.get("publicationdate") or paper.get("year"), venue=paper.get("venue"),
        journal=journal.get("name"), volume=journal.get("volume"), pages=journal.get("pages"), abstract=paper.get("abstract"),
        doi=ids.get("doi"), arxiv_id=ids.get("arxiv"), pubmed_id=ids.get("pubmed"), pmc_id=ids.get("pubmedcentral"),
        acl_id=ids.get("acl"), mag_id=ids.get("mag"), subjects=found or paper.get("fieldsofstudy"),
        licence=pdf.get("license") if isinstance(pdf, dict) else None, open_access=paper.get("isopenaccess"),
    ).normalize()  # fmt: skip
