"""The DAG of a release: each spec has one DAG, stages run in order, only transient errors are retried, and the form explains itself.

Releases are scheduled and backfilled only for the intervals of their spec (docs/releases.md).
"""

import itertools
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from s2corpus.errors import QualityBlocked, TransientError, UserError
from s2corpus.pipeline.acceptance import read_acceptances
from s2corpus.pipeline.stages import PIPELINE, STAGE_NAMES
from s2corpus.spec_files import load_spec
from s2corpus.storage.lake import open_lake
from tests.releases import ROOT

pytestmark = pytest.mark.airflow
SPECS = sorted((ROOT / "include" / "releases").glob("*.yaml"))
WRONG_SPECS = {
    "unknown": ("name: unknown\nschedul: {}\n", "schedul: unknown field (did you mean schedule?)"),
    "bad_cron": ("name: bad_cron\nschedule: {cron: 0 0 32 * *}\n", "schedule.cron: '0 0 32 * *' given; a cron expression was"),
    "renamed": ("name: sample\n", "name: 'sample' given; expected the name of the file: 'renamed'"),
    "cut": ("name: [", "not readable as YAML"),
    "never": ("name: never\nschedule: {cron: 0 0 31 2 *}\n", "schedule.cron: '0 0 31 2 *' given, which names no day"),
    "ended": ("name: ended\nschedule: {end_date: 2020-01-01}\n", "schedule: end_date: 2020-01-01 is before start_date"),
    "endless": ("name: endless\nresources: {task_hours: .inf}\n", "resources.task_hours: inf given"),
    "huge": ("name: huge\nschedule: {expects_hours: 1.0e+12}\n", "schedule.expects_hours: 1000000000000.0 given"),
    "item": ("name: item\nfilter: {rules: [mine]}\n", "filter.rules.0: 'mine' given; expected a mapping with the fields name"),
    "twice": ("name: twice\ndrops: [a]\ndrops: [b]\n", "not readable as YAML: the key 'drops' is given twice"),
}  # fmt: skip


