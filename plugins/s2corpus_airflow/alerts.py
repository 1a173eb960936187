"""Define Airflow's callbacks for releases: a task that failed permanently, and a release that is late. See docs/monitoring.md."""

from __future__ import annotations

import asyncio
import html
import logging
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from typing import Any
from urllib.parse import quote

from airflow.sdk import BaseDeadlineReference, Connection  # type: ignore[attr-defined]  # missing in Airflow's stub
from airflow.sdk.configuration import conf

from s2corpus.errors import UserError
from s2corpus.ids import RELEASE_DAG, ReleaseId
from s2corpus.secret_files import read_secret
from s2corpus_airflow.alert_messages import RUNBOOK, Alert, format_error, format_instruction, send
from s2corpus_airflow.connections import apply_connections

WEBHOOK = "s2corpus_alerts_webhook"
"""connection with the webhook's complete address as its password; the fallback is the secret S2CORPUS_ALERTS_WEBHOOK"""
MAIL = "s2corpus_alerts_mail"
"""connection of type smtp; its extra also contains `to`, comma-separated addresses"""
log = logging.getLogger(__name__)


class RunCreated(BaseDeadlineReference):  # type: ignore[misc]  # Airflow gives it no types
    """The instant when a run is created.

    Clearing a run with a deadline relative to `DAGRUN_QUEUED_AT` fails (apache/airflow#70368).
    """

    def _evaluate_with(self, **_: Any) -> datetime:
        return datetime.now(UTC)


def task_failed(context: Mapping[str, Any]) -> None:
    """Record the failure of a stage in the catalog; send one alert for each stage, for any number of shards."""
    try:
        alert = _build_alert(context)
    except Exception:
        log.exception("could not report the failure")
        return
    if alert:
        _send(alert, _connections())


def _build_alert(context: Mapping[str, Any]) -> Alert | None:
    ti, error = context["ti"], context.get("exception")
    dag_id, task_id = str(ti.dag_id), str(ti.task_id)
    stage, _, step = task_id.partition(".")
    end = context.get("data_interval_end") or getattr(context.get("dag_run"), "data_interval_end", None)
    release = _release_id(dag_id, end)
    if release and not _is_first_failure(release, stage, error):
        return None
    started = getattr(ti, "start_date", None) or datetime.now(UTC)
    task = f"{stage} ({step}{_format_shards(context)})" if step else stage
    sections = {"pdf_drops": "drops", "corpus_cleanup": "cleanup", "corpus_dataset": "datasets"}
    section = sections.get(dag_id.partition("__")[0], stage)
    return Alert(
        f"{release or dag_id}: {task} failed",
        format_error(error if isinstance(error, BaseException | str) else None),
        started.isoformat(timespec="seconds"),
        format_instruction(section),
        _link(dag_id, str(ti.run_id), task_id, ti.map_index),
    )


def _release_id(dag_id: str, end: datetime | str | None) -> ReleaseId | None:
    """Return the id of the release that a run builds; None for other DAGs and runs without a data interval."""
    if not (dag_id.startswith(RELEASE_DAG) and end):
        return None
    as_of = datetime.fromisoformat(end) if isinstance(end, str) else end
    return ReleaseId.from_spec(dag_id.removeprefix(RELEASE_DAG), as_of.astimezone(UTC))


def _format_shards(context: Mapping[str, Any]) -> str:
    """Format the shards of a mapped task for the alert's subject, or its index if the shards are unknown."""
    index, shards = context["ti"].map_index, context.get("shards")
    if shards:
        return f", shard {shards[0]}" if len(shards) == 1 else f", shards {shards[0]}–{shards[-1]}"
    return "" if index is None or index < 0 else f", mapped task {index}"


