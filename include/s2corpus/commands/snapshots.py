"""Commands that read snapshots: `corpus read`, `verify`, `diff`, `delta` and `apply`."""

from __future__ import annotations

import re
import sys
import tempfile
from itertools import islice
from pathlib import Path

import click
import orjson

import s2corpus_reader
from s2corpus.commands._options import PATH, file_progress, json_option, lake_option, reads_snapshot, with_examples
from s2corpus.errors import UserError


@with_examples(
    "corpus read s3://lake/snapshots/s2_v2 --sample 3",
    "corpus read s2_v2 10.1234/5",
)
@click.argument("snapshot")
@click.argument("papers", nargs=-1)
@click.option("--grep", "pattern", help="Show only documents that match this regular expression.")
@click.option(
    "--sample", "count", type=click.IntRange(1), help="Show this number of documents; the sample is always the same."
)
@click.option("--set", "set_", type=click.Choice(["s2orc", "s2ag"]), help="Show only documents of this set.")
@click.option("--text", is_flag=True, help="Print only the text instead of JSON.")
@lake_option(needed=False)
@reads_snapshot
def read_command(
    snapshot: str,
    papers: tuple[str, ...],
    pattern: str | None,
    count: int | None,
    set_: str | None,
    text: bool,
    lake: str | None,
) -> None:
    """Read documents of a snapshot.

    SNAPSHOT is an address, an id, or a spec for its latest snapshot. Each of PAPERS is a current or former id, a DOI in any usual form, the
    SHA-1 of its file, `arxiv:…`, `pmid:…`, or its title; case, accents and punctuation of the title are ignored.
    """
    from s2corpus.snapshot.reader import open_snapshot
    from s2corpus_reader import selection
    from s2corpus_reader.snapshot import SPLITS

    if [bool(papers), pattern is not None, count is not None].count(True) != 1:
        raise UserError("select documents with exactly one of PAPERS, --grep or --sample")
    folder = open_snapshot(snapshot, lake)
    reader = s2corpus_reader.open(folder.root)
    ids = [_find_paper(reader, paper) for paper in papers]
    sets = [set_] if set_ else ["s2orc", "s2ag"]
    if ids:
        documents = selection.read_by_ids(folder, ids)
    elif pattern is not None:
        documents = selection.grep(reader, pattern, sets, SPLITS)
    else:
        documents = selection.read_sample(folder, count or 1, sets, SPLITS)
    for document in documents:
        line = f"{document['text']}\n\n".encode() if text else orjson.dumps(document, option=orjson.OPT_APPEND_NEWLINE)
        sys.stdout.buffer.write(line)
    sys.stdout.buffer.flush()


def _find_paper(reader: s2corpus_reader.Snapshot, given: str) -> str:
    """Return the id of a paper, given as in `corpus read`.

    Raises:
        UserError: the snapshot has no such paper.
    """
    if re.fullmatch("[0-9a-f]{15}", given):
        return given
    kind, _, value = given.partition(":")
    if kind.lower() in ("arxiv", "pmid"):
        key = {kind.lower(): value}
    elif re.match(r"(?:https?://(?:dx\.)?doi\.org/|doi:)?10\.\d+/", given, re.I):
        key = {"doi": given}
    else:
        key = {"sha1" if re.fullmatch("[0-9a-f]{40}", given) else "title": given}
    paper = reader.paper(**key)
    if paper is None:
        raise UserError(f"{reader.id}: no paper with {' '.join(f'{name} {value}' for name, value in key.items())}")
    return str(paper["paper_id"])


MAX_FAULTS = 100
"""Maximum number of faults to show."""


@with_examples("corpus verify s3://lake/snapshots/s2_v2-20230101-0a1b2c3d")
@click.argument("snapshot")
@lake_option(needed=False)
@click.option("--against", metavar="PARENT", help="Parent snapshot: also check diff.json against both.")
@json_option
def verify_command(snapshot: str, lake: str | None, against: str | None, as_json: bool) -> None:
    """Verify every file of a snapshot.

    SNAPSHOT is an address, an id, or a spec for its latest snapshot. Exit status 0: no fault. 1: faults, one a line on standard
    output. 2: there is no snapshot to verify.
    """
    from s2corpus.snapshot.reader import open_snapshot, published_manifests
    from s2corpus.snapshot.verify import verify

    folder = open_snapshot(snapshot, lake)
    published = published_manifests(folder)
    parent = open_snapshot(against, lake) if against else None
    if not published:
        click.echo(
            f"{folder.root}: no publication mark next to the snapshot: "
            "a change of the manifest itself is detected only if other files contradict it",
            err=True,
        )
    with file_progress("verifying", folder) as progress:
        faults = list(islice(verify(folder, progress, published_sha256s=published, parent=parent), MAX_FAULTS))
    if as_json:
        click.echo(orjson.dumps({"snapshot": folder.root, "faults": faults}))
    for fault in () if as_json else faults:
        click.echo(fault)
    if faults:
        click.echo(f"{folder.root}: {len(faults)}{' or more' if len(faults) == MAX_FAULTS else ''} faults", err=True)
        sys.exit(1)
    click.echo(f"{folder.root}: no faults", err=True)


