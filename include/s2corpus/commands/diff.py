"""`corpus diff`: count or list the documents that changed between two snapshots."""

from __future__ import annotations

import tempfile
from pathlib import Path

import click

from s2corpus.commands._help import Command
from s2corpus.commands._lake_option import lake_option
from s2corpus.commands._snapshot_reading import reads_snapshot


@click.command(
    cls=Command,
    epilog=(
        "corpus diff s2_v2-20230101-0a1b2c3d s2_v2-20230201-4e5f6a7b --lake s3://lake\n"
        "corpus diff s2_v2-20230101-0a1b2c3d s2_v2-20230201-4e5f6a7b --list"
    ),
)
@click.argument("old")
@click.argument("new")
@click.option("--list", "is_list", is_flag=True, help="Print one line for each document: change, set, split, id.")
@lake_option(needed=False)
@reads_snapshot
def command(old: str, new: str, is_list: bool, lake: str | None) -> None:
    """Count documents that changed between two snapshots.

    A document is added, removed, moved to another set or split, or changed. The file `changes.parquet` of a snapshot
    gives the reason for each removal since its parent.
    """
    import pyarrow.dataset as ds

    from s2corpus.snapshot import changes
    from s2corpus.snapshot.reader import open_snapshot
    from s2corpus.storage.duck import duckdb_connection

    with tempfile.TemporaryDirectory(prefix="s2corpus-diff-") as scratch:
        for view, name in (("old_index", old), ("new_index", new)):
            open_snapshot(name, lake).download("index.parquet", Path(scratch) / view)
        with duckdb_connection(memory_mb=1024, scratch=Path(scratch)) as connection:
            for view in ("old_index", "new_index"):
                connection.register(view, ds.dataset(Path(scratch) / view))
            changes.create_changes_table(connection)
            if is_list:
                rows = connection.execute(
                    "SELECT change, set, split, id FROM changes WHERE change <> 'same' ORDER BY change, id"
                )
                while row := rows.fetchone():
                    click.echo("\t".join(row))
                return
            for change, counts in changes.summarize_changes(connection, old).items():
                if change != "parent":
                    sets = ", ".join(f"{n:,} of {set_}" for set_, n in counts["documents"].items()) or "none"
                    click.echo(f"{change}: {sets}")
