"""Watch for drops and deliveries in Airflow's triggerer: fire one event for each. See docs/drops.md.

The module is in this folder because the triggerer imports it by name, and every component can import it.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from airflow.triggers.base import BaseEventTrigger, TriggerEvent

if TYPE_CHECKING:
    from s2corpus.deliveries.status import Arrival

PERSISTED_SECONDS = 3.0
"""Wait this long after firing events, so that Airflow has stored them before the drops are marked as announced."""
MAX_REPEATED_EVENTS = 50
"""Maximum number of events that a killed triggerer can repeat."""


class DropWatch(BaseEventTrigger):
    """Lists the lake every `seconds`, and fires `{folder, mark}` for each drop or delivery that is ready and new.

    The watch then notes in the lake that the drop is announced, so that a restarted triggerer does not fire it again. An event
    can still get lost, for example if the triggerer is killed before Airflow stores it. The watch therefore fires again for
    each announced drop that no run has begun with. A repeated event is harmless: the run finds nothing to do.
    """

    def __init__(self, seconds: float) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # Airflow gives it no types
        self.seconds = seconds

    def serialize(self) -> tuple[str, dict[str, Any]]:
        """Return class path and arguments for the triggerer."""
        return "drop_watch.DropWatch", {"seconds": self.seconds}

    async def run(self) -> AsyncIterator[TriggerEvent]:
        """Yield events forever. Retry while the lake is unreachable, because a trigger that raises is removed."""
        watch: Any = None
        broken = True
        while True:
            more = False
            try:
                if broken:
                    watch = await asyncio.to_thread(_watch, watch)
                    broken = False
                new = await asyncio.to_thread(watch.poll, MAX_REPEATED_EVENTS)
                more = len(new) >= MAX_REPEATED_EVENTS
                # Fire immediately: the watch returns an arrival only once, even if the next call fails.
                for arrival in new:
                    yield _event(arrival)
                unprocessed = await asyncio.to_thread(watch.list_unprocessed_events, time.monotonic())
                for arrival in unprocessed:
                    yield _event(arrival)
                await asyncio.sleep(PERSISTED_SECONDS if new or unprocessed else 0)
                await asyncio.to_thread(watch.confirm)
            except Exception as error:
                broken = True  # the keys of the lake may have changed: open it again
                self.log.warning("cannot list the lake, next attempt in %g s: %s", self.seconds, error)
            await asyncio.sleep(0 if more else self.seconds)


def _event(arrival: Arrival) -> TriggerEvent:
    return TriggerEvent(asdict(arrival))  # type: ignore[no-untyped-call]  # Airflow gives it no types


def _watch(before: Any) -> Any:
    """Open the lake again; return the earlier watch over it, or a new watch."""
    from s2corpus.deliveries.status import Watch
    from s2corpus.storage.lake import lake_uri, open_lake

    lake = open_lake(lake_uri())
    if before is None:
        return Watch(lake)
    before.lake = lake
    return before
