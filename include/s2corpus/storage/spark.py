"""Spark as an engine: sqlglot translates the statements, and `mapInArrow` calls the functions.

Executors need this package, and the lake's credentials in their environment, but no further jars: our own functions read and write the
lake. Spark moves the rows. Each table is stored in the lake, so a lost executor costs only its running tasks, and plans remain short.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from s2corpus.errors import UserError
from s2corpus.storage.engine import ALL, apply, write_empty_parts, write_parts
from s2corpus.storage.lake import Lake, open_lake
from s2corpus.storage.parts import TableRef
from s2corpus.storage.statements import Statement

_BATCH_ROWS = 4096


class SparkEngine:
    """A Spark session, classic or Connect. Its tables are files in a folder of the lake."""

    def __init__(self, session: Any, lake: Lake, folder: str) -> None:
        # Few rows get few partitions, so that each has many.
        session.conf.set("spark.sql.adaptive.coalescePartitions.parallelismFirst", "false")
        self._session, self._lake, self._folder = session, lake, folder
        self._views: dict[str, str] = {}
        self._numbers = count()

    def load(self, name: str, lake: Lake, keys: Sequence[str], schema: pa.Schema) -> None:
        """Make a table of Parquet files of the lake, which executors read."""
        from pyspark.sql.pandas.types import from_arrow_schema

        uri = lake.root

        def read(batches: Iterator[Any]) -> Iterator[Any]:
            fs, root = open_lake(uri).filesystem()
            for batch in batches:
                for place in batch.column(0).to_pylist():
                    with fs.open_input_file(root + keys[place]) as file:
                        for rows in pq.ParquetFile(file).iter_batches(_BATCH_ROWS, columns=schema.names):
                            yield rows.select(schema.names).cast(schema)

        files = self._session.range(0, len(keys), 1, max(len(keys), 1))
        view = f"{name}_{next(self._numbers)}"
        files.mapInArrow(read, from_arrow_schema(schema)).createOrReplaceTempView(view)
        self._views[name] = view

    def run(self, name: str, sql: str) -> None:
        """Make a table of the rows of a statement."""
        self._store(name, self._session.sql(self._translate(sql)))

    def map(self, name: str, statement: Statement, function: Callable[[Any], Any], schema: pa.Schema) -> None:
        """Make a table of the rows of a function."""
        from pyspark.sql.pandas.types import from_arrow_schema

        by = statement.by

        def call(batches: Iterator[Any]) -> Iterator[Any]:
            for table in apply(function, by, batches):
                yield from table.select(schema.names).cast(schema).to_batches(_BATCH_ROWS)

        rows = self._session.sql(self._translate(statement.sql, () if by == ALL else by))
        self._store(name, (rows.repartition(1) if by == ALL else rows).mapInArrow(call, from_arrow_schema(schema)))

    def drop(self, name: str) -> None:
        """Delete the files of a table."""
        self._delete(f"{self._folder}/{name}/")

    def fetch(self, sql: str) -> pa.Table:
        """Return the rows of a statement."""
        return self._session.sql(self._translate(sql)).toArrow()

    def write(self, ref: TableRef[Any], sql: str, order: str, parts: int) -> None:
        """Write the rows of a statement to parts on the executors."""
        uri, prefix, table = ref.lake.root, ref.prefix, ref.table

        def write(batches: Iterator[Any]) -> Iterator[Any]:
            for part in write_parts(TableRef(open_lake(uri), prefix, table), batches):
                yield pa.RecordBatch.from_pydict({"part": pa.array([part], pa.int64())})

        rows = self._session.sql(self._translate(f"SELECT * FROM ({sql}) ORDER BY part, {order}", ("part",)))
        written = rows.mapInArrow(write, "part long").toArrow()["part"].to_pylist()
        write_empty_parts(ref, set(range(parts)) - set(written))

    def _translate(self, sql: str, by: Sequence[str] = ()) -> str:
        """Return a statement in Spark's dialect; rows with equal columns `by` are in one partition, which has the statement's order."""
        import sqlglot
        from sqlglot import exp

        tree = sqlglot.parse_one(sql, read="duckdb")
        for table in tree.find_all(exp.Table):
            if table.name in self._views:
                if not table.alias:
                    table.set("alias", exp.TableAlias(this=exp.to_identifier(table.name)))
                table.set("this", exp.to_identifier(self._views[table.name]))
        order = tree.args.pop("order", None) if by else None
        text = tree.sql("spark")
        if order:
            keys = ", ".join(key.sql("spark") for key in order.expressions)
            text = f"SELECT * FROM ({text}) DISTRIBUTE BY {', '.join(by)} SORT BY {keys}"
        return text

    def _store(self, name: str, rows: Any) -> None:
        """Write rows to files, and make a table of them. A repeated task writes its file again."""
        from pyspark.sql.pandas.types import to_arrow_schema

        uri, prefix, schema = (
            self._lake.root,
            f"{self._folder}/{name}/{next(self._numbers)}",
            to_arrow_schema(rows.schema),
        )

        def write(batches: Iterator[Any]) -> Iterator[Any]:
            from pyspark import TaskContext

            first = next((batch for batch in batches if len(batch)), None)
            if first is None:
                return
            task = TaskContext.get()
            key = f"{prefix}/{task.partitionId() if task else 0:05d}"
            with tempfile.TemporaryDirectory(prefix="s2corpus-spark-") as folder:
                path = Path(folder) / "rows"
                with pq.ParquetWriter(path, schema, compression="zstd") as writer:
                    writer.write(first.cast(schema))
                    for batch in batches:
                        writer.write(batch.cast(schema))
                open_lake(uri).upload(key, path)
            yield pa.RecordBatch.from_pydict({"key": pa.array([key])})

        keys = rows.mapInArrow(write, "key string").toArrow()["key"].to_pylist()
        self.load(name, self._lake, sorted(keys), schema)

    def remove_tables(self) -> None:
        """Delete the files of all tables."""
        self._delete(f"{self._folder}/")

    def _delete(self, prefix: str) -> None:
        for entry in self._lake.list(prefix):
            self._lake.delete(entry.key)


@contextmanager
def open_spark(name: str, memory_mb: int, lake: Lake, folder: str) -> Iterator[SparkEngine]:
    """Yield the engine of a Spark: `local[<cores>]`, `spark://<host>:<port>` or `sc://<host>:<port>`; its tables are in a folder of a lake.

    Raises:
        UserError: PySpark or Java is missing, or PYSPARK_PYTHON for a `spark://`.
    """
    if name.startswith("spark://") and not os.environ.get("PYSPARK_PYTHON"):
        raise UserError(
            f"ENGINE is {name!r} but PYSPARK_PYTHON is not set: set it to the Python of the executors that has this package"
        )
    is_local = name.startswith("local[") and "PYSPARK_PYTHON" not in os.environ
    if is_local:  # A local Spark starts its workers with this interpreter.
        os.environ["PYSPARK_PYTHON"] = sys.executable
    try:
        session = _session(name, memory_mb)
        try:
            engine = SparkEngine(session, lake, folder)
            yield engine
            engine.remove_tables()
        finally:
            session.stop()
    finally:
        if is_local:
            del os.environ["PYSPARK_PYTHON"]


def _session(name: str, memory_mb: int) -> Any:
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        raise UserError(f"ENGINE is {name!r} but PySpark is not installed: pip install 's2corpus[spark]'") from None
    builder = SparkSession.builder.appName("s2corpus")
    if name.startswith("sc://"):
        return builder.remote(name).getOrCreate()
    builder = builder.master(name).config("spark.ui.enabled", "false").config("spark.ui.showConsoleProgress", "false")
    if name.startswith("local["):
        builder = (
            builder.config("spark.driver.bindAddress", "127.0.0.1")
            .config("spark.driver.host", "127.0.0.1")
            .config("spark.driver.memory", f"{max(memory_mb, 512)}m")  # Spark refuses less memory
        )
    try:
        return builder.getOrCreate()
    except Exception as error:  # PySpark raises its own type of error if Java is missing or too old
        raise UserError(
            f"ENGINE is {name!r} but Spark does not start. It needs all modules of Java 17 or 21; see Java's messages above: {error}"
        ) from None
