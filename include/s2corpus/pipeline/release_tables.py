"""The tables of one release, read in bounded memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

import pyarrow.compute as pc

from s2corpus.storage.lake import Lake
from s2corpus.storage.parts import NotCommitted, TableRef
from s2corpus.tables import MEMBERS, PDFS, Table, paper_shard, pdf_shard

Row = dict[str, Any]


class Tables:
    """The tables of one release."""

    def __init__(self, lake: Lake, release: str) -> None:
        self.lake = lake
        self.release = release

    def __call__(self, table: Table) -> TableRef:
        """A table."""
        return TableRef(self.lake, f"releases/{self.release}/{table.name}", table)

    @cached_property
    def pdf_shards(self) -> int:
        """Parts of the tables by PDF."""
        return int(self(PDFS).committed().facts["pdf_shards"])

    @cached_property
    def paper_shards(self) -> int:
        """Buckets of the tables by paper."""
        return int(self(MEMBERS).committed().facts["paper_shards"])

    def rows(
        self,
        table: Table,
        where: pc.Expression | None,
        columns: Sequence[str] | None = None,
        shard: int | None = None,
        size: int = 1024,
    ) -> Iterator[Row]:
        """Rows as they are found, in bounded memory; none where the stage has not run or has no such part."""
        try:
            for batch in self(table).batches(columns, shard=shard, where=where, rows=size):
                yield from batch.to_pylist()
        except NotCommitted:
            return

    def of_paper(self, table: Table, paper_id: str, columns: Sequence[str] | None = None) -> list[Row]:
        """A paper's rows."""
        shard = paper_shard(paper_id, self.paper_shards)
        return list(self.rows(table, pc.field("paper_id") == paper_id, columns, shard, 64))

    def of_pdf(self, table: Table, sha1: str) -> list[Row]:
        """A PDF's rows."""
        return list(self.rows(table, pc.field("file_sha1") == sha1, None, pdf_shard(sha1, self.pdf_shards)))


def names(table: Table, *without: str) -> list[str]:
    """The columns of a table, without some."""
    return [c.name for c in table.columns if c.name not in without]