@pytest.fixture(scope="module")
def bag(airflow_home: None, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Load all DAG files with an operator's folder of specs: one is right, and each other is wrong in another way."""
    from airflow.dag_processing.dagbag import DagBag

    folder = tmp_path_factory.mktemp("specs")
    (folder / "other.yaml").write_text(
        "name: other\nexport: {approval: other}\nresources: {task_hours: 3, in_flight: 5}\n"
    )
    for name, (content, _) in WRONG_SPECS.items():
        (folder / f"{name}.yaml").write_text(content, "utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("S2CORPUS_RELEASES", str(folder))
        return DagBag(str(ROOT / "dags"))


def test_every_spec_is_valid_and_has_its_dag(dags: dict[str, Any]) -> None:
    assert {load_spec(path).name for path in SPECS} == {path.stem for path in SPECS}
    assert set(dags) == {f"corpus_release__{path.stem}" for path in SPECS}


def test_wrong_spec_is_shown_and_stops_no_other_dag(bag: Any) -> None:
    assert set(bag.dags) == {
        "corpus_release__other", "pdf_drops", "corpus_cleanup", "example_consumer", "example_pubmed",
    }  # fmt: skip
    ((file, error),) = bag.import_errors.items()
    assert file.endswith("spec_errors.py")
    for name, (_, said) in WRONG_SPECS.items():
        assert f"{name}.yaml: {said}" in error
    limits = {f"{dag.dag_id} {task.task_id}": task.execution_timeout for dag in bag.dags.values() for task in dag.tasks}
    assert all(limits.values()), "every task has a timeout"
    assert limits["corpus_release__other extract.work"] == limits["pdf_drops work"] == timedelta(hours=3)
    assert limits["corpus_release__other approve"] == timedelta(hours=72 + 3), "the time to answer is added"


@pytest.mark.parametrize("file", [None, "name: planned\nschedul: {}\n"], ids=["removed", "invalid"])
def test_planned_run_keeps_its_dag_without_the_spec(load: Callable[..., Any], tmp_path: Path, file: str | None) -> None:
    """The DAG is that of the planned spec, and starts no other run."""
    if file:
        (tmp_path / "planned.yaml").write_text(file)
    spec = '{"name": "planned", "export": {"approval": "other"}}'
    task = {"S2CORPUS_RELEASES": str(tmp_path), "_AIRFLOW_PARSING_CONTEXT_DAG_ID": "corpus_release__planned"}
    found = vars(load("corpus_release", **task, AIRFLOW_VAR_S2CORPUS_RUN__PLANNED=spec))
    dag = found["corpus_release__planned"]
    assert dag.schedule is None
    assert dag.get_task("publish").upstream_task_ids == {"approve"}
    unplanned = vars(load("corpus_release", **task, AIRFLOW_VAR_S2CORPUS_RUN__PLANNED="of another version"))
    assert "corpus_release__planned" not in unplanned


def test_extraction_stays_within_the_grobid_pool(bag: Any) -> None:
    for dag, task in (("corpus_release__other", "extract.work"), ("pdf_drops", "work")):
        given = bag.dags[dag].get_task(task).partial_kwargs
        assert (given["pool"], given["pool_slots"]) == ("grobid", 5)


def test_stages_follow_each_other(sample: Any) -> None:
    for before, after in itertools.pairwise(STAGE_NAMES):
        first = (
            sample.get_task(f"{after}.plan") if f"{after}.plan" in sample.task_ids else sample.get_task(f"{after}.work")
        )
        assert f"{before}.quality" in first.upstream_task_ids, f"{after} starts before {before} has passed its checks"


def test_month_of_the_sample_has_at_most_36_task_instances(sample: Any) -> None:
    """Count a skipped task too. Only extract divides the sample's PDFs; every other round is one small batch."""
    assert len(sample.tasks) + load_spec(ROOT / "include/releases/sample.yaml").resources.max_tasks - 1 <= 36


def test_tables_are_stable_assets_that_stages_exchange(sample: Any) -> None:
    written: set[str] = set()
    for stage in STAGE_NAMES:
        quality = sample.get_task(f"{stage}.quality")
        assert {asset.name for asset in quality.inlets} <= written, (
            f"{stage} reads a table that no earlier stage writes"
        )
        written |= {asset.name for asset in quality.outlets}
    assert written == {f"corpus_{name}__sample" for row in PIPELINE for name in row.writes}


def test_publishing_follows_every_check_and_the_approval(dags: dict[str, Any], sample: Any) -> None:
    import example_consumer

    assert sample.get_task("publish").upstream_task_ids == {"export.quality"}
    assert sample.get_task("publish").inlets[0] == example_consumer.SNAPSHOT
    approved = dags["corpus_release__s2_v2"]
    assert approved.get_task("publish").upstream_task_ids == {"approve"}
    approve = approved.get_task("approve")
    assert approve.upstream_task_ids == {"export.quality"}
    assert (approve.defaults, approve.response_timeout) == (["Reject"], timedelta(hours=72))
    assert not approve.fail_on_reject, "a rejection is an answer, not a failure"


def test_only_transient_errors_are_retried(sample: Any) -> None:
    """Check Airflow's own error too: a task fails with it while PostgreSQL restarts, regardless of the task's error."""
    from airflow.sdk import RetryAction
    from airflow.sdk.exceptions import AirflowRuntimeError, ErrorType
    from airflow.sdk.execution_time.comms import ErrorResponse

    api = AirflowRuntimeError(ErrorResponse(error=ErrorType.API_SERVER_ERROR, detail={"status_code": 500}))
    policy = sample.get_task("vote.quality").retry_policy
    retried: list[Exception] = [TransientError("x"), ConnectionResetError("x"), api]
    for error in [*retried, UserError("x"), QualityBlocked("x"), KeyError("x")]:
        assert (policy.evaluate(error, 1, 3).action == RetryAction.RETRY) is (error in retried), error


def test_no_date_makes_a_run_without_tasks(dags: dict[str, Any]) -> None:
    """Airflow starts no task of a run before its DAG's start date, and marks the run as a success."""
    assert {(dag.start_date.year, dag.end_date) for dag in dags.values()} == {(1970, None)}


@pytest.mark.parametrize(
    ("start", "end", "said"),
    [
        (None, None, "no data interval"),
        (datetime(2022, 12, 1, tzinfo=UTC), datetime(2023, 1, 1, tzinfo=UTC), "before the spec's start date 2023-01-01"),
        (datetime(2023, 3, 1, tzinfo=UTC), datetime(2023, 4, 1, tzinfo=UTC), "after the spec's end date 2023-02-28"),
        (datetime(2029, 12, 1, tzinfo=UTC), datetime(2130, 1, 1, tzinfo=UTC), "in the future"),
    ],
)  # fmt: skip
def test_run_outside_the_schedule_is_refused(
    sample: Any, monkeypatch: pytest.MonkeyPatch, start: datetime | None, end: datetime | None, said: str
) -> None:
    import corpus_release

    context = {
        "dag": sample, "params": {"drops": None}, "data_interval_start": start, "data_interval_end": end,
        "ti": SimpleNamespace(get_previous_dagrun=lambda state: None),
    }  # fmt: skip
    monkeypatch.setattr(corpus_release, "get_current_context", lambda: context)
    with pytest.raises(UserError, match=said):
        corpus_release.begin.function()


def test_every_task_alerts_with_a_runbook_link(dags: dict[str, Any]) -> None:
    runbook = (ROOT / "docs" / "runbook.md").read_text("utf-8")
    for task in dags["corpus_release__s2_v2"].tasks:
        told = task.on_failure_callback  # A mapped task stores the callback itself; other tasks store a list.
        assert [each.__name__ for each in (told if isinstance(told, list) else [told])] == ["task_failed"], task.task_id
        stage = task.task_id.partition(".")[0]
        anchor = f"stage-{stage}" if stage in STAGE_NAMES else stage
        assert f"docs/runbook.md#{anchor}`" in task.doc_md
        assert f'id="{anchor}"' in runbook
    assert 'id="late"' in runbook


def test_acceptances_are_stored_with_the_release(sample: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import corpus_release

    monkeypatch.setenv("S2CORPUS_LAKE", str(tmp_path))
    monkeypatch.setattr(
        "s2corpus_airflow.running_specs.keep", lambda spec: None
    )  # Airflow stores variables, and does not run here
    monkeypatch.delenv("S2CORPUS_CATALOG", raising=False)

    context = {
        "dag": sample, "run_id": "manual__1", "data_interval_start": datetime(2023, 1, 1, tzinfo=UTC),
        "data_interval_end": datetime(2023, 2, 1, tzinfo=UTC), "dag_run": SimpleNamespace(triggering_user_name="ann"),
        "ti": SimpleNamespace(get_previous_dagrun=lambda state: None),
    }  # fmt: skip
    accepted: dict[str, str] = {"link.nothing": "a reason of some length"}
    context["params"] = {"drops": None, "accept": accepted}
    monkeypatch.setattr(corpus_release, "get_current_context", lambda: context)
    (tmp_path / "drops" / "2023-01-a").mkdir(parents=True)  # It matches the spec's pattern and is still being written.
    with pytest.raises(UserError, match=r"'link\.nothing' is not a check; expected <stage>\.<check>, one of link\."):
        corpus_release.begin.function()
    accepted.clear()
    accepted["link.drift_of_linked_entries_block"] = "the source dblp ended"
    assert corpus_release.begin.function().is_done
    (word,) = read_acceptances(open_lake(str(tmp_path)), "sample-20230201").values()
    assert (word.by, word.reason) == ("ann", "the source dblp ended")


# -- Schedules.


@pytest.mark.parametrize(
    ("spec", "first", "last", "releases"),
    [
        ("sample", "2023-01-01", "2023-01-31", ["2023-02-01"]), ("sample", "2023-01-01", "2023-04-01", ["2023-02-01", "2023-03-01"]),
        ("sample", "2023-03-01", "2023-04-01", []), ("s2_v2", "2022-11-01", "2023-02-15", ["2023-02-01", "2023-03-01"]),
    ],
)  # fmt: skip
def test_backfill_contains_only_intervals_of_the_schedule(
    dags: dict[str, Any], spec: str, first: str, last: str, releases: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """List the intervals as the scheduler does, from the serialized DAG. `end_date` is the start of the last interval."""
    from airflow import plugins_manager
    from airflow.serialization.serialized_objects import DagSerialization
    from s2corpus_airflow.timetable import ReleaseTimetable

    classes = {"s2corpus_airflow.timetable.ReleaseTimetable": ReleaseTimetable}
    monkeypatch.setattr(plugins_manager, "get_timetables_plugins", lambda: classes)
    dag = DagSerialization.from_dict(DagSerialization.to_dict(dags[f"corpus_release__{spec}"]))
    bounds = (datetime.fromisoformat(f"{day}T00:00:00+00:00") for day in (first, last))
    found = [info.data_interval for info in dag.iter_dagrun_infos_between(*bounds)]
    assert [f"{interval.end:%Y-%m-%d}" for interval in found if interval is not None] == releases


@pytest.mark.parametrize(("last", "starts_a_run"), [(None, True), (date(2023, 6, 1), False)])
def test_unpausing_after_end_date_starts_no_run(airflow_home: None, last: date | None, starts_a_run: bool) -> None:
    """Check the workaround in the runbook: with a past `end_date`, unpausing does not start the last finished interval."""
    from airflow.timetables.base import TimeRestriction
    from s2corpus_airflow.timetable import ReleaseTimetable

    found = ReleaseTimetable("0 0 1 * *", date(2023, 1, 1), last).next_dagrun_info(
        last_automated_data_interval=None, restriction=TimeRestriction(None, None, catchup=False)
    )
    assert (found is not None) is starts_a_run


@pytest.mark.parametrize(
    ("logical", "says"),
    [
        ("2130-01-15", "in the future"), ("2022-12-15", "outside the dates of the spec, 2023-01-01 to 2023-06-01"),
        ("2023-09-15", "outside the dates of the spec, 2023-01-01 to 2023-06-01"), ("2023-03-15", None),
    ],
)  # fmt: skip
def test_run_that_a_person_triggers_belongs_to_the_spec(airflow_home: None, logical: str, says: str | None) -> None:
    """Airflow answers a `ValueError` with status 400 and creates no run."""
    import pendulum
    from airflow.timetables.base import DataInterval
    from airflow.utils.types import DagRunType
    from s2corpus_airflow.timetable import ReleaseTimetable

    timetable = ReleaseTimetable("0 0 1 * *", date(2023, 1, 1), date(2023, 6, 1))
    after = pendulum.parse(logical)
    assert isinstance(after, pendulum.DateTime)
    given = DataInterval(after.start_of("month").subtract(months=1), after.start_of("month"))
    if says is None:
        assert timetable.infer_manual_data_interval(run_after=after) == given
        return
    with pytest.raises(ValueError, match=says):
        timetable.infer_manual_data_interval(run_after=after)
    with pytest.raises(ValueError, match=says):
        timetable.generate_run_id(run_type=DagRunType.MANUAL, run_after=pendulum.now("UTC"), data_interval=given)
    with pytest.raises(ValueError, match="would block all later runs"):
        timetable.generate_run_id(
            run_type=DagRunType.MANUAL, run_after=pendulum.datetime(2130, 1, 1), data_interval=None
        )
