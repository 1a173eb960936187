"""Vote: the records of each paper become its canonical metadata (SEMANTICS: Vote)."""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa
import pyarrow.compute as pc

from s2corpus.clustering.preprints import preprint_of
from s2corpus.papers.editorial import Said
from s2corpus.papers.openness import Declaration
from s2corpus.papers.rows import Article, LatexSource, papers_of
from s2corpus.papers.vote import Pdf
from s2corpus.pipeline.run import Metrics, Run, Shard, commit_all, paper_shards
from s2corpus.row_types import LatexParseRow, Place
from s2corpus.sources.record import DECLARED, Editorial
from s2corpus.tables import ARTICLE_PARSES, ARTICLES, LATEX_PARSES, LATEX_SOURCES, MEMBERS, NOTICES, PAPERS, PDFS


class Vote:
    """Members → papers, bucket by bucket."""

    name = "vote"
    reads = (MEMBERS, PDFS, LATEX_SOURCES, LATEX_PARSES, ARTICLES, ARTICLE_PARSES, NOTICES)
    writes = (PAPERS,)

    def plan(self, run: Run) -> list[Shard]:
        """One shard a bucket of papers."""
        return paper_shards(run)

    def work(self, run: Run, shard: Shard) -> None:
        """Vote on every paper of one bucket."""
        members = run.table(MEMBERS)
        named = members.read(["pdf_sha1"], shard=shard.index, where=pc.field("kind") == "pdf")["pdf_sha1"]
        ids = members.read(["arxiv_id"], shard=shard.index, where=pc.field("arxiv_id").is_valid())["arxiv_id"]
        own = run.spec.profile == "own"
        papers = papers_of(
            members.batches(shard=shard.index),
            trust=(DECLARED, *run.spec.vote.trust) if own else run.spec.vote.trust,
            pdfs=_pdfs(run, named.unique()),
            sources=_latex_sources(run, ids.unique()),
            articles=_articles(run, members.read(["record_id"], shard=shard.index)["record_id"].to_pylist()),
            notices=_notices(run, shard),
            all_open=own,
            is_preprint=preprint_of(run.spec.cluster.preprint_prefixes),
            support=run.spec.vote.support,
        )
        run.table(PAPERS).write(shard.index, papers)

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


def _latex_sources(run: Run, arxiv_ids: pa.Array) -> dict[str, LatexSource]:
    """The LaTeX sources of these arXiv ids that could be parsed: of several the latest first-seen, then the smallest SHA-1."""
    columns = ["archive_sha1", "arxiv_id", "first_seen", "parse_id"]
    where = (pc.field("outcome") == "ok") & pc.field("arxiv_id").isin(arxiv_ids)
    latest: dict[str, LatexParseRow] = {}
    for row in run.table(LATEX_PARSES).rows(columns, where=where):  # by SHA-1
        known = latest.get(arxiv_id := row["arxiv_id"] or "")
        if known is None or row["first_seen"] > known["first_seen"]:
            latest[arxiv_id] = row
    sha1s = pa.array([row["archive_sha1"] for row in latest.values()], pa.string())
    places = {
        source["archive_sha1"]: source["places"]
        for source in run.table(LATEX_SOURCES).rows(where=pc.field("archive_sha1").isin(sha1s))
    }
    return {
        arxiv_id: LatexSource(
            row["archive_sha1"], row["parse_id"], arxiv_id, _declarations(places[row["archive_sha1"]])
        )
        for arxiv_id, row in latest.items()
    }


def _articles(run: Run, record_ids: Iterable[str]) -> dict[str, Article]:
    """The publishers' full texts that give these records and could be parsed, by record: of several the latest, then the smallest SHA-1."""
    wanted = set(record_ids)
    columns = ["file_sha1", "kind", "record_ids", "first_seen", "doi", "pmc_id", "licence", "open_access"]
    parsed = {
        row["file_sha1"]: row
        for row in run.table(ARTICLE_PARSES).rows(columns, where=pc.field("outcome") == "ok")
        if not wanted.isdisjoint(row["record_ids"])
    }
    where = pc.field("file_sha1").isin(pa.array(sorted(parsed), pa.string()))
    found: dict[str, Article] = {}
    for given in run.table(ARTICLES).rows(["file_sha1", "places"], where=where):  # by SHA-1
        said = parsed[given["file_sha1"]]
        declarations = tuple(
            Declaration(place["folder"], place["name"], place["open_access"], place["licence"])
            for place in given["places"]
        )
        article = Article(
            said["file_sha1"],
            said["kind"],
            said["first_seen"],
            doi=said["doi"],
            pmc_id=said["pmc_id"],
            licence=said["licence"],
            open_access=said["open_access"],
            declarations=declarations,
        )
        for record_id in said["record_ids"]:
            if record_id in wanted and (record_id not in found or article.first_seen > found[record_id].first_seen):
                found[record_id] = article
    return found


def _notices(run: Run, shard: Shard) -> dict[str, list[Said]]:
    """What notices say of the identifiers of a bucket's records."""
    named = run.table(MEMBERS).read(["doi", "pubmed_id"], shard=shard.index)
    about = [
        f"{kind}:{value}"
        for kind, column in (("doi", "doi"), ("pmid", "pubmed_id"))
        for value in named[column].drop_null().unique().to_pylist()
    ]
    found: dict[str, list[Said]] = {}
    for row in run.table(NOTICES).rows(where=pc.field("about").isin(pa.array(about, pa.string()))):
        found.setdefault(row["about"], []).append((Editorial(row["status"]), row["record_id"]))
    return {about: sorted(said) for about, said in found.items()}


def _pdfs(run: Run, sha1s: pa.Array) -> dict[str, Pdf]:
    """What intake knows of these PDFs."""
    columns = ["pdf_sha1", "first_seen", "places"]
    return {
        row["pdf_sha1"]: Pdf(row["first_seen"], _declarations(row["places"]))
        for row in run.table(PDFS).rows(columns, where=pc.field("pdf_sha1").isin(sha1s))
    }


def _declarations(places: list[Place]) -> tuple[Declaration, ...]:
    return tuple(Declaration(**place) for place in places)
