"""The sealed record of a run, and the conditions of a publication (SPEC §10.15–10.17).

`intake.plan` writes one record: the complete spec, the code version, the interval, the parameters and the starter. All later tasks
read the run from this record, so an edited or removed YAML file does not change a run in progress.

A publication depends on stored facts only: the record, the verdicts of all stages on the current tables, and the approval. The states
of Airflow's tasks, which operators may set by hand, do not count.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import orjson

from s2corpus.errors import UserError
from s2corpus.ids import ReleaseId, SnapshotId
from s2corpus.pipeline import quality
from s2corpus.pipeline.run import Run
from s2corpus.pipeline.stages import STAGE_NAMES
from s2corpus.spec import ReleaseSpec, ScheduleRules
from s2corpus.storage.error_kinds import convert_errors
from s2corpus.storage.lake import Lake
from s2corpus.storage.parts import PRUNED
from s2corpus.version import code_version
from s2corpus_reader.bounded import read_object

MAX_RECORD_BYTES = 4_000_000
MAX_LEFT_OUT = 1_000
CLOCK = timedelta(seconds=2)
"""a release of now ends with the next complete second"""
COMMAND_LINE = "command line"
"""name of a run that `corpus build` or a script started"""


@dataclass(frozen=True, slots=True)
class RunRecord:
    """What determines a run; written once, when the run is planned."""

    run: str
    """Airflow's id of the run, or COMMAND_LINE"""
    spec: dict[str, Any]
    spec_sha256: str
    code: str
    as_of: str
    """ISO instant, UTC"""
    start: str | None = None
    """begin of the data interval; None on the command line"""
    drops: list[str] | None = None
    """drops that replaced the spec's; the run is then a trial"""
    left_out: list[str] = field(default_factory=list)
    """drops of the spec in the lake that a trial does not contain; at most MAX_LEFT_OUT"""
    accepted: dict[str, str] = field(default_factory=dict)
    started_by: str | None = None
    format: int = 1

    @property
    def is_trial(self) -> bool:
        """Whether the run used chosen drops: a person must publish its snapshot."""
        return self.drops is not None

    def digest(self) -> str:
        """Return the SHA-256 of the record."""
        return hashlib.sha256(orjson.dumps(asdict(self), option=orjson.OPT_SORT_KEYS)).hexdigest()


def check_interval(schedule: ScheduleRules, start: datetime, end: datetime, now: datetime) -> None:
    """Check that a run's data interval belongs to the spec and is over.

    Raises:
        UserError: the interval begins outside the spec's dates, or ends in the future.
    """
    if end > now:
        raise UserError(
            f"the interval ends at {end:%Y-%m-%d %H:%M:%S} UTC, in the future: a release contains only data of the past. "
            f"Choose an interval that ends before {now:%Y-%m-%d %H:%M} UTC"
        )
    if start.date() < schedule.start_date:
        raise UserError(
            f"the interval from {start} begins before the spec's start date {schedule.start_date}: refused. "
            "Choose a later interval, or change schedule.start_date in the spec"
        )
    if schedule.end_date and start.date() > schedule.end_date:
        raise UserError(
            f"the interval from {start} begins after the spec's end date {schedule.end_date}: refused. "
            "Choose an earlier interval, or change schedule.end_date in the spec"
        )


@convert_errors()
def seal(
    run: Run,
    *,
    name: str = COMMAND_LINE,
    start: datetime | None = None,
    drops: list[str] | None = None,
    accepted: Mapping[str, str] | None = None,
    started_by: str | None = None,
) -> Run:
    """Write the record of a run, and return the run that it describes. `drops` replaces the drops of the spec.

    Raises:
        UserError: `as_of` is in the future.
    """
    if run.as_of > datetime.now(UTC) + CLOCK:
        raise UserError(
            f"as_of {run.as_of:%Y-%m-%d %H:%M:%S} UTC is in the future: a release contains only data of the past"
        )
    spec, left_out = run.spec, list[str]()
    if drops is not None:
        chosen = spec.model_copy(update={"drops": tuple(drops)})
        delivered = run.lake.folders("drops/")
        left_out = [id_ for id_ in delivered if spec.selects_drop(id_) and not chosen.selects_drop(id_)][:MAX_LEFT_OUT]
        schedule = spec.schedule.model_copy(update={"expects": ()})
        spec = spec.model_copy(update={"drops": tuple(drops), "schedule": schedule})
    content = spec.model_dump(mode="json")
    record = RunRecord(
        run=name, spec=content, spec_sha256=_hash_spec(content), code=code_version(), as_of=run.as_of.isoformat(),
        start=start.isoformat() if start else None, drops=drops, left_out=left_out, accepted=dict(accepted or {}),
        started_by=started_by,
    )  # fmt: skip
    run.lake.delete(f"{run.folder}/{PRUNED}")
    run.lake.put(_key(run.release_id), orjson.dumps(asdict(record), option=orjson.OPT_SORT_KEYS | orjson.OPT_INDENT_2))
    return Run(spec, run.as_of, run.lake, run.scratch)


