"""`corpus apply`: build the new snapshot from a delta and a copy of the old one."""

from __future__ import annotations

from pathlib import Path

import click

from s2corpus.commands._help import PATH, Command
from s2corpus.commands._snapshot_reading import reads_snapshot


@click.command(cls=Command, epilog="corpus apply delta --copy s2_v2-20230101-0a1b2c3d --out s2_v2-20230201-4e5f6a7b")
@click.argument("delta", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--copy", required=True, help="Folder or address of the start snapshot; not changed.")
@click.option("--out", required=True, type=PATH, help="Output folder; must not exist.")
@reads_snapshot
def command(delta: Path, copy: str, out: Path) -> None:
    """Apply a delta to a copy of its start snapshot.

    The result equals the published snapshot byte for byte; otherwise the command fails and names the difference.
    """
    import s2corpus_reader
    from s2corpus.snapshot.reader import open_snapshot

    snapshot_id = s2corpus_reader.apply(delta, open_snapshot(copy), out, lambda path: click.echo(path, err=True))
    click.echo(f"{out}: {snapshot_id}, all files match the manifest")