def _is_first_failure(release: str, stage: str, error: Any) -> bool:
    """Record the failure in the catalog; return whether it is the stage's first (True if the catalog is unreachable)."""
    from s2corpus.pipeline import publication

    try:
        with suppress(UserError):  # no lake is configured: the environment may still name the catalog
            apply_connections()
        return publication.record_failure(release, stage, error if isinstance(error, BaseException) else None)
    except Exception as unreachable:
        log.warning("could not record the failure of %s in the catalog: %s", stage, type(unreachable).__name__)
        return True


async def release_late(hours: float, context: Mapping[str, Any] | None = None) -> None:
    """Alert that a release has not finished in time. Runs in the triggerer."""
    run = (context or {}).get("dag_run") or {}
    dag_id, run_id = str(run.get("dag_id", "")), str(run.get("dag_run_id", ""))
    alert = Alert(
        f"{_release_id(dag_id, run.get('data_interval_end')) or dag_id}: late",
        f"the release has not finished {hours:g} hours after its run was created",
        str(run.get("queued_at") or run.get("start_date") or "unknown"),
        f"find the running task or the open approval request; {RUNBOOK}#late",
        _link(dag_id, run_id),
    )
    connections: dict[str, Any] = {}
    for name in (WEBHOOK, MAIL):
        with suppress(Exception):  # no connection exists, or Airflow cannot read it
            connections[name] = await Connection.async_get(name)
    await asyncio.to_thread(_send, alert, connections)


def send_alert(subject: str, error: str, stage: str, context: Mapping[str, Any]) -> None:
    """Send an alert about the current task, without failing it."""
    ti = context["ti"]
    now = datetime.now(UTC).isoformat(timespec="seconds")
    link = _link(ti.dag_id, ti.run_id, ti.task_id)
    _send(Alert(subject, error, now, format_instruction(stage), link), _connections())


def _connections() -> dict[str, Any]:
    connections: dict[str, Any] = {}
    for name in (WEBHOOK, MAIL):
        with suppress(Exception):  # no connection exists, or Airflow cannot read it
            connections[name] = Connection.get(name)
    return connections


def _send(alert: Alert, connections: Mapping[str, Any]) -> None:
    webhook = getattr(connections.get(WEBHOOK), "password", None)
    try:
        webhook = webhook or read_secret("S2CORPUS_ALERTS_WEBHOOK", is_optional=True)
    except UserError as error:  # The log and the mail have the alert.
        log.warning("%s", error)
    send(alert, webhook, partial(_mail, connections[MAIL]) if MAIL in connections else None)


def _mail(connection: Connection, alert: Alert) -> None:
    """Send an alert by mail with Airflow's SMTP hook, which reads server, keys and encryption from the connection."""
    from airflow.providers.smtp.hooks.smtp import SmtpHook

    class HookWithConnection(SmtpHook):
        """The hook with the connection that was already read: in the triggerer, connections can only be read with await."""

        @classmethod
        def get_connection(cls, conn_id: str) -> Connection:
            return connection

    extra = connection.extra_dejson
    to = [address.strip() for address in str(extra.get("to", "")).split(",") if address.strip()]
    if not (connection.host and to):
        log.warning("no mail sent: connection %s needs a host and `to` addresses in its extra", MAIL)
        return
    with HookWithConnection(MAIL) as mailbox:
        mailbox.send_email_smtp(
            to=to,
            from_email=extra.get("from_email") or connection.login or to[0],
            subject=f"[s2corpus] {alert.subject}",
            html_content=f"<pre>{html.escape(alert.text, quote=False)}</pre>",
        )


def _link(dag_id: str, run_id: str, task_id: str = "", map_index: int | None = None) -> str:
    base = conf.get("api", "base_url", fallback="http://localhost:8080/").rstrip("/")
    task = f"/tasks/{task_id}" if task_id else ""
    mapped = f"/mapped/{map_index}" if task and map_index is not None and map_index >= 0 else ""
    return f"{base}/dags/{dag_id}/runs/{quote(run_id)}{task}{mapped}"
