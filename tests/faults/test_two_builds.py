"""Two concurrent builds of one release, without Airflow to queue them, both end with the bytes of an undisturbed build."""

from __future__ import annotations

import multiprocessing
from collections.abc import Mapping
from pathlib import Path

import pytest

from s2corpus.pipeline import runner
from s2corpus.pipeline.stages import STAGE_NAMES, load_stage, stage_row
from s2corpus.storage.exchange import RowsRemoved
from tests.releases import build, run_in, snapshot_bytes, spec


def build_in_a_child(folder: Path) -> None:
    build(run_in(folder, spec()))


@pytest.mark.long
def test_parallel_builds_end_with_same_bytes(
    tiny: tuple[Path, object],
    extractor: Mapping[str, str],
    reference: dict[str, str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, value in extractor.items():
        monkeypatch.setenv(name, value)
    both = run_in(tmp_path / "both", spec(), tiny[0])
    spawned = multiprocessing.get_context("spawn")
    builds = [spawned.Process(target=build_in_a_child, args=(tmp_path / "both",)) for _ in range(2)]
    for each in builds:
        each.start()
    for each in builds:
        each.join()
    assert [each.exitcode for each in builds] == [0, 0]
    assert snapshot_bytes(both) == reference


def test_slower_build_uses_the_tables_of_the_faster(
    tiny: tuple[Path, object], extractor: Mapping[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Check a build if another build finishes every stage between its rounds, up to the stage that has most rounds."""
    for name, value in extractor.items():
        monkeypatch.setenv(name, value)
    faster = run_in(tmp_path, spec(), tiny[0])
    for name in STAGE_NAMES[: STAGE_NAMES.index("cluster") + 1]:
        slower = run_in(tmp_path, spec())
        runner.work(slower, name, runner.plan(slower, name))
        runner.run_stage(faster, name)
        before = [faster.table(table).keys() for table in stage_row(name).written_tables]
        for number in range(1, stage_row(name).rounds):
            runner.work(slower, name, runner.plan(slower, name, number), number)
        runner.finish(slower, name)
        runner.check(slower, name)
        assert [slower.table(table).keys() for table in stage_row(name).written_tables] == before


def test_damaged_tables_do_not_count_as_another_build(tiny: tuple[Path, object], tmp_path: Path) -> None:
    run = run_in(tmp_path, spec(), tiny[0])
    runner.work(run, "intake", runner.plan(run, "intake"))
    runner.run_rounds(run, "intake", first=1)
    load_stage("intake").finish(run)
    for key in run.table(stage_row("intake").written_tables[0]).keys():  # noqa: SIM118 - a method of TableRef
        run.lake.put(key, b"")
    with pytest.raises(RowsRemoved):
        runner.work(run, "intake", [0], 1)
