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


def objection(run: Run, who: str, started_by: str | None) -> str | None:
    """Why a person may not approve a release, as a sentence; None where they may."""
    if run.spec.export.approver == "anyone":
        return None
    delivered: dict[str, str] = run.table(DELIVERIES).committed().facts.get("delivered_by", {})
    found = {_same(by): f"delivered {folder}" for by, folder in delivered.items()}
    if started_by:
        found[_same(started_by)] = "started its run"
    did = found.get(_same(who))
    return did and (
        f"{who} {did} and may not approve {run.release_id}: another person has to answer "
        "(`export.approver: anyone` in the spec lets one person do both)"
    )


def _same(name: str) -> str:
    return name.strip().casefold()
