"""Read the tables of one release in bounded memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

import pyarrow.compute as pc

from s2corpus.storage.lake import Lake
from s2corpus.storage.parts import NotCommitted, TableRef
from s2corpus.tables.intake import PDFS
from s2corpus.tables.papers import MEMBERS
from s2corpus.tables.schema import Table, paper_shard, pdf_shard

Row = dict[str, Any]


class Tables:
    """The tables of one release."""

    def __init__(self, lake: Lake, release: str) -> None:
        self.lake = lake
        self.release = release

    def __call__(self, table: Table) -> TableRef:
        """Return a reference to a table."""
        return TableRef(self.lake, f"releases/{self.release}/{table.name}", table)

    @cached_property
    def pdf_shards(self) -> int:
        """number of parts of the tables sharded by PDF"""
        return int(self(PDFS).committed().facts["pdf_shards"])

    @cached_property
    def paper_shards(self) -> int:
        """number of buckets of the tables sharded by paper"""
        return int(self(MEMBERS).committed().facts["paper_shards"])

    def rows(
        self,
        table: Table,
        where: pc.Expression | None,
        columns: Sequence[str] | None = None,
        shard: int | None = None,
        size: int = 1024,
    ) -> Iterator[Row]:
        """Yield matching rows in bounded memory; yield nothing if the stage has not run or has no such part."""
        try:
            for batch in self(table).batches(columns, shard=shard, where=where, rows=size):
                yield from batch.to_pylist()
        except NotCommitted:
            return

    def of_paper(self, table: Table, paper_id: str, columns: Sequence[str] | None = None) -> list[Row]:
        """Return the rows of a paper."""
        shard = paper_shard(paper_id, self.paper_shards)
        return list(self.rows(table, pc.field("paper_id") == paper_id, columns, shard, 64))

    def of_pdf(self, table: Table, sha1: str) -> list[Row]:
        """Return the rows of a PDF."""
        return list(self.rows(table, pc.field("file_sha1") == sha1, None, pdf_shard(sha1, self.pdf_shards)))


def list_columns(table: Table, *excluded: str) -> list[str]:
    """Return the columns of a table except the given columns."""
    return [c.name for c in table.columns if c.name not in excluded]
