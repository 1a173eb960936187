"""Airflow's FAB auth manager, in which only users who may start runs can pause or unpause a DAG.

FAB lets a user answer an approval request only with the permission to edit DAGs. This permission includes unpausing, which starts the
latest release: an approver could start the release that they approve.
"""

from __future__ import annotations

from typing import Any

from airflow.api_fastapi.auth.managers.models.resource_details import DagAccessEntity
from airflow.providers.fab.auth_manager.fab_auth_manager import FabAuthManager


class CorpusAuthManager(FabAuthManager):
    """FAB's auth manager; editing a DAG itself also requires the permission to create DAG runs."""

    def is_authorized_dag(self, *, method: Any, user: Any, access_entity: Any = None, details: Any = None) -> bool:
        """Return whether the user may access a DAG or a part of it, such as an approval request."""
        if access_entity is None and method == "PUT" and not self._may_start_runs(user):
            return False
        return super().is_authorized_dag(method=method, user=user, access_entity=access_entity, details=details)

    def get_authorized_dag_ids(self, *, user: Any, method: Any = "GET", **session: Any) -> set[str]:
        """Return the DAGs that the user may access with one request for several DAGs."""
        if method == "PUT" and not self._may_start_runs(user):
            return set()
        return super().get_authorized_dag_ids(user=user, method=method, **session)

    def _may_start_runs(self, user: Any) -> bool:
        return super().is_authorized_dag(method="POST", user=user, access_entity=DagAccessEntity.RUN)
