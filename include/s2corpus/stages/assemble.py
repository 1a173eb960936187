"""Join papers with their full texts (S2ORC §2.4).

The full texts are the parses of a paper's canonical PDF, its LaTeX source and publishers' files. They are written to the paper's
bucket, so that every later stage reads only one part. Papers are stored by a hash of their ids, and files by their SHA-1.
Assembly therefore takes three rounds:

1. Request the files that the papers of each bucket need.
2. Send the parses of each part of files to the buckets that requested them.
3. Write each bucket from the parses that were sent to it.

Text of closed papers is marked. Their bibliographies are used, but their text is never exported.
"""

from __future__ import annotations

import tempfile
from collections import defaultdict
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from s2corpus.pipeline.run import Run, Shard, Stage
from s2corpus.storage.duck import duckdb_connection
from s2corpus.storage.exchange import covered_shards, spread
from s2corpus.tables.columns import Access, Json
from s2corpus.tables.papers import PAPERS
from s2corpus.tables.parses import ARTICLE_PARSES, LATEX_PARSES, PARSES, STORED_PARSES
from s2corpus.tables.schema import pdf_shard
from s2corpus.tables.texts import ENTRIES, FULLTEXTS, EntryRow, FulltextRow

_EXCHANGE = "_assemble"
_BATCH_PARSES = 64
"""number of parses in memory at a time"""
_MAX_REQUESTERS = 512
"""maximum number of shards that request parses"""
_MIN_SENDERS = 128
"""number of shards that send parses, and of files that a bucket opens; more if a file would exceed `_MAX_SENT_PARSES`"""
_MAX_SENT_PARSES = 250_000
"""maximum number of parses in a file: about 8 GB of disk"""
_REQUEST = pa.schema([("sha1", pa.string()), ("bucket", pa.int64())])
_SENT = pa.schema(
    [("parse_id", pa.string()), ("sha1", pa.string()), ("text_layer", pa.string()), ("parse", pa.binary())]
)


class AssembleStage(Stage):
    """The assemble stage. It reads papers and parses, and writes full texts and bibliography entries by paper."""

    name = "assemble"
    exchange = _EXCHANGE

    def work(self, run: Run, shard: Shard, round: int = 0) -> None:
        """Run one of three rounds: request the files for some buckets, send their parses, or write a bucket."""
        (_request_parses, _send_parses, self._write)[round](run, shard)

    def _write(self, run: Run, shard: Shard) -> None:
        """Write a bucket in bounded memory. Its parses arrive in the order of files and are sorted on disk."""
        with tempfile.TemporaryDirectory(prefix="s2corpus-assemble-", dir=run.scratch) as folder:
            scratch = Path(folder)
            unsorted = {table: scratch / f"{table.name}.parquet" for table in (FULLTEXTS, ENTRIES)}
            with (
                pq.ParquetWriter(unsorted[FULLTEXTS], FULLTEXTS.schema, compression="zstd") as fulltexts,
                pq.ParquetWriter(unsorted[ENTRIES], ENTRIES.schema, compression="zstd") as entries,
            ):
                parses = _collect_fulltexts(run, shard.index)
                while rows := list(islice(parses, _BATCH_PARSES)):
                    fulltexts.write_table(pa.Table.from_pylist([text for text, _ in rows], FULLTEXTS.schema))
                    cited = [entry for text, bib_entries in rows for entry in _make_entries(text, bib_entries)]
                    entries.write_table(pa.Table.from_pylist(cited, ENTRIES.schema))
            for table, path in unsorted.items():
                # One thread produces the same batches every time, and therefore the same bytes.
                memory = run.spec.resources.memory_mb
                with duckdb_connection(memory_mb=memory, scratch=scratch, threads=1) as connection:
                    query = f"FROM read_parquet(?) ORDER BY {', '.join(table.key)}"
                    sorted_rows = connection.execute(query, [str(path)]).to_arrow_reader(_BATCH_PARSES)
                    run.table(table).write(shard.index, sorted_rows)


