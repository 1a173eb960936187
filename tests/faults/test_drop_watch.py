"""The watch for drops loses no event (docs/drops.md): neither if the lake fails between two listings, nor if a triggerer dies."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from s2corpus.deliveries import status
from s2corpus.errors import TransientError
from s2corpus.storage.lake import Lake
from tests.releases import ROOT

pytestmark = pytest.mark.airflow
READY = b'{"ready_at": "2023-01-01T00:00:00Z", "files": []}'


@pytest.fixture
def drop_watch(
    lake: Lake, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Any]:
    """Return the plugin; its lake contains two new drops, and its clock advances by 100 seconds at each poll."""
    monkeypatch.setenv("AIRFLOW_HOME", str(tmp_path_factory.mktemp("airflow")))
    monkeypatch.setenv("S2CORPUS_LAKE", str(tmp_path / "lake"))
    monkeypatch.syspath_prepend(str(ROOT / "plugins"))
    import drop_watch

    for name in ("a", "b"):
        lake.put(f"drops/{name}/_READY", READY)
    clock = itertools.count(0, 100)
    monkeypatch.setattr(drop_watch, "PERSISTED_SECONDS", 0)
    monkeypatch.setattr(drop_watch, "time", SimpleNamespace(monotonic=lambda: next(clock)))
    yield drop_watch
    del sys.modules["drop_watch"]


def fire(drop_watch: Any, count: int) -> list[str]:
    """Return the folders of the first events of a new watch, which is then closed as if its triggerer had been killed."""

    async def run() -> list[str]:
        events = drop_watch.DropWatch(seconds=0).run()
        found = [(await anext(events)).payload["folder"] for _ in range(count)]
        await events.aclose()
        return found

    return asyncio.run(asyncio.wait_for(run(), 60))


class Enough(BaseException):
    """Ends a watch, which survives every Exception."""


def test_each_arrival_fires_once_when_the_lake_opens(drop_watch: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run a watch with a constant clock; the lake cannot be opened twice, and the watch ends after three polls."""
    monkeypatch.setattr(drop_watch, "time", SimpleNamespace(monotonic=lambda: 0.0))
    opened, confirmed = drop_watch._watch, status.Watch.confirm
    failures = iter([TransientError("the lake does not respond")] * 2)
    polls = itertools.count(1)

    def open_watch(before: Any) -> Any:
        for error in failures:
            raise error
        return opened(before)

    def confirm(watch: status.Watch) -> None:
        confirmed(watch)
        if next(polls) % 3 == 0:
            raise Enough

    async def fired() -> list[str]:
        found = []
        with contextlib.suppress(Enough):
            async for event in drop_watch.DropWatch(seconds=0).run():
                found.append(event.payload["folder"])
        return found

    monkeypatch.setattr(drop_watch, "_watch", open_watch)
    monkeypatch.setattr(status.Watch, "confirm", confirm)
    assert asyncio.run(fired()) == ["drops/a/", "drops/b/"]
    assert asyncio.run(fired()) == [], "a new triggerer repeats no event"


def test_failing_lake_delays_no_event(drop_watch: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise TransientError("the lake does not respond")

    monkeypatch.setattr(status.Watch, "list_unprocessed_events", fail)
    assert fire(drop_watch, 2) == ["drops/a/", "drops/b/"]


def test_killed_triggerer_repeats_events_that_were_not_recorded(drop_watch: Any, lake: Lake) -> None:
    assert fire(drop_watch, 1) == ["drops/a/"]
    assert fire(drop_watch, 2) == ["drops/a/", "drops/b/"]


def test_new_triggerer_repeats_recorded_events_that_started_no_run(drop_watch: Any, lake: Lake) -> None:
    watch = status.Watch(lake)
    lost = watch.poll()
    watch.confirm()  # The events are recorded, and Airflow loses them.
    assert [arrival.folder for arrival in lost] == ["drops/a/", "drops/b/"]
    status.put_row(lake, status.ArrivalStatus("drops/b/", lost[1].mark, status.ArrivalState.REGISTERED))
    assert fire(drop_watch, 2) == ["drops/a/", "drops/a/"]
