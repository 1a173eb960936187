"""The DAG of a dataset runs at the right time, in the right order and for the right snapshot. It never publishes a
dataset that fails a check.

The tests call its tasks one by one; `tests/e2e/test_operating.py` runs them with a scheduler.
"""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from s2corpus.errors import UserError
from s2corpus.snapshot import pointer
from s2corpus.storage.lake import open_lake
from s2corpus_datasets.protocol import DatasetBlocked
from s2corpus_datasets.source import SnapshotSource
from s2corpus_datasets.spec import DatasetSpec
from tests.snapshots import write_snapshot
from tests.unit.s2corpus_datasets.conftest import papers

pytestmark = pytest.mark.airflow
KEY = "2026-04-01T00:00:00Z"


@pytest.fixture
def module(load: Callable[..., Any], tmp_path: Path) -> Any:
    """Import the DAG file with a test spec and a lake that has two published snapshots."""
    (tmp_path / "datasets").mkdir()
    (tmp_path / "datasets" / "cited.yaml").write_text("name: cited\ndataset: contexts\n")
    for day in ("20260401", "20260501"):
        pointer.publish(open_lake(str(tmp_path / "lake")), write_snapshot(tmp_path / "lake", papers(), day=day).name)
    return load("corpus_datasets", S2CORPUS_DATASETS=str(tmp_path / "datasets"))


@pytest.mark.parametrize("large", [False, True])
def test_run_builds_and_publishes_the_dataset_of_its_key(
    large: bool, module: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dag = module.dataset_dag(DatasetSpec(name="cited", dataset="contexts"), "real")
    context = {"dag": dag, "partition_key": KEY}
    for reader in (module, sys.modules["s2corpus_airflow.task_defaults"]):
        monkeypatch.setattr(reader, "get_current_context", lambda: context)
    if large:
        monkeypatch.setattr(SnapshotSource, "count_bytes", lambda *_: 200 << 20)
        batches = module.plan.function()
        assert batches == [[0], [1]]
        for shards in batches:
            module.work.function(shards)
        module.choose.function()
        for shards in batches:
            module.write.function(shards)
        module.finish.function()
    else:
        assert module.plan.function() == [], "`plan` processes a small snapshot"
    (folder,) = (tmp_path / "lake" / "datasets" / "cited").glob("real-*")
    assert folder.name.startswith("real-20260401-"), "the snapshot of the key, not the latest"
    stats = (folder / "stats.json").read_bytes()
    (folder / "stats.json").unlink()
    with pytest.raises(DatasetBlocked, match=rf"cited of {folder.name} is not published: files_complete: 1"):
        module.quality.function()
    assert not (folder / "manifest.json").exists()
    module.finish.function()
    assert module.quality.function() == f"{folder}/manifest.json"
    assert (folder / "manifest.json").exists() and (folder / "stats.json").read_bytes() == stats


def test_wrong_partition_key_gives_one_sentence(module: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    dag = module.dataset_dag(DatasetSpec(name="cited", dataset="contexts"), "real")
    for key, said in (
        (None, "this run has no partition key: trigger it with the release's as_of"),
        ("yesterday", "'yesterday' is not a timestamp"),
        ("2026-03-01T00:00:00Z", r"no snapshot of real as of 2026-03-01T00:00:00Z is published; available: real-"),
    ):
        monkeypatch.setattr(module, "get_current_context", lambda key=key: {"dag": dag, "partition_key": key})
        with pytest.raises(UserError, match=said):
            module.plan.function()
