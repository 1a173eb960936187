"""docs/runbook.md: alerts have the right text and arrive at a real webhook, and an error in alerting never fails a run."""

from __future__ import annotations

import logging
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from alert_messages import Alert, format_error, format_instruction, send

from s2corpus.errors import TransientError
from tests.e2e.operating import Heard, listening

ALERT = Alert(
    "s2_v2-20230301: extract (work, shards 6–7) failed",
    "GROBID <is> down & out",
    "2023-03-01T02:03:04+00:00",
    format_instruction("extract"),
    "http://airflow/dags/corpus_release__s2_v2/runs/x/tasks/extract.work/mapped/3",
)


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
        "text": "s2_v2-20230301: extract (work, shards 6–7) failed\n"
        # These are Slack's escapes: `<…>` would be a link, or a mention of everybody.
        "Error: GROBID &lt;is&gt; down &amp; out\n"
        "Since: 2023-03-01T02:03:04+00:00\n"
        "To do: follow the error message, or docs/runbook.md#stage-extract; then clear the task and its downstream tasks\n"
        "See: http://airflow/dags/corpus_release__s2_v2/runs/x/tasks/extract.work/mapped/3"
    }


@contextmanager
def answering(status: int, **headers: str) -> Iterator[int]:
    """Yield the port of a server that answers every request with this status."""

    class Answer(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            return

    with ThreadingHTTPServer(("127.0.0.1", 0), Answer) as server:
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        yield server.server_port
        server.shutdown()


@pytest.mark.parametrize(
    "webhook",
    [
        "http://127.0.0.1:{closed}/secret", "http://secret.invalid/", "file:///etc/secret", "http://[secret", "secret", "ftp://127.0.0.1/secret",
        "http://ann:secret@127.0.0.1:{closed}/x", "http://127.0.0.1:{closed}/x\r\nHost: secret", "http://127.0.0.1:{error}/secret",
        "http://ann:secret@127.0.0.1:{error}/x",
    ],
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


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (None, "the task was killed, or its worker was lost"),
        (TransientError("S3 does\n not   answer"), "S3 does not answer"),
        (KeyError("paper_id"), "KeyError: 'paper_id'"),
        (MemoryError(), "MemoryError"),
        (ValueError("x" * 5_000), f"ValueError: {'x' * 588} …"),
    ],
)
def test_error_is_formatted_as_one_line(error: BaseException | None, said: str) -> None:
    assert format_error(error) == said


@pytest.mark.parametrize(("where", "anchor"), [("link", "#stage-link;"), ("publish", "#publish;")])
def test_alert_links_to_the_runbook(where: str, anchor: str) -> None:
    assert f"docs/runbook.md{anchor}" in format_instruction(where)
