"""`corpus prune`: delete old snapshots."""

from __future__ import annotations

import click

from s2corpus.commands._help import Command
from s2corpus.commands._lake_option import lake_option


@click.command(cls=Command, epilog=("corpus prune s2_v2 --keep 3 --dry-run\ncorpus prune s2_v2 --keep 3 --delete"))
@click.argument("spec")
@click.option("--keep", type=click.IntRange(1), required=True, help="Number of newest published snapshots to keep.")
@click.option(
    "--dry-run/--delete",
    default=True,
    show_default=True,
    help="List the snapshots that would be deleted, or delete them.",
)
@click.option(
    "--catalog",
    envvar="S2CORPUS_ICEBERG",
    help="Iceberg catalog from which the snapshots are removed first.  [default: S2CORPUS_ICEBERG]",
)
@lake_option()
def command(spec: str, keep: int, dry_run: bool, catalog: str | None, lake: str) -> None:
    """Delete old snapshots of a spec.

    The newest snapshots remain, and so does the one in latest.json. Registered snapshots (`corpus register`) are removed from the
    Iceberg catalog before their files are deleted.
    """
    from s2corpus.errors import UserError
    from s2corpus.snapshot import iceberg
    from s2corpus.snapshot.pointer import list_prunable, list_published, prune
    from s2corpus.storage.lake import open_lake

    opened = open_lake(lake)
    old = list_prunable(opened, spec, keep)
    registered = bool(old) and iceberg.has_tables(opened, spec)
    if registered and not dry_run and catalog is None:
        raise UserError(
            f"snapshots of {spec} are registered in an Iceberg catalog, which would then reference deleted files: "
            "name it with --catalog"
        )
    remaining = [snapshot for snapshot in list_published(opened, spec) if snapshot not in old]
    for snapshot in old:
        if dry_run:
            files = list(opened.list(f"snapshots/{snapshot}/"))
            click.echo(f"{snapshot}: would delete {len(files)} files, {sum(file.bytes for file in files):,} bytes")
        else:
            if registered and catalog is not None:
                tables = iceberg.unregister(iceberg.open_catalog(catalog), spec, snapshot)
                click.echo(f"{snapshot}: removed from {len(tables)} Iceberg tables")
            click.echo(f"{snapshot}: deleted {prune(opened, snapshot)} files")
    verb = "would remain" if dry_run else "remain"
    click.echo(f"{len(remaining)} published snapshots of {spec} {verb}: {', '.join(remaining)}", err=True)
