"""
### A corpus release

Builds a snapshot as the S2ORC paper describes, from the PDFs and metadata that were ready before the end of the data interval:
select PDFs → extract (GROBID pool) → postprocess → cluster and vote canonical metadata → assemble → filter → link
bibliographies → clean → split by publication date → export as S2 V2 gzipped JSONL.

- **One DAG for each** `include/releases/<name>.yaml` (or each spec in the folder `S2CORPUS_RELEASES`). The file contains all settings
  of the release.
- **Each stage** is a task group `plan → work (mapped over shards) → finish → quality`. `finish` commits the tables of a stage. The
  next stage starts after `quality` has passed. A stage that uses the shards of an earlier stage has no `plan`. Some stages have
  more steps before `finish`:

  | stage | steps |
  |---|---|
  | intake | `regroup → gather` (mapped over buckets of records) |
  | vote, assemble, link | `gather → gather_2` (mapped over buckets of papers) |
  | export | `gather` |

- **As of** the end of the data interval: the run of January uses data that was ready before February 1, regardless of when it runs.
  Backfill past intervals in the UI, on the command line or by REST. A release waits for running earlier releases of its spec, because
  the newest published release is its parent. Intervals outside the spec's start and end dates are refused.
- **Triggered by hand**, the DAG builds the release of the last completed interval, or of the given interval. If the logical date is
  outside the spec's start and end dates, Airflow creates a run without tasks and marks it as a success. To build the release of an
  interval again, clear its run or backfill it.
- **Retries**: only transient errors (an unavailable server, a lost connection) are retried. A wrong input, a blocking check or a bug
  fails at once, with a message that contains the next step. Clearing a stage repeats it and all later stages. Finished extractions
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
from datetime import UTC, datetime, time, timedelta
from functools import cache
from pathlib import Path
from typing import Any

import corpus_alerts
import corpus_lineage
from airflow.providers.standard.operators.hitl import ApprovalOperator
from airflow.sdk import (  # type: ignore[attr-defined]  # its stub lacks AsyncCallback and DeadlineAlert
    DAG,
    Asset,
    AssetAlias,
    AsyncCallback,
    DeadlineAlert,
    Param,
    PokeReturnValue,
    get_current_context,
    get_parsing_context,
    task,
    task_group,
)
from release_timetable import ReleaseTimetable
from task_defaults import DEFAULT_ARGS, divide, set_label

import s2corpus.stages
from s2corpus.errors import UserError
from s2corpus.ids import RELEASE_DAG
from s2corpus.pipeline.stages import STAGE_NAMES, Shards, find_planning_stage, stage_row
from s2corpus.rules import MIN_REASON
from s2corpus.spec import ReleaseSpec, load_spec, read_specs, releases_folder

RELEASES = releases_folder()


def _run() -> Any:
    """Return the pipeline run of the current task, from its data interval."""
    from s2corpus.pipeline.run import Run

    context = get_current_context()
    spec = load_spec(RELEASES / f"{context['dag'].dag_id.removeprefix(RELEASE_DAG)}.yaml")
    start, end = context.get("data_interval_start"), context.get("data_interval_end")
    if start is None or end is None:
        raise UserError("this run has no data interval: trigger it with one, or backfill the interval")
    if start < _midnight(spec.schedule.start_date):
        raise UserError(
            f"the interval from {start} begins before the spec's start date {spec.schedule.start_date}: refused. "
            "Choose a later interval, or change schedule.start_date in the spec"
        )
    if spec.schedule.end_date and start.date() > spec.schedule.end_date:
        raise UserError(
            f"the interval from {start} begins after the spec's end date {spec.schedule.end_date}: refused. "
            "Choose an earlier interval, or change schedule.end_date in the spec"
        )
    if drops := context["params"]["drops"]:
        spec = spec.model_copy(update={"drops": tuple(drops)})
    return Run.open(spec, end)


@task.sensor(mode="reschedule", poke_interval=20)
def begin() -> PokeReturnValue:
    """Wait until no earlier release of the spec is running, because its snapshot becomes the parent; then return the shards of intake."""
    from s2corpus.pipeline import runner

    run, context = _run(), get_current_context()
    for state in ("running", "queued"):
        earlier = context["ti"].get_previous_dagrun(state=state)
        # A queued backfill run starts soon, because backfills have separate run limits. Other queued runs may wait for this run to end.
        if earlier and (state == "running" or earlier.run_type == "backfill"):
            print(f"waiting for {earlier.run_id}, which builds an earlier release; its snapshot will be the parent")
            return PokeReturnValue(is_done=False)
    runner.accept(run, context["params"]["accept"] or {}, _starter() or "unknown")
    return PokeReturnValue(is_done=True, xcom_value=divide(runner.plan(run, "intake"), run.spec.resources.max_tasks))


@task
def plan(stage: str, number: int = 0) -> list[list[int]]:
    """List the shards of a round, as batches of their numbers."""
    from s2corpus.pipeline import runner

    run = _run()
    return divide(runner.plan(run, stage, number), run.spec.resources.max_tasks)


@task(map_index_template="{{ shards[0] }}{% if shards | length > 1 %}–{{ shards[-1] }}{% endif %}")
def work(stage: str, shards: list[int], number: int = 0) -> None:
    """Process these shards of a round."""
    from s2corpus.pipeline import runner

    set_label("shards", shards)
    runner.work(_run(), stage, shards, number)


@task
def finish(stage: str, *, outlet_events: Any = None) -> list[list[int]]:
    """Commit the stage's tables and metrics, and add an asset event for each table; return the shards of later stages."""
    from s2corpus.pipeline import runner

    run = _run()
    corpus_lineage.attach_lineage(get_current_context()["task"], corpus_lineage.describe_tables, run, stage)
    runner.finish(run, stage)
    (alias,) = get_current_context()["task"].outlets
    for uri, facts in corpus_lineage.list_outputs(run, stage):
        outlet_events[alias].add(Asset(uri), extra=facts)
    return divide(list(range(runner.count_later_shards(run, stage))), run.spec.resources.max_tasks)


