"""Two builds of one release can run without Airflow's queue: the slower uses the tables of the faster."""

from __future__ import annotations

from pathlib import Path

import pytest

from devtools.sample.truth import Truth
from s2corpus.pipeline import runner
from s2corpus.pipeline.run import Run
from s2corpus.pipeline.stages import STAGE_NAMES, load_stage, stage_row
from s2corpus.storage.exchange import RowsRemoved
from tests.releases import copy_lake, run_in, spec


def test_slower_build_uses_the_tables_of_the_faster(
    released: tuple[Run, Truth], extracting: None, tmp_path: Path
) -> None:
    """Check a build if another build finishes every stage between its rounds, up to the stage that has most rounds."""
    copy_lake(released, tmp_path)
    faster = run_in(tmp_path, spec())
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


def test_damaged_tables_do_not_count_as_another_build(tiny: tuple[Path, Truth], tmp_path: Path) -> None:
    run = run_in(tmp_path, spec(), tiny[0])
    runner.work(run, "intake", runner.plan(run, "intake"))
    runner.run_rounds(run, "intake", first=1)
    load_stage("intake").finish(run)
    for key in run.table(stage_row("intake").written_tables[0]).keys():  # noqa: SIM118 - a method of TableRef
        run.lake.put(key, b"")
    with pytest.raises(RowsRemoved):
        runner.work(run, "intake", [0], 1)
