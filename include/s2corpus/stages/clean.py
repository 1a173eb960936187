"""Turn papers that passed the filter into documents of the sets s2orc and s2ag by the S2 V2 card's rules (SPEC §8)."""

from __future__ import annotations

import logging
import sys
import tempfile
from collections.abc import Collection, Iterator, Mapping
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import Any, cast

import orjson
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from s2corpus import spec
from s2corpus.outcomes import CleanOutcome
from s2corpus.papers.vote import VoteRule
from s2corpus.pipeline.run import Metrics, Run, Shard, Stage, commit_all
from s2corpus.sources.record import SCIENCEPARSE, RecordKind
from s2corpus.storage.by_paper import ByPaper
from s2corpus.storage.lake import Lake
from s2corpus.storage.uris import fetch
from s2corpus.tables.papers import MEMBERS, PAPERS, PaperRow
from s2corpus.tables.texts import DOCUMENTS, FILTERED, FULLTEXTS, DocumentRow, FulltextRow
from s2corpus.text import minhash
from s2corpus.text.clean import clean
from s2corpus.text.documents import CleanedDocument, DocumentDecision
from s2corpus.text.near_duplicates import text_key, title_key
from s2corpus.text.personal import mask_parse, mask_text
from s2corpus.text.unigrams import Unigrams, parse_unigrams, wordfreq_unigrams
from s2corpus_reader.layout import list_units

_PARSE = ("paper_id", "parse_kind", "file_sha1", "open_access", "oa_evidence", "license", "parse")
_PAPER = ("paper_id", "title", "authors", "abstract", "date", "access", "provenance", "editorial")
log = logging.getLogger(__name__)
_ROWS = 256
"""number of documents in memory at a time"""


class CleanStage(Stage):
    """The clean stage. It reads papers, members, filtered and fulltexts, and writes documents.

    Every kept paper has one row in s2orc, and another row in s2ag if its s2orc document was dropped. If the spec contains only s2ag,
    every kept paper has one row in it.
    """

    name = "clean"

    def work(self, run: Run, shard: Shard, round: int = 0) -> None:
        """Write a decision for every kept paper of one bucket, in bounded memory."""
        with tempfile.TemporaryDirectory(prefix="s2corpus-clean-", dir=run.scratch) as scratch:
            run.table(DOCUMENTS).write(shard.index, Bucket(run, shard.index).decide(Path(scratch) / "s2orc.parquet"))

    def finish(self, run: Run) -> Metrics:
        """Commit the table; return metrics with the outcomes of each set."""
        metrics = commit_all(run, self.name, run.paper_shards)
        counts = sorted(run.table(DOCUMENTS).counts("set", "outcome").items())
        rules = run.spec.clean
        own = {
            f"{set_}.{rule.outcome}": 0.0 for set_ in rules.sets for rule in rules.rules
        }  # also if a rule drops nothing
        return metrics | own | {f"{set_}.{outcome}": float(n) for (set_, outcome), n in counts}


def _load_unigrams(rules: spec.CleanRules, lake: Lake) -> Unigrams:
    """Return the word list of a spec, which is fetched once and then cached in the lake, or by default wordfreq's list.

    Raises:
        UserError: the list is invalid.
    """
    if rules.unigrams is None:
        return wordfreq_unigrams()
    uri, sha256 = rules.unigrams.uri, rules.unigrams.sha256
    key = f"unigrams/{sha256}"
    try:
        return parse_unigrams(uri, lake.get(key)[0], sha256)
    except FileNotFoundError:
        content = fetch(uri)
    unigrams = parse_unigrams(uri, content, sha256)
    lake.put(key, content)
    return unigrams


class _KeptPaper(PaperRow):
    """A kept paper, with the sources that have a record of it other than its PDFs."""

    sources: list[str]


