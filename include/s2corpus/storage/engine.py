"""Where rows meet: SQL statements in DuckDB's dialect (`storage.statements`), and functions on Arrow tables.

A function makes the rows of a table from the rows of a statement: with `by`, from complete groups of rows with equal columns, in the
statement's order; with `by all`, from an iterator of all rows; otherwise from any part of the rows.

DuckDB runs everything on the cores of one machine and spills to scratch; Spark (`storage.spark`) runs the same statements and functions.
The order of rows comes from keys, never from the engine.
"""

from __future__ import annotations

import os
import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import reduce
from pathlib import Path
from typing import Any, Protocol

import duckdb
import pyarrow as pa
import pyarrow.compute as pc

from s2corpus.storage.duck import create_view, duckdb_connection
from s2corpus.storage.lake import Lake
from s2corpus.storage.parts import TableRef
from s2corpus.storage.statements import Statement, read_statements

ALL = ("all",)
_ROWS = 1 << 14
"""rows that a function gets, unless a group has more"""


class Engine(Protocol):
    """Runs statements over named tables."""

    def load(self, name: str, lake: Lake, keys: Sequence[str], schema: pa.Schema) -> None:
        """Make a table of Parquet files of the lake, which may be none. Statements read columns of `schema`."""

    def run(self, name: str, sql: str) -> None:
        """Make a table of the rows of a statement."""

    def map(self, name: str, statement: Statement, function: Callable[[Any], Any], schema: pa.Schema) -> None:
        """Make a table of the rows that a function returns for the rows of a statement."""

    def drop(self, name: str) -> None:
        """Remove a table that no later statement reads."""

    def fetch(self, sql: str) -> pa.Table:
        """Return the rows of a statement with a small result."""

    def write(self, ref: TableRef[Any], sql: str, order: str, parts: int) -> None:
        """Write the rows of a statement to the part that its column `part` names, in the given order."""


Functions = Mapping[str, tuple[Callable[[Any], Any], pa.Schema]]
"""functions by name, with the schema of their rows"""


def make_tables(
    engine: Engine, statements: Path, functions: Functions, names: Sequence[str], kept: Sequence[str], **parameters: int
) -> None:
    """Make tables by the statements of a file, in the given order. A table that is not kept is dropped after its last use.

    A name is `<statement>`, which also names the table, or `<table>: <statement>`.
    """
    found, pairs = read_statements(statements, **parameters), [name.split(": ") for name in names]
    steps = [(pair[0], found[pair[-1]]) for pair in pairs]
    last = {
        read: place
        for place, (name, statement) in enumerate(steps)
        for read in (name, *re.findall(r"(?:FROM|JOIN)\s+(\w+)", statement.sql))
    }
    for place, (name, statement) in enumerate(steps):
        if function := statement.function:
            engine.map(name, statement, *functions[function])
        else:
            engine.run(name, statement.sql)
        for unused in sorted({name for name, _ in steps[: place + 1]} - set(kept)):
            if last[unused] == place:
                engine.drop(unused)


