"""The DAGs as Airflow loads them: they parse fast, each spec has one DAG, stages run in order, and only transient errors are retried."""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import re
import runpy
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml

from s2corpus.catalog import Catalog
from s2corpus.catalog.models import ReleaseState
from s2corpus.errors import UserError
from s2corpus.ids import ReleaseId
from s2corpus.pipeline import runner
from s2corpus.pipeline.acceptance import read_acceptances
from s2corpus.pipeline.run import Run
from s2corpus.pipeline.stages import STAGE_NAMES, find_planning_stage
from s2corpus.spec import load_spec
from s2corpus.storage.lake import Lake, open_lake
from s2corpus.tables.intake import PDFS
from s2corpus.tables.papers import MEMBERS

pytestmark = pytest.mark.airflow
ROOT = Path(__file__).resolve().parents[2]
SPECS = sorted((ROOT / "include" / "releases").glob("*.yaml"))


@pytest.fixture(scope="module")
def dags(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    os.environ.setdefault("AIRFLOW_HOME", str(tmp_path_factory.mktemp("airflow")))
    sys.path[:0] = [str(ROOT / "dags"), str(ROOT / "plugins")]
    import corpus_release

    return {name: dag for name, dag in vars(corpus_release).items() if name.startswith("corpus_release__")}


@pytest.mark.parametrize("spec", SPECS, ids=lambda path: path.stem)
def test_every_spec_is_valid_and_has_its_dag(spec: Path, dags: dict[str, Any]) -> None:
    assert load_spec(spec).name == spec.stem
    assert f"corpus_release__{spec.stem}" in dags


def test_task_process_builds_only_its_dag(dags: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    from airflow.sdk.definitions import context

    monkeypatch.setenv(context._AIRFLOW_PARSING_CONTEXT_DAG_ID, "corpus_release__sample")
    monkeypatch.setenv(context._AIRFLOW_PARSING_CONTEXT_TASK_ID, "intake.plan")
    found = runpy.run_path(str(ROOT / "dags" / "corpus_release.py"))
    assert [name for name in found if name.startswith("corpus_release__")] == ["corpus_release__sample"]


def test_stages_follow_each_other(dags: dict[str, Any]) -> None:
    dag = dags["corpus_release__sample"]
    for before, after in itertools.pairwise(STAGE_NAMES):
        first = dag.get_task(f"{after}.plan" if find_planning_stage(after) == after else f"{after}.work")
        assert f"{before}.quality" in first.upstream_task_ids, f"{after} starts before {before} has passed its checks"


def test_shards_are_known_after_the_stage_that_fixes_them(lake: Lake) -> None:
    run = Run(load_spec(SPECS[0]), datetime(2023, 2, 1, tzinfo=UTC), lake, Path("/tmp"))
    for table, facts in ((PDFS, {"pdf_shards": 3}), (MEMBERS, {"paper_shards": 5})):
        run.table(table).write(0, [])
        run.table(table).commit([0], facts)
    assert {
        name: runner.count_later_shards(run, find_planning_stage(name))
        for name in STAGE_NAMES
        if find_planning_stage(name) != name
    } == {
        **dict.fromkeys(("select", "postprocess"), 3),
        **dict.fromkeys(("vote", "assemble", "filter", "link", "clean", "export"), 5),
    }


def test_publish_follows_every_check_and_the_approval(dags: dict[str, Any]) -> None:
    assert dags["corpus_release__sample"].get_task("publish").upstream_task_ids == {"export.quality"}
    assert dags["corpus_release__s2_v2"].get_task("publish").upstream_task_ids == {"approve"}
    assert dags["corpus_release__s2_v2"].get_task("approve").upstream_task_ids == {"export.quality"}


def test_every_task_has_a_timeout(tmp_path: Path) -> None:
    (tmp_path / "other.yaml").write_text("name: other\nexport: {approval: true}\nresources: {task_hours: 3}\n")
    ask = (
        "import json, sys; sys.path.insert(0, 'plugins'); from airflow.dag_processing.dagbag import DagBag; bag = DagBag('dags'); print();"
        "print(json.dumps({f'{d.dag_id} {t.task_id}': t.execution_timeout and t.execution_timeout.total_seconds() / 3600"
        " for d in bag.dags.values() for t in d.tasks}))"
    )
    environment = os.environ | {"S2CORPUS_RELEASES": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", ask], capture_output=True, text=True, cwd=ROOT, env=environment, check=True
    )
    hours = json.loads(done.stdout.splitlines()[-1])
    assert {name.split()[0] for name in hours} == {
        "corpus_release__other",
        "pdf_drops",
        "example_consumer",
        "example_pubmed",
    }
    assert [name for name, given in hours.items() if not given] == []
    assert hours["corpus_release__other extract.work"] == hours["pdf_drops work"] == 3
    assert hours["corpus_release__other approve"] == 72 + 3, "a person has all the time there is for the answer"


def test_extract_waits_for_the_grobid_pool(dags: dict[str, Any]) -> None:
    task = dags["corpus_release__sample"].get_task("extract.work")
    assert (task.partial_kwargs["pool"], task.partial_kwargs["pool_slots"]) == (
        "grobid",
        load_spec(ROOT / "include/releases/sample.yaml").resources.in_flight,
    )


@pytest.mark.parametrize(
    ("error", "retried"),
    [
        ("s2corpus.errors:TransientError", True),
        ("builtins:ConnectionResetError", True),
        ("s2corpus.errors:UserError", False),
        ("s2corpus.errors:QualityBlocked", False),
        ("builtins:KeyError", False),
    ],
)
def test_only_transient_errors_are_retried(dags: dict[str, Any], error: str, retried: bool) -> None:
    import importlib

    from airflow.sdk import RetryAction

    module, name = error.split(":")
    raised = getattr(importlib.import_module(module), name)("x")
    policy = dags["corpus_release__sample"].get_task("vote.finish").retry_policy
    decision = policy.evaluate(raised, 1, 3)
    assert (decision.action == RetryAction.RETRY) is retried


def test_unavailable_api_server_is_waited_for(dags: dict[str, Any]) -> None:
    """Check that a task is retried if the API server is unavailable while PostgreSQL restarts.

    It then fails with Airflow's own error, regardless of the task's error.
    """
    from airflow.sdk import RetryAction
    from airflow.sdk.exceptions import AirflowRuntimeError, ErrorType
    from airflow.sdk.execution_time.comms import ErrorResponse

    raised = AirflowRuntimeError(ErrorResponse(error=ErrorType.API_SERVER_ERROR, detail={"status_code": 500}))
    policy = dags["corpus_release__sample"].get_task("vote.finish").retry_policy
    assert policy.evaluate(raised, 1, 3).action == RetryAction.RETRY


def test_dag_documentation_is_the_module_docstring(dags: dict[str, Any]) -> None:
    for dag in dags.values():
        assert "A corpus release" in dag.doc_md


def test_parsing_imports_no_large_library() -> None:
    """Check that the heavy libraries are not imported; no time is asserted."""
    code = (
        "import sys; sys.path[:0] = ['dags', 'plugins']; import airflow.sdk; before = set(sys.modules); import corpus_release;"
        "print(*sorted({'pyarrow', 'duckdb', 'numba', 'pandas', 'lxml', 'boto3'} & (set(sys.modules) - before)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout.splitlines()[-1].split() == []  # A provider may print warnings first.


def told(argument: str, code: str, **environ: str) -> list[str]:
    """Return the last line, as words, that a process prints after importing Airflow's local settings.

    The process has the given argument, as Airflow would start it.
    """
    begin = f"import sys; sys.argv = ['airflow', {argument!r}]; sys.path[:0] = ['dags', 'plugins', 'include'];"
    code = f"{begin} import airflow_local_settings; {code}"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT, env=os.environ | environ
    )
    return done.stdout.splitlines()[-1].split()


def test_forking_process_has_the_imports_of_its_tasks() -> None:
    code = (
        "before = set(sys.modules); import corpus_release; from s2corpus.pipeline import stages, runner;"
        "[stages.load_stage(name) for name in stages.STAGE_NAMES];"
        "print('-', *(name for name in set(sys.modules) - before if name.split('.')[0] in ('s2corpus', 'boto3', 'numba', 'pyarrow')))"
    )
    assert told("scheduler", code) == ["-"]


def test_other_process_lacks_the_imports_of_tasks() -> None:
    code = "print('-', *({'numba', 'boto3', 's2corpus.pipeline.runner'} & set(sys.modules)))"
    assert told("api-server", code) == ["-"]


def test_mistyped_aws_profile_is_reported_by_tasks() -> None:
    assert told("scheduler", "print('lives')", AWS_PROFILE="mistyped") == ["lives"]


WRONG_SPECS = {
    "unknown": ("name: unknown\nschedul: {}\n", "schedul: unknown field"),
    "no_date": (
        "name: no_date\nschedule: {start_date: 2023-02-30}\n",
        "not readable as YAML: day is out of range for month",
    ),
    "bad_date": ("name: bad_date\nschedule: {start_date: '2023-02-30'}\n", "schedule.start_date: '2023-02-30' given"),
    "bad_cron": (
        "name: bad_cron\nschedule: {cron: 0 0 32 * *}\n",
        "schedule.cron: '0 0 32 * *' given; a cron expression was",
    ),
    "renamed": ("name: sample\n", "name: 'sample' given; expected the name of the file: 'renamed'"),
    "cut": ("name: [", "not readable as YAML"),
}


def test_wrong_spec_is_shown_and_stops_no_other_dag(tmp_path: Path) -> None:
    (tmp_path / "sample.yaml").write_bytes((ROOT / "include/releases/sample.yaml").read_bytes())
    for name, (content, _) in WRONG_SPECS.items():
        (tmp_path / f"{name}.yaml").write_text(content, "utf-8")
    ask = (
        "import json, sys; sys.path.insert(0, 'plugins'); from airflow.dag_processing.dagbag import DagBag;"
        "bag = DagBag('dags'); print(); print(json.dumps([sorted(bag.dags), bag.import_errors]))"
    )
    environment = os.environ | {"S2CORPUS_RELEASES": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", ask], capture_output=True, text=True, cwd=ROOT, env=environment, check=True
    )
    dags, errors = json.loads(done.stdout.splitlines()[-1])
    assert {name for name in dags if name.startswith("corpus_release__")} == {"corpus_release__sample"}
    assert "pdf_drops" in dags, "drops go on"
    ((file, error),) = errors.items()
    assert file.endswith("spec_errors.py")
    for name, (_, said) in WRONG_SPECS.items():
        assert f"{name}.yaml: {said}" in error


@pytest.mark.parametrize(
    ("interval", "said"),
    [
        ((None, None), "no data interval"),
        (
            (datetime(2022, 12, 1, tzinfo=UTC), datetime(2023, 1, 1, tzinfo=UTC)),
            "before the spec's start date 2023-01-01",
        ),
        (
            (datetime(2023, 3, 1, tzinfo=UTC), datetime(2023, 4, 1, tzinfo=UTC)),
            "after the spec's end date 2023-02-28",
        ),
    ],
)
def test_run_outside_the_schedule_is_refused(
    dags: dict[str, Any], monkeypatch: pytest.MonkeyPatch, interval: tuple[object, object], said: str
) -> None:
    import corpus_release

    context = {"dag": dags["corpus_release__sample"], "params": {"drops": None}}
    context |= dict(zip(("data_interval_start", "data_interval_end"), interval, strict=True))
    monkeypatch.setattr(corpus_release, "get_current_context", lambda: context)
    with pytest.raises(UserError, match=said):
        corpus_release._run()


def test_consumer_waits_for_the_published_asset(dags: dict[str, Any]) -> None:
    import example_consumer

    announced = dags["corpus_release__sample"].get_task("publish").outlets
    assert announced[0] == example_consumer.SNAPSHOT


def test_approval_without_an_answer_is_rejected(dags: dict[str, Any]) -> None:
    approve = dags["corpus_release__s2_v2"].get_task("approve")
    hours = load_spec(ROOT / "include/releases/s2_v2.yaml").export.approval_hours
    assert (approve.defaults, approve.response_timeout) == (["Reject"], timedelta(hours=hours))
    assert not approve.fail_on_reject, "a rejection is an answer, not a failure"
    assert "null" in approve.params.get_param("note").schema["type"], "the answer needs no note"


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


def test_spec_decides_when_a_release_is_late(dags: dict[str, Any]) -> None:
    (deadline,) = dags["corpus_release__sample"].deadline
    hours = load_spec(ROOT / "include/releases/sample.yaml").schedule.late_after_hours
    assert (deadline.interval, deadline.callback.path) == (timedelta(hours=hours), "corpus_alerts.release_late")
    assert deadline.callback.kwargs == {"hours": hours}


def test_operators_may_add_a_folder_of_specs(tmp_path: Path) -> None:
    (tmp_path / "ours.yaml").write_text("name: ours\nexport: {approval: true}\n")
    code = (
        "import sys; sys.path[:0] = ['dags', 'plugins']; import corpus_release;"
        "print(*(name for name in vars(corpus_release) if name.startswith('corpus_release__')))"
    )
    environ = {**os.environ, "S2CORPUS_RELEASES": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT, env=environ
    )
    assert done.stdout.split()[-1:] == ["corpus_release__ours"]


def test_documented_metrics_exist_in_airflow() -> None:
    """Check that every metric of docs/monitoring.md is in Airflow's own registry."""
    import airflow._shared.observability.metrics as metrics

    registry = yaml.safe_load((Path(metrics.__file__).parent / "metrics_template.yaml").read_text("utf-8"))["metrics"]
    known = {re.sub(r"\{[^}]*\}", "*", str(name)) for each in registry for name in (each["name"], each["legacy_name"])}
    table = (ROOT / "docs" / "monitoring.md").read_text("utf-8").partition("| metric | watch |")[2].partition("\n\n")[0]
    named = re.findall(r"`([^`]+)`", "\n".join(line.split("|")[1] for line in table.splitlines()[2:]))
    assert len(named) > 10
    for name in named:
        general = re.sub(r"<[^>]*>|grobid|\bfailed$", "*", name)
        assert {name, general, re.sub(r"<[^>]*>", "*", name)} & known, name


def begun(dags: dict[str, Any], monkeypatch: pytest.MonkeyPatch, accept: dict[str, str], earlier: Any) -> Any:
    """Return what intake's `plan` returns in a run with this `accept` parameter, given an earlier run."""
    import corpus_release

    context = {
        "dag": dags["corpus_release__sample"],
        "params": {"drops": None, "accept": accept},
        "data_interval_start": datetime(2023, 1, 1, tzinfo=UTC),
        "data_interval_end": datetime(2023, 2, 1, tzinfo=UTC),
        "dag_run": SimpleNamespace(triggering_user_name="ann"),
        "ti": SimpleNamespace(
            get_previous_dagrun=lambda state: earlier if earlier and earlier.state == state else None
        ),
    }
    monkeypatch.setattr(corpus_release, "get_current_context", lambda: context)
    return corpus_release.begin.function()


def test_acceptances_of_a_run_are_stored_with_the_release(
    dags: dict[str, Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("S2CORPUS_LAKE", str(tmp_path))
    monkeypatch.delenv("S2CORPUS_CATALOG", raising=False)
    # A folder that matches the spec's pattern and is still being written.
    (tmp_path / "drops" / "2023-01-a").mkdir(parents=True)
    with pytest.raises(UserError, match=r"'link\.nothing' is not a check; expected <stage>\.<check>, one of link\."):
        begun(dags, monkeypatch, {"link.nothing": "a reason of some length"}, None)
    reasons = {"link.drift_of_linked_entries_block": "the source dblp ended"}
    assert begun(dags, monkeypatch, reasons, None).is_done
    (word,) = read_acceptances(open_lake(str(tmp_path)), "sample-20230201").values()
    assert (word.by, word.reason) == ("ann", "the source dblp ended")


def test_release_waits_for_an_earlier_one_of_its_spec(
    dags: dict[str, Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("S2CORPUS_LAKE", str(tmp_path))
    for state, kind in (("running", "scheduled"), ("running", "backfill"), ("queued", "backfill")):
        earlier = SimpleNamespace(run_id="x", state=state, run_type=kind)
        assert not begun(dags, monkeypatch, {}, earlier).is_done, "between two runs of a backfill none slips in"
    assert dags["corpus_release__sample"].get_task("intake.plan").mode == "reschedule", "waiting holds no worker"
    assert not list(tmp_path.iterdir())
    (tmp_path / "drops" / "2023-01-a").mkdir(parents=True)
    queued = SimpleNamespace(run_id="x", state="queued", run_type="scheduled")
    assert begun(dags, monkeypatch, {}, queued).is_done, "it waits for this one, since one runs at a time"


@pytest.mark.parametrize(
    ("index", "shards", "said"),
    [
        (-1, None, "extract (work) failed"),
        (3, [6, 7], "extract (work, shards 6–7) failed"),
        (3, [6], "extract (work, shard 6) failed"),
        (3, None, "extract (work, mapped task 3) failed"),
    ],
)
def test_alert_names_the_shards(
    dags: dict[str, Any], monkeypatch: pytest.MonkeyPatch, index: int, shards: list[int] | None, said: str
) -> None:
    import corpus_alerts

    monkeypatch.delenv("S2CORPUS_CATALOG", raising=False)
    dag, run = "corpus_release__sample", "scheduled__2023-02-01T00:00:00+00:00"
    ti = SimpleNamespace(dag_id=dag, run_id=run, task_id="extract.work", map_index=index, start_date=None)
    end = datetime(2023, 2, 1, tzinfo=UTC)
    alert = corpus_alerts._build_alert({"ti": ti, "data_interval_end": end, "exception": None, "shards": shards})
    assert alert is not None and alert.subject == f"sample-20230201: {said}"
    assert alert.error == "the task was killed, or its worker was lost"
    mapped = f"/mapped/{index}" if index >= 0 else ""
    assert alert.link.endswith(
        f"/dags/{dag}/runs/scheduled__2023-02-01T00%3A00%3A00%2B00%3A00/tasks/extract.work{mapped}"
    )


def test_alerts_name_the_release_of_noon(dags: dict[str, Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Check that a failing release as of noon alerts once, even if many shards fail, and does not affect the release of midnight."""
    import corpus_alerts

    url = f"sqlite:///{tmp_path}/catalog.db"
    monkeypatch.setenv("S2CORPUS_CATALOG", url)
    catalog = Catalog(url)
    catalog.migrate()
    midnight, noon = datetime(2023, 2, 1, tzinfo=UTC), datetime(2023, 2, 1, 12, tzinfo=UTC)
    published = ReleaseId.from_spec("sample", midnight)
    catalog.start_stage(published, "sample", midnight, "extract")
    catalog.set_release_state(published, ReleaseState.PUBLISHED, "sample-20230201-00000000")
    catalog.start_stage("sample-20230201T120000", "sample", noon, "extract")

    def fail(shard: int) -> Any:
        ti = SimpleNamespace(
            dag_id="corpus_release__sample", run_id="manual", task_id="extract.work", map_index=shard, start_date=None
        )
        return corpus_alerts._build_alert({"ti": ti, "data_interval_end": noon, "exception": None})

    alerts = [alert for shard in range(3) if (alert := fail(shard))]
    assert [alert.subject for alert in alerts] == ["sample-20230201T120000: extract (work, mapped task 0) failed"]
    release = catalog.release(published)
    assert release is not None and release.state == ReleaseState.PUBLISHED
    catalog.start_stage("sample-20230201T120000", "sample", noon, "extract")
    assert fail(0), "a failure after the stage was started again is a new one"


def test_late_alert_names_the_release(dags: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    import corpus_alerts

    sent: list[str] = []
    monkeypatch.setattr(corpus_alerts, "_send", lambda alert, _: sent.append(alert.subject))
    run = {"dag_id": "corpus_release__own", "dag_run_id": "x", "data_interval_end": "2026-11-22T09:30:01+00:00"}
    asyncio.run(corpus_alerts.release_late(24, {"dag_run": run}))
    assert sent == ["own-20261122T093001: late"]


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
    dags: dict[str, Any], spec: str, first: str, last: str, releases: list[str]
) -> None:
    """Check backfills by interval.

    `end_date` is the start of the last interval; Airflow rejects a backfill without intervals with a message.
    """
    assert timetable(dags[f"corpus_release__{spec}"])(first, last) == releases


@pytest.mark.parametrize(("last", "starts_a_run"), [(None, True), (date(2023, 6, 1), False)])
def test_unpausing_after_end_date_starts_no_run(dags: dict[str, Any], last: date | None, starts_a_run: bool) -> None:
    """Check the way around in the runbook: with a past `end_date`, unpausing does not start the last finished interval."""
    from airflow.timetables.base import TimeRestriction
    from release_timetable import ReleaseTimetable

    found = ReleaseTimetable("0 0 1 * *", date(2023, 1, 1), last).next_dagrun_info(
        last_automated_data_interval=None, restriction=TimeRestriction(None, None, catchup=False)
    )
    assert (found is not None) is starts_a_run


def timetable(dag: object) -> Callable[[str, str], list[str]]:
    """Return a function that lists the ends of a backfill's intervals as the scheduler does, from the serialized DAG."""
    import release_timetable
    from airflow import plugins_manager
    from airflow.serialization.serialized_objects import DagSerialization

    classes = {"release_timetable.ReleaseTimetable": release_timetable.ReleaseTimetable}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plugins_manager, "get_timetables_plugins", lambda: classes)
        serialized = DagSerialization.from_dict(DagSerialization.to_dict(dag))

    def intervals(first: str, last: str) -> list[str]:
        bounds = (datetime.fromisoformat(f"{day}T00:00:00+00:00") for day in (first, last))
        found = [info.data_interval for info in serialized.iter_dagrun_infos_between(*bounds)]
        return [f"{interval.end:%Y-%m-%d}" for interval in found if interval is not None]

    return intervals


def test_form_explains_parameters_and_requires_none(dags: dict[str, Any]) -> None:
    params = dags["corpus_release__sample"].params
    for name in params:
        param = params.get_param(name)
        assert param.value is None and "null" in param.schema["type"], "the form asks for no value"
        assert len(param.schema["description_md"]) > 100, name
    assert "release of February" in params.get_param("drops").schema["description_md"]
