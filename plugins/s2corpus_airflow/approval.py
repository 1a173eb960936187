"""Ask a person to approve a release before its snapshot is published."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from airflow.providers.standard.operators.hitl import ApprovalOperator
from airflow.sdk import Param

from s2corpus.spec import ReleaseSpec
from s2corpus_airflow import alerts
from s2corpus_airflow.release_runs import get_starter, open_current

APPROVAL_HOURS = 72
"""Time limit of an approval. Without an answer, the release is rejected."""


class Approve(ApprovalOperator):
    """Asks a person to approve the release and shows its summary. A timeout is a rejection."""

    def execute(self, context: Any) -> Any:
        """Request an approval unless the snapshot is already published."""
        from s2corpus.pipeline import publication

        run, starter = open_current(context), get_starter(context)
        self.subject = f"Publish the release {run.release_id}?"
        self.body = publication.request_approval(run, starter)
        return super().execute(context) if self.body else None

    def execute_complete(self, context: Any, event: dict[str, Any]) -> Any:
        """Record the answer and the person; a rejection skips `publish`."""
        from s2corpus.catalog.models import ReleaseDecision
        from s2corpus.pipeline import publication
        from s2corpus.pipeline.acceptance import AnotherPerson

        run, user = open_current(context), event.get("responded_by_user") or {}
        answer = ReleaseDecision.APPROVED if self.APPROVE in event["chosen_options"] else ReleaseDecision.REJECTED
        if event.get("timedout"):
            answer = ReleaseDecision.TIMED_OUT
            error = "the approval request timed out without an answer"
            alerts.send_alert(f"{run.release_id}: not published", error, "approve", context)
        person = str(user.get("name") or user.get("id") or "unknown")
        note = str((event.get("params_input") or {}).get("note") or "")
        try:
            publication.record_answer(run, answer, person, note, event["responded_at"], get_starter(context))
        except AnotherPerson as objection:  # the next try requests approval again; Airflow shows the original request
            alerts.send_alert(f"{run.release_id}: approval refused", str(objection), "approve", context)
            raise
        return super().execute_complete(context, event)


def describe_approval(spec: ReleaseSpec) -> dict[str, Any]:
    """Return the arguments of the task `approve` of a spec."""
    return {
        "task_id": "approve",
        "subject": f"Publish a release of {spec.name}?",  # `execute` inserts the id of the release
        # A value that may not be null would disable the buttons until it is filled in.
        "params": {"note": Param(None, type=["null", "string"], title="Note (optional), stored with the answer")},
        "defaults": Approve.REJECT,
        "response_timeout": timedelta(hours=APPROVAL_HOURS),
        "retries": 50,  # a retry requests approval again after an answer from an excluded person
        "retry_delay": timedelta(seconds=5),
        "retry_exponential_backoff": False,
        "execution_timeout": timedelta(hours=APPROVAL_HOURS + spec.resources.task_hours),
    }