@task
def quality(stage: str) -> None:
    """Run the stage's checks: the release continues or stops here."""
    from s2corpus.pipeline import runner

    run = _run()
    corpus_lineage.attach_lineage(get_current_context()["task"], corpus_lineage.describe_verdicts, run, stage)
    runner.check(run, stage)


class Approve(ApprovalOperator):
    """Asks a person to approve the release and shows its summary. A timeout is a rejection."""

    def execute(self, context: Any) -> Any:
        """Request an approval unless the snapshot is already published."""
        from s2corpus.pipeline import runner

        run = _run()
        self.subject = f"Publish the release {run.release_id}?"
        self.body = runner.request_approval(run, _starter())
        return super().execute(context) if self.body else None

    def execute_complete(self, context: Any, event: dict[str, Any]) -> Any:
        """Record the answer and the person; a rejection skips `publish`."""
        from s2corpus.catalog.models import ReleaseDecision
        from s2corpus.pipeline import runner
        from s2corpus.pipeline.acceptance import AnotherPerson

        run, user = _run(), event.get("responded_by_user") or {}
        answer = ReleaseDecision.APPROVED if self.APPROVE in event["chosen_options"] else ReleaseDecision.REJECTED
        if event.get("timedout"):
            answer = ReleaseDecision.TIMED_OUT
            error = "the approval request timed out without an answer"
            corpus_alerts.send_alert(f"{run.release_id}: not published", error, "approve", context)
        note = str((event.get("params_input") or {}).get("note") or "")
        try:
            runner.record_answer(run, answer, _name(user), note, event["responded_at"], _starter())
        except AnotherPerson as objection:  # the next try requests approval again; Airflow shows the original request
            corpus_alerts.send_alert(f"{run.release_id}: approval refused", str(objection), "approve", context)
            raise
        return super().execute_complete(context, event)


