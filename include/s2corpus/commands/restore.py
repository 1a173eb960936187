"""`corpus restore`: undo the withdrawal of a snapshot."""

from __future__ import annotations

import click

from s2corpus.commands._help import Command
from s2corpus.commands._lake_option import lake_option


@click.command(
    cls=Command, epilog='corpus restore s2_v2-20230101-0a1b2c3d --reason "the records were there, the count was wrong"'
)
@click.argument("snapshot")
@click.option("--reason", required=True, help="Reason, ten characters or more; recorded.")
@lake_option()
def command(snapshot: str, reason: str, lake: str) -> None:
    """Publish a withdrawn snapshot again.

    The bytes are the same. If SNAPSHOT is the newest published one, latest.json points to it.
    """
    from s2corpus.ids import SnapshotId
    from s2corpus.snapshot.pointer import restore
    from s2corpus.storage.lake import open_lake

    pointer = restore(open_lake(lake), snapshot, reason)
    click.echo(f"{snapshot} is published again; the latest of {SnapshotId(snapshot).spec} is {pointer.snapshot}")
