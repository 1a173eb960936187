"""`corpus verify`: verify every file and line of a snapshot."""

from __future__ import annotations

import sys
from itertools import islice

import click

from s2corpus.commands._help import Command
from s2corpus.commands._lake_option import lake_option

MAX_FAULTS = 100
"""Maximum number of faults to show."""


@click.command(cls=Command, epilog="corpus verify s3://lake/snapshots/s2_v2-20230101-0a1b2c3d")
@click.argument("snapshot")
@lake_option(needed=False)
@click.option("--against", metavar="PARENT", help="Parent snapshot: also check diff.json against both.")
def command(snapshot: str, lake: str | None, against: str | None) -> None:
    """Verify every file of a snapshot.

    SNAPSHOT is an address, an id, or a spec for its latest snapshot. Exit status 0: no fault. 1: faults, one a line on standard
    output. 2: there is no snapshot to verify.
    """
    from s2corpus.snapshot.reader import open_snapshot, published_manifests
    from s2corpus.snapshot.verify import verify

    folder = open_snapshot(snapshot, lake)
    published = published_manifests(folder)
    parent = open_snapshot(against, lake) if against else None
    if not published:
        click.echo(
            f"{folder.root}: no publication mark next to the snapshot: "
            "a change of the manifest itself is detected only if other files contradict it",
            err=True,
        )
    faults = list(islice(verify(folder, published_sha256s=published, parent=parent), MAX_FAULTS))
    for fault in faults:
        click.echo(fault)
    if faults:
        click.echo(f"{folder.root}: {len(faults)}{' or more' if len(faults) == MAX_FAULTS else ''} faults", err=True)
        sys.exit(1)
    click.echo(f"{folder.root}: no faults", err=True)