@task
def publish(approval: Any = None, *, outlet_events: Any = None) -> str:
    """Move the pointer to the snapshot, add the asset events, and print the summary."""
    from s2corpus.pipeline import runner
    from s2corpus.pipeline.summary import format_summary

    run, approval_record = _run(), None
    if approval:
        at = approval["responded_at"]
        approval_record = {
            "by": _name(approval.get("responded_by_user") or {}),
            "at": at if isinstance(at, str) else at.isoformat(timespec="seconds"),
            "note": str((approval.get("params_input") or {}).get("note") or ""),
        }
    manifest = runner.publish(run, approval_record)
    snapshot, by_as_of = get_current_context()["task"].outlets
    for outlet in (snapshot, by_as_of):
        outlet_events[outlet].extra = {
            "release": str(run.release_id),
            "snapshot": str(run.snapshot_id),
            "manifest": manifest,
        }
    outlet_events[by_as_of].add_partitions(f"{run.as_of:%Y-%m-%dT%H:%M:%SZ}")
    print(format_summary(run))
    return str(run.snapshot_id)


_DOC = "If it fails, see `docs/runbook.md#{0}`."
# No code spans here: in the form's small type they would overlap other lines.
WHICH_RELEASE = (
    "**A single run builds** the release of the last completed interval before the logical date. A monthly spec that "
    "runs at 10:30 on March 15 builds the release of February: it contains data that was ready before March 1, 00:00 UTC. "
    "To build the releases of other intervals, choose *Backfill*."
)


def _midnight(day: Any) -> datetime:
    return datetime.combine(day, time(), UTC)


def _starter() -> str | None:
    """Return the user who started the current run or its backfill; None for a scheduled run."""
    return getattr(get_current_context()["dag_run"], "triggering_user_name", None)


def _name(user: Any) -> str:
    return str(user.get("name") or user.get("id") or "unknown")


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
        dag_display_name=f"Corpus release: {spec.name}",  # Airflow sorts the list by this name: releases come first
        description=spec.description,
        doc_md=__doc__,
        schedule=ReleaseTimetable(schedule.interval, schedule.start_date, schedule.end_date)
        if schedule.interval
        else None,
        start_date=_midnight(schedule.start_date),
        end_date=_midnight(schedule.end_date) if schedule.end_date else None,
        catchup=schedule.catchup,
        max_active_runs=1,
        deadline=DeadlineAlert(
            corpus_alerts.RunCreated(),
            timedelta(hours=schedule.late_after_hours),
            AsyncCallback(corpus_alerts.release_late, {"hours": schedule.late_after_hours}),
        ),
        tags=["corpus release"],
        params={
            "drops": Param(
                None,
                type=["null", "array"],
                items={"type": "string"},
                title="Drops to use instead of the spec's",
                # With `examples`, the form would offer only these values.
                description_md="Ids of drops, one per line. A pattern with \\* names several. Empty: the drops of the spec.\n\n"
                "*Examples:* 2023-01-\\*, publisher-a-2023-01-15\n\n" + WHICH_RELEASE,
            ),
            "accept": Param(
                None,
                type=["null", "object"],
                additionalProperties={"type": "string", "minLength": MIN_REASON},
                title="Checks to override",
                description_md="Overrides checks that may be overridden. JSON: the name of the check, then the reason that the "
                f"data card will show (at least {MIN_REASON} characters). Empty: no check is overridden.\n\n*Example:* "
                '{"link.drift_of_linked_entries_block": "The January drop contains no bibliographies, see ticket 12."}',
            ),
        },
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
        last = publish.override(
            # An event with a partition key triggers only partitioned DAGs, an event without one only unpartitioned DAGs.
            outlets=[Asset(f"corpus_snapshot__{spec.name}"), Asset(f"corpus_snapshot_as_of__{spec.name}")],
            retries=5,
            doc_md=_DOC.format("publish"),
        )
        if spec.export.approval:
            approval = Approve(
                task_id="approve",
                subject=f"Publish a release of {spec.name}?",  # `execute` inserts the id of the release
                # A value that may not be null would disable the buttons until it is filled in.
                params={"note": Param(None, type=["null", "string"], title="Note (optional), stored with the answer")},
                defaults=Approve.REJECT,
                response_timeout=timedelta(hours=spec.export.approval_hours),
                retries=50,  # a retry requests approval again after an answer from an excluded person
                retry_delay=timedelta(seconds=5),
                retry_exponential_backoff=False,
                execution_timeout=timedelta(hours=spec.export.approval_hours + spec.resources.task_hours),
                doc_md=_DOC.format("approve"),
            )
            before >> approval
            last(approval.output)
        else:
            before >> last()
    return dag