class DuckEngine:
    """DuckDB."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, threads: int) -> None:
        self._connection, self._threads = connection, threads

    def load(self, name: str, lake: Lake, keys: Sequence[str], schema: pa.Schema) -> None:
        """Make a view of Parquet files of the lake."""
        if not keys:
            self.create(name, schema.empty_table())
            return
        filesystem, root = lake.filesystem()
        create_view(self._connection, name, [root + key for key in keys], filesystem)

    def create(self, name: str, rows: pa.Table) -> None:
        """Make a table of rows in memory."""
        self._connection.execute(f"CREATE OR REPLACE TABLE {name} AS FROM rows")

    def append(self, name: str, rows: pa.Table) -> None:
        """Add rows to a table."""
        self._connection.execute(f"INSERT INTO {name} FROM rows")

    def run(self, name: str, sql: str) -> None:
        """Make a table of the rows of a statement."""
        self._connection.execute(f"CREATE OR REPLACE TABLE {name} AS {sql}")

    def map(self, name: str, statement: Statement, function: Callable[[Any], Any], schema: pa.Schema) -> None:
        """Make a table of the rows of a function, which several threads call."""
        self.create(name, schema.empty_table())
        batches = self._batches(statement.sql)
        for found in apply(function, statement.by, batches, self._call_in_threads):
            self.append(name, found.select(schema.names).cast(schema))

    def drop(self, name: str) -> None:
        """Remove a table."""
        self._connection.execute(f"DROP TABLE {name}")

    def _call_in_threads(
        self, function: Callable[[pa.Table], pa.Table], tables: Iterable[pa.Table]
    ) -> Iterator[pa.Table]:
        with ThreadPoolExecutor(self._threads) as pool:
            running = deque[Any]()
            for table in tables:
                running.append(pool.submit(function, table))
                if len(running) > self._threads:
                    yield running.popleft().result()
            yield from (future.result() for future in running)

    def _batches(self, sql: str) -> Iterator[pa.RecordBatch]:
        with self._connection.cursor() as cursor:
            yield from cursor.execute(sql).to_arrow_reader(_ROWS)

    def fetch(self, sql: str) -> pa.Table:
        """Return the rows of a statement."""
        return self._connection.execute(sql).to_arrow_table()

    def write(self, ref: TableRef[Any], sql: str, order: str, parts: int) -> None:
        """Write the rows of a statement to parts."""
        written = set(write_parts(ref, self._batches(f"SELECT * FROM ({sql}) ORDER BY part, {order}")))
        write_empty_parts(ref, set(range(parts)) - written)


def apply(
    function: Callable[[Any], Any],
    by: Sequence[str],
    batches: Iterator[pa.RecordBatch],
    call: Callable[[Callable[[Any], Any], Iterable[pa.Table]], Iterable[pa.Table]] = map,
) -> Iterable[pa.Table]:
    """Return the tables that a function makes of rows."""
    if by == ALL:
        return function(pa.Table.from_batches([batch]) for batch in batches)  # type: ignore[no-any-return]
    return call(function, _divide(batches, by))


def _divide(batches: Iterator[pa.RecordBatch], by: Sequence[str]) -> Iterator[pa.Table]:
    """Yield tables of about `_ROWS` rows; rows with equal columns `by` follow each other and are not divided."""
    held: list[pa.RecordBatch] = []
    rows, limit = 0, _ROWS
    for batch in batches:
        held.append(batch)
        rows += len(batch)
        if rows < limit:
            continue
        table, cut = pa.Table.from_batches(held), rows
        if by:  # The last group may continue in the next batch.
            cut = pc.index(reduce(pc.and_, (pc.equal(table[name], table[name][-1]) for name in by)), True).as_py()
        if cut:
            yield table.slice(0, cut)
        held, rows = table.slice(cut).to_batches(), rows - cut
        limit = max(_ROWS, 2 * rows)
    if rows:
        yield pa.Table.from_batches(held)


def write_parts(ref: TableRef[Any], batches: Iterator[pa.RecordBatch]) -> Iterator[int]:
    """Write rows, sorted by their column `part`, to these parts of a table; yield the number of each part."""
    batch: pa.RecordBatch | None = next(batches, None)

    def read_part(part: int) -> Iterator[pa.RecordBatch]:
        nonlocal batch
        while batch is not None:
            end = pc.index(pc.not_equal(batch["part"], part), True).as_py()
            if end:
                yield batch.slice(0, end) if end > 0 else batch
            batch = batch.slice(end) if end >= 0 else next(batches, None)
            if end >= 0:
                return

    while batch is not None:
        if not len(batch):
            batch = next(batches, None)
            continue
        part = batch["part"][0].as_py()
        ref.write(part, read_part(part))
        yield part


def write_empty_parts(ref: TableRef[Any], parts: Iterable[int]) -> None:
    """Write the parts that have no rows."""
    for part in sorted(parts):
        ref.write(part, [])


@contextmanager
def open_duckdb(memory_mb: int, scratch: Path) -> Iterator[DuckEngine]:
    """Yield DuckDB with all cores. The interpreter, functions and their batches need three tenths of the memory."""
    threads = len(os.sched_getaffinity(0))
    with duckdb_connection(memory_mb=memory_mb * 7 // 10, scratch=scratch, threads=threads) as connection:
        yield DuckEngine(connection, threads)
