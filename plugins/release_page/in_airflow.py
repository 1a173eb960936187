"""Connect the page to Airflow's permissions and runs. Only the API server imports it, at the page's first request.

Airflow mounts a plugin's app without authentication. Each route therefore depends on `requires_access_dag`.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from functools import cache
from typing import Annotated

from airflow.api_fastapi.app import get_auth_manager
from airflow.api_fastapi.auth.managers.models.resource_details import DagDetails
from airflow.api_fastapi.core_api.security import GetUserDep, requires_access_dag
from airflow.models.dag import DagModel as Dags
from airflow.models.dagrun import DagRun as Runs
from airflow.models.taskinstance import TaskInstance as Tasks
from airflow.utils.session import create_session
from fastapi import Depends
from sqlalchemy import select

from release_page.app import DROPS_DAG, build
from release_page.releases import Archive
from release_page.states import DagRun, FailedTask
from s2corpus.catalog import Catalog
from s2corpus.ids import RELEASE_DAG
from s2corpus.storage.lake import Lake, lake_uri, open_lake


@cache
def _catalog() -> Catalog | None:
    return Catalog.from_environment()


@cache
def _lake(uri: str) -> Lake:
    return open_lake(uri)


def _archive() -> Archive:
    return Archive(_lake(lake_uri()), _catalog(), _find_run, _drops_paused)


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


app = build(
    _archive,
    anyone=requires_access_dag("GET"),
    reader=requires_access_dag("GET"),
    visible=_visible,
    login=_login,
    marker=_marker,
)
