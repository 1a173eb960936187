"""Which paper an identifier, a SHA-1 or a title is of: `keys/<nn>.parquet`. A look-up reads one row group, however large a snapshot is.

A key is a hash, its file is the key modulo the number of files, and a file is sorted by it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from s2corpus.snapshot.documents import IDENTIFIERS
from s2corpus.titles.normalised import normalise_one
from s2corpus_reader.files import lookup_key
from s2corpus_reader.parquet import parquet_writer

SCHEMA = pa.schema([pa.field("key", pa.int64(), nullable=False), pa.field("paper_id", pa.string(), nullable=False)])
"""Of one title there may be several papers, of one identifier there is hardly ever more than one."""
ROW_GROUP = 2048
"""Rows of a row group: some 35 KB, what one look-up reads."""

_FILE = "SELECT DISTINCT key, paper_id FROM keys WHERE key % ? = ? ORDER BY ALL"


def of_paper(paper: Mapping[str, Any]) -> Iterator[int]:
    """The keys of a paper's identifiers and title."""
    yield from (lookup_key(name, paper[name]) for name in IDENTIFIERS if paper[name])
    if paper["title"] and (title := normalise_one(paper["title"])):
        yield lookup_key("title", title)


def of_document(row: Mapping[str, Any]) -> Iterator[int]:
    """The key of the SHA-1 of the file that a document's text is from."""
    if row["sha1"]:
        yield lookup_key("sha1", row["sha1"])


def write(connection: duckdb.DuckDBPyConnection, number: int, files: int, local: Path) -> int:
    """Write one file from the table `keys` of a connection; its rows."""
    count = 0
    with parquet_writer(local, SCHEMA) as writer:
        for batch in connection.execute(_FILE, [files, number]).to_arrow_reader(ROW_GROUP):
            count += batch.num_rows
            if batch.num_rows:
                writer.write_table(pa.Table.from_batches([batch]).cast(SCHEMA), row_group_size=ROW_GROUP)
    return count
