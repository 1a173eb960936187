"""Read the papers and entries of a release with the columns that linking compares."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from s2corpus.pipeline.run import Run
from s2corpus.tables.papers import PAPERS
from s2corpus.tables.texts import ENTRIES, FILTERED
from s2corpus.titles.facts import IDENTIFIERS, PLACES, first_surname

_ENTRY_COLUMNS = ("paper_id", "parse_kind", "ref_id", "title", "year", "venue", "volume", "pages", *IDENTIFIERS)
_FIRST_AUTHOR = ("authors.list.element.first", "authors.list.element.last")
"""columns of authors that are read; authors have many more"""


def read_papers(run: Run, bucket: int) -> pa.Table:
    """Read the kept papers of a bucket."""
    outcomes = run.table(FILTERED).read_leaves(["paper_id", "outcome"], shard=bucket)
    columns = ["paper_id", "title", "date", *_FIRST_AUTHOR, "venue", *PLACES, *IDENTIFIERS]
    papers = run.table(PAPERS).read_leaves(columns, shard=bucket)
    papers = papers.append_column("surname", first_surname(papers["authors"])).drop_columns(["authors"])
    kept = outcomes["paper_id"].filter(pc.equal(outcomes["outcome"], "kept"))
    papers = papers.filter(pc.is_in(papers["paper_id"], kept.combine_chunks()))
    return (
        papers.append_column("year", pc.utf8_slice_codeunits(papers["date"], 0, 4).cast(pa.int32()))
        .set_column(papers.column_names.index("journal"), "journal", pc.coalesce(papers["journal"], papers["venue"]))
        .drop_columns(["date", "venue"])
    )


def read_entries(run: Run, bucket: int) -> pa.Table:
    """Read the entries of a bucket."""
    return _rename(run.table(ENTRIES).read_leaves([*_ENTRY_COLUMNS, *_FIRST_AUTHOR], shard=bucket))


def read_entries_where(run: Run, where: pc.Expression) -> pa.Table:
    """Read the entries of all buckets that meet a condition."""
    return _rename(run.table(ENTRIES).read([*_ENTRY_COLUMNS, "authors"], where=where))


def _rename(entries: pa.Table) -> pa.Table:
    return (
        entries.append_column("surname", first_surname(entries["authors"]))
        .drop_columns(["authors"])
        .rename_columns({"paper_id": "citing_paper_id", "venue": "journal"})
    )
