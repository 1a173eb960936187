"""Commands for published snapshots: `corpus push`, `register`, `publish` and `prune`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import click

from s2corpus.commands._options import (
    current_account,
    file_progress,
    lake_option,
    list_local_logs,
    reads_snapshot,
    with_examples,
)
from s2corpus.errors import TransientError, UserError
from s2corpus.ids import SnapshotId
from s2corpus.storage.lake import Lake, open_lake

if TYPE_CHECKING:
    from s2corpus.drops.upgrade import StoreUse


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

    source = open_snapshot(snapshot, lake)
    with file_progress("uploading", source) as progress:
        if to.startswith("hf://"):
            match = re.fullmatch(r"hf://(?:datasets/)?([\w.-]+/[\w.-]+)/?", to)
            if match is None:
                raise UserError(f"{to!r} is not a data set of the Hub: expected hf://owner/name")
            pushed = push.push_to_hub(source, match.group(1), progress)
        else:
            pushed = push.push_to_lake(source, open_lake(to), progress)
    click.echo(f"{to}: {pushed.sent} files sent, {pushed.skipped} already in the target")


@with_examples(
    "corpus register s2_v2 --catalog sqlite:////srv/catalog.db",
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


@with_examples(
    'corpus publish s2_v2-20230101-0a1b2c3d --reason "the trial with the new publisher was read by two people"'
)
@click.argument("snapshot")
@click.option("--reason", required=True, help="Reason, ten characters or more; stored with the publication.")
@lake_option()
def publish_command(snapshot: str, reason: str, lake: str) -> None:
    """Publish a complete snapshot that its run left unpublished.

    Such snapshots are from trials on chosen drops, from `corpus build --no-publish`, or await an approval. All checks of the
    release must have passed or be overridden. If the spec requires an approval, your account is the approver: it must not be that of
    the person who started the run or delivered its files.
    """
    from datetime import UTC, datetime

    from s2corpus.catalog.models import ReleaseDecision
    from s2corpus.pipeline import publication, sealed
    from s2corpus.snapshot.pointer import check_reason
    from s2orc_parse.scratch import private

    opened, id_ = open_lake(lake), SnapshotId.parse(snapshot)
    check_reason(reason)
    run = sealed.find_run(opened, id_, private())
    if run.spec.export.needs_approval:
        record = sealed.read_record(opened, id_.release)
        publication.record_answer(
            run, ReleaseDecision.APPROVED, current_account(), reason.strip(), datetime.now(UTC), record.started_by
        )
    latest = publication.publish(run, by_person=True)
    click.echo(f"{snapshot} is published; latest.json names {latest.snapshot}")


@with_examples(
    "corpus prune --keep 3",
    "corpus prune --keep 3 --delete",
    "corpus prune s2_v2 --keep 3 --snapshots --delete",
)
@click.argument("corpus", required=False)
@click.option(
    "--keep",
    type=click.IntRange(1),
    required=True,
    help="Number of newest published snapshots of each corpus to retain.",
)
@click.option("--snapshots", is_flag=True, help="Of CORPUS, also delete older snapshots, which consumers may read.")
@click.option("--dry-run/--delete", default=True, show_default=True, help="List what would be deleted, or delete it.")
@click.option(
    "--catalog",
    "iceberg_uri",
    envvar="S2CORPUS_ICEBERG",
    help="Iceberg catalog from which the snapshots are removed first.  [default: S2CORPUS_ICEBERG]",
)
@lake_option()
def prune_command(
    corpus: str | None, keep: int, snapshots: bool, dry_run: bool, iceberg_uri: str | None, lake: str
) -> None:
    """Delete data that no release needs.

    These are the tables of older published releases, which the page and `corpus explain` read; stored results that neither a release
    nor the current code refers to; batches of processed drops; and logs of this machine that are older than 30 days. Scratch folders of
    ended processes are removed by every command. With CORPUS, only tables of its releases are deleted. Snapshots remain, except with
    --snapshots; the one in latest.json always remains. The DAG `corpus_cleanup` does the same.
    """
    from s2corpus.catalog import Catalog
    from s2corpus.corpora.cleanup import delete, list_waste

    opened = open_lake(lake)
    if snapshots:
        if corpus is None:
            raise UserError("--snapshots needs CORPUS: name the corpus whose snapshots are deleted")
        _prune_snapshots(opened, corpus, keep, dry_run=dry_run, iceberg_uri=iceberg_uri)
    stores = [] if corpus else _find_store_uses(lake)
    files = total = 0
    for waste in list_waste(
        opened, keep, stores, corpus=corpus, catalog=Catalog.from_environment(), logs=list_local_logs()
    ):
        if not dry_run:
            delete(opened, waste)
        verb = "would delete" if dry_run else "deleted"
        click.echo(f"{waste.kind}\t{waste.name}\t{verb} {waste.files:,} files, {waste.bytes:,} bytes")
        files, total = files + waste.files, total + waste.bytes
    click.echo(
        f"{files:,} files, {total / 1e6:,.1f} MB {'would be freed: add --delete' if dry_run else 'are freed'}", err=True
    )


def _find_store_uses(lake: str) -> list[StoreUse]:
    """Return the stored results that the next release of each spec uses; nothing if the extractor does not answer."""
    from contextlib import ExitStack
    from datetime import UTC, datetime

    from s2corpus.commands.releases import use_extractor
    from s2corpus.drops.upgrade import find_store_uses
    from s2corpus.spec_files import read_specs, releases_folder

    specs, wrong = read_specs(releases_folder())
    try:
        if wrong:
            raise UserError("; ".join(wrong))
        with ExitStack() as stack:
            use_extractor(stack)
            return find_store_uses(lake, specs, datetime.now(UTC))
    except (TransientError, UserError) as error:
        click.echo(f"stored results are not examined: {error}", err=True)
        return []


def _prune_snapshots(lake: Lake, corpus: str, keep: int, *, dry_run: bool, iceberg_uri: str | None) -> None:
    """Delete old snapshots. Registered snapshots are removed from the Iceberg catalog before their files are deleted."""
    from s2corpus.snapshot import iceberg
    from s2corpus.snapshot.markers import list_published
    from s2corpus.snapshot.pruning import list_prunable, prune

    old = list_prunable(lake, corpus, keep)
    registered = bool(old) and iceberg.has_tables(lake, corpus)
    if registered and not dry_run and iceberg_uri is None:
        raise UserError(
            f"snapshots of {corpus} are registered in an Iceberg catalog, which would then reference deleted files: "
            "name it with --catalog"
        )
    remaining = [snapshot for snapshot in list_published(lake, corpus) if snapshot not in old]
    for snapshot in old:
        if dry_run:
            files = list(lake.list(f"snapshots/{snapshot}/"))
            click.echo(f"{snapshot}: would delete {len(files)} files, {sum(file.bytes for file in files):,} bytes")
        else:
            if registered and iceberg_uri is not None:
                tables = iceberg.unregister(iceberg.open_catalog(iceberg_uri), corpus, snapshot)
                click.echo(f"{snapshot}: removed from {len(tables)} Iceberg tables")
            click.echo(f"{snapshot}: deleted {prune(lake, snapshot)} files")
    verb = "would remain" if dry_run else "remain"
    click.echo(f"{len(remaining)} published snapshots of {corpus} {verb}: {', '.join(remaining)}", err=True)
