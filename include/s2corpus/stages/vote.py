"""Vote: choose the canonical metadata of each paper from its records (SPEC §5).

1. One task brings the facts about its records to each bucket of papers by `vote.sql`, on the engine that ENGINE names: files, notices
   of retraction and correction, and the declared fields of study of its journals.
2. Read these rows of each bucket, and vote.
"""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.compute as pc

from s2corpus.papers.corrections import FILE, Corrections, read_corrections
from s2corpus.papers.evidence import Declaration
from s2corpus.papers.journals import DECLARED_FIELDS, FieldInference, JournalCounts, read_declared_fields
from s2corpus.papers.rows import Article, ArxivParse, FileFacts, build_papers
from s2corpus.papers.vote import Pdf
from s2corpus.pipeline.engines import BUCKETS, find_buckets, open_engine
from s2corpus.pipeline.run import Metrics, Run, Shard, Stage, count_outcomes
from s2corpus.sources.editorial import Statement
from s2corpus.sources.record import Editorial
from s2corpus.storage.engine import Engine, Functions, make_tables
from s2corpus.storage.exchange import RowsRemoved
from s2corpus.storage.parts import TableRef
from s2corpus.tables.intake import ARTICLES, LATEX_SOURCES, NOTICES, PDFS
from s2corpus.tables.papers import ALIASES, CORRECTIONS, KNOWN_FILES, KNOWN_JOURNALS, MEMBERS, PAPERS
from s2corpus.tables.parses import ARTICLE_PARSES, LATEX_PARSES
from s2corpus.tables.schema import Table, paper_shard

_EXCHANGE = "_vote"
_MEMBERS = (
    "paper_id",
    "record_id",
    "source",
    "kind",
    "journal",
    "issns",
    "subjects",
    "file_sha1",
    "doi",
    "arxiv_id",
    "pubmed_id",
)
_GIVEN = (PDFS, LATEX_SOURCES, LATEX_PARSES, ARTICLES, ARTICLE_PARSES, NOTICES)


class VoteStage(Stage):
    """The vote stage. It reads members and facts about files, and writes papers, in two rounds."""

    name = "vote"
    exchange = _EXCHANGE

    def work(self, run: Run, shard: Shard, round: int = 0) -> None:
        """Write the facts about the records of all buckets, or vote."""
        if round:
            self._vote(run, shard)
        else:
            with open_engine(run) as engine:
                _write_known(run, engine)

    def _vote(self, run: Run, shard: Shard) -> None:
        infers, corrections = run.spec.vote.infer_fields, _read_corrections(run, shard)
        inference = FieldInference(_read_journals(run, shard.index)) if infers else None
        papers = build_papers(
            run.table(MEMBERS).batches(shard=shard.index),
            _read_file_facts(run, shard.index),
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


def _write_known(run: Run, engine: Engine) -> None:
    """Write the facts about the records of each bucket."""
    columns = pa.schema([MEMBERS.schema.field(name) for name in _MEMBERS])
    engine.load("members", run.lake, run.table(MEMBERS).keys(), columns)
    for table in _GIVEN:
        engine.load(table.name, run.lake, run.table(table).keys(), table.schema)
    functions: Functions = {
        "find_buckets": (partial(find_buckets, buckets=run.paper_shards), BUCKETS),
        "read_declared_fields": (read_declared_fields, DECLARED_FIELDS),
    }
    names = ["files", "known", "buckets", "requests", "file_rows", "notice_rows"]
    written: dict[str, Table] = {"file_rows": KNOWN_FILES, "notice_rows": NOTICES}
    if run.spec.vote.infer_fields:
        names += ["declared", "journals", "field_counts", "journal_rows"]
        written["journal_rows"] = KNOWN_JOURNALS
    make_tables(engine, Path(__file__).with_suffix(".sql"), functions, names, tuple(written))
    for name, table in written.items():
        engine.write(_known(run, table), f"SELECT * FROM {name}", ", ".join(table.key), run.paper_shards)


def _known(run: Run, table: Table) -> TableRef[Any]:
    return TableRef(run.lake, f"{run.folder}/{_EXCHANGE}/{table.name}", table)


def _read_known(run: Run, table: Table, bucket: int) -> list[dict[str, Any]]:
    try:
        rows: list[dict[str, Any]] = _known(run, table).read_shard(bucket).to_pylist()
        return rows
    except FileNotFoundError:
        raise run.exchange(_EXCHANGE).missing(table.name) from None


def _read_corrections(run: Run, shard: Shard) -> Corrections:
    """Return the corrections of the papers of a bucket, also under their former ids."""
    lines = read_corrections(run.lake.get(f"releases/{run.release_id}/{FILE}")[0])
    if not lines:
        return Corrections()
    ids = pa.array(sorted({line.paper_id for line in lines}), pa.string())
    present = {row["alias"]: row["paper_id"] for row in run.table(ALIASES).rows(where=pc.field("alias").isin(ids))}
    found = Corrections.of(lines, present).lines
    return Corrections({id_: found[id_] for id_ in found if paper_shard(id_, run.paper_shards) == shard.index})


def _read_file_facts(run: Run, bucket: int) -> FileFacts:
    pdfs: dict[str, Pdf] = {}
    latex_sources: dict[str, ArxivParse] = {}
    articles: dict[str, Article] = {}
    for row in _read_known(run, KNOWN_FILES, bucket):
        kind, _, identifier = row["about"].partition(":")
        declarations = tuple(Declaration(**place) for place in row["places"])
        if kind == "pdf":
            pdfs[identifier] = Pdf(row["first_seen"], declarations)
        elif kind == "arxiv":
            latex_sources[identifier] = ArxivParse(row["sha1"], row["parse_id"], identifier, declarations)
        else:
            stated = {name: row[name] for name in ("kind", "first_seen", "doi", "pmc_id", "license", "open_access")}
            articles[identifier] = Article(row["sha1"], declarations=declarations, **stated)
    notices: dict[str, list[Statement]] = {}
    for row in _read_known(run, NOTICES, bucket):
        notices.setdefault(row["about"], []).append((Editorial(row["status"]), row["record_id"]))
    return FileFacts(pdfs, latex_sources, articles, notices)


def _read_journals(run: Run, bucket: int) -> JournalCounts:
    counts: dict[str, dict[str, int]] = {}
    for row in _read_known(run, KNOWN_JOURNALS, bucket):
        counts.setdefault(row["journal"], {})[row["field"]] = row["papers"]
    return counts
