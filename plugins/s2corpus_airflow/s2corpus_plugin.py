"""Register the timetable, the deadline, the check of pools and the page *Corpus releases* with Airflow.

Every Airflow process loads all plugins, including each task's process. This file therefore imports nothing slow.
"""

from __future__ import annotations

from typing import Any

from airflow.plugins_manager import AirflowPlugin

from s2corpus_airflow import run_listener
from s2corpus_airflow.alerts import RunCreated
from s2corpus_airflow.timetable import ReleaseTimetable

PREFIX = "/corpus-releases"


async def page(scope: Any, receive: Any, send: Any) -> None:
    """Run the page's app (ASGI), which is imported at the first request."""
    from s2corpus_airflow.release_page.in_airflow import app

    await app(scope, receive, send)


class S2CorpusPlugin(AirflowPlugin):
    """Everything that s2corpus adds to Airflow."""

    name = "s2corpus"
    listeners = [run_listener]  # noqa: RUF012
    timetables = [ReleaseTimetable]  # noqa: RUF012 (Airflow reads a list)
    deadline_references = [RunCreated]  # noqa: RUF012
    fastapi_apps = [{"name": "Corpus releases", "app": page, "url_prefix": PREFIX}]  # noqa: RUF012
    external_views = [  # noqa: RUF012
        {
            "name": "Corpus releases",
            "href": f"{PREFIX.lstrip('/')}/",
            "destination": "nav",
            "category": "browse",
            "url_route": "corpus-releases",
        }
    ]
