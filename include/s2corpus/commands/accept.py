"""`corpus accept`: override a check, with a reason."""

from __future__ import annotations

import getpass

import click

from s2corpus.commands._help import Command
from s2corpus.commands._lake_option import lake_option, open_release


@click.command(
    cls=Command,
    epilog='corpus accept s2_v2-20230301 link.drift_of_linked_entries_block --reason "the source dblp ended in February"',
)
@click.argument("release")
@click.argument("check")
@click.option("--reason", required=True, help="Reason; recorded, and part of the manifest.")
@click.option("--by", help="Person to record.  [default: current user]")
@lake_option()
def command(release: str, check: str, reason: str, by: str | None, lake: str) -> None:
    """Accept a failed check of a release, with a reason.

    CHECK is `<stage>.<check>`; RELEASE is `<spec>-<YYYYMMDD>`. The check is a warning, or a block that can be overridden.
    In Airflow, clear the task `<stage>.quality` afterwards to continue the release. The reason is part of the snapshot's id and manifest.
    """
    from s2corpus.pipeline import quality
    from s2corpus.pipeline.acceptance import accept

    by = by or getpass.getuser()
    is_new = accept(open_release(lake, release), release, {check: reason}, by, quality.list_all_checks())
    stage = check.partition(".")[0]
    click.echo(f"{check} {'is' if is_new else 'was already'} accepted for {release}; clear {stage}.quality in Airflow")
