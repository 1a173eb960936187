"""Determine who may approve a release: not the person who started its run, and not a person who delivered new data in
it.

Airflow provides the names of the person who started a run and of the person who answers. `_READY` contains the name of
the deliverer, which its writer chooses. Approvers must therefore not have keys that can write `_READY`
(docs/security.md).
"""

from __future__ import annotations

from s2corpus.errors import TransientError
from s2corpus.pipeline.run import Run
from s2corpus.tables.intake import DELIVERIES


class AnotherPerson(TransientError):
    """The person may not approve the release. The retry asks again."""


def excluded_people(run: Run, started_by: str | None) -> dict[str, str]:
    """Return the people who may not approve a release, with the reason ("started its run")."""
    if run.spec.export.approver == "anyone":
        return {}
    delivered: dict[str, str] = run.table(DELIVERIES).committed().facts.get("delivered_by", {})
    people = {by: f"delivered {folder}" for by, folder in delivered.items()}
    if started_by:
        people = {by: did for by, did in people.items() if _normalize_name(by) != _normalize_name(started_by)}
        people[started_by] = "started its run"
    return people


def find_objection(run: Run, who: str, started_by: str | None) -> str | None:
    """Return the reason why a person may not approve a release, as a sentence, or None."""
    did = {_normalize_name(by): did for by, did in excluded_people(run, started_by).items()}.get(_normalize_name(who))
    return did and (
        f"{who} {did} and may not approve {run.release_id}: another person must answer "
        "(`export.approver: anyone` in the spec lets one person do both)"
    )


def _normalize_name(name: str) -> str:
    return name.strip().casefold()
