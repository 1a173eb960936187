"""Make the index of the kept papers once for each release, in parts, and store it in the lake until the stage ends.

First, tasks write the papers of some buckets with their facts, and send each title to a piece, chosen by the hash of the title. Then,
tasks write the distinct titles of each piece with their MinHash keys.
"""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from math import ceil
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa
import pyarrow.compute as pc
from duckdb import DuckDBPyConnection

from s2corpus.pipeline.run import ReleaseTables, Run, Shard
from s2corpus.storage.duck import duckdb_connection
from s2corpus.storage.exchange import Exchange, spread
from s2corpus.tables.papers import PAPERS
from s2corpus.tables.texts import ENTRIES, FILTERED
from s2corpus.titles.arrays import bucket_of, one_chunk
from s2corpus.titles.facts import IDENTIFIERS, PLACES, add_facts, first_surname
from s2corpus.titles.index import LinkIndex, write_papers, write_titles
from s2corpus.titles.similarity import Search
from s2orc_parse.scratch import private, shared

_TITLES = pa.schema([("normalized", pa.string())])
BYTES_PER_TITLE = 1024
"""upper estimate of the memory in bytes that a title of a piece needs while its keys are computed"""
_WRITERS = 512
"""maximum number of files of papers; each piece of titles reads all of them"""
_READERS = 8


def open_exchange(run: Run) -> Exchange:
    """Return the folder of the lake with the index."""
    return Exchange(run.lake.root, f"{run.folder}/_link")


def write_paper_part(run: Run, shard: Shard) -> None:
    """Write the papers of the buckets that this shard covers (see `spread`), and send their titles to the pieces."""
    tasks = spread(run.paper_shards, _WRITERS)
    if shard.index not in tasks:
        return
    task, exchange, pieces = tasks.index(shard.index), open_exchange(run), _pieces(run)
    buckets = range(shard.index, min(shard.index + tasks.step, run.paper_shards))
    papers = add_facts(pa.concat_tables([read_papers(run, bucket) for bucket in buckets]))
    with TemporaryDirectory(prefix="s2corpus-link-", dir=run.scratch) as folder:
        path = Path(folder) / "papers"
        write_papers(papers, path)
        run.lake.upload(f"{exchange.prefix}/index/papers-{task:05d}", path, move=True)
    titles = papers["normalized"].drop_null().unique()
    exchange.write("titles", task, pa.table([titles], schema=_TITLES), bucket_of(titles, pieces), pieces)


def write_title_pieces(run: Run, shard: Shard, search: Search) -> None:
    """Write some pieces of the distinct titles."""
    pieces = _pieces(run)
    tasks = spread(run.paper_shards, pieces)
    if shard.index not in tasks:
        return
    exchange, writers = open_exchange(run), range(len(spread(run.paper_shards, _WRITERS)))
    for piece in range(tasks.index(shard.index), pieces, len(tasks)):
        titles = one_chunk(exchange.read("titles", writers, piece, _TITLES)["normalized"]).unique()
        with TemporaryDirectory(prefix="s2corpus-link-", dir=run.scratch) as folder:
            for path in write_titles(titles, Path(folder), piece, search):
                run.lake.upload(f"{exchange.prefix}/index/{path.name}", path, move=True)
    exchange.put_counts("index", tasks.index(shard.index), len(tasks))


@contextmanager
def open_index(run: Run, search: Search) -> Iterator[LinkIndex]:
    """Yield the index of a release. All tasks of this machine share one copy."""
    name = hashlib.sha256(f"{run.lake.uri(run.folder)} {_inputs(run)} {search}".encode()).hexdigest()[:16]
    with shared(f"link-{name}", lambda folder: _download(run, folder)) as folder:
        yield LinkIndex.open(folder, search)


def _download(run: Run, folder: Path) -> None:
    """Copy the index from the lake into a folder.

    Raises:
        RowsRemoved: a part of the index is missing.
    """
    exchange, tasks = open_exchange(run), len(spread(run.paper_shards, _pieces(run)))
    exchange.all_counts("index", tasks)

    def bring(key: str) -> None:
        try:
            run.lake.download(key, folder / key.rpartition("/")[2], link=True)
        except FileNotFoundError:
            raise exchange.missing("index") from None

    keys = [entry.key for entry in run.lake.list(f"{exchange.prefix}/index/") if not entry.key.endswith(".done")]
    with ThreadPoolExecutor(_READERS) as pool:
        list(pool.map(bring, keys))


