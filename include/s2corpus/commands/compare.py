"""`corpus compare`: compare a release with other published corpora."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import click

from s2corpus.commands._options import FILE, lake_option, open_release, with_examples


@with_examples("corpus compare s2_v2-20230201 --with peS2o https://host/train-00000.json.gz --out rows.jsonl")
@click.argument("release")
@click.argument("uris", nargs=-1, required=True)
@click.option(
    "--with", "corpus", type=click.Choice(["peS2o", "unarXive", "s2orc"]), required=True, help="Corpus of the files."
)
@click.option("--out", type=FILE, help="Write the comparison of each paper (JSONL).")
@lake_option()
def command(release: str, uris: tuple[str, ...], corpus: str, out: Path | None, lake: str) -> None:
    """Compare a release with other published corpora.

    Report which papers in URIS the release contains, how much the texts differ, and why the other papers are missing.
    URIS are paths, file://, s3:// or https:// addresses of JSON Lines files (plain or gzip): documents of peS2o or S2 V2,
    papers of unarXive, S2ORC metadata or parses of any version.
    """
    import orjson

    from s2corpus.evaluation.comparison import compared, summary
    from s2corpus.evaluation.external import Corpus, read
    from s2corpus.pipeline.run import ReleaseTables
    from s2corpus.storage.uris import fetch
    from s2orc_parse.outputs import open_atomic

    opened, release = open_release(lake, release)
    others = (other for uri in uris for other in read(Corpus(corpus), uri, fetch(uri)))
    rows = list(compared(ReleaseTables(opened, release), others))
    if out is not None:
        with open_atomic(out) as file:
            file.writelines(orjson.dumps(asdict(row), option=orjson.OPT_APPEND_NEWLINE) for row in rows)
    totals = summary(rows)
    click.echo(f"{totals['papers']:,} papers of {corpus}")
    for outcome, n in totals["outcomes"].items():
        click.echo(f"  {n:>10,}  {outcome}")
    if totals["found_by"]:
        click.echo("found by " + ", ".join(f"{kind} {n:,}" for kind, n in totals["found_by"].items()))
    if totals["texts"]:
        click.echo(
            f"{totals['texts']:,} papers have a text in both corpora: {totals['same']:,} identical, "
            f"{totals['below_0.9']:,} share fewer than 90 % of their words; median {totals['median_overlap']:.1%}"
        )
