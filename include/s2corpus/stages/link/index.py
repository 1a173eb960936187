"""The index of the kept papers' titles that entries are linked by: made once a release, in pieces, and kept in the lake until its end.

Two rounds. Buckets of papers write their papers with the facts of their titles, and send the titles to the piece that the title's hash
names; a piece puts equal ones together, in order of hash, and makes their keys. What changed since the parent release is kept beside it.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from math import ceil
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa

from s2corpus.pipeline.run import Run, Shard
from s2corpus.stages.link.relink import Changes, parent_run, read_papers
from s2corpus.storage.exchange import Exchange, spread
from s2corpus.tables import PAPERS
from s2corpus.titles.arrays import one_chunk, text_of
from s2corpus.titles.candidates import Search
from s2corpus.titles.equal import EqualStrings, hash_strings
from s2corpus.titles.postings import keys_of
from s2corpus.titles.targets import FACTS, IDENTIFIERS, Facts

SCHEMA = pa.schema(
    [(name, pa.string()) for name in ("paper_id", "title", "journal", *IDENTIFIERS)] + [*FACTS, ("hash", pa.uint64())]
)
"""The papers of the index."""
OVER_FULL = "over-full.npy"
"""The keys that too many titles share, beside the copy of an index."""
BYTES_BESIDE_KEYS = 36
"""Of a title: its sketch, before the keys of all titles of a piece, band after band, and its size, after them."""
_TEXTS = pa.schema([("normalised", pa.string())])
_TITLES = pa.schema([("normalised", pa.string()), ("hash", pa.uint64())])
_BYTES_PER_TITLE = 512
"""Memory that a title takes while equal ones are found, an upper estimate."""
_TITLES_OF_A_PIECE = 1 << 17
"""Where memory allows more: the next piece takes the memory of the one before, whose pages the system need not clear again."""
_FEW_PIECES = 64
"""Most pieces that are made smaller for that: each is read from every file of papers."""
_ROWS = 1 << 16
_WRITERS = 512
"""Most files of papers, and most that a piece of the titles opens."""
_READERS = 8
_WRITTEN = 1 << 20
"""Bytes written at once: for many more the system looks for memory in one piece, which takes longer than the writing."""


def writers(run: Run) -> int:
    """Files of papers."""
    return len(spread(run.paper_shards, _WRITERS))


def exchange_of(run: Run) -> Exchange:
    """Where the index lies, and what goes into it."""
    return Exchange(run.lake.root, f"{run.folder}/_link")


def write_papers(run: Run, shard: Shard) -> None:
    """The papers of some buckets: write them, send their titles to the pieces, and keep what changed since the parent release."""
    tasks = spread(run.paper_shards, _WRITERS)
    if shard.index not in tasks:
        return
    task, exchange, parent = tasks.index(shard.index), exchange_of(run), parent_run(run)
    pieces = _pieces(run)
    changes = Changes(exchange, task)
    with TemporaryDirectory(prefix="s2corpus-link-", dir=run.scratch) as folder:
        path = Path(folder) / "papers"
        with (
            pa.ipc.new_stream(str(path), SCHEMA) as papers,
            exchange.writer("titles", task, pieces, _TITLES, run.scratch, compressed=False) as titles,
        ):
            for bucket in range(shard.index, min(shard.index + tasks.step, run.paper_shards)):
                table = read_papers(run, bucket)
                if parent is not None:
                    changes.add(read_papers(parent, bucket), table)
                facts = Facts.of(table)
                hashes = hash_strings(*text_of(facts.normalised))
                for name, column in (*zip(FACTS.names, facts.table().columns, strict=True), ("hash", pa.array(hashes))):
                    table = table.drop_columns([name]) if name in table.column_names else table
                    table = table.append_column(name, column)
                papers.write_table(table.select(SCHEMA.names).cast(SCHEMA), _ROWS)
                first = EqualStrings.of(facts.normalised, hashes).first
                piece = ((hashes[first] >> np.uint64(32)) * np.uint64(pieces) >> np.uint64(32)).astype(np.int64)
                order = np.argsort(piece, kind="stable")
                rows = first[order]
                titles.add(
                    pa.table([facts.normalised.take(pa.array(rows)), hashes[rows]], schema=_TITLES), piece[order]
                )
        run.lake.upload(f"{exchange.prefix}/index/papers-{task:05d}", path, move=True)
    if parent is not None:
        changes.write()


def write_titles(run: Run, shard: Shard, search: Search) -> None:
    """Some pieces of the titles: each distinct title once, in order of hash, with its keys."""
    pieces = _pieces(run)
    tasks = spread(run.paper_shards, pieces)
    if shard.index not in tasks:
        return
    exchange = exchange_of(run)
    for piece in range(tasks.index(shard.index), pieces, len(tasks)):
        part = exchange.read("titles", range(writers(run)), piece, _TITLES)
        column, hashes = one_chunk(part["normalised"]), part["hash"].to_numpy()
        first = EqualStrings.of(column, hashes).first
        first = first[np.argsort(hashes[first], kind="stable")]
        titles = column.take(pa.array(first))
        del part, column, hashes, first
        if not len(titles):
            continue
        with TemporaryDirectory(prefix="s2corpus-link-", dir=run.scratch) as folder:
            texts, keys = Path(folder) / f"titles-{piece:05d}", Path(folder) / f"keys-{piece:05d}"
            with pa.ipc.new_stream(str(texts), _TEXTS) as writer:
                writer.write_table(pa.table([titles], schema=_TEXTS), _ROWS)
            made = keys_of(titles, range(search.bands), search.rows)
            with keys.open("wb") as file:
                for array in (made.sketches, made.keys, made.sizes):
                    data = array.data.cast("B")
                    for begin in range(0, len(data), _WRITTEN):
                        file.write(data[begin : begin + _WRITTEN])
            del made, data
            for path in (keys, texts):
                run.lake.upload(f"{exchange.prefix}/index/{path.name}", path, move=True)
    exchange.put_counts("index", tasks.index(shard.index), len(tasks))


def download(run: Run, folder: Path) -> None:
    """Bring the index from the lake into a folder; nobody writes to it.

    Raises:
        RowsRemoved: a part of it is not there.
    """
    exchange, tasks = exchange_of(run), len(spread(run.paper_shards, _pieces(run)))
    exchange.all_counts("index", tasks)

    def bring(key: str) -> None:
        try:
            run.lake.download(key, folder / key.rpartition("/")[2], link=True)
        except FileNotFoundError:
            raise exchange.missing("index") from None

    keys = [entry.key for entry in run.lake.list(f"{exchange.prefix}/index/") if not entry.key.endswith(".done")]
    with ThreadPoolExecutor(_READERS) as pool:
        list(pool.map(bring, keys))


def batches_of(path: Path) -> Iterator[pa.RecordBatch]:
    """The batches of one file of papers or titles."""
    with pa.memory_map(str(path)) as file, pa.ipc.open_stream(file) as reader:
        yield from reader


def _pieces(run: Run) -> int:
    rows = run.table(PAPERS).committed().rows
    few = min(ceil(rows / _TITLES_OF_A_PIECE), _FEW_PIECES)
    return max(ceil(rows * _BYTES_PER_TITLE / (run.spec.resources.memory_mb << 18)), few, 1)
