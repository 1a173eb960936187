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
from s2corpus.tables.columns import FilePlace
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
        facts_by_identifier = facts.read_facts(run, shard.index)
        own = run.spec.profile == "own"
        papers = build_papers(
            run.table(MEMBERS).batches(shard=shard.index),
            FileFacts(
                _pdfs(facts_by_identifier),
                _latex_sources(facts_by_identifier),
                _articles(facts_by_identifier),
                _notices(facts_by_identifier),
            ),
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


def _latex_sources(facts_by_identifier: Facts) -> dict[str, ArxivParse]:
    """Return the LaTeX source of each arXiv id: the one with the latest `first_seen`; ties go to the smallest SHA-1."""
    found = {}
    for about, found_facts in facts_by_identifier.items():
        if about.startswith("arxiv:"):
            row = max(sorted(found_facts, key=lambda row: row["archive_sha1"]), key=lambda row: row["first_seen"])
            declared = _declarations(row["places"])
            found[row["arxiv_id"]] = ArxivParse(row["archive_sha1"], row["parse_id"], row["arxiv_id"], declared)
    return found


def _articles(facts_by_identifier: Facts) -> dict[str, Article]:
    """Return the full text of each publisher record: the one with the latest `first_seen`; ties go to the smallest SHA-1."""
    found = {}
    for about, found_facts in facts_by_identifier.items():
        kind, _, record_id = about.partition(":")
        if kind == "record":
            row = max(sorted(found_facts, key=lambda row: row["file_sha1"]), key=lambda row: row["first_seen"])
            facts_of_file = {name: row[name] for name in ("doi", "pmc_id", "licence", "open_access")}
            declared = tuple(
                Declaration(place["folder"], place["name"], place["open_access"], place["licence"])
                for place in row["places"]
            )
            found[record_id] = Article(
                row["file_sha1"], row["kind"], row["first_seen"], declarations=declared, **facts_of_file
            )
    return found


def _notices(facts_by_identifier: Facts) -> dict[str, list[Statement]]:
    """Return the statements of notices by identifier."""
    return {
        about: sorted((Editorial(row["status"]), row["record_id"]) for row in found_facts)
        for about, found_facts in facts_by_identifier.items()
        if about.startswith(("doi:", "pmid:"))
    }


def _pdfs(facts_by_identifier: Facts) -> dict[str, Pdf]:
    """Return the facts of PDFs by SHA-1."""
    return {
        row["file_sha1"]: Pdf(row["first_seen"], _declarations(row["places"]))
        for about, found_facts in facts_by_identifier.items()
        if about.startswith("pdf:")
        for row in found_facts
    }


def _declarations(places: list[FilePlace]) -> tuple[Declaration, ...]:
    return tuple(Declaration(**place) for place in places)
