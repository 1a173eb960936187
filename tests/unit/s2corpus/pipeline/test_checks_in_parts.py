"""SPEC §11: a check that runs on buckets one after the other gives the same result as on all buckets together."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import pyarrow as pa
import pytest

from s2corpus.pipeline import quality
from s2corpus.pipeline.run import Run
from s2corpus.pipeline.stages import STAGE_NAMES
from s2corpus.spec import ReleaseSpec
from s2corpus.stages.clean import CleanStage
from s2corpus.stages.split import SplitStage
from s2corpus.storage.lake import Lake
from s2corpus.tables.schema import TABLES
from s2corpus.tables.texts import FILTERED
from tests.unit.s2corpus.snapshot.release import lay_out, papers, through

BUCKETS = 5


@pytest.fixture
def run(lake: Lake, tmp_path: Path) -> Run:
    """Return a release up to its splits. One of its papers has two outcomes, and two papers have an unknown outcome."""
    found = lay_out(lake, tmp_path, ReleaseSpec(name="parts"), papers(60, words=20), buckets=BUCKETS)
    through(found, CleanStage(), SplitStage())
    table = found.table(FILTERED)
    for bucket in (1, 3):
        rows = table.read(shard=bucket).to_pylist()
        rows[0]["outcome"] = "no_idea"
        table.write(bucket, pa.Table.from_pylist(rows[:1] * (bucket == 3) + rows, FILTERED.schema))
    table.commit(range(BUCKETS))
    return found


def test_check_by_bucket_equals_check_of_all(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    stages = ("filter", "clean", "split")
    whole = [asdict(verdict) for stage in stages for verdict in quality.evaluate(run, stage)]
    monkeypatch.setattr(quality, "ROWS_AT_ONCE", 1)
    assert [asdict(verdict) for stage in stages for verdict in quality.evaluate(run, stage)] == whole
    counts = {verdict.check: verdict.offending for verdict in quality.evaluate(run, "filter") if verdict.offending}
    assert counts == {"filtered_key_is_unique": 1, "outcome_is_known": 3}


def test_check_by_bucket_names_only_bucketed_tables() -> None:
    for check in (check for stage in STAGE_NAMES for check in quality.list_checks(stage)):
        named = {TABLES[name].shards for name in TABLES if quality.mentions_table(check.sql, name)}
        assert check.by is None or check.by in named, check.name
        assert check.by is None or named <= {check.by, "any"} or check.name == "every_article_is_there", check.name
