"""Vote: choose the canonical metadata of each paper from its records (SPEC §5).

Facts about PDFs, LaTeX sources, publishers' files and notices reach the buckets of papers by identifier. No bucket reads all facts:

1. Send the identifiers of each bucket of papers, and the facts about each part of files and notices, to a partition by the hash of
   the identifier.
2. Send the requested facts from each partition to the buckets.
3. Read the facts of each bucket, and vote.

The first two rounds also count the declared fields of study of each journal, and send the counts to the buckets with its papers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import groupby
from operator import itemgetter
from typing import Any

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.compute as pc

from s2corpus.papers.corrections import FILE, Corrections, read_corrections
from s2corpus.papers.evidence import Declaration
from s2corpus.papers.journals import FieldInference, JournalCounts, count_declarations
from s2corpus.papers.rows import Article, ArxivParse, FileFacts, build_papers
from s2corpus.papers.vote import Pdf
from s2corpus.pipeline.run import Metrics, Run, Shard, Stage, count_outcomes
from s2corpus.sources.arrow import read_record
from s2corpus.sources.editorial import Statement
from s2corpus.sources.record import Editorial
from s2corpus.storage.exchange import RowsRemoved, covered_shards, spread
from s2corpus.tables.intake import ARTICLES, LATEX_SOURCES, NOTICES, PDFS
from s2corpus.tables.papers import ALIASES, CORRECTIONS, MEMBERS, PAPERS
from s2corpus.tables.parses import ARTICLE_PARSES, LATEX_PARSES
from s2corpus.tables.schema import Table, paper_shard
from s2corpus.titles.arrays import hash_strings, text_of
from s2corpus.titles.similarity import expand_ranges, find_keys

Facts = dict[str, list[dict[str, Any]]]
_EXCHANGE = "_vote"
_PARTITIONS = 256
"""Number of partitions, and the maximum number of files that a bucket of papers opens."""
_SENDERS = 512
"""Maximum number of files of each kind that a partition opens."""
_REQUESTS = pa.schema([("hash", pa.uint64()), ("bucket", pa.int32())])
_FACTS = pa.schema([("hash", pa.uint64()), ("about", pa.string()), ("fact", pa.binary())])
_JOURNALS = pa.schema(
    [("bucket", pa.int32()), ("journal", pa.string()), ("field", pa.string()), ("papers", pa.int64())]
)
_AT_ONCE = 65_536


class VoteStage(Stage):
    """The vote stage. It reads members and facts about files, and writes papers, in three rounds."""

    name = "vote"
    exchange = _EXCHANGE

    def work(self, run: Run, shard: Shard, round: int = 0) -> None:
        """Run one of three rounds: send requests and facts, send the requested facts to the buckets, or vote."""
        (_send_requests_and_facts, _send_requested_facts, self._vote)[round](run, shard)

    def _vote(self, run: Run, shard: Shard) -> None:
        infers, corrections = run.spec.vote.infer_fields, _read_corrections(run, shard)
        inference = FieldInference(_read_journals(run, shard.index)) if infers else None
        papers = build_papers(
            run.table(MEMBERS).batches(shard=shard.index),
            _read_file_facts(_read_facts(run, shard.index)),
            run.spec.vote,
            all_open=run.spec.profile == "own",
            inference=inference,
            corrections=corrections,
        )
        run.table(PAPERS).write(shard.index, papers)
        run.table(CORRECTIONS).write(shard.index, list(corrections.rows()))
        run.exchange(_EXCHANGE).put_counts("inferred", shard.index, inference.tally if inference else {})

    def finish(self, run: Run) -> Metrics:
        """Commit the papers, and return metrics with the counts of inferred fields of study."""
        key = f"{run.folder}/_counts/vote.json"
        with suppress(RowsRemoved):  # An interrupted call may have removed the counts of the buckets.
            counts = run.exchange(_EXCHANGE).all_counts("inferred", run.paper_shards)
            run.lake.put(key, orjson.dumps(sum(map(Counter, counts), Counter())))
        metrics = super().finish(run)
        outcomes = {name: n for name, n in count_outcomes(run, CORRECTIONS).items() if name != "rows"}
        return (
            metrics | outcomes | {f"fields.{name}": float(n) for name, n in orjson.loads(run.lake.get(key)[0]).items()}
        )


def _read_corrections(run: Run, shard: Shard) -> Corrections:
    """Return the corrections of the papers of a bucket, also under their former ids."""
    lines = read_corrections(run.lake.get(f"releases/{run.release_id}/{FILE}")[0])
    if not lines:
        return Corrections()
    ids = pa.array(sorted({line.paper_id for line in lines}), pa.string())
    present = {row["alias"]: row["paper_id"] for row in run.table(ALIASES).rows(where=pc.field("alias").isin(ids))}
    found = Corrections.of(lines, present).lines
    return Corrections({id_: found[id_] for id_ in found if paper_shard(id_, run.paper_shards) == shard.index})


def _read_file_facts(facts_by_identifier: Facts) -> FileFacts:
    pdfs: dict[str, Pdf] = {}
    latex_sources: dict[str, ArxivParse] = {}
    articles: dict[str, Article] = {}
    notices: dict[str, list[Statement]] = {}
    for about, rows in facts_by_identifier.items():
        kind, _, identifier = about.partition(":")
        if kind == "pdf":
            pdfs[identifier] = Pdf(rows[0]["first_seen"], _declarations(rows[0]))
        elif kind == "arxiv":
            row = _select_latest(rows, "archive_sha1")
            latex_sources[identifier] = ArxivParse(row["archive_sha1"], row["parse_id"], identifier, _declarations(row))
        elif kind == "record":
            row = _select_latest(rows, "file_sha1")
            stated = {name: row[name] for name in ("doi", "pmc_id", "license", "open_access")}
            articles[identifier] = Article(
                row["file_sha1"], row["kind"], row["first_seen"], declarations=_declarations(row), **stated
            )
        else:
            notices[about] = sorted((Editorial(row["status"]), row["record_id"]) for row in rows)
    return FileFacts(pdfs, latex_sources, articles, notices)


def _select_latest(rows: list[dict[str, Any]], sha1: str) -> dict[str, Any]:
    """Return the file with the latest `first_seen`; ties go to the smallest SHA-1."""
    return max(sorted(rows, key=lambda row: str(row[sha1])), key=lambda row: str(row["first_seen"]))


def _declarations(row: dict[str, Any]) -> tuple[Declaration, ...]:
    return tuple(
        Declaration(p["folder"] if "folder" in p else p["drop"], p["name"], p["open_access"], p["license"])
        for p in row["places"]
    )


def _send_requests_and_facts(run: Run, shard: Shard) -> None:
    senders = spread(run.paper_shards, _SENDERS)
    if shard.index not in senders:
        return
    task, exchange = senders.index(shard.index), run.exchange(_EXCHANGE)
    buckets = covered_shards(senders, shard.index)
    requests = pa.concat_tables([_read_requests(run, bucket) for bucket in buckets])
    facts = pa.Table.from_batches(_read_facts_of_parts(run, task, len(senders)), _FACTS)
    for name, rows in (("requests", requests), ("facts", facts)):
        exchange.write(name, task, rows, _find_partition(rows["hash"].to_numpy()), _PARTITIONS)
    if run.spec.vote.infer_fields:
        journals = pa.concat_tables([_count_journals(run, bucket) for bucket in buckets]).combine_chunks()
        hashes = _hash_identifiers(journals["journal"].combine_chunks())
        exchange.write("journals", task, journals, _find_partition(hashes), _PARTITIONS)


def _send_requested_facts(run: Run, shard: Shard) -> None:
    answerers, senders = spread(run.paper_shards, _PARTITIONS), spread(run.paper_shards, _SENDERS)
    if shard.index not in answerers:
        return
    task, exchange = answerers.index(shard.index), run.exchange(_EXCHANGE)
    begin, end = (number * _PARTITIONS // len(answerers) for number in (task, task + 1))
    if run.spec.vote.infer_fields:
        _send_journals(run, task, len(senders), begin, end)
    requests = exchange.read("requests", range(len(senders)), begin, _REQUESTS, end).sort_by("hash")
    facts = exchange.read("facts", range(len(senders)), begin, _FACTS, end).combine_chunks()
    first, count = find_keys(requests["hash"].to_numpy(), facts["hash"].to_numpy())
    fact, request = expand_ranges(first, count)
    bucket = requests["bucket"].to_numpy()[request]
    exchange.write("answers", task, facts.take(pa.array(fact)), bucket, run.paper_shards)


def _count_journals(run: Run, bucket: int) -> pa.Table:
    """Return the number of papers of a bucket that declare each field, by journal."""
    columns = ["paper_id", "record_id", "source", "kind", "journal", "issns", "subjects"]
    rows = (row for batch in run.table(MEMBERS).batches(columns, shard=bucket) for row in batch.to_pylist())
    papers = (list(map(read_record, members)) for _, members in groupby(rows, key=itemgetter("paper_id")))
    counts = [(bucket, *count) for count in count_declarations(papers)]
    return pa.Table.from_pylist([dict(zip(_JOURNALS.names, row, strict=True)) for row in counts], _JOURNALS)


def _send_journals(run: Run, task: int, senders: int, begin: int, end: int) -> None:
    """Add the counts of each journal, and send them to all buckets with its papers."""
    exchange = run.exchange(_EXCHANGE)
    rows = exchange.read("journals", range(senders), begin, _JOURNALS, end)
    buckets = rows.group_by(["journal", "bucket"]).aggregate([])
    counts = rows.group_by(["journal", "field"]).aggregate([("papers", "sum")]).rename_columns({"papers_sum": "papers"})
    answers = buckets.join(counts, "journal", join_type="inner").select(_JOURNALS.names).cast(_JOURNALS)
    answers = answers.sort_by([(name, "ascending") for name in ("bucket", "journal", "field")])  # A join has no order.
    exchange.write("journal_answers", task, answers, answers["bucket"].to_numpy(), run.paper_shards)


def _read_journals(run: Run, bucket: int) -> JournalCounts:
    answerers = spread(run.paper_shards, _PARTITIONS)
    counts: dict[str, dict[str, int]] = {}
    for table in run.exchange(_EXCHANGE).read_by_file("journal_answers", range(len(answerers)), bucket, _JOURNALS):
        for row in table.to_pylist():
            counts.setdefault(row["journal"], {})[row["field"]] = row["papers"]
    return counts


def _read_facts(run: Run, bucket: int) -> dict[str, list[dict[str, Any]]]:
    """Return the facts about the identifiers of a bucket: `<kind>:<identifier>` → facts."""
    answerers = spread(run.paper_shards, _PARTITIONS)
    found: dict[str, list[dict[str, Any]]] = {}
    for table in run.exchange(_EXCHANGE).read_by_file("answers", range(len(answerers)), bucket, _FACTS):
        for about, fact in zip(table["about"].to_pylist(), table["fact"].to_pylist(), strict=True):
            found.setdefault(about, []).append(orjson.loads(fact))
    return found


def _find_partition(hashes: np.ndarray) -> np.ndarray:
    partition: np.ndarray = (hashes >> np.uint64(32)) * np.uint64(_PARTITIONS) >> np.uint64(32)
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
        return _REQUESTS.empty_table()
    found = [np.empty(0, np.uint64)]
    columns = ["kind", *(column for _, column in requested)]
    for batch in run.table(MEMBERS).batches(columns, shard=bucket, rows=_AT_ONCE):
        for kind, column in requested:
            values = batch[column]
            if kind == "pdf":
                values = values.filter(pc.equal(batch["kind"], "pdf"))
            found.append(np.unique(_hash_identifiers(pc.binary_join_element_wise(kind, values.drop_null(), ":"))))
    hashes = np.unique(np.concatenate(found))
    return pa.table([hashes, np.full(len(hashes), bucket, np.int32)], schema=_REQUESTS)


def _read_facts_of_parts(run: Run, task: int, tasks: int) -> Iterator[pa.RecordBatch]:
    """Yield the facts of every `tasks`-th part of each table, starting with part `task`."""
    latex = ["archive_sha1", "arxiv_id", "parse_id", "first_seen"]
    article = ["file_sha1", "kind", "record_ids", "first_seen", "doi", "pmc_id", "license", "open_access"]
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
    key = columns[0]
    rows = list(run.table(parses).rows(columns, shard=part, where=pc.field("outcome") == "ok"))
    where = pc.field(key).isin(pa.array([row[key] for row in rows], pa.string()))
    places = {row[key]: row["places"] for row in run.table(files).rows([key, "places"], shard=part, where=where)}
    return [{**row, "places": places[row[key]]} for row in rows]


def _to_batch(facts: Iterable[tuple[str, dict[str, Any]]]) -> pa.RecordBatch:
    rows = list(facts)
    about = pa.array([about for about, _ in rows], pa.string())
    return pa.record_batch(
        [_hash_identifiers(about), about, pa.array([orjson.dumps(fact) for _, fact in rows], pa.binary())],
        schema=_FACTS,
    )


def _hash_identifiers(about: pa.Array) -> np.ndarray:
    hashes: np.ndarray = hash_strings(*text_of(about))
    return hashes
