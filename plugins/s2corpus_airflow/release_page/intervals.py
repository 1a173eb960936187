"""The matrix of a spec's intervals and stages, with snapshots, missing intervals, and the dry run of a backfill."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime
from itertools import islice
from typing import Any

from s2corpus.ids import ReleaseId
from s2corpus.pipeline.stages import STAGE_NAMES
from s2corpus.spec import ScheduleRules
from s2corpus.spec_files import load_spec, releases_folder
from s2corpus_airflow.release_page.releases import Archive
from s2corpus_airflow.release_page.states import ListedRelease, ReleaseStatus

MOST = 120
"""intervals of one page"""
_OMISSION_NOTE = "Airflow's form and dry run omit such intervals without a message."


@dataclass(frozen=True, slots=True)
class Interval:
    """An interval of the schedule, with its release or, without a release, the state of its run: a backfill skips it."""

    start: datetime
    end: datetime
    release: ListedRelease | None
    run_state: str | None = None

    @property
    def cells(self) -> list[tuple[str, str]]:
        """The stages of the release with a word each: done, stopped, not reached; empty without a release."""
        if self.release is None:
            return []
        measured = STAGE_NAMES.index(self.release.stage) + 1 if self.release.stage else 0
        words = ["done"] * measured + ["not reached"] * (len(STAGE_NAMES) - measured)
        if self.release.state is ReleaseStatus.STOPPED and measured:
            words[measured - 1] = "stopped"
        return list(zip(STAGE_NAMES, words, strict=True))


def overview(archive: Archive, spec: str, first: date | None, last: date | None) -> dict[str, Any]:
    """Return the intervals that begin from `first` to `last` (default: all until today) for the template, newest first.

    Raises:
        UserError: the spec file is missing or invalid.
    """
    schedule = load_spec(releases_folder() / f"{spec}.yaml").schedule
    now = datetime.now(UTC)
    begin, end = first or schedule.start_date, last or now.date()
    found = [pair for pair in islice(schedule.intervals(begin, end), MOST + 1) if pair[1] <= now]
    existing = set(archive.ids(spec))
    ids = {at: id_ for _, at in found[:MOST] if (id_ := ReleaseId.from_spec(spec, at)) in existing}
    releases = dict(zip(ids, archive.releases(list(ids.values())), strict=True))
    rows = []
    for start, at in found[:MOST]:
        run = archive.run_of(spec, at) if archive.run_of and at not in releases else None
        rows.append(Interval(start, at, releases.get(at), run.state if run else None))
    return {
        "spec": spec,
        "stages": STAGE_NAMES,
        "first": begin,
        "last": end,
        "is_dry_run": first is not None or last is not None,
        "rows": rows[::-1],
        "missing": sum(row.release is None and row.run_state is None for row in rows),
        "notes": _notes(schedule, begin, end, now.date(), len(found) > MOST),
    }


def _notes(schedule: ScheduleRules, first: date, last: date, today: date, is_cut: bool) -> list[str]:
    """Return a sentence for each reason why the range contains dates without an interval."""
    if schedule.cron is None or schedule.on_drop:
        return [
            "This spec has no fixed intervals: its releases are started by hand or by new drops. It has no backfill."
        ]
    notes = []
    if first > last:
        notes.append("The first day is after the last day: the range is empty.")
    if first < schedule.start_date:
        notes.append(
            f"Intervals before {schedule.start_date}, the start_date of the spec, are not built. {_OMISSION_NOTE}"
        )
    if schedule.end_date and last > schedule.end_date:
        notes.append(
            f"Intervals that begin after {schedule.end_date}, the end_date of the spec, are not built. {_OMISSION_NOTE}"
        )
    if last > today:
        notes.append("Airflow refuses a backfill with a last day in the future.")
    if is_cut:
        notes.append(f"Only the first {MOST} intervals are shown: choose a later first day.")
    return notes
