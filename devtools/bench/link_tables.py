"""Link tables and index titles in one call, for tests and benchmarks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa

from s2corpus.stages.link.index import open_local_index
from s2corpus.titles.index import LinkIndex, write_titles
from s2corpus.titles.linking import Links, link
from s2corpus.titles.similarity import Search, TitlesOnDisk


def link_tables(entries: pa.Table, papers: pa.Table, search: Search | None = None) -> Links:
    """Link entries to papers, both with the columns that `titles.linking.link` reads."""
    search = search or Search()
    with open_local_index(papers, search, 1024) as (connection, index):
        return link(connection, entries, index, search)


@contextmanager
def indexed(titles: pa.Array, search: Search, pieces: int = 1) -> Iterator[Sequence[TitlesOnDisk]]:
    """Yield distinct normalized titles in pieces of equal length, as `find_similar` reads them."""
    size = -(-len(titles) // pieces)
    with TemporaryDirectory() as folder:
        for number in range(pieces):
            write_titles(titles.slice(number * size, size), Path(folder), number, search)
        yield LinkIndex.open(Path(folder), search).titles
