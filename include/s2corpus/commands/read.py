"""`corpus read`: read documents of a snapshot by id, by pattern, or as a sample."""

from __future__ import annotations

import sys

import click
import orjson

from s2corpus.commands._help import Command
from s2corpus.commands._lake_option import lake_option
from s2corpus.commands._snapshot_reading import reads_snapshot
from s2corpus.errors import UserError


@click.command(
    cls=Command, epilog=("corpus read s3://lake/snapshots/s2_v2 --sample 3\ncorpus read s2_v2 --doi 10.1234/5")
)
@click.argument("snapshot")
@click.option("--id", "ids", multiple=True, help="Current or former id of a document; may be repeated.")
@click.option("--doi", help="The paper with this DOI, in any usual form.")
@click.option("--arxiv", help="The paper with this arXiv id.")
@click.option("--pmid", help="The paper with this PubMed id.")
@click.option("--title", help="The paper with this title; case, accents and punctuation are ignored.")
@click.option("--sha1", help="The paper with the text of the file with this SHA-1.")
@click.option("--grep", "pattern", help="Show only documents that match this regular expression.")
@click.option(
    "--sample", "count", type=click.IntRange(1), help="Show this number of documents; the sample is always the same."
)
@click.option("--set", "set_", type=click.Choice(["s2orc", "s2ag"]), help="Show only documents of this set.")
@click.option("--split", type=click.Choice(["train", "valid"]), help="Show only documents of this split.")
@click.option("--text", is_flag=True, help="Print only the text instead of JSON.")
@lake_option(needed=False)
@reads_snapshot
def command(
    snapshot: str,
    ids: tuple[str, ...],
    doi: str | None,
    arxiv: str | None,
    pmid: str | None,
    title: str | None,
    sha1: str | None,
    pattern: str | None,
    count: int | None,
    set_: str | None,
    split: str | None,
    text: bool,
    lake: str | None,
) -> None:
    """Read documents of a snapshot.

    SNAPSHOT is an address, an id, or a spec for its latest snapshot.
    """
    import s2corpus_reader
    from s2corpus.snapshot.reader import open_snapshot
    from s2corpus_reader import selection

    options = {"doi": doi, "arxiv": arxiv, "pmid": pmid, "title": title, "sha1": sha1}
    key = {name: value for name, value in options.items() if value is not None}
    if [bool(ids), pattern is not None, count is not None].count(True) + len(key) != 1:
        raise UserError(
            "select documents with exactly one of --id, --doi, --arxiv, --pmid, --title, --sha1, --grep or --sample"
        )
    folder = open_snapshot(snapshot, lake)
    reader = s2corpus_reader.open(folder.root)
    if key:
        paper = reader.paper(**key)
        if paper is None:
            raise UserError(
                f"{folder.root}: no paper with {' '.join(f'{name} {value}' for name, value in key.items())}"
            )
        ids = (paper["paper_id"],)
    sets = [set_] if set_ else ["s2orc", "s2ag"]
    splits = [split] if split else ["train", "valid"]
    if ids:
        documents = selection.read_by_ids(folder, ids)
    elif pattern is not None:
        documents = selection.grep(reader, pattern, sets, splits)
    else:
        documents = selection.read_sample(folder, count or 1, sets, splits)
    for document in documents:
        line = f"{document['text']}\n\n".encode() if text else orjson.dumps(document, option=orjson.OPT_APPEND_NEWLINE)
        sys.stdout.buffer.write(line)
    sys.stdout.buffer.flush()
