"""`corpus read`: documents of a snapshot, by id, by what they say, or a sample."""

from __future__ import annotations

import sys

import click
import orjson

from s2corpus.commands._lake_option import lake_option
from s2corpus.errors import UserError


@click.command(
    epilog="Example: corpus read s3://lake/snapshots/s2_v2 --sample 3; corpus read s2_v2 --id 0123456789abcde"
)
@click.argument("snapshot")
@click.option("--id", "ids", multiple=True, help="A document's id, or a former one; may be repeated.")
@click.option("--grep", "pattern", help="Regular expression that the text has to match.")
@click.option("--sample", "count", type=click.IntRange(1), help="This many documents, the same each time.")
@click.option("--set", "set_", type=click.Choice(["s2orc", "s2ag"]), help="Only of this set.")
@click.option("--split", type=click.Choice(["train", "valid"]), help="Only of this split.")
@click.option("--text", is_flag=True, help="Print the text alone, not the JSON line.")
@lake_option(needed=False)
def command(
    snapshot: str,
    ids: tuple[str, ...],
    pattern: str | None,
    count: int | None,
    set_: str | None,
    split: str | None,
    text: bool,
    lake: str | None,
) -> None:
    """Read documents of SNAPSHOT: its address, its id, or a spec's name for the latest."""
    from s2corpus.snapshot import reader

    if [bool(ids), pattern is not None, count is not None].count(True) != 1:
        raise UserError("say which documents: one of --id, --grep or --sample")
    folder = reader.open_snapshot(snapshot, lake)
    sets = [set_] if set_ else ["s2orc", "s2ag"]
    splits = [split] if split else ["train", "valid"]
    if ids:
        documents = reader.by_ids(folder, ids)
    elif pattern is not None:
        documents = reader.grep(folder, pattern, sets, splits)
    else:
        documents = reader.sample(folder, count or 1, sets, splits)
    for document in documents:
        line = f"{document['text']}\n\n".encode() if text else orjson.dumps(document, option=orjson.OPT_APPEND_NEWLINE)
        sys.stdout.buffer.write(line)
    sys.stdout.buffer.flush()
