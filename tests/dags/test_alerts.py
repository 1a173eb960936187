"""docs/monitoring.md, docs/runbook.md: alerts of failed tasks and late releases arrive at a real webhook and mail server.

An error in alerting never fails a run.
"""

import asyncio
import json
import logging
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from s2corpus_airflow.alert_messages import Alert, format_instruction, send

from s2corpus.catalog import Catalog
from s2corpus.catalog.models import ReleaseState
from s2corpus.ids import ReleaseId
from tests.e2e.operating import Heard, listening
from tests.http_server import serve

pytestmark = pytest.mark.airflow
DAG = "corpus_release__sample"
MIDNIGHT, NOON = datetime(2023, 2, 1, tzinfo=UTC), datetime(2023, 2, 1, 12, tzinfo=UTC)
ALERT = Alert("s2_v2-20230301: failed", "GROBID <is> down & out", "since", format_instruction("extract"), "http://a/x")
TO = {"from_email": "corpus@example.org", "to": "ann@example.org, bob@example.org"}


@pytest.fixture
def heard() -> Iterator[Heard]:
    with listening() as found:
        yield found


def test_webhook_gets_failure_time_instruction_and_link(heard: Heard, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    send(ALERT, f"{heard.url}/services/T0/B0/secret")
    ((path, body),) = heard.posts
    assert path == "/services/T0/B0/secret"
    assert "secret" not in caplog.text, "the log of level DEBUG has no address either"
    assert body == {
        "text": "s2_v2-20230301: failed\n"
        # These are Slack's escapes: `<…>` would be a link, or a mention of everybody.
        "Error: GROBID &lt;is&gt; down &amp; out\n"
        "Since: since\n"
        "To do: follow the error message, or docs/runbook.md#stage-extract; then clear the task and its downstream tasks\n"
        "See: http://a/x"
    }


@contextmanager
def answering(status: int, **headers: str) -> Iterator[int]:
    """Yield the port of a server that answers every request with this status."""

    with serve(lambda request: (status, b"", headers)) as url:
        yield int(url.rpartition(":")[2])


@pytest.mark.parametrize(
    "webhook",
    ["http://ann:secret@127.0.0.1:{closed}/x", "http://127.0.0.1:{error}/secret", "file:///etc/secret", "http://[secret",
     "http://127.0.0.1:{closed}/x\r\nHost: secret"],
)  # fmt: skip
def test_unsent_alert_is_logged_without_address(webhook: str, caplog: pytest.LogCaptureFixture) -> None:
    with socket.socket() as closed, answering(500) as error:
        closed.bind(("127.0.0.1", 0))  # It does not listen.
        send(ALERT, webhook.format(closed=closed.getsockname()[1], error=error))
    errors = [record.getMessage() for record in caplog.records if record.levelno == logging.ERROR]
    (warning,) = (record.getMessage() for record in caplog.records if record.levelno == logging.WARNING)
    assert errors == [ALERT.text], "the log has it, whatever else fails"
    assert "secret" not in warning


def test_redirect_of_a_webhook_is_not_followed(heard: Heard) -> None:
    with answering(302, Location=f"{heard.url}/elsewhere") as port:
        send(ALERT, f"http://127.0.0.1:{port}/")
    assert heard.posts == []


@pytest.fixture(scope="module")
def alerts(airflow_home: None) -> ModuleType:
    from s2corpus_airflow import alerts

    return alerts


def fail(alerts: ModuleType, index: int, end: datetime) -> Alert | None:
    ti = SimpleNamespace(dag_id=DAG, run_id="x", task_id="extract.work", map_index=index, start_date=None)
    found: Alert | None = alerts._build_alert({"ti": ti, "data_interval_end": end, "exception": None, "shards": None})
    return found


@pytest.mark.parametrize(
    ("content", "posts", "said"), [("{url}/x\n", ["/x"], ""), ("\n", [], ""), (None, [], "cannot be read")]
)
def test_address_of_the_webhook_is_a_secret_file(
    alerts: ModuleType, heard: Heard, content: str | None, posts: list[str], said: str,
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture,
) -> None:  # fmt: skip
    """An empty file is no webhook: compose requires a file for each secret. The log has the alert in any case."""
    if content is not None:
        (tmp_path / "address").write_text(content.format(url=heard.url))
    monkeypatch.delenv("S2CORPUS_ALERTS_WEBHOOK", raising=False)
    monkeypatch.setenv("S2CORPUS_ALERTS_WEBHOOK_FILE", str(tmp_path / "address"))
    alerts._send(ALERT, {})
    assert [path for path, _ in heard.posts] == posts
    warnings = [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING]
    assert ALERT.text in caplog.text and said in "".join(warnings) and bool(warnings) is bool(said)


def test_stage_failing_at_noon_alerts_once(alerts: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
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


@pytest.mark.parametrize(
    ("extra", "said"),
    [
        ({**TO, "retry_limit": 0, "disable_ssl": True}, "could not send the alert to the mail server"),
        ({**TO, "retry_limit": 0, "disable_tls": True}, "could not send the alert to the mail server"),
        ({"from_email": "corpus@example.org"}, "needs a host and `to` addresses in its extra"),
        ({**TO, "disable_ssl": True, "disable_tls": True}, ""),
    ],
)
def test_mail_is_not_sent_without_encryption_or_recipients(
    alerts: ModuleType, heard: Heard, extra: dict[str, Any], said: str, caplog: pytest.LogCaptureFixture
) -> None:
    from airflow.sdk import Connection

    mail = {"conn_id": alerts.MAIL, "conn_type": "smtp", "host": "127.0.0.1", "port": heard.smtp_port}
    with caplog.at_level(logging.WARNING):
        alerts._send(ALERT, {alerts.MAIL: Connection(**mail, extra=json.dumps(extra))})
    assert said in caplog.text
    assert [(mail["From"], mail["To"]) for mail in heard.mails] == ([] if said else [(TO["from_email"], TO["to"])])
    contents = [p.get_payload(decode=True) for mail in heard.mails for p in mail.walk() if not p.is_multipart()]
    assert all(b"Error: GROBID &lt;is&gt; down &amp; out" in bytes(content) for content in contents)
