"""Clean: kept papers become documents of the sets s2orc and s2ag by the S2 V2 card's rules (SEMANTICS: Clean)."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from s2corpus import spec
from s2corpus.papers.vote import Rule as Decided
from s2corpus.pipeline.run import Metrics, Run, Shard, commit_all, paper_shards
from s2corpus.snapshot.rows import tally
from s2corpus.sources.record import Kind
from s2corpus.storage.lake import Lake
from s2corpus.storage.uris import fetch
from s2corpus.tables import DOCUMENTS, FILTERED, FULLTEXTS, MEMBERS, PAPERS
from s2corpus.text.clean import clean_s2ag, clean_s2orc
from s2corpus.text.documents import Decision, Document, Outcome
from s2corpus.text.layout import units_of_parse
from s2corpus.text.near_duplicates import text_key, title_key
from s2corpus.text.unigrams import Unigrams, parse_unigrams, wordfreq_unigrams

_ROWS = 256
"""Documents held in memory at a time."""


class Clean:
    """papers, members, filtered, fulltexts → documents: one row a kept paper in s2orc, one more in s2ag if it is not in s2orc."""

    name = "clean"
    reads = (PAPERS, MEMBERS, FILTERED, FULLTEXTS)
    writes = (DOCUMENTS,)

    def plan(self, run: Run) -> list[Shard]:
        """One shard a bucket of papers."""
        return paper_shards(run)

    def work(self, run: Run, shard: Shard) -> None:
        """Decide every kept paper of one bucket, in bounded memory."""
        rules = rules_of(run.spec)
        unigrams = load_unigrams(rules, run.lake)
        with tempfile.TemporaryDirectory(prefix="s2corpus-clean-", dir=run.scratch) as scratch:
            full = Path(scratch) / "s2orc.parquet"
            rest = _write_s2orc(run, shard, rules, unigrams, full)
            run.table(DOCUMENTS).write(shard.index, _rows(run, shard, rules, unigrams, rest, full))

    def finish(self, run: Run) -> Metrics:
        """Commit; outcomes are counted per set."""
        metrics = commit_all(run, self.writes, run.paper_shards)
        counts = sorted(tally(run.table(DOCUMENTS), ["set", "outcome"]).items())
        return metrics | {f"{set_}.{outcome}": float(n) for (set_, outcome), n in counts}


def rules_of(release: spec.ReleaseSpec) -> spec.Clean:
    """The cleaning rules of a spec: for a user's own folder unknown years are kept."""
    return release.clean if release.profile != "own" else release.clean.model_copy(update={"unknown_year": "keep"})


def load_unigrams(rules: spec.Clean, lake: Lake) -> Unigrams:
    """The word list of a profile: by URI and checksum, kept in the lake once fetched; wordfreq's where none is named."""
    if rules.unigrams is None:
        return wordfreq_unigrams()
    key = f"unigrams/{rules.unigrams.sha256}"
    try:
        content, _ = lake.get(key)
    except FileNotFoundError:
        content = fetch(rules.unigrams.uri)
        found = parse_unigrams(rules.unigrams.uri, content, rules.unigrams.sha256)
        lake.put(key, content)
        return found
    return parse_unigrams(rules.unigrams.uri, content, rules.unigrams.sha256)


def _write_s2orc(run: Run, shard: Shard, rules: spec.Clean, unigrams: Unigrams, path: Path) -> set[str]:
    """Decide the full texts of a bucket into a local file; the ids of the papers that stay for s2ag."""
    rest = set()
    with pq.ParquetWriter(path, DOCUMENTS.schema, compression="zstd") as writer:
        papers = _papers(run, shard)
        parses = _parses(run, shard)
        upcoming = next(parses, None)
        rows = []
        for paper in papers:
            while upcoming is not None and upcoming[0] < paper["paper_id"]:
                upcoming = next(parses, None)
            fulltexts = upcoming[1] if upcoming is not None and upcoming[0] == paper["paper_id"] else []
            first = _first(fulltexts, rules)
            decision = clean_s2orc(_document(paper, fulltexts, first, rules), rules, unigrams)
            if decision.outcome is not Outcome.KEPT:
                rest.add(paper["paper_id"])
            row = _row(decision, paper)
            if first is not None:
                row |= {"sha1": first["pdf_sha1"], "oa_evidence": first["oa_evidence"], "licence": first["licence"]}
            rows.append(row)
            if len(rows) == _ROWS:
                writer.write_table(pa.Table.from_pylist(rows, DOCUMENTS.schema))
                rows = []
        writer.write_table(pa.Table.from_pylist(rows, DOCUMENTS.schema))
    return rest if "s2ag" in rules.sets else set()


