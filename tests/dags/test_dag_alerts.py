"""A failed task and a late release send alerts that name the release (docs/monitoring.md); mails go to a real server by SMTP."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from email.header import decode_header, make_header
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from alert_messages import Alert

from s2corpus.catalog import Catalog
from s2corpus.catalog.models import ReleaseState
from s2corpus.ids import ReleaseId
from tests.e2e.operating import Heard, listening

pytestmark = pytest.mark.airflow
DAG = "corpus_release__sample"
MIDNIGHT, NOON = datetime(2023, 2, 1, tzinfo=UTC), datetime(2023, 2, 1, 12, tzinfo=UTC)
ALERT = Alert(
    "s2_v2-20230301: extract failed", "GROBID <is> down & out", "2023-03-01T02:03:04+00:00", "see", "http://a/x"
)
TO = {"from_email": "corpus@example.org", "to": "ann@example.org, bob@example.org"}


@pytest.fixture(scope="module")
def alerts(airflow_home: None) -> ModuleType:
    import corpus_alerts

    return corpus_alerts


def fail(alerts: ModuleType, index: int, end: datetime, shards: list[int] | None = None) -> Alert | None:
    """Return the alert of a failed task."""
    run = "scheduled__2023-02-01T00:00:00+00:00"
    ti = SimpleNamespace(dag_id=DAG, run_id=run, task_id="extract.work", map_index=index, start_date=None)
    found: Alert | None = alerts._build_alert({"ti": ti, "data_interval_end": end, "exception": None, "shards": shards})
    return found


@pytest.mark.parametrize(
    ("index", "shards", "said"),
    [
        (-1, None, "extract (work) failed"),
        (3, [6, 7], "extract (work, shards 6–7) failed"),
        (3, [6], "extract (work, shard 6) failed"),
        (3, None, "extract (work, mapped task 3) failed"),
    ],
)
def test_alert_names_the_shards(
    alerts: ModuleType, monkeypatch: pytest.MonkeyPatch, index: int, shards: list[int] | None, said: str
) -> None:
    monkeypatch.delenv("S2CORPUS_CATALOG", raising=False)
    alert = fail(alerts, index, MIDNIGHT, shards)
    assert alert is not None and alert.subject == f"sample-20230201: {said}"
    assert alert.error == "the task was killed, or its worker was lost"
    task = "tasks/extract.work" + (f"/mapped/{index}" if index >= 0 else "")
    assert alert.link.endswith(f"/dags/{DAG}/runs/scheduled__2023-02-01T00%3A00%3A00%2B00%3A00/{task}")


def test_stage_that_fails_at_noon_alerts_once(
    alerts: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Check that many failing shards send one alert, and that the release of midnight is not affected."""
    monkeypatch.setenv("S2CORPUS_CATALOG", url := f"sqlite:///{tmp_path}/catalog.db")
    catalog, published = Catalog(url), ReleaseId.from_spec("sample", MIDNIGHT)
    catalog.migrate()
    catalog.start_stage(published, "sample", MIDNIGHT, "extract")
    catalog.set_release_state(published, ReleaseState.PUBLISHED, "sample-20230201-00000000")
    catalog.start_stage("sample-20230201T120000", "sample", NOON, "extract")
    sent = [alert.subject for shard in range(3) if (alert := fail(alerts, shard, NOON))]
    assert sent == ["sample-20230201T120000: extract (work, mapped task 0) failed"]
    release = catalog.release(published)
    assert release is not None and release.state == ReleaseState.PUBLISHED
    catalog.start_stage("sample-20230201T120000", "sample", NOON, "extract")
    assert fail(alerts, 0, NOON), "a failure after the stage was started again is a new one"


def test_late_alert_names_the_release(alerts: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[str] = []
    monkeypatch.setattr(alerts, "_send", lambda alert, _: sent.append(alert.subject))
    run = {"dag_id": "corpus_release__own", "dag_run_id": "x", "data_interval_end": "2026-11-22T09:30:01+00:00"}
    with ThreadPoolExecutor(1) as thread:  # Tests with a browser keep a running loop in the main thread.
        thread.submit(asyncio.run, alerts.release_late(24, {"dag_run": run})).result()
    assert sent == ["own-20261122T093001: late"]


@pytest.fixture
def heard() -> Iterator[Heard]:
    with listening() as found:
        yield found


def send(alerts: ModuleType, port: int, **extra: object) -> None:
    from airflow.sdk import Connection

    given = Connection(conn_id=alerts.MAIL, conn_type="smtp", host="127.0.0.1", port=port, extra=json.dumps(extra))
    alerts._send(ALERT, {alerts.MAIL: given})


def test_mail_goes_to_all_recipients(alerts: ModuleType, heard: Heard) -> None:
    send(alerts, heard.smtp_port, **TO, disable_ssl=True, disable_tls=True)
    (mail,) = heard.mails
    assert (mail["From"], mail["To"]) == (TO["from_email"], TO["to"])
    assert str(make_header(decode_header(mail["Subject"]))).strip() == f"[s2corpus] {ALERT.subject}"
    (content,) = [part.get_payload(decode=True) for part in mail.walk() if not part.is_multipart()]
    assert isinstance(content, bytes)
    assert "Error: GROBID &lt;is&gt; down &amp; out" in content.decode() and ALERT.link in content.decode()


@pytest.mark.parametrize(
    ("extra", "said"),
    [
        ({**TO, "retry_limit": 0}, "could not send the alert to the mail server"),
        ({**TO, "retry_limit": 0, "disable_ssl": True}, "could not send the alert to the mail server"),
        ({**TO, "retry_limit": 0, "disable_tls": True}, "could not send the alert to the mail server"),
        ({"from_email": "corpus@example.org"}, "needs a host and `to` addresses in its extra"),
    ],
)
def test_mail_is_not_sent_without_encryption_or_recipients(
    alerts: ModuleType, heard: Heard, extra: dict[str, Any], said: str, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        send(alerts, heard.smtp_port, **extra)
    assert heard.mails == []
    assert said in caplog.text
