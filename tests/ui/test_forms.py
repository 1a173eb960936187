"""A person fills in Airflow's forms; each starts the run or stores the answer that its text announces."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from s2corpus.pipeline.acceptance import excluded_people
from s2corpus.pipeline.summary import format_approval_request
from tests.releases import ROOT, SECOND, Built
from tests.ui.conftest import Server

pytestmark = [pytest.mark.services, pytest.mark.airflow, pytest.mark.slow]
DAG = "corpus_release__s2_v2"
REASON = "The January drop contains no bibliographies, see ticket 12."
# What the task `approve` does before it waits (Airflow 3.3, HITLOperator.execute): no scheduler runs here.
REQUEST = """
import json, sys
sys.path[:0] = ["dags", "plugins"]
import corpus_release
from airflow.models.hitl import HITLDetail
from airflow.models.taskinstance import TaskInstance
from airflow.utils.session import create_session
run_id, subject, body = json.load(sys.stdin)
approve = corpus_release.corpus_release__s2_v2.get_task("approve")
with create_session() as session:
    ti = session.query(TaskInstance).filter_by(dag_id="corpus_release__s2_v2", run_id=run_id, task_id="approve").one()
    ti.state = "awaiting_input"
    session.add(HITLDetail(ti_id=ti.id, options=approve.options, subject=subject, body=body, defaults=approve.defaults,
                           multiple=False, params=approve.serialized_params))
"""


def open_form(browser: Any, server: Server, dag: str, role: str = "op") -> tuple[Any, Any]:
    """Return a page and the form of a DAG that starts runs."""
    page = server.open(browser, f"/dags/{dag}", role, height=1500)
    page.get_by_test_id("trigger-dag-button").click()
    form = page.get_by_role("dialog").first
    form.get_by_text("A single run builds").wait_for()
    return page, form


def pick(page: Any, field: Any, day: str, time: str = "00:00") -> None:
    """Choose a day (YYYY/MM/DD) and time in one of Airflow's date pickers."""
    field.click()
    page.get_by_placeholder("YYYY/MM/DD").last.fill(day)
    page.get_by_placeholder("HH:mm").last.fill(time)
    page.keyboard.press("Escape")


def newest_run(server: Server, dag: str) -> dict[str, Any]:
    runs = server.call(f"/api/v2/dags/{dag}/dagRuns?limit=1&order_by=-id").json()["dag_runs"]
    return dict(runs[0]) if runs else {}


def test_run_by_hand_has_its_parameters_and_the_last_interval(browser: Any, server: Server, pictures: Path) -> None:
    """Check the form's promise: a run at 10:30 on March 15 makes the release of February."""
    page, form = open_form(browser, server, DAG)
    pick(page, form.get_by_test_id("datetime-input").first, "2023/03/15", "10:30")
    form.locator("textarea[name=element_drops]").fill("2023-01-*\npublisher-a-2023-01-15")
    editor = form.locator("#element_accept")
    editor.click()
    page.keyboard.press("Control+A")
    page.keyboard.insert_text(json.dumps({"link.drift_of_linked_entries_block": REASON}))
    page.keyboard.press("Control+Shift+End")  # The editor closes brackets and quotes itself.
    page.keyboard.press("Delete")
    form.screenshot(path=pictures / "form-run.png")
    form.get_by_role("button", name="Trigger", exact=True).click()
    form.wait_for(state="hidden")
    run = newest_run(server, DAG)
    assert (run["data_interval_start"], run["data_interval_end"]) == ("2023-02-01T00:00:00Z", "2023-03-01T00:00:00Z")
    assert run["conf"] == {
        "drops": ["2023-01-*", "publisher-a-2023-01-15"],
        "accept": {"link.drift_of_linked_entries_block": REASON},
    }
    page.context.close()


def test_backfill_announces_its_runs_and_omits_intervals_after_end_date(
    browser: Any, server: Server, pictures: Path
) -> None:
    """Check the dry run in the form: of January to June, the spec `sample` has only January and February."""
    page, form = open_form(browser, server, "corpus_release__sample")
    form.get_by_text("Run this Dag for a range of dates").click()
    for field, day in zip(form.get_by_test_id("datetime-input").all(), ("2023/01/01", "2023/06/01"), strict=True):
        pick(page, field, day)
    form.get_by_text("2 runs will be triggered").wait_for()
    form.screenshot(path=pictures / "form-backfill.png")
    form.get_by_role("button", name="Run Backfill").click()
    form.wait_for(state="hidden")
    runs = server.call("/api/v2/dags/corpus_release__sample/dagRuns?run_type=backfill").json()["dag_runs"]
    assert sorted(run["data_interval_start"] for run in runs) == ["2023-01-01T00:00:00Z", "2023-02-01T00:00:00Z"]
    page.context.close()


def test_approver_reads_who_may_not_approve_and_answers_with_a_note(
    browser: Any, server: Server, built: Built, pictures: Path
) -> None:
    run = {"logical_date": "2023-05-01T00:00:00Z", "dag_run_id": "to_approve"}
    assert server.call(f"/api/v2/dags/{DAG}/dagRuns", "admin", "POST", run).status_code == 200
    body = format_approval_request(built.runs[SECOND], excluded_people(built.runs[SECOND], "admin"))
    request = json.dumps(["to_approve", f"Publish the release {SECOND}?", body])
    subprocess.run([sys.executable, "-c", REQUEST], input=request, env=server.environ, cwd=ROOT, text=True, check=True)
    page = server.open(
        browser, f"/dags/{DAG}/runs/to_approve/tasks/approve/required_actions", "op", width=1200, height=800
    )
    page.get_by_text(f"Publish the release {SECOND}?").first.wait_for()
    page.screenshot(path=pictures / "form-approval.png", clip={"x": 316, "y": 60, "width": 884, "height": 740})
    page.get_by_text("admin may not approve it (started its run)").wait_for()
    assert page.get_by_role("button", name="Approve", exact=True).is_enabled(), "the note is optional"
    page.locator("#element_note").fill("looks right")
    page.get_by_role("button", name="Approve", exact=True).click()
    details = f"/api/v2/dags/{DAG}/dagRuns/to_approve/taskInstances/approve/-1/hitlDetails"
    page.get_by_text("response successful").first.wait_for()
    answer = server.call(details).json()
    assert (answer["chosen_options"], answer["params_input"]) == (["Approve"], {"note": "looks right"})
    assert answer["responded_by_user"]["name"] == "op"
    page.context.close()
