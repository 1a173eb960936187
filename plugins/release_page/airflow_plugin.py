"""Register the page as an Airflow plugin: mounted in the API server, shown in Airflow's frame.

Every Airflow process loads all plugins, including each task's process. This file therefore imports nothing slow.
"""

from __future__ import annotations

from typing import Any

from airflow.plugins_manager import AirflowPlugin

PREFIX = "/corpus-releases"


async def page(scope: Any, receive: Any, send: Any) -> None:
    """Run the page's app (ASGI), which is imported at the first request."""
    from release_page.in_airflow import app

    await app(scope, receive, send)


class ReleasePage(AirflowPlugin):
    """Corpus releases."""

    name = "corpus_releases"
    fastapi_apps = [{"name": "Corpus releases", "app": page, "url_prefix": PREFIX}]  # noqa: RUF012 (Airflow reads a list)
    external_views = [  # noqa: RUF012
        {
            "name": "Corpus releases",
            "href": f"{PREFIX.lstrip('/')}/",
            "destination": "nav",
            "category": "browse",
            "url_route": "corpus-releases",
        }
    ]
