"""
### A corpus release

Builds a snapshot as the S2ORC paper describes, from the PDFs and metadata that were ready before the end of the data interval:
select PDFs → extract (GROBID pool) → postprocess → cluster and vote canonical metadata → assemble → filter → link
bibliographies → clean → split by publication date → export as S2 V2 gzipped JSONL.

- **One DAG for each** `include/releases/<name>.yaml` (or each spec in the folder `S2CORPUS_RELEASES`). The file contains all settings
  of the release.
- **Each stage** is a task group `plan → work (mapped over shards) → quality`. `quality` commits the tables of a stage, then checks
  them. The next stage starts after it has passed. A stage that uses the shards of an earlier stage has no `plan`. Some stages have
  more steps before `quality`. If one task can process all their shards, `work` does so, and Airflow skips them:

  | stage | steps |
  |---|---|
  | intake | `wait_for_drops`, if the spec expects drops; `regroup → gather` (mapped over buckets of records) |
  | assemble | `gather → gather_2` (mapped over buckets of papers) |
  | vote, link, export | `gather` (mapped over buckets of papers) |

- **As of** the end of the data interval: the run of January uses data that was ready before February 1, regardless of when it runs.
  Backfill past intervals in the UI, on the command line or by REST. A release waits for running earlier releases of its spec, because
  the newest published release is its parent. Intervals outside the spec's start and end dates are refused.
- **Triggered by hand**, the DAG builds the release of the last completed interval, or of the given interval. To build the release of
  an interval again, clear its run or backfill it.
- **Retries**: only transient errors (an unavailable server, a lost connection) are retried. A wrong input, a blocking check or a bug
  fails immediately, with a message that contains the next step. Clearing a stage repeats it and all later stages. Finished extractions
  are never repeated.
- **The pointer** `snapshots/<spec>/latest.json` moves last: after every check passed and, if the spec requires approval, a person
  approved. The person who started the run or delivered its new files may reject it, but another person must approve it.
  After a rejection or a timeout the snapshot remains unpublished. Clear `approve` to request an answer again. A snapshot that is
  already published needs no new approval, because its bytes are the same.
- **Overriding a check** that warns, or blocks and may be overridden, requires a written reason: `corpus accept`, or the parameter
  `accept`.
"""

from __future__ import annotations

import ast
import os
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

from airflow.sdk import (  # type: ignore[attr-defined]  # its stub lacks AsyncCallback and DeadlineAlert
    DAG,
    Asset,
    AssetAlias,
    AsyncCallback,
    DeadlineAlert,
    PokeReturnValue,
    get_current_context,
    get_parsing_context,
    task,
    task_group,
)
from airflow.sdk.exceptions import AirflowSkipException, DownstreamTasksSkipped
from s2corpus_airflow import alerts, events, lineage, release_runs, running_specs
from s2corpus_airflow.approval import Approve, describe_approval
from s2corpus_airflow.expected_drops import WaitForDrops
from s2corpus_airflow.release_parameters import describe_parameters
from s2corpus_airflow.task_defaults import DEFAULT_ARGS, check_pools, set_label
from s2corpus_airflow.timetable import ReleaseTimetable

import s2corpus.stages
from s2corpus.ids import RELEASE_DAG
from s2corpus.pipeline.stage_rows import Shards
from s2corpus.pipeline.stages import STAGE_NAMES, find_planning_stage, stage_row
from s2corpus.spec import ReleaseSpec
from s2corpus.spec_files import read_specs, releases_folder

DROPS_SECONDS = float(os.environ.get("S2CORPUS_DROPS_SECONDS", "30"))


@task.sensor(mode="reschedule", poke_interval=20)
def begin() -> PokeReturnValue:
    """Wait until no earlier release of the spec is running, because its snapshot becomes the parent.

    Then write the record of the run, which all later tasks read, and return the shards of intake.
    """
    from s2corpus.pipeline import runner

    context = get_current_context()
    check_pools(context.get("dag_run"))
    for state in ("running", "queued"):
        earlier = context["ti"].get_previous_dagrun(state=state)
        # A queued backfill run starts soon, because backfills have separate run limits. Other queued runs may wait for this run to end.
        if earlier and (state == "running" or earlier.run_type == "backfill"):
            print(f"waiting for {earlier.run_id}, which builds an earlier release; its snapshot will be the parent")
            return PokeReturnValue(is_done=False)
    run = release_runs.seal(context)
    running_specs.keep(run.spec)
    runner.accept(run, context["params"]["accept"] or {}, release_runs.get_starter(context) or "unknown")
    return PokeReturnValue(is_done=True, xcom_value=runner.batch_shards(run, "intake", runner.plan(run, "intake")))


