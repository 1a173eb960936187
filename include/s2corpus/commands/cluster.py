"""`corpus cluster`: records → which paper each belongs to."""

from __future__ import annotations

from pathlib import Path

import click

from s2corpus.commands._help import Command


@click.command(
    cls=Command,
    epilog="corpus cluster --records crossref.parquet --records arxiv.jsonl --out clusters.parquet --explain",
)
@click.option(
    "--records",
    "files",
    required=True,
    multiple=True,
    type=click.Path(path_type=Path),
    help="Records, .parquet or .jsonl.",
)
@click.option(
    "--out", required=True, type=click.Path(path_type=Path, dir_okay=False), help="Parquet: record_id, paper_id."
)
@click.option(
    "--edges", "edges_out", type=click.Path(path_type=Path, dir_okay=False), help="Parquet: the used and the cut edges."
)
@click.option("--parent", type=click.Path(path_type=Path), help="Clusters of an earlier run, to keep its ids.")
@click.option(
    "--aliases", "aliases_out", type=click.Path(path_type=Path, dir_okay=False), help="Parquet: alias, paper_id."
)
@click.option("--explain", is_flag=True, help="Explain each cluster of two or more records.")
def command(
    files: tuple[Path, ...],
    out: Path,
    edges_out: Path | None,
    parent: Path | None,
    aliases_out: Path | None,
    explain: bool,
) -> None:
    """Cluster the metadata records of the same paper.

    Records of one paper have equal identifiers, or similar titles with authors and years that agree.
    """
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    from s2corpus.clustering.explain import explanations, format_explanation
    from s2corpus.clustering.identity import Parent
    from s2corpus.compiled import interpret_if_small
    from s2corpus.errors import UserError
    from s2corpus.pdf.files import check_table
    from s2corpus.sources.files import read_latest
    from s2corpus.stages.cluster.local import cluster_records
    from s2corpus.storage.outputs import whole
    from s2corpus.storage.parquet import read_parquet

    for path in (out, edges_out, aliases_out):
        if path is not None:
            check_table(path)
    before = Parent()
    if parent is not None:
        try:
            known = read_parquet(parent, ["record_id", "paper_id"])
        except (ValueError, OSError) as error:
            raise UserError(f"{parent}: expected a Parquet file with record_id and paper_id ({error})") from None
        before = Parent(known.append_column("first_ready", pa.nulls(known.num_rows, pa.string())))
    records = read_latest(files)
    with interpret_if_small(len(records) * records.nbytes):
        found = cluster_records(records, parent=before)
    clusters = found.clusters.select(["record_id", "paper_id"])
    for path, table in ((out, clusters), (edges_out, found.edges), (aliases_out, found.aliases)):
        if path is not None:
            with whole(path) as beside:
                pq.write_table(table, beside, compression="zstd")
    if explain:
        for explanation in explanations(found.clusters, found.edges):
            click.echo(format_explanation(explanation))
    papers = pc.count_distinct(found.clusters["paper_id"]).as_py()
    click.echo(f"{records.num_rows} records, {papers} papers, {found.conflicts} conflicts of DOIs", err=True)
