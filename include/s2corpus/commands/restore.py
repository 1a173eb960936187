"""`corpus restore`: undo the withdrawal of a snapshot."""

from __future__ import annotations

import click

from s2corpus.commands._lake_option import lake_option


@click.command(
    epilog='Example: corpus restore s2_v2-20230101-0a1b2c3d --reason "the records were there, the count was wrong"'
)
@click.argument("snapshot")
@click.option("--reason", required=True, help="Why, in ten characters or more; it is recorded.")
@lake_option()
def command(snapshot: str, reason: str, lake: str) -> None:
    """Publish SNAPSHOT again that was yanked, with the same bytes: if it is the newest one left, the pointer moves to it."""
    from s2corpus.ids import SnapshotId
    from s2corpus.snapshot.pointer import restore
    from s2corpus.storage.lake import open_lake

    pointer = restore(open_lake(lake), snapshot, reason)
    click.echo(f"{snapshot} is restored; the latest of {SnapshotId(snapshot).spec} is {pointer.snapshot}")
