"""The timetable of releases: monthly or other intervals between a spec's start and end dates.

The plugins folder contains it because scheduler, API server and DAG processor all import timetables by name.
"""

from __future__ import annotations

from datetime import UTC, date
from typing import Any

from airflow.plugins_manager import AirflowPlugin
from airflow.timetables.base import DagRunInfo, DataInterval, TimeRestriction
from airflow.timetables.interval import CronDataIntervalTimetable
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


class ReleaseTimetablePlugin(AirflowPlugin):
    """Registers the timetable."""

    name = "release_timetable"
    timetables = [ReleaseTimetable]  # noqa: RUF012 (Airflow reads a list)


def _midnight(day: date) -> DateTime:
    return DateTime(day.year, day.month, day.day, tzinfo=UTC)
