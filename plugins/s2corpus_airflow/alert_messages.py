"""Alert an operator when a release fails or is late: log, Slack-compatible webhook, e-mail.

A failed alert never causes a further failure: it is only logged.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import urlsplit

from s2corpus import web
from s2corpus.errors import TransientError, UserError
from s2corpus.pipeline.stages import STAGE_NAMES

log = logging.getLogger(__name__)
SECONDS = 10
"""timeout of the webhook"""
LONGEST = 600
"""maximum length of an error message"""
RUNBOOK = "docs/runbook.md"


@dataclass(frozen=True, slots=True)
class Alert:
    """An event that an operator should see."""

    subject: str
    """the event, with release, stage and shard"""
    error: str
    since: str
    """ISO instant"""
    instruction: str
    link: str

    @property
    def text(self) -> str:
        """The complete message as plain text."""
        return "\n".join(
            (
                self.subject,
                f"Error: {self.error}",
                f"Since: {self.since}",
                f"To do: {self.instruction}",
                f"See: {self.link}",
            )
        )


def format_error(error: BaseException | str | None) -> str:
    """Return an error as one line of at most LONGEST characters, with its type unless the message is written for users."""
    if error is None:
        return "the task was killed, or its worker was lost"
    text = " ".join(str(error).split())
    if isinstance(error, BaseException) and not isinstance(error, UserError | TransientError):
        text = f"{type(error).__name__}: {text}" if text else type(error).__name__
    return text if len(text) <= LONGEST else f"{text[:LONGEST]} …"


def format_instruction(stage: str) -> str:
    """Return the instruction for a failed stage, or for a failure after the stages, with its place in the runbook."""
    anchor = f"stage-{stage}" if stage in STAGE_NAMES else stage
    return f"follow the error message, or {RUNBOOK}#{anchor}; then clear the task and its downstream tasks"


def send(alert: Alert, webhook: str | None = None, mail: Callable[[Alert], None] | None = None) -> None:
    """Log an alert, and send it to the webhook and by mail if they are configured. Never raises."""
    log.error("%s", alert.text)
    if webhook:
        _try_send("webhook", lambda: _post(webhook, alert))
    if mail:
        _try_send("mail server", lambda: mail(alert))


def _try_send(where: str, act: Callable[[], None]) -> None:
    try:
        act()
    except Exception as error:  # an error of a server, name or setting must not stop the release
        log.warning(
            "could not send the alert to the %s: %s", where, type(error).__name__
        )  # the text may contain secrets


def _post(url: str, alert: Alert) -> None:
    if urlsplit(url).scheme not in ("http", "https"):
        raise ValueError("the webhook must be an http(s) address")
    # the three characters that Slack requires to be escaped
    text = alert.text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    with web.Session() as session:
        answer = session.ask(
            "POST",
            url,
            seconds=SECONDS,
            max_bytes=1 << 16,
            headers={"Content-Type": "application/json; charset=utf-8"},
            data=json.dumps({"text": text}).encode(),
        )
    if answer.status_code >= 300:  # redirects are not followed: an alert goes only to the configured address
        raise ValueError(f"HTTP {answer.status_code}")
