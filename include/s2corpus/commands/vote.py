"""`corpus vote`: vote on the metadata of each paper."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import click

from s2corpus.commands._help import FILE, PATH, Command
from s2corpus.commands._outputs import read_clusters


@click.command(
    cls=Command, epilog="corpus vote --records records.parquet --clusters clusters.parquet --out papers.parquet"
)
@click.option("--records", "files", required=True, multiple=True, type=PATH, help="Records, .parquet or .jsonl.")
@click.option("--clusters", required=True, type=PATH, help="Parquet: record_id, paper_id.")
@click.option("--out", required=True, type=FILE, help="Papers, .parquet or .jsonl.")
@click.option(
    "--trust", help="Sources in order of trust, comma-separated; the order breaks ties.  [default: the spec's]"
)
@click.option(
    "--support",
    type=click.Choice(["similar", "equal"]),
    help="Count similar votes in part, or only equal votes.  [default: the spec's]",
)
@click.option("--all-open", is_flag=True, help="Count every PDF as open access, like a release with `profile: own`.")
def command(
    files: tuple[Path, ...],
    clusters: Path,
    out: Path,
    trust: str | None,
    support: Literal["similar", "equal"] | None,
    all_open: bool,
) -> None:
    """Vote on the metadata of each paper.

    Each source has one vote. The output names the source that decided each field, and the rule.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    from s2corpus import spec
    from s2corpus.clustering.facts import preprint_of
    from s2corpus.errors import UserError
    from s2corpus.papers.editorial import Statement
    from s2corpus.papers.rows import FileFacts, build_papers
    from s2corpus.sources.files import read_latest
    from s2corpus.sources.record import Editorial
    from s2corpus.storage.output_tables import check_table, write_table
    from s2corpus.tables.papers import MEMBERS, PAPERS

    check_table(out)
    records = read_latest(files)
    cluster_rows = read_clusters(clusters)
    rows = pc.index_in(records["record_id"], cluster_rows["record_id"])
    if rows.null_count:
        raise UserError(f"{clusters}: {rows.null_count} of {records.num_rows} records are missing from this file")
    members = records.append_column("paper_id", cluster_rows["paper_id"].take(rows)).select(MEMBERS.schema.names)
    notices: dict[str, list[Statement]] = {}
    for row in records.filter(records["notices"].is_valid()).select(["record_id", "notices"]).to_pylist():
        for notice in row["notices"]:
            notices.setdefault(notice["about"], []).append((Editorial(notice["status"]), row["record_id"]))
    members = members.take(pc.sort_indices(members, [("paper_id", "ascending"), ("record_id", "ascending")]))
    order = tuple(trust.split(",")) if trust else spec.VoteRules().trust
    papers = pa.Table.from_batches(
        build_papers(
            members.to_batches(), FileFacts(notices=notices), trust=order, all_open=all_open,
            is_preprint=preprint_of(spec.ClusterRules().preprint_prefixes), support=support or spec.VoteRules().support,
        ),
        schema=PAPERS.schema,
    )  # fmt: skip
    write_table(out, papers)
    click.echo(f"{records.num_rows} records, {papers.num_rows} papers", err=True)
