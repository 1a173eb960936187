"""`corpus accept`: override a check, with a reason."""

from __future__ import annotations

import getpass

import click

from s2corpus.commands._lake_option import lake_option


@click.command(
    epilog='Example: corpus accept s2_v2-20230301 link.drift_of_linked_entries_block --reason "the source dblp ended in February"'
)
@click.argument("release")
@click.argument("check")
@click.option("--reason", required=True, help="Why; it is recorded, and in the manifest.")
@click.option("--by", default=None, help="Approver to record (default: current user).")
@lake_option()
def command(release: str, check: str, reason: str, by: str | None, lake: str) -> None:
    """Accept what CHECK (`<stage>.<check>`) found in RELEASE (`<spec>-<YYYYMMDD>`).

    A warning, or a block that may be overridden. In Airflow then clear `<stage>.quality`, and the release continues; the reason is part
    of its snapshot's id and manifest.
    """
    from s2corpus.errors import UserError
    from s2corpus.pipeline import quality
    from s2corpus.pipeline.acceptance import accept
    from s2corpus.storage.lake import open_lake

    opened = open_lake(lake)
    if release not in (there := opened.folders("releases/")):
        raise UserError(f"{release!r} is not a release of {lake}; there are: {', '.join(there) or 'none'}")
    new = accept(opened, release, {check: reason}, by or getpass.getuser(), quality.list_all_checks())
    stage = check.partition(".")[0]
    click.echo(
        f"{check} is {'accepted' if new else 'accepted already'} for {release}; clear {stage}.quality in Airflow"
    )
