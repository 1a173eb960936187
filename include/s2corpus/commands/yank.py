"""`corpus yank`: withdraw a published snapshot."""

from __future__ import annotations

import sys

import click

from s2corpus.commands._lake_option import lake_option


@click.command(
    epilog='Example: corpus yank s2_v2-20230101-0a1b2c3d --reason "half of the records of one source were missing"'
)
@click.argument("snapshot")
@click.option("--reason", required=True, help="Why, in ten characters or more; it is recorded.")
@click.option("--yes", is_flag=True, help="Do not ask at a terminal.")
@lake_option()
def command(snapshot: str, reason: str, yes: bool, lake: str) -> None:
    """Withdraw SNAPSHOT: the pointer moves back to the newest one left, and no later release takes it for its parent.

    Its files stay for those who read it; `corpus restore` undoes it, `corpus prune` deletes them.
    """
    from s2corpus.ids import SnapshotId
    from s2corpus.snapshot import iceberg
    from s2corpus.snapshot.pointer import yank
    from s2corpus.storage.lake import open_lake

    opened = open_lake(lake)
    if not yes and sys.stdin.isatty():
        click.confirm(f"Withdraw {SnapshotId.parse(snapshot)} from {lake}?", abort=True)
    pointer = yank(opened, snapshot, reason)
    spec = SnapshotId(snapshot).spec
    click.echo(f"{snapshot} is yanked; the latest of {spec} is {pointer.snapshot or 'none'}")
    if iceberg.has_tables(opened, spec):
        click.echo(
            f"Where it is registered in an Iceberg catalogue it stays a version, with its files. Make {pointer.snapshot or 'another'} "
            f"the newest by corpus register, then take this one out by corpus register {snapshot} --forget",
            err=True,
        )
