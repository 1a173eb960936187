"""What people decide is on the page: approvals, overridden checks, refused drops, with the commands and logs that they need."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path

import pytest

from s2corpus.catalog import Catalog
from s2corpus.catalog.models import ReleaseDecision, ReleaseState
from tests.releases import PUBLISHED, SECOND, UNFINISHED, Built
from tests.ui.conftest import page_over
from tests.ui.pages import AT, DRIFT, change_verdict, copied, read, stalled, words


@pytest.mark.parametrize(("state", "shown"), [("failed", "failed"), ("running", "running"), ("success", "unfinished")])
def test_unfinished_release_shows_the_airflow_state(state: str, shown: str, built: Built) -> None:
    from release_page.releases import Archive
    from release_page.states import DagRun

    archive = Archive(built.runs[UNFINISHED].lake, None, lambda spec, as_of: DagRun("scheduled__x", state))
    assert archive.release(UNFINISHED).state == shown


def test_releases_that_await_a_person_are_listed_first(built: Built, tmp_path: Path) -> None:
    from release_page.states import DagRun

    lake = stalled(built, tmp_path)
    runs = {"run_of": lambda spec, as_of: DagRun("scheduled__2023-03-01T00:00:00+00:00", "running")}
    page = page_over(lake, f"sqlite:///{tmp_path / 'catalog.db'}", **runs)
    text = read(page, "")
    waiting = text[text.index("Decision required") : text.index("<h2>sample</h2>")]
    assert re.search(
        r"awaits approval sample-20230301 6 documents, .* stopped by a check sample-20230401", words(waiting)
    )
    run = "/dags/corpus_release__sample/runs/scheduled__2023-03-01T00%3A00%3A00%2B00%3A00"
    assert f'href="{run}/required_actions"' in waiting
    assert f'href="{run}"' in read(page, AT[SECOND]) and f'href="{run}/tasks/group/link"' in read(page, AT[SECOND])


def test_failed_run_links_to_its_logs(built: Built) -> None:
    from release_page.states import DagRun, FailedTask

    failed = DagRun("by hand/1", "failed", [FailedTask("link.work", 3), FailedTask("filter.quality")])
    shown = read(page_over(built.lake, run_of=lambda spec, as_of: failed), AT[UNFINISHED])
    run = "/dags/corpus_release__sample/runs/by%20hand%2F1"
    assert f'href="{run}/tasks/link.work/mapped/3"' in shown and f'href="{run}/tasks/filter.quality"' in shown
    assert "failed first: logs of link.work[3] , logs of filter.quality" in words(shown)


def test_blocked_check_shows_rows_values_and_accept_command(built: Built, tmp_path: Path) -> None:
    lake = stalled(built, tmp_path)
    page = page_over(lake)
    line = f"corpus accept {UNFINISHED} filter.{DRIFT} --lake {lake} --reason"
    for shown in (words(read(page, AT[UNFINISHED])), words(read(page, f"{AT[UNFINISHED]}/quality"))):
        assert line in shown and "clear filter.quality" in shown and "0.25 0.75" in shown
    quality = words(read(page, f"{AT[UNFINISHED]}/quality"))
    assert "This check stops the release unless a user overrides it with a reason; threshold 0.5" in quality
    assert "This check stops the release and cannot be overridden" in quality


def test_override_is_shown_with_person_and_reason(built: Built, tmp_path: Path) -> None:
    lake = copied(built, tmp_path)
    accepted = {"accepted": "<b>because</b>", "accepted_by": "<i>ann</i>"}
    change_verdict(lake, UNFINISHED, DRIFT, verdict="block", offending=1, **accepted)
    page = page_over(lake)
    assert "stopped by a check" not in words(read(page, "")), "it went on"
    for shown in (read(page, AT[UNFINISHED]), read(page, f"{AT[UNFINISHED]}/quality")):
        assert "corpus accept" not in shown, "it is accepted"
        assert "by &lt;i&gt;ann&lt;/i&gt;: &lt;b&gt;because&lt;/b&gt;" in shown


@pytest.mark.parametrize(
    ("state", "shown"), [("awaiting", "awaits approval"), ("rejected", "rejected"), ("unpublished", "not published")]
)
def test_unpublished_release_shows_the_answers_of_people(state: str, shown: str, built: Built, tmp_path: Path) -> None:
    lake = copied(built, tmp_path)
    for mark in (f"published/{built.runs[SECOND].snapshot_id}", "latest.json"):
        (lake / "snapshots" / "sample" / mark).unlink()
    catalog = Catalog(f"sqlite:///{tmp_path / 'catalog.db'}")
    catalog.set_release_state(SECOND, ReleaseState(state), built.runs[SECOND].snapshot_id)
    catalog.record_decision(
        SECOND, "publish", "ann", ReleaseDecision.REJECTED, "<b>not yet</b>", datetime(2023, 3, 2, tzinfo=UTC)
    )
    page = read(page_over(lake, f"sqlite:///{tmp_path / 'catalog.db'}"), AT[SECOND])
    assert f">{shown}</span></h1>" in page
    assert "ann rejected publish &lt;b&gt;not yet&lt;/b&gt;" in " ".join(re.sub("<[^>]+>", " ", page).split())


def test_acceptable_checks_equal_those_of_the_command(built: Built) -> None:
    from release_page.releases import Archive
    from release_page.views import format_accept_command

    from s2corpus.errors import UserError
    from s2corpus.pipeline.acceptance import accept
    from s2corpus.pipeline.quality import list_all_checks

    archive, known = Archive(built.runs[UNFINISHED].lake), list_all_checks()
    for check in known:
        found = {"check": check.name, "accepted": None, "overridable": check.overridable, "verdict": check.severity}
        line = format_accept_command(archive, UNFINISHED, {"stage": check.stage, "severity": check.severity, **found})
        try:
            accept(_Nowhere(), UNFINISHED, {f"{check.stage}.{check.name}": "a reason of length"}, "ann", known)  # type: ignore[arg-type]  # the lake must not be used
        except UserError:
            assert line is None, check
        else:
            assert line is not None, check


def test_drops_show_their_state_and_reason(built: Built, tmp_path: Path) -> None:
    lake = stalled(built, tmp_path)
    for paused, standing in ((False, "waiting"), (True, "paused")):
        said = words(read(page_over(lake, drops_paused=lambda paused=paused: paused), "drops"))
        assert "drops/2023-03-10-refused refused: changed" in said and "a.pdf: 1 byte found, 2 listed" in said
        assert "drops/2023-03-11-writing not ready yet" in said
        assert f"drops/2023-03-12-ready {standing}" in said
        assert re.search(rf"drops/2023-01-a released [^a-z]* in {built.runs[PUBLISHED].snapshot_id}", said)
    one = words(read(page_over(lake), "drops?standing=refused"))
    assert "2023-03-10-refused" in one and "2023-03-12-ready" not in one


class _Nowhere:
    """A lake that contains nothing and stores nothing."""

    def get(self, key: str) -> tuple[bytes, str]:
        raise FileNotFoundError(key)

    def put(self, key: str, data: bytes, *, expect: str | None = None) -> str:
        return ""
