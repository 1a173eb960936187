"""Tables between an engine and this process: whole to the engine, and back some rows at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from s2corpus.storage.engine import Engine
from s2corpus.storage.lake import Lake

SHARE = 1 << 20
"""Rows that are here at once."""


def schema_of(*kinds: tuple[str, str]) -> pa.Schema:
    """A schema from names, with a blank between, by type."""
    return pa.schema([(name, pa.type_for_alias(kind)) for kind, names in kinds for name in names.split()])


@dataclass(frozen=True)
class Work:
    """An engine, and where tables are put for it to read."""

    at_work: Engine
    lake: Lake
    prefix: str
    scratch: Path

    def given(self, name: str, schema: pa.Schema, tables: Iterable[pa.Table]) -> Any:
        """Rows from here as a DataFrame."""
        path, key = self.scratch / f"{name}.parquet", f"{self.prefix}/{name}.parquet"
        with pq.ParquetWriter(path, schema) as writer:
            for table in tables:
                writer.write_table(table.select(schema.names).cast(schema))
        self.lake.upload(key, path)
        path.unlink()
        return self.at_work.read([self.lake.uri(key)])

    def kept(self, name: str, schema: pa.Schema, frame: Any) -> Any:
        """A DataFrame computed once."""
        if self.at_work.name != "duckdb":
            return frame.select(*schema.names).localCheckpoint()
        return self.given(name, schema, [self.at_work.arrow(frame, schema)])

    def taken(self, frame: Any, schema: pa.Schema, by: str) -> Iterator[pa.Table]:
        """The rows, some at a time: those with one value of `by` (an integer) together."""
        shares = -(-frame.count() // SHARE)
        for share in range(shares):
            yield self.at_work.arrow(frame.where(self.at_work.functions.col(by) % shares == share), schema)


def side_of(f: Any, frame: Any, side: str, on: list[str], columns: str) -> Any:
    """A frame's columns with the name of one side of a pair."""
    return frame.select(*on, *(f.col(name).alias(f"{name}_{side}") for name in columns.split()))
