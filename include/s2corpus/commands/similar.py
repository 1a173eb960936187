"""`corpus similar`: papers with similar vectors."""

from __future__ import annotations

import click

from s2corpus.commands._help import Command
from s2corpus.commands._lake_option import lake_option
from s2corpus.commands._snapshot_reading import reads_snapshot


@click.command(cls=Command, epilog="corpus similar 10.18653/v1/2020.acl-main.447 --snapshot s2_v2")
@click.argument("doi")
@click.option("--snapshot", required=True, help="Address, id, or a spec for its latest snapshot.")
@click.option("--count", default=10, show_default=True, type=click.IntRange(1, 100), help="Maximum number of papers.")
@lake_option(needed=False)
@reads_snapshot
def command(doi: str, snapshot: str, count: int, lake: str | None) -> None:
    """List papers with similar vectors.

    DOI names a paper of the snapshot; a paper id also works.
    """
    import s2corpus_reader
    from s2corpus.datasets.shelf import find_similar_papers
    from s2corpus.errors import UserError
    from s2corpus.snapshot.reader import open_snapshot
    from s2corpus.storage.lake import open_lake

    folder = open_snapshot(snapshot, lake)
    found = s2corpus_reader.open(folder.root)
    paper = found.paper(doi=doi) if "/" in doi else found.paper(doi)
    if paper is None:
        raise UserError(f"{folder.root}: no paper with {'DOI' if '/' in doi else 'id'} {doi}")
    root = folder.root.rstrip("/").rpartition("/snapshots/")[0]
    near = find_similar_papers(open_lake(root), found.id, str(paper["paper_id"])) if root else None
    if near is None:
        raise UserError(f"{found.id} has no vectors: make them with `corpus dataset vectors --snapshot {found.id}`")
    if not near:
        raise UserError(f"{paper['paper_id']} is mentioned too seldom: it has no vector")
    for row in near[:count]:
        click.echo(f"{row['cosine']:.3f}  {row['neighbour_id']}  {row['field'] or 'unknown':<18} {row['title'] or ''}")
