"""
### New drops

Waits for drops (`drops/<id>/_READY`) and metadata deliveries (`sources/<source>/<id>/_READY`), and processes them on arrival.
Releases reuse the results: verification, selection, extraction and postprocessing are cached by content.

- **One event** of the asset `corpus_drops` for all arrivals of a poll, fired by the triggerer. Waiting occupies no worker. One run
  processes all arrivals that exist when it starts. Later arrivals wait for the next run. Events without content are ignored.
- **`plan → register → gather → work → settle`**: verify files against `_READY` and divide them into batches. Run select, extract (pool
  `grobid`, with lower priority than releases) and postprocess on each batch. Then record the outcome of each drop.
- **Refused**: a drop that differs from its `_READY` is refused. The log of `register`, `corpus drops` and an alert contain the reason.
  Other drops continue. A new `_READY` starts a new attempt.
- **A release**: processed drops start the releases of specs with `schedule.on_drop: true`, as of the second after the latest
  `ready_at`. Other specs wait for their interval.
- **Retries**: the next run also processes drops that a failed or killed run left open. A run that is triggered by hand lists the lake
  itself.

`docs/drops.md` describes the layout of a drop, every state, and the actions for each state.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from typing import Any

from airflow.providers.standard.operators.trigger_dagrun import TriggerDagRunOperator
from airflow.sdk import DAG, Asset, AssetWatcher, get_current_context, task
from s2corpus_airflow import alerts
from s2corpus_airflow.connections import apply_connections
from s2corpus_airflow.drop_watch import DropWatch
from s2corpus_airflow.task_defaults import DEFAULT_ARGS, check_pools, divide, set_label

from s2corpus.errors import UserError
from s2corpus.ids import RELEASE_DAG
from s2corpus.spec_files import read_specs, releases_folder

SECONDS = float(os.environ.get("S2CORPUS_DROPS_SECONDS", "30"))
ARRIVALS_PER_TASK = 50
"""Number of arrivals that one task registers."""
MAX_MAPPED_TASKS = 200
"""Maximum number of mapped tasks of a kind; more items result in larger batches."""
DROPS = Asset("corpus_drops", watchers=[AssetWatcher(name="corpus_drops", trigger=DropWatch(seconds=SECONDS))])
RESOURCES = [spec.resources for spec in read_specs(releases_folder())[0]]
IN_FLIGHT = max((resources.in_flight for resources in RESOURCES), default=1)
HOURS = max((resources.task_hours for resources in RESOURCES), default=24)


@task
def plan(*, triggering_asset_events: Any = None, dag_run: Any = None) -> list[list[dict[str, str]]]:
    """Return all arrivals that no run has finished, in batches. A run without events first lists the lake itself."""
    from s2corpus.deliveries.status import Watch
    from s2corpus.drops import processing

    check_pools(dag_run)
    lake = _lake()
    events = [event for events in (triggering_asset_events or {}).values() for event in events]
    if not events:
        Watch(lake).poll()
    elif not any(event.extra.get("payload") for event in events):
        print("the events have no content and are ignored; to process drops now, trigger the DAG")
        return []
    specs, errors = read_specs(releases_folder())
    arrivals = processing.list_pending(lake, specs if errors else None)
    print(f"{len(events)} events; {len(arrivals)} drops and deliveries to process")
    return divide([asdict(arrival) for arrival in arrivals], MAX_MAPPED_TASKS, ARRIVALS_PER_TASK)


@task(map_index_template="{{ label }}")
def register(arrivals: list[dict[str, str]]) -> list[dict[str, str]]:
    """Verify these arrivals against their `_READY`, and store their file lists."""
    from s2corpus.deliveries.status import REJECTED
    from s2corpus.drops import processing

    rows = processing.register_all(_lake(), _arrivals([arrivals]), _specs())
    refused = [f"{row.name}: {row.outcome}" for row in rows if row.state in REJECTED]
    set_label("label", f"{len(rows)} registered" + "".join(f", {each}" for each in refused[:3]))
    return [{"folder": row.folder, "mark": row.mark} for row in rows]


@task(trigger_rule="all_done")
def gather(registered: Iterable[list[dict[str, str]]]) -> list[list[str]]:
    """Divide the files of the registered drops into batches; return their ids, one list per task."""
    from s2corpus.drops import processing

    return divide(processing.gather(_lake(), _arrivals(registered), _specs()), MAX_MAPPED_TASKS)


@task(pool="grobid", pool_slots=IN_FLIGHT, priority_weight=1, weight_rule="absolute", map_index_template="{{ label }}")
def work(batches: list[str]) -> None:
    """Run select, extract and postprocess on these batches."""
    from s2corpus.drops.batches import process_batch, read_batch

    lake, specs, ti = _lake(), _specs(), get_current_context()["ti"]
    to_process = [read_batch(lake, id_, specs, None) for id_ in batches]
    drops = sorted({drop.removeprefix("drops/").rstrip("/") for batch in to_process for drop in batch.drops})
    set_label("label", ", ".join(drops[:3]) + (f" and {len(drops) - 3} more" if len(drops) > 3 else ""))
    for batch in to_process:
        process_batch(batch, last=ti.try_number > ti.max_tries)


@task(trigger_rule="all_done", multiple_outputs=False)
def settle(
    planned: list[list[dict[str, str]]] | None,
    registered: Iterable[list[dict[str, str]]],
    batches: list[list[str]] | None,
) -> dict[str, str]:
    """Record the outcome of each drop and delivery; fail if some are unfinished."""
    from s2corpus.deliveries.status import REJECTED, ArrivalState, read_statuses
    from s2corpus.drops import processing

    if planned is None or batches is None:
        raise UserError("`plan` or `gather` failed: see its log; the next run retries unfinished drops")
    lake, context = _lake(), get_current_context()
    rows = processing.settle(lake, _arrivals(registered), [id_ for ids in batches for id_ in ids], _specs())
    wrong = [row for row in rows if row.state in (*REJECTED, ArrivalState.UNFINISHED)]
    if wrong:
        subject = f"{len(wrong)} of {len(rows)} new drops and deliveries are refused or unfinished"
        alerts.send_alert(subject, "; ".join(str(row) for row in wrong[:5]), "drops", context)
    statuses = {row.folder: row for row in read_statuses(lake, _arrivals(planned))}
    unfinished = [row for row in statuses.values() if row.state in (ArrivalState.ANNOUNCED, ArrivalState.REGISTERED)]
    if unfinished:
        raise UserError(
            f"{len(unfinished)} of {len(statuses)} are unfinished, first {unfinished[0].name}: see the log of `register` or `work` "
            "and clear the failed task, or wait: the next run retries them"
        )
    return {row.folder: row.outcome for row in rows}


@task
def list_releases(planned: list[list[dict[str, str]]]) -> list[dict[str, str]]:
    """List the releases that these drops and deliveries start: only specs with `schedule.on_drop`."""
    from s2corpus.deliveries.status import read_statuses
    from s2corpus.drops import processing

    rows = read_statuses(_lake(), _arrivals(planned))
    return [
        {"trigger_dag_id": f"{RELEASE_DAG}{spec}", "logical_date": as_of.isoformat(), "run_after": as_of.isoformat()}
        for spec, as_of in processing.list_releases_to_start(rows, _specs(), datetime.now(UTC))
    ]


def _arrivals(batches: Iterable[list[dict[str, str]]] | None) -> list[Any]:
    from s2corpus.deliveries.status import Arrival

    return [Arrival(**arrival) for batch in batches or () for arrival in batch]


def _lake() -> Any:
    from s2corpus.storage.lake import lake_uri, open_lake

    apply_connections()
    return open_lake(lake_uri())


def _specs() -> Any:
    return read_specs(releases_folder())[0]


with DAG(
    "pdf_drops",
    dag_display_name="PDF drops",
    description="Drops and deliveries as they arrive",
    doc_md=__doc__,
    schedule=[DROPS],
    catchup=False,
    max_active_runs=1,
    tags=["corpus drops"],
    default_args={**DEFAULT_ARGS, "owner": "corpus drops", "execution_timeout": timedelta(hours=HOURS)},
):
    _planned = plan()
    _registered = register.expand(arrivals=_planned)
    _batch_ids = gather(_registered)  # type: ignore[arg-type]  # a task takes the XComArg of another task
    _processed = work.expand(batches=_batch_ids)
    _releases = list_releases(_planned)  # type: ignore[arg-type]  # the same
    _processed >> settle(_planned, _registered, _batch_ids) >> _releases  # type: ignore[arg-type]  # the same
    # The same drops start the same release, so a repeated run changes nothing.
    TriggerDagRunOperator.partial(
        task_id="start_release",
        skip_when_already_exists=True,
        map_index_template="{{ task.trigger_dag_id }}",
        doc_md="Start the releases of specs with `schedule.on_drop`.",
    ).expand_kwargs(_releases)
