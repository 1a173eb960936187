"""Wait for the drops and deliveries that a release needs (`schedule.expects`), in the triggerer: waiting occupies no worker."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any

from airflow.sdk import BaseSensorOperator
from airflow.triggers.base import BaseTrigger, TriggerEvent

from s2corpus.deliveries import expected
from s2corpus.errors import TransientError, UserError
from s2corpus.ids import ReleaseId
from s2corpus.spec_files import load_spec, releases_folder
from s2corpus.storage.lake import lake_uri, open_lake
from s2corpus_airflow.connections import apply_connections, apply_connections_in_triggerer


class ExpectedDrops(BaseTrigger):
    """Looks for `_READY` in these folders every `seconds`, and fires `{missing, error}` when none is missing or the time is over."""

    def __init__(self, folders: dict[str, str], until: str, seconds: float) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # Airflow gives it no types
        self.folders, self.until, self.seconds = folders, until, seconds

    def serialize(self) -> tuple[str, dict[str, Any]]:
        """Return class path and arguments for the triggerer."""
        arguments = {"folders": self.folders, "until": self.until, "seconds": self.seconds}
        return "s2corpus_airflow.expected_drops.ExpectedDrops", arguments

    async def run(self) -> AsyncIterator[TriggerEvent]:
        """Yield one event, with the error if the lake cannot be read at the end. A trigger that raises would fail the task at once."""
        while True:
            event: dict[str, Any] = {"missing": [], "error": None}
            try:
                await apply_connections_in_triggerer()
                event["missing"] = await asyncio.to_thread(
                    lambda: expected.find_missing(open_lake(lake_uri()), self.folders)
                )
            except Exception as error:
                event["error"] = str(error)
                self.log.warning("cannot read the lake, next attempt in %g s: %s", self.seconds, error)
            is_over = datetime.now(UTC) >= datetime.fromisoformat(self.until)
            if is_over or event == {"missing": [], "error": None}:
                yield TriggerEvent(event)  # type: ignore[no-untyped-call]  # the same
                return
            await asyncio.sleep(self.seconds)


class WaitForDrops(BaseSensorOperator):
    """Waits for `schedule.expects` of a spec; then fails or continues, as `schedule.without_expected` states."""

    def __init__(self, *, spec: str, seconds: float, **given: Any) -> None:
        super().__init__(**given)
        self.spec, self.seconds = spec, seconds

    def execute(self, context: Any) -> None:
        """Wait in the triggerer if something is missing. A run on chosen drops does not wait."""
        apply_connections()
        spec, lake = load_spec(releases_folder() / f"{self.spec}.yaml"), open_lake(lake_uri())
        if context["params"]["drops"] or (end := context["data_interval_end"]) is None:
            return
        folders = expected.list_expected(spec, end)
        missing = expected.find_missing(lake, folders)
        until = datetime.now(UTC) + timedelta(hours=spec.schedule.expects_hours)
        expected.write_awaited(lake, ReleaseId.from_spec(spec.name, end), missing, until)
        if missing:
            print(f"waiting until {until:%Y-%m-%d %H:%M} UTC for {', '.join(missing)}")
            self.defer(trigger=ExpectedDrops(folders, until.isoformat(), self.seconds), method_name="finish")

    def finish(self, context: Any, event: dict[str, Any]) -> None:
        """End the wait.

        Raises:
            UserError: something is missing, and the spec does not continue without it.
            TransientError: the lake could not be read when the time was over.
        """
        apply_connections()
        if event["error"]:
            raise TransientError(f"the lake could not be read when the time was over: {event['error']}")
        if not event["missing"]:
            print("all expected drops are ready")
            return
        sentence = expected.describe_missing(event["missing"], self.spec)
        if load_spec(releases_folder() / f"{self.spec}.yaml").schedule.without_expected == "fail":
            raise UserError(sentence)
        print(f"the release continues without them; {sentence}")
