"""`corpus yank`: withdraw a published snapshot."""

from __future__ import annotations

import sys

import click

from s2corpus.commands._help import Command
from s2corpus.commands._lake_option import lake_option


@click.command(
    cls=Command, epilog='corpus yank s2_v2-20230101-0a1b2c3d --reason "half of the records of one source were missing"'
)
@click.argument("snapshot")
@click.option("--reason", required=True, help="Reason, ten characters or more; recorded.")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@lake_option()
def command(snapshot: str, reason: str, yes: bool, lake: str) -> None:
    """Withdraw a published snapshot.

    latest.json points to the newest remaining snapshot, and no later release uses SNAPSHOT as its parent. The files remain:
    `corpus restore` publishes them again, `corpus prune` deletes them.
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
    click.echo(f"{snapshot} is withdrawn; the latest of {spec} is {pointer.snapshot or 'none'}")
    if iceberg.has_tables(opened, spec):
        click.echo(
            "If it is registered in an Iceberg catalog, it remains a version there. "
            f"Register {pointer.snapshot or 'another snapshot'} first, then run corpus register {snapshot} --forget",
            err=True,
        )
