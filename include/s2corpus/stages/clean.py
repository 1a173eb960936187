"""Turn kept papers into documents of the sets s2orc and s2ag by the S2 V2 card's rules (SPEC §8)."""

from __future__ import annotations

import logging
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import Any, cast

import orjson
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from s2corpus import spec
from s2corpus.papers.vote import VoteRule as Decided
from s2corpus.pipeline.run import Metrics, Run, Shard, commit_all, list_paper_shards
from s2corpus.sources.record import SCIENCEPARSE, RecordKind
from s2corpus.storage.by_paper import ByPaper
from s2corpus.storage.lake import Lake
from s2corpus.storage.signatures import Signatures
from s2corpus.storage.uris import fetch
from s2corpus.tables.papers import MEMBERS, PAPERS, PaperRow
from s2corpus.tables.texts import DOCUMENTS, FILTERED, FULLTEXTS, DocumentRow, FulltextRow
from s2corpus.text import minhash
from s2corpus.text.clean import clean_s2ag, clean_s2orc
from s2corpus.text.documents import CleanedDocument, CleanOutcome, DocumentDecision
from s2corpus.text.layout import units_of_parse
from s2corpus.text.masking import masked, masked_parse
from s2corpus.text.near_duplicates import text_key, title_key
from s2corpus.text.unigrams import Unigrams, parse_unigrams, wordfreq_unigrams

_PARSE = ("paper_id", "parse_kind", "file_sha1", "open_access", "oa_evidence", "licence", "parse")
_PAPER = ("paper_id", "title", "authors", "abstract", "date", "access", "provenance", "editorial")
log = logging.getLogger(__name__)
_ROWS = 256
"""number of documents in memory at a time"""


class CleanStage:
    """papers, members, filtered, fulltexts → documents.

    Every kept paper has one row in s2orc, and another row in s2ag if the s2orc document was dropped. If only s2ag is requested, every
    kept paper has one row in it.
    """

    name = "clean"

    def plan(self, run: Run, round: int = 0) -> list[Shard]:
        """Return one shard for each bucket of papers."""
        return list_paper_shards(run)

    def work(self, run: Run, shard: Shard, round: int = 0) -> None:
        """Decide every kept paper of one bucket, in bounded memory."""
        rules = rules_of(run.spec)
        unigrams = load_unigrams(rules, run.lake)
        signatures = Signatures(run.lake, _signatures_key(run, shard))
        with tempfile.TemporaryDirectory(prefix="s2corpus-clean-", dir=run.scratch) as scratch:
            full = Path(scratch) / "s2orc.parquet"
            if "s2orc" in rules.sets:
                rest = _write_s2orc(run, shard, rules, unigrams, signatures, full)
            else:
                rest = {paper["paper_id"] for paper in _papers(run, shard)}
            log.info("clean shard %d: full texts decided on, %d papers left for s2ag", shard.index, len(rest))
            run.table(DOCUMENTS).write(shard.index, _rows(run, shard, rules, unigrams, signatures, rest, full))
        signatures.keep()

    def finish(self, run: Run) -> Metrics:
        """Commit the table; return metrics with the outcomes of each set."""
        metrics = commit_all(run, self.name, run.paper_shards)
        counts = sorted(run.table(DOCUMENTS).counts("set", "outcome").items())
        return metrics | {f"{set_}.{outcome}": float(n) for (set_, outcome), n in counts}


def rules_of(release: spec.ReleaseSpec) -> spec.CleanRules:
    """Return the cleaning rules of a spec. Profile `own` (a user's own folder) keeps papers with unknown years."""
    return release.clean if release.profile != "own" else release.clean.model_copy(update={"unknown_year": "keep"})


def load_unigrams(rules: spec.CleanRules, lake: Lake) -> Unigrams:
    """Return the word list of a profile.

    A list with URI and checksum is fetched once and then cached in the lake. Without such a list, wordfreq's is used.

    Raises:
        UserError: the list is invalid.
    """
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


def _signatures_key(run: Run, shard: Shard) -> str:
    """Return the key of a bucket's cached MinHash keys. It contains the rules' version and values, and the number of buckets."""
    of = run.spec.split
    values = "-".join(map(str, (of.shingle_words, of.minhash_bands, of.minhash_rows, of.minhash_seed)))
    return f"signatures/{minhash.VERSION}-{values}/{run.paper_shards}/{shard.index:05d}.parquet"


def _write_s2orc(
    run: Run, shard: Shard, rules: spec.CleanRules, unigrams: Unigrams, signatures: Signatures, path: Path
) -> set[str]:
    """Write the decisions on a bucket's full texts to a local file; return the ids of the papers that continue to s2ag."""
    rest = set()
    with pq.ParquetWriter(path, DOCUMENTS.schema, compression="zstd") as writer:
        parses = ByPaper(run.table(FULLTEXTS).rows(_PARSE, shard=shard.index, at_once=16))
        rows = []
        for paper in _papers(run, shard):
            fulltexts = parses.at(paper["paper_id"])
            first = _first(fulltexts, rules)
            decision = clean_s2orc(_document(paper, fulltexts, first, rules), rules, unigrams)
            if decision.outcome is not CleanOutcome.KEPT:
                rest.add(paper["paper_id"])
            row = _row(decision, paper, run.spec.split, signatures)
            if first is not None:
                row |= {"sha1": first["file_sha1"], "oa_evidence": first["oa_evidence"], "licence": first["licence"]}
            rows.append(row)
            if len(rows) == _ROWS:
                writer.write_table(pa.Table.from_pylist(rows, DOCUMENTS.schema))
                rows = []
        writer.write_table(pa.Table.from_pylist(rows, DOCUMENTS.schema))
    return rest if "s2ag" in rules.sets else set()


