"""Files of registered drops and deliveries: tables by content, and verified reading."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, BinaryIO, cast

import pyarrow as pa

from s2corpus.deliveries.ready import Delivery
from s2corpus.deliveries.registration import registered_table
from s2corpus.errors import UserError
from s2corpus.pipeline.run import Run
from s2corpus.storage.duck import duckdb_connection
from s2corpus.storage.lake import Lake
from s2corpus.tables.intake import ARTICLES, LATEX_SOURCES, PDFS, REGISTERED_FILES
from s2orc_parse import jats

_BLOCK = 1 << 20

_PLACES = """
SELECT sha1 AS file_sha1, any_value(bytes) AS bytes,
  list({'drop': "drop", 'name': name, 'open_access': open_access, 'licence': licence} ORDER BY "drop", name) AS places,
  min(ready_at) AS first_seen
FROM files WHERE kind = 'pdf' GROUP BY sha1 ORDER BY sha1
"""
_SOURCES = """
SELECT sha1 AS archive_sha1, any_value(bytes) AS bytes,
  list({'drop': "drop", 'name': name, 'open_access': open_access, 'licence': licence} ORDER BY "drop", name) AS places,
  min(ready_at) AS first_seen, min(arxiv_id) AS arxiv_id
FROM files WHERE kind = 'latex' GROUP BY sha1 ORDER BY sha1
"""

_ARTICLES = f"""
SELECT sha1 AS file_sha1, min(kind) AS kind, any_value(bytes) AS bytes,
  list({{'folder': folder, 'name': name, 'open_access': open_access, 'licence': licence}} ORDER BY folder, name) AS places,
  min(ready_at) AS first_seen, coalesce(list_sort(list(DISTINCT record_id) FILTER (record_id IS NOT NULL)), []) AS record_ids
FROM files WHERE kind IN ({", ".join(f"'{kind}'" for kind in jats.CONVERTERS)}) GROUP BY sha1 ORDER BY sha1
"""
DELIVERED_FILES = pa.schema(
    [*REGISTERED_FILES.schema, *(pa.field(name, pa.string()) for name in ("drop", "folder", "ready_at"))]
)
"""Files of drops and deliveries, with their origin."""
FILES = ((PDFS, _PLACES), (LATEX_SOURCES, _SOURCES), (ARTICLES, _ARTICLES))
"""Tables of full texts by content, with the queries that build them."""


class ChangedInput(UserError):
    """A file of a drop has changed since its registration."""

    def __init__(self, uri: str) -> None:
        super().__init__(f"{uri}: changed since its drop was registered: put the file back that its _READY lists")


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


def files_of(run: Run, delivered: pa.Table) -> list[pa.Table]:
    """Return the full texts among rows of DELIVERED_FILES as rows of the tables of FILES, once per content."""
    with duckdb_connection(memory_mb=run.spec.resources.memory_mb, scratch=run.scratch) as connection:
        connection.register("files", delivered)
        return [connection.execute(query).to_arrow_table().cast(table.schema) for table, query in FILES]


def key_of(place: Mapping[str, Any]) -> str:
    """Return the key of a place of PDFS, LATEX_SOURCES or ARTICLES."""
    return f"{place.get('folder') or 'drops/{drop}/'.format(**place)}{place['name']}"


def open_file(lake: Lake, place: Mapping[str, Any], sha1: str) -> BinaryIO:
    """Open a delivered file as a stream.

    Raises:
        ChangedInput: at the end of the stream, if the content has changed since the registration.
    """
    key = key_of(place)
    return cast(BinaryIO, _Checked(lake.open(key), sha1, lake.uri(key)))


def read_file(lake: Lake, place: Mapping[str, Any], sha1: str) -> bytes:
    """Return all bytes of a delivered file. Raises as `open_file`."""
    with open_file(lake, place, sha1) as file:
        return file.read()


def copy_file(lake: Lake, place: Mapping[str, Any], sha1: str, path: Path) -> None:
    """Write a delivered file to a local path. Raises as `open_file`."""
    with open_file(lake, place, sha1) as file, path.open("wb") as out:
        while block := file.read(_BLOCK):
            out.write(block)


class _Checked(io.RawIOBase):
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