@convert_errors()
def read_record(lake: Lake, release: ReleaseId) -> RunRecord:
    """Return the record of the last run of a release.

    Raises:
        UserError: no run of the release was planned, or its record was changed.
    """
    key = _key(release)
    try:
        record = RunRecord(**read_object(lake, key, MAX_RECORD_BYTES))
    except FileNotFoundError:
        raise UserError(f"{lake.uri(key)} does not exist: {release} was not planned; clear intake.plan") from None
    except (TypeError, ValueError) as error:
        raise UserError(f"{lake.uri(key)} is not readable ({error}): clear intake.plan to plan the run again") from None
    if record.spec_sha256 != _hash_spec(record.spec):
        raise UserError(f"{lake.uri(key)} was changed after it was written: clear intake.plan to plan the run again")
    return record


@convert_errors()
def open_run(lake: Lake, release: ReleaseId, name: str, scratch: Path) -> Run:
    """Return the planned run of a release for one of its tasks.

    Raises:
        UserError: another run of the same release was planned later.
    """
    record = read_record(lake, release)
    if record.run != name:
        raise UserError(
            f"{record.run} planned the release {release} after this run and writes the same tables: "
            "wait until it ends, then clear intake.plan of this run to build the release again"
        )
    return Run(
        ReleaseSpec.model_validate(record.spec, extra="ignore"), datetime.fromisoformat(record.as_of), lake, scratch
    )


def check_publishable(run: Run, *, by_person: bool = False) -> RunRecord:
    """Check that everything that a publication needs is stored; return the record of the run.

    Args:
        by_person: a person publishes the snapshot by name, which trials require.

    Raises:
        UserError: names the missing objects, and the task to clear.
    """
    record = read_record(run.lake, run.release_id)
    if _hash_spec(run.spec.model_dump(mode="json")) != record.spec_sha256:
        raise UserError(
            f"the spec differs from the record of {run.release_id}: clear intake.plan to build it with this spec"
        )
    if record.code != code_version():
        raise UserError(
            f"{run.release_id} was planned with code {record.code}, this is {code_version()}: clear intake.plan to build it again"
        )
    if run.as_of > datetime.now(UTC) + CLOCK:
        raise UserError(f"{run.release_id} ends in the future and is not published")
    if record.is_trial and not by_person:
        raise UserError(
            f"{run.release_id} used chosen drops and is a trial: corpus publish {run.snapshot_id} publishes it"
        )
    for stage in STAGE_NAMES:
        quality.check_stored(run, stage)
    return record


def store_answer(run: Run, answer: str, who: str, note: str, at: str) -> None:
    """Store a person's answer to the approval request of the run's snapshot; a later answer replaces it."""
    record = read_record(run.lake, run.release_id)
    value = {
        "snapshot": str(run.snapshot_id), "record": record.digest(), "answer": answer, "by": who, "at": at, "note": note,
    }  # fmt: skip
    run.lake.put(_answer_key(run.release_id), orjson.dumps(value, option=orjson.OPT_INDENT_2))


def read_approval(run: Run, record: RunRecord) -> dict[str, str]:
    """Return the approval of the run's snapshot: `by`, `at` and `note`.

    Raises:
        UserError: no person approved this snapshot of this run.
    """
    key = _answer_key(run.release_id)
    try:
        value = read_object(run.lake, key, MAX_RECORD_BYTES)
    except FileNotFoundError:
        value = {}
    if (value.get("snapshot"), value.get("record"), value.get("answer")) != (
        str(run.snapshot_id),
        record.digest(),
        "approved",
    ):
        raise UserError(
            f"no person has approved {run.snapshot_id}: the spec requires an approval; clear `approve` to request it. "
            "Marking a task as success is no approval"
        )
    return {name: str(value[name]) for name in ("by", "at", "note")}


@convert_errors()
def find_run(lake: Lake, snapshot: SnapshotId, scratch: Path) -> Run:
    """Return the run that wrote a snapshot.

    Raises:
        UserError: the release of the snapshot was built again with other inputs.
    """
    record = read_record(lake, snapshot.release)
    run = open_run(lake, snapshot.release, record.run, scratch)
    if run.snapshot_id != snapshot:
        raise UserError(f"the last run of {snapshot.release} wrote {run.snapshot_id}, not {snapshot}")
    return run


def _hash_spec(content: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def _key(release: str) -> str:
    return f"releases/{release}/_run.json"


def _answer_key(release: str) -> str:
    return f"releases/{release}/_answer.json"
