"""The page as an Airflow plugin: mounted in the API server, shown in Airflow's frame, authorised by Airflow.

Airflow mounts a plugin's app without authentication: each route asks `requires_access_dag`.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache

from airflow.api_fastapi.app import get_auth_manager
from airflow.api_fastapi.auth.managers.models.resource_details import DagDetails
from airflow.api_fastapi.core_api.security import GetUserDep, requires_access_dag
from airflow.plugins_manager import AirflowPlugin

from release_page.app import build
from release_page.releases import Archive
from s2corpus.catalog import Catalog
from s2corpus.errors import UserError
from s2corpus.lake import Lake, open_lake

PREFIX = "/corpus-releases"


@cache
def _catalog() -> Catalog | None:
    return Catalog.from_environment()


@cache
def _lake(uri: str) -> Lake:
    return open_lake(uri)


def _archive() -> Archive:
    uri = os.environ.get("S2CORPUS_LAKE")
    if not uri:
        raise UserError("no lake given: set S2CORPUS_LAKE for Airflow's API server")
    return Archive(_lake(uri), _catalog())


def _visible(user: GetUserDep) -> Callable[[str], bool]:
    """The DAGs that the user may see."""
    return lambda dag_id: get_auth_manager().is_authorized_dag(method="GET", details=DagDetails(id=dag_id), user=user)


class ReleasePage(AirflowPlugin):
    """Corpus releases."""

    name = "corpus_releases"
    fastapi_apps = [  # noqa: RUF012 (Airflow reads a plain list)
        {
            "name": "Corpus releases",
            "app": build(
                _archive,
                anyone=requires_access_dag("GET"),
                reader=requires_access_dag("GET"),
                visible=_visible,
            ),
            "url_prefix": PREFIX,
        }
    ]
    external_views = [  # noqa: RUF012
        {
            "name": "Corpus releases",
            "href": f"{PREFIX.lstrip('/')}/",
            "destination": "nav",
            "category": "browse",
            "url_route": "corpus-releases",
        }
    ]
