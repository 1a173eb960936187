"""Vote: choose the canonical metadata of each paper from its records (SPEC §5)."""

from __future__ import annotations

from collections import Counter
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.compute as pc

from s2corpus.clustering.preprints import preprint_of
from s2corpus.papers.editorial import Statement
from s2corpus.papers.openness import Declaration
from s2corpus.papers.rows import Article, ArxivParse, FileFacts, build_papers
from s2corpus.papers.vote import Pdf
from s2corpus.pipeline.run import Metrics, PaperStage, Run, Shard, commit_all
from s2corpus.sources.record import DECLARED, Editorial
from s2corpus.stages.vote import facts
from s2corpus.tables.papers import MEMBERS, PAPERS

Facts = dict[str, list[dict[str, Any]]]


class VoteStage(PaperStage):
    """The vote stage. It reads members and facts about files, and writes papers, in three rounds (see `facts`)."""

    name = "vote"

    def work(self, run: Run, shard: Shard, round: int = 0) -> None:
        """Run one of three rounds: send requests and facts, send the requested facts to the buckets, or vote."""
        (facts.send_requests_and_facts, facts.send_requested_facts, self._vote)[round](run, shard)

    def _vote(self, run: Run, shard: Shard) -> None:
        """Choose the metadata of every paper of one bucket."""
        own = run.spec.profile == "own"
        papers = build_papers(
            run.table(MEMBERS).batches(shard=shard.index),
            _read_file_facts(facts.read_facts(run, shard.index)),
            trust=(DECLARED, *run.spec.vote.trust) if own else run.spec.vote.trust,
            all_open=own,
            is_preprint=preprint_of(run.spec.cluster.preprint_prefixes),
            support=run.spec.vote.support,
        )
        decided: Counter[str] = Counter()
        run.table(PAPERS).write(shard.index, (_count_rules(batch, decided) for batch in papers))
        run.lake.put(_counts_key(run, shard), orjson.dumps(decided))

    def finish(self, run: Run) -> Metrics:
        """Commit the table; return the number of fields by deciding rule."""
        metrics = commit_all(run, self.name, run.paper_shards)
        run.exchange(facts.EXCHANGE).remove()
        decided: Counter[str] = Counter()
        for shard in self.plan(run):
            decided.update(orjson.loads(run.lake.get(_counts_key(run, shard))[0]))
        return metrics | {name: float(count) for name, count in decided.items()}


def _counts_key(run: Run, shard: Shard) -> str:
    return f"{run.folder}/{PAPERS.name}/counts-{shard.index:05d}.json"


def _count_rules(batch: pa.RecordBatch, decided: Counter[str]) -> pa.RecordBatch:
    """Count the fields by rule in `decided`; return the batch unchanged."""
    rules = pc.struct_field(batch.column("provenance").items, "rule")
    decided.update({f"rule.{row['values']}": row["counts"] for row in pc.value_counts(rules).to_pylist()})
    decided["with_pdf"] += pc.count(batch.column("canonical_pdf")).as_py()
    decided["open_access"] += pc.sum(batch.column("open_access")).as_py() or 0
    return batch


def _read_file_facts(facts_by_identifier: Facts) -> FileFacts:
    """Return the facts about files and notices by identifier."""
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
            stated = {name: row[name] for name in ("doi", "pmc_id", "licence", "open_access")}
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
    """Return the declarations of the drops that contain a file."""
    return tuple(
        Declaration(p["folder"] if "folder" in p else p["drop"], p["name"], p["open_access"], p["licence"])
        for p in row["places"]
    )
