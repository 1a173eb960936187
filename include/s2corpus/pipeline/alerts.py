"""Alerts to an operator when a release fails or is late: the log, a Slack-compatible webhook, e-mail.

An alert never fails what it reports: what cannot be sent is only logged.
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
"""that a webhook has to take an alert"""
LONGEST = 600
"""characters of an error"""
RUNBOOK = "docs/runbook.md"


@dataclass(frozen=True, slots=True)
class Alert:
    """One thing an operator should know."""

    what: str
    """what happened, to which release, stage and shard; the subject"""
    error: str
    since: str
    """ISO instant"""
    todo: str
    link: str

    @property
    def text(self) -> str:
        """The whole message, plain."""
        return "\n".join(
            (self.what, f"Error: {self.error}", f"Since: {self.since}", f"To do: {self.todo}", f"See: {self.link}")
        )


def sentence(error: BaseException | str | None) -> str:
    """An error in one line: its type where it is not a message for people, its text, cut where it is too long."""
    if error is None:
        return "the task was killed, or its worker was lost"
    text = " ".join(str(error).split())
    if isinstance(error, BaseException) and not isinstance(error, UserError | TransientError):
        text = f"{type(error).__name__}: {text}" if text else type(error).__name__
    return text if len(text) <= LONGEST else f"{text[:LONGEST]} …"


def todo(stage: str) -> str:
    """What to do when a stage, or what comes after them, failed: where the runbook says it."""
    anchor = f"stage-{stage}" if stage in STAGE_NAMES else stage
    return f"what the error says, else {RUNBOOK}#{anchor}; then clear the task with what follows it"


def send(alert: Alert, webhook: str | None = None, mail: Callable[[Alert], None] | None = None) -> None:
    """Log an alert and send it wherever it can be sent: to a webhook's address, and by what sends a mail. Never raises."""
    log.error("%s", alert.text)
    if webhook:
        _try("webhook", lambda: _post(webhook, alert))
    if mail:
        _try("mail server", lambda: mail(alert))


def _try(where: str, act: Callable[[], None]) -> None:
    try:
        act()
    except Exception as error:  # whatever a server, a name or a setting does: the release matters more
        log.warning("the alert did not get to the %s: %s", where, type(error).__name__)  # its text may hold the address


def _post(url: str, alert: Alert) -> None:
    if urlsplit(url).scheme not in ("http", "https"):
        raise ValueError("a webhook is an http(s) address")
    text = alert.text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")  # Slack's own three
    with web.Session() as session:
        answer = web.ask(
            session,
            "POST",
            url,
            seconds=SECONDS,
            max_bytes=1 << 16,
            headers={"Content-Type": "application/json; charset=utf-8"},
            data=json.dumps({"text": text}).encode(),
        )
    if answer.status_code >= 300:  # an alert goes where the operator said, or nowhere
        raise ValueError(f"HTTP {answer.status_code}")
