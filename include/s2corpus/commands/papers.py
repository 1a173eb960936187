"""Commands that make papers of records in files: `corpus cluster`, `vote`, `filter` and `explain`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import orjson

from s2corpus.commands._options import FILE, PATH, json_option, use_local_services, with_examples
from s2corpus.errors import UserError
from s2orc_parse.outputs import format_counts

if TYPE_CHECKING:
    import pyarrow as pa


_KINDS = {"pdf": "PDF", "latex": "LaTeX source", "jats": "JATS", "elsevier": "Elsevier's JSON"}


@with_examples("corpus cluster --records crossref.parquet --records arxiv.jsonl --out clusters.parquet --explain")
@click.option("--records", "files", required=True, multiple=True, type=PATH, help="Records, .parquet or .jsonl.")
@click.option("--out", required=True, type=FILE, help="Write record_id and paper_id (.parquet or .jsonl).")
@click.option("--edges", "edges_out", type=FILE, help="Write the used and the cut edges (.parquet or .jsonl).")
@click.option("--parent", type=PATH, help="Clusters of an earlier run, to keep its ids (Parquet).")
@click.option("--explain", is_flag=True, help="Explain each cluster of two or more records.")
def cluster_command(
    files: tuple[Path, ...],
    out: Path,
    edges_out: Path | None,
    parent: Path | None,
    explain: bool,
) -> None:
    """Cluster the metadata records of the same paper.

    Records of one paper have equal identifiers, or similar titles with authors and years that agree. `corpus vote`, `corpus explain`
    and --parent read Parquet.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    from s2corpus.clustering.explain import explanations, format_explanation
    from s2corpus.compiled import interpret_if_small
    from s2corpus.sources.arrow import read_latest
    from s2corpus.stages.cluster import Parent, cluster_records
    from s2corpus.storage.parquet import check_table, write_table

    for path in (out, edges_out):
        if path is not None:
            check_table(path)
    before = Parent()
    if parent is not None:
        old = _read_clusters(parent)
        before = Parent(old.append_column("first_ready", pa.nulls(old.num_rows, pa.string())))
    records = read_latest(files)
    with interpret_if_small(len(records) * records.nbytes):
        result = cluster_records(records, parent=before)
    clusters = result.clusters.select(["record_id", "paper_id"])
    for path, table in ((out, clusters), (edges_out, result.edges)):
        if path is not None:
            write_table(path, table)
    if explain:
        for explanation in explanations(result.clusters, result.edges):
            click.echo(format_explanation(explanation))
    papers = pc.count_distinct(result.clusters["paper_id"]).as_py()
    click.echo(f"{records.num_rows} records, {papers} papers, {result.conflicts} conflicts", err=True)


