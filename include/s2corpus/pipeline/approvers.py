"""Determine who may approve a release: neither the person who started its run, nor a person who delivered its new data.

Airflow provides the names of the person who started a run and of the person who answers. `_READY` contains the name of
the deliverer, which its writer chooses. Approvers must therefore not have keys that can write `_READY`
(docs/security.md).
"""

from __future__ import annotations

from s2corpus.errors import TransientError
from s2corpus.pipeline.run import Run
from s2corpus.tables.intake import DELIVERIES


class AnotherPerson(TransientError):
    """The person may not approve the release. Airflow retries the task, which asks again."""


def excluded_people(run: Run, started_by: str | None) -> dict[str, str]:
    """Return the people who may not approve a release, with the reason ("started its run")."""
    if run.spec.export.approver == "anyone":
        return {}
    delivered: dict[str, str] = run.table(DELIVERIES).committed().facts.get("delivered_by", {})
    reasons = {person: f"delivered {folder}" for person, folder in delivered.items()}
    if started_by:
        starter = _normalize_name(started_by)
        reasons = {person: reason for person, reason in reasons.items() if _normalize_name(person) != starter}
        reasons[started_by] = "started its run"
    return reasons


def find_objection(run: Run, who: str, started_by: str | None) -> str | None:
    """Return the reason why a person may not approve a release, as a sentence, or None."""
    reasons = {_normalize_name(person): reason for person, reason in excluded_people(run, started_by).items()}
    reason = reasons.get(_normalize_name(who))
    return reason and (
        f"{who} {reason} and may not approve {run.release_id}: another person must answer "
        "(`export.approver: anyone` in the spec lets one person do both)"
    )


def _normalize_name(name: str) -> str:
    return name.strip().casefold()