@task
def plan(stage: str, number: int = 0) -> list[list[int]]:
    """List the shards of a round, as batches of their numbers."""
    from s2corpus.pipeline import runner

    run = release_runs.open_current(get_current_context())
    return runner.batch_shards(run, stage, runner.plan(run, stage, number), number)


@task(map_index_template="{{ shards[0] }}{% if shards | length > 1 %}–{{ shards[-1] }}{% endif %}")
def work(stage: str, shards: list[int], number: int = 0) -> None:
    """Process these shards of a round. If the later rounds are small too, process them here and skip their tasks."""
    from s2corpus.pipeline import runner

    set_label("shards", shards)
    run = release_runs.open_current(get_current_context())
    runner.work(run, stage, shards, number)
    if number == 0 and runner.work_inline(run, stage, shards):
        skipped = [(f"{stage}.{step}", index) for step in ("regroup", "gather", "gather_2") for index in (-1, 0)]
        raise DownstreamTasksSkipped(tasks=skipped)  # type: ignore[no-untyped-call]  # Airflow gives it no types


@task(trigger_rule="none_failed")  # rounds that `work` processed itself are skipped
def quality(stage: str, *, outlet_events: Any = None) -> list[list[int]]:
    """Commit the stage's tables and metrics, then run its checks: the release continues or stops here.

    Add an asset event for each table, and return the shards of later stages.
    """
    from s2corpus.pipeline import runner

    context = get_current_context()
    run, current = release_runs.open_current(context), context["task"]
    lineage.attach_lineage(current, run, stage)
    runner.finish(run, stage)
    for outlet, facts in zip(current.outlets, lineage.list_outputs(run, stage), strict=True):
        outlet_events[outlet].extra = facts
        outlet_events[outlet].add_partitions(f"{run.as_of:%Y-%m-%dT%H:%M:%SZ}")
    runner.check(run, stage)
    return runner.batch_later_shards(run, stage)


@task
def publish(*, inlet_events: Any = None, outlet_events: Any = None) -> str:
    """Move the pointer to the snapshot, send the events, and print the summary. Skipped if there is nothing to announce.

    The record of the run, the verdicts and the approval are read from the lake: states of tasks and XComs do not count.
    """
    from s2corpus.pipeline import publication, sealed
    from s2corpus.pipeline.summary import format_summary

    run = release_runs.open_current(get_current_context())
    if sealed.read_record(run.lake, run.release_id).is_trial:
        publication.record_unpublished(run)
        print(format_summary(run))
        raise AirflowSkipException(
            f"this trial used chosen drops and is not published. To publish it: corpus publish {run.snapshot_id} --reason …"
        )
    latest = publication.publish(run)
    print(format_summary(run))
    alias, by_as_of = get_current_context()["task"].outlets
    snapshot = get_current_context()["task"].inlets[0]
    content = events.describe_publication(run, latest.sequence)
    is_latest = latest.snapshot == run.snapshot_id
    if is_latest and not events.was_sent(inlet_events[snapshot], sequence=latest.sequence):
        outlet_events[alias].add(snapshot, extra=content)
    elif events.was_sent(inlet_events[by_as_of], snapshot=content["snapshot"]):
        raise AirflowSkipException(f"{run.snapshot_id} was announced before: no event is sent")
    outlet_events[by_as_of].extra = content
    outlet_events[by_as_of].add_partitions(f"{run.as_of:%Y-%m-%dT%H:%M:%SZ}")
    return str(run.snapshot_id)


_DOC = "If it fails, see `docs/runbook.md#{0}`."


@cache
def _documentation(stage: str) -> str:
    """Return the docstring of the stage's module (read, not imported) with a link to its section of the runbook."""
    folder = Path(s2corpus.stages.__file__).parent
    path = next(p for p in (folder / f"{stage}.py", folder / stage / "__init__.py") if p.exists())
    docstring = ast.get_docstring(ast.parse(path.read_text("utf-8"))) or ""
    return f"{docstring}\n\n{_DOC.format(f'stage-{stage}')}"


