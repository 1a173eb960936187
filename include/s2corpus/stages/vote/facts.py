"""What the vote knows of a paper beside its records: their PDFs, LaTeX sources, publishers' files and the notices about them.

These are joined by identifier, in rounds, so that no bucket of papers reads them all. The buckets of papers ask for identifiers and
the parts of files send what they have under each, both to the place that an identifier's hash names; each place sends what was asked
for to the buckets that asked.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.compute as pc

from s2corpus.pipeline.run import Run, Shard
from s2corpus.storage.exchange import Exchange, spread
from s2corpus.tables import ARTICLE_PARSES, ARTICLES, LATEX_PARSES, LATEX_SOURCES, MEMBERS, NOTICES, PDFS, Table
from s2corpus.titles.arrays import text_of
from s2corpus.titles.buckets import hash_strings

PLACES = 256
"""Places of identifiers, and the most files that a bucket of papers opens."""
SENDERS = 512
"""Most files that a place opens, of each kind."""
ASKS = pa.schema([("hash", pa.uint64()), ("bucket", pa.int32())])
FACTS = pa.schema([("hash", pa.uint64()), ("about", pa.string()), ("fact", pa.binary())])
_AT_ONCE = 65_536


def exchange_of(run: Run) -> Exchange:
    """Where facts lie between the rounds."""
    return Exchange(run.lake.root, f"{run.folder}/_vote")


def send(run: Run, shard: Shard) -> None:
    """Ask for what the records of some buckets name, and send what some parts of files and notices have."""
    senders = spread(run.paper_shards, SENDERS)
    if shard.index not in senders:
        return
    task, exchange = senders.index(shard.index), exchange_of(run)
    asks = pa.concat_tables([ASKS.empty_table(), *(_asks(run, bucket) for bucket in _of(run, senders, shard.index))])
    facts = pa.Table.from_batches(_facts(run, task, len(senders)), FACTS)
    for name, rows in (("asks", asks), ("facts", facts)):
        exchange.write(name, task, rows, _place(rows["hash"].to_numpy()), PLACES)


def answer(run: Run, shard: Shard) -> None:
    """Some places: send every fact to the buckets that asked for what it is about."""
    answerers, senders = spread(run.paper_shards, PLACES), spread(run.paper_shards, SENDERS)
    if shard.index not in answerers:
        return
    task, exchange = answerers.index(shard.index), exchange_of(run)
    begin, end = (place * PLACES // len(answerers) for place in (task, task + 1))
    asks = exchange.read("asks", range(len(senders)), begin, ASKS, end).sort_by("hash")
    facts = exchange.read("facts", range(len(senders)), begin, FACTS, end).combine_chunks()
    asked, told = asks["hash"].to_numpy(), facts["hash"].to_numpy()
    low, high = (np.searchsorted(asked, told, side) for side in ("left", "right"))
    fact = np.repeat(np.arange(len(told)), high - low)
    ask = np.arange(len(fact)) - np.repeat(np.cumsum(high - low) - high, high - low)
    bucket = asks["bucket"].to_numpy().take(ask)
    exchange.write("answers", task, facts.take(pa.array(fact)), bucket, run.paper_shards)


def facts_of(run: Run, bucket: int) -> dict[str, list[dict[str, Any]]]:
    """What is known of what the records of a bucket name: `<kind>:<identifier>` → facts."""
    answerers = spread(run.paper_shards, PLACES)
    found: dict[str, list[dict[str, Any]]] = {}
    for table in exchange_of(run).pieces("answers", range(len(answerers)), bucket, FACTS):
        for about, fact in zip(table["about"].to_pylist(), table["fact"].to_pylist(), strict=True):
            found.setdefault(about, []).append(orjson.loads(fact))
    return found


def _of(run: Run, chosen: range, index: int) -> range:
    """The shards that one of the chosen takes."""
    return range(index, min(index + chosen.step, run.paper_shards))


def _place(hashes: np.ndarray) -> np.ndarray:
    place: np.ndarray = (hashes >> np.uint64(32)) * np.uint64(PLACES) >> np.uint64(32)
    return place.astype(np.int64)


def _asks(run: Run, bucket: int) -> pa.Table:
    """What the records of a bucket name, as far as anything is known of its kind."""
    there = {table.name for table in (PDFS, LATEX_PARSES, ARTICLE_PARSES, NOTICES) if run.table(table).committed().rows}
    named = [
        (kind, column)
        for table, kind, column in (
            (PDFS, "pdf", "file_sha1"),
            (LATEX_PARSES, "arxiv", "arxiv_id"),
            (ARTICLE_PARSES, "record", "record_id"),
            (NOTICES, "doi", "doi"),
            (NOTICES, "pmid", "pubmed_id"),
        )
        if table.name in there
    ]
    if not named:
        return ASKS.empty_table()
    found = [np.empty(0, np.uint64)]
    for batch in run.table(MEMBERS).batches(["kind", *(column for _, column in named)], shard=bucket, rows=_AT_ONCE):
        for kind, column in named:
            values = batch[column]
            if kind == "pdf":
                values = values.filter(pc.equal(batch["kind"], "pdf"))
            found.append(np.unique(_hashes(_about(kind, values.drop_null()))))
    hashes = np.unique(np.concatenate(found))
    return pa.table([hashes, np.full(len(hashes), bucket, np.int32)], schema=ASKS)


def _facts(run: Run, task: int, tasks: int) -> Iterator[pa.RecordBatch]:
    """What the task-th of so many parts of each table have."""
    latex = ["archive_sha1", "arxiv_id", "parse_id", "first_seen"]
    article = ["file_sha1", "kind", "record_ids", "first_seen", "doi", "pmc_id", "licence", "open_access"]
    for part in range(task, len(run.table(PDFS).committed().parts), tasks):
        for batch in run.table(PDFS).batches(["file_sha1", "first_seen", "places"], shard=part, rows=_AT_ONCE):
            yield _told((f"pdf:{row['file_sha1']}", row) for row in batch.to_pylist())
        yield _told(
            (f"arxiv:{row['arxiv_id']}", row) for row in _delivered(run, part, LATEX_PARSES, LATEX_SOURCES, latex)
        )
        yield _told(
            (f"record:{id_}", row)
            for row in _delivered(run, part, ARTICLE_PARSES, ARTICLES, article)
            for id_ in row["record_ids"]
        )
    for part in range(task, len(run.table(NOTICES).committed().parts), tasks):
        for batch in run.table(NOTICES).batches(shard=part, rows=_AT_ONCE):
            yield _told((row["about"], row) for row in batch.to_pylist())


def _delivered(run: Run, part: int, parses: Table, files: Table, columns: list[str]) -> list[dict[str, Any]]:
    """The files of a part that could be parsed, with where they were delivered."""
    key = columns[0]
    rows = list(run.table(parses).rows(columns, shard=part, where=pc.field("outcome") == "ok"))
    where = pc.field(key).isin(pa.array([row[key] for row in rows], pa.string()))
    places = {row[key]: row["places"] for row in run.table(files).rows([key, "places"], shard=part, where=where)}
    return [{**row, "places": places[row[key]]} for row in rows]


def _told(facts: Iterable[tuple[str, dict[str, Any]]]) -> pa.RecordBatch:
    known = list(facts)
    about = pa.array([about for about, _ in known], pa.string())
    return pa.record_batch(
        [_hashes(about), about, pa.array([orjson.dumps(fact) for _, fact in known], pa.binary())], schema=FACTS
    )


def _about(kind: str, values: pa.Array) -> pa.Array:
    return pc.binary_join_element_wise(kind, values, ":")


def _hashes(about: pa.Array) -> np.ndarray:
    found: np.ndarray = hash_strings(*text_of(about))
    return found
