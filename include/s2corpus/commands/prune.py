"""`corpus prune`: delete old snapshots."""

from __future__ import annotations

import click

from s2corpus.commands._lake_option import lake_option


@click.command(epilog="Example: corpus prune s2_v2 --keep 3 --dry-run; then corpus prune s2_v2 --keep 3 --delete")
@click.argument("spec")
@click.option("--keep", type=click.IntRange(1), required=True, help="The newest published snapshots that stay.")
@click.option("--dry-run/--delete", default=True, show_default=True, help="Only say what would be deleted.")
@lake_option()
def command(spec: str, keep: int, dry_run: bool, lake: str) -> None:
    """Delete the files of SPEC's snapshots that are not among the newest ones. What latest.json points at always stays."""
    from s2corpus.snapshot.pointer import prunable, prune, published
    from s2corpus.storage.lake import open_lake

    opened = open_lake(lake)
    old = prunable(opened, spec, keep)
    stay = [snapshot for snapshot in published(opened, spec) if snapshot not in old]
    for snapshot in old:
        if dry_run:
            files = list(opened.list(f"snapshots/{snapshot}/"))
            click.echo(f"{snapshot}: would delete {len(files)} files, {sum(file.bytes for file in files):,} bytes")
        else:
            click.echo(f"{snapshot}: deleted {prune(opened, snapshot)} files")
    click.echo(
        f"{len(stay)} published snapshots of {spec} {'would stay' if dry_run else 'stay'}: {', '.join(stay)}", err=True
    )
