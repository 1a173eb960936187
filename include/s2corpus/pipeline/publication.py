"""Approve and publish a release, and record its end in the catalog."""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import datetime
from typing import TypeVar

from s2corpus.catalog import Catalog
from s2corpus.catalog.models import ReleaseDecision, ReleaseState
from s2corpus.errors import LostRace, QualityBlocked
from s2corpus.pipeline import acceptance, sealed
from s2corpus.pipeline.run import Run
from s2corpus.snapshot import pointer
from s2corpus.storage.error_kinds import convert_errors

log = logging.getLogger(__name__)
_TRIES = 4
Result = TypeVar("Result")


def retry_lost_race(step: Callable[[], Result]) -> Result:
    """Return the result of a step; repeat the step if another process moved the pointer first."""
    for _ in range(_TRIES - 1):
        try:
            return step()
        except LostRace as lost:
            log.info("%s: retrying", lost)
    return step()


@convert_errors()
def request_approval(run: Run, started_by: str | None = None) -> str | None:
    """Record that the release waits for approval; return the approval request in Markdown, with excluded approvers.

    Return None for a trial, and if the snapshot is already published: the same id means the same bytes, which were approved before.
    """
    if sealed.read_record(run.lake, run.release_id).is_trial:
        log.info("%s is a trial and is not published: no approval is requested", run.snapshot_id)
        return None
    if pointer.was_published(run.lake, run.snapshot_id):
        log.info("%s is already published: no approval is requested", run.snapshot_id)
        return None
    if catalog := Catalog.from_environment():
        catalog.set_release_state(run.release_id, ReleaseState.AWAITING, run.snapshot_id)
    from s2corpus.pipeline.summary import format_approval_request

    return format_approval_request(run, acceptance.excluded_people(run, started_by))


@convert_errors()
def record_answer(
    run: Run, answer: ReleaseDecision, who: str, note: str, at: datetime, started_by: str | None = None
) -> None:
    """Record a person's answer to the approval request. A rejected release remains unpublished.

    `started_by` is the person who started the run.

    Raises:
        AnotherPerson: the approver started the run or delivered new data of the release.
    """
    log.info("%s: %s by %s%s", run.release_id, answer, who, f": {note}" if note else "")
    stored_at = at if isinstance(at, str) else at.isoformat(timespec="seconds")
    catalog = Catalog.from_environment()
    if answer is ReleaseDecision.APPROVED and (objection := acceptance.find_objection(run, who, started_by)):
        if catalog:
            catalog.record_decision(run.release_id, "publish", who, ReleaseDecision.INVALID_APPROVER, objection, at)
        raise acceptance.AnotherPerson(objection)
    sealed.store_answer(run, answer, who, note, stored_at)
    if catalog:
        catalog.record_decision(run.release_id, "publish", who, answer, note, at)
        if answer is not ReleaseDecision.APPROVED:
            catalog.set_release_state(run.release_id, ReleaseState.REJECTED, run.snapshot_id)


@convert_errors()
def publish(run: Run, *, by_person: bool = False) -> pointer.Pointer:
    """Publish the run's snapshot, record the publication, and return the pointer, which may name a later release's snapshot.

    Only stored facts count: the record of the run, the verdicts of all stages, and the approval if the spec requires one. `by_person`
    allows the publication of a trial.

    Raises:
        UserError: a fact is missing; the message names the task to clear.
        QualityBlocked: a blocking check failed and was not overridden.
    """
    record = sealed.check_publishable(run, by_person=by_person)
    is_published = pointer.was_published(run.lake, run.snapshot_id)
    approval = sealed.read_approval(run, record) if run.spec.export.needs_approval and not is_published else None
    latest = retry_lost_race(lambda: pointer.publish(run.lake, run.snapshot_id, approval))
    if catalog := Catalog.from_environment():
        catalog.set_release_state(run.release_id, ReleaseState.PUBLISHED, run.snapshot_id)
    return latest


def record_unpublished(run: Run) -> None:
    """Record that the release's snapshot is complete but was not to be published."""
    if catalog := Catalog.from_environment():
        catalog.set_release_state(run.release_id, ReleaseState.UNPUBLISHED, run.snapshot_id)


def record_failure(release: str, where: str, error: BaseException | None) -> bool:
    """Record the final failure of a stage or of a later task; return True if it is the first since the stage started."""
    state = ReleaseState.STOPPED if isinstance(error, QualityBlocked) else ReleaseState.FAILED
    catalog = Catalog.from_environment()
    return catalog is None or catalog.fail_stage(release, where, state, str(error or "killed"))
