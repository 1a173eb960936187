"""Commands that withdraw, restore, take down and correct: the actions of the release page (`corpora.actions`)."""

from __future__ import annotations

import sys
from collections.abc import Mapping

import click

from s2corpus.commands._options import current_account, lake_option, with_examples
from s2corpus.ids import SnapshotId
from s2corpus.storage.lake import Lake, open_lake


@with_examples('corpus yank s2_v2-20230101-0a1b2c3d --reason "half of the records of one source were missing"')
@click.argument("snapshot")
@click.option("--reason", required=True, help="Reason, ten characters or more; recorded.")
@click.option("--yes", is_flag=True, help="Skip the confirmation.")
@lake_option()
def yank_command(snapshot: str, reason: str, yes: bool, lake: str) -> None:
    """Withdraw a published snapshot.

    latest.json points to the newest remaining snapshot, and no later release uses SNAPSHOT as its parent. The files remain:
    `corpus restore` publishes them again, `corpus prune` deletes them.
    """
    from s2corpus.snapshot import iceberg
    from s2corpus.snapshot.pointer import read_latest

    opened = open_lake(lake)
    if not yes and sys.stdin.isatty():
        click.confirm(f"Withdraw {SnapshotId.parse(snapshot)} from {lake}?", abort=True)
    _do(opened, "yank", {"snapshot": snapshot, "reason": reason})
    spec = SnapshotId(snapshot).spec
    if iceberg.has_tables(opened, spec):
        click.echo(
            "If it is registered in an Iceberg catalog, it remains a version there. "
            f"Register {read_latest(opened, spec).snapshot or 'another snapshot'} first, then run corpus register {snapshot} --forget",
            err=True,
        )


@with_examples('corpus restore s2_v2-20230101-0a1b2c3d --reason "the records were there, the count was wrong"')
@click.argument("snapshot")
@click.option("--reason", required=True, help="Reason, ten characters or more; recorded.")
@lake_option()
def restore_command(snapshot: str, reason: str, lake: str) -> None:
    """Publish a withdrawn snapshot again.

    The bytes are the same. If SNAPSHOT is the newest published one, latest.json points to it.
    """
    _do(open_lake(lake), "restore", {"snapshot": snapshot, "reason": reason})


def _do(lake: Lake, name: str, values: Mapping[str, str], *, only_show: bool | None = None) -> None:
    """Do an action, record it, and print the result and its proof. Print its plan if `only_show` is given, and do not do it if true."""
    from s2corpus.corpora.actions import ACTIONS, perform

    action = ACTIONS[name]
    plan = action.plan(lake, values)
    if only_show is not None:
        for line in plan.effects:
            click.echo(line)
    if only_show:
        click.echo(f"{plan.cost}: nothing was changed; add --yes", err=True)
        return
    click.echo(perform(lake, action, values, plan.token, current_account()))
    for line in action.prove(lake, values).values() if action.prove else ():
        click.echo(line)


@with_examples(
    'corpus takedown 10.1234/example.5 --reason "the authors withdrew their consent"',
    'corpus takedown "On a title" --reason "court order of May 3" --yes',
)
@click.argument("paper")
@click.option("--reason", required=True, help="Reason, ten characters or more; recorded.")
@click.option("--yes", is_flag=True, help="Do it. Without this option, only the plan is shown.")
@lake_option()
def takedown_command(paper: str, reason: str, yes: bool, lake: str) -> None:
    """Take down a paper in all corpora: later releases omit it.

    PAPER is a DOI, the title or id of a paper, or the SHA-1 of its file. Published snapshots do not change; `corpus yank` withdraws
    them. With --yes, also show whether the latest snapshots still have the paper.
    """
    _do(open_lake(lake), "takedown", {"paper": paper, "reason": reason}, only_show=not yes)


@with_examples(
    'corpus correct 10.1234/example.5 license CC-BY-NC-4.0 --evidence https://a.org/terms --reason "Crossref names the wrong license"',
    'corpus correct 10.1234/example.5 date 2019-05 --evidence "page 1 of the PDF" --reason "the record has the year of the reprint" --yes',
)
@click.argument("paper")
@click.argument("field")
@click.argument("value")
@click.option("--evidence", required=True, help="URL or text; a more open license needs the URL of its statement.")
@click.option("--reason", required=True, help="Reason, ten characters or more; recorded.")
@click.option("--yes", is_flag=True, help="Do it. Without this option, only the plan is shown.")
@lake_option()
def correct_command(paper: str, field: str, value: str, evidence: str, reason: str, yes: bool, lake: str) -> None:
    """Correct a field or the license of a paper in all corpora: later releases have VALUE.

    PAPER is a DOI, the title or id of a paper, or the SHA-1 of its file. FIELD is title, authors, date, venue, journal, volume, issue,
    pages, an identifier, license or open_access. Published snapshots do not change. With --yes, also show the value in the latest
    snapshots.
    """
    values = {"paper": paper, "field": field, "value": value, "evidence": evidence, "reason": reason}
    _do(open_lake(lake), "correct", values, only_show=not yes)
