"""Decisions of people about a release: overrides of failed checks, and who may approve.

A person overrides a check with a written reason. It is stored in the folder of the release as one of its inputs, so a rebuild gives the
same result. An override applies only if its check fails. Its reason is then part of the manifest and of the snapshot's identity. The
catalog stores the person's name.

Neither the person who started the run of a release, nor a person who delivered its new data, may approve it. Airflow provides the names
of the person who started a run and of the person who answers. `_READY` contains the name of the deliverer, which its writer chooses.
Approvers must therefore not have keys that can write `_READY` (docs/security.md).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime

import orjson

from s2corpus.errors import TransientError, UserError
from s2corpus.pipeline.checks import QualityCheck
from s2corpus.pipeline.run import ACCEPTED, Run
from s2corpus.rules import MIN_REASON
from s2corpus.storage.lake import ABSENT, Conflict, Lake
from s2corpus.tables.intake import DELIVERIES


@dataclass(frozen=True, slots=True)
class Acceptance:
    """An override of one check of a release."""

    reason: str
    by: str
    at: str
    """ISO instant, UTC"""


def read_acceptances(lake: Lake, release: str) -> dict[str, Acceptance]:
    """Return the overrides of a release by `<stage>.<check>`."""
    return _read(lake, release)[0]


def accept(lake: Lake, release: str, reasons: Mapping[str, str], by: str, checks: Iterable[QualityCheck]) -> list[str]:
    """Override checks (`<stage>.<check>` → reason); return the names with a new reason.

    Raises:
        UserError: a name is not in `checks`, its check cannot be overridden, or its reason is too short.
        TransientError: another process wrote at the same time.
    """
    _validate(reasons, {f"{check.stage}.{check.name}": check for check in checks})
    existing, etag = _read(lake, release)
    now = datetime.now(UTC).isoformat(timespec="seconds")
    new = {
        name: Acceptance(reason.strip(), by, now)
        for name, reason in reasons.items()
        if name not in existing or existing[name].reason != reason.strip()
    }
    if new:
        data = {name: asdict(acceptance) for name, acceptance in sorted((existing | new).items())}
        try:
            lake.put(_key(release), orjson.dumps(data, option=orjson.OPT_INDENT_2), expect=etag)
        except Conflict:
            raise TransientError(
                f"{lake.uri(_key(release))}: another person accepted a check at the same time: try again"
            ) from None
    return sorted(new)


def _validate(reasons: Mapping[str, str], checks: Mapping[str, QualityCheck]) -> None:
    for name, reason in reasons.items():
        if name not in checks:
            same_stage = [other for other in checks if other.startswith(f"{name.partition('.')[0]}.")]
            raise UserError(
                f"{name!r} is not a check; expected <stage>.<check>, one of {', '.join(same_stage or checks)}"
            )
        check = checks[name]
        if check.severity == "block" and not check.overridable:
            raise UserError(
                f"{name} cannot be overridden: its findings are always errors ({check.reason}); "
                f"fix the cause and clear the stage {check.stage}"
            )
        if len(reason.strip()) < MIN_REASON:
            raise UserError(f"{name}: {reason!r} is not a reason; write at least {MIN_REASON} characters")


def _read(lake: Lake, release: str) -> tuple[dict[str, Acceptance], str]:
    try:
        data, etag = lake.get(_key(release))
    except FileNotFoundError:
        return {}, ABSENT
    return {name: Acceptance(**acceptance) for name, acceptance in orjson.loads(data).items()}, etag


def _key(release: str) -> str:
    return f"releases/{release}/{ACCEPTED}"


class AnotherPerson(TransientError):
    """The person may not approve the release. Airflow retries the task, which asks again."""


def excluded_people(run: Run, started_by: str | None) -> dict[str, str]:
    """Return the people who may not approve a release, with the reason ("started its run")."""
    if run.spec.export.approval == "anyone":
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
        "(`export.approval: anyone` in the spec lets one person do both)"
    )


def _normalize_name(name: str) -> str:
    return name.strip().casefold()
