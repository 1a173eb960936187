"""docs/drops.md: the DAG of new drops limits its work per run, and its watch loses no event if the lake or the triggerer fails."""

import asyncio
import itertools
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from s2corpus.deliveries import status
from s2corpus.drops import processing
from s2corpus.errors import TransientError
from s2corpus.storage.lake import Lake

pytestmark = pytest.mark.airflow
BOTH = ["drops/a/", "drops/b/"]


@pytest.fixture(scope="module")
def module(airflow_home: None) -> Any:
    import pdf_drops

    return pdf_drops


def test_drop_dag_runs_one_at_a_time_after_releases(module: Any) -> None:
    (watcher,) = module.DROPS.watchers
    assert watcher.trigger.serialize() == ("s2corpus_airflow.drop_watch.DropWatch", {"seconds": 30.0})
    dag = module._planned.operator.dag
    assert [asset.name for asset in dag.timetable.asset_condition.objects] == [module.DROPS.name]
    assert dag.max_active_runs == 1
    work = dag.get_task("work").partial_kwargs
    assert (str(work["weight_rule"]), work["priority_weight"]) == ("absolute", 1), "a release has priority"


@pytest.mark.parametrize(
    ("items", "size", "tasks"), [(0, 50, 0), (1, 50, 1), (500, 50, 10), (500, 1, 167), (9, 1, 9), (10**6, 50, 200)]
)
def test_mapped_tasks_stay_few(module: Any, items: int, size: int, tasks: int) -> None:
    batches = module.divide(list(range(items)), module.MAX_MAPPED_TASKS, size)
    assert len(batches) == tasks <= module.MAX_MAPPED_TASKS
    assert [item for batch in batches for item in batch] == list(range(items))


@pytest.fixture
def drop_watch(load: Callable[..., Any], lake: Lake, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return the plugin; its lake contains two new drops, and its clock advances by 100 seconds at each poll."""
    found = load("s2corpus_airflow.drop_watch")
    for folder in BOTH:
        lake.put(f"{folder}_READY", b'{"ready_at": "2023-01-01T00:00:00Z", "files": []}')
    clock = itertools.count(0, 100)
    monkeypatch.setattr(found, "time", SimpleNamespace(monotonic=lambda: next(clock)))
    return found


def fire(drop_watch: Any, count: int) -> list[Any]:
    """Return the first events of a new watch, which is then closed as if its triggerer had been killed."""

    async def run() -> list[Any]:
        events = drop_watch.DropWatch(seconds=0).run()
        found = [(await anext(events)).payload for _ in range(count)]
        await events.aclose()
        return found

    return asyncio.run(asyncio.wait_for(run(), 60))


def failing(times: int, then: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that fails some times as the lake does, and then calls another."""
    failures: Iterator[int] = iter(range(times))

    def call(*arguments: Any) -> Any:
        for _ in failures:
            raise TransientError("the lake does not respond")
        return then(*arguments)

    return call


def test_one_event_announces_all_arrivals_of_a_poll(drop_watch: Any, lake: Lake) -> None:
    assert fire(drop_watch, 1) == [{"arrivals": 2}]
    assert processing.list_pending(lake) == status.list_open(lake) != []
    assert status.Watch(lake).poll() != [], "a killed triggerer can lose the event: the next one repeats it"


def test_failing_lake_loses_no_event(drop_watch: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drop_watch, "_watch", failing(2, drop_watch._watch))
    monkeypatch.setattr(status, "announce", failing(1, status.announce))
    monkeypatch.setattr(status, "_list_marks", failing(9, status._list_marks))
    assert fire(drop_watch, 1) == [{"arrivals": 2}]


@pytest.mark.parametrize(
    ("events", "pending"),
    [
        ([], BOTH),  # a person triggered the DAG
        ([{"from_trigger": True, "payload": {"arrivals": 1}}], BOTH[:1]),
        ([{"from_rest_api": True}], []),  # a person created an event without content
        ([{"from_rest_api": True, "payload": {"folder": "drops/b/", "mark": "0" * 16}}], BOTH[:1]),
    ],
)
def test_run_reads_arrivals_from_the_lake(
    drop_watch: Any, load: Callable[..., Any], lake: Lake, events: list[Any], pending: list[str]
) -> None:
    """Only the first drop is announced. No event adds arrivals by its content."""
    (mark,) = {status.hash_ready_file(lake, BOTH[0])}
    status.announce(lake, status.Arrival(BOTH[0], str(mark)))
    triggering = {"corpus_drops": [SimpleNamespace(extra=extra) for extra in events]} if events else {}
    planned = load("pdf_drops").plan.function(triggering_asset_events=triggering)
    assert [arrival["folder"] for batch in planned for arrival in batch] == pending