def _senders(run: Run) -> range:
    """Return the shards that send parses: as few as disk space allows, because each bucket opens one file per sender."""
    commit = run.table(PARSES).committed()
    return spread(run.paper_shards, max(1, min(len(commit.parts), max(_MIN_SENDERS, commit.rows // _MAX_SENT_PARSES))))


def _first_parts(run: Run) -> np.ndarray:
    """Return the number of the first part of files that each sender reads."""
    senders, parts = len(_senders(run)), len(run.table(PARSES).committed().parts)
    return np.arange(senders) * parts // senders


def _map_files_to_papers(run: Run, bucket: int) -> dict[str, tuple[str, Access]]:
    """Return file SHA-1 → (paper id, access decision) for the full texts of a bucket."""
    columns = ("paper_id", "canonical_pdf", "access")
    has_file = pc.list_value_length(pc.field("access")) > 0
    return {
        access["sha1"]: (paper["paper_id"], access)
        for paper in run.table(PAPERS).rows(columns, shard=bucket, where=has_file)
        for access in paper["access"]
        if access["sha1"] == paper["canonical_pdf"] or access["kind"] != "pdf"
    }


def _request_parses(run: Run, shard: Shard) -> None:
    requesters, senders = spread(run.paper_shards, _MAX_REQUESTERS), _senders(run)
    if shard.index not in requesters:
        return
    requests = [
        {"sha1": sha1, "bucket": bucket}
        for bucket in covered_shards(requesters, shard.index)
        for sha1 in _map_files_to_papers(run, bucket)
    ]
    parts = len(run.table(PARSES).committed().parts)
    part = np.array([pdf_shard(str(request["sha1"]), parts) for request in requests], np.int64)
    sender = np.searchsorted(_first_parts(run), part, side="right") - 1
    rows = pa.Table.from_pylist(requests, _REQUEST)
    run.exchange(_EXCHANGE).write("wanted", requesters.index(shard.index), rows, sender, len(senders))


def _send_parses(run: Run, shard: Shard) -> None:
    """Send the parses of adjacent parts of files to the buckets that requested them. Each part is read once."""
    senders, requesters = _senders(run), spread(run.paper_shards, _MAX_REQUESTERS)
    if shard.index not in senders:
        return
    task, exchange = senders.index(shard.index), run.exchange(_EXCHANGE)
    requests = exchange.read("wanted", range(len(requesters)), task, _REQUEST)
    buckets: dict[str, list[int]] = defaultdict(list)
    for sha1, bucket in zip(requests["sha1"].to_pylist(), requests["bucket"].to_pylist(), strict=True):
        buckets[sha1].append(bucket)
    parts = [*_first_parts(run).tolist(), len(run.table(PARSES).committed().parts)]
    with exchange.writer("parses", task, run.paper_shards, _SENT, run.scratch) as writer:
        for part in range(parts[task], parts[task + 1]):
            parses = _read_requested_parses(run, part, buckets)
            while rows := list(islice(parses, _BATCH_PARSES)):
                table = pa.Table.from_pylist([row for row, _ in rows], _SENT)
                writer.add(table, np.array([bucket for _, bucket in rows], np.int64))


def _read_requested_parses(
    run: Run, part: int, buckets: dict[str, list[int]]
) -> Iterator[tuple[dict[str, object], int]]:
    by_stored_part: dict[str, dict[str, dict[str, object]]] = defaultdict(dict)
    for table in (PARSES, LATEX_PARSES, ARTICLE_PARSES):
        key = "file_sha1" if table is PARSES else table.key[0]
        columns = [key, "parse_id", "stored", *(["text_layer"] if table is PARSES else [])]
        for batch in run.table(table).batches(columns, shard=part, where=pc.field("outcome") == "ok"):
            for sha1, parse_id, stored, *layer in zip(*(column.to_pylist() for column in batch.columns), strict=True):
                if sha1 in buckets:
                    by_stored_part[stored][sha1] = {"parse_id": parse_id, "text_layer": layer[0] if layer else None}
    for stored, ids in sorted(by_stored_part.items()):
        store = run.store(STORED_PARSES, *stored.split("/")[1:-1])
        for row in store.fetch(stored, ids, ["file_sha1", "parse"]):
            sent: dict[str, object] = {**row, **ids[row["file_sha1"]], "sha1": row["file_sha1"]}
            yield from ((sent, bucket) for bucket in buckets[row["file_sha1"]])


def _collect_fulltexts(run: Run, bucket: int) -> Iterator[tuple[FulltextRow, Json]]:
    """Yield the parses that were sent to a bucket as rows of FULLTEXTS, each with its bibliography."""
    papers = _map_files_to_papers(run, bucket)
    for table in run.exchange(_EXCHANGE).read_by_file("parses", range(len(_senders(run))), bucket, _SENT):
        for sent in (row for batch in table.to_batches(_BATCH_PARSES) for row in batch.to_pylist()):
            paper_id, access = papers[sent["sha1"]]
            parse = orjson.loads(sent["parse"] or b"")
            text = FulltextRow(
                paper_id=paper_id,
                parse_kind=access["kind"],
                parse_id=sent["parse_id"],
                file_sha1=sent["sha1"],
                open_access=access["open_access"],
                oa_evidence=access["oa_evidence"],
                license=access["license"],
                text_layer=sent["text_layer"],
                parse=orjson.dumps({**parse, "paper_id": paper_id}),
            )
            yield text, parse["bib_entries"]


def _make_entries(text: FulltextRow, bib_entries: Json) -> Iterator[EntryRow]:
    for ref_id, entry in bib_entries.items():
        ids = {kind: values[0] for kind, values in entry["other_ids"].items() if values}
        yield EntryRow(
            paper_id=text["paper_id"],
            parse_kind=text["parse_kind"],
            parse_id=text["parse_id"],
            ref_id=ref_id,
            title=entry["title"] or None,
            authors=entry["authors"],
            year=entry["year"],
            venue=entry["venue"] or None,
            volume=entry.get("volume") or None,
            issue=entry.get("issue") or None,
            pages=entry.get("pages") or None,
            doi=ids.get("DOI"),
            arxiv_id=ids.get("arXiv"),
            pubmed_id=ids.get("PMID"),
            pmc_id=ids.get("PMCID"),
            raw_text=entry["raw_text"] or None,
        )
