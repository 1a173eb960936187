"""Who may approve a release: not who started its run, and not who delivered what is new in it.

Airflow says who started a run and who answers; `_READY` says who delivered. A name in `_READY` is what its writer says: keys that may
write there are given to people who do not approve (docs/security.md).
"""

from __future__ import annotations

from s2corpus.errors import TransientError
from s2corpus.pipeline.run import Run
from s2corpus.tables import DELIVERIES


class AnotherPerson(TransientError):
    """Who approved may not: another try asks again."""


def excluded_people(run: Run, started_by: str | None) -> dict[str, str]:
    """Return the people who may not approve a release, by name, each with what they did ("started its run")."""
    if run.spec.export.approver == "anyone":
        return {}
    delivered: dict[str, str] = run.table(DELIVERIES).committed().facts.get("delivered_by", {})
    people = {by: f"delivered {folder}" for by, folder in delivered.items()}
    if started_by:
        people = {by: did for by, did in people.items() if _same(by) != _same(started_by)}
        people[started_by] = "started its run"
    return people


def objection(run: Run, who: str, started_by: str | None) -> str | None:
    """Return why a person may not approve a release, as a sentence, or None."""
    did = {_same(by): did for by, did in excluded_people(run, started_by).items()}.get(_same(who))
    return did and (
        f"{who} {did} and may not approve {run.release_id}: another person has to answer "
        "(`export.approver: anyone` in the spec lets one person do both)"
    )


def _same(name: str) -> str:
    return name.strip().casefold()
