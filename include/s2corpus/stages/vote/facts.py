"""Join facts about files and notices to the buckets of papers: PDFs, LaTeX sources, publishers' files and notices.

The join is by identifier, in rounds, so that no bucket reads all facts:

1. Send the identifiers of each bucket of papers, and the facts about each part of files and notices, to a partition by the hash of
   the identifier.
2. Send the requested facts from each partition to the buckets.
3. Read the facts of each bucket; the vote uses them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.compute as pc

from s2corpus.pipeline.run import Run, Shard
from s2corpus.storage.exchange import covered_shards, spread
from s2corpus.tables.intake import ARTICLES, LATEX_SOURCES, NOTICES, PDFS
from s2corpus.tables.papers import MEMBERS
from s2corpus.tables.parses import ARTICLE_PARSES, LATEX_PARSES
from s2corpus.tables.schema import Table
from s2corpus.titles.arrays import hash_strings, text_of
from s2corpus.titles.similarity import expand_ranges, find_keys

EXCHANGE = "_vote"
PARTITIONS = 256
"""Number of partitions, and the maximum number of files that a bucket of papers opens."""
SENDERS = 512
"""Maximum number of files of each kind that a partition opens."""
REQUESTS = pa.schema([("hash", pa.uint64()), ("bucket", pa.int32())])
FACTS = pa.schema([("hash", pa.uint64()), ("about", pa.string()), ("fact", pa.binary())])
_AT_ONCE = 65_536


def send_requests_and_facts(run: Run, shard: Shard) -> None:
    """Send the requests of some buckets of papers, and the facts of some parts of files and notices."""
    senders = spread(run.paper_shards, SENDERS)
    if shard.index not in senders:
        return
    task, exchange = senders.index(shard.index), run.exchange(EXCHANGE)
    buckets = covered_shards(senders, shard.index)
    requests = pa.concat_tables([_read_requests(run, bucket) for bucket in buckets])
    facts = pa.Table.from_batches(_read_facts_of_parts(run, task, len(senders)), FACTS)
    for name, rows in (("requests", requests), ("facts", facts)):
        exchange.write(name, task, rows, _partition_of(rows["hash"].to_numpy()), PARTITIONS)


def send_requested_facts(run: Run, shard: Shard) -> None:
    """Send the facts of some partitions to the buckets that requested them."""
    answerers, senders = spread(run.paper_shards, PARTITIONS), spread(run.paper_shards, SENDERS)
    if shard.index not in answerers:
        return
    task, exchange = answerers.index(shard.index), run.exchange(EXCHANGE)
    begin, end = (number * PARTITIONS // len(answerers) for number in (task, task + 1))
    requests = exchange.read("requests", range(len(senders)), begin, REQUESTS, end).sort_by("hash")
    facts = exchange.read("facts", range(len(senders)), begin, FACTS, end).combine_chunks()
    first, count = find_keys(requests["hash"].to_numpy(), facts["hash"].to_numpy())
    fact, request = expand_ranges(first, count)
    bucket = requests["bucket"].to_numpy()[request]
    exchange.write("answers", task, facts.take(pa.array(fact)), bucket, run.paper_shards)


def read_facts(run: Run, bucket: int) -> dict[str, list[dict[str, Any]]]:
    """Return the facts about the identifiers of a bucket: `<kind>:<identifier>` → facts."""
    answerers = spread(run.paper_shards, PARTITIONS)
    found: dict[str, list[dict[str, Any]]] = {}
    for table in run.exchange(EXCHANGE).read_by_file("answers", range(len(answerers)), bucket, FACTS):
        for about, fact in zip(table["about"].to_pylist(), table["fact"].to_pylist(), strict=True):
            found.setdefault(about, []).append(orjson.loads(fact))
    return found


def _partition_of(hashes: np.ndarray) -> np.ndarray:
    partition: np.ndarray = (hashes >> np.uint64(32)) * np.uint64(PARTITIONS) >> np.uint64(32)
    return partition.astype(np.int64)


def _read_requests(run: Run, bucket: int) -> pa.Table:
    """Return the requests of a bucket: the identifiers of its records, of those kinds about which facts exist."""
    requested = [
        (kind, column)
        for table, kind, column in (
            (PDFS, "pdf", "file_sha1"),
            (LATEX_PARSES, "arxiv", "arxiv_id"),
            (ARTICLE_PARSES, "record", "record_id"),
            (NOTICES, "doi", "doi"),
            (NOTICES, "pmid", "pubmed_id"),
        )
        if run.table(table).committed().rows
    ]
    if not requested:
        return REQUESTS.empty_table()
    found = [np.empty(0, np.uint64)]
    columns = ["kind", *(column for _, column in requested)]
    for batch in run.table(MEMBERS).batches(columns, shard=bucket, rows=_AT_ONCE):
        for kind, column in requested:
            values = batch[column]
            if kind == "pdf":
                values = values.filter(pc.equal(batch["kind"], "pdf"))
            found.append(np.unique(_hash_identifiers(pc.binary_join_element_wise(kind, values.drop_null(), ":"))))
    hashes = np.unique(np.concatenate(found))
    return pa.table([hashes, np.full(len(hashes), bucket, np.int32)], schema=REQUESTS)


def _read_facts_of_parts(run: Run, task: int, tasks: int) -> Iterator[pa.RecordBatch]:
    """Yield the facts of every `tasks`-th part of each table, starting with part `task`."""
    latex = ["archive_sha1", "arxiv_id", "parse_id", "first_seen"]
    article = ["file_sha1", "kind", "record_ids", "first_seen", "doi", "pmc_id", "licence", "open_access"]
    for part in range(task, len(run.table(PDFS).committed().parts), tasks):
        for batch in run.table(PDFS).batches(["file_sha1", "first_seen", "places"], shard=part, rows=_AT_ONCE):
            yield _to_batch((f"pdf:{row['file_sha1']}", row) for row in batch.to_pylist())
        yield _to_batch(
            (f"arxiv:{row['arxiv_id']}", row)
            for row in _read_parsed_files(run, part, LATEX_PARSES, LATEX_SOURCES, latex)
        )
        yield _to_batch(
            (f"record:{id_}", row)
            for row in _read_parsed_files(run, part, ARTICLE_PARSES, ARTICLES, article)
            for id_ in row["record_ids"]
        )
    for part in range(task, len(run.table(NOTICES).committed().parts), tasks):
        for batch in run.table(NOTICES).batches(shard=part, rows=_AT_ONCE):
            yield _to_batch((row["about"], row) for row in batch.to_pylist())


def _read_parsed_files(run: Run, part: int, parses: Table, files: Table, columns: list[str]) -> list[dict[str, Any]]:
    """Return the parsed files of a part, with the places of their delivery."""
    key = columns[0]
    rows = list(run.table(parses).rows(columns, shard=part, where=pc.field("outcome") == "ok"))
    where = pc.field(key).isin(pa.array([row[key] for row in rows], pa.string()))
    places = {row[key]: row["places"] for row in run.table(files).rows([key, "places"], shard=part, where=where)}
    return [{**row, "places": places[row[key]]} for row in rows]


def _to_batch(facts: Iterable[tuple[str, dict[str, Any]]]) -> pa.RecordBatch:
    rows = list(facts)
    about = pa.array([about for about, _ in rows], pa.string())
    return pa.record_batch(
        [_hash_identifiers(about), about, pa.array([orjson.dumps(fact) for _, fact in rows], pa.binary())], schema=FACTS
    )


def _hash_identifiers(about: pa.Array) -> np.ndarray:
    hashes: np.ndarray = hash_strings(*text_of(about))
    return hashes
