"""Connect the page to Airflow's permissions and runs. Only the API server imports it, at the page's first request.

Airflow mounts a plugin's app without authentication. Each route therefore depends on `requires_access_dag`.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import UTC, date, datetime
from functools import lru_cache, partial
from typing import Annotated

from airflow.api_fastapi.app import get_auth_manager
from airflow.api_fastapi.auth.managers.models.resource_details import DagAccessEntity, DagDetails
from airflow.api_fastapi.core_api.security import GetUserDep, requires_access_dag
from airflow.models.backfill import ReprocessBehavior, _create_backfill
from airflow.models.dag import DagModel as Dags
from airflow.models.dagrun import DagRun as Runs
from airflow.models.taskinstance import TaskInstance as Tasks
from airflow.utils.session import create_session
from fastapi import Depends
from sqlalchemy import select

from s2corpus.catalog import Catalog
from s2corpus.corpora.plans import Action, Plan, Values
from s2corpus.errors import UserError
from s2corpus.ids import RELEASE_DAG
from s2corpus.storage.lake import Lake, lake_uri, open_lake
from s2corpus_airflow.connections import apply_connections
from s2corpus_airflow.release_page import intervals
from s2corpus_airflow.release_page.actions import Editor
from s2corpus_airflow.release_page.app import DROPS_DAG, build
from s2corpus_airflow.release_page.releases import Archive
from s2corpus_airflow.release_page.states import DagRun, FailedTask


@lru_cache(maxsize=1)
def _open(settings: tuple[tuple[str, str], ...]) -> tuple[Lake, Catalog | None]:
    """Open lake and catalog; again if a setting changes, for example because keys rotate."""
    return open_lake(lake_uri()), Catalog.from_environment()


def _archive() -> Archive:
    apply_connections()
    names = (name for name in os.environ if name.startswith(("S2CORPUS_LAKE", "S2CORPUS_CATALOG", "S2CORPUS_S3_")))
    return Archive(*_open(tuple((name, os.environ[name]) for name in sorted(names))), _find_run, _drops_paused)


def _find_run(spec: str, as_of: datetime) -> DagRun | None:
    """Return the latest run of a spec's DAG with an interval that ends at an instant, with its first failed tasks, or None."""
    with create_session() as session:
        at = (Runs.dag_id == RELEASE_DAG + spec, Runs.data_interval_end == as_of)
        run = session.execute(select(Runs.run_id, Runs.state).where(*at).order_by(Runs.id.desc()).limit(1)).first()
        if run is None:
            return None
        failed = select(Tasks.task_id, Tasks.map_index).where(
            Tasks.dag_id == RELEASE_DAG + spec, Tasks.run_id == run.run_id, Tasks.state == "failed"
        )
        tasks = session.execute(failed.order_by(Tasks.end_date).limit(5)).all()
        return DagRun(run.run_id, str(getattr(run.state, "value", run.state)), [FailedTask(*task) for task in tasks])


def _drops_paused() -> bool:
    """Return whether the DAG that processes drops exists and is paused."""
    with create_session() as session:
        return bool(session.scalar(select(Dags.is_paused).where(Dags.dag_id == DROPS_DAG)))


def _login(back: str) -> str:
    """Return the URL of Airflow's login page, which redirects back to a path."""
    return get_auth_manager().get_url_login(next_url=back)


def _visible(user: GetUserDep) -> Callable[[str], bool]:
    """Return a function that returns whether the user may see a DAG."""
    return lambda dag_id: get_auth_manager().is_authorized_dag(method="GET", details=DagDetails(id=dag_id), user=user)


def _marker(user: GetUserDep, _: Annotated[None, Depends(requires_access_dag("PUT"))]) -> str:
    """Return the name of a user who may edit the DAG. The user's marks are stored under this name."""
    return user.get_name()


def _editor(user: GetUserDep) -> Editor:
    """Return the user, with the DAGs that they may edit, and those with approval requests that they may answer."""

    def may_edit(dag_id: str, entity: DagAccessEntity | None = None) -> bool:
        return get_auth_manager().is_authorized_dag(
            method="PUT", access_entity=entity, details=DagDetails(id=dag_id), user=user
        )

    return Editor(user.get_name(), may_edit, partial(may_edit, entity=DagAccessEntity.HITL_DETAIL))


def _plan_backfill(_: Lake, values: Values) -> Plan:
    """Plan the missing releases of a corpus, as the page of its intervals shows them."""
    try:
        first, last = (date.fromisoformat(values[name]) for name in ("first", "last"))
    except ValueError:
        raise UserError(f"{values['first']} and {values['last']} given: expected two days YYYY-MM-DD") from None
    found = intervals.overview(_archive(), values["corpus"], first, last)
    missing = [row for row in reversed(found["rows"]) if row.release is None and row.run_state is None]
    if not missing:
        raise UserError(
            f"no interval from {first} to {last} lacks a run: {' '.join(found['notes']) or 'nothing to build'}"
        )
    effects = tuple(f"The release of {row.start:%Y-%m-%d} to {row.end:%Y-%m-%d} is built." for row in missing)
    return Plan(
        (*effects, *found["notes"]), f"{len(missing)} releases, one after the other", frozenset({values["corpus"]})
    )


def _backfill(_: Lake, values: Values, who: str) -> str:
    """Create Airflow's backfill of the missing runs."""
    first, last = (datetime.fromisoformat(values[name]).replace(tzinfo=UTC) for name in ("first", "last"))
    made = _create_backfill(
        dag_id=RELEASE_DAG + values["corpus"], from_date=first, to_date=last, max_active_runs=1, reverse=False, dag_run_conf={},
        triggering_user_name=who, reprocess_behavior=ReprocessBehavior.NONE,
    )  # fmt: skip
    return f"backfill {made.id} of {values['corpus']} from {values['first']} to {values['last']} has begun"


_BACKFILL = Action(
    "backfill",
    "Build missing releases (backfill)",
    {"corpus": "Corpus", "first": "First day", "last": "Last day"},
    _plan_backfill,
    _backfill,
)
app = build(
    _archive,
    anyone=requires_access_dag("GET"),
    reader=requires_access_dag("GET"),
    visible=_visible,
    login=_login,
    marker=_marker,
    editor=_editor,
    others={_BACKFILL.name: _BACKFILL},
)
