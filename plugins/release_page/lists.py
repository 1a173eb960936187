"""Papers and PDFs found and listed: by a query, by the reason they were left out for, as a sample of the kept ones."""

from __future__ import annotations

import re

import pyarrow as pa
import pyarrow.compute as pc

from s2corpus.pipeline.release_tables import Row, Tables, list_columns
from s2corpus.storage.parts import NotCommitted
from s2corpus.tables import (
    CLUSTERS,
    DELIVERIES,
    DOCUMENTS,
    EXTRACTIONS,
    FILTERED,
    PAPERS,
    PARSES,
    PDFS,
    SELECTIONS,
    SPLITS,
    Table,
    paper_shard,
)

PAGE = 25
"""rows a page of the reader"""
MOST_FOUND = 50
"""papers that a search by title shows"""

REJECTS: dict[str, tuple[Table, str]] = {
    "intake": (DELIVERIES, "outcome"),
    "select": (SELECTIONS, "outcome"),
    "extract": (EXTRACTIONS, "outcome"),
    "postprocess": (PARSES, "outcome"),
    "filter": (FILTERED, "outcome"),
    "clean": (DOCUMENTS, "outcome"),
    "split": (SPLITS, "split"),
}
"""Where a stage's outcomes are kept, one row each."""


def find(tables: Tables, query: str) -> tuple[str, str] | list[Row]:
    """What a query means: ("paper", id), ("pdf", sha1), or papers whose DOI it is or whose titles hold it."""
    query = query.strip()
    if re.fullmatch("[0-9a-f]{15}", query):
        return "paper", query
    if re.fullmatch("[0-9a-fA-F]{40}", query):
        return "pdf", query.lower()
    if ":" in query:
        found = next(tables.rows(CLUSTERS, pc.field("record_id") == query, ["record_id", "paper_id"]), None)
        if found:
            return "paper", found["paper_id"]
    where = pc.match_substring(pc.field("title"), query, ignore_case=True)
    if re.match(r"10\.\d{4,9}/", query):
        where = pc.field("doi") == query.lower()
    rows = []
    for row in tables.rows(PAPERS, where, ["paper_id", "title", "date", "doi"]):
        rows.append(row)
        if len(rows) == MOST_FOUND:
            break
    return rows


def rejects(tables: Tables, stage: str, outcome: str, set_: str = "", page: int = 1) -> tuple[list[Row], bool]:
    """A page of the rows with one outcome, each with the title or file name it has, and whether there are more."""
    table, column = REJECTS[stage]
    where = pc.field(column) == outcome
    if set_:
        where &= pc.field("set") == set_
    found: list[Row] = []
    first = (page - 1) * PAGE
    for index, row in enumerate(tables.rows(table, where, list_columns(table, "text"))):
        if index == first + PAGE:
            return _named(tables, table, found), True
        if index >= first:
            found.append(row)
    return _named(tables, table, found), False


def sample(tables: Tables, set_: str, page: int = 1) -> tuple[list[Row], int]:
    """Kept documents of one bucket of papers (which is a fair sample, ids being hashes), and how many buckets there are."""
    kept = (pc.field("set") == set_) & (pc.field("outcome") == "kept")
    columns = ["set", "paper_id", "outcome", "words", "paragraphs"]
    try:
        bucket = (page - 1) % tables.paper_shards
    except NotCommitted:
        return [], 0
    found: list[Row] = []
    for row in tables.rows(DOCUMENTS, kept, columns, bucket):
        found.append(row)
        if len(found) == PAGE:
            break
    return _named(tables, DOCUMENTS, found), tables.paper_shards


def _named(tables: Tables, table: Table, rows: list[Row]) -> list[Row]:
    """Rows with `name`: the title of the paper, or where the PDF was delivered."""
    if table.shards == "pdf":
        for row in rows:
            pdf = next(iter(tables.of_pdf(PDFS, row["file_sha1"])), None)
            row["name"] = "; ".join(f"{p['drop']}/{p['name']}" for p in pdf["places"]) if pdf else ""
    elif table.shards == "paper":
        for shard in {paper_shard(row["paper_id"], tables.paper_shards) for row in rows}:
            ids = pa.array([row["paper_id"] for row in rows], pa.string())
            named = tables.rows(PAPERS, pc.field("paper_id").isin(ids), ["paper_id", "title"], shard)
            titles = {row["paper_id"]: row["title"] for row in named}
            for row in rows:
                if row["paper_id"] in titles:
                    row["name"] = titles[row["paper_id"]] or ""
    return rows
