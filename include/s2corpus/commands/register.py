"""`corpus register`: register a snapshot in an Apache Iceberg catalog."""

from __future__ import annotations

import click

from s2corpus.commands._help import Command
from s2corpus.commands._lake_option import lake_option
from s2corpus.commands._snapshot_reading import reads_snapshot


@click.command(
    cls=Command,
    epilog=(
        "corpus register s2_v2 --catalog sqlite:////srv/catalogue.db\ncorpus register s2_v2-20230101-0a1b2c3d --forget"
    ),
)
@click.argument("snapshot")
@click.option("--catalog", "uri", envvar="S2CORPUS_ICEBERG", required=True,
              help="URI of the catalog: sqlite:///…, postgresql+psycopg2://…, or the http(s) URL of a REST catalog.  "
              "[default: S2CORPUS_ICEBERG]")  # fmt: skip
@click.option("--forget", is_flag=True, help="Remove the version from the catalog; files remain.")
@lake_option(needed=False)
@reads_snapshot
def command(snapshot: str, uri: str, forget: bool, lake: str | None) -> None:
    """Register a snapshot in an Apache Iceberg catalog.

    The snapshot becomes the newest version of its spec's tables. No file is copied or rewritten.
    """
    from s2corpus.ids import SnapshotId
    from s2corpus.snapshot import iceberg
    from s2corpus.snapshot.reader import open_snapshot

    catalog = iceberg.open_catalog(uri)
    if forget:
        tables = iceberg.unregister(catalog, SnapshotId.parse(snapshot).spec, snapshot)
        click.echo(f"{snapshot}: removed from {', '.join(tables)}" if tables else f"{snapshot}: was not registered")
        return
    for name, rows in iceberg.register(catalog, open_snapshot(snapshot, lake)).items():
        click.echo(f"{name}: {rows:,} rows")