def _rows(
    run: Run, shard: Shard, rules: spec.Clean, unigrams: Unigrams, rest: set[str], full: Path
) -> Iterator[pa.RecordBatch]:
    """The bucket's rows by (set, paper_id): s2ag, then s2orc."""
    decided = (
        _row(clean_s2ag(_document(paper, [], None, rules), rules, unigrams), paper)
        for paper in _papers(run, shard)
        if paper["paper_id"] in rest
    )
    while rows := list(islice(decided, _ROWS * 8)):
        yield pa.RecordBatch.from_pylist(rows, DOCUMENTS.schema)
    if "s2orc" in rules.sets:
        yield from pq.ParquetFile(full).iter_batches(_ROWS)


def _papers(run: Run, shard: Shard) -> Iterator[dict[str, Any]]:
    """The kept papers of a bucket, by paper_id, with the sources that know them otherwise than from their PDFs."""
    sources: dict[str, set[str]] = {}
    others = pc.field("kind") != Kind.PDF.value
    for batch in run.table(MEMBERS).batches(["paper_id", "source", "kind"], shard=shard.index, where=others):
        for paper_id, source in zip(batch["paper_id"].to_pylist(), batch["source"].to_pylist(), strict=True):
            sources.setdefault(paper_id, set()).add(sys.intern(source))
    filtered = run.table(FILTERED).read(shard=shard.index)
    kept = {
        paper_id
        for paper_id, outcome in zip(filtered["paper_id"].to_pylist(), filtered["outcome"].to_pylist(), strict=True)
        if outcome == "kept"
    }
    columns = [
        "paper_id",
        "title",
        "authors",
        "abstract",
        "date",
        "access",
        "provenance",
    ]
    for batch in run.table(PAPERS).batches(columns, shard=shard.index):
        for paper in batch.to_pylist():
            if paper["paper_id"] in kept:
                abstract_from = dict(paper["provenance"]).get("abstract") or {}
                open_pdf = any(one["open_access"] for one in paper["access"] if one["kind"] == "pdf")
                if not open_pdf and abstract_from.get("rule") == Decided.PDF:
                    paper["abstract"] = None  # read from a PDF that is not open
                paper["sources"] = sorted(sources.get(paper["paper_id"], ()))
                yield paper


def _parses(run: Run, shard: Shard) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """paper_id → its parses, by paper_id."""
    current: tuple[str, list[dict[str, Any]]] | None = None
    columns = ["paper_id", "parse_kind", "pdf_sha1", "open_access", "oa_evidence", "licence", "parse"]
    for batch in run.table(FULLTEXTS).batches(columns, shard=shard.index, rows=16):
        for row in batch.to_pylist():
            if current is not None and current[0] == row["paper_id"]:
                current[1].append(row)
                continue
            if current is not None:
                yield current
            current = (row["paper_id"], [row])
    if current is not None:
        yield current


def _first(fulltexts: list[dict[str, Any]], rules: spec.Clean) -> dict[str, Any] | None:
    """The open full text that a paper's text is from: the first in the spec's order (S2 V2 card: the PDF's)."""
    open_parses = [parse for parse in fulltexts if parse["open_access"]]
    return min(open_parses, key=lambda parse: rules.text_from.index(parse["parse_kind"]), default=None)


def _document(
    paper: dict[str, Any], fulltexts: list[dict[str, Any]], first: dict[str, Any] | None, rules: spec.Clean
) -> Document:
    """The paper as the rules see it, with the text of the full text that comes first."""
    body = None
    if first is not None:
        body = units_of_parse(orjson.loads(first["parse"]), drop_citations=rules.citations == "drop")
    return Document(
        paper_id=paper["paper_id"],
        title=paper["title"],
        abstract=paper["abstract"],
        date=paper["date"],
        body=() if fulltexts and body is None else body,
        open_access=first is not None or not fulltexts,
        sources=tuple(paper["sources"]),
    )


def _row(decision: Decision, paper: dict[str, Any]) -> dict[str, Any]:
    row = asdict(decision)
    if decision.text is not None:
        authors = paper["authors"] or [{"last": ""}]
        row["text_key"] = text_key(decision.text)
        row["title_key"] = title_key(paper["title"], authors[0]["last"])
    row["language_votes"] = decision.language_votes and list(decision.language_votes.items())
    return row
