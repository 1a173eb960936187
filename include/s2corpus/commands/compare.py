"""`corpus compare`: a release beside what others publish."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import click

from s2corpus.commands._help import Command
from s2corpus.commands._lake_option import lake_option


@click.command(
    cls=Command, epilog="corpus compare s2_v2-20230201 --with peS2o https://host/train-00000.json.gz --out rows.jsonl"
)
@click.argument("release")
@click.argument("uris", nargs=-1, required=True)
@click.option(
    "--with", "corpus", type=click.Choice(["peS2o", "unarXive", "s2orc"]), required=True, help="Corpus of the files."
)
@click.option(
    "--out", type=click.Path(path_type=Path, dir_okay=False), help="Write one line for each paper of the files (JSONL)."
)
@lake_option(needed=False)
def command(release: str, uris: tuple[str, ...], corpus: str, out: Path | None, lake: str | None) -> None:
    """Compare a release with other published corpora.

    Report which papers of URIS the RELEASE contains, how much the texts differ, and why the other papers are missing.
    URIS are paths, file://, s3:// or https:// addresses of JSON Lines files (plain or gzip): documents of peS2o or S2 V2,
    papers of unarXive, S2ORC metadata or parses of any version.
    """
    import orjson

    from s2corpus.errors import UserError
    from s2corpus.evaluation.beside import compared, summary
    from s2corpus.evaluation.others import Corpus, read
    from s2corpus.ids import ReleaseId
    from s2corpus.pipeline.release_tables import Tables
    from s2corpus.storage.lake import lake_uri, open_lake
    from s2corpus.storage.outputs import whole_file
    from s2corpus.storage.uris import fetch

    opened = open_lake(lake or lake_uri())
    if not ReleaseId.is_valid(release) or release not in opened.folders("releases/"):
        raise UserError(f"{release}: no such release in {opened.root}")
    others = (other for uri in uris for other in read(Corpus(corpus), uri, fetch(uri)))
    rows = list(compared(Tables(opened, release), others))
    if out is not None:
        with whole_file(out) as file:
            file.writelines(orjson.dumps(asdict(row), option=orjson.OPT_APPEND_NEWLINE) for row in rows)
    said = summary(rows)
    click.echo(f"{said['papers']:,} papers of {corpus}")
    for outcome, n in said["outcomes"].items():
        click.echo(f"  {n:>10,}  {outcome}")
    if said["found_by"]:
        click.echo("found by " + ", ".join(f"{kind} {n:,}" for kind, n in said["found_by"].items()))
    if said["texts"]:
        click.echo(
            f"{said['texts']:,} texts of both: {said['same']:,} the same, {said['below_0.9']:,} with less than 90 % of words in common; "
            f"median {said['median_overlap']:.1%}"
        )
