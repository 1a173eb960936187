"""Link tables outside a release: the same search and SQL, with an index in a temporary folder."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
from duckdb import DuckDBPyConnection

from s2corpus.storage.duck import duckdb_connection
from s2corpus.titles.facts import add_facts
from s2corpus.titles.index import LinkIndex, build_index
from s2corpus.titles.linking import Links, link
from s2corpus.titles.similarity import Search
from s2orc_parse.scratch import private


@contextmanager
def open_local_index(
    papers: pa.Table, search: Search | None = None, memory_mb: int = 1024
) -> Iterator[tuple[DuckDBPyConnection, LinkIndex]]:
    """Yield a database of half the memory, and the index of papers with `paper_id`, `title`, `year`, `surname` and IDENTIFIERS."""
    with (
        tempfile.TemporaryDirectory(prefix="s2corpus-link-", dir=private()) as folder,
        duckdb_connection(memory_mb=memory_mb // 2, scratch=Path(folder)) as connection,
    ):
        yield connection, build_index(add_facts(papers), Path(folder), search or Search())


def link_tables(entries: pa.Table, papers: pa.Table, search: Search | None = None) -> Links:
    """Link entries to papers, both with the columns that `titles.linking.link` reads."""
    with open_local_index(papers, search) as (connection, index):
        return link(connection, entries, index, search)
