"""Bring papers together with their full texts (S2ORC §2.4).

The full texts are the parses of a paper's canonical PDF, its LaTeX source and publishers' files. They are written to the paper's
bucket, so that every later stage reads only one part. Papers are stored by a hash of their ids, and files by their SHA-1.
Assembly therefore takes three rounds:

1. Buckets request the files that they need.
2. Each part of files sends its parses.
3. Each bucket collects its parses.

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

from s2corpus.pipeline.run import Metrics, Run, Shard, commit_all, list_paper_shards
from s2corpus.storage.duck import duckdb_connection
from s2corpus.storage.exchange import Exchange, spread
from s2corpus.tables.columns import Access, Json
from s2corpus.tables.papers import PAPERS
from s2corpus.tables.parses import ARTICLE_PARSES, LATEX_PARSES, PARSES, STORED_PARSES
from s2corpus.tables.schema import pdf_shard
from s2corpus.tables.texts import ENTRIES, FULLTEXTS, EntryRow, FulltextRow

_PARSES = 64
"""number of parses in memory at a time"""
_ASKERS = 512
"""maximum number of shards that request parses"""
_SENDERS = 128
"""number of files of parses that a bucket opens, unless a file would contain more than `_PARSES_SENT` parses"""
_PARSES_SENT = 250_000
"""maximum number of parses in a file: about 8 GB of disk"""
_WANTED = pa.schema([("sha1", pa.string()), ("bucket", pa.int64())])
_SENT = pa.schema(
    [("parse_id", pa.string()), ("sha1", pa.string()), ("text_layer", pa.string()), ("parse", pa.binary())]
)


class AssembleStage:
    """Papers and parses → full texts and bibliography entries by paper."""

    name = "assemble"

    def plan(self, run: Run, round: int = 0) -> list[Shard]:
        """Return a shard for each bucket of papers."""
        return list_paper_shards(run)

    def work(self, run: Run, shard: Shard, round: int = 0) -> None:
        """Run one of three rounds: request the files for some buckets, send their parses, or write a bucket."""
        (self._ask, self._send, self._write)[round](run, shard)

    def _ask(self, run: Run, shard: Shard) -> None:
        """Write a request for the files that the papers of some buckets need, addressed to the shards that send them."""
        askers, senders = spread(run.paper_shards, _ASKERS), _senders(run)
        if shard.index not in askers:
            return
        wanted = [
            {"sha1": sha1, "bucket": bucket}
            for bucket in range(shard.index, min(shard.index + askers.step, run.paper_shards))
            for sha1 in _by_file(run, bucket)
        ]
        first_parts = _first_parts(run)
        parts = len(run.table(PARSES).committed().parts)
        sender = np.array([pdf_shard(str(one["sha1"]), parts) for one in wanted], np.int64)
        sender = np.searchsorted(first_parts, sender, side="right") - 1
        rows = pa.Table.from_pylist(wanted, _WANTED)
        _exchange(run).write("wanted", askers.index(shard.index), rows, sender, len(senders))

    def _send(self, run: Run, shard: Shard) -> None:
        """Send the parses of some parts of files to the buckets that need them."""
        _send(run, shard)

    def _write(self, run: Run, shard: Shard) -> None:
        """Write a bucket in bounded memory. Its parses arrive in the order of files and are sorted on disk."""
        by_file = _by_file(run, shard.index)
        with tempfile.TemporaryDirectory(prefix="s2corpus-assemble-", dir=run.scratch) as folder:
            scratch = Path(folder)
            found = {table: scratch / f"{table.name}.parquet" for table in (FULLTEXTS, ENTRIES)}
            with (
                pq.ParquetWriter(found[FULLTEXTS], FULLTEXTS.schema, compression="zstd") as fulltexts,
                pq.ParquetWriter(found[ENTRIES], ENTRIES.schema, compression="zstd") as entries,
            ):
                parses = _parses(run, shard.index, by_file)
                while rows := list(islice(parses, _PARSES)):
                    texts = [text for text, _ in rows]
                    fulltexts.write_table(pa.Table.from_pylist(texts, FULLTEXTS.schema))
                    cited = [entry for text, entries_of in rows for entry in _entries(text, entries_of)]
                    entries.write_table(pa.Table.from_pylist(cited, ENTRIES.schema))
            for table, path in found.items():
                # One thread produces the same batches every time, and therefore the same bytes.
                memory = run.spec.resources.memory_mb
                with duckdb_connection(memory_mb=memory, scratch=scratch, threads=1) as connection:
                    ordered = f"FROM read_parquet(?) ORDER BY {', '.join(table.key)}"
                    run.table(table).write(
                        shard.index, connection.execute(ordered, [str(path)]).to_arrow_reader(_PARSES)
                    )

    def finish(self, run: Run) -> Metrics:
        """Commit the tables, remove the temporary exchange and return metrics."""
        metrics = commit_all(run, self.name, run.paper_shards)
        _exchange(run).remove()
        return metrics


def _exchange(run: Run) -> Exchange:
    return Exchange(run.lake.root, f"{run.folder}/_assemble")


def _senders(run: Run) -> range:
    """Return the shards that send parses: as few as disk space allows, because each bucket opens one file per sender."""
    commit = run.table(PARSES).committed()
    return spread(run.paper_shards, max(1, min(len(commit.parts), max(_SENDERS, commit.rows // _PARSES_SENT))))


def _first_parts(run: Run) -> np.ndarray:
    """Return the first part of files that each sender reads."""
    senders, parts = len(_senders(run)), len(run.table(PARSES).committed().parts)
    return np.arange(senders) * parts // senders


def _by_file(run: Run, bucket: int) -> dict[str, tuple[str, Access]]:
    """Return file SHA-1 → (paper id, access decision) for the full texts of a bucket. Most papers have none."""
    columns, some = ("paper_id", "canonical_pdf", "access"), pc.list_value_length(pc.field("access")) > 0
    return {
        one["sha1"]: (paper["paper_id"], one)
        for paper in run.table(PAPERS).rows(columns, shard=bucket, where=some)
        for one in paper["access"]
        if one["sha1"] == paper["canonical_pdf"] or one["kind"] != "pdf"
    }


def _send(run: Run, shard: Shard) -> None:
    """Send the parses of adjacent parts of files to the buckets that requested them. Each part is read once."""
    senders, askers = _senders(run), spread(run.paper_shards, _ASKERS)
    if shard.index not in senders:
        return
    task, exchange = senders.index(shard.index), _exchange(run)
    wanted = exchange.read("wanted", range(len(askers)), task, _WANTED)
    buckets: dict[str, list[int]] = defaultdict(list)
    for sha1, bucket in zip(wanted["sha1"].to_pylist(), wanted["bucket"].to_pylist(), strict=True):
        buckets[sha1].append(bucket)
    parts = [*_first_parts(run).tolist(), len(run.table(PARSES).committed().parts)]
    with exchange.writer("parses", task, run.paper_shards, _SENT, run.scratch) as writer:
        for part in range(parts[task], parts[task + 1]):
            found = _stored(run, part, buckets)
            while rows := list(islice(found, _PARSES)):
                table = pa.Table.from_pylist([row for row, _ in rows], _SENT)
                writer.add(table, np.array([bucket for _, bucket in rows], np.int64))


def _stored(run: Run, part: int, buckets: dict[str, list[int]]) -> Iterator[tuple[dict[str, object], int]]:
    """Yield the requested parses of a part of files, once for each requesting bucket."""
    known: dict[str, dict[str, dict[str, object]]] = defaultdict(dict)
    for table in (PARSES, LATEX_PARSES, ARTICLE_PARSES):
        key = "file_sha1" if table is PARSES else table.key[0]
        columns = [key, "parse_id", "stored", *(["text_layer"] if table is PARSES else [])]
        for batch in run.table(table).batches(columns, shard=part, where=pc.field("outcome") == "ok"):
            for sha1, parse_id, stored, *layer in zip(*(column.to_pylist() for column in batch.columns), strict=True):
                if sha1 in buckets:
                    known[stored][sha1] = {"parse_id": parse_id, "text_layer": layer[0] if layer else None}
    for stored, ids in sorted(known.items()):
        store = run.store(STORED_PARSES, *stored.split("/")[1:-1])
        for found in store.fetch(stored, ids, ["file_sha1", "parse"]):
            sent: dict[str, object] = {**found, **ids[found["file_sha1"]], "sha1": found["file_sha1"]}
            yield from ((sent, bucket) for bucket in buckets[found["file_sha1"]])


def _parses(run: Run, bucket: int, by_file: dict[str, tuple[str, Access]]) -> Iterator[tuple[FulltextRow, Json]]:
    """Yield the parses that were sent to a bucket as rows of FULLTEXTS, each with its bibliography."""
    for table in _exchange(run).read_by_file("parses", range(len(_senders(run))), bucket, _SENT):
        for sent in (row for batch in table.to_batches(_PARSES) for row in batch.to_pylist()):
            paper_id, access = by_file[sha1 := sent["sha1"]]
            parse = orjson.loads(sent["parse"] or b"")
            text = FulltextRow(
                paper_id=paper_id,
                parse_kind=access["kind"],
                parse_id=sent["parse_id"],
                file_sha1=sha1,
                open_access=access["open_access"],
                oa_evidence=access["oa_evidence"],
                licence=access["licence"],
                text_layer=sent["text_layer"],
                parse=orjson.dumps({**parse, "paper_id": paper_id}),
            )
            yield text, parse["bib_entries"]


def _entries(text: FulltextRow, bib_entries: Json) -> Iterator[EntryRow]:
    """Yield the bibliography of a parse as rows of ENTRIES."""
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