def _pod(stage: str) -> dict[str, Any]:
    """Return the stage's pod template for the KubernetesExecutor, if S2CORPUS_POD_TEMPLATES contains one (deploy/kubernetes/pods)."""
    path = Path(os.environ.get("S2CORPUS_POD_TEMPLATES") or "-", f"{stage}.yaml")
    return {"executor_config": {"pod_template_file": str(path)}} if path.exists() else {}


def _stage(spec: ReleaseSpec, stage: str, shards: dict[str, Any], before: Any) -> Any:
    """Add the task group of a stage after the previous stage; return its last task."""
    doc_md = None if _parsed_dag_id else _documentation(stage)  # Task processes do not need the documentation.

    @task_group(group_id=stage)
    def group() -> Any:
        row = stage_row(stage)
        if row.shards is not Shards.PLANNED:
            planned, first = shards[find_planning_stage(stage)], before
        elif before is None:
            planned = first = begin.override(task_id="plan", doc_md=doc_md)()
        else:
            planned = first = plan.override(task_id="plan", doc_md=doc_md)(stage)
            before >> planned
        pool = {"pool": "grobid", "pool_slots": spec.resources.in_flight} if stage == "extract" else {}
        done = work.override(doc_md=doc_md, **pool, **_pod(stage)).partial(stage=stage).expand(shards=planned)
        if before is not None:
            before >> done
        for number in range(1, row.rounds):
            task_id = f"gather_{number}" if number > 1 else "gather"
            gathering = work.override(task_id=task_id, doc_md=doc_md, **_pod(stage)).partial(stage=stage, number=number)
            if row.shards is not Shards.PLANNED:
                gathered = gathering.expand(shards=planned)
            else:
                buckets = plan.override(task_id="regroup", doc_md=doc_md)(stage, number)
                [done, first] >> buckets
                gathered, first = gathering.expand(shards=buckets), buckets
            done >> gathered
            done = gathered
        # each release adds its tables to these aliases
        tables = {name: AssetAlias(f"corpus_{name}__{spec.name}") for name in STAGE_NAMES}
        earlier = [tables[name] for name in STAGE_NAMES[: STAGE_NAMES.index(stage)]]
        shards[stage] = finish.override(doc_md=doc_md, inlets=earlier, outlets=[tables[stage]])(stage)
        checked = quality.override(doc_md=doc_md)(stage)
        first >> shards[stage]  # required if a changed DAG removes all mapped tasks: `finish` would start too early
        done >> shards[stage] >> checked
        return checked

    return group()


# A task's process builds only its own DAG. It needs the complete DAG: Airflow stores the length of a returned list only if it
# finds the mapped task that uses the list.
_parsed_dag_id = get_parsing_context().dag_id
for _spec in read_specs(RELEASES)[0]:  # spec_errors.py reports invalid specs
    if _parsed_dag_id in (None, f"{RELEASE_DAG}{_spec.name}"):
        _dag = release_dag(_spec)
        globals()[_dag.dag_id] = _dag
