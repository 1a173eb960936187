"""Write `keys/<nn>.parquet`, which maps identifiers, SHA-1s and titles to papers.

A key is a hash. The file number is the key modulo the number of files, and each file is sorted by key. A look-up therefore reads
one row group, regardless of the size of the snapshot.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from s2corpus.snapshot.documents import IDENTIFIERS
from s2corpus.snapshot.rows import write_groups
from s2corpus.titles import normalise_one
from s2corpus_reader.files import lookup_key

SCHEMA = pa.schema([pa.field("key", pa.int64(), nullable=False), pa.field("paper_id", pa.string(), nullable=False)])
"""Columns of the key files. A title may have several papers; an identifier rarely has more than one."""
ROW_GROUP = 2048
"""Rows per row group (about 35 KB). One look-up reads one row group."""

_FILE = "SELECT DISTINCT key, paper_id FROM keys WHERE key % ? = ? ORDER BY ALL"


def hash_identifiers(paper: Mapping[str, Any]) -> Iterator[int]:
    """Yield the keys of the identifiers and the title of a paper."""
    yield from (lookup_key(name, paper[name]) for name in IDENTIFIERS if paper[name])
    if paper["title"] and (title := normalise_one(paper["title"])):
        yield lookup_key("title", title)


def hash_sha1(row: Mapping[str, Any]) -> Iterator[int]:
    """Yield the key of the SHA-1 of the file behind a document, if it has one."""
    if row["sha1"]:
        yield lookup_key("sha1", row["sha1"])


def write(connection: duckdb.DuckDBPyConnection, number: int, files: int, local: Path) -> int:
    """Write one file from the table `keys` of a connection. Return the number of rows."""
    batches = connection.execute(_FILE, [files, number]).to_arrow_reader(ROW_GROUP)
    return write_groups(local, SCHEMA, batches, ROW_GROUP)
