"""S2ORC: the metadata of release 20200705, JSON lines. The same source as `s2ag`. Ids: `s2:<id>`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO, Any

from s2corpus.sources.build import RawRecord
from s2corpus.sources.json_objects import parse_objects
from s2corpus.sources.json_values import read_id
from s2corpus.sources.jsonl import read_authors
from s2corpus.sources.record import Dropped, Entry, RecordKind, RejectReason

NAME = "s2"  # the same source as s2ag, because paper_id is the corpus id
KIND = RecordKind.ARCHIVE


def read(stream: IO[bytes]) -> Iterator[Entry]:
    """Yield the records of the papers."""
    return parse_objects(stream, _parse)


def _parse(paper: dict[str, Any], where: str) -> Entry:
    native = read_id(paper.get("paper_id"))
    if native is None:
        return Dropped(RejectReason.NO_ID, where, "no paper_id")
    pdf = paper.get("pdf_hash") or paper.get("_pdf_hash")
    return RawRecord(
        f"{NAME}:{native}", NAME, KIND, native,
        title=paper.get("title"), authors=read_authors(paper.get("authors")), date=paper.get("year"), venue=paper.get("venue"),
        journal=paper.get("journal"), abstract=paper.get("abstract"), doi=paper.get("doi"), arxiv_id=paper.get("arxiv_id"),
        pubmed_id=paper.get("pubmed_id"), pmc_id=paper.get("pmc_id"), acl_id=paper.get("acl_id"), mag_id=paper.get("mag_id"),
        file_sha1=pdf, subjects=paper.get("mag_field_of_study"),
    ).normalize()  # fmt: skip
