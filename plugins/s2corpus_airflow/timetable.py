"""The timetable of releases: monthly or other intervals between a spec's start and end dates."""

from __future__ import annotations

from datetime import UTC, date
from typing import Any

import pendulum
from airflow.timetables.base import DagRunInfo, DataInterval, TimeRestriction
from airflow.timetables.interval import CronDataIntervalTimetable
from airflow.utils.types import DagRunType
from pendulum import DateTime


class ReleaseTimetable(CronDataIntervalTimetable):
    """Schedule the cron intervals (UTC) with a start between `first` and `last`, inclusive.

    Airflow's own timetable ignores the DAG's dates in a backfill, so releases after the last one would be published. With this
    one, a backfill and its dry run contain only the spec's intervals; Airflow refuses a backfill that contains none.
    """

    def __init__(self, cron: str, first: date, last: date | None) -> None:
        super().__init__(cron, "UTC")
        self.first = first
        self.last = last

    def serialize(self) -> dict[str, Any]:
        """Return the arguments as JSON values."""
        return {
            "cron": self._expression,
            "first": self.first.isoformat(),
            "last": self.last.isoformat() if self.last else None,
        }

    @classmethod
    def deserialize(cls, data: dict[str, Any]) -> ReleaseTimetable:
        """Return the timetable that `serialize` described."""
        last = data["last"]
        return cls(data["cron"], date.fromisoformat(data["first"]), date.fromisoformat(last) if last else None)

    def next_dagrun_info(
        self, *, last_automated_data_interval: DataInterval | None, restriction: TimeRestriction
    ) -> DagRunInfo | None:
        """Return the next interval, or None after the last one."""
        bounded = TimeRestriction(
            max(filter(None, (restriction.earliest, _midnight(self.first)))),
            min(filter(None, (restriction.latest, _midnight(self.last) if self.last else None)), default=None),
            restriction.catchup,
        )
        return super().next_dagrun_info(last_automated_data_interval=last_automated_data_interval, restriction=bounded)

    def infer_manual_data_interval(self, *, run_after: DateTime) -> DataInterval:
        """Return the last completed interval before the logical date of a run that a person triggers.

        Raises:
            ValueError: the logical date is in the future, or the interval is outside the spec's dates. Airflow then creates no run.
        """
        interval = super().infer_manual_data_interval(run_after=run_after)
        self._check(interval)
        if run_after > pendulum.now("UTC").add(minutes=1):
            raise ValueError(f"the logical date {run_after} is in the future: choose a date in the past")
        return interval

    def generate_run_id(
        self, *, run_type: DagRunType, run_after: DateTime, data_interval: DataInterval | None, **extra: Any
    ) -> str:
        """Return the id of a new run.

        Raises:
            ValueError: a person triggers a run in the future or outside the spec's dates. Airflow then creates no run.
        """
        if run_type == DagRunType.MANUAL:
            if data_interval is not None:
                self._check(data_interval)
            if run_after > pendulum.now("UTC").add(minutes=1):
                raise ValueError(
                    f"run_after {run_after} is in the future: such a run would block all later runs of this spec"
                )
        return super().generate_run_id(run_type=run_type, run_after=run_after, data_interval=data_interval, **extra)

    def _check(self, interval: DataInterval) -> None:
        """Raise ValueError if the interval is not over or begins outside the spec's dates."""
        day = interval.start.date()
        if interval.end > pendulum.now("UTC"):
            raise ValueError(f"the interval from {interval.start} ends at {interval.end}, in the future: refused")
        if day < self.first or (self.last is not None and day > self.last):
            last = self.last or "now"
            raise ValueError(
                f"the interval from {interval.start} to {interval.end} is outside the dates of the spec, {self.first} to {last}: "
                "choose a later logical date, or change schedule.start_date or end_date in the spec"
            )


def _midnight(day: date) -> DateTime:
    return DateTime(day.year, day.month, day.day, tzinfo=UTC)
