"""The command `corpus catalog`: create, check and rebuild the catalog's database."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from s2corpus.commands._options import lake_option, use_local_services, with_examples
from s2corpus.errors import UserError
from s2corpus.secret_files import read_secret

if TYPE_CHECKING:
    from s2corpus.catalog import Catalog


@click.group("catalog")
def command() -> None:
    """Create, check or rebuild the catalog.

    The catalog is the database in S2CORPUS_CATALOG, or the database of the local services. It stores run times, metrics, check results,
    decisions and marks of evaluations. The lake stores everything that a release needs.
    """


def open_catalog() -> Catalog:
    """Return the catalog without checking its schema.

    Raises:
        UserError: no catalog is configured.
    """
    from s2corpus.catalog import Catalog

    use_local_services()
    url = read_secret("S2CORPUS_CATALOG")
    if not url:
        raise UserError(
            "no catalog given: set S2CORPUS_CATALOG to postgresql+psycopg2://user:password@host/database "
            "or sqlite:////folder/catalog.db"
        )
    return Catalog(url)


@with_examples("corpus catalog upgrade")
def upgrade() -> None:
    """Create the tables, or bring them to the schema of this version. Rows remain."""
    catalog = open_catalog()
    before, needed = catalog.versions()
    catalog.migrate()
    if before == needed:
        click.echo(f"{catalog.address} already has schema {needed}")
    else:
        click.echo(f"{catalog.address}: upgraded from {before or 'no tables'} to schema {needed}")


@with_examples("corpus catalog check")
def check() -> None:
    """Check that the catalog is reachable and has the schema of this version."""
    catalog = open_catalog()
    catalog.check()
    click.echo(f"{catalog.address} has schema {catalog.versions()[1]} and {len(catalog.releases())} releases")


@with_examples(
    "corpus catalog rebuild --lake s3://corpus --dry-run", "corpus catalog rebuild --lake s3://corpus --write"
)
@click.option(
    "--dry-run/--write", default=True, show_default=True, help="List the releases, or add them to the catalog."
)
@lake_option()
def rebuild(dry_run: bool, lake: str) -> None:
    """Restore a lost catalog from the lake.

    The lake contains the releases, their metrics and check results, published and withdrawn snapshots, approvals, and overrides with
    their reasons. Releases that the catalog has do not change.
    """
    from s2corpus.pipeline.recovery import LOST, rebuild_catalog
    from s2corpus.storage.lake import open_lake

    catalog = open_catalog()
    catalog.check()
    added = 0
    for release, is_added in rebuild_catalog(catalog, open_lake(lake), dry_run=dry_run):
        added += is_added
        action = ("would be added" if dry_run else "added") if is_added else "already in the catalog"
        click.echo(f"{release.release}: {release.state}, {action}")
    click.echo(
        f"{added} releases {'would be ' if dry_run else ''}added; the lake does not contain: {'; '.join(LOST)}",
        err=True,
    )


for _command in (upgrade, check, rebuild):
    command.add_command(_command)