@with_examples("corpus vote --records records.parquet --clusters clusters.parquet --out papers.parquet")
@click.option("--records", "files", required=True, multiple=True, type=PATH, help="Records, .parquet or .jsonl.")
@click.option("--clusters", required=True, type=PATH, help="Parquet: record_id, paper_id.")
@click.option("--out", required=True, type=FILE, help="Papers, .parquet or .jsonl.")
def vote_command(files: tuple[Path, ...], clusters: Path, out: Path) -> None:
    """Vote on the metadata of each paper.

    Each source has one vote. The output names the source that decided each field, and the rule.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    from s2corpus import spec
    from s2corpus.papers.journals import FieldInference
    from s2corpus.papers.rows import FileFacts, build_papers
    from s2corpus.sources.arrow import read_latest, read_record
    from s2corpus.sources.editorial import Statement
    from s2corpus.sources.record import Editorial
    from s2corpus.storage.parquet import check_table, write_table
    from s2corpus.tables.papers import MEMBERS, PAPERS

    check_table(out)
    records = read_latest(files)
    cluster_rows = _read_clusters(clusters)
    rows = pc.index_in(records["record_id"], cluster_rows["record_id"])
    if rows.null_count:
        raise UserError(f"{clusters}: {rows.null_count} of {records.num_rows} records are missing from this file")
    members = records.append_column("paper_id", cluster_rows["paper_id"].take(rows)).select(MEMBERS.schema.names)
    notices: dict[str, list[Statement]] = {}
    for row in records.filter(records["notices"].is_valid()).select(["record_id", "notices"]).to_pylist():
        for notice in row["notices"]:
            notices.setdefault(notice["about"], []).append((Editorial(notice["status"]), row["record_id"]))
    members = members.take(pc.sort_indices(members, [("paper_id", "ascending"), ("record_id", "ascending")]))
    by_paper = groupby(members.to_pylist(), key=itemgetter("paper_id"))
    inference = FieldInference.from_papers([read_record(row) for row in rows] for _, rows in by_paper)
    papers = pa.Table.from_batches(
        build_papers(
            members.to_batches(), FileFacts(notices=notices), spec.VoteRules(), all_open=False, inference=inference
        ),
        schema=PAPERS.schema,
    )  # fmt: skip
    write_table(out, papers)
    click.echo(f"{records.num_rows} records, {papers.num_rows} papers", err=True)


@with_examples("corpus filter --papers papers.parquet --bodies bodies.jsonl --out filtered.parquet")
@click.option("--papers", required=True, type=PATH, help="Papers, Parquet: output of `corpus vote`.")
@click.option("--bodies", type=PATH, help="Body texts of the papers, JSON Lines {paper_id, text}.")
@click.option("--out", required=True, type=FILE, help="Outcomes, .parquet or .jsonl.")
def filter_command(papers: Path, bodies: Path | None, out: Path) -> None:
    """Filter papers by the rules of S2ORC.

    The outcome of a paper is kept, or the first rule that drops it.
    """

    from s2corpus import spec
    from s2corpus.papers.filter import decide
    from s2corpus.storage.parquet import check_table, read_parquet, write_rows
    from s2corpus.tables.texts import FILTERED

    check_table(out)
    try:
        columns = ["paper_id", "title", "authors", "abstract", "doi", "canonical_pdf"]
        rows = read_parquet(papers, columns).to_pylist()
        lines = [orjson.loads(line) for line in bodies.read_bytes().splitlines()] if bodies else []
        text_of = {line["paper_id"]: line["text"] for line in lines}
    except (ValueError, OSError, KeyError, TypeError) as error:
        raise UserError(
            f"{papers}: expected papers as `corpus vote` writes them, bodies as {{paper_id, text}}: {error}"
        ) from None
    rules = spec.FilterRules()
    outcomes = []
    for paper in rows:
        decision = decide(
            [name for name in (paper["paper_id"], paper["doi"], paper["canonical_pdf"]) if name],
            set(),
            rules,
            title=paper["title"],
            author_count=len(paper["authors"] or ()),
            text="\n".join(part for part in (paper["abstract"], text_of.get(paper["paper_id"])) if part),
        )
        outcomes.append({"paper_id": paper["paper_id"], **asdict(decision)})
    write_rows(out, FILTERED, outcomes)
    counts = Counter(str(row["outcome"]) for row in outcomes)
    click.echo(f"{len(outcomes)} papers: {format_counts(counts)}", err=True)


@with_examples(
    "corpus explain crossref:10.18653/v1/n18-3011 --release s2_v2",
    "corpus explain 0123456789abcde --release s2_v2-20230201 --json",
)
@click.argument("ids", nargs=-1, required=True)
@click.option(
    "--release", required=True, help="Release <spec>-<YYYYMMDD>, or a corpus for the release of its latest snapshot."
)
@json_option
def explain_command(ids: tuple[str, ...], release: str, as_json: bool) -> None:
    """Explain why records form one paper, and what became of it.

    IDS are ids of papers or records. Show the records, the edges that joined them with their reasons, the edges that were cut, whether
    each full text is open access with the evidence, and the end. `corpus cluster --explain` shows the edges of records in files.
    """
    import pyarrow.compute as pc

    from s2corpus.clustering.explain import format_explanation
    from s2corpus.pipeline.reports import open_release_tables
    from s2corpus.pipeline.trace import trace_paper
    from s2corpus.tables.papers import CLUSTERS

    use_local_services()
    tables = open_release_tables(release)
    for id_ in dict.fromkeys(ids):
        row = next(tables.rows(CLUSTERS, pc.field("record_id") == id_, ["record_id", "paper_id"]), None)
        trace = trace_paper(tables, row["paper_id"] if row else id_)
        if trace is None:
            raise UserError(f"{id_}: no record, paper or former paper has this id")
        if as_json:
            click.echo(orjson.dumps(trace, default=str))
            continue
        click.echo(format_explanation(trace.explanation))
        if trace.paper is None:
            click.echo(f"{release}: no open-access data: the vote stage has not run", err=True)
        for line in format_access(trace.paper["access"] if trace.paper else ()):
            click.echo(line)
        for line in (
            *trace.correction_descriptions,
            *trace.unjoined_descriptions,
            trace.end,
            *trace.removed_descriptions,
            *trace.duplicate_descriptions,
        ):
            click.echo(f"  {line}")


def _read_clusters(path: Path) -> pa.Table:
    """Return record_id and paper_id of each record in the output of `corpus cluster`."""
    from s2corpus.storage.parquet import read_parquet

    try:
        return read_parquet(path, ["record_id", "paper_id"])
    except (ValueError, OSError) as error:
        raise UserError(f"{path}: expected a Parquet file with record_id and paper_id ({error})") from None


def format_rights(rights: Mapping[str, Any]) -> str:
    """Return a line about the rights that a record states, given an item of `stated` in the column `access`."""
    openness = {True: "open access", False: "closed access"}.get(rights["open_access"])
    return f"{rights['record_id']} states {', '.join(filter(None, (openness, rights['license'])))}: {rights['effect']}"


def format_access(access: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return lines about the full texts of one paper, given the column `access` of its row in `papers`."""
    lines = []
    for text in access:
        verdict = f"open by {text['oa_evidence']}" if text["open_access"] else "closed"
        license = text["license_detail"] or text["license"] or "no license stated"
        lines.append(f"  {_KINDS.get(text['kind'], text['kind'])} {text['sha1']}: {verdict}; {license}")
        lines += [
            f"    {evidence['evidence']:<10} {'found' if evidence['found'] else 'not found'}: {evidence['detail']}"
            for evidence in text["searches"]
        ]
        lines += [f"    {format_rights(rights)}" for rights in text["stated"] or ()]
    return lines
