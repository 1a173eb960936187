"""Read the tables of one release in bounded memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any, TypeVar

import pyarrow.compute as pc

from s2corpus.storage.lake import Lake
from s2corpus.storage.parts import NotCommitted, TableRef
from s2corpus.tables.intake import PDFS
from s2corpus.tables.papers import MEMBERS
from s2corpus.tables.schema import Table, paper_shard, pdf_shard

Row = dict[str, Any]
TableRow = TypeVar("TableRow")


class ReleaseTables:
    """The tables of one release in `releases/<release>/`, or of a batch of drops in its own folder."""

    def __init__(self, lake: Lake, release: str, batch_folder: str | None = None) -> None:
        self.lake = lake
        self.folder = batch_folder or f"releases/{release}"
        self._refs: dict[str, TableRef[Any]] = {}

    def __call__(self, table: Table[TableRow]) -> TableRef[TableRow]:
        """Return a table. Cached, so that its commit is read once and a task always uses the same commit."""
        if table.name not in self._refs:
            self._refs[table.name] = TableRef(self.lake, f"{self.folder}/{table.name}", table)
        return self._refs[table.name]

    @cached_property
    def pdf_shards(self) -> int:
        """Number of parts of every table sharded by `pdf`; intake determines it from the number of PDFs."""
        return int(self(PDFS).committed().facts["pdf_shards"])

    @cached_property
    def paper_shards(self) -> int:
        """Number of buckets of every table sharded by `paper`; cluster determines it from the number of papers."""
        return int(self(MEMBERS).committed().facts["paper_shards"])

    def rows(
        self,
        table: Table,
        where: pc.Expression | None,
        columns: Sequence[str] | None = None,
        shard: int | None = None,
        size: int = 1024,
    ) -> Iterator[Row]:
        """Yield matching rows; yield nothing if the stage has not run or has no such part. `size` rows are in memory."""
        try:
            yield from self(table).rows(columns, shard=shard, where=where, at_once=size)
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
