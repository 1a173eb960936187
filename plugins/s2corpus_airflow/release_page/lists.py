"""Find papers and PDFs by a query, and list rows by outcome."""

from __future__ import annotations

import re
from itertools import islice

import pyarrow as pa
import pyarrow.compute as pc

from s2corpus.pipeline.run import ReleaseTables, Row, list_columns
from s2corpus.pipeline.stages import PIPELINE
from s2corpus.tables.intake import PDFS
from s2corpus.tables.papers import CLUSTERS, PAPERS
from s2corpus.tables.schema import TABLES, Table, paper_shard

PAGE = 25
"""rows on one page of a list"""
MOST_FOUND = 50
"""maximum number of papers in a search result"""

REJECTS = {row.name: row.outcomes[0] for row in PIPELINE if row.outcomes and row.name != "link"}
"""stage → column with its outcomes; the entries of link are on the pages of their papers"""


def find_papers(tables: ReleaseTables, query: str) -> tuple[str, str] | list[Row]:
    """Find papers by an id, a SHA-1, a record id, a DOI or a part of the title.

    Return ("paper", id) or ("pdf", sha1) if the query is an id. Otherwise, return the rows of at most MOST_FOUND papers.
    """
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
    return list(islice(tables.rows(PAPERS, where, ["paper_id", "title", "date", "doi"]), MOST_FOUND))


def list_rejects(
    tables: ReleaseTables, stage: str, outcome: str, set_: str = "", page: int = 1
) -> tuple[list[Row], bool]:
    """Return one page of the rows with an outcome, and whether more rows follow.

    Each row has `name`, the title or the file name.
    """
    table, column = TABLES[REJECTS[stage].table], REJECTS[stage].column
    where = pc.field(column) == outcome
    if set_:
        where &= pc.field("set") == set_
    first = (page - 1) * PAGE
    found = list(islice(tables.rows(table, where, list_columns(table, "text")), first, first + PAGE + 1))
    return _add_names(tables, table, found[:PAGE]), len(found) > PAGE


def _add_names(tables: ReleaseTables, table: Table, rows: list[Row]) -> list[Row]:
    """Add `name` to each row: the title of the paper, or the drops and file names of the PDF. Return the rows."""
    if table.shards == "pdf":
        for row in rows:
            pdf = next(iter(tables.of_pdf(PDFS, row["file_sha1"])), None)
            row["name"] = "; ".join(f"{p['drop']}/{p['name']}" for p in pdf["places"]) if pdf else ""
    elif table.shards == "paper":
        for shard in {paper_shard(row["paper_id"], tables.paper_shards) for row in rows}:
            ids = pa.array([row["paper_id"] for row in rows], pa.string())
            papers = tables.rows(PAPERS, pc.field("paper_id").isin(ids), ["paper_id", "title"], shard)
            titles = {row["paper_id"]: row["title"] for row in papers}
            for row in rows:
                if row["paper_id"] in titles:
                    row["name"] = titles[row["paper_id"]] or ""
    return rows
