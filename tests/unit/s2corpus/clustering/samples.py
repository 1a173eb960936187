"""Records and their clusters; tables of cases are clustered in one call."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from random import Random
from string import ascii_lowercase, ascii_uppercase
from typing import Any, TypeVar

import pyarrow as pa

from s2corpus.sources import Record, RecordKind
from s2corpus.sources.arrow import batches
from s2corpus.stages.cluster import Clustering, cluster_records
from s2corpus.tables.intake import RECORDS
from s2corpus.titles.rules import is_generic
from s2orc_parse.bibliography.names import parse_authors

Row = dict[str, Any]
T = TypeVar("T")
TITLE = "Deep parsing of scientific papers"
A = "a" * 40


def record(
    record_id: str, title: str | None = TITLE, authors: str = "Ada Lovelace", year: int | None = 2020, **fields: Any
) -> Record:
    """Return a record with the given fields."""
    kind = fields.pop("kind", RecordKind.ARCHIVE)
    source = fields.pop("source", record_id.partition(":")[0])
    date: Row = {"date": str(year), "date_precision": "year"} if year else {}
    return Record(record_id, source, kind, title=title, authors=parse_authors(authors), **date, **fields)


def pdf(
    record_id: str, title: str | None = TITLE, authors: str = "Ada Lovelace", year: int | None = 2020, **fields: Any
) -> Record:
    """Return the record of a PDF."""
    return record(record_id, title, authors, year, kind=RecordKind.PDF, **fields)


def cluster_all(*records: Record) -> Clustering:
    """Cluster these records."""
    return cluster_records(pa.Table.from_batches(batches(records), schema=RECORDS.schema))


def partition(found: Clustering) -> set[frozenset[str]]:
    """Return the clusters as sets of record ids."""
    return _partition(found.clusters.to_pylist())


def _partition(rows: Iterable[Row]) -> set[frozenset[str]]:
    groups: dict[str, set[str]] = {}
    for row in rows:
        groups.setdefault(row["paper_id"], set()).add(row["record_id"])
    return {frozenset(group) for group in groups.values()}


@dataclass
class Outcome:
    """The clusters and edges of one case."""

    papers: set[frozenset[str]]
    edges: list[Row]


def cluster_cases(cases: Iterable[Sequence[Record]]) -> list[Outcome]:
    """Cluster the records of all cases in one call. A case has its own ids, identifiers and alphabet, so no records of two cases join."""
    given = [[_separate(one, number) for one in case] for number, case in enumerate(cases)]
    found = cluster_all(*(one for case in given for one in case))
    rows: list[list[Row]] = [[] for _ in given]
    edges: list[list[Row]] = [[] for _ in given]
    for row in found.clusters.to_pylist():
        record_id, _, case = row["record_id"].partition("~")
        rows[int(case)].append({**row, "record_id": record_id})
    for edge in found.edges.to_pylist():
        left, _, case = edge["left"].partition("~")
        edges[int(case)].append({**edge, "left": left, "right": edge["right"].partition("~")[0]})
    return [Outcome(_partition(case), own) for case, own in zip(rows, edges, strict=True)]


def assert_joined(table: Sequence[tuple[T, bool]], records: Callable[[T], Sequence[Record]]) -> None:
    """Check for each row whether its records are one paper."""
    cases = [case for case, _ in table]
    found = cluster_cases(records(case) for case in cases)
    assert [(case, len(one.papers) == 1) for case, one in zip(cases, found, strict=True)] == list(table)


def _separate(one: Record, case: int) -> Record:
    """Return a record with ids and letters of its case.

    Short words remain, because they may be numerals. Generic titles remain, but their authors differ.
    """
    letters = "".join(Random(case).sample(ascii_lowercase, 26))
    alphabet = str.maketrans(ascii_lowercase + ascii_uppercase, letters + letters.upper())

    def translate(text: str) -> str:
        return " ".join(word.translate(alphabet) if len(word) > 4 else word for word in text.split(" "))

    names = ("doi", "arxiv_id", "pubmed_id", "pmc_id", "acl_id")
    changes: Row = {name: f"{value}{case:03d}" for name in names if (value := getattr(one, name))}
    if one.file_sha1:
        changes["file_sha1"] = f"{one.file_sha1[:37]}{case:03d}"
    if one.title and is_generic(one.title):
        changes["authors"] = tuple(replace(author, last=translate(author.last)) for author in one.authors)
    elif one.title:
        changes["title"] = translate(one.title)
    return replace(one, record_id=f"{one.record_id}~{case}", **changes)
