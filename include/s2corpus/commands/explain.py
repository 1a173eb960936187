"""`corpus explain`: explain the clusters of papers and the access of their full texts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import click

from s2corpus.commands._help import PATH, Command

_KINDS = {"pdf": "PDF", "latex": "LaTeX source", "jats": "JATS", "elsevier": "Elsevier's JSON"}


@click.command(
    cls=Command,
    epilog=(
        "corpus explain crossref:10.18653/v1/n18-3011 --release s2_v2-20230201\n"
        "corpus explain acl:N18-3011 --clusters clusters.parquet --edges edges.parquet"
    ),
)
@click.argument("ids", nargs=-1, required=True)
@click.option("--release", help="Release <spec>-<YYYYMMDD> in the lake of S2CORPUS_LAKE.")
@click.option("--clusters", type=PATH, help="Instead of --release: output of `corpus cluster --out`.")
@click.option("--edges", type=PATH, help="With --clusters: output of `corpus cluster --edges`.")
def command(ids: tuple[str, ...], release: str | None, clusters: Path | None, edges: Path | None) -> None:
    """Explain why records were clustered into a paper.

    Show the records, the edges that joined them with their reasons, and the edges that were cut. With --release, also show
    whether each full text is open access, and the evidence.
    """
    from s2corpus.clustering.explain import explanations, format_explanation
    from s2corpus.commands._lake_option import use_local_services
    from s2corpus.errors import UserError
    from s2corpus.storage.parquet import read_parquet

    if release is not None:
        use_local_services()
        _explain_release(release, ids)
        return
    if clusters is not None and edges is not None:
        try:
            members, edge_rows = read_parquet(clusters), read_parquet(edges)
        except (ValueError, OSError) as error:
            raise UserError(
                f"{clusters}, {edges}: expected the output of `corpus cluster --out … --edges …`, in Parquet ({error})"
            ) from None
    else:
        raise UserError("no clusters given: expected --release, or --clusters and --edges")
    paper_of = dict(zip(members["record_id"].to_pylist(), members["paper_id"].to_pylist(), strict=True))
    papers = set(paper_of.values())
    requested = set()
    for id_ in ids:
        paper = paper_of.get(id_) or (id_ if id_ in papers else None)
        if paper is None:
            raise UserError(f"{id_}: no record or paper has this id")
        requested.add(paper)
    for explanation in explanations(members, edge_rows, requested):
        click.echo(format_explanation(explanation))


def _explain_release(release: str, ids: tuple[str, ...]) -> None:
    """Print the trace of each paper, as on the release page."""
    import pyarrow.compute as pc

    from s2corpus.clustering.explain import format_explanation
    from s2corpus.errors import UserError
    from s2corpus.pipeline.reports import open_release_tables
    from s2corpus.pipeline.trace import trace_paper
    from s2corpus.tables.papers import CLUSTERS

    tables = open_release_tables(release)
    for id_ in dict.fromkeys(ids):
        row = next(tables.rows(CLUSTERS, pc.field("record_id") == id_, ["record_id", "paper_id"]), None)
        trace = trace_paper(tables, row["paper_id"] if row else id_)
        if trace is None:
            raise UserError(f"{id_}: no record, paper or former paper has this id")
        click.echo(format_explanation(trace.explanation))
        if trace.paper is None:
            click.echo(f"{release}: no open-access data: the vote stage has not run", err=True)
        for line in format_access(trace.paper["access"] if trace.paper else ()):
            click.echo(line)
        for line in (trace.end, *trace.duplicate_descriptions):
            click.echo(f"  {line}")


def format_access(access: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return lines about the full texts of one paper, given the column `access` of its row in `papers`."""
    lines = []
    for text in access:
        verdict = f"open by {text['oa_evidence']}" if text["open_access"] else "closed"
        licence = text["licence_detail"] or text["licence"] or "no license stated"
        lines.append(f"  {_KINDS.get(text['kind'], text['kind'])} {text['sha1']}: {verdict}; {licence}")
        lines += [
            f"    {evidence['evidence']:<10} {'found' if evidence['found'] else 'not found'}: {evidence['detail']}"
            for evidence in text["looks"]
        ]
    return lines
