"""`corpus register`: a snapshot's Parquet files as a version of Apache Iceberg tables."""

from __future__ import annotations

import click

from s2corpus.commands._lake_option import lake_option
from s2corpus.commands._snapshot_reading import reads_snapshot


@click.command(
    epilog="Example: corpus register s2_v2 --catalog sqlite:////srv/catalogue.db; corpus register s2_v2-20230101-0a1b2c3d --forget"
)
@click.argument("snapshot")
@click.option("--catalog", "uri", envvar="S2CORPUS_ICEBERG", required=True,
              help="sqlite:///… or postgresql+psycopg2://…, or http(s)://… of a REST catalogue; else S2CORPUS_ICEBERG.")  # fmt: skip
@click.option("--forget", is_flag=True, help="Take the version out of the catalogue again; files stay.")
@lake_option(needed=False)
@reads_snapshot
def command(snapshot: str, uri: str, forget: bool, lake: str | None) -> None:
    """Make SNAPSHOT the newest version of its spec's tables in an Iceberg catalogue. Nothing is copied or rewritten."""
    from s2corpus.ids import SnapshotId
    from s2corpus.snapshot import iceberg
    from s2corpus.snapshot.reader import open_snapshot

    catalog = iceberg.open_catalog(uri)
    if forget:
        tables = iceberg.forget(catalog, SnapshotId.parse(snapshot).spec, snapshot)
        click.echo(f"{snapshot}: taken out of {', '.join(tables) or 'no table'}")
        return
    for name, rows in iceberg.register(catalog, open_snapshot(snapshot, lake)).items():
        click.echo(f"{name}: {rows:,} rows")
