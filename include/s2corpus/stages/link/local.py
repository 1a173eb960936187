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
from s2corpus.titles.index import LinkIndex, write_papers, write_titles
from s2corpus.titles.similarity import Search
from s2orc_parse.scratch import private


@contextmanager
def open_local_index(
    papers: pa.Table, search: Search, memory_mb: int
) -> Iterator[tuple[DuckDBPyConnection, LinkIndex]]:
    """Yield a database with half of the memory, and the index of `papers` (`paper_id`, `title`, `year`, `surname`, IDENTIFIERS)."""
    with tempfile.TemporaryDirectory(prefix="s2corpus-link-", dir=private()) as name:
        folder, papers = Path(name), add_facts(papers)
        write_papers(papers, folder / "papers-00000")
        write_titles(papers["normalised"].drop_null().unique(), folder, 0, search)
        with duckdb_connection(memory_mb=memory_mb // 2, scratch=folder) as connection:
            yield connection, LinkIndex.open(folder, search)
