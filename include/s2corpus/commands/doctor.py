"""The command `corpus doctor`."""

from __future__ import annotations

from dataclasses import asdict, replace

import click
import orjson

from s2corpus.commands._options import json_option, lake_option, with_examples
from s2corpus.errors import UserError


@with_examples("corpus doctor --lake s3://corpus", "corpus doctor --lake s3://corpus --repair")
@click.option("--repair", is_flag=True, help="Apply the cures that need no backup and no new build.")
@json_option
@lake_option()
def command(repair: bool, as_json: bool, lake: str) -> None:
    """Compare snapshots, markers, pointers and the catalog.

    The command prints each disagreement with its cure and changes nothing without `--repair`. It compares names and sizes;
    `corpus verify` compares checksums. The exit status is 1 if a disagreement remains.
    """
    from s2corpus.catalog import Catalog
    from s2corpus.pipeline.doctor import find_disagreements
    from s2corpus.storage.lake import open_lake

    catalog = Catalog.from_environment()
    if catalog is None:
        click.echo("S2CORPUS_CATALOG is not set: the catalog is not compared", err=True)
    if as_json:
        listed = [asdict(replace(one, repair=None)) for one in find_disagreements(open_lake(lake), catalog)]
        click.echo(orjson.dumps(listed))
        raise SystemExit(bool(listed))
    found = remaining = 0
    for disagreement in find_disagreements(open_lake(lake), catalog):
        found += 1
        click.echo(f"{disagreement.where}: {disagreement.found}")
        if repair and disagreement.repair is not None:
            try:
                disagreement.repair()
            except UserError as error:
                click.echo(f"  not repaired: {error}")
            else:
                click.echo("  repaired")
                continue
        remaining += 1
        click.echo(f"  cure: {disagreement.cure}")
    click.echo(f"{found} disagreements, {found - remaining} repaired", err=True)
    if remaining:
        raise SystemExit(1)
