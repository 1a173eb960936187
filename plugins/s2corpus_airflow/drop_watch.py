"""Watch for drops and deliveries in Airflow's triggerer: fire one event for all that arrived. See docs/drops.md."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from typing import Any

from airflow.triggers.base import BaseEventTrigger, TriggerEvent

from s2corpus_airflow.connections import apply_connections_in_triggerer


class DropWatch(BaseEventTrigger):
    """Lists the lake every `seconds`, and fires `{arrivals: number}` if drops or deliveries are ready and new.

    The lake contains the arrivals; the event only starts a run. The watch announces them in the lake before it fires, so that a
    restarted triggerer does not fire again. An event can still get lost, for example if the triggerer is killed. The watch
    therefore fires again if no run has begun with an announced arrival. A repeated event is harmless: the run finds nothing to do.
    """

    def __init__(self, seconds: float) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # Airflow gives it no types
        self.seconds = seconds

    def serialize(self) -> tuple[str, dict[str, Any]]:
        """Return class path and arguments for the triggerer."""
        return "s2corpus_airflow.drop_watch.DropWatch", {"seconds": self.seconds}

    async def run(self) -> AsyncIterator[TriggerEvent]:
        """Yield events forever. Retry while the lake is unreachable, because a trigger that raises is removed."""
        watch: Any = None
        broken = True
        while True:
            try:
                if broken:
                    await apply_connections_in_triggerer()
                    watch = await asyncio.to_thread(_watch, watch)
                    broken = False
                arrivals = await asyncio.to_thread(watch.poll, time.monotonic())
                if arrivals:
                    yield TriggerEvent({"arrivals": len(arrivals)})  # type: ignore[no-untyped-call]  # the same
            except Exception as error:
                broken = True  # the keys of the lake may have changed: open it again
                self.log.warning("cannot list the lake, next attempt in %g s: %s", self.seconds, error)
            await asyncio.sleep(self.seconds)


def _watch(before: Any) -> Any:
    """Open the lake again; return the earlier watch over it, or a new watch."""
    from s2corpus.deliveries.status import Watch
    from s2corpus.storage.lake import lake_uri, open_lake

    lake = open_lake(lake_uri())
    if before is None:
        return Watch(lake)
    before.lake = lake
    return before
