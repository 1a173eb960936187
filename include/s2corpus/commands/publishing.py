"""Commands that publish and withdraw snapshots: `corpus push`, `register`, `yank`, `restore` and `prune`."""

from __future__ import annotations

import re
import sys

import click

from s2corpus.commands._options import lake_option, reads_snapshot, with_examples
from s2corpus.errors import UserError
from s2corpus.ids import SnapshotId
from s2corpus.storage.lake import open_lake


@with_examples(
    "corpus push s2_v2 hf://my-lab/s2-v2",
    "corpus push s2_v2-20230101-0a1b2c3d s3://mirror/s2_v2-20230101-0a1b2c3d",
)
@click.argument("snapshot")
@click.argument("to")
@lake_option(needed=False)
@reads_snapshot
def push_command(snapshot: str, to: str, lake: str | None) -> None:
    """Upload a snapshot to S3 or the Hugging Face Hub.

    SNAPSHOT is an address, an id, or a spec for its latest snapshot. TO is s3://bucket/folder, a folder, or hf://owner/name.
    An interrupted upload resumes. S3 uses the AWS variables of your environment, the Hub uses HF_TOKEN.
    """
    from s2corpus.snapshot import push
    from s2corpus.snapshot.reader import open_snapshot

    def progress(path: str) -> None:
        click.echo(path, err=True)

    source = open_snapshot(snapshot, lake)
    if to.startswith("hf://"):
        match = re.fullmatch(r"hf://(?:datasets/)?([\w.-]+/[\w.-]+)/?", to)
        if match is None:
            raise UserError(f"{to!r} is not a data set of the Hub: expected hf://owner/name")
        pushed = push.push_to_hub(source, match.group(1), progress)
    else:
        pushed = push.push_to_lake(source, open_lake(to), progress)
    click.echo(f"{to}: {pushed.sent} files sent, {pushed.skipped} already in the target")


@with_examples(
    "corpus register s2_v2 --catalog sqlite:////srv/catalogue.db",
    "corpus register s2_v2-20230101-0a1b2c3d --forget",
)
@click.argument("snapshot")
@click.option("--catalog", "uri", envvar="S2CORPUS_ICEBERG", required=True,
              help="URI of the catalog: sqlite:///…, postgresql+psycopg2://…, or the http(s) URL of a REST catalog.  "
              "[default: S2CORPUS_ICEBERG]")  # fmt: skip
@click.option("--forget", is_flag=True, help="Remove the version from the catalog; files remain.")
@lake_option(needed=False)
@reads_snapshot
def register_command(snapshot: str, uri: str, forget: bool, lake: str | None) -> None:
    """Register a snapshot in an Apache Iceberg catalog.

    The snapshot becomes the newest version of its spec's tables. No file is copied or rewritten.
    """
    from s2corpus.snapshot import iceberg
    from s2corpus.snapshot.reader import open_snapshot

    catalog = iceberg.open_catalog(uri)
    if forget:
        tables = iceberg.unregister(catalog, SnapshotId.parse(snapshot).spec, snapshot)
        click.echo(f"{snapshot}: removed from {', '.join(tables)}" if tables else f"{snapshot}: was not registered")
        return
    for name, rows in iceberg.register(catalog, open_snapshot(snapshot, lake)).items():
        click.echo(f"{name}: {rows:,} rows")


@with_examples('corpus yank s2_v2-20230101-0a1b2c3d --reason "half of the records of one source were missing"')
@click.argument("snapshot")
@click.option("--reason", required=True, help="Reason, ten characters or more; recorded.")
@click.option("--yes", is_flag=True, help="Skip the confirmation.")
@lake_option()
def yank_command(snapshot: str, reason: str, yes: bool, lake: str) -> None:
    """Withdraw a published snapshot.

    latest.json points to the newest remaining snapshot, and no later release uses SNAPSHOT as its parent. The files remain:
    `corpus restore` publishes them again, `corpus prune` deletes them.
    """
    from s2corpus.snapshot import iceberg
    from s2corpus.snapshot.pointer import yank

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


@with_examples('corpus restore s2_v2-20230101-0a1b2c3d --reason "the records were there, the count was wrong"')
@click.argument("snapshot")
@click.option("--reason", required=True, help="Reason, ten characters or more; recorded.")
@lake_option()
def restore_command(snapshot: str, reason: str, lake: str) -> None:
    """Publish a withdrawn snapshot again.

    The bytes are the same. If SNAPSHOT is the newest published one, latest.json points to it.
    """
    from s2corpus.snapshot.pointer import restore

    pointer = restore(open_lake(lake), snapshot, reason)
    click.echo(f"{snapshot} is published again; the latest of {SnapshotId(snapshot).spec} is {pointer.snapshot}")


@with_examples(
    "corpus prune s2_v2 --keep 3 --dry-run",
    "corpus prune s2_v2 --keep 3 --delete",
)
@click.argument("spec")
@click.option("--keep", type=click.IntRange(1), required=True, help="Number of newest published snapshots to retain.")
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
def prune_command(spec: str, keep: int, dry_run: bool, catalog: str | None, lake: str) -> None:
    """Delete old snapshots of a spec.

    The newest snapshots remain, and so does the one in latest.json. Registered snapshots (`corpus register`) are removed from the
    Iceberg catalog before their files are deleted.
    """
    from s2corpus.snapshot import iceberg
    from s2corpus.snapshot.pointer import list_prunable, list_published, prune

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
