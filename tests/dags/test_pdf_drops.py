"""The DAG of new drops as Airflow loads it: it waits for the right folders, and limits its work per run."""

from __future__ import annotations

from typing import Any

import pytest

pytestmark = pytest.mark.airflow


@pytest.fixture(scope="module")
def module(airflow_home: None) -> Any:
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


def test_drop_dag_retries_like_a_release(dag: Any, sample: Any) -> None:
    release = sample.get_task("extract.work")
    mine = dag.get_task("work")
    for name in ("retries", "retry_delay", "retry_policy", "on_failure_callback"):
        assert mine.partial_kwargs[name] is release.partial_kwargs[name]


def test_release_has_priority_in_the_pool(dag: Any, sample: Any) -> None:
    release = sample.get_task("extract.work")
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
