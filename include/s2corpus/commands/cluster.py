"""`corpus cluster`: cluster the records of the same paper."""

from __future__ import annotations

from pathlib import Path

import click

from s2corpus.commands._help import FILE, PATH, Command
from s2corpus.commands._outputs import read_clusters


@click.command(
    cls=Command,
    epilog="corpus cluster --records crossref.parquet --records arxiv.jsonl --out clusters.parquet --explain",
)
@click.option("--records", "files", required=True, multiple=True, type=PATH, help="Records, .parquet or .jsonl.")
@click.option("--out", required=True, type=FILE, help="Write record_id and paper_id (.parquet or .jsonl).")
@click.option("--edges", "edges_out", type=FILE, help="Write the used and the cut edges (.parquet or .jsonl).")
@click.option("--parent", type=PATH, help="Clusters of an earlier run, to keep its ids (Parquet).")
@click.option("--aliases", "aliases_out", type=FILE, help="Write alias and paper_id (.parquet or .jsonl).")
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

    Records of one paper have equal identifiers, or similar titles with authors and years that agree. `corpus vote`, `corpus explain`
    and --parent read Parquet.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    from s2corpus.clustering.explain import explanations, format_explanation
    from s2corpus.clustering.identity import Parent
    from s2corpus.compiled import interpret_if_small
    from s2corpus.sources.files import read_latest
    from s2corpus.stages.cluster import cluster_records
    from s2corpus.storage.output_tables import check_table, write_table

    for path in (out, edges_out, aliases_out):
        if path is not None:
            check_table(path)
    before = Parent()
    if parent is not None:
        old = read_clusters(parent)
        before = Parent(old.append_column("first_ready", pa.nulls(old.num_rows, pa.string())))
    records = read_latest(files)
    with interpret_if_small(len(records) * records.nbytes):
        result = cluster_records(records, parent=before)
    clusters = result.clusters.select(["record_id", "paper_id"])
    for path, table in ((out, clusters), (edges_out, result.edges), (aliases_out, result.aliases)):
        if path is not None:
            write_table(path, table)
    if explain:
        for explanation in explanations(result.clusters, result.edges):
            click.echo(format_explanation(explanation))
    papers = pc.count_distinct(result.clusters["paper_id"]).as_py()
    click.echo(f"{records.num_rows} records, {papers} papers, {result.conflicts} conflicts of DOIs", err=True)
