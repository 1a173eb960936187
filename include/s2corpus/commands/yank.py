"""`corpus yank`: withdraw a published snapshot."""

from __future__ import annotations

import click

from s2corpus.commands._lake_option import lake_option


@click.command(
    epilog='Example: corpus yank s2_v2-20230101-0a1b2c3d --reason "half of the records of one source were missing"'
)
@click.argument("snapshot")
@click.option("--reason", required=True, help="Why; it is recorded.")
@lake_option()
def command(snapshot: str, reason: str, lake: str) -> None:
    """Withdraw SNAPSHOT: the pointer moves back to the newest one left, and no later release takes it for its parent.

    Its files stay for those who read it; `corpus prune` deletes them.
    """
    from s2corpus.ids import SnapshotId
    from s2corpus.snapshot.pointer import yank
    from s2corpus.storage.lake import open_lake

    pointer = yank(open_lake(lake), snapshot, reason)
    click.echo(f"{snapshot} is yanked; the latest of {SnapshotId(snapshot).spec} is {pointer.snapshot or 'none'}")
