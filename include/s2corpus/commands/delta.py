"""`corpus delta`: write the difference between two snapshots."""

from __future__ import annotations

from pathlib import Path

import click

from s2corpus.commands._help import PATH, Command
from s2corpus.commands._lake_option import lake_option
from s2corpus.commands._snapshot_reading import reads_snapshot


@click.command(
    cls=Command, epilog="corpus delta s2_v2-20230101-0a1b2c3d s2_v2-20230201-4e5f6a7b --lake s3://lake --out delta"
)
@click.argument("old")
@click.argument("new")
@click.option("--out", required=True, type=PATH, help="Output folder; must not exist.")
@lake_option(needed=False)
@reads_snapshot
def command(old: str, new: str, out: Path, lake: str | None) -> None:
    """Write the difference between two snapshots.

    `corpus apply` builds NEW from the delta and a copy of OLD.
    """
    from s2corpus.snapshot.reader import open_snapshot
    from s2corpus_reader.difference import write_delta

    to = open_snapshot(new, lake)
    counts = write_delta(open_snapshot(old, lake), to, out, lambda path: click.echo(path, err=True))
    total_bytes = sum(entry.bytes for entry in to.list(""))
    click.echo(
        f"{out}: {counts['bytes']:,} bytes, {counts['bytes'] / max(total_bytes, 1):.1%} of the snapshot; "
        f"files: {counts['copy']} unchanged, {counts['lines']} with changed lines, {counts['rows']} with changed rows, "
        f"{counts['whole']} stored completely"
    )