class Bucket:
    """One bucket of papers, with the rules and data that decide its documents."""

    def __init__(self, run: Run, number: int, only: Collection[str] | None = None) -> None:
        """Open the bucket `number`. `only` restricts it to these papers."""
        self._run, self._number, self._only = run, number, only
        self._rules = run.spec.clean
        if run.spec.profile == "own":  # a user's own folder: keep papers with unknown years
            self._rules = self._rules.model_copy(update={"unknown_year": "keep"})
        self._unigrams = _load_unigrams(self._rules, run.lake)

    def decide(self, s2orc: Path) -> Iterator[pa.RecordBatch]:
        """Yield the decisions by (set, paper_id): s2ag, then s2orc. The file `s2orc` stores those of s2orc until then."""
        has_s2orc = "s2orc" in self._rules.sets
        s2ag_ids = self._write_s2orc(s2orc) if has_s2orc else {paper["paper_id"] for paper in self._read_kept_papers()}
        log.info("clean shard %d: s2orc decided, %d papers remain for s2ag", self._number, len(s2ag_ids))
        rows = (
            self._make_row(clean("s2ag", self._make_document(paper, [], None), self._rules, self._unigrams), paper)
            for paper in self._read_kept_papers()
            if paper["paper_id"] in s2ag_ids
        )
        while batch := list(islice(rows, _ROWS * 8)):
            yield pa.RecordBatch.from_pylist(batch, DOCUMENTS.schema)
        if has_s2orc:
            yield from pq.ParquetFile(s2orc).iter_batches(_ROWS)

    def _write_s2orc(self, path: Path) -> set[str]:
        """Write the decisions on full texts to a local file; return the ids of the papers that continue to s2ag."""
        dropped: set[str] = set()
        rows = self._decide_s2orc(dropped)
        with pq.ParquetWriter(path, DOCUMENTS.schema, compression="zstd") as writer:
            while batch := list(islice(rows, _ROWS)):
                writer.write_table(pa.Table.from_pylist(batch, DOCUMENTS.schema))
        return dropped if "s2ag" in self._rules.sets else set()

    def _decide_s2orc(self, dropped: set[str]) -> Iterator[DocumentRow]:
        """Yield the decisions on full texts; add the ids of dropped papers to `dropped`."""
        parses = ByPaper(self._run.table(FULLTEXTS).rows(_PARSE, shard=self._number, batch_size=16))
        order = self._rules.text_from
        for paper in self._read_kept_papers():
            fulltexts = parses.at(paper["paper_id"])
            # the text is from the first open full text in the spec's order (S2 V2 card: the PDF's)
            opened = [parse for parse in fulltexts if parse["open_access"]]
            selected = min(opened, key=lambda parse: order.index(parse["parse_kind"]), default=None)
            decision = clean("s2orc", self._make_document(paper, fulltexts, selected), self._rules, self._unigrams)
            if decision.outcome is not CleanOutcome.KEPT:
                dropped.add(paper["paper_id"])
            row = self._make_row(decision, paper)
            if selected is not None:
                row["sha1"], row["oa_evidence"] = selected["file_sha1"], selected["oa_evidence"]
                row["license"] = selected["license"]
            yield row

    def _read_kept_papers(self) -> Iterator[_KeptPaper]:
        run, shard = self._run, self._number
        sources: dict[str, set[str]] = {}
        not_pdf = pc.field("kind") != RecordKind.PDF.value
        for member in run.table(MEMBERS).rows(["paper_id", "source", "kind"], shard=shard, where=not_pdf):
            sources.setdefault(member["paper_id"], set()).add(sys.intern(member["source"]))
        kept = {row["paper_id"] for row in run.table(FILTERED).rows(shard=shard) if row["outcome"] == "kept"}
        for paper in run.table(PAPERS).rows(_PAPER, shard=shard):
            if paper["paper_id"] in kept and (self._only is None or paper["paper_id"] in self._only):
                provenance = dict(paper["provenance"])
                abstract_from = provenance.get("abstract")
                has_open_pdf = any(access["open_access"] for access in paper["access"] if access["kind"] == "pdf")
                if not has_open_pdf and abstract_from and abstract_from["rule"] == VoteRule.PDF:
                    paper["abstract"] = None  # the abstract is from a PDF that is not open
                if run.spec.clean.extractor_metadata == "drop":
                    paper["title"] = None if _is_extracted(provenance.get("title")) else paper["title"]
                    paper["abstract"] = None if _is_extracted(abstract_from) else paper["abstract"]
                if run.spec.clean.pii == "mask":
                    paper["title"] = paper["title"] and mask_text(paper["title"])
                    paper["abstract"] = paper["abstract"] and mask_text(paper["abstract"])
                yield {**paper, "sources": sorted(sources.get(paper["paper_id"], ()))}

    def _make_document(
        self, paper: _KeptPaper, fulltexts: list[FulltextRow], selected: FulltextRow | None
    ) -> CleanedDocument:
        """Return the paper as input of the rules, with the text of the selected full text."""
        body = None
        if selected is not None:
            parse = orjson.loads(selected["parse"])
            if self._rules.pii == "mask":
                parse = mask_parse(parse)
            body = list_units(parse, drop_citations=self._rules.citations == "drop")
        return CleanedDocument(
            paper_id=paper["paper_id"],
            title=paper["title"],
            abstract=paper["abstract"],
            date=paper["date"],
            body=() if fulltexts and body is None else body,
            open_access=selected is not None or not fulltexts,
            editorial=paper["editorial"],
            sources=tuple(paper["sources"]),
        )

    def _make_row(self, decision: DocumentDecision, paper: PaperRow) -> DocumentRow:
        row = asdict(decision)
        if decision.text is not None:
            surnames = [author["last"] for author in paper["authors"] or ()]
            row["text_key"] = text_key(decision.text)
            row["title_key"] = title_key(paper["title"] or "", surnames[0] if surnames else "")
            row["minhash"] = minhash.compute_keys(minhash.hash_shingles(decision.text)).tolist()
        row["language_votes"] = decision.language_votes and list(decision.language_votes.items())
        return cast(DocumentRow, row)  # the fields of DocumentDecision are columns of DOCUMENTS


def _is_extracted(decision: Mapping[str, Any] | None) -> bool:
    """Return whether the extractor supplied a field. ScienceParse's output counts as a delivered record."""
    return decision is not None and decision["rule"] == VoteRule.PDF and decision["source"] != SCIENCEPARSE
