"""Write and read the Parquet files of a snapshot so that equal rows give equal bytes. Needs the extra `arrow`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq


def parquet_writer(path: Path, schema: pa.Schema) -> pq.ParquetWriter:
    """Open a writer with the settings of all Parquet files of a snapshot.

    Rows are sorted by the first column, and only that column has statistics. Statistics of all columns would enlarge
    the footer, which every look-up reads.
    """
    return pq.ParquetWriter(path, schema, compression="zstd", write_statistics=[schema.names[0]])


def write_groups(table: pa.Table, groups: Sequence[int], target: Path) -> None:
    """Write a table in row groups with the given numbers of rows."""
    with parquet_writer(target, table.schema) as writer:
        start = 0
        for count in groups:
            writer.write_table(table.slice(start, count).combine_chunks(), row_group_size=count)
            start += count


def restore_schema(table: pa.Table) -> pa.Table:
    """Return a table with the schema of its file: reading renames the items of lists and adds field numbers."""
    return table.cast(pa.schema([_restore_field(field) for field in table.schema], table.schema.metadata))


def _restore_field(field: pa.Field) -> pa.Field:
    metadata = {name: value for name, value in (field.metadata or {}).items() if name != b"PARQUET:field_id"}
    return pa.field(field.name, _restore_type(field.type), field.nullable, metadata or None)


def _restore_type(type_: pa.DataType) -> pa.DataType:
    if pa.types.is_list(type_):
        return pa.list_(_restore_type(type_.value_type))
    if pa.types.is_struct(type_):
        return pa.struct([_restore_field(field) for field in type_])
    return type_
