"""Writing and reading the Parquet files of a snapshot so that equal rows give equal bytes. Needs the extra `arrow`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq


def parquet_writer(path: Path, schema: pa.Schema) -> pq.ParquetWriter:
    """How every Parquet file is written. Statistics are of the first column only, by which rows are sorted: of the others a footer
    would say as much for each row group, and every look-up reads the footer."""
    return pq.ParquetWriter(path, schema, compression="zstd", write_statistics=[schema.names[0]])


def write_groups(table: pa.Table, groups: Sequence[int], target: Path) -> None:
    """Write a table in row groups of the given numbers of rows."""
    with parquet_writer(target, table.schema) as writer:
        start = 0
        for count in groups:
            writer.write_table(table.slice(start, count).combine_chunks(), row_group_size=count)
            start += count


def as_written(table: pa.Table) -> pa.Table:
    """Return a table with the schema that its file was written with: reading renames the items of lists and numbers the fields."""
    return table.cast(pa.schema([_field(field) for field in table.schema], table.schema.metadata))


def _field(field: pa.Field) -> pa.Field:
    metadata = {name: value for name, value in (field.metadata or {}).items() if name != b"PARQUET:field_id"}
    return pa.field(field.name, _type(field.type), field.nullable, metadata or None)


def _type(type_: pa.DataType) -> pa.DataType:
    if pa.types.is_list(type_):
        return pa.list_(_type(type_.value_type))
    if pa.types.is_struct(type_):
        return pa.struct([_field(field) for field in type_])
    return type_
