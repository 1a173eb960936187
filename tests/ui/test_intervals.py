"""The page of a spec's intervals shows the snapshot of each month, and the releases that a backfill would build."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest

from s2corpus.ids import ReleaseId
from s2corpus.pipeline.stages import STAGE_NAMES
from s2corpus.spec import ScheduleRules
from tests.releases import PUBLISHED, Built
from tests.ui.conftest import page_over
from tests.ui.pages import AT, read, words

SAMPLE = "corpus_release__sample/intervals"


@pytest.mark.parametrize(
    ("schedule", "first", "last", "starts"),
    [
        (ScheduleRules(end_date=date(2023, 2, 28)), date(2022, 6, 1), date(2024, 1, 1), ["2023-01-01", "2023-02-01"]),
        (ScheduleRules(), date(2023, 2, 2), date(2023, 4, 1), ["2023-03-01", "2023-04-01"]),
        (ScheduleRules(start_date=date(2023, 1, 2)), date(2023, 1, 1), date(2023, 2, 1), ["2023-02-01"]),
        (ScheduleRules(cron="0 0 * * 1"), date(2023, 1, 1), date(2023, 1, 10), ["2023-01-02", "2023-01-09"]),
        (ScheduleRules(cron=None), date(2023, 1, 1), date(2024, 1, 1), []),
        (ScheduleRules(on_drop=True), date(2023, 1, 1), date(2024, 1, 1), []),
        (ScheduleRules(), date(2023, 3, 1), date(2023, 2, 1), []),
    ],
)
def test_intervals_begin_inside_range_and_spec(
    schedule: ScheduleRules, first: date, last: date, starts: list[str]
) -> None:
    assert [start.date().isoformat() for start, _ in schedule.intervals(first, last)] == starts


def test_each_interval_shows_its_snapshot(page: Any, built: Built) -> None:
    text = read(page, SAMPLE)
    said = words(text)
    done = " ".join(["✓ done"] * len(STAGE_NAMES))
    assert re.search(rf"2023-01-01 2023-02-01 published {done} {built.runs[PUBLISHED].snapshot_id}", said)
    assert f'href="/corpus-releases/{AT[PUBLISHED]}"' in text
    assert "Intervals: 2. With a run or release: 2. Missing: 0." in said


@pytest.mark.parametrize(
    ("stage", "state", "words"),
    [
        (None, "RUNNING", ["not reached"] * 12),
        ("select", "RUNNING", ["done"] * 2 + ["not reached"] * 10),
        ("select", "STOPPED", ["done", "stopped"] + ["not reached"] * 10),
        ("export", "LATEST", ["done"] * 12),
    ],
)
def test_interval_shows_each_stage(stage: str | None, state: str, words: list[str]) -> None:
    from release_page.intervals import Interval
    from release_page.states import ListedRelease, ReleaseStatus

    at = datetime(2023, 2, 1, tzinfo=UTC)
    release = ListedRelease(ReleaseId("sample-20230201"), ReleaseStatus[state], stage, None, 0, 0, 0)
    assert Interval(at, at, release).cells == list(zip(STAGE_NAMES, words, strict=True))


def test_missing_interval_would_be_built(tmp_path: Path) -> None:
    said = words(read(page_over(str(tmp_path)), f"{SAMPLE}?first=2023-02-01&last=2023-02-28"))
    assert "Intervals: 1. With a run or release: 0. Missing: 1." in said
    assert "2023-02-01 2023-03-01 missing would be made" in said and "2023-01-01 2" not in said


def test_interval_with_a_run_would_not_be_built(tmp_path: Path) -> None:
    from release_page.states import DagRun

    page = page_over(str(tmp_path), run_of=lambda spec, as_of: DagRun("r", "failed") if as_of.month == 2 else None)
    said = words(read(page, f"{SAMPLE}?first=2023-01-01&last=2023-02-28"))
    assert "2023-01-01 2023-02-01 failed before intake was done" in said
    assert "2023-02-01 2023-03-01 missing would be made" in said


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ("first=2022-01-01&last=2023-01-31", "Intervals before 2023-01-01, the start_date of the spec, are not built"),
        (
            "first=2023-01-01&last=2023-06-30",
            "Intervals that begin after 2023-02-28, the end_date of the spec, are not built",
        ),
        ("first=2023-02-01&last=2023-01-01", "the range is empty"),
        ("first=2023-01-01&last=2999-01-01", "Airflow refuses a backfill with a last day in the future"),
    ],
)
def test_date_outside_spec_has_a_sentence(page: Any, query: str, sentence: str) -> None:
    assert sentence in words(read(page, f"{SAMPLE}?{query}"))


def test_spec_without_schedule_has_no_backfill(page: Any) -> None:
    assert "It has no backfill." in words(read(page, "corpus_release__own/intervals"))


@pytest.mark.parametrize(
    ("path", "status"),
    [(f"{SAMPLE}?first=x", 422), (f"{SAMPLE}?first=0001-01-01&last=9999-12-31", 200), ("corpus_release__none/intervals", 404)],
)  # fmt: skip
def test_hostile_range_gives_an_error(page: Any, path: str, status: int) -> None:
    read(page, path, status)


def test_many_intervals_are_limited_with_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "often.yaml").write_text('name: often\nschedule: {cron: "* * * * *", start_date: 2023-01-01}\n')
    monkeypatch.setenv("S2CORPUS_RELEASES", str(tmp_path))
    said = words(read(page_over(str(tmp_path / "lake")), "corpus_release__often/intervals"))
    assert "Intervals: 120." in said and "Only the first 120 intervals are shown" in said