def _rows(
    run: Run,
    shard: Shard,
    rules: spec.CleanRules,
    unigrams: Unigrams,
    signatures: Signatures,
    rest: set[str],
    full: Path,
) -> Iterator[pa.RecordBatch]:
    """Yield the bucket's rows by (set, paper_id): s2ag, then s2orc."""
    decided = (
        _row(clean_s2ag(_document(paper, [], None, rules), rules, unigrams), paper, run.spec.split, signatures)
        for paper in _papers(run, shard)
        if paper["paper_id"] in rest
    )
    while rows := list(islice(decided, _ROWS * 8)):
        yield pa.RecordBatch.from_pylist(rows, DOCUMENTS.schema)
    if "s2orc" in rules.sets:
        yield from pq.ParquetFile(full).iter_batches(_ROWS)


class _KeptPaper(PaperRow):
    """A kept paper, with the sources that have a record of it other than its PDFs."""

    sources: list[str]


def _papers(run: Run, shard: Shard) -> Iterator[_KeptPaper]:
    """Yield the kept papers of a bucket, by paper_id."""
    sources: dict[str, set[str]] = {}
    others = pc.field("kind") != RecordKind.PDF.value
    for member in run.table(MEMBERS).rows(["paper_id", "source", "kind"], shard=shard.index, where=others):
        sources.setdefault(member["paper_id"], set()).add(sys.intern(member["source"]))
    kept = {row["paper_id"] for row in run.table(FILTERED).rows(shard=shard.index) if row["outcome"] == "kept"}
    for paper in run.table(PAPERS).rows(_PAPER, shard=shard.index):
        if paper["paper_id"] in kept:
            provenance = dict(paper["provenance"])
            abstract_from = provenance.get("abstract")
            open_pdf = any(one["open_access"] for one in paper["access"] if one["kind"] == "pdf")
            if not open_pdf and abstract_from and abstract_from["rule"] == Decided.PDF:
                paper["abstract"] = None  # the abstract is from a PDF that is not open
            if run.spec.clean.extractor_metadata == "drop":
                paper["title"] = None if _is_extracted(provenance.get("title")) else paper["title"]
                paper["abstract"] = None if _is_extracted(abstract_from) else paper["abstract"]
            if run.spec.clean.pii == "mask":
                paper["title"] = paper["title"] and masked(paper["title"])
                paper["abstract"] = paper["abstract"] and masked(paper["abstract"])
            yield {**paper, "sources": sorted(sources.get(paper["paper_id"], ()))}


def _is_extracted(decision: Mapping[str, Any] | None) -> bool:
    """Return whether the extractor supplied a field. ScienceParse's output counts as a delivered record."""
    return decision is not None and decision["rule"] == Decided.PDF and decision["source"] != SCIENCEPARSE


def _first(fulltexts: list[FulltextRow], rules: spec.CleanRules) -> FulltextRow | None:
    """Return the open full text used for a paper's text: the first in the spec's order (S2 V2 card: the PDF's)."""
    open_parses = [parse for parse in fulltexts if parse["open_access"]]
    return min(open_parses, key=lambda parse: rules.text_from.index(parse["parse_kind"]), default=None)


def _document(
    paper: _KeptPaper, fulltexts: list[FulltextRow], first: FulltextRow | None, rules: spec.CleanRules
) -> CleanedDocument:
    """Return the paper as input of the rules, with the text of the selected full text."""
    body = None
    if first is not None:
        parse = orjson.loads(first["parse"])
        if rules.pii == "mask":
            parse = masked_parse(parse)
        body = units_of_parse(parse, drop_citations=rules.citations == "drop")
    return CleanedDocument(
        paper_id=paper["paper_id"],
        title=paper["title"],
        abstract=paper["abstract"],
        date=paper["date"],
        body=() if fulltexts and body is None else body,
        open_access=first is not None or not fulltexts,
        editorial=paper["editorial"],
        sources=tuple(paper["sources"]),
    )


def _row(decision: DocumentDecision, paper: PaperRow, compared: spec.SplitRules, signatures: Signatures) -> DocumentRow:
    def sign() -> list[int]:
        shingles = minhash.shingles(decision.text or "", compared.shingle_words)
        keys = minhash.keys(shingles, compared.minhash_bands, compared.minhash_rows, compared.minhash_seed)
        return [int(key) for key in keys]

    row = asdict(decision)
    if decision.text is not None:
        surnames = [author["last"] for author in paper["authors"] or ()]
        row["text_key"] = text_key(decision.text)
        row["title_key"] = title_key(paper["title"] or "", surnames[0] if surnames else "")
        row["minhash"] = signatures.get_keys(decision.text, sign)
    row["language_votes"] = decision.language_votes and list(decision.language_votes.items())
    return cast(DocumentRow, row)  # a decision's fields are the table's columns
