"""Commands that cluster records of files and explain clusters: `corpus cluster` and `explain`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import click
import orjson

from s2corpus.commands._options import FILE, PATH, json_option, use_local_services, with_examples
from s2corpus.errors import UserError

_KINDS = {"pdf": "PDF", "latex": "LaTeX source", "jats": "JATS", "elsevier": "Elsevier's JSON"}


@with_examples("corpus cluster --records crossref.parquet --records arxiv.jsonl --out clusters.parquet --explain")
@click.option("--records", "files", required=True, multiple=True, type=PATH, help="Records, .parquet or .jsonl.")
@click.option("--out", required=True, type=FILE, help="Write record_id and paper_id (.parquet or .jsonl).")
@click.option("--explain", is_flag=True, help="Explain each cluster of two or more records.")
def cluster_command(files: tuple[Path, ...], out: Path, explain: bool) -> None:
    """Cluster the metadata records of the same paper.

    Records of one paper have equal identifiers, or similar titles with authors and years that agree.
    """
    import pyarrow.compute as pc

    from s2corpus.clustering.explain import explanations, format_explanation
    from s2corpus.compiled import interpret_if_small
    from s2corpus.sources.arrow import read_latest
    from s2corpus.stages.cluster import cluster_records
    from s2corpus.storage.parquet import check_table, write_table

    check_table(out)
    records = read_latest(files)
    with interpret_if_small(len(records) * records.nbytes):
        result = cluster_records(records)
    write_table(out, result.clusters.select(["record_id", "paper_id"]))
    if explain:
        for explanation in explanations(result.clusters, result.edges):
            click.echo(format_explanation(explanation))
    papers = pc.count_distinct(result.clusters["paper_id"]).as_py()
    click.echo(f"{records.num_rows} records, {papers} papers, {result.conflicts} conflicts", err=True)


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
    """Explain why records form one paper, and report its outcome.

    IDS are ids of papers or records. Show the records, the edges that joined them with their reasons, the edges that were cut, whether
    each full text is open access with the evidence, the end, links of the bibliography with a warning, and for entries without a link the
    papers that were refused. `corpus cluster --explain` shows the edges of records in files.
    """
    import pyarrow.compute as pc

    from s2corpus.clustering.explain import format_explanation
    from s2corpus.evaluation.refused_links import MAX_SEARCHED_PAPERS, find_refused_links, find_warned_links
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
        unlinked = {(link["parse_kind"], link["ref_id"]) for link in trace.links if link["cited_paper_id"] is None}
        refused = find_refused_links(tables, trace.paper_id, unlinked)
        warned = find_warned_links(tables, trace.paper_id, trace.links)
        if as_json:
            click.echo(orjson.dumps({**vars(trace), "warned_links": warned, "refused_links": refused}, default=str))
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
            *warned,
            *(refused or ()),
        ):
            click.echo(f"  {line}")
        if refused is None:
            click.echo(f"{release}: refused links were not searched: over {MAX_SEARCHED_PAPERS:,} papers", err=True)


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
