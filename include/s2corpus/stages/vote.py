"""Vote: the records of each paper become its canonical metadata (SEMANTICS: Vote)."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from s2corpus.clustering.papers import papers_of
from s2corpus.clustering.vote import Pdf
from s2corpus.stages.base import Metrics, Run, Shard, commit_all, paper_shards
from s2corpus.tables import MEMBERS, PAPERS, PDFS


class Vote:
    """Members → papers, bucket by bucket."""

    name = "vote"
    reads = (MEMBERS, PDFS)
    writes = (PAPERS,)

    def plan(self, run: Run) -> list[Shard]:
        """One shard a bucket of papers."""
        return paper_shards(run)

    def work(self, run: Run, shard: Shard) -> None:
        """Vote on every paper of one bucket."""
        members = run.table(MEMBERS)
        named = members.read(["pdf_sha1"], shard=shard.index, where=pc.field("kind") == "pdf")["pdf_sha1"]
        pdfs = _pdfs(run, named.unique())
        batches = members.batches(shard=shard.index)
        own = run.spec.profile == "own"
        run.table(PAPERS).write(shard.index, papers_of(batches, trust=run.spec.vote.trust, pdfs=pdfs, all_open=own))

    def finish(self, run: Run) -> Metrics:
        """Commit; say how fields were decided."""
        metrics = commit_all(run, self.writes, run.paper_shards)
        for batch in run.table(PAPERS).batches(["provenance", "canonical_pdf", "open_access"]):
            rules = pc.struct_field(batch.column("provenance").items, "rule")
            for row in pc.value_counts(rules).to_pylist():
                name = f"rule.{row['values']}"
                metrics[name] = metrics.get(name, 0.0) + row["counts"]
            metrics["with_pdf"] = metrics.get("with_pdf", 0.0) + pc.count(batch.column("canonical_pdf")).as_py()
            metrics["open_access"] = metrics.get("open_access", 0.0) + (
                pc.sum(batch.column("open_access")).as_py() or 0
            )
        return metrics


def _pdfs(run: Run, sha1s: pa.Array) -> dict[str, Pdf]:
    """What intake knows of these PDFs."""
    found = {}
    for batch in run.table(PDFS).batches(
        ["pdf_sha1", "first_seen", "declared"], where=pc.field("pdf_sha1").isin(sha1s)
    ):
        for row in batch.to_pylist():
            found[row["pdf_sha1"]] = Pdf(row["first_seen"], row["declared"]["open_access"], row["declared"]["licence"])
    return found
