"""Airflow's SMTP provider sends alert mails to a real mail server according to the connection."""

from __future__ import annotations

import json
import logging
import os
import sys
from collections.abc import Iterator
from email.header import decode_header, make_header
from pathlib import Path
from types import ModuleType

import pytest

from s2corpus.pipeline.alerts import Alert
from tests.e2e.operating import Heard, listening

pytestmark = pytest.mark.airflow
ALERT = Alert(
    "s2_v2-20230301: extract (work, shards 6–7) failed",
    "GROBID <is> down & out",
    "2023-03-01T02:03:04+00:00",
    "see the runbook",
    "http://airflow/dags/corpus_release__s2_v2/runs/x",
)
TO = {"from_email": "corpus@example.org", "to": "ann@example.org, bob@example.org"}


@pytest.fixture(scope="module")
def alerts(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    os.environ.setdefault("AIRFLOW_HOME", str(tmp_path_factory.mktemp("airflow")))
    sys.path[:0] = [str(Path(__file__).resolve().parents[2] / "plugins")]
    import corpus_alerts

    return corpus_alerts


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
    assert (mail["From"], mail["To"], str(make_header(decode_header(mail["Subject"]))).strip()) == (
        "corpus@example.org",
        "ann@example.org, bob@example.org",
        "[s2corpus] s2_v2-20230301: extract (work, shards 6–7) failed",
    )
    (content,) = [part.get_payload(decode=True) for part in mail.walk() if not part.is_multipart()]
    assert isinstance(content, bytes)
    body = content.decode()
    assert "Error: GROBID &lt;is&gt; down &amp; out" in body
    assert ALERT.link in body


@pytest.mark.parametrize("encryption", [{}, {"disable_ssl": True}, {"disable_tls": True}])
def test_mail_is_never_sent_unencrypted_if_encryption_is_set(
    alerts: ModuleType, heard: Heard, encryption: dict[str, bool], caplog: pytest.LogCaptureFixture
) -> None:
    send(alerts, heard.smtp_port, **TO, **encryption, retry_limit=0)
    assert heard.mails == []
    assert "could not send the alert to the mail server" in caplog.text


def test_connection_without_recipients_sends_nothing(
    alerts: ModuleType, heard: Heard, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        send(alerts, heard.smtp_port, from_email="corpus@example.org")
    assert heard.mails == []
    assert "needs a host and `to` addresses in its extra" in caplog.text
