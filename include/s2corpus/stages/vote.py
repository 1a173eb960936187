"""Vote: the records of each paper become its canonical metadata (SEMANTICS: Vote)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

import pyarrow as pa
import pyarrow.compute as pc

from s2corpus.papers.rows import papers_of
from s2corpus.papers.vote import Pdf
from s2corpus.pipeline.run import Metrics, Run, Shard, commit_all, paper_shards
from s2corpus.tables import LATEX_PARSES, MEMBERS, PAPERS, PDFS


class Vote:
    """Members → papers, bucket by bucket."""

    name = "vote"
    reads = (MEMBERS, PDFS, LATEX_PARSES)
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
        papers = papers_of(batches, trust=run.spec.vote.trust, pdfs=pdfs, all_open=own)
        run.table(PAPERS).write(shard.index, _with_latex(run, shard, papers))

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


def _with_latex(run: Run, shard: Shard, papers: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The papers with the LaTeX parse of an arXiv id of their cluster (S2ORC §2.4): the canonical id's, else the smallest's.

    Of several sources of one id the latest first-seen counts, then the smallest SHA-1.
    """
    ids: dict[str, set[str]] = defaultdict(set)
    for batch in run.table(MEMBERS).batches(
        ["paper_id", "arxiv_id"], shard=shard.index, where=pc.field("arxiv_id").is_valid()
    ):
        for row in batch.to_pylist():
            ids[row["paper_id"]].add(row["arxiv_id"])
    wanted = pa.array(sorted({arxiv_id for found in ids.values() for arxiv_id in found}), pa.string())
    parses: dict[str, dict[str, str]] = {}
    where = (pc.field("outcome") == "ok") & pc.field("arxiv_id").isin(wanted)
    for row in (
        run.table(LATEX_PARSES).read(["archive_sha1", "arxiv_id", "first_seen", "parse_id"], where=where).to_pylist()
    ):
        known = parses.get(row["arxiv_id"])
        if known is None or row["first_seen"] > known["first_seen"]:  # they come by SHA-1
            parses[row["arxiv_id"]] = row
    for batch in papers:
        chosen = []
        for paper_id, arxiv_id in zip(batch["paper_id"].to_pylist(), batch["arxiv_id"].to_pylist(), strict=True):
            of_paper = [i for i in (arxiv_id, *sorted(ids.get(paper_id, ()))) if i in parses]
            chosen.append(parses[of_paper[0]]["parse_id"] if of_paper else None)
        column = batch.schema.get_field_index("latex_parse_id")
        yield batch.set_column(column, batch.schema.field(column), pa.array(chosen, pa.string()))


def _pdfs(run: Run, sha1s: pa.Array) -> dict[str, Pdf]:
    """What intake knows of these PDFs."""
    found = {}
    for batch in run.table(PDFS).batches(
        ["pdf_sha1", "first_seen", "declared"], where=pc.field("pdf_sha1").isin(sha1s)
    ):
        for row in batch.to_pylist():
            found[row["pdf_sha1"]] = Pdf(row["first_seen"], row["declared"]["open_access"], row["declared"]["licence"])
    return found
