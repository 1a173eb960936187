"""`corpus push`: upload a snapshot to S3 or to the Hugging Face Hub."""

from __future__ import annotations

import re

import click

from s2corpus.commands._help import Command
from s2corpus.commands._lake_option import lake_option
from s2corpus.commands._snapshot_reading import reads_snapshot


@click.command(
    cls=Command,
    epilog=(
        "corpus push s2_v2 hf://my-lab/s2-v2\ncorpus push s2_v2-20230101-0a1b2c3d s3://mirror/s2_v2-20230101-0a1b2c3d"
    ),
)
@click.argument("snapshot")
@click.argument("to")
@lake_option(needed=False)
@reads_snapshot
def command(snapshot: str, to: str, lake: str | None) -> None:
    """Upload a snapshot to S3 or the Hugging Face Hub.

    SNAPSHOT is an address, an id, or a spec for its latest snapshot. TO is s3://bucket/folder, a folder, or hf://owner/name.
    An interrupted upload resumes. S3 uses the AWS variables of your environment, the Hub uses HF_TOKEN.
    """
    from s2corpus.errors import UserError
    from s2corpus.snapshot import push
    from s2corpus.snapshot.reader import open_snapshot
    from s2corpus.storage.lake import open_lake

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