@with_examples(
    "corpus diff s2_v2-20230101-0a1b2c3d s2_v2-20230201-4e5f6a7b --lake s3://lake",
    "corpus diff s2_v2-20230101-0a1b2c3d s2_v2-20230201-4e5f6a7b --list",
)
@click.argument("old")
@click.argument("new")
@click.option("--list", "is_list", is_flag=True, help="Print one line for each document: change, set, split, id.")
@json_option
@lake_option(needed=False)
@reads_snapshot
def diff_command(old: str, new: str, is_list: bool, as_json: bool, lake: str | None) -> None:
    """Count documents that changed between two snapshots.

    A document is added, removed, moved to another set or split, or changed. The file `changes.parquet` of a snapshot
    gives the reason for each removal since its parent. Snapshots of the same inputs with different rules get a Markdown table: for each
    rule of NEW, added (+), lost (−) and changed (≠) papers, fields, links and documents. `corpus build --ablate` builds the snapshots.
    """
    import pyarrow.dataset as ds

    from s2corpus.snapshot import changes
    from s2corpus.snapshot.ablation import format_ablation
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
            if as_json:
                click.echo(orjson.dumps(changes.summarize_changes(connection, old)))
                return
            for change, counts in changes.summarize_changes(connection, old).items():
                if change != "parent":
                    sets = ", ".join(f"{n:,} of {set_}" for set_, n in counts["documents"].items()) or "none"
                    click.echo(f"{change}: {sets}")
        for number, line in enumerate(
            format_ablation(open_snapshot(old, lake), open_snapshot(new, lake), Path(scratch))
        ):
            click.echo(line if number else f"\n{line}")


@with_examples("corpus delta s2_v2-20230101-0a1b2c3d s2_v2-20230201-4e5f6a7b --lake s3://lake --out delta")
@click.argument("old")
@click.argument("new")
@click.option("--out", required=True, type=PATH, help="Output folder; must not exist.")
@lake_option(needed=False)
@reads_snapshot
def delta_command(old: str, new: str, out: Path, lake: str | None) -> None:
    """Write the difference between two snapshots.

    `corpus apply` builds NEW from the delta and a copy of OLD.
    """
    from s2corpus.snapshot.reader import open_snapshot
    from s2corpus_reader.difference import write_delta

    to = open_snapshot(new, lake)
    with file_progress("comparing", to) as progress:
        counts = write_delta(open_snapshot(old, lake), to, out, progress)
    total_bytes = sum(entry.bytes for entry in to.list(""))
    click.echo(
        f"{out}: {counts['bytes']:,} bytes, {counts['bytes'] / max(total_bytes, 1):.1%} of the snapshot; "
        f"files: {counts['copy']} unchanged, {counts['lines']} with changed lines, {counts['rows']} with changed rows, "
        f"{counts['whole']} stored completely"
    )


@with_examples("corpus apply delta --copy s2_v2-20230101-0a1b2c3d --out s2_v2-20230201-4e5f6a7b")
@click.argument("delta", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--copy", required=True, help="Folder or address of the start snapshot; not changed.")
@click.option("--out", required=True, type=PATH, help="Output folder; must not exist.")
@reads_snapshot
def apply_command(delta: Path, copy: str, out: Path) -> None:
    """Apply a delta to a copy of its start snapshot.

    The result equals the published snapshot byte for byte; otherwise the command fails and names the difference.
    """
    from s2corpus.snapshot.reader import open_snapshot

    source = open_snapshot(copy)
    with file_progress("writing", source) as progress:
        snapshot_id = s2corpus_reader.apply(delta, source, out, progress)
    click.echo(f"{out}: {snapshot_id}, all files match the manifest")
