"""SPEC §11: a check can be overridden only if it exists, allows it, and a reason is given; without an override nothing changes."""

from __future__ import annotations

import hashlib
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

import orjson
import pytest

from s2corpus.errors import QualityBlocked, UserError
from s2corpus.pipeline import quality, runner
from s2corpus.pipeline.acceptance import Acceptance, accept, read_acceptances
from s2corpus.pipeline.quality import CheckVerdict, list_all_checks, stop_if_blocked
from s2corpus.pipeline.run import Run
from s2corpus.pipeline.stages import STAGE_NAMES, load_stage
from s2corpus.spec import ReleaseSpec
from s2corpus.storage.lake import Lake
from s2corpus.tables.intake import PDFS

RELEASE = "s2_v2-20230301"
DRIFT, WARNING = "link.drift_of_linked_entries_block", "link.drift_of_linked_entries_warn"
REASON = "the source dblp ended in February"


def test_acceptance_belongs_to_its_release_and_first_author(lake: Lake) -> None:
    assert accept(lake, RELEASE, {DRIFT: f" {REASON} "}, "ann", list_all_checks()) == [DRIFT]
    assert accept(lake, RELEASE, {DRIFT: REASON, WARNING: REASON}, "bob", list_all_checks()) == [WARNING]
    found = {name: (word.by, word.reason) for name, word in read_acceptances(lake, RELEASE).items()}
    assert found == {DRIFT: ("ann", REASON), WARNING: ("bob", REASON)}
    assert read_acceptances(lake, "s2_v2-20230401") == {}


@pytest.mark.parametrize(
    ("check", "reason", "said"),
    [
        ("link.no_such_check", REASON, "'link.no_such_check' is not a check; expected <stage>.<check>, one of link."),
        ("nonsense", REASON, "one of intake."),
        ("clean.no_closed_text", REASON, "cannot be overridden"),
        (DRIFT, "ok       ", "'ok       ' is not a reason; write at least 10 characters"),
    ],
)
def test_impossible_acceptance_is_refused_with_a_sentence(lake: Lake, check: str, reason: str, said: str) -> None:
    with pytest.raises(UserError) as refused:
        accept(lake, RELEASE, {WARNING: REASON, check: reason}, "ann", list_all_checks())
    assert said in str(refused.value)
    if check == "link.no_such_check":
        assert all(f"link.{known.name}" in str(refused.value) for known in quality.list_checks("link"))
        assert "clean." not in str(refused.value)
    assert read_acceptances(lake, RELEASE) == {}, "all or nothing"


def verdict(overridable: bool, reason: str | None = None) -> CheckVerdict:
    return CheckVerdict(
        "link", "c", "block", "block", overridable, 1, [{"n": 1}], None, "why", reason, reason and "ann"
    )


def test_block_stops_the_release_unless_accepted() -> None:
    stop_if_blocked(RELEASE, [verdict(True, REASON)])
    with pytest.raises(QualityBlocked, match=f"to continue: `corpus accept {RELEASE} link.c --reason"):
        stop_if_blocked(RELEASE, [verdict(True, REASON), verdict(True)])
    with pytest.raises(QualityBlocked, match="cannot be overridden"):
        stop_if_blocked(RELEASE, [verdict(False)])


def test_checks_of_export_cannot_be_accepted() -> None:
    """Check that no check of export can be overridden. The manifest lists overrides, and it is written before export is checked."""
    assert not [check for check in quality.list_checks("export") if check.overridable or check.severity == "warn"]
    assert STAGE_NAMES[-1] == "export"


def test_acceptance_written_by_hand_cannot_override_such_checks(lake: Lake, tmp_path: Path) -> None:
    run = Run(ReleaseSpec(name="t"), datetime(2023, 2, 1, tzinfo=UTC), lake, tmp_path)
    data = b"%PDF"
    lake.put("drops/d/a.pdf", data)
    file = {"name": "a.pdf", "bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
    lake.put("drops/d/_READY", orjson.dumps({"ready_at": "2023-01-01T00:00:00Z", "files": [file]}))
    runner.work(run, "intake", runner.plan(run, "intake"))
    runner.run_rounds(run, "intake", first=1)
    load_stage("intake").finish(run)
    rows = run.table(PDFS).read()
    for shard in (0, 1):  # The same PDF is in two shards.
        run.table(PDFS).write(shard, rows)
    run.table(PDFS).commit([0, 1], {"pdf_shards": 2})
    by_hand = Acceptance(REASON, "mallory", "2023-02-01T00:00:00+00:00")
    lake.put(f"releases/{run.release_id}/_accepted.json", orjson.dumps({"intake.pdfs_key_is_unique": asdict(by_hand)}))
    with pytest.raises(QualityBlocked, match=r"intake.pdfs_key_is_unique.*\(cannot be overridden\)"):
        stop_if_blocked(run.release_id, quality.evaluate(run, "intake"))
