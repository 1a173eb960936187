"""`corpus yank`: withdraw a published snapshot."""

from __future__ import annotations

import os

import click


@click.command(
    epilog='Example: corpus yank s2_v2-20230101-0a1b2c3d --reason "half of the records of one source were missing"'
)
@click.argument("snapshot")
@click.option("--reason", required=True, help="Why; it is recorded.")
@click.option("--lake", help="s3://bucket[/prefix] or a folder; else what S2CORPUS_LAKE names.")
def command(snapshot: str, reason: str, lake: str | None) -> None:
    """Withdraw SNAPSHOT: the pointer moves back to the newest one left, and no later release takes it for its parent.

    Its files stay for those who read it; `corpus prune` deletes them.
    """
    from s2corpus.errors import UserError
    from s2corpus.lake import open_lake
    from s2corpus.snapshot.pointer import spec_of, yank

    uri = lake or os.environ.get("S2CORPUS_LAKE")
    if not uri:
        raise UserError("no lake given: use --lake or set S2CORPUS_LAKE to s3://bucket[/prefix] or a folder")
    pointer = yank(open_lake(uri), snapshot, reason)
    click.echo(f"{snapshot} is yanked; the latest of {spec_of(snapshot)} is {pointer.snapshot or 'none'}")
