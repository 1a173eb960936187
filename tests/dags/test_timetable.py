"""Releases are scheduled and backfilled only for the intervals of their spec (docs/releases.md): Airflow refuses other backfills."""

from __future__ import annotations

from datetime import date, datetime
from typing import Any

import pytest

pytestmark = pytest.mark.airflow


@pytest.mark.parametrize(
    ("spec", "first", "last", "releases"),
    [
        ("sample", "2023-01-01", "2023-01-31", ["2023-02-01"]),
        ("sample", "2023-01-01", "2023-04-01", ["2023-02-01", "2023-03-01"]),
        ("sample", "2023-03-01", "2023-04-01", []),
        ("s2_v2", "2022-11-01", "2023-02-15", ["2023-02-01", "2023-03-01"]),
    ],
)
def test_backfill_contains_only_intervals_of_the_schedule(
    dags: dict[str, Any], spec: str, first: str, last: str, releases: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """List the intervals as the scheduler does, from the serialized DAG. `end_date` is the start of the last interval."""
    import release_timetable
    from airflow import plugins_manager
    from airflow.serialization.serialized_objects import DagSerialization

    classes = {"release_timetable.ReleaseTimetable": release_timetable.ReleaseTimetable}
    monkeypatch.setattr(plugins_manager, "get_timetables_plugins", lambda: classes)
    dag = DagSerialization.from_dict(DagSerialization.to_dict(dags[f"corpus_release__{spec}"]))
    bounds = (datetime.fromisoformat(f"{day}T00:00:00+00:00") for day in (first, last))
    found = [info.data_interval for info in dag.iter_dagrun_infos_between(*bounds)]
    assert [f"{interval.end:%Y-%m-%d}" for interval in found if interval is not None] == releases


@pytest.mark.parametrize(("last", "starts_a_run"), [(None, True), (date(2023, 6, 1), False)])
def test_unpausing_after_end_date_starts_no_run(airflow_home: None, last: date | None, starts_a_run: bool) -> None:
    """Check the workaround in the runbook: with a past `end_date`, unpausing does not start the last finished interval."""
    from airflow.timetables.base import TimeRestriction
    from release_timetable import ReleaseTimetable

    found = ReleaseTimetable("0 0 1 * *", date(2023, 1, 1), last).next_dagrun_info(
        last_automated_data_interval=None, restriction=TimeRestriction(None, None, catchup=False)
    )
    assert (found is not None) is starts_a_run
