"""The DAG of new drops as Airflow loads it: it waits for the right folders, limits its work per run, and imports no heavy libraries."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from s2corpus.storage.lake import open_lake

pytestmark = pytest.mark.airflow
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def module(tmp_path_factory: pytest.TempPathFactory) -> Any:
    import os

    os.environ.setdefault("AIRFLOW_HOME", str(tmp_path_factory.mktemp("airflow")))
    sys.path[:0] = [str(ROOT / "dags"), str(ROOT / "plugins")]
    import pdf_drops

    return pdf_drops


@pytest.fixture(scope="module")
def dag(module: Any) -> Any:
    return module._planned.operator.dag


def test_drop_dag_waits_for_the_asset_of_the_watch(module: Any, dag: Any) -> None:
    assert [asset.name for asset in dag.timetable.asset_condition.objects] == [module.DROPS.name]
    (watcher,) = module.DROPS.watchers
    assert watcher.trigger.serialize() == ("drop_watch.DropWatch", {"seconds": 30.0})


def test_one_run_at_a_time_within_the_pool(dag: Any) -> None:
    assert dag.max_active_runs == 1
    work = dag.get_task("work")
    assert (work.partial_kwargs["pool"], work.partial_kwargs["pool_slots"]) == ("grobid", 2)


def test_drop_dag_retries_like_a_release(dag: Any) -> None:
    import corpus_release

    release = vars(corpus_release)["corpus_release__sample"].get_task("extract.work")
    mine = dag.get_task("work")
    for name in ("retries", "retry_delay", "retry_policy", "on_failure_callback"):
        assert mine.partial_kwargs[name] is release.partial_kwargs[name]


def test_release_has_priority_in_the_pool(module: Any, dag: Any) -> None:
    import corpus_release

    release = vars(corpus_release)["corpus_release__sample"].get_task("extract.work")
    assert release.partial_kwargs.get("weight_rule", "downstream") == "downstream"
    assert len(release.get_flat_relative_ids(upstream=False)) > 1
    work = dag.get_task("work")
    assert (str(work.partial_kwargs["weight_rule"]), work.partial_kwargs["priority_weight"]) == ("absolute", 1)


@pytest.mark.parametrize(
    ("items", "size", "tasks"), [(0, 50, 0), (1, 50, 1), (500, 50, 10), (500, 1, 167), (9, 1, 9), (10**6, 50, 200)]
)
def test_mapped_tasks_stay_few(module: Any, items: int, size: int, tasks: int) -> None:
    batches = module.divide(list(range(items)), module.MAX_MAPPED_TASKS, size)
    assert len(batches) == tasks <= module.MAX_MAPPED_TASKS
    assert [item for batch in batches for item in batch] == list(range(items))


def test_parsing_imports_no_large_library() -> None:
    code = (
        "import sys; sys.path[:0] = ['dags', 'plugins']; import airflow.sdk, airflow.triggers.base; before = set(sys.modules);"
        "import pdf_drops; heavy = {'pyarrow', 'duckdb', 'numba', 'pandas', 'lxml', 'boto3'};"
        "print(*sorted(heavy & (set(sys.modules) - before)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout.split() == []


def fired(watch: Any, seconds: float) -> list[str]:
    """Return the folders for which a watch fires within the given number of seconds."""
    found: list[str] = []

    async def listen(events: AsyncIterator[Any]) -> None:
        async for event in events:
            found.append(event.payload["folder"])

    async def run() -> None:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(listen(watch.run()), seconds)

    asyncio.run(run())
    return found


def test_watch_fires_once_per_arrival_despite_lake_errors(
    module: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    import drop_watch

    monkeypatch.setattr(drop_watch, "PERSISTED_SECONDS", 0.05)
    lake = open_lake(str(tmp_path / "lake"))
    for name in ("a", "b"):
        lake.put(f"drops/{name}/_READY", json.dumps({"ready_at": "2023-01-01T00:00:00Z", "files": []}).encode())
    monkeypatch.setenv("S2CORPUS_LAKE", "nonsense://lake")
    assert fired(module.DropWatch(seconds=0.05), 0.5) == []
    monkeypatch.setenv("S2CORPUS_LAKE", str(tmp_path / "lake"))
    assert fired(module.DropWatch(seconds=0.05), 2) == ["drops/a/", "drops/b/"]
    assert fired(module.DropWatch(seconds=0.05), 1) == []
