"""`corpus explain`: why a record is in its paper, and why the paper's full texts are open or closed."""

from __future__ import annotations

from pathlib import Path

import click

from s2corpus.commands._help import Command


@click.command(
    cls=Command,
    epilog=(
        "corpus explain crossref:10.18653/v1/n18-3011 --release s2_v2-20230201\n"
        "corpus explain acl:N18-3011 --clusters clusters.parquet --edges edges.parquet"
    ),
)
@click.argument("ids", nargs=-1, required=True)
@click.option("--release", help="Release <spec>-<YYYYMMDD> in the lake of S2CORPUS_LAKE.")
@click.option(
    "--clusters", type=click.Path(path_type=Path), help="Instead of --release: output of `corpus cluster --out`."
)
@click.option("--edges", type=click.Path(path_type=Path), help="With --clusters: output of `corpus cluster --edges`.")
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
            known, found = read_parquet(clusters), read_parquet(edges)
        except (ValueError, OSError) as error:
            raise UserError(
                f"{clusters}, {edges}: expected what `corpus cluster --out … --edges …` wrote ({error})"
            ) from None
    else:
        raise UserError("no clusters given: expected --release, or --clusters and --edges")
    paper_of = dict(zip(known["record_id"].to_pylist(), known["paper_id"].to_pylist(), strict=True))
    papers = set(paper_of.values())
    asked = set()
    for given in ids:
        paper = paper_of.get(given) or (given if given in papers else None)
        if paper is None:
            raise UserError(f"{given}: no record or paper of that id is there")
        asked.add(paper)
    for explanation in explanations(known, found, asked):
        click.echo(format_explanation(explanation))


def _explain_release(release: str, ids: tuple[str, ...]) -> None:
    """Print the same trace of each paper that the page of the release shows."""
    import pyarrow.compute as pc

    from s2corpus.clustering.explain import format_explanation
    from s2corpus.errors import UserError
    from s2corpus.papers.explain import format_access as access_told
    from s2corpus.pipeline.reports import open_release_tables
    from s2corpus.pipeline.trace import trace_paper
    from s2corpus.tables.papers import CLUSTERS

    tables = open_release_tables(release)
    for given in dict.fromkeys(ids):
        named = next(tables.rows(CLUSTERS, pc.field("record_id") == given, ["record_id", "paper_id"]), None)
        way = trace_paper(tables, named["paper_id"] if named else given)
        if way is None:
            raise UserError(f"{given}: no record, paper or former paper of that id is there")
        click.echo(format_explanation(way.explanation))
        if way.paper is None:
            click.echo(f"{release}: the vote has not run: nothing is said of open access", err=True)
        for line in access_told(way.paper["access"] if way.paper else ()):
            click.echo(line)
        click.echo(f"  {way.end}")
        for line in way.duplicate_descriptions:
            click.echo(f"  {line}")
