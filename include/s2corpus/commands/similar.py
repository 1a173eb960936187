"""`corpus similar`: list papers with similar vectors."""

from __future__ import annotations

import click
import orjson

from s2corpus.commands._options import json_option, lake_option, reads_snapshot, with_examples


@with_examples("corpus similar 10.18653/v1/2020.acl-main.447 --snapshot s2_v2")
@click.argument("paper")
@click.option("--snapshot", required=True, help="Address, id, or a spec for its latest snapshot.")
@json_option
@lake_option(needed=False)
@reads_snapshot
def command(paper: str, snapshot: str, as_json: bool, lake: str | None) -> None:
    """List papers with similar vectors.

    PAPER is a DOI or a paper id.
    """
    import s2corpus_reader
    from s2corpus.errors import UserError
    from s2corpus.snapshot.reader import open_lake_of, open_snapshot
    from s2corpus_datasets.shelf import find_similar_papers

    folder = open_snapshot(snapshot, lake)
    reader = s2corpus_reader.open(folder.root)
    row = reader.paper(doi=paper) if "/" in paper else reader.paper(paper)
    if row is None:
        raise UserError(f"{folder.root}: no paper with {'DOI' if '/' in paper else 'id'} {paper}")
    vectors_lake = open_lake_of(folder, reader.id, "the lake contains the vectors, so name the snapshot in its lake")
    similar = find_similar_papers(vectors_lake, reader.id, str(row["paper_id"]))
    if similar is None:
        raise UserError(f"{reader.id} has no vectors: make them with `corpus dataset vectors --snapshot {reader.id}`")
    if not similar:
        raise UserError(f"{row['paper_id']} is cited too rarely to have a vector")
    if as_json:
        click.echo(orjson.dumps(similar))
    for near in () if as_json else similar:
        click.echo(
            f"{near['cosine']:.3f}  {near['neighbor_id']}  {near['field'] or 'unknown':<18} {near['title'] or ''}"
        )
