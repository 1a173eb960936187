"""Files of registered drops and deliveries: tables by content, and verified reading."""

from __future__ import annotations

import hashlib
import io
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, BinaryIO, cast

import pyarrow as pa

from s2corpus.deliveries.ready import Delivery, folder_of
from s2corpus.deliveries.registration import registered_table
from s2corpus.errors import UserError
from s2corpus.pipeline.run import Run
from s2corpus.storage.duck import duckdb_connection
from s2corpus.storage.lake import Lake
from s2corpus.tables.intake import ARTICLES, LATEX_SOURCES, PDFS, REGISTERED_FILES
from s2corpus.tables.schema import Table
from s2orc_parse import jats


def _group_by_content(table: Table, kinds: Iterable[str], origin: str, *more: str) -> tuple[Table, str]:
    """Return a table and the query that builds it; a place of a file names its `origin` (a column of DELIVERED_FILES)."""
    columns = ", ".join(["any_value(bytes) AS bytes", "min(ready_at) AS first_seen", *more])
    place = f"""{{'{origin}': "{origin}", 'name': name, 'open_access': open_access, 'license': license}}"""
    return (
        table,
        f"""
        SELECT sha1 AS {table.key[0]}, {columns}, list({place} ORDER BY "{origin}", name) AS places
        FROM files WHERE kind IN ({", ".join(f"'{kind}'" for kind in kinds)}) GROUP BY sha1 ORDER BY sha1
    """,
    )


_RECORD_IDS = "coalesce(list_sort(list(DISTINCT record_id) FILTER (record_id IS NOT NULL)), []) AS record_ids"
DELIVERED_FILES = pa.schema(
    [*REGISTERED_FILES.schema, *(pa.field(name, pa.string()) for name in ("drop", "folder", "ready_at"))]
)
"""Files of drops and deliveries, with their origin."""
CONTENT_TABLES = (
    _group_by_content(PDFS, ["pdf"], "drop"),
    _group_by_content(LATEX_SOURCES, ["latex"], "drop", "min(arxiv_id) AS arxiv_id"),
    _group_by_content(ARTICLES, jats.CONVERTERS, "folder", "min(kind) AS kind", _RECORD_IDS),
)
"""Tables of full texts by content, with the queries that build them."""


class ChangedInput(UserError):
    """A file of a drop has changed since its registration."""

    def __init__(self, uri: str) -> None:
        super().__init__(f"{uri}: changed since its drop was registered: restore the file that its _READY lists")


def delivered_files(run: Run, taken: Iterable[Delivery]) -> pa.Table:
    """Return the files of registered drops and of full-text deliveries as rows of DELIVERED_FILES."""
    tables = [DELIVERED_FILES.empty_table()]
    for delivery in taken:
        if delivery.kind == "drop" or delivery.source in jats.CONVERTERS:
            files = registered_table(run.lake, delivery, "files").read()
            for name, value in (("drop", delivery.id), ("folder", delivery.folder), ("ready_at", delivery.ready_at)):
                files = files.append_column(name, pa.repeat(value, files.num_rows))
            tables.append(files.cast(DELIVERED_FILES))
    return pa.concat_tables(tables)


def group_by_content(run: Run, delivered: pa.Table) -> list[pa.Table]:
    """Return the full texts among rows of DELIVERED_FILES as rows of CONTENT_TABLES, once per content."""
    with duckdb_connection(memory_mb=run.spec.resources.memory_mb, scratch=run.scratch) as connection:
        connection.register("files", delivered)
        rows = [(table, connection.execute(query).to_arrow_table()) for table, query in CONTENT_TABLES]
        return [found.select(table.schema.names).cast(table.schema) for table, found in rows]


def lake_key(place: Mapping[str, Any]) -> str:
    """Return the lake key of one delivered copy of a file: a place of PDFS, LATEX_SOURCES or ARTICLES."""
    return f"{lake_folder(place)}{place['name']}"


def lake_folder(place: Mapping[str, Any]) -> str:
    """Return the folder of one delivered copy of a file."""
    return str(place.get("folder") or folder_of("drop", "", place["drop"]))


def open_file(lake: Lake, place: Mapping[str, Any], sha1: str) -> BinaryIO:
    """Open a delivered file as a stream.

    Raises:
        ChangedInput: at the end of the stream, if the content has changed since the registration.
    """
    key = lake_key(place)
    return cast(BinaryIO, _VerifyingStream(lake.open(key), sha1, lake.uri(key)))


def read_file(lake: Lake, place: Mapping[str, Any], sha1: str) -> bytes:
    """Return all bytes of a delivered file. Raises as `open_file`."""
    with open_file(lake, place, sha1) as file:
        return file.read()


def copy_file(lake: Lake, place: Mapping[str, Any], sha1: str, path: Path) -> None:
    """Write a delivered file to a local path. Raises as `open_file`."""
    with open_file(lake, place, sha1) as file, path.open("wb") as out:
        shutil.copyfileobj(file, out, 1 << 20)


class _VerifyingStream(io.RawIOBase):
    """Stream that hashes its content and compares the hash at the end."""

    def __init__(self, stream: BinaryIO, sha1: str, uri: str) -> None:
        self._stream, self._sha1, self._uri = stream, sha1, uri
        self._digest = hashlib.sha1(usedforsecurity=False)

    def read(self, size: int = -1) -> bytes:
        block = self._stream.read(size) if size >= 0 else self._stream.read()
        self._digest.update(block)
        if size and (size < 0 or not block) and self._digest.hexdigest() != self._sha1:
            raise ChangedInput(self._uri)
        return block

    def close(self) -> None:
        self._stream.close()
        super().close()
