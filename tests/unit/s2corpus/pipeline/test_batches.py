"""The division of a round into tasks: Airflow refuses more than 1,024 mapped tasks, and a task takes seconds to start."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from s2corpus.pipeline import runner
from s2corpus.pipeline.run import Run, Shard
from s2corpus.pipeline.stage_rows import StageRow
from s2corpus.pipeline.stages import PIPELINE
from s2corpus.spec import ReleaseSpec
from s2corpus.storage.local_lake import LocalLake


def make_run(tmp_path: Path, **resources: Any) -> Run:
    spec = ReleaseSpec.model_validate({"name": "a", "resources": resources})
    return Run(spec, datetime(2023, 2, 1, tzinfo=UTC), LocalLake(tmp_path / "lake"), tmp_path)


def put_deliveries(run: Run, count: int, files: int, buckets: int = 1) -> None:
    params: list[dict[str, Any]] = [{"row": {"files": files}, "buckets": buckets}] * count
    run.put_plan("intake", [Shard(i, each) for i, each in enumerate([*params, {"row": None, "buckets": buckets}])])


@pytest.mark.parametrize("shards", [1, 7, 1_000, 1_001, 2_000, 16_384])
@pytest.mark.parametrize("row", PIPELINE, ids=lambda row: row.name)
def test_each_shard_is_in_one_of_few_batches(tmp_path: Path, row: StageRow, shards: int) -> None:
    run = make_run(tmp_path)
    put_deliveries(run, shards, 1)
    for number in range(row.rounds):
        batches = runner.batch_shards(run, row.name, range(shards), number)
        assert [shard for batch in batches for shard in batch] == list(range(shards))
        assert len(batches) <= run.spec.resources.max_tasks <= 1024


@pytest.mark.parametrize(
    ("stage", "shards", "tasks"),
    [("select", 4, 1), ("extract", 4, 4), ("vote", 4, 1), ("vote", 100, 8), ("select", 100, 4)],
)
def test_small_shards_share_a_task_except_extraction(tmp_path: Path, stage: str, shards: int, tasks: int) -> None:
    run = make_run(tmp_path, pdfs_per_shard=20, papers_per_shard=40)
    assert len(runner.batch_shards(run, stage, range(shards))) == tasks


@pytest.mark.parametrize(
    ("deliveries", "files", "buckets", "tasks"), [(8, 9, 1, 1), (400, 5, 1, 5), (3, 5_000, 1, 4), (8, 9, 2, 9)]
)
def test_small_deliveries_share_a_task_unless_one_has_many_records(
    tmp_path: Path, deliveries: int, files: int, buckets: int, tasks: int
) -> None:
    run = make_run(tmp_path)
    put_deliveries(run, deliveries, files, buckets)
    assert len(runner.batch_shards(run, "intake", range(deliveries + 1))) == tasks