def release_dag(spec: ReleaseSpec) -> DAG:
    """Return the DAG of a spec."""
    schedule = spec.schedule
    with DAG(
        f"{RELEASE_DAG}{spec.name}",
        dag_display_name=f"Corpus release: {spec.name}",  # Airflow sorts the list by this name: releases are first
        description=spec.description,
        doc_md=__doc__,
        schedule=ReleaseTimetable(schedule.interval, schedule.start_date, schedule.end_date)
        if schedule.interval
        else None,
        # Timetable and `intake.plan` check the spec's dates. With these, Airflow would start no task in a run outside them, and mark it
        # as a success.
        start_date=datetime(1970, 1, 1, tzinfo=UTC),
        catchup=schedule.catchup,
        max_active_runs=1,
        deadline=DeadlineAlert(
            alerts.RunCreated(),
            timedelta(hours=schedule.late_after_hours),
            AsyncCallback(alerts.release_late, {"hours": schedule.late_after_hours}),
        ),
        tags=["corpus release"],
        params=describe_parameters(),
        default_args={
            **DEFAULT_ARGS,
            "owner": "corpus releases",
            "execution_timeout": timedelta(hours=spec.resources.task_hours),
        },
    ) as dag:
        before: Any = None
        shards: dict[str, Any] = {}
        for stage in STAGE_NAMES:
            before = _stage(spec, stage, shards, before)
        snapshot, by_as_of = Asset(f"corpus_snapshot__{spec.name}"), Asset(f"corpus_snapshot_as_of__{spec.name}")
        last = publish.override(
            # An event with a partition key triggers only partitioned DAGs, an event without one only unpartitioned DAGs.
            # Airflow sends the event of an asset whenever the task succeeds, and the event of an alias only if the task adds it.
            inlets=[snapshot, by_as_of],
            outlets=[AssetAlias(f"corpus_snapshot__{spec.name}"), by_as_of],
            retries=5,
            doc_md=_DOC.format("publish"),
        )
        if spec.export.needs_approval:
            approval = Approve(**describe_approval(spec), doc_md=_DOC.format("approve"))
            before >> approval >> last()
        else:
            before >> last()
    return dag


def _pod(stage: str) -> dict[str, Any]:
    """Return the stage's pod template for the KubernetesExecutor, if S2CORPUS_POD_TEMPLATES contains one (deploy/kubernetes/pods)."""
    path = Path(os.environ.get("S2CORPUS_POD_TEMPLATES") or "-", f"{stage}.yaml")
    return {"executor_config": {"pod_template_file": str(path)}} if path.exists() else {}


def _wait_for_drops(spec: ReleaseSpec, doc_md: str | None) -> WaitForDrops:
    return WaitForDrops(
        task_id="wait_for_drops",
        spec=spec.name,
        seconds=DROPS_SECONDS,
        execution_timeout=timedelta(hours=spec.schedule.expects_hours + spec.resources.task_hours),
        doc_md=doc_md,
    )


def _stage(spec: ReleaseSpec, stage: str, shards: dict[str, Any], before: Any) -> Any:
    """Add the task group of a stage after the previous stage; return its last task."""
    doc_md = None if _parsed_dag_id else _documentation(stage)  # Task processes do not need the documentation.

    @task_group(group_id=stage)
    def group() -> Any:
        row, is_planned = stage_row(stage), stage_row(stage).shards is Shards.PLANNED
        pool = {"pool": "grobid", "pool_slots": spec.resources.in_flight} if stage == "extract" else {}
        first = work.override(doc_md=doc_md, **pool, **_pod(stage))
        planned: Any = shards.get(find_planning_stage(stage))
        if row.shards is Shards.ONE or row.meets_first:
            done: Any = first(stage=stage, shards=[0])
        else:
            if before is None:
                planned = begin.override(task_id="plan", doc_md=doc_md)()
                if spec.schedule.expects:
                    _wait_for_drops(spec, doc_md) >> planned
            elif is_planned:
                planned = plan.override(task_id="plan", doc_md=doc_md)(stage)
                before >> planned
            done = first.partial(stage=stage).expand(shards=planned)
        if before is not None:
            before >> done
        for number in range(1, row.rounds):
            if is_planned:
                regrouped = plan.override(task_id="regroup", doc_md=doc_md)(stage, number)
                [planned, done] >> regrouped
                planned = regrouped
            task_id = f"gather_{number}" if number > 1 else "gather"
            gathering = work.override(task_id=task_id, doc_md=doc_md, **_pod(stage)).partial(stage=stage, number=number)
            gathered = gathering.expand(shards=planned)
            done >> gathered
            done = gathered
        inlets, outlets = (
            [Asset(f"corpus_{name}__{spec.name}") for name in names] for names in (row.reads, row.writes)
        )
        checked = quality.override(doc_md=doc_md, inlets=inlets, outlets=outlets)(stage)
        # Without the first edge, `quality` would start too early if a changed DAG removed all mapped tasks.
        [planned if is_planned else before, done] >> checked
        shards[stage] = checked
        return checked

    return group()


# A task's process builds only its own DAG. It needs the complete DAG: Airflow stores the length of a returned list only if it
# finds the mapped task that uses the list.
_parsed_dag_id = get_parsing_context().dag_id
_specs = read_specs(releases_folder())[0]  # spec_errors.py reports invalid specs
_needed = _parsed_dag_id and _parsed_dag_id.removeprefix(RELEASE_DAG)
for _spec in (*_specs, *running_specs.list_removed({_spec.name for _spec in _specs}, _needed)):
    if _needed in (None, _spec.name):
        _dag = release_dag(_spec)
        globals()[_dag.dag_id] = _dag
