"""`corpus prune`: delete old snapshots."""

from __future__ import annotations

import click

from s2corpus.commands._lake_option import lake_option


@click.command(epilog="Example: corpus prune s2_v2 --keep 3 --dry-run; then corpus prune s2_v2 --keep 3 --delete")
@click.argument("spec")
@click.option("--keep", type=click.IntRange(1), required=True, help="The newest published snapshots that stay.")
@click.option("--dry-run/--delete", default=True, show_default=True, help="Only say what would be deleted.")
@click.option("--catalog", envvar="S2CORPUS_ICEBERG", help="The Iceberg catalogue that they are taken out of first.")
@lake_option()
def command(spec: str, keep: int, dry_run: bool, catalog: str | None, lake: str) -> None:
    """Delete the files of SPEC's snapshots that are not among the newest ones. What latest.json points at always stays.

    Snapshots that were registered (`corpus register`) are taken out of the catalogue before their files go.
    """
    from s2corpus.errors import UserError
    from s2corpus.snapshot import iceberg
    from s2corpus.snapshot.pointer import prunable, prune, published
    from s2corpus.storage.lake import open_lake

    opened = open_lake(lake)
    old = prunable(opened, spec, keep)
    registered = bool(old) and iceberg.has_tables(opened, spec)
    if registered and not dry_run and catalog is None:
        raise UserError(
            f"snapshots of {spec} are registered in an Iceberg catalogue, which would name files that are gone: give it by --catalog"
        )
    stay = [snapshot for snapshot in published(opened, spec) if snapshot not in old]
    for snapshot in old:
        if dry_run:
            files = list(opened.list(f"snapshots/{snapshot}/"))
            click.echo(f"{snapshot}: would delete {len(files)} files, {sum(file.bytes for file in files):,} bytes")
        else:
            if registered and catalog is not None:
                tables = iceberg.forget(iceberg.open_catalog(catalog), spec, snapshot)
                click.echo(f"{snapshot}: taken out of {len(tables)} Iceberg tables")
            click.echo(f"{snapshot}: deleted {prune(opened, snapshot)} files")
    click.echo(
        f"{len(stay)} published snapshots of {spec} {'would stay' if dry_run else 'stay'}: {', '.join(stay)}", err=True
    )
