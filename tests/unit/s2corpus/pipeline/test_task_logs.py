"""A task's log reports progress while the task works, and one line of figures at its end."""

from __future__ import annotations

import logging
import re
from pathlib import Path

import pytest

from s2corpus.pipeline import runner
from s2corpus.pipeline.run import Run
from s2corpus.spec import ReleaseSpec
from s2corpus.storage.lake import Lake
from tests.unit.s2corpus.snapshot.release import lay_out, papers


def worked(run: Run, stage: str, caplog: pytest.LogCaptureFixture) -> list[str]:
    """Run one task that works on all shards of a stage; return its log lines."""
    with caplog.at_level(logging.INFO, logger="s2corpus"):
        indexes = runner.plan(run, stage)
        caplog.clear()
        runner.work(run, stage, indexes)
        runner.run_rounds(run, stage, first=1)
    lines = [record.getMessage() for record in caplog.records]
    for number, index in enumerate(indexes, 1):
        assert any(
            re.fullmatch(rf"{stage}: shard {index} done in [\d.]+ s \({number} of {len(indexes)} here\): .+", line)
            for line in lines
        )
    assert re.fullmatch(rf"{stage}: {len(indexes)} shard\(s\) in [\d.]+ s, [\d,.]+/s: .+", lines[-1]), lines[-1]
    runner.finish(run, stage)
    return lines


def test_log_of_clean_split_and_export_counts_rows(
    lake: Lake, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    spec = ReleaseSpec.model_validate({"name": "made", "export": {"files": 2}})
    run = lay_out(lake, tmp_path, spec, papers(40), buckets=2)
    lines = worked(run, "clean", caplog)
    assert any(re.fullmatch(r"clean shard 1: s2orc decided, \d+ papers remain for s2ag", line) for line in lines)
    assert re.search(r": \d+ documents$", lines[-1])
    assert re.search(r": \d+ splits$", worked(run, "split", caplog)[-1])
    lines = worked(run, "export", caplog)
    assert {"export shard 0: documents of s2orc written", "export shard 1: corpus written"} <= set(lines)
    assert re.search(r": \d+ files$", lines[-1])
