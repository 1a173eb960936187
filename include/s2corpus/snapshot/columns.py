"""List the columns of the Parquet files in a snapshot, for checks, the data card and Croissant."""

from __future__ import annotations

import pyarrow as pa

from s2corpus.snapshot.changes import ChangeRow, TombstoneRow
from s2corpus.snapshot.documents import PublishedDocumentRow
from s2corpus.snapshot.flat import COLUMNS
from s2corpus.snapshot.rows import IndexRow
from s2corpus.tables.schema import Column, columns_of

PUBLISHED: dict[str, tuple[Column, ...]] = {
    "documents": columns_of(PublishedDocumentRow),
    "index": columns_of(IndexRow),
    "changes": columns_of(ChangeRow),
    "tombstones": columns_of(TombstoneRow),
    **COLUMNS,
}
"""the columns of each kind of Parquet file; the files of `graph/` have the columns of the tables links and contexts"""


def describe_column(table: str, column: pa.Field) -> str | None:
    """Return the meaning of a column of a published table or set, or None if the snapshot does not define it."""
    if given := (column.metadata or {}).get(b"meaning"):
        return str(given.decode())
    columns = PUBLISHED.get(table, PUBLISHED["documents"])
    return next((c.meaning for c in columns if c.name == column.name), None)
