"""Joins and aggregations in PySpark's DataFrame API: on DuckDB through SQLFrame, or on Spark. One code path, one result.

`ENGINE` chooses: `duckdb` (the default), `local[2]` for Spark in this process, or `sc://host:15002` for Spark Connect. Queries stay in
the subset both have, put no function of ours into the engine, name every column, and cast at the end; only the lake writes.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from types import ModuleType
from typing import Any
from urllib.parse import urlparse

import pyarrow as pa

from s2corpus.errors import UserError
from s2corpus.storage.duck import duckdb_connection


@dataclass(frozen=True, slots=True)
class Engine:
    """An engine at work."""

    name: str
    """duckdb, or the master of Spark"""
    session: Any
    """what makes DataFrames"""
    functions: ModuleType
    """its `functions`, PySpark's names"""

    def read(self, uris: Sequence[str]) -> Any:
        """A DataFrame over Parquet files, by address: paths or s3://."""
        if self.name != "duckdb":
            uris = [uri.replace("s3://", "s3a://", 1) for uri in uris]
        return self.session.read.parquet(*uris)

    def arrow(self, frame: Any, schema: pa.Schema) -> pa.Table:
        """The rows of a DataFrame as Arrow, cast to `schema`: the engines' own types for counts and sums differ."""
        table: pa.Table = frame.toArrow()
        return table.select(schema.names).cast(schema)


def chosen() -> str:
    """The engine that `ENGINE` names, duckdb where it names none."""
    return os.environ.get("ENGINE") or "duckdb"


@contextmanager
def engine(name: str | None = None, *, memory_mb: int, scratch: Path) -> Iterator[Engine]:
    """An engine, closed at the end. DuckDB keeps to `memory_mb` and spills below `scratch`; Spark has its own limits.

    Raises:
        UserError: no such engine, or PySpark or Java are not there.
    """
    name = name or chosen()
    if name == "duckdb":
        from sqlframe.duckdb import DuckDBSession, functions

        with duckdb_connection(memory_mb=memory_mb, scratch=scratch) as connection:
            if os.environ.get("AWS_ACCESS_KEY_ID"):
                connection.load_extension(str(_httpfs()))
                connection.execute(_s3_secret(os.environ))
            session = DuckDBSession(conn=connection)
            try:
                yield Engine(name, session, functions)
            finally:
                session.stop()  # there is one session a process, and it would keep this connection
    elif name.startswith(("local[", "sc://", "spark://")):
        session, functions = _spark(name, memory_mb)
        try:
            yield Engine(name, session, functions)
        finally:
            session.stop()
    else:
        raise UserError(
            f"ENGINE is {name!r}: duckdb, local[<cores>], sc://<host>:<port> or spark://<host>:<port> was expected"
        )


def _httpfs() -> Path:
    """DuckDB's S3 extension as the wheel duckdb-extension-httpfs brings it: nothing is loaded from the network."""
    import duckdb

    package = Path(str(files("duckdb_extension_httpfs")))
    return package / "extensions" / f"v{duckdb.__version__}" / "httpfs.duckdb_extension"


def _s3_secret(environment: Mapping[str, str]) -> str:
    """The statement that gives DuckDB the S3 endpoint and keys of an environment as every AWS tool reads it."""
    endpoint = environment.get("AWS_ENDPOINT_URL_S3") or environment.get("AWS_ENDPOINT_URL") or ""
    given = {
        "KEY_ID": environment.get("AWS_ACCESS_KEY_ID"),
        "SECRET": environment.get("AWS_SECRET_ACCESS_KEY"),
        "SESSION_TOKEN": environment.get("AWS_SESSION_TOKEN"),
        "REGION": environment.get("AWS_REGION") or environment.get("AWS_DEFAULT_REGION") or "us-east-1",
        "ENDPOINT": urlparse(endpoint).netloc if endpoint else None,
        "URL_STYLE": "path" if endpoint else None,
    }
    settings = [f"{name} '{value.replace(chr(39), chr(39) * 2)}'" for name, value in given.items() if value]
    if endpoint:
        settings.append(f"USE_SSL {'true' if endpoint.startswith('https://') else 'false'}")
    return f"CREATE OR REPLACE SECRET lake (TYPE s3, {', '.join(settings)})"


def _spark(name: str, memory_mb: int) -> tuple[Any, ModuleType]:
    try:
        from pyspark.sql import SparkSession, functions
    except ImportError:
        raise UserError(f"ENGINE is {name!r} but PySpark is not installed: pip install 's2corpus[spark]'") from None
    builder = SparkSession.builder.appName("s2corpus").config("spark.sql.session.timeZone", "UTC")
    if name.startswith("sc://"):
        return builder.remote(name).getOrCreate(), functions
    builder = builder.master(name).config("spark.ui.enabled", "false")
    if name.startswith("local["):
        builder = (
            builder.config("spark.driver.bindAddress", "127.0.0.1")
            .config("spark.driver.host", "127.0.0.1")
            .config("spark.driver.memory", f"{max(memory_mb, 512)}m")  # Spark starts with no less
            .config("spark.sql.shuffle.partitions", "8")
        )
    try:
        return builder.getOrCreate(), functions
    except Exception as error:  # PySpark's own, raised where Java is missing or too old
        raise UserError(f"ENGINE is {name!r} but Spark does not start (it needs Java 17): {error}") from None