def _inputs(run: Run) -> str:
    parts = [part.sha256 for table in (PAPERS, FILTERED) for part in run.table(table).committed().parts]
    return hashlib.sha256("".join(parts).encode()).hexdigest()


def _pieces(run: Run) -> int:
    """Return the number of pieces of titles: as few as memory allows."""
    rows = run.table(PAPERS).committed().rows
    return max(ceil(rows * BYTES_PER_TITLE / (run.spec.resources.memory_mb << 19)), 1)


_ENTRY_COLUMNS = (
    "paper_id",
    "parse_kind",
    "ref_id",
    "title",
    "year",
    "venue",
    "volume",
    "pages",
    "raw_text",
    *IDENTIFIERS,
)
_FIRST_AUTHOR = ("authors.list.element.first", "authors.list.element.last")
"""columns of authors that are read; authors have many more"""


def read_papers(run: ReleaseTables, bucket: int) -> pa.Table:
    """Read the kept papers of a bucket."""
    outcomes = run.table(FILTERED).read_leaves(["paper_id", "outcome"], shard=bucket)
    columns = [
        "paper_id",
        "title",
        "date",
        *_FIRST_AUTHOR,
        "venue",
        *PLACES,
        *IDENTIFIERS,
        "preprints.list.element.doi",
    ]
    papers = run.table(PAPERS).read_leaves(columns, shard=bucket)
    papers = papers.append_column("surname", first_surname(papers["authors"])).drop_columns(["authors"])
    preprints = one_chunk(papers["preprints"])
    dois = pa.ListArray.from_arrays(preprints.offsets, preprints.values.field("doi"))
    papers = papers.append_column("preprint_dois", dois).drop_columns(["preprints"])
    kept = outcomes["paper_id"].filter(pc.equal(outcomes["outcome"], "kept"))
    papers = papers.filter(pc.is_in(papers["paper_id"], kept.combine_chunks()))
    return (
        papers.append_column("year", pc.utf8_slice_codeunits(papers["date"], 0, 4).cast(pa.int32()))
        .set_column(papers.column_names.index("journal"), "journal", pc.coalesce(papers["journal"], papers["venue"]))
        .drop_columns(["date", "venue"])
    )


def read_entries(run: Run, bucket: int) -> pa.Table:
    """Read the entries of a bucket."""
    return _rename(run.table(ENTRIES).read_leaves([*_ENTRY_COLUMNS, *_FIRST_AUTHOR], shard=bucket))


def read_entries_where(run: ReleaseTables, where: pc.Expression, shard: int | None = None) -> pa.Table:
    """Read the entries of all buckets, or of one, that meet a condition."""
    return _rename(run.table(ENTRIES).read([*_ENTRY_COLUMNS, "authors"], shard=shard, where=where))


def _rename(entries: pa.Table) -> pa.Table:
    return (
        entries.append_column("surname", first_surname(entries["authors"]))
        .drop_columns(["authors"])
        .rename_columns({"paper_id": "citing_paper_id", "venue": "journal"})
    )


@contextmanager
def open_local_index(
    papers: pa.Table, search: Search, memory_mb: int
) -> Iterator[tuple[DuckDBPyConnection, LinkIndex]]:
    """Yield a database with half of the memory, and the index of `papers` (`paper_id`, `title`, `year`, `surname`, IDENTIFIERS)."""
    with tempfile.TemporaryDirectory(prefix="s2corpus-link-", dir=private()) as name:
        folder, papers = Path(name), add_facts(papers)
        write_papers(papers, folder / "papers-00000")
        write_titles(papers["normalized"].drop_null().unique(), folder, 0, search)
        with duckdb_connection(memory_mb=memory_mb // 2, scratch=folder) as connection:
            yield connection, LinkIndex.open(folder, search)
